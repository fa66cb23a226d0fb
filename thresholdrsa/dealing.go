// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package thresholdrsa

import (
	"bytes"
	"crypto"
	"fmt"
	"math/big"

	"github.com/undersign/undersign/internal/modexp"
	"github.com/undersign/undersign/internal/wire"
)

const trialHash = crypto.SHA256

// A Dealing is the public transcript of Deal or Import: the record, commitments
// A_j to the polynomial's coefficients, and a trial signature share of every
// holder. It holds no secret.
type Dealing struct {
	key         *PublicKey
	commitments []*big.Int // A_0..A_{K-1}
	trial       []*SignatureShare
}

// PublicKey returns the record of the first epoch.
func (d *Dealing) PublicKey() *PublicKey { return d.key }

// Equal reports whether x is the same transcript.
func (d *Dealing) Equal(x *Dealing) bool { return x != nil && bytes.Equal(d.encode(), x.encode()) }

// Verify checks all that the public can check: that the commitments and all
// verification keys belong to one polynomial of degree below K with the private
// exponent in it, and that trial shares of all holders combine to signatures.
//
// It doesn't show that n is a product of two safe primes, or that the dealer
// forgot the key. A nil error and KeyShare.CheckDealing at every holder make the
// dealing complete. The error is a *DealingError or a *ShareError.
func (d *Dealing) Verify() error {
	if err := d.verifyKeys(); err != nil {
		return err
	}
	return d.verifyTrial()
}

// CheckDealing checks that the share is the one of a dealing's transcript: the
// transcript as Verify does, and v^(s_i) = v_i.
func (s *KeyShare) CheckDealing(d *Dealing) error {
	if s.key.id != d.key.id {
		return &KeyError{"dealing", d.key.id, s.key.id, d.key.epoch, s.key.epoch}
	}
	if err := d.Verify(); err != nil {
		return err
	}
	return s.Check()
}

// verifyKeys checks the record's parameters, A_0^e = v, and for every i
//
//	modular form: v_i^Delta = prod_{j>=0} A_j^(i^j)
//	integer form: v_i       = A_0^Delta prod_{j>=1} A_j^(i^j)
//
// A_0 is the only e-th root of v, so no sign hides in it. The signs of other A_j
// can cancel in all products, and change nothing then.
func (d *Dealing) verifyKeys() error {
	p := d.key
	if p.epoch != 1 {
		return &DealingError{0, fmt.Sprintf("the record is of epoch %d, not of a dealing", p.epoch)}
	}
	if f := smallFactor(p.n); f != 0 && !toys() {
		return &DealingError{0, fmt.Sprintf("the modulus is divisible by %d", f)}
	}
	if r := new(big.Int).Sqrt(p.n); r.Mul(r, r).Cmp(p.n) == 0 {
		return &DealingError{0, "the modulus is a square"}
	}
	delta := factorial(p.l)
	if p.form == FormInteger {
		want := &PublicKey{n: p.n, k: p.k, l: p.l}
		integerSharing(want, delta)
		if want.gamma.Cmp(p.gamma) != 0 || want.smax.Cmp(p.smax) != 0 || want.ubound.Cmp(p.ubound) != 0 {
			return &DealingError{0, "Gamma, Smax and U aren't those of an import"}
		}
	}
	mod := p.arith().mod
	as := make([]*modexp.Element, p.k)
	for j, c := range d.commitments {
		if !unit(c, p.n) {
			return &DealingError{0, fmt.Sprintf("commitment %d is out of range or not prime to the modulus", j)}
		}
		a, err := mod.SetBig(c)
		if err != nil {
			return &DealingError{0, fmt.Sprintf("commitment %d: %v", j, err)}
		}
		as[j] = a
	}
	y := mod.NewElement()
	mod.ExpVarTime(y, as[0], big.NewInt(int64(p.e)))
	if mod.BigVarTime(y).Cmp(p.v) != 0 {
		return &DealingError{0, "the first commitment isn't v to the private exponent"}
	}
	constant := as[0]
	if p.form == FormInteger {
		constant = mod.NewElement()
		mod.ExpVarTime(constant, as[0], delta)
	}
	for i, vi := range p.vi {
		want, err := mod.SetBig(vi)
		if err != nil {
			return &DealingError{i + 1, err.Error()}
		}
		if p.form == FormModular {
			mod.ExpVarTime(want, want, delta)
		}
		evalCommitments(mod, y, constant, as[1:], i+1)
		if !mod.Equal(y, want) {
			return &DealingError{i + 1, "the verification key doesn't belong to the polynomial"}
		}
	}
	return nil
}

