// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package distill

import (
	"bytes"

	"github.com/undersign/undersign/bls"
	"github.com/undersign/undersign/internal/wire"
)

// An EvidenceKind says what somebody is accused of.
type EvidenceKind uint8

const (
	EvidenceProp    EvidenceKind = iota + 1 // an aggregator signed two proposals of one number
	EvidenceBat                             // an aggregator signed two batches of one number
	EvidenceBatch                           // an aggregator signed a batch that isn't valid
	EvidenceSub                             // a client signed two payloads for one nonce
	EvidenceRcpt                            // a validator signed two logs
	EvidenceHgt                             // a validator signed two heads that can't be of one log
	EvidenceLook                            // a validator gave two answers that can't both be true
	EvidenceOutcome                         // a validator's answer can't be true after its receipt
	evidenceKinds
)

// String returns the name of k.
func (k EvidenceKind) String() string {
	if k < evidenceKinds {
		return evidenceNames[k]
	}
	return "invalid"
}

var evidenceNames = [evidenceKinds]string{
	"invalid", "two proposals", "two batches", "bad batch", "two payloads", "two logs", "two heads", "two answers", "answer against receipt",
}

// Signed is a statement with a signature.
type Signed struct {
	Statement []byte
	Signature []byte
}

// Evidence is what a party has signed that an honest one doesn't sign: not after a crash,
// not when it is restored from a copy by the rules, and not if all others conspire, but
// that a validator signs the log that it is given: one restored from a copy has to be
// given the same log again. What a thief of its key signs is its own.
//
// There is no evidence of two witnessed batches: a validator that lost its store may
// witness another one, after the first has expired.
type Evidence struct {
	Kind      EvidenceKind
	Dirver    uint64 // of a client's statements: a version at which the keys are its own
	Validator uint32 // of a validator's statements

	First  Signed // or the batch, without its signature
	Second Signed // of two like statements, the larger one

	// For EvidenceOutcome, where First is the receipt and Second the answer: the
	// result of a leaf, and where it stands.
	Result   Result
	Index    uint64
	Siblings [][32]byte
}

// NewEvidence returns evidence of two contradicting statements by the same party, with
// its signatures. Validator and Dirver are for the caller to set, if it is of such kind.
func NewEvidence(kind EvidenceKind, a, b Signed) *Evidence {
	if bytes.Compare(a.Statement, b.Statement) > 0 {
		a, b = b, a
	}
	return &Evidence{Kind: kind, First: a, Second: b}
}

// NewPropEvidence returns evidence against the aggregator of two proposals.
func NewPropEvidence(a, b SignedProp) *Evidence {
	return NewEvidence(EvidenceProp, Signed{a.Prop.Bytes(), a.Signature[:]}, Signed{b.Prop.Bytes(), b.Signature[:]})
}

// NewBatEvidence returns evidence against the aggregator of two encoded batches.
func NewBatEvidence(a, b []byte) (*Evidence, error) {
	var signed [2]Signed
	for i, encoded := range [][]byte{a, b} {
		h, err := DecodeHeader(encoded)
		if err != nil {
			return nil, err
		}
		bat := Bat{h.Net, h.AggID, h.Seq, BatchDigest(encoded)}
		signed[i] = Signed{bat.Bytes(), encoded[len(encoded)-signatureSize:]}
	}
	return NewEvidence(EvidenceBat, signed[0], signed[1]), nil
}

// NewBatchEvidence returns evidence against the aggregator of an encoded batch.
func NewBatchEvidence(encoded []byte) (*Evidence, error) {
	h, err := DecodeHeader(encoded)
	if err != nil {
		return nil, err
	}
	at := len(encoded) - signatureSize
	return &Evidence{Kind: EvidenceBatch, Dirver: h.Dirver, First: Signed{encoded[:at], encoded[at:]}}, nil
}

// NewSubEvidence returns evidence against the client that has made two submissions; the
// keys that they are signed by are its own at a version of the directory.
func NewSubEvidence(net NetworkID, dirver uint64, a, b *Submission) *Evidence {
	e := NewEvidence(EvidenceSub, Signed{a.Sub(net).Bytes(), a.Signature}, Signed{b.Sub(net).Bytes(), b.Signature})
	e.Dirver = dirver
	return e
}

