// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package join

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/undersign/undersign/groupsig/internal/sigma"
	"github.com/undersign/undersign/internal/bls12381"
	"github.com/undersign/undersign/internal/transcript"
)

// A Kind is a way to make a member's proof non-interactive.
type Kind uint8

const (
	// Fischlin's transform (Fischlin 2005): the secrets can be extracted from one
	// proof, without rewinding, so that any number of sessions may be open.
	Fischlin Kind = iota
	// Schnorr is Fiat and Shamir's transform. Extraction rewinds, and the proof of
	// security covers one open session at a time.
	Schnorr
)

// Parameters of Fischlin's transform: repetitions, bits of a challenge, and zero
// bits of a hash. Their product bounds the prover's luck: 2^(-16·8).
const (
	repetitions   = 16
	challengeBits = 14
	zeroBytes     = 1
)

// ProofSize returns the length of a proof of a kind for a statement.
func ProofSize(kind Kind, st *sigma.Statement) int {
	if kind == Schnorr {
		return sigma.Size(st.Secrets)
	}
	return repetitions * (len(st.G1)*bls12381.G1Size + len(st.G2)*bls12381.G2Size + 2 + st.Secrets*bls12381.ScalarSize)
}

// Prove proves knowledge of the secrets w of a statement.
func Prove(kind Kind, dst []byte, context *transcript.Items, st *sigma.Statement, w []bls12381.Scalar) ([]byte, error) {
	switch kind {
	case Fischlin:
		return proveFischlin(dst, context, st, w)
	case Schnorr:
		return st.ProveBytes(dst, context, w)
	}
	return nil, errors.New("join: unknown kind of proof")
}

// VerifyVarTime checks a proof of a kind.
func VerifyVarTime(kind Kind, dst []byte, context *transcript.Items, st *sigma.Statement, proof []byte) error {
	if len(proof) != ProofSize(kind, st) {
		return fmt.Errorf("join: proof of %d bytes, want %d", len(proof), ProofSize(kind, st))
	}
	switch kind {
	case Fischlin:
		return verifyFischlin(dst, context, st, proof)
	case Schnorr:
		return st.VerifyBytesVarTime(dst, context, proof)
	}
	return errors.New("join: unknown kind of proof")
}

// digest returns h = SHA-256(DST, context, statement, R_1..R_16).
func digest(dst []byte, context *transcript.Items, st *sigma.Statement, rs []*sigma.Commitments) [32]byte {
	items := new(transcript.Items).Bytes("dst", dst).Append(context)
	st.AppendTo(items)
	for _, r := range rs {
		var t transcript.Items
		items.List("R", r.AppendTo(&t))
	}
	return items.Sum()
}

// A hasher computes SHA-256(h || be64(i) || be64(c_i) || s_i).
type hasher struct{ b []byte }

func newHasher(h [32]byte, secrets int) *hasher {
	return &hasher{append(make([]byte, 0, 48+bls12381.ScalarSize*secrets), h[:]...)}
}

// good reports whether the hash has its leading zeros.
func (x *hasher) good(i int, c uint16, s []bls12381.Scalar) bool {
	b := binary.BigEndian.AppendUint64(x.b[:32], uint64(i+1))
	b = binary.BigEndian.AppendUint64(b, uint64(c))
	for j := range s {
		b = s[j].Append(b)
	}
	sum := sha256.Sum256(b)
	clear(b[32:])
	return [zeroBytes]byte(sum[:zeroBytes]) == [zeroBytes]byte{}
}

