// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package aggregate_test

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"errors"
	"testing"
	"time"

	"connectrpc.com/connect"

	"github.com/undersign/undersign/bls"
	"github.com/undersign/undersign/client"
	"github.com/undersign/undersign/distill"
	aggregatev1 "github.com/undersign/undersign/gen/undersign/aggregate/v1"
	"github.com/undersign/undersign/internal/policy"
	"github.com/undersign/undersign/node"
)

func newKeys(t testing.TB, seed byte) distill.ClientKeys {
	t.Helper()
	return distill.ClientKeys{
		BLS: must(bls.KeyGen(bytes.Repeat([]byte{seed}, 32), nil))(t),
		Ed:  ed25519.NewKeyFromSeed(bytes.Repeat([]byte{seed}, 32)),
	}
}

func (w *network) dirver() uint64 {
	w.t.Helper()
	resp := must(w.validator(0).Head(w.t.Context(), &aggregatev1.HeadRequest{}))(w.t)
	var h distill.Hgt
	if err := h.UnmarshalBinary(resp.Hgt); err != nil {
		w.t.Fatal(err)
	}
	return h.Dirver
}

// changeAll has changes made by the call that is for the first one's kind.
func (w *network) changeAll(changes ...*distill.Change) ([]*aggregatev1.Change, error) {
	e := distill.DirectoryEntry{Net: w.genesis.ID()}
	for _, c := range changes {
		e.Changes = append(e.Changes, *c)
	}
	ctx, cancel := context.WithTimeout(w.t.Context(), 20*time.Second)
	defer cancel()
	if changes[0].Kind == distill.ChangeRotate {
		resp, err := w.directory(0).Rotate(ctx, &aggregatev1.RotateRequest{Entry: e.Bytes()})
		return resp.GetChanges(), err
	}
	resp, err := w.directory(0).Revoke(ctx, &aggregatev1.RevokeRequest{Entry: e.Bytes()})
	return resp.GetChanges(), err
}

func (w *network) wantRule(what string, want distill.Rule, c *distill.Change) {
	w.t.Helper()
	list, err := w.changeAll(c)
	if err != nil || len(list) != 1 {
		w.t.Errorf("%s: %v, %v", what, list, err)
	} else if got := distill.Rule(list[0].Rule); got != want {
		w.t.Errorf("%s: %q, want %q", what, got, want)
	}
}

// Keys are changed by who has them, once by each signature, and taken away by who has them
// or by validators.
func TestHostileChanges(t *testing.T) {
	w := newNetwork(t, 1)
	w.finish()
	w.startAll()
	s := w.register(3)
	victim, mallory := s[0], s[1]
	net := w.genesis.ID()
	fresh := byte(200)
	rotate := func(id, version uint64, old ed25519.PrivateKey) *distill.Change {
		t.Helper()
		fresh++
		k := newKeys(t, fresh)
		return must(distill.Rotate(net, id, version, old, k.BLS, k.Ed))(t)
	}
	v := w.dirver()
	w.wantRule("another's id, by one's own key", distill.RuleOldEdSignature, rotate(victim.id, v, mallory.Ed))
	c := rotate(mallory.id, v, mallory.Ed)
	c.ID = victim.id
	w.wantRule("one's own rotation under another's id", distill.RuleKeySignature, c)
	c = rotate(mallory.id, v, mallory.Ed)
	c.Dirver--
	w.wantRule("another version than what was signed", distill.RuleStaleChange, c) // mallory wasn't there
	c = rotate(victim.id, v, victim.Ed)
	k := newKeys(t, 150)
	c.EdKey = [32]byte(k.Ed.Public().(ed25519.PublicKey))
	w.wantRule("another's rotation with one's own key in it", distill.RuleKeySignature, c)
	w.wantRule("a version to come", distill.RuleStaleChange, rotate(mallory.id, v+5, mallory.Ed))
	w.wantRule("nobody's id", distill.RuleUnknownID, rotate(99, v, mallory.Ed))
	w.wantRule("a key of somebody who isn't mallory", distill.RuleKeyRegistered,
		must(distill.Rotate(net, mallory.id, v, mallory.Ed, victim.BLS, mallory.Ed))(t))
	w.wantRule("revoked by another", distill.RuleOldEdSignature, distill.Revoke(net, victim.id, v, mallory.Ed))
	w.wantRule("removed by nobody", distill.RuleQuorum, distill.Remove(victim.id, v, &distill.Certificate{Bitmap: []byte{0}}))
	w.wantRule("removed by a client", distill.RuleCertificate, distill.Remove(victim.id, v, w.certificate(t, mallory.BLS, victim.id, v)))
	if w.dirver() != v {
		t.Fatalf("the directory is at version %d, and was at %d", w.dirver(), v)
	}

	// A rotation, and the same again.
	next := newKeys(t, 100)
	c = must(distill.Rotate(net, victim.id, v, victim.Ed, next.BLS, next.Ed))(t)
	early := distill.Revoke(net, victim.id, v, victim.Ed) // which somebody has kept
	w.wantRule("a rotation", 0, c)
	w.wantRule("a rotation, replayed", distill.RuleStaleChange, c)
	v = w.dirver()
	w.wantRule("a revocation by the old key, from before", distill.RuleStaleChange, early)
	w.wantRule("a revocation by the old key", distill.RuleOldEdSignature, distill.Revoke(net, victim.id, v, victim.Ed))
	w.wantRule("a rotation by the old key", distill.RuleOldEdSignature, rotate(victim.id, v, victim.Ed))
	w.wantRule("back to the old key", distill.RuleKeyRegistered, must(distill.Rotate(net, victim.id, v, next.Ed, victim.BLS, victim.Ed))(t))

	// A revocation, for ever.
	c = distill.Revoke(net, victim.id, v, next.Ed)
	w.wantRule("a revocation", 0, c)
	w.wantRule("a revocation, replayed", distill.RuleUnknownID, c)
	w.wantRule("a rotation of who was revoked", distill.RuleUnknownID, rotate(victim.id, w.dirver(), next.Ed))

	// The calls are for their kinds, of their network.
	v = w.dirver()
	for what, err := range map[string]error{
		"a revocation among rotations": second(w.changeAll(rotate(mallory.id, v, mallory.Ed), distill.Revoke(net, mallory.id, v, mallory.Ed))),
		"a rotation among revocations": second(w.changeAll(distill.Revoke(net, mallory.id, v, mallory.Ed), rotate(mallory.id, v, mallory.Ed))),
		"another network": func() error {
			other := distill.DirectoryEntry{Net: distill.NetworkID{1}, Changes: []distill.Change{*distill.Revoke(distill.NetworkID{1}, mallory.id, v, mallory.Ed)}}
			_, err := w.directory(0).Revoke(t.Context(), &aggregatev1.RevokeRequest{Entry: other.Bytes()})
			return err
		}(),
		"nothing": func() error {
			_, err := w.directory(0).Rotate(t.Context(), &aggregatev1.RotateRequest{})
			return err
		}(),
	} {
		if connect.CodeOf(err) != connect.CodeInvalidArgument {
			t.Errorf("%s: %v", what, err)
		}
	}
	if w.dirver() != v {
		t.Errorf("the directory is at version %d, and was at %d", w.dirver(), v)
	}
}

