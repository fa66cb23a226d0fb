// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package bls

import "fmt"

// A Scheme is one of the draft's schemes with its ciphersuite. The zero value is
// [Basic].
type Scheme uint8

// The schemes with keys in G1 and signatures in G2, and those with keys in G2 and
// signatures in G1.
const (
	Basic Scheme = iota
	Augmented
	ProofOfPossession
	MinSigBasic
	MinSigAugmented
	MinSigProofOfPossession
)

// A suite is what a scheme stands for.
type suite struct {
	name   string
	minSig bool // keys are in G2
	kind   Scheme
	dst    string // of signatures
	pop    string // of proofs of possession
}

// suites after section 4.2 of the draft.
var suites = [...]suite{
	Basic:             {"Basic", false, Basic, "BLS_SIG_BLS12381G2_XMD:SHA-256_SSWU_RO_NUL_", ""},
	Augmented:         {"Augmented", false, Augmented, "BLS_SIG_BLS12381G2_XMD:SHA-256_SSWU_RO_AUG_", ""},
	ProofOfPossession: {"ProofOfPossession", false, ProofOfPossession, "BLS_SIG_BLS12381G2_XMD:SHA-256_SSWU_RO_POP_", "BLS_POP_BLS12381G2_XMD:SHA-256_SSWU_RO_POP_"},

	MinSigBasic:             {"MinSigBasic", true, Basic, "BLS_SIG_BLS12381G1_XMD:SHA-256_SSWU_RO_NUL_", ""},
	MinSigAugmented:         {"MinSigAugmented", true, Augmented, "BLS_SIG_BLS12381G1_XMD:SHA-256_SSWU_RO_AUG_", ""},
	MinSigProofOfPossession: {"MinSigProofOfPossession", true, ProofOfPossession, "BLS_SIG_BLS12381G1_XMD:SHA-256_SSWU_RO_POP_", "BLS_POP_BLS12381G1_XMD:SHA-256_SSWU_RO_POP_"},
}

func (s Scheme) suite() (*suite, error) {
	if int(s) >= len(suites) {
		return nil, errScheme
	}
	return &suites[s], nil
}

// String returns the name of s.
func (s Scheme) String() string {
	if u, err := s.suite(); err == nil {
		return u.name
	}
	return fmt.Sprintf("Scheme(%d)", uint8(s))
}

// Ciphersuite returns the draft's name of the scheme's ciphersuite, which is also
// the domain separation tag of its signatures. It is empty for an unknown scheme.
func (s Scheme) Ciphersuite() string {
	if u, err := s.suite(); err == nil {
		return u.dst
	}
	return ""
}

// text returns what is hashed when msg is signed by key.
func (u *suite) text(key point, msg []byte) []byte {
	if u.kind != Augmented {
		return msg
	}
	return append(key.bytes(), msg...)
}

// hash maps a text to the group of signatures.
func (u *suite) hash(text []byte, dst string) point { return hashTo(!u.minSig, dst, text) }

// key returns the point of a key of the suite.
func (u *suite) key(k *PublicKey) (point, error) {
	if k == nil || k.p.empty() {
		return point{}, errNoKey
	}
	if k.p.inG2() != u.minSig {
		return point{}, errVariant
	}
	return k.p, nil
}

// sig returns the point of a signature of the suite.
func (u *suite) sig(s *Signature) (point, error) {
	if s == nil || s.p.empty() {
		return point{}, errNoSig
	}
	if s.p.inG2() == u.minSig {
		return point{}, errVariant
	}
	return s.p, nil
}
