// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package threshold_test

import (
	"crypto"
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"connectrpc.com/connect"

	thresholdv1 "github.com/undersign/undersign/gen/undersign/threshold/v1"
	"github.com/undersign/undersign/internal/nodedir"
	"github.com/undersign/undersign/internal/service"
	"github.com/undersign/undersign/internal/store"
	"github.com/undersign/undersign/internal/threshold"
	"github.com/undersign/undersign/thresholdrsa"
)

// backup copies the folder of a node that has been stopped.
func (n *testNode) backup() string {
	n.t.Helper()
	to := filepath.Join(n.t.TempDir(), "backup")
	copyDir(n.t, n.dir, to)
	return to
}

// restore puts the copy in the place of a stopped node's folder, as undersign restore does.
func (n *testNode) restore(from string) {
	n.t.Helper()
	if err := os.RemoveAll(n.dir); err != nil {
		n.t.Fatal(err)
	}
	copyDir(n.t, from, n.dir)
	s, err := store.Open(filepath.Join(n.dir, nodedir.Store), store.Options{})
	if err != nil {
		n.t.Fatal(err)
	}
	if err := service.MarkRestored(s, time.Now()); err != nil {
		n.t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		n.t.Fatal(err)
	}
}

func copyDir(t testing.TB, from, to string) {
	t.Helper()
	err := filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, _ := filepath.Rel(from, path)
		if d.IsDir() {
			return os.MkdirAll(filepath.Join(to, name), 0o700)
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(to, name), data, 0o600)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// stopped stops a node, and returns it.
func (n *testNode) stopped() *testNode {
	n.t.Helper()
	if err := n.stop(); err != nil {
		n.t.Fatal(err)
	}
	return n
}

// refreshed has all of a cluster get new shares.
func (c *cluster) refreshed(leader *testNode) {
	c.t.Helper()
	st := leader.startCeremony(&thresholdv1.StartCeremonyRequest{Key: "code"})
	c.finished(leader, st.Id)
}

func (c *cluster) finished(leader *testNode, id string) {
	c.t.Helper()
	for name, state := range states(leader.finishCeremony(id)) {
		if state != "finished" {
			c.t.Fatalf("%s: %s", name, state)
		}
	}
}

// eventually waits until a condition holds.
func eventually(t testing.TB, what string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !holds(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not %s", what)
		}
	}
}

// A holder that was restored from a backup doesn't use its share before the others say
// that it is current.
func TestRestoredHolder(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 2, 3, nil)
	alice, bob, carol := c.nodes[0], c.nodes[1], c.nodes[2]
	name := threshold.KeyName(c.key)
	before, err := ask(bob.as(alice.id), t, c, name, "before")
	if err != nil {
		t.Fatal(err)
	}
	old := bob.stopped().backup()
	alice.stopped()
	carol.stopped()
	bob.restore(old)
	bob = c.restart(bob)
	for _, m := range []string{"before", "after"} { // a share that it has already, too
		if _, err := ask(bob.as(alice.id), t, c, name, m); connect.CodeOf(err) != connect.CodeAborted {
			t.Errorf("nobody says that the share is current: %v", err)
		}
	}
	// One other that is there is enough of two that sign.
	alice = c.restart(alice)
	eventually(t, "used again", func() bool { _, err = ask(bob.as(alice.id), t, c, name, "after"); return err == nil })
	again, err := ask(bob.as(alice.id), t, c, name, "before")
	if err != nil || string(again) != string(before) {
		t.Errorf("%v, or another share", err)
	}
	// And that holds from then on.
	bob.stopped()
	alice.stopped()
	bob = c.restart(bob)
	if _, err := ask(bob.as(alice.id), t, c, name, "later"); err != nil {
		t.Error(err)
	}
}

// The share of an old epoch isn't used when the others have moved on, whether they can be
// asked at first or not.
func TestRestoredOldEpoch(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 2, 3, nil)
	alice, bob, carol := c.nodes[0], c.nodes[1], c.nodes[2]
	name := threshold.KeyName(c.key)
	old := bob.stopped().backup()
	bob = c.restart(bob)
	c.refreshed(alice)
	bob.stopped().restore(old)
	alice.stopped()
	carol.stopped()
	bob = c.restart(bob)
	if _, err := ask(bob.as(alice.id), t, c, name, "old"); connect.CodeOf(err) != connect.CodeAborted {
		t.Errorf("an old share, with nobody to ask: %v", err)
	}
	carol = c.restart(carol)
	eventually(t, "superseded", func() bool {
		_, err := ask(bob.as(alice.id), t, c, name, "old")
		if err == nil {
			t.Fatal("an old share signed")
		}
		return connect.CodeOf(err) != connect.CodeAborted
	})
	if p, index := bob.held(); p.Epoch() != 2 || index != 0 {
		t.Errorf("epoch %d, share %d", p.Epoch(), index)
	}
	// The others give it a share again.
	alice = c.restart(alice)
	st := alice.startCeremony(&thresholdv1.StartCeremonyRequest{Key: "code", Threshold: 2, Receivers: []string{"alice", "bob", "carol"}})
	for _, n := range []*testNode{bob, carol} {
		req := &thresholdv1.JoinCeremonyRequest{Id: st.Id, Name: "code"}
		if _, err := n.as(n.id).JoinCeremony(t.Context(), req); err != nil {
			t.Fatalf("%s: %v", n.name, err)
		}
	}
	c.finished(alice, st.Id)
	if p, index := bob.held(); p.Epoch() != 3 || index != 2 {
		t.Errorf("epoch %d, share %d", p.Epoch(), index)
	}
	if _, data := requestNow(t, bob); data != nil {
		eventually(t, "used again", func() bool { // once bob has asked the others again
			_, err := bob.as(alice.id).Share(t.Context(), &thresholdv1.ShareRequest{Request: data, Key: name})
			return err == nil
		})
	}
}

