// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package sigma

import (
	"errors"
	"fmt"
	"sync"

	"github.com/undersign/undersign/internal/bls12381"
	"github.com/undersign/undersign/internal/transcript"
)

// A HomPair says that e(G, T) = K, for the T of a HomProof. The verifier computes K
// itself.
type HomPair struct {
	G *bls12381.G1
	K *bls12381.GT
}

// A HomProof proves knowledge of one T in G2 with e(G_i, T) = K_i for all i.
type HomProof struct {
	C bls12381.Scalar
	S bls12381.G2
}

// HomSize is the length of an encoded HomProof.
const HomSize = bls12381.ScalarSize + bls12381.G2Size

// Append appends the encoding of the proof: the challenge, then S.
func (p *HomProof) Append(b []byte) []byte { return p.S.Append(p.C.Append(b)) }

// DecodeHom returns the proof that b holds.
func DecodeHom(b []byte) (*HomProof, error) {
	if len(b) != HomSize {
		return nil, fmt.Errorf("sigma: proof of %d bytes, want %d", len(b), HomSize)
	}
	p := new(HomProof)
	if err := p.C.SetBytes(b[:bls12381.ScalarSize]); err != nil {
		return nil, fmt.Errorf("sigma: challenge: %w", err)
	}
	if err := p.S.SetBytesOrIdentity(b[bls12381.ScalarSize:]); err != nil {
		return nil, fmt.Errorf("sigma: response: %w", err)
	}
	return p, nil
}

// linesP2 are those of the generator P2.
var linesP2 = sync.OnceValue(func() *bls12381.Lines { return bls12381.NewLinesVarTime(bls12381.G2Generator()) })

func checkHom(pairs []HomPair) error {
	if len(pairs) == 0 {
		return errors.New("sigma: no pairs")
	}
	for _, p := range pairs {
		if p.G.IsIdentity() {
			return errBase
		}
	}
	return nil
}

func homItems(context *transcript.Items, pairs []HomPair) *transcript.Items {
	items := context.Clone()
	for _, p := range pairs {
		items.G1("G", p.G).GT("K", p.K)
	}
	return items
}

// ProveHom proves e(G_i, t) = K_i.
//
// The commitment in G2 is R = rho·P2, which must stay secret as t does, so that
// e(G_i, R) is computed as e(rho·G_i, P2): multiplications are constant time, and
// the pairing, which isn't said to be, sees neither rho nor a point of G2 that
// depends on it.
func ProveHom(dst []byte, context *transcript.Items, pairs []HomPair, t *bls12381.G2) (*HomProof, error) {
	if err := checkHom(pairs); err != nil {
		return nil, err
	}
	items := homItems(context, pairs)
	var secret transcript.Items
	secret.Grow(2*bls12381.G2Size).G2("T", t)
	n := transcript.NewNonces(dst, &secret, items)
	var rho bls12381.Scalar
	n.Next(&rho)
	n.Wipe()
	secret.Wipe()

	for _, p := range pairs {
		var g bls12381.G1
		g.ScalarMult(&rho, p.G)
		items.GT("R", new(bls12381.GT).PairingProductVarTime(bls12381.PairWith(&g, linesP2())))
		g.Wipe()
	}
	p := &HomProof{C: *items.Challenge(dst)}
	var ct bls12381.G2
	ct.ScalarMult(&p.C, t)
	p.S.ScalarBaseMult(&rho)
	p.S.Sub(&p.S, &ct)
	bls12381.NormalizeG2(&p.S)
	rho.Wipe()
	ct.Wipe()
	return p, nil
}

// VerifyHomVarTime checks a proof: R_i = e(G_i, S)·K_i^c.
func VerifyHomVarTime(dst []byte, context *transcript.Items, pairs []HomPair, p *HomProof) error {
	if err := checkHom(pairs); err != nil {
		return err
	}
	items := homItems(context, pairs)
	lines := bls12381.NewLinesVarTime(&p.S)
	for _, pair := range pairs {
		var r, kc bls12381.GT
		r.PairingProductVarTime(bls12381.PairWith(pair.G, lines))
		items.GT("R", r.Mul(&r, kc.ExpVarTime(pair.K, &p.C)))
	}
	if !items.Challenge(dst).Equal(&p.C) {
		return errProof
	}
	return nil
}
