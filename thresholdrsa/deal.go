// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package thresholdrsa

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"errors"
	"fmt"
	"math/big"

	"github.com/undersign/undersign/internal/modexp"
	"github.com/undersign/undersign/internal/safeprime"
)

// Progress says how far GenerateKey is. The time is geometrically distributed:
// Expected is a mean, and what was tested already brings the end no nearer.
type Progress struct {
	Candidates uint64 // tested
	Expected   uint64 // on average, for the whole key
	Found      int    // primes
	Wanted     int
}

// GenerateKey returns an RSA key of two safe primes with a modulus of exactly
// bits bits, a multiple of 4 from MinBits to MaxBits, and e = 65537. progress, if
// it isn't nil, is called now and then from another goroutine.
//
// It uses all cores, and returns soon after ctx is done.
func GenerateKey(ctx context.Context, bits int, progress func(Progress)) (*rsa.PrivateKey, error) {
	if bits < minBits || bits > MaxBits || bits%4 != 0 {
		return nil, fmt.Errorf("thresholdrsa: key of %d bits: a multiple of 4 from %d to %d is needed", bits, minBits, MaxBits)
	}
	var report func(safeprime.Progress)
	if progress != nil {
		report = func(p safeprime.Progress) { progress(Progress(p)) }
	}
	for {
		primes, err := safeprime.Find(ctx, bits/2, 2, report)
		if err != nil {
			return nil, fmt.Errorf("thresholdrsa: %w", err)
		}
		p, q := primes[0], primes[1]
		// Close primes are found by Fermat's method; it doesn't happen.
		if diff := new(big.Int).Sub(p, q); diff.BitLen() <= bits/2-100 {
			continue
		}
		return newPrivateKey(p, q, 65537)
	}
}

// newPrivateKey returns the RSA key of two primes.
func newPrivateKey(p, q *big.Int, e int) (*rsa.PrivateKey, error) {
	d := new(big.Int).ModInverse(big.NewInt(int64(e)), lambda(p, q))
	if d == nil {
		return nil, errors.New("thresholdrsa: the public exponent isn't prime to p-1 and q-1")
	}
	priv := &rsa.PrivateKey{
		PublicKey: rsa.PublicKey{N: new(big.Int).Mul(p, q), E: e},
		D:         d,
		Primes:    []*big.Int{p, q},
	}
	priv.Precompute()
	return priv, nil
}

// lambda returns lcm(p-1, q-1).
func lambda(p, q *big.Int) *big.Int {
	p1, q1 := new(big.Int).Sub(p, one), new(big.Int).Sub(q, one)
	g := new(big.Int).GCD(nil, nil, p1, q1)
	return p1.Mul(p1.Quo(p1, g), q1)
}

// DealOptions are what a dealer may choose. The zero value, and nil, name the
// holders holder-1, holder-2 and so on.
type DealOptions struct {
	Names []string // of the holders, in the order of their indices
}

// Deal shares a key of two safe primes among l holders, any k of whom sign. The
// public exponent must be a prime above l.
//
// Give each holder its KeyShare in secret, publish the Dealing, and forget priv
// (see Erase): whoever keeps it can sign alone.
func Deal(priv *rsa.PrivateKey, k, l int, opts *DealOptions) (*Dealing, []*KeyShare, error) {
	p1, q1, err := halves(priv)
	if err != nil {
		return nil, nil, err
	}
	if !safeprime.IsPrime(p1) || !safeprime.IsPrime(q1) || p1.Cmp(q1) == 0 {
		return nil, nil, errors.New("thresholdrsa: the primes of the key aren't safe primes: use Import")
	}
	if diff := new(big.Int).Sub(priv.Primes[0], priv.Primes[1]); !toys() && diff.BitLen() <= priv.N.BitLen()/2-100 {
		return nil, nil, errors.New("thresholdrsa: the primes of the key are too close to each other")
	}
	return deal(priv, k, l, opts, FormModular, nil)
}

