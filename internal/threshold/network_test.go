// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package threshold_test

import (
	"context"
	"crypto"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"connectrpc.com/connect"

	"github.com/undersign/undersign/client"
	thresholdv1 "github.com/undersign/undersign/gen/undersign/threshold/v1"
	"github.com/undersign/undersign/internal/audit"
	"github.com/undersign/undersign/internal/nodedir"
	"github.com/undersign/undersign/internal/party"
	"github.com/undersign/undersign/internal/threshold"
	"github.com/undersign/undersign/thresholdrsa"
)

// A user is a program that asks a node of a cluster for signatures.
type user struct {
	id     *party.Identity
	node   *client.Node
	faults []client.Fault
	signer *client.Signer
}

func (c *cluster) newUser(at *testNode) *user {
	c.t.Helper()
	key, id := newParty(c.t)
	at.admit(id, "user", "")
	n, err := client.Dial(key, at.Addr().String(), at.Fingerprint())
	if err != nil {
		c.t.Fatal(err)
	}
	c.t.Cleanup(n.Close)
	u := &user{id: id, node: n}
	u.signer = n.Signer(c.key, &client.SignerOptions{Timeout: 20 * time.Second, Faults: func(f []client.Fault) { u.faults = f }})
	return u
}

// sign signs a message and checks the signature by crypto/rsa.
func (u *user) sign(t testing.TB, message string) error {
	t.Helper()
	u.faults = nil
	digest := sha256.Sum256([]byte(message))
	sig, err := u.signer.Sign(nil, digest[:], crypto.SHA256)
	if err != nil {
		return err
	}
	r, err := thresholdrsa.NewRequest(u.signer.Record(), digest[:], crypto.SHA256)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Verify(u.signer.Record().RSA(), sig); err != nil {
		t.Errorf("a signature came out that is wrong: %v", err)
	}
	return nil
}

func request(t testing.TB, p *thresholdrsa.PublicKey, message string) (*thresholdrsa.Request, []byte) {
	t.Helper()
	digest := sha256.Sum256([]byte(message))
	r, err := thresholdrsa.NewRequest(p, digest[:], crypto.SHA256)
	if err != nil {
		t.Fatal(err)
	}
	data, err := r.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	return r, data
}

// auditOf verifies the audit log of a node that has ended, and returns its records.
func auditOf(t testing.TB, n *testNode) (records []audit.Record, report *audit.Report) {
	t.Helper()
	f, err := os.Open(filepath.Join(n.dir, nodedir.Audit))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	report, err = audit.Verify(f, n.id.PublicKey(), "", func(r *audit.Record) { records = append(records, *r) })
	if err != nil {
		t.Fatalf("%s: %v", n.name, err)
	}
	return records, report
}

func TestSign(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 3, 5, nil)
	u := c.newUser(c.nodes[0])
	if err := u.sign(t, "first"); err != nil {
		t.Fatal(err)
	}
	if len(u.faults) != 0 {
		t.Errorf("faults with healthy nodes: %v", u.faults)
	}
	var times []time.Duration
	for i := range 10 {
		start := time.Now()
		if err := u.sign(t, string(rune('a'+i))); err != nil {
			t.Fatal(err)
		}
		times = append(times, time.Since(start))
	}
	slices.Sort(times)
	t.Logf("3 of 5, 2048 bits, over loopback: median %v, from %v to %v", times[5], times[0], times[9])

	// All that was signed is in the logs, before and after.
	for _, n := range c.nodes {
		if err := n.stop(); err != nil {
			t.Fatal(err)
		}
		records, report := auditOf(t, n)
		if len(report.Open) != 0 {
			t.Errorf("%s: intents without an end: %v", n.name, report.Open)
		}
		for _, r := range records {
			if r.Kind == audit.Intent && (r.Operation != "threshold.share" || r.Key != threshold.KeyName(c.key) || r.Party == "" || len(r.Subject) != 64) {
				t.Errorf("%s: record %+v", n.name, r)
			}
		}
	}
}

