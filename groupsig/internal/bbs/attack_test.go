// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package bbs

import (
	"bytes"
	"crypto/ed25519"
	"errors"
	"testing"
	"testing/cryptotest"

	"github.com/undersign/undersign/groupsig/internal/join"
	"github.com/undersign/undersign/internal/bls12381"
)

// The name of a scheme comes with a group key, from anywhere.
func TestHostileScheme(t *testing.T) {
	g := newGroup(t, Scope)
	good, err := g.k.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ParseGroupKey(good); err != nil {
		t.Fatal(err)
	}
	for _, scheme := range []string{"a/bc", "////", "gl1/"} {
		if _, err := ParseGroupKey(bytes.Replace(good, []byte("test"), []byte(scheme), 1)); err == nil {
			t.Errorf("%q: decoded", scheme)
		}
		d := g.k.draft
		d.Scheme = scheme
		if _, err := NewGroupKey(&d); err == nil {
			t.Errorf("%q: accepted", scheme)
		}
		if _, err := d.MarshalBinary(); err == nil {
			t.Errorf("%q: encoded", scheme)
		}
	}
}

// A member that takes 0 for nonces makes commitments that are the identity. Both
// layouts are decided alike, alone and among others.
func TestIdentityCommitments(t *testing.T) {
	for _, f := range []Features{Scope | Escrow, Plus | Scope, Plus | Convert | Epoch} {
		g := newGroup(t, f)
		m := g.join("ada")
		good := g.sign(m, "m", "s", true)
		for zero := -1; zero < g.k.l.secrets; zero++ { // -1: all of them
			s, w := g.cheat(m)
			st := g.k.relations(s, g.scope("s"))
			nonces := make([]bls12381.Scalar, len(w))
			for i := range nonces {
				if zero >= 0 && i != zero {
					nonces[i].Random()
				}
			}
			s.t = st.Commit(nonces)
			s.c = *s.t.AppendTo(g.k.items(s, g.scope("s"), msg("m"))).Challenge(g.k.dst("sig"))
			for i := range w {
				var cw, r bls12381.Scalar
				cw.Mul(&s.c, &w[i])
				s.s = append(s.s, *r.Sub(&nonces[i], &cw))
			}
			compact := g.k.encode(s)
			merged, err := g.k.ForBatch(g.scope("s"), compact)
			if err != nil {
				t.Fatal(err)
			}
			for _, sig := range [][]byte{compact, merged} {
				if err := g.k.Verify(msg("m"), sig, g.opts("s")); err != nil {
					t.Errorf("features %#x, nonce %d: %v", f, zero, err)
				}
				b := g.k.Batch()
				for range 5 {
					b.Add(msg("m"), good, g.opts("s"))
				}
				b.Add(msg("m"), sig, g.opts("s"))
				if err := b.Verify(); err != nil {
					t.Errorf("features %#x, nonce %d: %v", f, zero, err)
				}
			}
		}
	}
}

