// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package thresholdrsa

import (
	"bytes"
	"crypto/ed25519"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/sha3"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/undersign/undersign/internal/modexp"
	"github.com/undersign/undersign/internal/wire"
)

// Sizes, in bits of the modulus, and numbers of holders.
const (
	MinBits    = 2048
	MaxBits    = 8192
	MaxHolders = 255

	maxIntBytes    = 2 * MaxBits / 8 // of Smax, and of every share
	maxParamBytes  = 4 * MaxBits / 8 // of Gamma and U, which no one computes with as exponents
	maxNameBytes   = 64
	maxRecordBytes = 1 << 20
)

// minBits is MinBits but in this package's own tests with toy keys.
var minBits = MinBits

// recordBits is the smallest modulus of a record. Other libraries' keys fall short
// of what was asked from them by a bit or two, and their holders must be able to go on.
func recordBits() int { return min(minBits, minForeignBits) }

// toys reports whether the door to toy keys is open: what only large numbers
// satisfy isn't demanded then.
func toys() bool { return minBits != MinBits }

const (
	version = 1 // of all encodings of this package
	suite   = 1 // SHA-256, SHAKE256, Ed25519, HPKE with X25519 and ChaCha20-Poly1305
)

// A Form says over what the key is shared.
type Form uint8

const (
	// FormModular: a polynomial modulo m = p'q', as a dealer with safe primes makes it. Gamma = 1.
	FormModular Form = 1
	// FormInteger: a polynomial over the integers, as an import and every reshare make it. Gamma is a multiple of Delta^2.
	FormInteger Form = 2
)

func (f Form) String() string {
	switch f {
	case FormModular:
		return "modular"
	case FormInteger:
		return "integer"
	}
	return fmt.Sprintf("form %d", uint8(f))
}

// A Holder is what a record says of a share holder.
type Holder struct {
	Name       string            // unique in a record, 1 to 64 bytes of printable UTF-8
	Identity   ed25519.PublicKey // signs its messages in ceremonies
	Encryption []byte            // X25519 key for the next ceremony; empty if it must send a fresh one
}

// A PublicKey is the public half of one sharing of an RSA key: an epoch record.
// It is immutable and safe for concurrent use.
type PublicKey struct {
	n        *big.Int
	e        int
	k, l     int
	form     Form
	gamma    *big.Int // Gamma
	smax     *big.Int // 0 <= s_i < Smax
	ubound   *big.Int // U, integer form only, else 0: |f(0)/Delta| <= U
	root     *big.Int // u with v = u^2 where v isn't the derived one, else 0
	v        *big.Int
	vi       []*big.Int // v_1..v_L
	epoch    uint64
	holders  []Holder
	parent   [32]byte // ID of the record before, zero for the first
	ceremony [32]byte // hash of all broadcasts of the ceremony, zero for the first

	encoding []byte
	id       [32]byte
	arith    func() *arith // computed when it is first needed
}

// arith is what is computed once from a record.
type arith struct {
	mod   *modexp.Modulus
	table *modexp.Table // of v, for exponents up to B+512 bits
}

// RSA returns the ordinary public key.
func (p *PublicKey) RSA() *rsa.PublicKey { return &rsa.PublicKey{N: new(big.Int).Set(p.n), E: p.e} }

// Threshold returns K, how many holders sign.
func (p *PublicKey) Threshold() int { return p.k }

// NumHolders returns L.
func (p *PublicKey) NumHolders() int { return p.l }

// Epoch returns the number of the sharing, from 1.
func (p *PublicKey) Epoch() uint64 { return p.epoch }

// Form returns over what the key is shared.
func (p *PublicKey) Form() Form { return p.form }

// ID returns the SHA-256 of the record. It binds everything in it.
func (p *PublicKey) ID() [32]byte { return p.id }

// Parent returns the ID of the record this one succeeds, zero for the first.
func (p *PublicKey) Parent() [32]byte { return p.parent }

// Holders returns the holders in the order of their indices 1..L.
func (p *PublicKey) Holders() []Holder {
	out := slices.Clone(p.holders)
	for i, h := range out {
		out[i].Identity, out[i].Encryption = bytes.Clone(h.Identity), bytes.Clone(h.Encryption)
	}
	return out
}

// ShareBits returns B, the size of a share in bits.
func (p *PublicKey) ShareBits() int { return p.smax.BitLen() }

// Equal reports whether x is the same record.
func (p *PublicKey) Equal(x *PublicKey) bool { return p != nil && x != nil && p.id == x.id }

// holderName returns the name of holder i, or "" if there is none.
func (p *PublicKey) holderName(i int) string {
	if i < 1 || i > p.l {
		return ""
	}
	return p.holders[i-1].Name
}

// holderOf returns the index of the holder with an identity, or 0.
func (p *PublicKey) holderOf(identity ed25519.PublicKey) int {
	return 1 + slices.IndexFunc(p.holders, func(h Holder) bool { return bytes.Equal(h.Identity, identity) })
}

// size is the length of the modulus in bytes.
func (p *PublicKey) size() int { return (p.n.BitLen() + 7) / 8 }

