// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package thresholdrsa

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"crypto/sha3"
	"fmt"
	"math/big"

	"github.com/undersign/undersign/internal/modexp"
	"github.com/undersign/undersign/internal/wire"
)

// A SignatureShare is one holder's answer to a request: x_i = x^(2 s_i) up to
// sign, and a proof (c, z) that it was made with the s_i of v_i.
type SignatureShare struct {
	keyID     [32]byte
	epoch     uint64
	requestID [32]byte
	index     int
	x         []byte // x_i, the smaller of +-x^(2 s_i), as wide as n
	c         [32]byte
	z         []byte // as wide as 2^(B+513) - 1
}

// Index returns the index of the holder that it says made it.
func (s *SignatureShare) Index() int { return s.index }

// KeyID returns the ID of the record it was made under.
func (s *SignatureShare) KeyID() [32]byte { return s.keyID }

// Epoch returns the epoch it was made in.
func (s *SignatureShare) Epoch() uint64 { return s.epoch }

// RequestID returns the ID of the request it answers.
func (s *SignatureShare) RequestID() [32]byte { return s.requestID }

// Equal reports whether x is the same share with the same proof.
func (s *SignatureShare) Equal(x *SignatureShare) bool {
	return x != nil && bytes.Equal(s.encode(), x.encode())
}

// Sign answers a request, with a proof. The request must name the share's own
// record: the modulus and the padding are never somebody else's.
//
// The time doesn't depend on the share. Signing a request again gives another
// proof of the same share.
func (s *KeyShare) Sign(r *Request) (*SignatureShare, error) {
	if err := s.ready(); err != nil {
		return nil, err
	}
	x, err := r.representative(s.key)
	if err != nil {
		return nil, err
	}
	sig, err := s.prove(x)
	if err != nil {
		return nil, err
	}
	sig.requestID = r.ID()
	return sig, nil
}

// signTrial has all holders answer one request, with one table of its powers.
func signTrial(shares []*KeyShare, r *Request) ([]*SignatureShare, error) {
	p := shares[0].key
	x, err := r.representative(p)
	if err != nil {
		return nil, err
	}
	mod := p.arith().mod
	xm, err := mod.SetBig(x)
	if err != nil {
		return nil, err
	}
	table := mod.NewTable(xm, p.nonceBits(), 2*len(shares))
	var sigs []*SignatureShare
	for _, s := range shares {
		sig := s.proveBy(table, x)
		sig.requestID = r.ID()
		sigs = append(sigs, sig)
	}
	return sigs, nil
}

// prove computes x_i and its proof. With xt = x^4 and r uniform in [0, 2^(B+512)):
//
//	x_i = x^(2 s_i), x_i^2 = xt^(s_i), v_i = v^(s_i)
//	v' = v^r, x' = xt^r, c = H(..., x_i^2, v', x'), z = r + c s_i
//
// Both secret powers of x come from one table, since squarings can be shared.
func (s *KeyShare) prove(x *big.Int) (*SignatureShare, error) {
	mod := s.key.arith().mod
	xm, err := mod.SetBig(x)
	if err != nil {
		return nil, err
	}
	return s.proveBy(mod.NewTable(xm, s.key.nonceBits(), 2), x), nil
}

// proveBy is prove with a table of x.
func (s *KeyShare) proveBy(table *modexp.Table, x *big.Int) *SignatureShare {
	r := s.nonce(x)
	defer r.Wipe()
	xi, vp, xp := s.powers(table, r)
	return s.finish(x, xi, vp, xp, r)
}

// finish makes the share and its proof from the powers.
func (s *KeyShare) finish(x *big.Int, xi, vp, xp *modexp.Element, r modexp.Nat) *SignatureShare {
	p := s.key
	mod := p.arith().mod
	xi2 := mod.NewElement()
	mod.Sqr(xi2, xi)
	canonical := mod.BigVarTime(xi) // published
	if neg := new(big.Int).Sub(p.n, canonical); neg.Cmp(canonical) < 0 {
		canonical = neg
	}
	sig := &SignatureShare{keyID: p.id, epoch: p.epoch, index: s.index, x: canonical.FillBytes(make([]byte, p.size()))}

	sig.c = p.challenge(s.index, x, mod.Bytes(xi2), mod.Bytes(vp), mod.Bytes(xp))
	sig.z = s.respond(r, sig.c)
	return sig
}