// NewLookEvidence returns evidence against the validator of two answers.
func NewLookEvidence(a, b *SignedLook) *Evidence {
	e := NewEvidence(EvidenceLook, Signed{a.Look.Bytes(), a.Share.Signature[:]}, Signed{b.Look.Bytes(), b.Share.Signature[:]})
	e.Validator = a.Share.Validator
	return e
}

// NewOutcomeEvidence returns evidence against the validator of a receipt and an answer. The
// receipt is of a batch with the result at an index.
func NewOutcomeEvidence(r *RcptShare, result Result, index uint64, siblings [][32]byte, look *SignedLook) *Evidence {
	return &Evidence{
		Kind: EvidenceOutcome, Validator: look.Share.Validator,
		First:  Signed{r.Rcpt.Bytes(), r.Share.Signature[:]},
		Second: Signed{look.Look.Bytes(), look.Share.Signature[:]},
		Result: result, Index: index, Siblings: siblings,
	}
}

const (
	evidenceVersion = 1
	maxStatement    = 256
)

// kinds of evidence have fields of their own.
func (k EvidenceKind) hasDirver() bool    { return k == EvidenceBatch || k == EvidenceSub }
func (k EvidenceKind) hasValidator() bool { return k >= EvidenceRcpt }
func (k EvidenceKind) hasSecond() bool    { return k != EvidenceBatch }

// MarshalBinary returns the canonical encoding.
func (e *Evidence) MarshalBinary() ([]byte, error) {
	if e.Kind == 0 || e.Kind >= evidenceKinds || len(e.Siblings) > MaxDepth {
		return nil, reject(RuleEvidence)
	}
	var w wire.Encoder
	w.U8(evidenceVersion)
	w.U8(uint8(e.Kind))
	if e.Kind.hasDirver() {
		w.U64(e.Dirver)
	}
	if e.Kind.hasValidator() {
		w.U32(e.Validator)
	}
	w.Bytes(e.First.Statement)
	w.Bytes(e.First.Signature)
	if e.Kind.hasSecond() {
		w.Bytes(e.Second.Statement)
		w.Bytes(e.Second.Signature)
	}
	if e.Kind == EvidenceOutcome {
		block := e.Result.Block()
		w.Fixed(block[:])
		w.U64(e.Index)
		w.U8(uint8(len(e.Siblings)))
		for i := range e.Siblings {
			w.Fixed(e.Siblings[i][:])
		}
	}
	return w.Data(), nil
}

// UnmarshalBinary reads what MarshalBinary returns. Nothing is verified.
func (e *Evidence) UnmarshalBinary(b []byte) error {
	d := wire.NewDecoder(b)
	version := d.U8("version")
	x := Evidence{Kind: EvidenceKind(d.U8("kind"))}
	if d.Err() != nil || version != evidenceVersion || x.Kind == 0 || x.Kind >= evidenceKinds {
		return reject(RuleEvidence)
	}
	if x.Kind.hasDirver() {
		x.Dirver = d.U64("version of the directory")
	}
	if x.Kind.hasValidator() {
		x.Validator = d.U32("validator")
	}
	statement, signature := maxStatement, bls.SignatureSize
	if x.Kind == EvidenceBatch {
		statement = len(b)
	}
	x.First = Signed{d.Bytes("statement", statement), d.Bytes("signature", signature)}
	if x.Kind.hasSecond() {
		x.Second = Signed{d.Bytes("statement", statement), d.Bytes("signature", signature)}
	}
	if x.Kind == EvidenceOutcome {
		var err error
		if x.Result, err = ParseResult(d.Fixed("result", LeafSize)); err != nil {
			d.Fail("result", "isn't one")
		}
		x.Index = d.U64("index")
		n := int(d.U8("siblings"))
		if n > MaxDepth {
			d.Fail("siblings", "%d of them", n)
		}
		for range n {
			var s [32]byte
			d.Read("sibling", s[:])
			if d.Err() != nil {
				break
			}
			x.Siblings = append(x.Siblings, s)
		}
	}
	if err := d.Finish(); err != nil {
		return &RejectError{Rule: RuleEvidence, Index: -1, Err: err}
	}
	*e = x
	return nil
}
