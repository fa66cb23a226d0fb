// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package threshold_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"connectrpc.com/connect"
	"filippo.io/age"
	"google.golang.org/protobuf/proto"

	thresholdv1 "github.com/undersign/undersign/gen/undersign/threshold/v1"
	"github.com/undersign/undersign/gen/undersign/threshold/v1/thresholdv1connect"
	"github.com/undersign/undersign/internal/party"
	"github.com/undersign/undersign/internal/threshold"
	"github.com/undersign/undersign/keyfile"
	"github.com/undersign/undersign/thresholdrsa"
)

// dealt waits for what a dealer has made.
func dealt(ctx context.Context, c thresholdv1connect.ThresholdServiceClient, id []byte) (*thresholdv1.DealtResponse, error) {
	for {
		resp, err := c.Dealt(ctx, &thresholdv1.DealtRequest{Id: id, WaitMs: 5000})
		if err != nil || resp.Done {
			return resp, err
		}
	}
}

// A dealer makes a key for somebody else: what comes out is sealed to the holders, and
// the transcript is about exactly that.
func TestDealer(t *testing.T) {
	t.Parallel()
	c := &cluster{t: t}
	script := filepath.Join(t.TempDir(), "attest")
	if err := os.WriteFile(script, []byte("#!/bin/sh\nread hash\n[ \"$hash\" = \"$2\" ] || exit 1\nprintf '%s says %s' \"$1\" \"$hash\"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	dealer := c.start("dealer", c.makeDir("dealer", fmt.Sprintf("[threshold.dealer]\nenabled = true\ninsecure-unlocked = true\nattest = [%q, \"machine\"]\n", script)+allowAll))
	_, user := newParty(t)
	_, other := newParty(t)
	dealer.admit(user, "user", "")
	dealer.admit(other, "other", "")
	client := dealer.as(user)
	req := &thresholdv1.DealRequest{Id: make([]byte, 16), Bits: 2048, Threshold: 2}
	rand.Read(req.Id)
	var ids []*age.X25519Identity
	for _, name := range holderNames[:3] {
		id, err := age.GenerateX25519Identity()
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, id)
		req.Holders = append(req.Holders, &thresholdv1.DealHolder{Name: name, Recipients: []string{id.Recipient().String()}})
	}
	refusedDeals(t, client, req)
	if _, err := client.Deal(t.Context(), req); err != nil {
		t.Fatal(err)
	}
	// Nobody else gets it, and nobody else's request has that ID.
	if _, err := dealer.as(other).Dealt(t.Context(), &thresholdv1.DealtRequest{Id: req.Id}); connect.CodeOf(err) != connect.CodeAlreadyExists {
		t.Errorf("another party: %v", err)
	}
	changed := proto.Clone(req).(*thresholdv1.DealRequest)
	changed.Threshold = 3
	if _, err := client.Deal(t.Context(), changed); connect.CodeOf(err) != connect.CodeAlreadyExists {
		t.Errorf("another request: %v", err)
	}
	resp, err := dealt(t.Context(), client, req.Id)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.Deal(t.Context(), req); err != nil {
		t.Errorf("the same once more: %v", err)
	}

	dealing := new(thresholdrsa.Dealing)
	if err := dealing.UnmarshalBinary(resp.Dealing); err != nil {
		t.Fatal(err)
	}
	if err := dealing.Verify(); err != nil {
		t.Fatal(err)
	}
	for i, id := range ids {
		share, err := keyfile.OpenAs[*thresholdrsa.KeyShare](bytes.NewReader(resp.Shares[i]), id)
		if err != nil {
			t.Fatal(err)
		}
		if err := share.CheckDealing(dealing); err != nil || share.Name() != holderNames[i] {
			t.Errorf("%v: %v", share, err)
		}
		if _, err := keyfile.OpenAs[*thresholdrsa.KeyShare](bytes.NewReader(resp.Shares[i]), ids[(i+1)%3]); !errors.Is(err, keyfile.ErrNoIdentity) {
			t.Errorf("somebody else opens share %d: %v", i+1, err)
		}
	}
	checkTranscript(t, dealer, user.Fingerprint(), resp, dealing)

	// After a restart it is there still.
	if err := dealer.stop(); err != nil {
		t.Fatal(err)
	}
	dealer = c.restart(dealer)
	again, err := dealer.as(user).Dealt(t.Context(), &thresholdv1.DealtRequest{Id: req.Id})
	if err != nil || !bytes.Equal(again.Transcript, resp.Transcript) {
		t.Errorf("after a restart: %v", err)
	}
	// What was under way when it ended is lost, and says so.
	rand.Read(req.Id)
	if _, err := dealer.as(user).Deal(t.Context(), req); err != nil {
		t.Fatal(err)
	}
	if err := dealer.stop(); err != nil {
		t.Fatal(err)
	}
	dealer = c.restart(dealer)
	if resp, err := dealer.as(user).Dealt(t.Context(), &thresholdv1.DealtRequest{Id: req.Id}); connect.CodeOf(err) != connect.CodeAborted && !resp.GetDone() {
		t.Errorf("a deal that was lost: %v, %v", resp, err)
	}
}