// powers computes x^(2 s_i), v' = v^r and x' = x^(4r) in constant time. All of them
// are published, but for the sign of the first.
func (s *KeyShare) powers(table *modexp.Table, r modexp.Nat) (xi, vp, xp *modexp.Element) {
	a := s.key.arith()
	mod := a.mod
	xi, vp, xp = mod.NewElement(), mod.NewElement(), mod.NewElement()
	table.Exp(xi, s.s)
	mod.Sqr(xi, xi)
	a.table.Exp(vp, r)
	table.Exp(xp, r)
	mod.Sqr(xp, xp)
	mod.Sqr(xp, xp)
	return xi, vp, xp
}

// respond computes z = r + c s_i in constant time.
func (s *KeyShare) respond(r modexp.Nat, challenge [32]byte) []byte {
	c := modexp.NewNat(256)
	mustSet(c, challenge[:])
	cs := modexp.NewNat(64 * (len(c) + len(s.s)))
	defer cs.Wipe()
	cs.Mul(c, s.s)
	z := modexp.NewNat(s.key.nonceBits() + 1)
	z.Add(narrow(r, len(z)), narrow(cs, len(z)))
	return fill(z, s.key.responseSize())
}

// nonce returns r, hedged: expanded from the share's seed, fresh randomness and
// all public inputs, so that neither a copied machine nor a broken generator
// meets two challenges with one r.
func (s *KeyShare) nonce(x *big.Int) modexp.Nat {
	p := s.key
	var fresh [32]byte
	rand.Read(fresh[:])
	h := sha3.NewSHAKE256()
	h.Write([]byte("undersign/trsa/v1/nonce"))
	h.Write(s.seed[:])
	h.Write(fresh[:])
	h.Write(p.id[:])
	h.Write([]byte{byte(s.index)})
	h.Write(x.FillBytes(make([]byte, p.size())))
	b := make([]byte, (p.nonceBits()+7)/8)
	h.Read(b)
	maskBits(b, p.nonceBits())
	r := modexp.NewNat(p.nonceBits())
	mustSet(r, b)
	clear(b)
	h.Reset()
	return r
}

// challenge is the Fiat-Shamir hash of the proof. All its fields have a fixed
// width for a given record, which it binds.
func (p *PublicKey) challenge(index int, x *big.Int, xi2, vp, xp []byte) [32]byte {
	buf := make([]byte, p.size())
	h := sha256.New()
	h.Write([]byte("undersign/trsa/v1/share-proof"))
	h.Write([]byte{suite})
	h.Write(p.id[:])
	h.Write([]byte{byte(index)})
	h.Write(p.n.FillBytes(buf))
	h.Write(p.v.FillBytes(buf))
	h.Write(p.vi[index-1].FillBytes(buf))
	h.Write(x.FillBytes(buf))
	h.Write(xi2)
	h.Write(vp)
	h.Write(xp)
	return [32]byte(h.Sum(nil))
}

func (s *SignatureShare) encode() []byte {
	var e wire.Encoder
	e.U8(version)
	e.U8(suite)
	e.Fixed(s.keyID[:])
	e.U64(s.epoch)
	e.Fixed(s.requestID[:])
	e.U8(uint8(s.index))
	e.Bytes(s.x)
	e.Fixed(s.c[:])
	e.Bytes(s.z)
	return e.Data()
}

// MarshalBinary returns the canonical encoding. The error is always nil.
func (s *SignatureShare) MarshalBinary() ([]byte, error) { return s.encode(), nil }

// UnmarshalBinary decodes a signature share. What depends on the key, the width
// of its numbers too, is checked by VerifyShare and Combine.
func (s *SignatureShare) UnmarshalBinary(data []byte) error {
	d := wire.NewDecoder(data)
	d.Header(version, suite)
	var q SignatureShare
	d.Read("key", q.keyID[:])
	q.epoch = d.U64("epoch")
	d.Read("request", q.requestID[:])
	q.index = int(d.U8("index"))
	q.x = d.Bytes("value", MaxBits/8)
	d.Read("challenge", q.c[:])
	q.z = d.Bytes("response", maxIntBytes+520/8)
	if err := d.Finish(); err != nil {
		return fmt.Errorf("thresholdrsa: signature share: %w", err)
	}
	*s = q
	return nil
}
