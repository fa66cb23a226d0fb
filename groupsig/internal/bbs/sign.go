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
	if m.wiped() {
		return nil, errWiped
	}
	k := m.gk
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
	var sg signing
	defer sg.wipe()
	for sg.r1.IsZero() || sg.r2.IsZero() { // never twice
		n := transcript.NewNonces(k.dst("sig/hide"), &secret, public)
		n.Next(&sg.r1, &sg.r2, &sg.a, &sg.aConvert)
		n.Wipe()
	}
	m.hide(g, &sg, opts.Scope)
	normalize(g.p)

	items := k.items(g, opts.Scope, msg)
	nonces := transcript.NewNonces(k.dst("sig"), &secret, items)
	for i := range sg.k {
		nonces.Next(&sg.k[i])
	}
	nonces.Wipe()
	m.commit(g, &sg, opts.Scope)
	normalize(g.t.G1)
	g.c = *g.t.AppendTo(items).Challenge(k.dst("sig"))
	g.s = sigma.Respond(&g.c, sg.k, sg.w)
	g.batch = opts.Batch
	return k.encode(g), nil
}

// A signing is what is secret of a signature in the making.
type signing struct {
	r1, r2, a, aConvert bls12381.Scalar
	u                   bls12381.Scalar   // AA = u·A
	w, k                []bls12381.Scalar // the proof's secrets and nonces
}

func (s *signing) wipe() {
	for _, z := range []*bls12381.Scalar{&s.r1, &s.r2, &s.a, &s.aConvert, &s.u} {
		z.Wipe()
	}
	wipeScalars(s.w)
	wipeScalars(s.k)
}

// hide computes the points that hide the credential, and the secrets of the proof.
// B is never needed itself: all are sums of multiples of A, B and generators.
func (m *MemberKey) hide(g *signature, s *signing, scope []byte) {
	k := m.gk
	f := k.draft.Features
	s.w = make([]bls12381.Scalar, k.l.secrets)
	s.k = make([]bls12381.Scalar, k.l.secrets)
	w := s.w
	w[k.l.x].Set(&m.cred.x)
	w[k.l.y].Set(&m.y)
	if f.Has(Plus) {
		s.u.Set(&s.r1)
		w[k.l.r2].Set(&s.r2)
		w[k.l.r3].Inverse(&s.r1)
		w[k.l.s].Mul(&s.r2, &w[k.l.r3])
		w[k.l.s].Sub(&m.cred.s, &w[k.l.s])
	} else {
		s.u.Mul(&s.r1, &s.r2)
		w[k.l.r1].Set(&s.r1)
		w[k.l.r3].Inverse(&s.r2)
	}
	if f.Has(Escrow) {
		w[k.l.a].Set(&s.a)
	}
	if f.Has(Convert) {
		w[k.l.aConvert].Set(&s.aConvert)
	}

	var t bls12381.Scalar
	p := g.p
	p[ptAA].CombMult(&s.u, m.a)
	p[ptABar].CombMult(&s.u, m.b) // r1·D - x·AA, or r1·B - x·AA
	t.Mul(&m.cred.x, &s.u)
	addComb(&p[ptABar], t.Neg(&t), m.a)
	if f.Has(Plus) {
		p[ptD].CombMult(&s.r1, m.b)
		addComb(&p[ptD], t.Neg(&s.r2), k.h2.comb())
	} else {
		p[ptD].CombMult(&s.r2, m.b)
	}
	m.encrypt(p[ptNym:], &m.y, &s.aConvert, &s.a, scope)
	t.Wipe()
}

// commit computes the commitments to the nonces, in the order of the relations.
func (m *MemberKey) commit(g *signature, s *signing, scope []byte) {
	k := m.gk
	g.t = &sigma.Commitments{G1: make([]bls12381.G1, k.l.relations)}
	c := g.t.G1
	var t bls12381.Scalar
	t.Mul(&s.k[k.l.x], &s.u)
	c[0].CombMult(t.Neg(&t), m.a)
	if k.draft.Features.Has(Plus) {
		addComb(&c[0], &s.k[k.l.r2], k.h2.comb())
		// k_r3·D - k_s·h2 - k_y·h1, with D = r1·B - r2·h2
		c[1].CombMult(t.Mul(&s.k[k.l.r3], &s.r1), m.b)
		t.MulAdd(&s.k[k.l.r3], &s.r2, &s.k[k.l.s])
		addComb(&c[1], t.Neg(&t), k.h2.comb())
	} else {
		addComb(&c[0], t.Mul(&s.k[k.l.r1], &s.r2), m.b)
		c[1].CombMult(t.Mul(&s.k[k.l.r3], &s.r2), m.b)
	}
	addComb(&c[1], t.Neg(&s.k[k.l.y]), k.h1.comb())
	t.Wipe()
	var a, aConvert *bls12381.Scalar
	if k.draft.Features.Has(Escrow) {
		a = &s.k[k.l.a]
	}
	if k.draft.Features.Has(Convert) {
		aConvert = &s.k[k.l.aConvert]
	}
	m.encrypt(c[2:], &s.k[k.l.y], aConvert, a, scope)
}

// encrypt computes pseudonym and encryptions, or the commitments about them, for y
// and the multipliers of g.
func (m *MemberKey) encrypt(p []bls12381.G1, y, aConvert, a *bls12381.Scalar, scope []byte) {
	k := m.gk
	f := k.draft.Features
	if f.Has(Scope) {
		p[0].CombMult(y, k.scope(scope).comb())
		p = p[1:]
	}
	if f.Has(Convert) {
		p[0].CombMult(aConvert, k.g.comb())
		p[1].CombMult(aConvert, k.cpk.comb())
		addComb(&p[1], y, k.hc.comb())
		p = p[2:]
	}
	if f.Has(Escrow) {
		p[0].CombMult(a, k.g.comb())
		var yh bls12381.G1
		yh.CombMult(y, k.h.comb())
		for j, o := range k.opk {
			p[1+j].CombMult(a, o.comb())
			p[1+j].Add(&p[1+j], &yh)
		}
		yh.Wipe()
	}
}

// addComb adds s times the point of a comb to p.
func addComb(p *bls12381.G1, s *bls12381.Scalar, c *bls12381.G1Comb) {
	var t bls12381.G1
	p.Add(p, t.CombMult(s, c))
	t.Wipe()
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
