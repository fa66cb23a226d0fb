// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package distill

import (
	"bytes"

	"github.com/undersign/undersign/bls"
)

// A Role is what a party is.
type Role uint8

const (
	RoleClient     Role = iota + 1 // signs messages
	RoleAggregator                 // makes batches
	RoleValidator                  // executes them
)

// String returns the name of r.
func (r Role) String() string {
	switch r {
	case RoleClient:
		return "client"
	case RoleAggregator:
		return "aggregator"
	case RoleValidator:
		return "validator"
	}
	return "invalid"
}

// An Accused is whom evidence is against: the id of a client or an aggregator, or
// the position of a validator.
type Accused struct {
	Role Role
	ID   uint64
}

// Verify verifies evidence and returns whom it is against. Against aggregators and
// validators the genesis is enough; the keys of clients are those of a directory at
// version e.Dirver, which view is for clients and bad batches. If it is nil, a bad batch is
// found bad only if it can't be read.
func (e *Evidence) Verify(g *Genesis, view View) (Accused, error) {
	verifier, err := NewVerifier(g)
	if err != nil {
		return Accused{}, err
	}
	switch e.Kind {
	case EvidenceProp, EvidenceBat:
		return e.verifyAggregator(verifier)
	case EvidenceBatch:
		return e.verifyBatch(verifier, view)
	case EvidenceSub:
		return e.verifyClient(verifier.net, view)
	case EvidenceRcpt, EvidenceHgt, EvidenceLook, EvidenceOutcome:
		c, err := NewCommittee(g)
		if err != nil {
			return Accused{}, err
		}
		return e.verifyValidator(c, &g.Params)
	}
	return Accused{}, reject(RuleEvidence)
}

// parse reads both statements into a and b.
func (e *Evidence) parse(a, b fields) error {
	if read(a, e.First.Statement) != nil || read(b, e.Second.Statement) != nil {
		return reject(RuleEvidence)
	}
	if e.Kind != EvidenceOutcome {
		switch bytes.Compare(e.First.Statement, e.Second.Statement) {
		case 0:
			return reject(RuleEvidenceSame)
		case 1:
			return reject(RuleEvidence) // there is one encoding
		}
	}
	return nil
}

func (e *Evidence) verifyAggregator(v *Verifier) (Accused, error) {
	var a, b Prop
	var c, d Bat
	if e.Kind == EvidenceProp {
		if err := e.parse(&a, &b); err != nil {
			return Accused{}, err
		}
		c, d = Bat{Net: a.Net, AggID: a.AggID, Seq: a.Seq}, Bat{Net: b.Net, AggID: b.AggID, Seq: b.Seq}
	} else if err := e.parse(&c, &d); err != nil {
		return Accused{}, err
	}
	if c.Net != v.net || d.Net != v.net {
		return Accused{}, reject(RuleNetwork)
	}
	if c.AggID != d.AggID || c.Seq != d.Seq {
		return Accused{}, reject(RuleEvidenceSame)
	}
	key := v.aggregators[c.AggID]
	if key == nil {
		return Accused{}, reject(RuleAggregator)
	}
	for i, s := range []*Signed{&e.First, &e.Second} {
		if key.Verify(s.Statement, s.Signature) != nil {
			return Accused{}, rejectAt(RuleEvidenceUnsigned, i)
		}
	}
	return Accused{RoleAggregator, c.AggID}, nil
}

func (e *Evidence) verifyBatch(v *Verifier, view View) (Accused, error) {
	encoded := append(bytes.Clone(e.First.Statement), e.First.Signature...)
	if len(e.First.Signature) != signatureSize {
		return Accused{}, reject(RuleEvidence)
	}
	h, _, err := v.Open(encoded)
	if err != nil {
		return Accused{}, err
	}
	if h.Dirver != e.Dirver {
		return Accused{}, reject(RuleEvidence)
	}
	accused := Accused{RoleAggregator, h.AggID}
	if _, err := DecodeBatch(encoded, &v.params); err != nil {
		return accused, guilty(err)
	}
	if view == nil {
		return Accused{}, reject(RuleVersion)
	}
	_, err = v.Verify(encoded, view)
	return accused, guilty(err)
}

// guilty returns nil if a batch was refused for something that its aggregator answers for.
func guilty(err error) error {
	if err == nil {
		return reject(RuleEvidenceInnocent)
	}
	if RuleOf(err).Signed() {
		return nil
	}
	return err
}

func (e *Evidence) verifyClient(net NetworkID, view View) (Accused, error) {
	var a, b Sub
	if err := e.parse(&a, &b); err != nil {
		return Accused{}, err
	}
	if a.Net != net || b.Net != net {
		return Accused{}, reject(RuleNetwork)
	}
	// With one payload the second is executed no more than the first was. No client uses
	// nonce 0; those known by their keys sign all they want under it, and under id 0.
	if a.ID != b.ID || a.Nonce != b.Nonce || a.Nonce == 0 || a.PayloadHash == b.PayloadHash {
		return Accused{}, reject(RuleEvidenceSame)
	}
	if view == nil || view.Version() != e.Dirver {
		return Accused{}, reject(RuleVersion)
	}
	ed, key := view.EdKey(a.ID), view.BLSKey(a.ID)
	if ed == nil || key == nil {
		return Accused{}, reject(RuleInactive)
	}
	for i, s := range []*Signed{&e.First, &e.Second} {
		var err error
		if len(s.Signature) == signatureSize {
			err = ed.Verify(s.Statement, s.Signature)
		} else {
			var sig *bls.Signature
			if sig, err = bls.ParseSignature(s.Signature); err == nil {
				digest := [...][32]byte{a.Digest(), b.Digest()}[i]
				err = bls.Augmented.Verify(key.PublicKey(), digest[:], sig)
			}
		}
		if err != nil {
			return Accused{}, rejectAt(RuleEvidenceUnsigned, i)
		}
	}
	return Accused{RoleClient, a.ID}, nil
}

