// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package thresholdrsa

import (
	"bytes"
	"crypto"
	"crypto/hkdf"
	"crypto/rsa"
	"crypto/sha256"
	_ "crypto/sha512" // SHA-384 and SHA-512 in requests
	"crypto/x509"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/big"

	"github.com/undersign/undersign/internal/wire"
)

// A Padding is an encoding method of RFC 8017.
type Padding uint8

const (
	PKCS1v15 Padding = 1 // RSASSA-PKCS1-v1_5
	PSS      Padding = 2 // RSASSA-PSS, MGF1 with the same hash
)

func (p Padding) String() string {
	switch p {
	case PKCS1v15:
		return "PKCS1v15"
	case PSS:
		return "PSS"
	}
	return fmt.Sprintf("padding %d", uint8(p))
}

// hashes are the hash functions of requests, by their code in the encoding.
var hashes = [...]crypto.Hash{1: crypto.SHA256, 2: crypto.SHA384, 3: crypto.SHA512}

func hashCode(h crypto.Hash) (uint8, bool) {
	for c, o := range hashes {
		if c != 0 && o == h {
			return uint8(c), true
		}
	}
	return 0, false
}

func checkHash(h crypto.Hash) error {
	if _, ok := hashCode(h); !ok {
		return fmt.Errorf("hash %v isn't SHA-256, SHA-384 or SHA-512", h)
	}
	return nil
}

// SaltedPSS asks NewRequest for PSS with the given salt, which may be empty.
// It is a crypto.SignerOpts, since rsa.PSSOptions can't express an empty salt.
type SaltedPSS struct {
	Hash crypto.Hash
	Salt []byte
}

// HashFunc returns the hash function.
func (o *SaltedPSS) HashFunc() crypto.Hash { return o.Hash }

// A Request is what K holders sign: a digest, the padding and, for PSS, the salt.
// All signers of one request compute the same encoded message from it.
type Request struct {
	keyID   [32]byte
	epoch   uint64
	padding Padding
	hash    crypto.Hash
	digest  []byte
	salt    []byte
}

// NewRequest fixes what is to be signed under p. opts is a crypto.Hash for
// PKCS #1 v1.5, *rsa.PSSOptions or *SaltedPSS for PSS; the hash is SHA-256, -384
// or -512, and digest is its output.
//
// With rsa.PSSOptions the salt is derived: HKDF-Expand-SHA-256 with the SHA-256
// of the SubjectPublicKeyInfo as key and "undersign/trsa/v1/salt" || hash ||
// len(digest) || digest as info. It is public and reproducible.
func NewRequest(p *PublicKey, digest []byte, opts crypto.SignerOpts) (*Request, error) {
	if opts == nil {
		return nil, errors.New("thresholdrsa: request without options")
	}
	r := &Request{keyID: p.id, epoch: p.epoch, padding: PKCS1v15, hash: opts.HashFunc(), digest: bytes.Clone(digest)}
	if err := checkHash(r.hash); err != nil { // its Size would panic
		return nil, fmt.Errorf("thresholdrsa: request: %w", err)
	}
	var err error
	switch o := opts.(type) {
	case *rsa.PSSOptions:
		r.padding = PSS
		length := o.SaltLength
		switch {
		case length == rsa.PSSSaltLengthAuto:
			length = maxSalt(r.hash, p.n.BitLen()-1)
		case length == rsa.PSSSaltLengthEqualsHash:
			length = r.hash.Size()
		}
		if length < 0 || length > maxSalt(r.hash, p.n.BitLen()-1) {
			return nil, fmt.Errorf("thresholdrsa: request: the modulus is too short for %v and a salt of %d bytes", r.hash, length)
		}
		if r.salt, err = derivedSalt(p, r.hash, digest, length); err != nil {
			return nil, err
		}
	case *SaltedPSS:
		r.padding = PSS
		r.salt = bytes.Clone(o.Salt)
	}
	if err := r.check(); err != nil {
		return nil, fmt.Errorf("thresholdrsa: request: %w", err)
	}
	if _, err := r.representative(p); err != nil {
		return nil, err
	}
	return r, nil
}

func derivedSalt(p *PublicKey, h crypto.Hash, digest []byte, length int) ([]byte, error) {
	if length == 0 {
		return nil, nil
	}
	code, _ := hashCode(h)
	spki, err := x509.MarshalPKIXPublicKey(p.RSA())
	if err != nil {
		return nil, fmt.Errorf("thresholdrsa: request: %w", err)
	}
	key := sha256.Sum256(spki)
	info := append([]byte("undersign/trsa/v1/salt"), code)
	info = binary.BigEndian.AppendUint16(info, uint16(len(digest)))
	return hkdf.Expand(sha256.New, key[:], string(append(info, digest...)), length)
}

// check refuses what no NewRequest makes, but for what depends on the key.
func (r *Request) check() error {
	if err := checkHash(r.hash); err != nil {
		return err
	}
	if len(r.digest) != r.hash.Size() {
		return fmt.Errorf("digest of %d bytes, and %v has %d", len(r.digest), r.hash, r.hash.Size())
	}
	switch {
	case r.padding != PKCS1v15 && r.padding != PSS:
		return fmt.Errorf("unknown %v", r.padding)
	case r.padding == PKCS1v15 && len(r.salt) != 0:
		return errors.New("a salt with PKCS1v15")
	}
	return nil
}

// KeyID returns the ID of the record to sign under; it names key and epoch.
func (r *Request) KeyID() [32]byte { return r.keyID }

// Epoch returns the epoch of the record to sign under.
func (r *Request) Epoch() uint64 { return r.epoch }

