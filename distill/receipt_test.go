// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package distill

import (
	"bytes"
	"reflect"
	"testing"
)

// TestReceiptEncoding takes a receipt from hand to hand, and damages it on the way.
func TestReceiptEncoding(t *testing.T) {
	w := newPartyNet(t, 2, 1, nil)
	want := w.receipt(Result{Code: ResultOK, ID: 1, Nonce: 1, ExecHeight: 119, PayloadHash: PayloadHash([]byte("pay"))}, 0, 2)
	data, err := want.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	got := new(Receipt)
	if err := got.UnmarshalBinary(data); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, want) {
		t.Fatalf("got %+v, want %+v", got, want)
	}
	if err := w.network.VerifyReceipt(got); err != nil {
		t.Fatal(err)
	}
	if o, final := got.Outcome(); !final || o != (Outcome{OutcomeExecuted, ResultOK, 0, 119}) {
		t.Errorf("outcome %+v, final: %v", o, final)
	}

	for n := range data {
		if err := new(Receipt).UnmarshalBinary(data[:n]); RuleOf(err) != RuleReceipt {
			t.Fatalf("the first %d bytes: %v", n, err)
		}
	}
	hasRule(t, new(Receipt).UnmarshalBinary(append(data[:len(data):len(data)], 0)), RuleReceipt)
	for i := range data {
		bad := bytes.Clone(data)
		bad[i] ^= 1
		r := new(Receipt)
		if r.UnmarshalBinary(bad) != nil {
			continue
		}
		if w.network.VerifyReceipt(r) == nil {
			t.Errorf("byte %d is nobody's business", i)
		}
	}

	long := *want
	long.Siblings = make([][32]byte, MaxDepth+1)
	_, err = long.MarshalBinary()
	hasRule(t, err, RuleReceipt)
	wide := *want
	wide.Certificate.Bitmap = make([]byte, maxValidators/8+1)
	_, err = wide.MarshalBinary()
	hasRule(t, err, RuleReceipt)
}

func TestVerifyReceiptRefuses(t *testing.T) {
	w := newPartyNet(t, 2, 1, nil)
	ok := Result{Code: ResultOK, ID: 1, Nonce: 1, ExecHeight: 119, PayloadHash: PayloadHash([]byte("pay"))}
	foreign := newPartyNet(t, 2, 1, func(p *Params) { p.MaxLeaves-- })
	hasRule(t, foreign.network.VerifyReceipt(w.receipt(ok, 0, 2)), RuleNetwork)
	hasRule(t, w.network.VerifyReceipt(w.receipt(ok, 3)), RuleQuorum)
	hasRule(t, w.network.VerifyReceipt(w.receipt(Result{Code: 99, ID: 1, Nonce: 1}, 0, 2)), RuleReceipt)
	moved := w.receipt(ok, 0, 2)
	moved.Index++
	if w.network.VerifyReceipt(moved) == nil {
		t.Error("a result in another place is believed")
	}
	later := w.receipt(ok, 0, 2)
	later.Result.ExecHeight++
	hasRule(t, w.network.VerifyReceipt(later), RuleProofRoot)
}

// FuzzReceipt checks that what is read is written again as it was.
func FuzzReceipt(f *testing.F) {
	w := newPartyNet(f, 2, 1, nil)
	data, err := w.receipt(Result{Code: ResultAbsent, ID: 1, Nonce: 1}, 0, 2).MarshalBinary()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Fuzz(func(t *testing.T, data []byte) {
		r := new(Receipt)
		if r.UnmarshalBinary(data) != nil {
			return
		}
		if again, err := r.MarshalBinary(); err != nil || !bytes.Equal(again, data) {
			t.Errorf("%x became %x, %v", data, again, err)
		}
		w.network.VerifyReceipt(r)
	})
}
