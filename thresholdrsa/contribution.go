// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package thresholdrsa

import (
	"bytes"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"math/big"
	"slices"

	"github.com/undersign/undersign/internal/modexp"
	"github.com/undersign/undersign/internal/wire"
)

// A Contribution is one holder's part in a ceremony, for everybody: commitments
// C_t = v^(b_t) to the coefficients of its polynomial g, and for each receiver j
// the value g(j), sealed, with a hash that ties the holder to it. The holder signs
// all of it.
type Contribution struct {
	proposal    [32]byte
	index       int      // in the parent record
	commitments [][]byte // C_1..C_{K'-1}, as wide as n
	parts       []part   // one a receiver
	sig         []byte
}

// part is g(j) || salt, sealed to receiver j, and the hash of the two.
type part struct {
	hash   [32]byte
	sealed []byte
}

const openingSaltSize = 32

// Index returns the contributor's index in the parent record.
func (c *Contribution) Index() int { return c.index }

// ProposalID returns the ID of the proposal it belongs to.
func (c *Contribution) ProposalID() [32]byte { return c.proposal }

// Equal reports whether x is the same contribution.
func (c *Contribution) Equal(x *Contribution) bool {
	return x != nil && bytes.Equal(c.encode(), x.encode())
}

// Contribute makes the holder's contribution to a run. Make one only: two
// different ones of one run are evidence of misbehaviour.
func (s *KeyShare) Contribute(pr *Proposal) (*Contribution, error) {
	if err := s.ready(); err != nil {
		return nil, err
	}
	pl, err := pr.plan(s.key)
	if err != nil {
		return nil, err
	}
	b := make([]modexp.Nat, pr.k-1)
	for t := range b {
		b[t] = randomBits(pl.beta)
	}
	defer wipeAll(b)
	return pl.contribute(s, b)
}

// contribute makes the contribution with the coefficients b_1, ..., before the
// offset is added to the first.
func (pl *plan) contribute(s *KeyShare, b []modexp.Nat) (*Contribution, error) {
	at := slices.Index(pl.pr.contributors, s.index)
	if at < 0 {
		return nil, fmt.Errorf("thresholdrsa: proposal: holder %d isn't among the contributors %v", s.index, pl.pr.contributors)
	}
	b = slices.Clone(b)
	c := modexp.NewNat(64) // |c_i|
	if pl.pr.kind == Reshare {
		offset := pl.offset[at]
		bits := max(pl.beta, offset.BitLen()) + 1
		first := modexp.NewNat(bits)
		first.Add(natOf(offset, bits), b[0])
		b[0] = first
		defer first.Wipe()
		factor := new(big.Int).Abs(pl.lambda[at])
		fn := natOf(factor, factor.BitLen())
		c = modexp.NewNat(64 * (len(fn) + len(s.s)))
		c.Mul(fn, s.s)
		defer c.Wipe()
	}

	p := pl.parent
	a := p.arith()
	out := &Contribution{proposal: pl.id, index: s.index}
	y := a.mod.NewElement()
	for _, bt := range b {
		a.table.Exp(y, bt)
		out.commitments = append(out.commitments, a.mod.Bytes(y))
	}
	negative := pl.pr.kind == Reshare && pl.lambda[at].Sign() < 0
	constant := c
	if negative {
		constant = modexp.NewNat(64)
	}
	coeffs := append([]modexp.Nat{constant}, b...)
	for i, r := range pl.pr.receivers {
		j := i + 1
		bits := pl.bound(at, j).BitLen()
		g := evalNat(coeffs, j, bits)
		if negative {
			g.Sub(g, narrow(c, len(g)))
		}
		value := fill(g, (bits+7)/8)
		opening := make([]byte, len(value)+openingSaltSize)
		rand.Read(opening[copy(opening, value):])
		clear(value)
		sealed, err := seal(r.run, pl.sealInfo(s.index, j), opening)
		out.parts = append(out.parts, part{pl.openingHash(s.index, j, opening), sealed})
		g.Wipe()
		clear(opening)
		if err != nil {
			return nil, fmt.Errorf("thresholdrsa: the key of receiver %d (%s): %w", j, r.name, err)
		}
	}
	out.sig = ed25519.Sign(s.identity, out.signed(out.digest()))
	return out, nil
}

func (pl *plan) sealInfo(from, to int) []byte {
	b := append([]byte("undersign/trsa/v1/part"), pl.id[:]...)
	return append(b, byte(from), byte(to))
}

// openingHash commits a contributor to what it sends one receiver.
func (pl *plan) openingHash(from, to int, opening []byte) [32]byte {
	h := sha256.New()
	h.Write([]byte("undersign/trsa/v1/opening"))
	h.Write(pl.id[:])
	h.Write([]byte{byte(from), byte(to)})
	h.Write(opening)
	return [32]byte(h.Sum(nil))
}

