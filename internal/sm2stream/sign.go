// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package sm2stream

import (
	"context"
	"crypto/ecdsa"
	"encoding/json"
	"math/big"
	"math/rand/v2"

	"github.com/undersign/undersign/internal/sm2ec"
	"github.com/undersign/undersign/sm2"
)

// Signatures for tests are made from a seed, nonces included, so that the same
// file can be made again. No randomness and no protection of keys: neither is
// wanted here, and none of this is for real keys.

// order is n.
var order, _ = new(big.Int).SetString("FFFFFFFEFFFFFFFFFFFFFFFFFFFFFFFF7203DF6B21C6052B53BBF40939D54123", 16)

// A signer is a key with what signing needs.
type signer struct {
	d, inv sm2ec.Scalar // inv = 1/(1+d)
	xy     [64]byte
	pub    *ecdsa.PublicKey
}

// randomScalar returns a scalar that isn't zero.
func randomScalar(rng *rand.ChaCha8) (k sm2ec.Scalar) {
	for {
		var b [32]byte
		rng.Read(b[:])
		if k.SetBytes(&b) && !k.IsZero() {
			return k
		}
	}
}

// newSigner draws a key, and returns its point as well.
func newSigner(rng *rand.ChaCha8) (s signer, p sm2ec.Jacobian) {
	var one, d1 sm2ec.Scalar
	one.SetUint64(1)
	for {
		s.d = randomScalar(rng)
		if d1.Add(&s.d, &one); !d1.IsZero() {
			break
		}
	}
	b := d1.Bytes()
	x := new(big.Int).ModInverse(new(big.Int).SetBytes(b[:]), order)
	x.FillBytes(b[:])
	s.inv.SetBytes(&b)
	p.BaseMult(&s.d)
	return s, p
}

// setPoint finishes a key.
func (s *signer) setPoint(p *sm2ec.Affine) error {
	s.xy = pointBytes(p)
	var err error
	s.pub, err = sm2.ParsePublicKey(s.xy[:])
	return err
}

func pointBytes(p *sm2ec.Affine) (xy [64]byte) {
	x, y := p.X.Bytes(), p.Y.Bytes()
	copy(xy[:], x[:])
	copy(xy[32:], y[:])
	return xy
}

// makeSigners makes the keys that recur.
func (g *generator) makeSigners(ctx context.Context) error {
	n := g.Signers
	g.signers = make([]signer, n)
	points := make([]sm2ec.Jacobian, n)
	feed := func(emit func(int) bool) error {
		for lo := 0; lo < n && emit(lo); lo += genBlock {
		}
		return nil
	}
	err := pipeline(ctx, g.Workers, 2*g.Workers, feed,
		func() func(int) error {
			return func(lo int) error {
				rng := g.rand("signers", int64(lo))
				hi := min(n, lo+genBlock)
				for i := lo; i < hi; i++ {
					g.signers[i], points[i] = newSigner(rng)
				}
				return setPoints(g.signers[lo:hi], points[lo:hi])
			}
		},
		func(err error) error { return err })
	return err
}

func setPoints(signers []signer, points []sm2ec.Jacobian) error {
	affine := make([]sm2ec.Affine, len(points))
	sm2ec.Normalize(affine, points)
	for i := range signers {
		if err := signers[i].setPoint(&affine[i]); err != nil {
			return err
		}
	}
	return nil
}

// A made is a record before it is written.
type made struct {
	kind    Kind
	key     [64]byte
	payload []byte
	sig     [64]byte
}

