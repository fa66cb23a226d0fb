// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

// Package load puts an aggregator under load: it plays any number of clients over a few
// hundred sessions. The clients check what they are shown as any others do, and sign for
// real, but their keys are an arithmetic progression, so that their signatures of one
// statement are one too, and a million of them cost seconds. Such keys protect nothing.
package load

import (
	"crypto/ed25519"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/binary"
	"slices"

	"filippo.io/edwards25519"
	"filippo.io/edwards25519/field"

	"github.com/undersign/undersign/bls"
	"github.com/undersign/undersign/internal/bls12381"
)

// keys are those of all identities: the BLS key of identity i is a + i*d. These are short,
// so that registrations are signed in less time, and long enough that two seeds have no keys
// in common.
type keys struct {
	seed []byte
	a, d bls12381.Scalar
}

// popSuite is the tag of proofs of possession: section 4.2.3 of the draft of BLS signatures.
const popSuite = "BLS_POP_BLS12381G2_XMD:SHA-256_SSWU_RO_POP_"

func newKeys(seed string) *keys {
	k := &keys{seed: []byte(seed)}
	h := sha256.Sum256(append([]byte("undersign load keys"), seed...))
	k.a.SetUint64(binary.BigEndian.Uint64(h[:])>>16 | 1<<47)
	k.d.SetUint64(binary.BigEndian.Uint64(h[8:])>>48 | 1)
	return k
}

func (k *keys) scalar(i int) *bls12381.Scalar {
	return new(bls12381.Scalar).MulAdd(new(bls12381.Scalar).SetUint64(uint64(i)), &k.d, &k.a)
}

func (k *keys) bls(i int) (*bls.SecretKey, error) { return bls.ParseSecretKey(k.scalar(i).Bytes()) }

func (k *keys) ed(i int) ed25519.PrivateKey {
	h := sha256.New()
	h.Write(k.seed)
	binary.Write(h, binary.BigEndian, uint64(i))
	return ed25519.NewKeyFromSeed(h.Sum(nil))
}

// A root is what identities sign in a round: identity i's signature is base + i*step.
type root struct {
	base, step *bls12381.G2
	gaps       [64]bls12381.G2Affine // multiples of step
	stride     *bls12381.G2          // the next one
}

func (k *keys) root(digest [32]byte) *root {
	h := new(bls12381.G2).HashVarTime(digest[:], []byte(bls.ProofOfPossession.Ciphersuite()))
	r := &root{
		base: new(bls12381.G2).ScalarMultVarTime(&k.a, h),
		step: new(bls12381.G2).ScalarMultVarTime(&k.d, h),
	}
	p := new(bls12381.G2).SetIdentity()
	for i := range r.gaps {
		r.gaps[i].Set(p)
		p.Add(p, r.step)
	}
	r.stride = p
	return r
}

// sign returns the signatures of identities, which should ascend, as they travel. Each is
// the sum of the signature of the first of 64 identities, and of a multiple of the step.
func (r *root) sign(list []int) []byte {
	pairs := make([][2]bls12381.G2Affine, len(list))
	at := -1
	first, p := bls12381.G2Affine{}, new(bls12381.G2)
	for j, i := range list {
		if block := i / len(r.gaps); block != at {
			if block == at+1 && at >= 0 {
				p.Add(p, r.stride)
			} else {
				p.ScalarMultVarTime(new(bls12381.Scalar).SetUint64(uint64(block)), r.stride)
				p.Add(p, r.base)
			}
			at = block
			first.Set(p)
		}
		pairs[j] = [2]bls12381.G2Affine{first, r.gaps[i%len(r.gaps)]}
	}
	out := make([]byte, 0, 192*len(list))
	for _, s := range bls12381.AddPairsVarTime(pairs) {
		out = append(out, s.Point().UncompressedBytes()...)
	}
	return slices.Clip(out)
}

// An edSigner signs with the Ed25519 keys of many identities. The secret numbers of its
// signatures follow one after the other, which no real signer may do.
type edSigner struct {
	r     *edwards25519.Scalar // of the last signature
	point *edwards25519.Point  // of the last one of ready
	ready [][32]byte           // points of the next signatures
}

// edAhead is how many points are encoded together, with one inversion.
const edAhead = 256

// An edKey is an expanded Ed25519 key.
type edKey struct {
	s   *edwards25519.Scalar
	pub [32]byte
}

func expand(k ed25519.PrivateKey) edKey {
	h := sha512.Sum512(k.Seed())
	s, err := new(edwards25519.Scalar).SetBytesWithClamping(h[:32])
	if err != nil {
		panic("load: " + err.Error()) // the length is right
	}
	return edKey{s, [32]byte(k.Public().(ed25519.PublicKey))}
}

var (
	edOne  = scalarOne()
	edBase = edwards25519.NewGeneratorPoint()
)

func scalarOne() *edwards25519.Scalar {
	s, err := new(edwards25519.Scalar).SetCanonicalBytes(append([]byte{1}, make([]byte, 31)...))
	if err != nil {
		panic("load: " + err.Error())
	}
	return s
}

func newEdSigner(seed []byte) *edSigner {
	h := sha512.Sum512(seed)
	r, err := new(edwards25519.Scalar).SetUniformBytes(h[:])
	if err != nil {
		panic("load: " + err.Error())
	}
	return &edSigner{r: r, point: new(edwards25519.Point).ScalarBaseMult(r)}
}

// fill encodes the points of the next signatures.
func (s *edSigner) fill() {
	var x, y, z [edAhead]*field.Element
	var before [edAhead]field.Element // the product of all z before
	all := new(field.Element).One()
	for i := range edAhead {
		s.point.Add(s.point, edBase)
		x[i], y[i], z[i], _ = s.point.ExtendedCoordinates()
		before[i] = *all
		all.Multiply(all, z[i])
	}
	all.Invert(all)
	s.ready = make([][32]byte, edAhead)
	for i := edAhead - 1; i >= 0; i-- {
		inverse := before[i].Multiply(&before[i], all)
		all.Multiply(all, z[i])
		copy(s.ready[i][:], y[i].Multiply(y[i], inverse).Bytes())
		s.ready[i][31] |= byte(x[i].Multiply(x[i], inverse).IsNegative() << 7)
	}
}

// sign appends a signature of msg.
func (s *edSigner) sign(sig []byte, k *edKey, msg []byte) []byte {
	s.r = new(edwards25519.Scalar).Add(s.r, edOne)
	if len(s.ready) == 0 {
		s.fill()
	}
	rb := s.ready[0][:]
	s.ready = s.ready[1:]
	h := sha512.New()
	h.Write(rb)
	h.Write(k.pub[:])
	h.Write(msg)
	var sum [64]byte
	c, err := new(edwards25519.Scalar).SetUniformBytes(h.Sum(sum[:0]))
	if err != nil {
		panic("load: " + err.Error())
	}
	sig = append(sig, rb...)
	return append(sig, new(edwards25519.Scalar).MultiplyAdd(c, k.s, s.r).Bytes()...)
}
