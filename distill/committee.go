// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package distill

import (
	"crypto/sha256"
	"math/bits"
	"slices"

	"github.com/undersign/undersign/bls"
)

// A Committee is the validators of a network. One of F+1 of them is honest, so what so
// many have signed is so. It doesn't change, and may be used by several goroutines.
type Committee struct {
	net    NetworkID
	quorum int
	keys   []*bls.ProvenKey
}

// NewCommittee returns the validators of g, which it verifies.
func NewCommittee(g *Genesis) (*Committee, error) {
	keys, err := g.Check()
	if err != nil {
		return nil, err
	}
	return &Committee{g.ID(), g.Quorum(), keys}, nil
}

// Net returns the network that the committee is of.
func (c *Committee) Net() NetworkID { return c.net }

// Len returns the number of validators.
func (c *Committee) Len() int { return len(c.keys) }

// Quorum returns how many must sign: F+1.
func (c *Committee) Quorum() int { return c.quorum }

// Key returns the key of a validator, or nil if there is no such.
func (c *Committee) Key(validator int) *bls.ProvenKey {
	if validator < 0 || validator >= len(c.keys) {
		return nil
	}
	return c.keys[validator]
}

// settled returns a number that an honest validator vouches for, out of what different
// validators say that they have seen: F+1 of them have said as much or more. It takes 2F+1
// answers, or F liars could make it as large as they like, and leave nothing above it.
func (c *Committee) settled(numbers []uint64) (n uint64, ok bool) {
	if len(numbers) < 2*c.quorum-1 {
		return 0, false
	}
	numbers = slices.Clone(numbers)
	slices.Sort(numbers)
	return numbers[len(numbers)-c.quorum], true
}

// A Share is one validator's signature of a statement.
type Share struct {
	Validator uint32
	Signature [bls.SignatureSize]byte
}

// A Certificate is a statement's signature by several validators.
type Certificate struct {
	Bitmap    []byte // validator i signed if bit i%8 of byte i/8 is set
	Signature [bls.SignatureSize]byte
}

// SignStatement returns a validator's signature of a statement.
func SignStatement(sk *bls.SecretKey, validator int, s Statement) (*Share, error) {
	d := s.Digest()
	sig, err := bls.ProofOfPossession.Sign(sk, d[:])
	if err != nil {
		return nil, err
	}
	return &Share{uint32(validator), [bls.SignatureSize]byte(sig.Bytes())}, nil
}

// VerifyShare verifies one validator's signature of a statement of this network.
func (c *Committee) VerifyShare(s Statement, share *Share) error {
	if uint64(share.Validator) >= uint64(len(c.keys)) {
		return reject(RuleValidator)
	}
	return c.verify(c.keys[share.Validator], s, &share.Signature)
}

func (c *Committee) verify(key *bls.ProvenKey, s Statement, signature *[bls.SignatureSize]byte) error {
	b := s.Bytes()
	if NetworkID(b[tagSize:tagSize+len(c.net)]) != c.net {
		return reject(RuleNetwork) // the validator may have the same key in several
	}
	sig, err := bls.ParseSignature(signature[:])
	if err == nil {
		d := sha256.Sum256(b)
		err = bls.ProofOfPossession.Verify(key.PublicKey(), d[:], sig)
	}
	if err != nil {
		return &RejectError{Rule: RuleCertificate, Index: -1, Err: err}
	}
	return nil
}

// Verify verifies that F+1 validators, or more, have signed a statement of this network.
func (c *Committee) Verify(s Statement, cert *Certificate) error {
	if len(cert.Bitmap) != (len(c.keys)+7)/8 {
		return reject(RuleBitmap)
	}
	var signers []*bls.ProvenKey
	for i, b := range cert.Bitmap {
		for ; b != 0; b &= b - 1 {
			at := 8*i + bits.TrailingZeros8(b)
			if at >= len(c.keys) {
				return reject(RuleBitmap)
			}
			signers = append(signers, c.keys[at])
		}
	}
	if len(signers) < c.quorum {
		return reject(RuleQuorum)
	}
	sum, err := bls.SumKeys(signers)
	if err != nil {
		return &RejectError{Rule: RuleCertificate, Index: -1, Err: err}
	}
	return c.verify(sum, s, &cert.Signature)
}

// Combine makes a certificate of F+1 shares or more; of each validator the first valid
// one counts. Shares that aren't valid are left out, and their indices returned. If too
// few remain, the error's rule is [RuleQuorum].
func (c *Committee) Combine(s Statement, shares []Share) (cert *Certificate, bad []int, err error) {
	if len(shares) >= c.quorum {
		// Most often all are valid, and one verification tells.
		if cert := c.combine(shares); cert != nil && c.Verify(s, cert) == nil {
			return cert, nil, nil
		}
	}
	var good []Share
	seen := make(map[uint32]bool)
	for i := range shares {
		switch {
		case c.VerifyShare(s, &shares[i]) != nil:
			bad = append(bad, i)
		case !seen[shares[i].Validator]:
			seen[shares[i].Validator] = true
			good = append(good, shares[i])
		}
	}
	if len(good) < c.quorum {
		return nil, bad, reject(RuleQuorum)
	}
	// Signatures that verify one by one add up to one that does, unless the keys of
	// colluding validators cancel out.
	cert = c.combine(good)
	if err := c.Verify(s, cert); err != nil {
		return nil, bad, err
	}
	return cert, bad, nil
}

// combine adds up shares, or returns nil if it can't: two of one validator, say.
func (c *Committee) combine(shares []Share) *Certificate {
	cert := &Certificate{Bitmap: make([]byte, (len(c.keys)+7)/8)}
	sigs := make([]*bls.Signature, len(shares))
	for i := range shares {
		at := shares[i].Validator
		if uint64(at) >= uint64(len(c.keys)) || cert.Bitmap[at/8]&(1<<(at%8)) != 0 {
			return nil
		}
		cert.Bitmap[at/8] |= 1 << (at % 8)
		var err error
		if sigs[i], err = bls.ParseSignature(shares[i].Signature[:]); err != nil {
			return nil
		}
	}
	sum, err := bls.Aggregate(sigs...)
	if err != nil {
		return nil
	}
	copy(cert.Signature[:], sum.Bytes())
	return cert
}

// A SignedLook is one validator's answer to a question of a client. Validators are at
// different heights, so that their answers don't add up to a certificate.
type SignedLook struct {
	Look  Look
	Share Share
}

// VerifyLooks verifies that F+1 different validators, or more, have answered a question,
// with its challenge, id, nonce and last height. What they have answered is for the
// caller to compare.
func (c *Committee) VerifyLooks(challenge [32]byte, id, nonce, notAfter uint64, looks []SignedLook) error {
	seen := make(map[uint32]bool)
	for i := range looks {
		k := &looks[i].Look
		if k.Net != c.net || k.Challenge != challenge || k.ID != id || k.Nonce != nonce || k.NotAfter != notAfter {
			return rejectAt(RuleStatement, i)
		}
		if err := c.VerifyShare(k, &looks[i].Share); err != nil {
			return rejectAt(RuleOf(err), i)
		}
		seen[looks[i].Share.Validator] = true
	}
	if len(seen) < c.quorum {
		return reject(RuleQuorum)
	}
	return nil
}
