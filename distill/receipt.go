// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package distill

import (
	"github.com/undersign/undersign/internal/wire"
)

// The encoding of a receipt: a version, the statement, the certificate's bitmap and
// signature, the result, its index and the siblings. Every receipt has one encoding.
const receiptVersion = 1

// VerifyReceipt verifies that F+1 validators have signed what a receipt says: what became
// of a message, in which place of which batch. It takes nothing but the genesis, and no
// connection. Whose message that is, and which, are for the caller to compare.
func (n *Network) VerifyReceipt(r *Receipt) error {
	block := r.Result.Block()
	if _, err := ParseResult(block[:]); err != nil {
		return reject(RuleReceipt)
	}
	if err := VerifyProof(r.Rcpt.ResultRoot, r.Rcpt.N, r.Index, r.Result.Hash(), r.Siblings); err != nil {
		return err
	}
	return n.VerifyRcpt(&r.SignedRcpt)
}

// Outcome returns what the receipt says became of the message. Only if it is final no
// other receipt can say otherwise.
func (r *Receipt) Outcome() (o Outcome, final bool) {
	o = Outcome{Code: r.Result.Code, AppCode: r.Result.AppCode, Height: r.Result.ExecHeight}
	switch {
	case o.Code.Executed():
		o.Kind = OutcomeExecuted
	case o.Code == ResultDup:
		o.Kind, o.Code = OutcomeExecuted, r.Result.FirstCode
	case o.Code.Final():
		o.Kind = OutcomeNotExecuted
	default:
		return o, false
	}
	return o, true
}

// MarshalBinary returns the canonical encoding.
func (r *Receipt) MarshalBinary() ([]byte, error) {
	if len(r.Siblings) > MaxDepth || len(r.Certificate.Bitmap) > maxValidators/8 {
		return nil, reject(RuleReceipt)
	}
	block := r.Result.Block()
	var w wire.Encoder
	w.U8(receiptVersion)
	w.Bytes(r.Rcpt.Bytes())
	w.Bytes(r.Certificate.Bitmap)
	w.Fixed(r.Certificate.Signature[:])
	w.Fixed(block[:])
	w.U64(r.Index)
	w.U8(uint8(len(r.Siblings)))
	for i := range r.Siblings {
		w.Fixed(r.Siblings[i][:])
	}
	return w.Data(), nil
}

// UnmarshalBinary reads what MarshalBinary returns. Nothing is verified: see
// [Network.VerifyReceipt].
func (r *Receipt) UnmarshalBinary(b []byte) error {
	d := wire.NewDecoder(b)
	var x Receipt
	if d.U8("version") != receiptVersion || d.Err() != nil {
		return reject(RuleReceipt)
	}
	if err := x.Rcpt.UnmarshalBinary(d.Bytes("statement", maxStatement)); err != nil {
		d.Fail("statement", "isn't one")
	}
	x.Certificate.Bitmap = d.Bytes("bitmap", maxValidators/8)
	d.Read("signature", x.Certificate.Signature[:])
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
	if d.Finish() != nil {
		return reject(RuleReceipt)
	}
	*r = x
	return nil
}