func refusedDeals(t *testing.T, client thresholdv1connect.ThresholdServiceClient, good *thresholdv1.DealRequest) {
	t.Helper()
	for what, change := range map[string]func(*thresholdv1.DealRequest){
		"no ID":             func(r *thresholdv1.DealRequest) { r.Id = nil },
		"few bits":          func(r *thresholdv1.DealRequest) { r.Bits = 1024 },
		"many bits":         func(r *thresholdv1.DealRequest) { r.Bits = 1 << 31 },
		"odd bits":          func(r *thresholdv1.DealRequest) { r.Bits = 2050 },
		"no threshold":      func(r *thresholdv1.DealRequest) { r.Threshold = 0 },
		"a large threshold": func(r *thresholdv1.DealRequest) { r.Threshold = 4 },
		"no holders":        func(r *thresholdv1.DealRequest) { r.Holders = nil },
		"a name twice":      func(r *thresholdv1.DealRequest) { r.Holders[1].Name = "alice" },
		"a path as a name":  func(r *thresholdv1.DealRequest) { r.Holders[1].Name = "../bob" },
		"no recipient":      func(r *thresholdv1.DealRequest) { r.Holders[1].Recipients = nil },
		"what isn't one":    func(r *thresholdv1.DealRequest) { r.Holders[1].Recipients = []string{"age1nonsense"} },
		"two in one":        func(r *thresholdv1.DealRequest) { r.Holders[1].Recipients[0] += "\n" + r.Holders[0].Recipients[0] },
		"a plugin":          func(r *thresholdv1.DealRequest) { r.Holders[1].Recipients = []string{"age1yubikey1qfxg"} },
		"a secret":          func(r *thresholdv1.DealRequest) { r.Holders[1].Recipients = []string{"AGE-SECRET-KEY-1"} },
	} {
		r := proto.Clone(good).(*thresholdv1.DealRequest)
		change(r)
		if _, err := client.Deal(t.Context(), r); connect.CodeOf(err) != connect.CodeInvalidArgument {
			t.Errorf("%s: %v", what, err)
		}
	}
	if _, err := client.Dealt(t.Context(), &thresholdv1.DealtRequest{Id: good.Id}); connect.CodeOf(err) != connect.CodeNotFound {
		t.Errorf("what wasn't asked for: %v", err)
	}
}

func checkTranscript(t *testing.T, dealer *testNode, user string, resp *thresholdv1.DealtResponse, dealing *thresholdrsa.Dealing) {
	t.Helper()
	tr := new(threshold.Transcript)
	if err := tr.UnmarshalBinary(resp.Transcript); err != nil {
		t.Fatal(err)
	}
	if err := tr.Verify(dealer.Fingerprint(), dealing); err != nil {
		t.Fatal(err)
	}
	for i, s := range resp.Shares {
		if err := tr.VerifyShare(i+1, s); err != nil {
			t.Error(err)
		}
		if err := tr.VerifyShare((i+1)%3+1, s); err == nil {
			t.Errorf("share %d is another's", i+1)
		}
	}
	h := tr.Hash()
	if got, want := string(tr.Attestation), "machine says "+hex.EncodeToString(h[:]); got != want {
		t.Errorf("attestation %q, want %q", got, want)
	}
	if tr.Party != user {
		t.Errorf("for %s", tr.Party)
	}
	text, err := threshold.EncodeTranscript(tr)
	if err != nil {
		t.Fatal(err)
	}
	if x, err := threshold.ParseTranscript(text); err != nil || x.Hash() != h {
		t.Errorf("%v", err)
	}
	if _, err := threshold.ParseTranscript(append(text, text...)); err == nil {
		t.Error("two transcripts are one")
	}
	for i := 0; i < len(resp.Transcript); i += 7 {
		bad := slices.Clone(resp.Transcript)
		bad[i] ^= 1
		x := new(threshold.Transcript)
		if err := x.UnmarshalBinary(bad); err == nil && x.Verify(dealer.Fingerprint(), dealing) == nil {
			t.Fatalf("a transcript with byte %d changed verifies", i)
		}
		if err := x.UnmarshalBinary(resp.Transcript[:i]); err == nil {
			t.Fatalf("a transcript of %d bytes is read", i)
		}
	}
	_, shares, err := thresholdrsa.Deal(testKey(t), 2, 3, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := tr.VerifyShare(1, []byte(shares[0].String())); err == nil {
		t.Error("another file is share 1")
	}
	if err := tr.Verify("us1other", dealing); err == nil || !strings.Contains(err.Error(), "and not us1other") {
		t.Errorf("another dealer: %v", err)
	}
}

// A node deals for nobody unless it is to.
func TestNoDealer(t *testing.T) {
	c := &cluster{t: t}
	n := c.start("plain", c.makeDir("plain", allowAll))
	if _, err := n.as(n.id).Deal(t.Context(), &thresholdv1.DealRequest{}); connect.CodeOf(err) != connect.CodeFailedPrecondition {
		t.Errorf("%v", err)
	}
}

// One party's deals leave room for those of another.
func TestDealsOfOne(t *testing.T) {
	t.Parallel()
	c := &cluster{t: t}
	dealer := c.start("dealer", c.makeDir("dealer", "[threshold.dealer]\nenabled = true\ninsecure-unlocked = true\n"+allowAll))
	_, greedy := newParty(t)
	_, other := newParty(t)
	dealer.admit(greedy, "greedy", "")
	dealer.admit(other, "other", "")
	to, err := age.GenerateX25519Identity()
	if err != nil {
		t.Fatal(err)
	}
	deal := func(id *party.Identity, n byte) error {
		_, err := dealer.as(id).Deal(t.Context(), &thresholdv1.DealRequest{
			Id: bytes.Repeat([]byte{n}, 16), Bits: 8192, Threshold: 1, // it takes longer than the test
			Holders: []*thresholdv1.DealHolder{{Name: "a", Recipients: []string{to.Recipient().String()}}},
		})
		return err
	}
	for n := range byte(2) {
		if err := deal(greedy, n); err != nil {
			t.Fatal(err)
		}
	}
	if err := deal(greedy, 9); connect.CodeOf(err) != connect.CodeResourceExhausted {
		t.Errorf("a third deal: %v", err)
	}
	if err := deal(other, 2); err != nil {
		t.Errorf("another party's: %v", err)
	}
}