// nonceBits is the size of the proof's nonce: it hides c s_i, of B+256 bits, to
// within 2^-256.
func (p *PublicKey) nonceBits() int { return p.ShareBits() + 512 }

// responseSize is the length in bytes of z = r + c s_i < 2^(B+513).
func (p *PublicKey) responseSize() int { return (p.nonceBits() + 1 + 7) / 8 }

// shareSize is the length in bytes of a share.
func (p *PublicKey) shareSize() int { return (p.ShareBits() + 7) / 8 }

// deriveV returns v = u^2 mod n with u = SHAKE256("undersign/trsa/v1/v" || n), of
// 128 bits more than n, modulo n: nobody chooses v, and anybody recomputes it.
func deriveV(n *big.Int) *big.Int {
	size := (n.BitLen() + 7) / 8
	h := sha3.NewSHAKE256()
	h.Write([]byte("undersign/trsa/v1/v"))
	h.Write(n.FillBytes(make([]byte, size)))
	out := make([]byte, size+16)
	h.Read(out)
	u := new(big.Int).SetBytes(out)
	u.Mul(u, u)
	return u.Mod(u, n)
}

// finish checks the record, and fills what follows from the rest.
func (p *PublicKey) finish() (*PublicKey, error) {
	if err := p.check(); err != nil {
		return nil, err
	}
	p.encoding = p.encode()
	p.id = sha256.Sum256(p.encoding)
	if p.arith == nil {
		p.arith = sync.OnceValue(func() *arith { return newArith(p.n, p.v, p.nonceBits()) })
	}
	return p, nil
}

// newArith prepares arithmetic modulo an odd n > 1, and powers of v, 0 <= v < n,
// with exponents of the given size.
func newArith(n, v *big.Int, bits int) *arith {
	mod, err := modexp.NewModulus(n)
	if err != nil {
		panic("thresholdrsa: " + err.Error())
	}
	x, err := mod.SetBig(v)
	if err != nil {
		panic("thresholdrsa: " + err.Error())
	}
	return &arith{mod, mod.NewTable(x, bits, 1000)}
}

// check refuses a record that no dealing or ceremony makes. It sets v.
func (p *PublicKey) check() error {
	bits := p.n.BitLen()
	switch {
	case bits < recordBits() || bits > MaxBits:
		return fmt.Errorf("modulus of %d bits, not of %d to %d", bits, recordBits(), MaxBits)
	case p.n.Bit(0) == 0:
		return errors.New("the modulus is even")
	case p.l < 1 || p.l > MaxHolders:
		return fmt.Errorf("%d holders, not 1 to %d", p.l, MaxHolders)
	case p.k < 1 || p.k > p.l:
		return fmt.Errorf("threshold %d of %d holders", p.k, p.l)
	case p.e <= p.l || p.e < 3 || p.e > 1<<31-1 || !big.NewInt(int64(p.e)).ProbablyPrime(20):
		return fmt.Errorf("public exponent %d isn't an odd prime above the number of holders", p.e)
	case p.epoch == 0:
		return errors.New("epoch 0")
	case (p.epoch == 1) != (p.parent == [32]byte{}) || (p.epoch == 1) != (p.ceremony == [32]byte{}):
		return errors.New("the first epoch, and only it, has no parent record and no ceremony")
	case len(p.vi) != p.l || len(p.holders) != p.l:
		return fmt.Errorf("%d verification keys and %d holders, not %d", len(p.vi), len(p.holders), p.l)
	case p.smax.Sign() <= 0 || p.smax.BitLen() > 2*bits && !toys():
		return fmt.Errorf("shares of %d bits, not of 1 to %d", p.smax.BitLen(), 2*bits)
	}
	switch p.form {
	case FormModular:
		if p.gamma.Cmp(one) != 0 || p.smax.Cmp(p.n) != 0 || p.ubound.Sign() != 0 {
			return errors.New("modular form with parameters of another form")
		}
		// Safe primes above 7 are 11 mod 12.
		if !toys() && new(big.Int).Mod(p.n, big.NewInt(12)).Int64() != 1 {
			return errors.New("the modulus isn't a product of two safe primes")
		}
	case FormInteger:
		delta := factorial(p.l)
		if p.gamma.Sign() <= 0 || new(big.Int).Mod(p.gamma, delta.Mul(delta, delta)).Sign() != 0 {
			return errors.New("the parameter Gamma isn't a multiple of Delta^2")
		}
		if p.ubound.Sign() <= 0 {
			return errors.New("the bound U isn't positive")
		}
	default:
		return fmt.Errorf("unknown %v", p.form)
	}
	if new(big.Int).Mod(p.gamma, big.NewInt(int64(p.e))).Sign() == 0 {
		return errors.New("the parameter Gamma isn't prime to the public exponent")
	}
	if p.root.Sign() == 0 {
		p.v = deriveV(p.n)
	} else {
		if p.root.Sign() < 0 || p.root.Cmp(p.n) >= 0 {
			return errors.New("root of v out of range")
		}
		p.v = mulMod(p.root, p.root, p.n)
		if p.v.Cmp(deriveV(p.n)) == 0 {
			return errors.New("a root of the derived v, which needs none")
		}
	}
	// gcd(v(v-1), n) = 1, and every v_i is a unit: one gcd of the product.
	prod := new(big.Int).Sub(p.v, one)
	prod.Mod(prod.Mul(prod, p.v), p.n)
	for i, vi := range p.vi {
		if vi.Sign() <= 0 || vi.Cmp(p.n) >= 0 {
			return &DealingError{i + 1, "verification key out of range"}
		}
		prod.Mod(prod.Mul(prod, vi), p.n)
	}
	if prod.GCD(nil, nil, prod, p.n).Cmp(one) != 0 {
		return &DealingError{0, "v, v-1 or a verification key shares a factor with the modulus"}
	}
	return checkHolders(p.holders)
}

