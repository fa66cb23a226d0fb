// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package threshold

import (
	"bytes"
	"crypto/rand"
	"crypto/rsa"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"connectrpc.com/connect"

	"github.com/undersign/undersign/internal/policy"
	"github.com/undersign/undersign/keyfile"
	"github.com/undersign/undersign/thresholdrsa"
)

// What a command that attests gets, and what is taken of it.
func TestAttest(t *testing.T) {
	hash := [32]byte{0xab, 31: 1}
	text := fmt.Sprintf("%x", hash)
	for _, tt := range []struct {
		command []string
		want    string // of the document, or of the error
		fails   bool
	}{
		{[]string{"/bin/sh", "-c", "cat"}, text + "\n", false},
		{[]string{"/bin/sh", "-c", "printf %s $1", "x"}, text, false},
		{[]string{"/bin/sh", "-c", "echo broken >&2; exit 3"}, "exit status 3: \"broken", true},
		{[]string{"/bin/sh", "-c", "true"}, "nothing, or too much", true},
		{[]string{"/bin/sh", "-c", "yes | head -c 2000000"}, "nothing, or too much", true},
		{[]string{"/nowhere/attest"}, "no such file", true},
	} {
		doc, err := attest(t.Context(), tt.command, hash)
		switch {
		case tt.fails && (err == nil || !strings.Contains(err.Error(), tt.want)):
			t.Errorf("%q: %v", tt.command, err)
		case !tt.fails && (err != nil || string(doc) != tt.want):
			t.Errorf("%q: %q, %v", tt.command, doc, err)
		}
	}
}

func TestClassify(t *testing.T) {
	for _, tt := range []struct {
		err  error
		want FaultKind
	}{
		{&policy.DeniedError{Reason: "no rule"}, Denied},
		{&policy.LimitError{After: time.Second}, Limited},
		{&RejectedError{"no"}, Denied},
		{&errPending{time.Now()}, Pending},
		{ErrSuperseded, Absent},
		{connect.NewError(connect.CodeUnavailable, errors.New("gone")), Silent},
		{connect.NewError(connect.CodeNotFound, errors.New("what?")), Absent},
		{connect.NewError(connect.CodeInternal, errors.New("oops")), Failed},
		{connect.NewWireError(connect.CodeResourceExhausted, errors.New("later")), Limited},
		{connect.NewError(connect.CodeResourceExhausted, errors.New("message is larger than configured max")), Failed},
		{errors.New("anything"), Failed},
	} {
		if got, _ := classify(tt.err); got != tt.want {
			t.Errorf("%v: %v, want %v", tt.err, got, tt.want)
		}
	}
}

// Errors come out at the other end as what they went in.
func TestErrorsTravel(t *testing.T) {
	q := &QuorumError{1, 2, []Fault{{Party: "us1x", Name: "bob", Index: 2, Holder: "b", Kind: Bad, Reason: "why\xff"}}}
	var got *QuorumError
	if err := DecodeError(encodeError(q)); !errors.As(err, &got) || got.Have != 1 || got.Need != 2 || len(got.Faults) != 1 || got.Faults[0].Kind != Bad || got.Faults[0].Index != 2 {
		t.Errorf("%v", err)
	}
	var r *RejectedError
	if err := DecodeError(encodeError(&RejectedError{"no"})); !errors.As(err, &r) || r.Reason != "no" {
		t.Errorf("%v", err)
	}
	if err := DecodeError(encodeError(ErrSuperseded)); !errors.Is(err, ErrSuperseded) {
		t.Errorf("%v", err)
	}
	// What another says is shown to people, and no more than that.
	const controls = "\x1b\a\u202e\u009b\n"
	const nasty = "title" + controls
	many := make([]Fault, 10000)
	for i := range many {
		many[i] = Fault{Party: nasty, Name: nasty, Index: 1 << 20, Holder: nasty, Kind: 99, Reason: nasty + strings.Repeat("y", 5000)}
	}
	err := DecodeError(encodeError(&QuorumError{1, 2, many}))
	if !errors.As(err, &got) || len(got.Faults) > maxNodes || got.Faults[0].Index != 0 || got.Faults[0].Kind != Failed ||
		len(got.Faults[0].Reason) > 1000 || strings.ContainsAny(got.Error(), controls) {
		t.Errorf("%.200q", err)
	}
	err = DecodeError(encodeError(&RejectedError{nasty}))
	if !errors.As(err, &r) || strings.ContainsAny(r.Error(), controls) {
		t.Errorf("%q", err)
	}
	if _, reason := classify(connect.NewError(connect.CodeUnknown, errors.New(nasty))); strings.ContainsAny(reason, controls) {
		t.Errorf("%q", reason)
	}
	if err := errors.New("x"); encodeError(err) != err || DecodeError(err) != err {
		t.Error("other errors change")
	}
}

func FuzzPlan(f *testing.F) {
	f.Add([]byte{1, 0, 0, 0, 0})
	priv, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		f.Fatal(err)
	}
	dealing, _, err := thresholdrsa.Import(priv, 2, 2, &thresholdrsa.DealOptions{Names: []string{"alice", "bob"}})
	if err != nil {
		f.Fatal(err)
	}
	plan := &Plan{Parent: dealing.PublicKey(), Threshold: 2, Made: time.UnixMilli(1)}
	for i, name := range []string{"alice", "bob"} {
		party := keyfile.Fingerprint(&keyfile.Party{Key: bytes.Repeat([]byte{byte(i)}, 32)})
		plan.Leader = party
		plan.Nodes = append(plan.Nodes, PlanNode{Party: party, Name: name, Old: i + 1, New: i + 1, Contributes: true})
	}
	seed, err := plan.MarshalBinary()
	if err != nil {
		f.Fatal(err)
	}
	if err := new(Plan).UnmarshalBinary(seed); err != nil {
		f.Fatal(err)
	}
	f.Add(seed)
	f.Fuzz(func(t *testing.T, data []byte) {
		head, herr := readPlanHead(data)
		p := new(Plan)
		if err := p.UnmarshalBinary(data); err != nil {
			return
		}
		if herr != nil || head.id != p.ID() || head.leader != p.Leader || !head.made.Equal(p.Made) {
			t.Fatalf("another head: %v, %v", head, herr)
		}
		if again, err := p.MarshalBinary(); err != nil || string(again) != string(data) {
			t.Fatalf("another encoding: %v", err)
		}
	})
}

func FuzzTranscript(f *testing.F) {
	x := &Transcript{Dealer: make([]byte, 32), Party: "us1", Time: time.UnixMilli(1), Bits: 2048, Threshold: 2, Signature: make([]byte, 64),
		Holders: []TranscriptHolder{{Name: "a", Recipients: []string{"age1"}}}, Attestation: []byte("doc")}
	data, err := x.MarshalBinary()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Fuzz(func(t *testing.T, data []byte) {
		x := new(Transcript)
		if err := x.UnmarshalBinary(data); err != nil {
			return
		}
		if again, err := x.MarshalBinary(); err != nil || string(again) != string(data) {
			t.Fatalf("another encoding: %v", err)
		}
	})
}