func (e *Evidence) verifyValidator(c *Committee, p *Params) (Accused, error) {
	var first, second Statement
	var contradict bool
	switch e.Kind {
	case EvidenceRcpt:
		var a, b Rcpt
		if err := e.parse(&a, &b); err != nil {
			return Accused{}, err
		}
		first, second, contradict = a, b, a.PrevLogHash == b.PrevLogHash
	case EvidenceHgt:
		var a, b Hgt
		if err := e.parse(&a, &b); err != nil {
			return Accused{}, err
		}
		first, second, contradict = a, b, headsContradict(&a, &b)
	case EvidenceLook:
		var a, b Look
		if err := e.parse(&a, &b); err != nil {
			return Accused{}, err
		}
		first, second, contradict = a, b, looksContradict(p, &a, &b)
	case EvidenceOutcome:
		var r Rcpt
		var k Look
		if err := e.parse(&r, &k); err != nil {
			return Accused{}, err
		}
		if err := VerifyProof(r.ResultRoot, r.N, e.Index, e.Result.Hash(), e.Siblings); err != nil {
			return Accused{}, err
		}
		fact, ok := resultFact(&r, &e.Result)
		first, second, contradict = r, k, ok && k.ID == e.Result.ID && k.Nonce == e.Result.Nonce && fact.against(p, &k)
	}
	// Signatures come before contradictions: a statement of another network says nothing.
	for i, s := range []Statement{first, second} {
		signature := [...][]byte{e.First.Signature, e.Second.Signature}[i]
		if len(signature) != bls.SignatureSize {
			return Accused{}, rejectAt(RuleEvidenceUnsigned, i)
		}
		switch rule := RuleOf(c.VerifyShare(s, &Share{e.Validator, [bls.SignatureSize]byte(signature)})); rule {
		case 0:
		case RuleCertificate:
			return Accused{}, rejectAt(RuleEvidenceUnsigned, i)
		default:
			return Accused{}, rejectAt(rule, i)
		}
	}
	if !contradict {
		return Accused{}, reject(RuleEvidenceSame)
	}
	return Accused{RoleValidator, uint64(e.Validator)}, nil
}

// headsContradict reports whether two different heads can't be of one log: there is one
// head at each height, and nothing becomes less.
func headsContradict(a, b *Hgt) bool {
	if a.Height > b.Height {
		a, b = b, a
	}
	return a.Height == b.Height || a.Batches > b.Batches || a.Dirver > b.Dirver
}

// looksContradict reports whether two answers can't both be true. The challenges, and
// what was asked, may be different.
func looksContradict(p *Params, a, b *Look) bool {
	if a.ID != b.ID {
		return false
	}
	if a.Height > b.Height {
		a, b = b, a
	}
	if a.LastNonce > b.LastNonce || a.Height == b.Height && a.LastNonce != b.LastNonce {
		return true
	}
	if a.Nonce != b.Nonce {
		return false
	}
	if fact, ok := lookFact(a); ok && fact.against(p, b) {
		return true
	}
	fact, ok := lookFact(b)
	return ok && fact.against(p, a)
}

// A fact is that a nonce was executed, as a validator has signed it.
type fact struct {
	nonce       uint64
	height      uint64 // of the execution
	seen        uint64 // a height at which the execution was kept
	code        ResultCode
	appCode     uint16
	payloadHash [32]byte
}

func lookFact(k *Look) (fact, bool) {
	return fact{k.Nonce, k.ExecHeight, k.Height, k.FirstCode, k.AppCode, k.PayloadHash}, k.Code == LookExecuted
}

func resultFact(r *Rcpt, x *Result) (fact, bool) {
	f := fact{x.Nonce, x.ExecHeight, r.Height, x.Code, x.AppCode, x.PayloadHash}
	if x.Code == ResultDup {
		f.code = x.FirstCode
	}
	return f, f.code.Executed()
}

// against reports whether an answer about the same nonce can't be true if f is.
func (f *fact) against(p *Params, k *Look) bool {
	if k.Code == LookExecuted {
		// It is executed once, whenever one asks.
		return k.ExecHeight != f.height || k.FirstCode != f.code || k.AppCode != f.appCode || k.PayloadHash != f.payloadHash
	}
	if k.Height < f.height {
		return false // it wasn't executed yet
	}
	// The execution was kept at least as long as this: its last height was no less than
	// that of the execution. What was asked for may have another last height than
	// what was executed, and proves nothing later.
	if k.Height <= f.seen || k.Height-f.height <= p.KeepResults {
		return true
	}
	// The window never forgets what is in it.
	return k.Code == LookNotExecuted && (k.LastNonce < f.nonce || k.LastNonce-f.nonce < NonceWindow)
}