// A broadcast is a Contribution that has been checked as far as everybody can.
type broadcast struct {
	*Contribution
	at     int               // position among the contributors
	digest [32]byte          // of the contribution
	c      []*modexp.Element // C_0 if the ceremony is a reshare, C_1, ...
}

// constant returns C_0, or 1 in a refresh.
func (pl *plan) split(b *broadcast) (constant *modexp.Element, cs []*modexp.Element) {
	if pl.pr.kind == Reshare {
		return b.c[0], b.c[1:]
	}
	return pl.parent.arith().mod.One(), b.c
}

// blame returns an error about the contributor with the given index.
func (pl *plan) blame(index int, format string, args ...any) *CeremonyError {
	return &CeremonyError{Role: "contributor", Index: index, Name: pl.parent.holderName(index), Reason: fmt.Sprintf(format, args...)}
}

// fault is blame for what the contributor has signed: evidence against it.
func (b *broadcast) fault(pl *plan, format string, args ...any) *CeremonyError {
	e := pl.blame(b.index, format, args...)
	e.signed, e.digest = true, b.digest
	return e
}

// check checks one contribution: the signature, sizes, and 0 < C_t < n prime to n.
// For a reshare it computes C_0 = v_i^(Delta' lambda_i), which ties the
// contribution to the holder's share and is never sent.
func (pl *plan) check(c *Contribution) (*broadcast, *CeremonyError) {
	p := pl.parent
	at := slices.Index(pl.pr.contributors, c.index)
	if at < 0 {
		return nil, pl.blame(c.index, "isn't among the contributors %v", pl.pr.contributors)
	}
	if c.proposal != pl.id {
		return nil, pl.blame(c.index, "contributes to another proposal (%x, not %x)", c.proposal[:8], pl.id[:8])
	}
	b := &broadcast{Contribution: c, at: at, digest: c.digest()}
	if !ed25519.Verify(p.holders[c.index-1].Identity, c.signed(b.digest), c.sig) {
		return nil, pl.blame(c.index, "the signature is wrong")
	}
	if len(c.commitments) != pl.pr.k-1 || len(c.parts) != len(pl.pr.receivers) {
		return nil, b.fault(pl, "%d commitments and parts for %d receivers, not %d and %d",
			len(c.commitments), len(c.parts), pl.pr.k-1, len(pl.pr.receivers))
	}
	for i, part := range c.parts {
		if want := sealedSize((pl.bound(at, i+1).BitLen()+7)/8 + openingSaltSize); len(part.sealed) != want {
			return nil, b.fault(pl, "part of %d bytes for receiver %d, not %d", len(part.sealed), i+1, want)
		}
	}
	mod := p.arith().mod
	if pl.pr.kind == Reshare {
		c0, err := mod.SetBig(p.vi[c.index-1])
		if err != nil {
			return nil, b.fault(pl, "%v", err)
		}
		if pl.lambda[at].Sign() < 0 {
			if err := mod.InverseVarTime(c0, c0); err != nil {
				return nil, b.fault(pl, "%v", err)
			}
		}
		mod.ExpVarTime(c0, c0, new(big.Int).Abs(pl.lambda[at]))
		b.c = append(b.c, c0)
	}
	prod := mod.One()
	for t, v := range c.commitments {
		ct, err := mod.SetBytes(v)
		if err != nil {
			return nil, b.fault(pl, "commitment %d: %v", t+1, err)
		}
		mod.Mul(prod, prod, ct)
		b.c = append(b.c, ct)
	}
	if mod.InverseVarTime(prod, prod) != nil {
		return nil, b.fault(pl, "a commitment isn't prime to the modulus")
	}
	return b, nil
}

// gather checks that there is one contribution of every contributor, and returns
// them in order.
func (pl *plan) gather(cs []*Contribution) ([]*broadcast, *CeremonyError) {
	out := make([]*broadcast, len(pl.pr.contributors))
	for _, c := range cs {
		b, e := pl.check(c)
		if e != nil {
			return nil, e
		}
		if o := out[b.at]; o != nil && o.digest != b.digest {
			return nil, b.fault(pl, "signed two different contributions to one run")
		}
		out[b.at] = b
	}
	for at, b := range out {
		if b == nil {
			return nil, pl.blame(pl.pr.contributors[at], "its contribution is missing")
		}
	}
	return out, nil
}

// successor returns the record that the broadcasts make:
//
//	refresh: v'_j = v_j prod_k prod_t C_{k,t}^(j^t)
//	reshare: v'_j =     prod_i prod_t C_{i,t}^(j^t)
func (pl *plan) successor(bs []*broadcast) (*PublicKey, error) {
	next := pl.next
	mod := pl.parent.arith().mod
	var digests [][32]byte
	sum := &broadcast{}
	for _, b := range bs {
		digests = append(digests, b.digest)
		for t, c := range b.c {
			if t == len(sum.c) {
				sum.c = append(sum.c, mod.One())
			}
			mod.Mul(sum.c[t], sum.c[t], c)
		}
	}
	next.ceremony = pl.ceremony(digests)
	constant, cs := pl.split(sum)
	y := mod.NewElement()
	for j := 1; j <= next.l; j++ {
		evalCommitments(mod, y, constant, cs, j)
		if pl.pr.kind == Refresh {
			v, err := mod.SetBig(pl.parent.vi[j-1])
			if err != nil {
				return nil, err
			}
			mod.Mul(y, y, v)
		}
		next.vi = append(next.vi, mod.BigVarTime(y))
	}
	return next.finish()
}