// evalCommitments sets z = constant prod_{t>=1} cs[t-1]^(x^t), by Horner's rule in
// the exponent.
func evalCommitments(mod *modexp.Modulus, z, constant *modexp.Element, cs []*modexp.Element, x int) {
	point := big.NewInt(int64(x))
	acc := mod.One()
	for t := len(cs) - 1; t >= 0; t-- {
		mod.Mul(acc, acc, cs[t])
		mod.ExpVarTime(acc, acc, point)
	}
	mod.Mul(z, acc, constant)
}

// verifyTrial checks the trial shares' proofs, and combines them so that every
// holder takes part once at least.
func (d *Dealing) verifyTrial() error {
	p := d.key
	r, err := trialRequest(p)
	if err != nil {
		return err
	}
	answers := make([]Answer, len(d.trial))
	for i, s := range d.trial {
		if s.index != i+1 {
			return &DealingError{i + 1, "the trial share is another holder's"}
		}
		answers[i] = Answer{r, s}
	}
	for _, err := range p.VerifyShares(answers) {
		if err != nil {
			return err
		}
	}
	for from := 0; from < p.l; from += p.k {
		from = min(from, p.l-p.k)
		if _, _, err := p.Combine(r, d.trial[from:from+p.k]...); err != nil {
			return err
		}
	}
	return nil
}

// smallFactor returns a prime factor of n below 2^16, or 0.
func smallFactor(n *big.Int) int64 {
	composite := make([]bool, 1<<16)
	rem := new(big.Int)
	for p := int64(2); p < 1<<16; p++ {
		if composite[p] {
			continue
		}
		for q := p * p; q < 1<<16; q += p {
			composite[q] = true
		}
		if rem.Mod(n, big.NewInt(p)).Sign() == 0 {
			return p
		}
	}
	return 0
}

func (d *Dealing) encode() []byte {
	var e wire.Encoder
	e.U8(version)
	e.U8(suite)
	e.Bytes(d.key.encoding)
	buf := make([]byte, d.key.size())
	for _, c := range d.commitments {
		e.Fixed(c.FillBytes(buf))
	}
	for _, t := range d.trial {
		e.Bytes(t.encode())
	}
	return e.Data()
}

// MarshalBinary returns the canonical encoding. The error is always nil.
func (d *Dealing) MarshalBinary() ([]byte, error) { return d.encode(), nil }

// UnmarshalBinary decodes a transcript. It checks the record; Verify checks the rest.
func (d *Dealing) UnmarshalBinary(data []byte) error {
	dec := wire.NewDecoder(data)
	dec.Header(version, suite)
	record := dec.Bytes("record", maxRecordBytes)
	if err := dec.Err(); err != nil {
		return fmt.Errorf("thresholdrsa: dealing: %w", err)
	}
	q := Dealing{key: new(PublicKey)}
	if err := q.key.UnmarshalBinary(record); err != nil {
		return fmt.Errorf("thresholdrsa: dealing: %w", err)
	}
	for range q.key.k {
		q.commitments = append(q.commitments, new(big.Int).SetBytes(dec.Fixed("commitment", q.key.size())))
	}
	for range q.key.l {
		t := new(SignatureShare)
		b := dec.Bytes("trial share", maxIntBytes+MaxBits/8+256)
		if dec.Err() != nil {
			break
		}
		if err := t.UnmarshalBinary(b); err != nil {
			return fmt.Errorf("thresholdrsa: dealing: %w", err)
		}
		q.trial = append(q.trial, t)
	}
	if err := dec.Finish(); err != nil {
		return fmt.Errorf("thresholdrsa: dealing: %w", err)
	}
	*d = q
	return nil
}
