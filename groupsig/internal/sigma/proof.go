// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package sigma

import (
	"errors"
	"fmt"

	"github.com/undersign/undersign/internal/bls12381"
	"github.com/undersign/undersign/internal/transcript"
)

// errProof is the verdict on a proof that is well formed.
var errProof = errors.New("sigma: the proof is wrong")

// A Proof is a challenge and responses.
type Proof struct {
	C bls12381.Scalar
	S []bls12381.Scalar
}

// Size is the length of an encoded proof over some secrets.
func Size(secrets int) int { return bls12381.ScalarSize * (1 + secrets) }

// Append appends the encoding of the proof: the challenge, then the responses.
func (p *Proof) Append(b []byte) []byte {
	b = p.C.Append(b)
	for i := range p.S {
		b = p.S[i].Append(b)
	}
	return b
}

// Decode returns the proof over some secrets that b holds.
func Decode(b []byte, secrets int) (*Proof, error) {
	if len(b) != Size(secrets) {
		return nil, fmt.Errorf("sigma: proof of %d bytes, want %d", len(b), Size(secrets))
	}
	p := &Proof{S: make([]bls12381.Scalar, secrets)}
	if err := p.C.SetBytes(b[:32]); err != nil {
		return nil, fmt.Errorf("sigma: challenge: %w", err)
	}
	for i := range p.S {
		if err := p.S[i].SetBytes(b[32*(i+1) : 32*(i+2)]); err != nil {
			return nil, fmt.Errorf("sigma: response %d: %w", i, err)
		}
	}
	return p, nil
}

// Nonces returns one nonce for each secret, hedged: see [transcript.Nonces].
func Nonces(dst []byte, w []bls12381.Scalar, statement *transcript.Items) []bls12381.Scalar {
	var secret transcript.Items
	secret.Grow(64 * len(w))
	for i := range w {
		secret.Scalar("w", &w[i])
	}
	n := transcript.NewNonces(dst, &secret, statement)
	k := make([]bls12381.Scalar, len(w))
	for i := range k {
		n.Next(&k[i])
	}
	n.Wipe()
	secret.Wipe()
	return k
}

// Prove proves knowledge of secrets w that satisfy the statement. The challenge
// absorbs the context, every point of the statement, and the commitments.
func (st *Statement) Prove(dst []byte, context *transcript.Items, w []bls12381.Scalar) (*Proof, error) {
	if len(w) != st.Secrets {
		return nil, fmt.Errorf("sigma: %d secrets, want %d", len(w), st.Secrets)
	}
	if err := st.Check(); err != nil {
		return nil, err
	}
	items := st.AppendTo(context.Clone())
	k := Nonces(dst, w, items)
	defer wipe(k)
	c := st.Commit(k).AppendTo(items).Challenge(dst)
	return &Proof{*c, Respond(c, k, w)}, nil
}

// ProveBytes is Prove, and returns the proof's encoding.
func (st *Statement) ProveBytes(dst []byte, context *transcript.Items, w []bls12381.Scalar) ([]byte, error) {
	p, err := st.Prove(dst, context, w)
	if err != nil {
		return nil, err
	}
	return p.Append(nil), nil
}

// VerifyBytesVarTime checks the encoding of a proof.
func (st *Statement) VerifyBytesVarTime(dst []byte, context *transcript.Items, proof []byte) error {
	p, err := Decode(proof, st.Secrets)
	if err != nil {
		return err
	}
	return st.VerifyVarTime(dst, context, p)
}

// VerifyVarTime checks a proof against the statement and the context that it was
// made for.
func (st *Statement) VerifyVarTime(dst []byte, context *transcript.Items, p *Proof) error {
	if len(p.S) != st.Secrets {
		return fmt.Errorf("sigma: %d responses, want %d", len(p.S), st.Secrets)
	}
	if err := st.Check(); err != nil {
		return err
	}
	items := st.AppendTo(context.Clone())
	if !st.RecomputeVarTime(&p.C, p.S).AppendTo(items).Challenge(dst).Equal(&p.C) {
		return errProof
	}
	return nil
}

// EqDlog is the statement that y and z have one discrete logarithm, to the bases g
// and h (Chaum and Pedersen 1992).
func EqDlog(g, h, y, z *bls12381.G1) *Statement {
	return &Statement{Secrets: 1, G1: []Relation{
		{Y: y, Terms: []Term{{W: 0, P: g}}},
		{Y: z, Terms: []Term{{W: 0, P: h}}},
	}}
}

// Dlog is the statement that y has a known discrete logarithm to the base g.
func Dlog(g, y *bls12381.G1) *Statement {
	return &Statement{Secrets: 1, G1: []Relation{{Y: y, Terms: []Term{{W: 0, P: g}}}}}
}

// DlogG2 is Dlog in G2.
func DlogG2(g, y *bls12381.G2) *Statement {
	return &Statement{Secrets: 1, G2: []RelationG2{{y, []TermG2{{W: 0, P: g}}}}}
}