// ceremony is the hash of all broadcasts, given by their digests in the order of the
// contributors, that the new record binds.
func (pl *plan) ceremony(digests [][32]byte) [32]byte {
	h := sha256.New()
	h.Write([]byte("undersign/trsa/v1/ceremony"))
	h.Write(pl.id[:])
	for _, d := range digests {
		h.Write(d[:])
	}
	return [32]byte(h.Sum(nil))
}

// Successor returns the record that a run's contributions lead to, checked as far
// as everybody can. It isn't the successor until a certificate says so.
func (pr *Proposal) Successor(parent *PublicKey, contributions []*Contribution) (*PublicKey, error) {
	pl, err := pr.plan(parent)
	if err != nil {
		return nil, err
	}
	bs, e := pl.gather(contributions)
	if e != nil {
		return nil, e
	}
	return pl.successor(bs)
}

// checkOpening checks what contributor b sent receiver j, in constant time but for
// the verdict: 0 <= g(j) < bound and v^(g(j)) = prod_t C_t^(j^t). It returns g(j).
func (pl *plan) checkOpening(b *broadcast, j int, opening []byte) (modexp.Nat, error) {
	bound := pl.bound(b.at, j)
	bits := bound.BitLen()
	if len(opening) != (bits+7)/8+openingSaltSize {
		return nil, fmt.Errorf("a value of %d bytes", len(opening))
	}
	g := modexp.NewNat(8 * ((bits + 7) / 8))
	mustSet(g, opening[:len(opening)-openingSaltSize])
	if g.Less(natOf(bound, bits)) != 1 {
		return nil, errors.New("the value is out of range")
	}
	a := pl.parent.arith()
	got, want := a.mod.NewElement(), a.mod.NewElement()
	a.table.Exp(got, g)
	constant, cs := pl.split(b)
	evalCommitments(a.mod, want, constant, cs, j)
	if !a.mod.Equal(got, want) {
		return nil, errors.New("the value doesn't belong to the commitments")
	}
	return g, nil
}

// digest is the hash of the contribution without its signature.
func (c *Contribution) digest() [32]byte {
	var e wire.Encoder
	e.Fixed([]byte("undersign/trsa/v1/contribution"))
	c.put(&e)
	return sha256.Sum256(e.Data())
}

func (c *Contribution) signed(digest [32]byte) []byte {
	return contributionSigned(c.proposal, c.index, digest)
}

func contributionSigned(proposal [32]byte, index int, digest [32]byte) []byte {
	b := append([]byte("undersign/trsa/v1/contributor"), proposal[:]...)
	b = append(b, byte(index))
	return append(b, digest[:]...)
}

func (c *Contribution) put(e *wire.Encoder) {
	e.Fixed(c.proposal[:])
	e.U8(uint8(c.index))
	e.U8(uint8(len(c.commitments)))
	for _, v := range c.commitments {
		e.Bytes(v)
	}
	e.U8(uint8(len(c.parts)))
	for _, p := range c.parts {
		e.Fixed(p.hash[:])
		e.Bytes(p.sealed)
	}
}

func (c *Contribution) encode() []byte {
	var e wire.Encoder
	e.U8(version)
	e.U8(suite)
	c.put(&e)
	e.Fixed(c.sig)
	return e.Data()
}

// MarshalBinary returns the canonical encoding. The error is always nil.
func (c *Contribution) MarshalBinary() ([]byte, error) { return c.encode(), nil }

// UnmarshalBinary decodes a contribution. It is checked where it is used.
func (c *Contribution) UnmarshalBinary(data []byte) error {
	d := wire.NewDecoder(data)
	d.Header(version, suite)
	var q Contribution
	d.Read("proposal", q.proposal[:])
	q.index = int(d.U8("index"))
	for range d.U8("commitments") {
		q.commitments = append(q.commitments, d.Bytes("commitment", MaxBits/8))
	}
	for range d.U8("parts") {
		var p part
		d.Read("hash", p.hash[:])
		p.sealed = d.Bytes("part", sealedSize(maxIntBytes+openingSaltSize))
		q.parts = append(q.parts, p)
	}
	q.sig = d.Fixed("signature", ed25519.SignatureSize)
	if err := d.Finish(); err != nil {
		return fmt.Errorf("thresholdrsa: contribution: %w", err)
	}
	*c = q
	return nil
}
