// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package qrn

import (
	"errors"
	"fmt"
	"math/big"

	"github.com/undersign/undersign/internal/bls12381"
	"github.com/undersign/undersign/internal/modexp"
	"github.com/undersign/undersign/internal/opcount"
	"github.com/undersign/undersign/internal/transcript"
)

// A Term is a power of a base by the secret of index W, or its inverse.
type Term struct {
	Base *Base
	W    int
	Neg  bool
}

// A Factor is an element of the public side of a relation, or its inverse.
type Factor struct {
	Base *Base
	Neg  bool
}

// A Relation says that the product of its terms is the product of its factors, of
// which there may be none. All are of one group.
type Relation struct {
	G     *Group
	Terms []Term
	Y     []Factor
}

// A Statement is a list of relations over secrets in ranges.
type Statement struct {
	P       Params
	Secrets []Range
	Rel     []Relation
}

// ProofSize returns the length of a proof.
func (st *Statement) ProofSize() int { return Size(st.P, st.Secrets) }

// Size returns the length of a proof over secrets in ranges.
func Size(p Params, secrets []Range) int {
	n := p.Challenge / 8
	for _, r := range secrets {
		n += (r.Response(p) + 7) / 8
	}
	return n
}

// items returns everything that the challenge is computed from, but for commitments.
func (st *Statement) items(context *transcript.Items) *transcript.Items {
	t := context.Clone()
	t.Uint64("k", uint64(st.P.Challenge)).Uint64("s", uint64(st.P.Statistical))
	sign := map[bool]string{false: "+", true: "-"}
	for _, r := range st.Secrets {
		t.Bytes("low", r.Low.Bytes()).Uint64("bits", uint64(r.Bits))
	}
	for i := range st.Rel {
		var l transcript.Items
		for _, y := range st.Rel[i].Y {
			l.Bytes("Y"+sign[y.Neg], y.Base.Bytes())
		}
		for _, x := range st.Rel[i].Terms {
			l.Bytes("G"+sign[x.Neg], x.Base.Bytes()).Uint64("w", uint64(x.W))
		}
		t.List("relation", &l)
	}
	return t
}

// challenge returns the bytes of c.
func (st *Statement) challenge(dst []byte, items *transcript.Items, commitments []*modexp.Element) []byte {
	t := items.Clone()
	for i, x := range commitments {
		t.Bytes("T", st.Rel[i].G.Encode(x))
	}
	return bls12381.ExpandMessageXMD(t.Data(), dst, st.P.Challenge/8)
}

// Commit returns the commitments for nonces. It is constant time in them.
func (st *Statement) Commit(nonces []modexp.Nat) []*modexp.Element {
	out := make([]*modexp.Element, len(st.Rel))
	for i, r := range st.Rel {
		z := r.G.M.One()
		for _, x := range r.Terms {
			base := x.Base
			if x.Neg {
				base = base.G.NewBase(base.Inverse())
			}
			r.G.M.Mul(z, z, base.Pow(nonces[x.W], st.Secrets[x.W].Response(st.P)))
		}
		out[i] = z
	}
	return out
}

// Respond returns t + c·v for all secrets, and 1 if all are in range, in constant
// time.
func (st *Statement) Respond(c []byte, nonces, v []modexp.Nat) ([]modexp.Nat, uint64) {
	challenge := modexp.NewNat(st.P.Challenge)
	mustSet(challenge, c)
	out := make([]modexp.Nat, len(v))
	ok := uint64(1)
	for j, r := range st.Secrets {
		n := r.Response(st.P)
		z := Sum(Product(challenge, v[j], n), nonces[j], n+1)
		ok &= z.Less(NatOf(Pow2(n), n+1))
		out[j] = z
	}
	return out, ok
}

// Prove proves knowledge of secrets w_j = low_j + v_j that satisfy the statement.
func (st *Statement) Prove(dst []byte, context *transcript.Items, v []modexp.Nat) ([]byte, error) {
	if len(v) != len(st.Secrets) {
		return nil, fmt.Errorf("qrn: %d secrets, want %d", len(v), len(st.Secrets))
	}
	size := 0
	for _, r := range st.Secrets {
		size += 64 + r.Bits/8
	}
	secret := new(transcript.Items).Grow(size)
	for j, r := range st.Secrets {
		b := Fill(v[j], r.Bits)
		secret.Bytes("v", b)
		clear(b)
	}
	defer secret.Wipe()
	items := st.items(context)
	for {
		nonces := make([]modexp.Nat, len(v))
		n := transcript.NewNonces(dst, secret, items)
		for j, r := range st.Secrets {
			nonces[j] = Random(n.Read, r.Response(st.P))
		}
		n.Wipe()
		proof, ok := st.prove(dst, items, nonces, v)
		Wipe(nonces...)
		if ok { // else with a probability of 2^-s for each secret
			return proof, nil
		}
	}
}

// ProveChosen is Prove for nonces of the caller's, which must be random and used once:
// it is for test vectors. It reports whether the responses are in range.
func (st *Statement) ProveChosen(dst []byte, context *transcript.Items, nonces, v []modexp.Nat) ([]byte, bool) {
	return st.prove(dst, st.items(context), nonces, v)
}

func (st *Statement) prove(dst []byte, items *transcript.Items, nonces, v []modexp.Nat) ([]byte, bool) {
	c := st.challenge(dst, items, st.Commit(nonces))
	z, ok := st.Respond(c, nonces, v)
	if ok != 1 {
		Wipe(z...)
		return nil, false
	}
	for j, r := range st.Secrets {
		c = append(c, Fill(z[j], r.Response(st.P))...)
	}
	return c, true
}

// VerifyVarTime checks a proof against the statement and the context that it was made
// for.
//
// For Y = prod G^w, w = low + v, and z = t + c·v, the commitment is
// prod G^(z + c·low) · Y^-c.
func (st *Statement) VerifyVarTime(dst []byte, context *transcript.Items, proof []byte) error {
	if len(proof) != st.ProofSize() {
		return fmt.Errorf("qrn: proof of %d bytes, want %d", len(proof), st.ProofSize())
	}
	n := st.P.Challenge / 8
	c, rest := proof[:n], proof[n:]
	opcount.Decode(opcount.DecodeInt, c)
	challenge := new(big.Int).SetBytes(c)
	exponents := make([]*big.Int, len(st.Secrets))
	for j, r := range st.Secrets {
		bits := r.Response(st.P)
		opcount.Decode(opcount.DecodeInt, rest[:(bits+7)/8])
		z := new(big.Int).SetBytes(rest[:(bits+7)/8])
		rest = rest[(bits+7)/8:]
		if z.BitLen() > bits {
			return errors.New("qrn: response out of range")
		}
		exponents[j] = z.Add(z, new(big.Int).Mul(challenge, r.Low))
	}
	commitments := make([]*modexp.Element, len(st.Rel))
	for i, r := range st.Rel {
		var xs []*modexp.Element
		var es []*big.Int
		for _, x := range r.Terms {
			b := x.Base.X
			if x.Neg {
				b = x.Base.Inverse()
			}
			xs, es = append(xs, b), append(es, exponents[x.W])
		}
		for _, y := range r.Y {
			b := y.Base.X
			if !y.Neg {
				b = y.Base.Inverse()
			}
			xs, es = append(xs, b), append(es, challenge)
		}
		commitments[i] = r.G.M.NewElement()
		if err := r.G.M.MultiExpVarTime(commitments[i], xs, es); err != nil {
			return err
		}
	}
	if string(st.challenge(dst, st.items(context), commitments)) != string(c) {
		return errors.New("qrn: the proof is wrong")
	}
	return nil
}