// checkHolders checks names and keys.
func checkHolders(holders []Holder) error {
	names := map[string]bool{}
	for i, h := range holders {
		if err := checkName(h.Name); err != nil {
			return fmt.Errorf("holder %d: %w", i+1, err)
		}
		if names[h.Name] {
			return fmt.Errorf("two holders named %q", h.Name)
		}
		names[h.Name] = true
		if len(h.Identity) != ed25519.PublicKeySize {
			return fmt.Errorf("holder %d: identity of %d bytes", i+1, len(h.Identity))
		}
		if len(h.Encryption) != 0 && len(h.Encryption) != encryptionKeySize {
			return fmt.Errorf("holder %d: encryption key of %d bytes", i+1, len(h.Encryption))
		}
		for _, o := range holders[:i] {
			if bytes.Equal(o.Identity, h.Identity) {
				return fmt.Errorf("holders %q and %q have one identity", o.Name, h.Name)
			}
		}
	}
	return nil
}

func checkName(name string) error {
	if name == "" || len(name) > maxNameBytes || !printable(name) || strings.TrimSpace(name) != name {
		return fmt.Errorf("name %q isn't printable UTF-8 of 1 to %d bytes, with no space around it", name, maxNameBytes)
	}
	return nil
}

// printable reports whether s is UTF-8 without control characters and the like.
func printable(s string) bool {
	return utf8.ValidString(s) && strings.IndexFunc(s, func(r rune) bool { return !unicode.IsPrint(r) }) < 0
}

func (p *PublicKey) encode() []byte {
	var e wire.Encoder
	e.U8(version)
	e.U8(suite)
	e.Int(p.n)
	e.U32(uint32(p.e))
	e.U8(uint8(p.k))
	e.U8(uint8(p.l))
	e.U8(uint8(p.form))
	e.Int(p.gamma)
	e.Int(p.smax)
	e.Int(p.ubound)
	e.Int(p.root)
	buf := make([]byte, p.size())
	for _, vi := range p.vi {
		e.Fixed(vi.FillBytes(buf))
	}
	e.U64(p.epoch)
	for _, h := range p.holders {
		encodeHolder(&e, h)
	}
	e.Fixed(p.parent[:])
	e.Fixed(p.ceremony[:])
	return e.Data()
}

func encodeHolder(e *wire.Encoder, h Holder) {
	e.Bytes([]byte(h.Name))
	e.Bytes(h.Identity)
	e.Bytes(h.Encryption)
}

func decodeHolder(d *wire.Decoder) Holder {
	return Holder{
		Name:       string(d.Bytes("name", maxNameBytes)),
		Identity:   ed25519.PublicKey(d.Bytes("identity", ed25519.PublicKeySize)),
		Encryption: d.Bytes("encryption key", encryptionKeySize),
	}
}

// MarshalBinary returns the canonical encoding of the record. The error is always nil.
func (p *PublicKey) MarshalBinary() ([]byte, error) { return bytes.Clone(p.encoding), nil }

// UnmarshalBinary decodes a record and checks everything that the record alone
// can show.
func (p *PublicKey) UnmarshalBinary(data []byte) error {
	d := wire.NewDecoder(data)
	d.Header(version, suite)
	q := PublicKey{n: d.Int("modulus", MaxBits/8), e: int(d.U32("public exponent"))}
	q.k = int(d.U8("threshold"))
	q.l = int(d.U8("holders"))
	q.form = Form(d.U8("form"))
	q.gamma = d.Int("Gamma", maxParamBytes)
	q.smax = d.Int("Smax", maxIntBytes)
	q.ubound = d.Int("U", maxParamBytes)
	q.root = d.Int("root of v", MaxBits/8)
	for range q.l {
		q.vi = append(q.vi, new(big.Int).SetBytes(d.Fixed("verification key", q.size())))
	}
	q.epoch = d.U64("epoch")
	for range q.l {
		q.holders = append(q.holders, decodeHolder(d))
	}
	d.Read("parent", q.parent[:])
	d.Read("ceremony", q.ceremony[:])
	if err := d.Finish(); err != nil {
		return fmt.Errorf("thresholdrsa: public key: %w", err)
	}
	r, err := q.finish()
	if err != nil {
		return fmt.Errorf("thresholdrsa: public key: %w", err)
	}
	*p = *r
	return nil
}