// A node that was restored in the middle of a ceremony may have acknowledged what it has
// forgotten, and takes no step of it again; in another one it does if a person says so.
func TestRestoredCeremony(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 2, 2, nil)
	alice, bob := c.nodes[0], c.nodes[1]
	u := c.newUser(alice)
	st := alice.startCeremony(&thresholdv1.StartCeremonyRequest{Key: "code"}) // bob has joined
	old := bob.stopped().backup()
	bob.restore(old)
	bob = c.restart(bob)
	eventually(t, "used again", func() bool { return u.sign(t, "x") == nil })
	alice.finishCeremony(st.Id)
	if s := states(alice.finishCeremony(st.Id))["bob"]; s == "finished" || s == "received" {
		t.Fatalf("bob takes part in what began before: %s", s)
	}
	st = alice.startCeremony(&thresholdv1.StartCeremonyRequest{Key: "code"})
	if s := states(alice.finishCeremony(st.Id))["bob"]; s != "waiting" {
		t.Fatalf("bob joined by itself: %s", s)
	}
	bob.stopped()
	bob = c.restart(bob) // which changes nothing of that
	if s := states(alice.finishCeremony(st.Id))["bob"]; s != "waiting" {
		t.Fatalf("bob joined by itself: %s", s)
	}
	if _, err := bob.as(bob.id).JoinCeremony(t.Context(), &thresholdv1.JoinCeremonyRequest{Id: st.Id}); err != nil {
		t.Fatal(err)
	}
	c.finished(alice, st.Id)
	if err := u.sign(t, "y"); err != nil || u.signer.Record().Epoch() != 2 {
		t.Errorf("%v, epoch %d", err, u.signer.Record().Epoch())
	}
	c.refreshed(alice) // of the next epoch the node knows all
}

// What was committed while the node didn't know of it, it takes.
func TestRestoredBeforeCertificate(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 2, 2, nil)
	alice, bob := c.nodes[0], c.nodes[1]
	st := alice.startCeremony(&thresholdv1.StartCeremonyRequest{Key: "code"})
	// Both acknowledge, and alice has the certificate before bob comes by it.
	resp, err := alice.as(alice.id).FinishCeremony(t.Context(), &thresholdv1.FinishCeremonyRequest{Id: st.Id})
	if err != nil || states(resp.Ceremony)["bob"] != "finished" {
		t.Fatal(err, resp)
	}
	old := bob.stopped().backup()
	bob.restore(old)
	bob = c.restart(bob)
	eventually(t, "current", func() bool {
		_, data := requestNow(t, bob)
		_, err := bob.as(alice.id).Share(t.Context(), &thresholdv1.ShareRequest{Request: data, Key: threshold.KeyName(c.key)})
		return err == nil
	})
}

// requestNow returns a request by the record that a node has.
func requestNow(t testing.TB, n *testNode) (*thresholdrsa.Request, []byte) {
	p, _ := n.held()
	return request(t, p, "now")
}

// A person is asked again, and what was refused stays so.
func TestRestoredApprovals(t *testing.T) {
	t.Parallel()
	approve := strings.Replace(allowAll, "keys = ", "approve = true\nkeys = ", 1)
	c := newCluster(t, 1, 2, func(i int) string {
		if i == 1 {
			return approve
		}
		return allowAll
	})
	alice, bob := c.nodes[0], c.nodes[1]
	name := threshold.KeyName(c.key)
	id := func(m string) string {
		digest := sha256.Sum256([]byte(m))
		r, err := thresholdrsa.NewRequest(c.key, digest[:], crypto.SHA256)
		if err != nil {
			t.Fatal(err)
		}
		id := r.ID()
		return hex.EncodeToString(id[:])
	}
	try := func(m string) (*thresholdv1.ShareResponse, error) {
		_, data := request(t, c.key, m)
		return bob.as(alice.id).Share(t.Context(), &thresholdv1.ShareRequest{Request: data, Key: name})
	}
	for _, m := range []string{"yes", "no", "open"} {
		if resp, err := try(m); err != nil || resp.PendingUntilMs == 0 {
			t.Fatal(resp, err)
		}
	}
	if _, err := bob.as(bob.id).Approve(t.Context(), &thresholdv1.ApproveRequest{Id: id("yes")}); err != nil {
		t.Fatal(err)
	}
	if _, err := bob.as(bob.id).Reject(t.Context(), &thresholdv1.RejectRequest{Id: id("no")}); err != nil {
		t.Fatal(err)
	}
	old := bob.stopped().backup()
	bob.restore(old)
	bob = c.restart(bob)
	check := func(m string, want func(*thresholdv1.ShareResponse, error) bool) {
		t.Helper()
		var resp *thresholdv1.ShareResponse
		var err error
		eventually(t, "in use", func() bool { resp, err = try(m); return connect.CodeOf(err) != connect.CodeAborted })
		if !want(resp, err) {
			t.Errorf("%s: %v, %v", m, resp, err)
		}
	}
	pending := func(r *thresholdv1.ShareResponse, err error) bool { return err == nil && len(r.Share) == 0 }
	check("yes", pending)
	check("open", pending)
	check("no", func(r *thresholdv1.ShareResponse, err error) bool { return err != nil })
	// What is approved now counts, after another start too.
	if _, err := bob.as(bob.id).Approve(t.Context(), &thresholdv1.ApproveRequest{Id: id("yes")}); err != nil {
		t.Fatal(err)
	}
	bob.stopped()
	bob = c.restart(bob)
	check("yes", func(r *thresholdv1.ShareResponse, err error) bool { return err == nil && len(r.Share) > 0 })
}