// proveFischlin tries challenges from a random start until the hash of each of the
// repetitions has its leading zeros. How many it tries depends on the random oracle
// alone.
func proveFischlin(dst []byte, context *transcript.Items, st *sigma.Statement, w []bls12381.Scalar) ([]byte, error) {
	if len(w) != st.Secrets {
		return nil, fmt.Errorf("join: %d secrets, want %d", len(w), st.Secrets)
	}
	if err := st.Check(); err != nil {
		return nil, err
	}
	var ks [repetitions][]bls12381.Scalar
	rs := make([]*sigma.Commitments, repetitions)
	items := st.AppendTo(context.Clone())
	for i := range ks {
		ks[i] = sigma.Nonces(dst, w, items.Clone().Uint64("i", uint64(i)))
		rs[i] = st.Commit(ks[i])
	}
	h := newHasher(digest(dst, context, st, rs), st.Secrets)
	var out []byte
	var failed bool
	for i := range ks {
		var start [2]byte
		rand.Read(start[:])
		c := binary.BigEndian.Uint16(start[:]) % (1 << challengeBits)
		s := sigma.Respond(new(bls12381.Scalar).SetUint64(uint64(c)), ks[i], w)
		tries := 0
		for ; tries < 1<<challengeBits && !h.good(i, c, s); tries++ {
			c++
			if c == 1<<challengeBits {
				c = 0
				for j := range s {
					s[j].Set(&ks[i][j])
				}
				continue
			}
			for j := range s {
				s[j].Sub(&s[j], &w[j])
			}
		}
		failed = failed || tries == 1<<challengeBits
		for j := range rs[i].G1 {
			out = rs[i].G1[j].Append(out)
		}
		for j := range rs[i].G2 {
			out = rs[i].G2[j].Append(out)
		}
		out = binary.BigEndian.AppendUint16(out, c)
		for j := range s {
			out = s[j].Append(out)
			ks[i][j].Wipe()
		}
	}
	if failed { // with probability 2^-88
		return nil, errors.New("join: no proof was found: try again")
	}
	return out, nil
}

// verifyFischlin checks c_i < 2^14, the hashes, and R_i = c_i·Y + sum s_i·G for all
// repetitions and relations in one weighted sum.
func verifyFischlin(dst []byte, context *transcript.Items, st *sigma.Statement, proof []byte) error {
	if err := st.Check(); err != nil {
		return err
	}
	rs := make([]*sigma.Commitments, repetitions)
	cs := make([]uint16, repetitions)
	ss := make([][]bls12381.Scalar, repetitions)
	b := proof
	next := func(n int) []byte {
		out := b[:n]
		b = b[n:]
		return out
	}
	for i := range rs {
		rs[i] = &sigma.Commitments{G1: make([]bls12381.G1, len(st.G1)), G2: make([]bls12381.G2, len(st.G2))}
		for j := range rs[i].G1 {
			if err := rs[i].G1[j].SetBytesOrIdentity(next(bls12381.G1Size)); err != nil {
				return fmt.Errorf("join: proof: commitment: %w", err)
			}
		}
		for j := range rs[i].G2 {
			if err := rs[i].G2[j].SetBytesOrIdentity(next(bls12381.G2Size)); err != nil {
				return fmt.Errorf("join: proof: commitment: %w", err)
			}
		}
		cs[i] = binary.BigEndian.Uint16(next(2))
		if cs[i] >= 1<<challengeBits {
			return errors.New("join: proof: challenge out of range")
		}
		ss[i] = make([]bls12381.Scalar, st.Secrets)
		for j := range ss[i] {
			if err := ss[i][j].SetBytes(next(bls12381.ScalarSize)); err != nil {
				return fmt.Errorf("join: proof: response: %w", err)
			}
		}
	}
	h := newHasher(digest(dst, context, st, rs), st.Secrets)
	for i := range rs {
		if !h.good(i, cs[i], ss[i]) {
			return errors.New("join: the proof is wrong")
		}
	}
	sum := sigma.NewSum()
	all := context.Clone().Bytes("proof", proof)
	weights := transcript.NewWeights(all.Sum())
	for i := range rs {
		st.AddTo(sum, weights, rs[i], new(bls12381.Scalar).SetUint64(uint64(cs[i])), ss[i])
	}
	if !sum.IsZeroVarTime() {
		return errors.New("join: the proof is wrong")
	}
	return nil
}