// Import shares an existing key of two primes of any kind, as Deal does. Its own
// d isn't used; d is computed anew. The public exponent must be a prime above l.
//
// With primes that aren't safe, a share's proof is sound under an assumption:
// that its holder finds no element of low order modulo n. What hangs on it is who
// is blamed for a failed signature, never whether a wrong one gets out.
func Import(priv *rsa.PrivateKey, k, l int, opts *DealOptions) (*Dealing, []*KeyShare, error) {
	if _, _, err := halves(priv); err != nil {
		return nil, nil, err
	}
	return deal(priv, k, l, opts, FormInteger, nil)
}

// halves checks a private key and returns (p-1)/2 and (q-1)/2.
func halves(priv *rsa.PrivateKey) (p1, q1 *big.Int, err error) {
	if len(priv.Primes) != 2 {
		return nil, nil, fmt.Errorf("thresholdrsa: the key has %d primes, not 2", len(priv.Primes))
	}
	if bits := priv.N.BitLen(); bits < minBits || bits > MaxBits {
		return nil, nil, fmt.Errorf("thresholdrsa: key of %d bits, not of %d to %d", bits, minBits, MaxBits)
	}
	if !toys() { // crypto/rsa knows none
		if err := priv.Validate(); err != nil {
			return nil, nil, fmt.Errorf("thresholdrsa: %w", err)
		}
	}
	// Validate doesn't look at this. Baillie-PSW is enough: with (p-1)/2 prime it is a proof (Pocklington).
	if !priv.Primes[0].ProbablyPrime(0) || !priv.Primes[1].ProbablyPrime(0) {
		return nil, nil, errors.New("thresholdrsa: a factor of the modulus isn't prime")
	}
	return new(big.Int).Rsh(priv.Primes[0], 1), new(big.Int).Rsh(priv.Primes[1], 1), nil
}

// Erase overwrites the numbers of a private key, as far as Go's big integers let
// it: copies that crypto/rsa or math/big made are out of reach.
func Erase(priv *rsa.PrivateKey) {
	ns := append([]*big.Int{priv.D, priv.Precomputed.Dp, priv.Precomputed.Dq, priv.Precomputed.Qinv}, priv.Primes...)
	for _, x := range ns {
		if x != nil {
			clear(x.Bits())
			x.SetInt64(0)
		}
	}
	priv.Primes = nil
	priv.Precomputed = rsa.PrecomputedValues{}
}