// An opener that leaves a record out accuses an honest issuer, which finds the record
// by the opening's value.
func TestAccusedIssuer(t *testing.T) {
	g := newGroup(t, Scope|Escrow)
	sig := g.sign(g.join("ada"), "m", "s", false)
	o, err := g.opener.Open(g.k, g.k.NewRegister(), msg("m"), sig, g.opts("s"), nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := g.k.VerifyOpening(msg("m"), sig, g.opts("s"), o, nil, nil); err != nil {
		t.Fatal(err)
	}
	r := g.register.Find(o.Value())
	if r == nil || r.Member != "ada" || r.Verify(g.public("ada")) != nil {
		t.Errorf("the issuer finds %v", r)
	}
}

// Somebody who has an opening signs a record with the signer's point by a key of its
// own: the opening doesn't name it. Nor does it accuse the issuer without the record.
func TestOpeningOfAnother(t *testing.T) {
	for _, f := range []Features{Escrow, Plus | Convert | Epoch | Escrow | SingleOpener} {
		g := newGroup(t, f)
		sig := g.sign(g.join("ada"), "m", "s", false)
		o, err := g.opener.Open(g.k, g.register, msg("m"), sig, g.opts("s"), nil)
		if err != nil {
			t.Fatal(err)
		}
		mallory := *o.record
		mallory.Member = "mallory"
		if err := mallory.Sign(g.key("mallory")); err != nil {
			t.Fatal(err)
		}
		again := *o.record // signed by ada, for another session
		again.Session[0]++
		if err := again.Sign(g.key("ada")); err != nil {
			t.Fatal(err)
		}
		for _, r := range []*join.Record{&mallory, &again, nil} {
			q := &Opening{yh: o.yh, record: r, proof: o.proof}
			var key ed25519.PublicKey
			if r != nil {
				key = r.Key
				if err := r.Verify(key); err != nil {
					t.Fatal("the record is no good:", err)
				}
			}
			if g.k.VerifyOpening(msg("m"), sig, g.opts("s"), q, key, nil) == nil {
				t.Errorf("features %#x: the opening names %q", f, q.Member())
			}
		}
		if err := g.k.VerifyOpening(msg("m"), sig, g.opts("s"), o, g.public("ada"), nil); err != nil {
			t.Error(err)
		}
	}
}

// A batch says of valid signatures alone that their signer is revoked: anybody can put
// a pseudonym from a list into the layout for batches.
func TestBatchForgesRevoked(t *testing.T) {
	g := newGroup(t, Scope|Escrow|Token)
	ada, bob := g.join("ada"), g.join("bob")
	list := g.list(listTerms, Revoked{Pseudonyms: [][]byte{g.nym(ada, "s")}})
	opts := g.under(list, "s", now)
	forged := g.sign(bob, "m", "s", true)
	copy(forged[ptNym*bls12381.G1Size:], list.Entries(nymSection)[0])
	for _, n := range []int{1, 5} {
		b := g.k.Batch()
		for range n {
			b.Add(msg("m"), forged, opts)
		}
		b.Add(msg("m"), g.sign(ada, "m", "s", true), opts)
		var be *BatchError
		if err := b.Verify(); !errors.As(err, &be) || len(be.Errs) != n+1 {
			t.Fatal(err)
		}
		for i, err := range be.Errs {
			if errors.Is(err, ErrRevoked) != (i == n) {
				t.Errorf("%d forged ones, at %d: %v", n, i, err)
			}
		}
	}
}

// Who has joined again gets no credential for an epoch in which the one before is good.
func TestReissueBackdated(t *testing.T) {
	g := newGroup(t, Scope|Epoch)
	g.join("ada") // of epoch 7
	before := g.register.Member("ada")
	if err := g.register.Revoke("ada"); err != nil {
		t.Fatal(err)
	}
	g.epoch++
	g.join("ada")
	if _, err := g.issuer.Reissue(g.k, g.register, "ada", g.epoch-1); !errors.As(err, new(*join.RejoinError)) {
		t.Errorf("two pseudonyms in one scope and epoch: %v", err)
	}
	for epoch := g.epoch; epoch < g.epoch+2; epoch++ {
		if _, err := g.issuer.Reissue(g.k, g.register, "ada", epoch); err != nil {
			t.Error(err)
		}
	}
	// Revoked, and joined again, after the record was looked up.
	if g.register.Reissued(before, g.epoch+1) == nil {
		t.Error("a revoked record gets a credential")
	}
}

// The issuer's generator is set back, as by a snapshot of its machine. With one x in
// two credentials the member would have one of every epoch: see TestExtrapolation.
func TestClonedGenerator(t *testing.T) {
	for _, f := range []Features{Scope | Epoch, Plus | Scope | Epoch} {
		g := newGroup(t, f)
		ada := g.join("ada")
		seen := map[string]bool{}
		for _, epoch := range []uint64{8, 9, 10} {
			cryptotest.SetGlobalRandom(t, 1)
			c, err := g.issuer.Reissue(g.k, g.register, "ada", epoch)
			if err != nil {
				t.Fatal(err)
			}
			if err := ada.Update(c, epoch); err != nil {
				t.Fatal(err)
			}
			seen[string(ada.cred.x.Bytes())] = true
		}
		if len(seen) != 3 {
			t.Errorf("features %#x: %d different x in 3 credentials", f, len(seen))
		}
	}
}

// The converter's generator is set back: two queries stay apart.
func TestClonedConverter(t *testing.T) {
	g := newGroup(t, featureSets["gl19"])
	ada := g.join("ada")
	var in [2][][]byte
	var keys [2]*BlindingKey
	for i := range in {
		keys[i], _ = g.k.NewBlindingKey()
		for range 2 {
			b, err := keys[i].Blind(msg("m"), g.sign(ada, "m", "", false), g.opts(""))
			if err != nil {
				t.Fatal(err)
			}
			in[i] = append(in[i], b)
		}
	}
	nyms := map[string]bool{}
	for i, key := range keys {
		cryptotest.SetGlobalRandom(t, 1)
		out, err := g.converter.Convert(g.k, key.Public(), in[i])
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range out {
			nym, _, err := key.Unblind(c)
			if err != nil {
				t.Fatal(err)
			}
			nyms[string(nym)] = true
		}
	}
	if len(nyms) != len(keys) {
		t.Errorf("%d pseudonyms in %d queries", len(nyms), len(keys))
	}
}

// A caller may use one buffer for the scopes of a batch.
func TestBatchCopiesScopes(t *testing.T) {
	g := newGroup(t, Scope)
	m := g.join("ada")
	for _, layout := range []bool{false, true} {
		b := g.k.Batch()
		var buf [1]byte
		for _, s := range []string{"a", "b", "c", "d", "e"} {
			copy(buf[:], s)
			opts := g.opts("")
			opts.Scope = buf[:]
			sig := g.sign(m, "m", s, layout)
			if s == "b" { // made for the last scope, and shown in this one
				sig = g.sign(m, "m", "e", layout)
			}
			b.Add(msg("m"), sig, opts)
		}
		var be *BatchError
		if err := b.Verify(); !errors.As(err, &be) || len(be.Bad) != 1 || be.Bad[0] != 1 {
			t.Errorf("batch says %v", err)
		}
	}
}
