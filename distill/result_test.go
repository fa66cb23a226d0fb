// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package distill

import (
	"bytes"
	"crypto/sha256"
	"slices"
	"testing"
)

func TestResult(t *testing.T) {
	h := [32]byte(filled(60, 32))
	good := []Result{
		{Code: ResultOK, AppCode: 0x1234, ID: 1, Nonce: 2, ExecHeight: 3, PayloadHash: h},
		{Code: ResultAppReject, AppCode: 1, ID: 1, Nonce: 2, ExecHeight: 3, PayloadHash: h},
		{Code: ResultDup, FirstCode: ResultOK, AppCode: 1, ID: 1, Nonce: 2, ExecHeight: 3, PayloadHash: h},
		{Code: ResultDup, FirstCode: ResultAppReject, ID: 1, Nonce: 2, ExecHeight: 3, PayloadHash: h},
		{Code: ResultTaken, ID: 1, Nonce: 2, PayloadHash: h},
		{Code: ResultSkipped, ID: 1, Nonce: 2, PayloadHash: h},
		{Code: ResultKey, ID: 1, Nonce: 2, PayloadHash: h},
		{Code: ResultAbsent, ID: 1, Nonce: 2, PayloadHash: h},
	}
	var blocks [][]byte
	for _, r := range good {
		want := append([]byte{0x52, 1, byte(r.Code), byte(r.FirstCode), byte(r.AppCode >> 8), byte(r.AppCode), 0, 0}, be(r.ID)...)
		want = append(append(append(want, be(r.Nonce)...), be(r.ExecHeight)...), r.PayloadHash[:]...)
		got := r.Block()
		blocks = append(blocks, want)
		if !bytes.Equal(got[:], want) || r.Hash() != sha256.Sum256(want) {
			t.Errorf("%v: %x, not %x", r.Code, got, want)
		}
		if back, err := ParseResult(want); err != nil || back != r {
			t.Errorf("%v: %v, %v", r.Code, back, err)
		}
		for _, i := range []int{0, 1, 6, 7} {
			b := bytes.Clone(want)
			b[i] ^= 1
			if _, err := ParseResult(b); RuleOf(err) != RuleStatement {
				t.Errorf("%v with byte %d changed: %v", r.Code, i, err)
			}
		}
		for _, b := range [][]byte{nil, want[:63], append(bytes.Clone(want), 0)} {
			if _, err := ParseResult(b); RuleOf(err) != RuleStatement {
				t.Errorf("%d bytes: %v", len(b), err)
			}
		}
	}
	if root := ResultRoot(good); !bytes.Equal(root[:], slowRoot(blocks)) {
		t.Error("wrong root")
	}
	bad := []Result{
		{Code: 0}, {Code: ResultAbsent + 1}, {Code: 255},
		{Code: ResultDup}, {Code: ResultDup, FirstCode: ResultDup}, {Code: ResultDup, FirstCode: ResultTaken},
		{Code: ResultOK, FirstCode: ResultOK}, {Code: ResultTaken, FirstCode: ResultOK},
		{Code: ResultTaken, AppCode: 1}, {Code: ResultAbsent, ExecHeight: 1}, {Code: ResultKey, AppCode: 9},
	}
	for _, r := range bad {
		b := r.Block()
		if _, err := ParseResult(b[:]); RuleOf(err) != RuleStatement {
			t.Errorf("%+v: %v", r, err)
		}
	}
}

func TestResultCodes(t *testing.T) {
	executed, final := []ResultCode{ResultOK, ResultAppReject}, []ResultCode{ResultOK, ResultAppReject, ResultDup, ResultTaken, ResultSkipped}
	names := map[string]bool{}
	for c := range ResultCode(255) {
		if c.Executed() != slices.Contains(executed, c) || c.Final() != slices.Contains(final, c) {
			t.Errorf("%v: executed %v, final %v", c, c.Executed(), c.Final())
		}
		names[c.String()] = true
	}
	if len(names) != 8 || LookExecuted.String() != "EXECUTED" || LookCode(0).String() != "invalid" {
		t.Error(names)
	}
}

func FuzzParseResult(f *testing.F) {
	b := Result{Code: ResultOK}.Block()
	f.Add(b[:])
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := ParseResult(b)
		if err != nil {
			return
		}
		if got := r.Block(); !bytes.Equal(got[:], b) {
			t.Errorf("%x is written as %x", b, got)
		}
	})
}