func second[T any](_ T, err error) error { return err }

// certificate returns a removal that one key has signed as validator 0.
func (w *network) certificate(t testing.TB, sk *bls.SecretKey, id, version uint64) *distill.Certificate {
	t.Helper()
	share := must(distill.SignStatement(sk, 0, distill.Rvk{Net: w.genesis.ID(), ID: id, Dirver: version}))(t)
	return &distill.Certificate{Bitmap: []byte{1}, Signature: share.Signature}
}

// What is in flight goes on with the new keys; with the old ones, and with those of a client
// that was revoked, nothing is executed, and others don't notice.
func TestKeysChangeUnderWay(t *testing.T) {
	app := &recorder{}
	w := newNetwork(t, 1)
	w.app = app
	w.finish()
	w.startAll()
	s := w.register(3)
	d := &client.Directory{Key: w.key, Genesis: w.genesis, Validators: []client.Validator{{Fingerprint: w.ids[0].Fingerprint(), Address: w.addrs[0]}}}
	var journals []distill.Journal
	var clients []client.GatewayClient
	for _, x := range s {
		j := &distill.MemoryJournal{}
		journals, clients = append(journals, j), append(clients, w.open(x, j))
	}
	g, stop := w.gatewayOf(clients...)
	for _, x := range s {
		wait(t, g, x.id, submit(t, g, x.id, "first"))
	}
	next := newKeys(t, 100)
	r, err := d.Rotate(t.Context(), s[0].id, s[0].Ed, next.BLS, next.Ed)
	if err != nil {
		t.Fatal(err)
	}
	again, err := d.Rotate(t.Context(), s[0].id, s[0].Ed, next.BLS, next.Ed)
	if err != nil || again.ID != s[0].id || again.Since < r.Since {
		t.Errorf("again: %+v, %v", again, err)
	}
	if err := d.Revoke(t.Context(), s[1].id, s[1].Ed); err != nil {
		t.Fatal(err)
	}
	if err := d.Revoke(t.Context(), s[1].id, s[1].Ed); err != nil {
		t.Errorf("revoked again: %v", err)
	}
	var refused *client.ChangeError
	if _, err := d.Rotate(t.Context(), s[1].id, s[1].Ed, newKeys(t, 101).BLS, s[1].Ed); !errors.As(err, &refused) || refused.Rule != distill.RuleUnknownID {
		t.Errorf("rotated after the revocation: %v", err)
	}
	// The sessions are open, and the clients don't know.
	old, dead := submit(t, g, s[0].id, "by the old keys"), submit(t, g, s[1].id, "by who was revoked")
	wait(t, g, s[2].id, submit(t, g, s[2].id, "by another"))
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	for id, nonce := range map[uint64]uint64{s[0].id: old, s[1].id: dead} {
		if o, err := g.Wait(ctx, id, nonce); err == nil {
			t.Errorf("client %d: %+v", id, o)
		}
	}
	stop()
	app.mu.Lock()
	if app.seen["by the old keys"]+app.seen["by who was revoked"] != 0 {
		t.Errorf("executed: %v", app.seen)
	}
	app.mu.Unlock()
	s[0].ClientKeys = next
	s[0].Since = r.Since
	g, _ = w.gatewayOf(w.open(s[0], journals[0]))
	if o := wait(t, g, s[0].id, old); o.Kind != distill.OutcomeExecuted || o.Code != distill.ResultOK {
		t.Errorf("by the new keys: %+v", o)
	}
}

