// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package aggregate

import (
	"bytes"
	"crypto/ed25519"
	"errors"
	"testing"

	"github.com/undersign/undersign/bls"
	"github.com/undersign/undersign/distill"
	aggregatev1 "github.com/undersign/undersign/gen/undersign/aggregate/v1"
	"github.com/undersign/undersign/internal/policy"
)

// While the loop has more to do than may wait, calls are refused with a delay, and their
// sessions go on.
func TestBusy(t *testing.T) {
	sk, err := bls.KeyGen(bytes.Repeat([]byte{1}, 32), nil)
	if err != nil {
		t.Fatal(err)
	}
	proof, err := bls.ProofOfPossession.PopProve(sk)
	if err != nil {
		t.Fatal(err)
	}
	net, err := distill.NewNetwork(&distill.Genesis{
		Name: "busy", Params: distill.DefaultParams(),
		Aggregators: []distill.GenesisAggregator{{ID: 1, Key: [32]byte(ed25519.NewKeyFromSeed(make([]byte, 32)).Public().(ed25519.PublicKey))}},
		Validators:  []distill.GenesisValidator{{Key: [48]byte(sk.PublicKey().Bytes()), Proof: [96]byte(proof.Bytes())}},
	})
	if err != nil {
		t.Fatal(err)
	}
	a := &aggregator{
		s: &Service{network: net}, id: 1, most: 2, tokens: newTokens(), quit: make(chan struct{}),
		work: make(chan func(int64) error, 2), urgent: make(chan func(int64) error, queueLength),
	}
	id := net.ID()
	hello := &aggregatev1.SessionRequest{Frame: &aggregatev1.SessionRequest_Hello{Hello: &aggregatev1.Hello{Network: id[:]}}}
	nothing := &aggregatev1.SessionRequest{Frame: &aggregatev1.SessionRequest_Submissions{Submissions: &aggregatev1.Submissions{}}}
	resp, err := a.Submit(t.Context(), &aggregatev1.SubmitRequest{Frame: hello})
	if err != nil {
		t.Fatal(err)
	}
	call := func() error {
		_, err := a.Submit(t.Context(), &aggregatev1.SubmitRequest{Token: resp.Token, Frame: nothing})
		return err
	}
	for range cap(a.work) {
		if err := call(); err != nil {
			t.Fatal(err)
		}
	}
	if limit, ok := errors.AsType[*policy.LimitError](call()); !ok || limit.After != retryBusy {
		t.Errorf("more than may wait: %v", limit)
	}
	<-a.work
	if err := call(); err != nil {
		t.Errorf("when there is room again: %v", err)
	}
	// A hello that was refused leaves no session behind.
	if _, err := a.Submit(t.Context(), &aggregatev1.SubmitRequest{Frame: hello}); !errors.As(err, new(*policy.LimitError)) || len(a.tokens.list) != 1 {
		t.Errorf("a hello while the loop is busy: %v, %d sessions", err, len(a.tokens.list))
	}
	a.work = make(chan func(int64) error, 2)
	if _, err := a.Submit(t.Context(), &aggregatev1.SubmitRequest{Frame: hello}); err != nil {
		t.Error(err)
	}
	if _, err := a.Submit(t.Context(), &aggregatev1.SubmitRequest{Frame: hello}); !errors.As(err, new(*policy.LimitError)) {
		t.Errorf("a third session of two: %v", err)
	}
	a.tokens.drop(resp.Token)
	if _, err := a.Submit(t.Context(), &aggregatev1.SubmitRequest{Frame: hello}); err != nil {
		t.Errorf("when one has ended: %v", err)
	}
	if len(a.tokens.list) != 2 || a.tokens.of[""] != 2 {
		t.Errorf("%d tokens, of parties %v", len(a.tokens.list), a.tokens.of)
	}
}