// block makes the records of a block.
func (g *generator) block(j genJob) *genResult {
	res := &genResult{last: j.last}
	rng := g.rand("block", j.index)
	draw := rand.New(rng)
	n := int(j.last - j.first + 1)
	who := make([]signer, n)
	points := make([]sm2ec.Jacobian, 0, n)
	var own []int // records with a key of their own
	for i := range who {
		if g.Signers > 0 && draw.Float64() >= g.Once {
			who[i] = g.signers[draw.IntN(g.Signers)]
			continue
		}
		s, p := newSigner(rng)
		who[i] = s
		own, points = append(own, i), append(points, p)
	}
	fresh := make([]signer, len(own))
	for k, i := range own {
		fresh[k] = who[i]
	}
	if res.err = setPoints(fresh, points); res.err != nil {
		return res
	}
	for k, i := range own {
		who[i] = fresh[k]
	}
	nonces, points := make([]sm2ec.Scalar, n), make([]sm2ec.Jacobian, n)
	for i := range nonces {
		nonces[i] = randomScalar(rng)
		points[i].BaseMult(&nonces[i])
	}
	rs := make([]sm2ec.Affine, n)
	sm2ec.Normalize(rs, points)
	for i := range who {
		it := made{kind: j.bad[i], key: who[i].xy, payload: make([]byte, g.Payload)}
		rng.Read(it.payload)
		if res.err = g.sign(&it, &who[i], &nonces[i], &rs[i]); res.err != nil {
			return res
		}
		if it.kind != "" {
			it.spoil(rng)
			m := Made{Made: it.kind}
			if number := j.first + int64(i); g.Format == Binary {
				m.Record = number
			} else {
				m.Line = number
			}
			res.made = append(res.made, m)
		}
		if g.Format == JSONLines {
			res.data = g.appendLine(res.data, &it)
			continue
		}
		hint := sm2.NoHint
		if g.Hinted {
			hint = sm2.HintEven
		}
		res.data = g.header.appendRecord(res.data, &it.sig, &it.key, hint, it.payload)
	}
	return res
}

// sign sets the signature with the nonce k, R = kG (GB/T 32918.2-2016, section 6.1).
func (g *generator) sign(it *made, who *signer, k *sm2ec.Scalar, r *sm2ec.Affine) error {
	if g.Hinted && r.Y.IsOdd() {
		k.Neg(k)
	}
	digest := it.payload
	if !g.Digests {
		var err error
		if digest, err = sm2.Digest(who.pub, g.uid, it.payload); err != nil {
			return err
		}
	}
	var e, x, rr, s, t sm2ec.Scalar
	e.SetDigest((*[32]byte)(digest))
	xb := r.X.Bytes()
	x.SetDigest(&xb) // reduces modulo n
	rr.Add(&e, &x)
	t.Mul(&rr, &who.d)
	s.Sub(k, &t)
	s.Mul(&s, &who.inv)
	// r = 0, s = 0 or r + k = n have a probability of 2⁻²⁵⁴, and would be found out.
	rb, sb := rr.Bytes(), s.Bytes()
	copy(it.sig[:], rb[:])
	copy(it.sig[32:], sb[:])
	return nil
}

// spoil makes a good record bad.
func (it *made) spoil(rng *rand.ChaCha8) {
	switch it.kind {
	case KindMessage:
		if len(it.payload) == 0 {
			it.payload = nil
			it.kind = KindS
			it.spoil(rng)
			return
		}
		it.payload[len(it.payload)-1] ^= 1
	case KindKey:
		_, p := newSigner(rng)
		a, _ := p.Affine()
		it.key = pointBytes(&a)
	case KindS:
		it.sig[63] ^= 1
	case KindSwapped:
		var t [32]byte
		copy(t[:], it.sig[:32])
		copy(it.sig[:32], it.sig[32:])
		copy(it.sig[32:], t[:])
	case KindRange:
		order.FillBytes(it.sig[:32])
	case KindOffCurve:
		it.key[63] ^= 1
	}
}

// encode writes the signature for a JSON line.
func (it *made) encode(enc sm2.Encoding) []byte {
	if enc == sm2.Raw128WithKey {
		return append(it.sig[:], it.key[:]...)
	}
	sig, err := sm2.Convert(it.sig[:], sm2.Raw64, enc)
	if err != nil {
		return it.sig[:] // an unknown encoding; the verifier will say so
	}
	return sig
}

func jsonString(s string) []byte {
	b, err := json.Marshal(s)
	if err != nil {
		return []byte(`""`)
	}
	return b
}
