// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package bbs

import (
	"errors"

	"github.com/undersign/undersign/groupsig/internal/sigma"
	"github.com/undersign/undersign/internal/bls12381"
	"github.com/undersign/undersign/internal/transcript"
)

// SignOptions say what a signature is made for, beside the message.
type SignOptions struct {
	Scope []byte // in which the pseudonym holds; nil in groups without
	Batch bool   // the layout for batches, which is longer
}

// Sign signs a message. With sequences it moves to the next place in the sequence,
// whether or not the caller keeps the signature: the caller stores the key and the
// signature, and only then releases the signature. After a crash it releases the
// stored one and signs nothing anew.
func (m *MemberKey) Sign(msg transcript.Message, opts SignOptions) ([]byte, error) {
	k := m.gk
	if k == nil {
		return nil, errWiped
	}
	f := k.draft.Features
	if err := k.checkScope(opts.Scope); err != nil {
		return nil, err
	}
	g := &signature{p: make([]bls12381.G1, k.l.points), epoch: m.cred.epoch}
	if f.Has(Sequence) {
		m.mu.Lock()
		if m.seq.next == 0 {
			m.mu.Unlock()
			return nil, errors.New("groupsig: the sequence is at its end")
		}
		place := m.seq.place(k, m.seq.next)
		m.seq.next++
		m.mu.Unlock()
		g.seq = place[:]
	}

	// What hides the credential, hedged as the nonces are.
	var secret transcript.Items
	secret.Grow(256).Scalar("y", &m.y).Scalar("x", &m.cred.x).Scalar("s", &m.cred.s)
	defer secret.Wipe()
	public := new(transcript.Items).Bytes("gid", k.id[:]).Uint64("epoch", g.epoch).
		Bytes("scope", opts.Scope).Message("m", msg).Bytes("seq", g.seq)
	var r1, r2, a, aConvert bls12381.Scalar
	for r1.IsZero() || r2.IsZero() { // never twice
		n := transcript.NewNonces(k.dst("sig/hide"), &secret, public)
		n.Next(&r1, &r2, &a, &aConvert)
		n.Wipe()
	}
	w := make([]bls12381.Scalar, k.l.secrets)
	kk := make([]bls12381.Scalar, k.l.secrets)
	defer wipeScalars(w)
	defer wipeScalars(kk)
	w[k.l.x].Set(&m.cred.x)
	w[k.l.y].Set(&m.y)
	var u bls12381.Scalar // A's multiplier
	if f.Has(Plus) {
		u.Set(&r1)
		w[k.l.r2].Set(&r2)
		w[k.l.r3].Inverse(&r1)
		w[k.l.s].Mul(&r2, &w[k.l.r3])
		w[k.l.s].Sub(&m.cred.s, &w[k.l.s])
	} else {
		u.Mul(&r1, &r2)
		w[k.l.r1].Set(&r1)
		w[k.l.r3].Inverse(&r2)
	}
	if f.Has(Escrow) {
		w[k.l.a].Set(&a)
	}
	if f.Has(Convert) {
		w[k.l.aConvert].Set(&aConvert)
	}

	// Points. B is never needed itself: all are sums of multiples of A, B and
	// generators.
	var t, xu bls12381.Scalar
	var p bls12381.G1
	mul := func(dst *bls12381.G1, s *bls12381.Scalar, c *bls12381.G1Comb) { dst.CombMult(s, c) }
	add := func(dst *bls12381.G1, s *bls12381.Scalar, c *bls12381.G1Comb) {
		p.CombMult(s, c)
		dst.Add(dst, &p)
	}
	mul(&g.p[ptAA], &u, m.a)
	xu.Mul(&m.cred.x, &u)
	xu.Neg(&xu)
	mul(&g.p[ptABar], &u, m.b) // r1·D - x·AA, or r1·B - x·AA
	add(&g.p[ptABar], &xu, m.a)
	if f.Has(Plus) {
		mul(&g.p[ptD], &r1, m.b)
		add(&g.p[ptD], t.Neg(&r2), k.h2.comb())
	} else {
		mul(&g.p[ptD], &r2, m.b)
	}
	// hide sets dst to the multiple of y on a base, with a multiple of a key.
	if f.Has(Scope) {
		mul(&g.p[ptNym], &m.y, k.scope(opts.Scope).comb())
	}
	if f.Has(Convert) {
		i := f.ptConvert()
		mul(&g.p[i], &aConvert, k.g.comb())
		mul(&g.p[i+1], &aConvert, k.cpk.comb())
		add(&g.p[i+1], &m.y, k.hc.comb())
	}
	if f.Has(Escrow) {
		i := f.ptE()
		mul(&g.p[i], &a, k.g.comb())
		var yh bls12381.G1
		mul(&yh, &m.y, k.h.comb())
		for j, o := range k.opk {
			mul(&g.p[i+1+j], &a, o.comb())
			g.p[i+1+j].Add(&g.p[i+1+j], &yh)
		}
		yh.Wipe()
	}
	normalize(g.p)

	items := k.items(g, opts.Scope, msg)
	nonces := transcript.NewNonces(k.dst("sig"), &secret, items)
	for i := range kk {
		nonces.Next(&kk[i])
	}
	nonces.Wipe()

	// Commitments, in the order of the relations.
	g.t = &sigma.Commitments{G1: make([]bls12381.G1, k.l.relations)}
	c := g.t.G1
	xu.Mul(&kk[k.l.x], &u)
	xu.Neg(&xu)
	mul(&c[0], &xu, m.a)
	if f.Has(Plus) {
		add(&c[0], &kk[k.l.r2], k.h2.comb())
		// k_r3·D - k_s·h2 - k_y·h1, with D = r1·B - r2·h2
		mul(&c[1], t.Mul(&kk[k.l.r3], &r1), m.b)
		t.MulAdd(&kk[k.l.r3], &r2, &kk[k.l.s])
		add(&c[1], t.Neg(&t), k.h2.comb())
	} else {
		add(&c[0], t.Mul(&kk[k.l.r1], &r2), m.b)
		mul(&c[1], t.Mul(&kk[k.l.r3], &r2), m.b)
	}
	add(&c[1], t.Neg(&kk[k.l.y]), k.h1.comb())
	c = c[2:]
	if f.Has(Scope) {
		mul(&c[0], &kk[k.l.y], k.scope(opts.Scope).comb())
		c = c[1:]
	}
	if f.Has(Convert) {
		mul(&c[0], &kk[k.l.aConvert], k.g.comb())
		mul(&c[1], &kk[k.l.aConvert], k.cpk.comb())
		add(&c[1], &kk[k.l.y], k.hc.comb())
		c = c[2:]
	}
	if f.Has(Escrow) {
		mul(&c[0], &kk[k.l.a], k.g.comb())
		var yh bls12381.G1
		mul(&yh, &kk[k.l.y], k.h.comb())
		for j, o := range k.opk {
			mul(&c[1+j], &kk[k.l.a], o.comb())
			c[1+j].Add(&c[1+j], &yh)
		}
		yh.Wipe()
	}
	normalize(g.t.G1)
	g.c = *g.t.AppendTo(items).Challenge(k.dst("sig"))
	g.s = sigma.Respond(&g.c, kk, w)
	g.batch = opts.Batch
	for _, z := range []*bls12381.Scalar{&r1, &r2, &a, &aConvert, &u, &t, &xu} {
		z.Wipe()
	}
	p.Wipe()
	return k.encode(g), nil
}

// normalize divides out the coordinates of points that are to be encoded.
func normalize(ps []bls12381.G1) {
	list := make([]*bls12381.G1, len(ps))
	for i := range ps {
		list[i] = &ps[i]
	}
	bls12381.NormalizeG1(list...)
}

// maxScope bounds a scope.
const maxScope = 1 << 16

func (k *GroupKey) checkScope(scope []byte) error {
	if !k.draft.Features.Has(Scope) && scope != nil {
		return errors.New("groupsig: the group has no scopes")
	}
	if len(scope) > maxScope {
		return errors.New("groupsig: the scope is too long")
	}
	return nil
}