// deal shares priv, which halves has checked. coeffs are a_1..a_{K-1}, or nil to
// draw them.
func deal(priv *rsa.PrivateKey, k, l int, opts *DealOptions, form Form, coeffs []modexp.Nat) (*Dealing, []*KeyShare, error) {
	if l < 1 || l > MaxHolders || k < 1 || k > l {
		return nil, nil, fmt.Errorf("thresholdrsa: threshold %d of %d holders: 1 <= K <= L <= %d is needed", k, l, MaxHolders)
	}
	key := &PublicKey{
		n: new(big.Int).Set(priv.N), e: priv.E, k: k, l: l, form: form, epoch: 1,
		gamma: one, smax: new(big.Int).Set(priv.N), ubound: new(big.Int), root: new(big.Int), v: deriveV(priv.N),
		vi: make([]*big.Int, l), holders: make([]Holder, l),
	}
	if opts != nil && len(opts.Names) != 0 && len(opts.Names) != l {
		return nil, nil, fmt.Errorf("thresholdrsa: %d names for %d holders", len(opts.Names), l)
	}
	shares := make([]*KeyShare, l)
	for i := range shares {
		s := &KeyShare{index: i + 1}
		rand.Read(s.seed[:])
		var seed [ed25519.SeedSize]byte
		rand.Read(seed[:])
		s.identity = ed25519.NewKeyFromSeed(seed[:])
		clear(seed[:])
		h := &key.holders[i]
		h.Name = fmt.Sprintf("holder-%d", i+1)
		if opts != nil && len(opts.Names) != 0 {
			h.Name = opts.Names[i]
		}
		h.Identity = s.identity.Public().(ed25519.PublicKey)
		var err error
		if s.decryption, h.Encryption, err = newEncryptionKey(); err != nil {
			return nil, nil, fmt.Errorf("thresholdrsa: %w", err)
		}
		shares[i] = s
	}

	d := &Dealing{}
	var err error
	if form == FormModular {
		err = dealModular(priv, key, shares, d, coeffs)
	} else {
		err = dealInteger(priv, key, shares, d, coeffs)
	}
	if err == nil {
		d.key, err = key.finish()
	}
	if err != nil {
		return nil, nil, fmt.Errorf("thresholdrsa: %w", err)
	}
	for _, s := range shares {
		s.key = d.key
	}
	if coeffs != nil {
		return d, shares, nil // a known-answer test, of a toy key without room for a padding
	}
	// The dealing is complete when every holder has taken part in a signature.
	r, err := trialRequest(d.key)
	if err != nil {
		return nil, nil, err
	}
	if d.trial, err = signTrial(shares, r); err != nil {
		return nil, nil, err
	}
	if err := d.verifyTrial(); err != nil {
		return nil, nil, err
	}
	return d, shares, nil
}

// dealModular shares d = e^(-1) mod m, m = p'q':
//
//	f(X) = d + sum_{j=1}^{K-1} a_j X^j, a_j uniform in [0, m)
//	s_i = f(i) Delta^(-1) mod m, v_i = v^(s_i), A_0 = v^d, A_j = v^(a_j)
func dealModular(priv *rsa.PrivateKey, key *PublicKey, shares []*KeyShare, out *Dealing, coeffs []modexp.Nat) error {
	p1, q1 := new(big.Int).Rsh(priv.Primes[0], 1), new(big.Int).Rsh(priv.Primes[1], 1)
	m := new(big.Int).Mul(p1, q1)
	d := new(big.Int).ModInverse(big.NewInt(int64(priv.E)), m)
	di := new(big.Int).ModInverse(factorial(key.l), m)
	defer eraseInts(p1, q1, m, d, di)
	if d == nil || di == nil {
		return errors.New("the public exponent or L! isn't prime to p'q'")
	}
	mod, err := modexp.NewModulus(m)
	if err != nil {
		return err
	}
	bits := m.BitLen()
	mn := natOf(m, bits)
	defer mn.Wipe()
	f := []modexp.Nat{natOf(d, bits)}
	for j := 1; j < key.k; j++ {
		if coeffs != nil {
			f = append(f, coeffs[j-1])
		} else {
			f = append(f, randomBelow(mn, bits))
		}
	}
	defer wipeAll(f)
	dinv, err := mod.SetBig(di)
	if err != nil {
		return err
	}
	fm := make([]*modexp.Element, key.k)
	for j := range f {
		fm[j] = mod.SetNat(f[j])
		defer fm[j].Wipe()
	}

	a := newArith(key.n, key.v, key.nonceBits())
	key.arith = func() *arith { return a }
	for _, s := range shares {
		point := mod.SetNat(modexp.Nat{uint64(s.index)})
		acc := mod.NewElement()
		for j := key.k - 1; j >= 0; j-- {
			mod.Mul(acc, acc, point)
			mod.Add(acc, acc, fm[j])
		}
		mod.Mul(acc, acc, dinv)
		s.s = modexp.NewNat(key.ShareBits())
		copy(s.s, mod.Nat(acc))
		acc.Wipe()
	}
	publish(a, key, shares, out, f)
	return nil
}

