// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package legacy

import (
	"context"
	"crypto/ed25519"
	"errors"
)

// A Scheme is one of the schemes of this package.
type Scheme interface {
	// Name returns what the scheme is called, such as "kty04".
	Name() string

	// Setup makes a group and the keys of its issuer and its opener. It searches for a
	// modulus, where there is one, for seconds of processor time or more.
	Setup(ctx context.Context, label string) (Group, error)

	// ParsePublicKey decodes a group's public key and checks the proofs in it.
	ParsePublicKey(data []byte) (Verifier, error)

	sealed()
}

// A Verifier verifies signatures of a group, and openings. It may be used by several
// goroutines.
type Verifier interface {
	// PublicKey returns the canonical encoding of the public key.
	PublicKey() []byte

	// ID returns the group's fingerprint.
	ID() [32]byte

	// SignatureSize returns the length of a signature.
	SignatureSize() int

	// Verify checks a signature on a message. The context is what the signer gave.
	Verify(msg, context, sig []byte) error

	// VerifyOpening checks that an opening of a signature is right, and that it names
	// who has registered with the key, and returns the name.
	VerifyOpening(msg, context, sig, opening []byte, key ed25519.PublicKey) (member string, err error)
}

// A Group has the keys of issuer and opener beside the public key, and their registers.
type Group interface {
	Verifier

	// Join runs the join protocol for a member with a long-term key.
	Join(member string, key ed25519.PrivateKey) (Member, error)

	// Open says who made a signature, and proves it. It verifies the signature first.
	Open(msg, context, sig []byte) (member string, opening []byte, err error)
}

// A Member signs for a group.
type Member interface {
	// Sign signs a message. The context may be nil.
	Sign(msg, context []byte) ([]byte, error)

	// MarshalBinary returns the encoding of the member's key, which is secret.
	MarshalBinary() ([]byte, error)

	// Wipe overwrites the key. The Member is of no use afterwards.
	Wipe()
}

// A Tracer is a Group that tells the signatures of a member whose trapdoor it reveals
// to itself. Groups of KTY04 are.
type Tracer interface {
	// Trace verifies a signature, and reports whether it is the member's.
	Trace(member string, msg, context, sig []byte) (bool, error)
}

// A Claimer is a Member that proves that a signature is its own. Members of groups of
// KTY04 are.
type Claimer interface {
	// Claim makes the proof, for what it is for. It doesn't verify the signature.
	Claim(sig, purpose []byte) ([]byte, error)
}

// A ClaimVerifier is a Verifier of claims.
type ClaimVerifier interface {
	// VerifyClaim checks the proof, and the signature, of which it shows a part only.
	VerifyClaim(msg, context, sig, purpose, claim []byte) error
}

var errNoMember = errors.New("legacy: no such member")

// Schemes returns all schemes, in the order of their years.
func Schemes() []Scheme {
	rsa := rsaSchemes()
	return []Scheme{rsa[0], rsa[1], clScheme{}, rsa[2]}
}