// The same request gets the same share, also at the same time and after a restart.
func TestIdempotent(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 2, 2, nil)
	n := c.nodes[1]
	_, data := request(t, c.key, "once")
	ask := func() []byte {
		resp, err := n.as(c.nodes[0].id).Share(t.Context(), &thresholdv1.ShareRequest{Request: data, Key: threshold.KeyName(c.key)})
		if err != nil {
			t.Error(err)
			return nil
		}
		return resp.Share
	}
	answers := make([][]byte, 8)
	var wg sync.WaitGroup
	for i := range answers {
		wg.Go(func() { answers[i] = ask() })
	}
	wg.Wait()
	if err := n.stop(); err != nil {
		t.Fatal(err)
	}
	records, _ := auditOf(t, n)
	n = c.restart(n)
	answers = append(answers, ask())
	for i, a := range answers {
		if len(a) == 0 || string(a) != string(answers[0]) {
			t.Errorf("answer %d differs", i)
		}
	}
	intents := 0
	for _, r := range records {
		if r.Kind == audit.Intent {
			intents++
		}
	}
	if intents != 1 {
		t.Errorf("the share was used %d times", intents)
	}
}

func TestRequestsThatArentSigned(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 2, 2, nil)
	name := threshold.KeyName(c.key)
	other, _, err := thresholdrsa.Deal(testKey(t), 2, 3, nil) // the same RSA key, another sharing
	if err != nil {
		t.Fatal(err)
	}
	_, good := request(t, c.key, "m")
	_, foreign := request(t, other.PublicKey(), "m")
	cut := good[:len(good)-1]
	long := append(slices.Clone(good), 0)
	for _, tt := range []struct {
		what, key string
		data      []byte
		code      connect.Code
	}{
		{"no request", name, nil, connect.CodeInvalidArgument},
		{"a request that was cut", name, cut, connect.CodeInvalidArgument},
		{"a request with more behind it", name, long, connect.CodeInvalidArgument},
		{"a request without a key", "", good, connect.CodeInvalidArgument},
		{"a request under another key's name", "rsa-0000000000000000000000000000000000000000", good, connect.CodeInvalidArgument},
		{"a request for another sharing", name, foreign, connect.CodeNotFound},
	} {
		peer := c.nodes[1].as(c.nodes[0].id)
		if _, err := peer.Share(t.Context(), &thresholdv1.ShareRequest{Request: tt.data, Key: tt.key}); connect.CodeOf(err) != tt.code {
			t.Errorf("share: %s: %v, want %v", tt.what, err, tt.code)
		}
		if _, err := peer.Sign(t.Context(), &thresholdv1.SignRequest{Request: tt.data, Key: tt.key}); connect.CodeOf(err) != tt.code {
			t.Errorf("sign: %s: %v, want %v", tt.what, err, tt.code)
		}
	}
}

// What a rule allows for one key, it doesn't allow for another that the request is for.
func TestKeyOfPolicy(t *testing.T) {
	t.Parallel()
	const only = "[[rule]]\nparties = [\"*\"]\noperations = [\"threshold.*\"]\nkeys = [\"rsa-0000000000000000000000000000000000000000\"]\n"
	c := newCluster(t, 2, 2, func(i int) string {
		if i == 1 {
			return only
		}
		return allowAll
	})
	_, data := request(t, c.key, "m")
	peer := c.nodes[1].as(c.nodes[0].id)
	if _, err := peer.Share(t.Context(), &thresholdv1.ShareRequest{Request: data, Key: threshold.KeyName(c.key)}); connect.CodeOf(err) != connect.CodePermissionDenied {
		t.Errorf("its own name: %v", err)
	}
	if _, err := peer.Share(t.Context(), &thresholdv1.ShareRequest{Request: data, Key: "rsa-0000000000000000000000000000000000000000"}); connect.CodeOf(err) != connect.CodeInvalidArgument {
		t.Errorf("a name that is allowed: %v", err)
	}
}

func TestQuorumRefused(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 2, 3, func(i int) string {
		if i == 2 {
			return "" // denies everything
		}
		return allowAll
	})
	u := c.newUser(c.nodes[0])
	if err := c.nodes[1].stop(); err != nil {
		t.Fatal(err)
	}
	err := u.sign(t, "m")
	var q *client.QuorumError
	if !errors.As(err, &q) || q.Have != 1 || q.Need != 2 {
		t.Fatalf("%v", err)
	}
	kinds := map[string]threshold.FaultKind{}
	for _, f := range q.Faults {
		kinds[f.Name] = f.Kind
	}
	if kinds["bob"] != threshold.Silent || kinds["carol"] != threshold.Denied {
		t.Errorf("faults: %v", q.Faults)
	}
	if !errors.Is(err, client.ErrQuorum) || !strings.Contains(err.Error(), "1 good signature shares of the 2") {
		t.Errorf("%v", err)
	}
	// Once one is back, it signs.
	c.nodes[1] = c.restart(c.nodes[1])
	if err := u.sign(t, "m"); err != nil {
		t.Fatal(err)
	}
}