// A change counts as made when F+1 validators say so, and who has no rule can't make one.
func TestDirectoryQuorum(t *testing.T) {
	w := newNetwork(t, 4)
	w.tick = 100
	w.tune = func(i int, c *node.Config) {
		if i == 3 {
			c.Aggregate.Directory = nil
		}
		if i == 1 {
			c.Rules = []node.Rule{
				{Parties: []string{"gateway"}, Operations: []string{"aggregate.register", "aggregate.head"}},
				{Parties: []string{"node0", "node2", "node3"}, Operations: []string{"aggregate.*"}},
			}
		}
	}
	w.finish()
	w.startAll()
	w.nodes[3].stop()
	s := w.register4(t)
	var all []client.Validator
	for i := range w.dirs {
		all = append(all, client.Validator{Fingerprint: w.ids[i].Fingerprint(), Address: w.addrs[i]})
	}
	d := &client.Directory{Key: w.key, Genesis: w.genesis, Validators: []client.Validator{all[0], all[1], {}, {}}}
	next := newKeys(t, 100)
	ctx, cancel := context.WithTimeout(t.Context(), 60*time.Second)
	defer cancel()
	_, err := d.Rotate(ctx, s.id, s.Ed, next.BLS, next.Ed)
	var denied *policy.DeniedError
	if !errors.As(err, &denied) {
		t.Fatalf("one of four agrees: %v", err)
	}
	// With another that agrees it is done, and the one that did it before says so.
	d.Validators = all
	r, err := d.Rotate(ctx, s.id, s.Ed, next.BLS, next.Ed)
	if err != nil || r.ID != s.id {
		t.Fatalf("%+v, %v", r, err)
	}
	if err := d.Revoke(ctx, s.id, s.Ed); err == nil {
		t.Error("revoked by the old key")
	}
	if err := d.Revoke(ctx, s.id, next.Ed); err != nil {
		t.Error(err)
	}
	// Two of four validators take another client's keys away, and one can't.
	k := newKeys(t, 51)
	reg, err := client.Register(ctx, w.key, w.genesis, w.ids[0].Fingerprint(), w.addrs[0], k.BLS, k.Ed)
	if err != nil {
		t.Fatal(err)
	}
	rvk := distill.Rvk{Net: w.genesis.ID(), ID: reg.ID, Dirver: reg.Since}
	var shares []distill.Share
	for i := range 2 {
		sk := must(bls.KeyGen(bytes.Repeat([]byte{byte(i + 1)}, 32), nil))(t)
		shares = append(shares, *must(distill.SignStatement(sk, i, rvk))(t))
	}
	own := &client.Directory{Key: w.key, Genesis: w.genesis, Validators: all[:1], Quorum: 1}
	var refused *client.ChangeError
	lone := &distill.Certificate{Bitmap: []byte{1}, Signature: shares[0].Signature}
	if err := own.Remove(ctx, reg.ID, reg.Since, lone); !errors.As(err, &refused) || refused.Rule != distill.RuleQuorum {
		t.Errorf("removed by one of four: %v", err)
	}
	cert, _, err := w.net.Committee().Combine(rvk, shares)
	if err != nil {
		t.Fatal(err)
	}
	if err := own.Remove(ctx, reg.ID, reg.Since-1, cert); err == nil {
		t.Error("removed by signatures of another version")
	}
	if err := own.Remove(ctx, reg.ID, reg.Since, cert); err != nil {
		t.Error(err)
	}
	if err := own.Remove(ctx, reg.ID, reg.Since, cert); !errors.As(err, &refused) || refused.Rule != distill.RuleUnknownID {
		t.Errorf("removed again: %v", err)
	}
	if v, err := d.Version(ctx); err != nil || v < 3 {
		t.Errorf("version %d, %v", v, err)
	}
}

// register4 registers one client by the first validator.
func (w *network) register4(t *testing.T) signer {
	t.Helper()
	k := newKeys(t, 50)
	r, err := client.Register(t.Context(), w.key, w.genesis, w.ids[0].Fingerprint(), w.addrs[0], k.BLS, k.Ed)
	if err != nil {
		t.Fatal(err)
	}
	k.Since = r.Since
	return signer{r.ID, k}
}