// dealInteger shares Delta d over the integers, d = e^(-1) mod lcm(p-1, q-1) < U = 2^|n|:
//
//	f(X) = Delta d + sum_{j=1}^{K-1} a_j X^j, a_j uniform in [0, 2^beta), s_i = f(i)
//	beta = 144 + BitLen(2 U Delta K), Smax = Delta U + 2^beta sum_{j=1}^{K-1} L^j, Gamma = Delta^2
//
// The shares of K-1 holders are within 2^-144 of independent of d: were d greater
// by t, f + t Delta prod (1 - X/c) would give them the same, and its coefficients
// differ from f's by at most U Delta K.
func dealInteger(priv *rsa.PrivateKey, key *PublicKey, shares []*KeyShare, out *Dealing, coeffs []modexp.Nat) error {
	lam := lambda(priv.Primes[0], priv.Primes[1])
	d := new(big.Int).ModInverse(big.NewInt(int64(priv.E)), lam)
	defer eraseInts(lam, d)
	if d == nil {
		return errors.New("the public exponent isn't prime to p-1 and q-1")
	}
	delta := factorial(key.l)
	beta := integerSharing(key, delta)
	bits := key.ShareBits()
	dn, deltan := natOf(d, key.n.BitLen()), natOf(delta, delta.BitLen())
	a0 := modexp.NewNat(64 * (len(dn) + len(deltan)))
	a0.Mul(dn, deltan)
	f := []modexp.Nat{a0}
	for j := 1; j < key.k; j++ {
		if coeffs != nil {
			f = append(f, coeffs[j-1])
		} else {
			f = append(f, randomBits(beta))
		}
	}
	defer wipeAll(f)
	defer dn.Wipe()

	a := newArith(key.n, key.v, key.nonceBits())
	key.arith = func() *arith { return a }
	for _, s := range shares {
		s.s = evalNat(f, s.index, bits)
	}
	publish(a, key, shares, out, append([]modexp.Nat{dn}, f[1:]...))
	return nil
}

// integerSharing sets the parameters of a dealing in integer form and returns beta.
func integerSharing(key *PublicKey, delta *big.Int) (beta int) {
	key.ubound = new(big.Int).Lsh(one, uint(key.n.BitLen()))
	key.gamma = new(big.Int).Mul(delta, delta)
	x := new(big.Int).Mul(key.ubound, delta)
	key.smax = new(big.Int).Set(x)
	beta = hidingBits + x.Mul(x, big.NewInt(int64(2*key.k))).BitLen()
	sum := powerSum(key.l, 1, key.k-1)
	key.smax.Add(key.smax, sum.Lsh(sum, uint(beta)))
	return beta
}

// hidingBits is by how much a random number is longer than what it hides over the
// integers: 128, and 16 for as many as 2^16 ceremonies. Only tests of the bounds
// change it.
var hidingBits = 144

// publish computes v_i = v^(s_i) and A_j = v^(f_j), f_0 = d.
func publish(a *arith, key *PublicKey, shares []*KeyShare, out *Dealing, f []modexp.Nat) {
	y := a.mod.NewElement()
	for i, s := range shares {
		a.table.Exp(y, s.s)
		key.vi[i] = a.mod.BigVarTime(y)
	}
	for _, c := range f {
		a.table.Exp(y, c)
		out.commitments = append(out.commitments, a.mod.BigVarTime(y))
	}
}

func eraseInts(xs ...*big.Int) {
	for _, x := range xs {
		if x != nil {
			clear(x.Bits())
		}
	}
}

// trialRequest is the request that every holder's trial share in a Dealing
// answers: PSS with SHA-256 on "undersign/trsa/v1/trial" || ID.
func trialRequest(p *PublicKey) (*Request, error) {
	digest := sha256.Sum256(append([]byte("undersign/trsa/v1/trial"), p.id[:]...))
	return NewRequest(p, digest[:], &rsa.PSSOptions{SaltLength: rsa.PSSSaltLengthEqualsHash, Hash: trialHash})
}