// Padding returns the encoding method.
func (r *Request) Padding() Padding { return r.padding }

// Hash returns the hash function.
func (r *Request) Hash() crypto.Hash { return r.hash }

// Digest returns the digest to sign.
func (r *Request) Digest() []byte { return bytes.Clone(r.digest) }

// Salt returns the salt of PSS.
func (r *Request) Salt() []byte { return bytes.Clone(r.salt) }

// ID returns the SHA-256 that names the request in signature shares.
func (r *Request) ID() [32]byte {
	return sha256.Sum256(append([]byte("undersign/trsa/v1/request"), r.encode()...))
}

// Equal reports whether x asks for the same.
func (r *Request) Equal(x *Request) bool { return x != nil && bytes.Equal(r.encode(), x.encode()) }

// Verify checks an RSA signature against the request, by crypto/rsa. A PSS
// signature must have a salt of the request's length.
func (r *Request) Verify(pub *rsa.PublicKey, sig []byte) error {
	if r.padding == PKCS1v15 {
		return rsa.VerifyPKCS1v15(pub, r.hash, r.digest, sig)
	}
	if len(r.salt) == 0 { // crypto/rsa has no way to ask for an empty salt
		if len(sig) != (pub.N.BitLen()+7)/8 {
			return rsa.ErrVerification
		}
		em, err := encodePSS(r.hash, r.digest, nil, pub.N.BitLen()-1)
		if err != nil {
			return err
		}
		y := new(big.Int).SetBytes(sig)
		if y.Cmp(pub.N) >= 0 || y.Exp(y, big.NewInt(int64(pub.E)), pub.N).Cmp(new(big.Int).SetBytes(em)) != 0 {
			return rsa.ErrVerification
		}
	}
	return rsa.VerifyPSS(pub, r.hash, r.digest, sig, &rsa.PSSOptions{SaltLength: len(r.salt)})
}

// representative returns x = OS2IP(EM), 0 < x < n and prime to n.
func (r *Request) representative(p *PublicKey) (*big.Int, error) {
	if r.keyID != p.id || r.epoch != p.epoch {
		return nil, &KeyError{"request", r.keyID, p.id, r.epoch, p.epoch}
	}
	var em []byte
	var err error
	if r.padding == PKCS1v15 {
		em, err = encodePKCS1v15(r.hash, r.digest, p.size())
	} else {
		em, err = encodePSS(r.hash, r.digest, r.salt, p.n.BitLen()-1)
	}
	if err != nil {
		return nil, err
	}
	x := new(big.Int).SetBytes(em)
	if !unit(x, p.n) {
		return nil, errors.New("thresholdrsa: the encoded message isn't prime to the modulus")
	}
	return x, nil
}

var one = big.NewInt(1)

// unit reports whether 0 < x < n and gcd(x, n) = 1.
func unit(x, n *big.Int) bool {
	return x.Sign() > 0 && x.Cmp(n) < 0 && new(big.Int).GCD(nil, nil, x, n).Cmp(one) == 0
}

func (r *Request) encode() []byte {
	var e wire.Encoder
	e.U8(version)
	e.U8(suite)
	e.Fixed(r.keyID[:])
	e.U64(r.epoch)
	e.U8(uint8(r.padding))
	code, _ := hashCode(r.hash)
	e.U8(code)
	e.Bytes(r.digest)
	e.Bytes(r.salt)
	return e.Data()
}

// MarshalBinary returns the canonical encoding. The error is always nil.
func (r *Request) MarshalBinary() ([]byte, error) { return r.encode(), nil }

// UnmarshalBinary decodes a request. It isn't known to fit a key yet: Sign,
// VerifyShare and Combine check that.
func (r *Request) UnmarshalBinary(data []byte) error {
	d := wire.NewDecoder(data)
	d.Header(version, suite)
	var q Request
	d.Read("key", q.keyID[:])
	q.epoch = d.U64("epoch")
	q.padding = Padding(d.U8("padding"))
	if code := d.U8("hash"); d.Err() == nil {
		if code == 0 || int(code) >= len(hashes) {
			d.Fail("hash", "unknown code %d", code)
		} else {
			q.hash = hashes[code]
		}
	}
	q.digest = d.Bytes("digest", 64)
	q.salt = d.Bytes("salt", MaxBits/8)
	err := d.Finish()
	if err == nil {
		err = q.check()
	}
	if err != nil {
		return fmt.Errorf("thresholdrsa: request: %w", err)
	}
	*r = q
	return nil
}

// A Signer is a crypto.Signer whose signatures are made by a quorum.
type Signer struct {
	key     *PublicKey
	collect func(*Request) ([]*SignatureShare, error)
}

// NewSigner returns a crypto.Signer for p. collect gets shares for a request,
// from K holders at least; it may return more, and wrong ones among them.
func NewSigner(p *PublicKey, collect func(*Request) ([]*SignatureShare, error)) *Signer {
	return &Signer{p, collect}
}

// Public returns the *rsa.PublicKey.
func (s *Signer) Public() crypto.PublicKey { return s.key.RSA() }

// Sign returns the quorum's signature of digest; opts are those of NewRequest.
// The reader is ignored.
func (s *Signer) Sign(_ io.Reader, digest []byte, opts crypto.SignerOpts) ([]byte, error) {
	r, err := NewRequest(s.key, digest, opts)
	if err != nil {
		return nil, err
	}
	shares, err := s.collect(r)
	if err != nil {
		return nil, err
	}
	sig, _, err := s.key.Combine(r, shares...)
	return sig, err
}