func TestApproval(t *testing.T) {
	t.Parallel()
	const approve = "[[rule]]\nparties = [\"*\"]\noperations = [\"threshold.share\"]\nkeys = [\"*\"]\napprove = true\n"
	c := newCluster(t, 2, 2, func(i int) string {
		if i == 1 {
			return approve
		}
		return allowAll
	})
	u := c.newUser(c.nodes[0])
	self := c.nodes[1].as(c.nodes[1].id)
	signed := make(chan error, 1)
	go func() { signed <- u.sign(t, "yes") }()
	item := waitPending(t, self)
	r, data := request(t, c.key, "yes")
	id := r.ID()
	if item.Id != hex.EncodeToString(id[:]) || item.Party != c.nodes[0].Fingerprint() || item.PartyName != "alice" ||
		item.Key != threshold.KeyName(c.key) || string(item.Request) != string(data) {
		t.Errorf("pending: %v", item)
	}
	if _, err := c.nodes[1].as(c.nodes[0].id).Approve(t.Context(), &thresholdv1.ApproveRequest{Id: item.Id}); connect.CodeOf(err) != connect.CodePermissionDenied {
		t.Errorf("approved by who asked: %v", err)
	}
	for _, id := range []string{"", "abc", "zzzz", item.Id + "00"} {
		if _, err := self.Approve(t.Context(), &thresholdv1.ApproveRequest{Id: id}); connect.CodeOf(err) != connect.CodeNotFound {
			t.Errorf("approve %q: %v", id, err)
		}
	}
	if _, err := self.Approve(t.Context(), &thresholdv1.ApproveRequest{Id: item.Id[:8]}); err != nil {
		t.Fatal(err)
	}
	if err := <-signed; err != nil {
		t.Fatal(err)
	}

	go func() { signed <- u.sign(t, "no") }()
	item = waitPending(t, self)
	if _, err := self.Reject(t.Context(), &thresholdv1.RejectRequest{Id: item.Id, Reason: "not today"}); err != nil {
		t.Fatal(err)
	}
	err := <-signed
	var q *client.QuorumError
	if !errors.As(err, &q) || len(q.Faults) != 1 || q.Faults[0].Kind != threshold.Denied || !strings.Contains(q.Faults[0].Reason, "not today") {
		t.Errorf("rejected: %v", err)
	}
	// Rejected is rejected, until it expires.
	if err := u.sign(t, "no"); !errors.Is(err, client.ErrQuorum) {
		t.Errorf("asked again: %v", err)
	}
	if _, err := self.Approve(t.Context(), &thresholdv1.ApproveRequest{Id: item.Id}); connect.CodeOf(err) != connect.CodeNotFound {
		t.Errorf("approve what was rejected: %v", err)
	}
}

func waitPending(t testing.TB, c interface {
	Pending(ctx context.Context, req *thresholdv1.PendingRequest) (*thresholdv1.PendingResponse, error)
}) *thresholdv1.PendingItem {
	t.Helper()
	for range 200 {
		resp, err := c.Pending(t.Context(), &thresholdv1.PendingRequest{})
		if err != nil {
			t.Fatal(err)
		}
		if len(resp.Items) == 1 {
			return resp.Items[0]
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Fatal("nothing waits")
	return nil
}

// A signer that is asked too often says so, and is named for it.
func TestRate(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 2, 2, func(i int) string {
		if i == 1 {
			return strings.Replace(allowAll, "keys", "rate = \"2/h\"\nkeys", 1)
		}
		return allowAll
	})
	u := c.newUser(c.nodes[0])
	u.signer = u.node.Signer(c.key, &client.SignerOptions{Timeout: 3 * time.Second})
	for i := range 2 {
		if err := u.sign(t, string(rune('a'+i))); err != nil {
			t.Fatal(err)
		}
	}
	err := u.sign(t, "c")
	var q *client.QuorumError
	if !errors.As(err, &q) || len(q.Faults) != 1 || q.Faults[0].Kind != threshold.Limited {
		t.Errorf("%v", err)
	}
}
