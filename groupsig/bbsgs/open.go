// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package bbsgs

import (
	"crypto/ed25519"

	"github.com/undersign/undersign/groupsig/internal/bbs"
	"github.com/undersign/undersign/internal/transcript"
)

// An Opening says who made a signature, and proves it. If it names nobody, the issuer
// made a member that it didn't register, unless it shows that it did: its register's
// record under the opening's Value, which the opener didn't have or left out.
type Opening = bbs.Opening

// Open verifies a signature and says who made it. The proof is bound to a context,
// such as why the signature is opened, and a judge gives the same. Lists of revoked
// members play no part.
func (k *OpenerKey) Open(gk *GroupKey, register *Register, msg, sig []byte, opts VerifyOptions, context []byte) (*Opening, error) {
	return k.k.Open(gk.k, register, transcript.MessageOf(msg), sig, opts, context)
}

// CheckRecord is what an opener checks of a registration when it comes in, so as not
// to rely on the issuer. The key is the member's long-term key.
func (k *OpenerKey) CheckRecord(gk *GroupKey, r *Record, key ed25519.PublicKey) error {
	return k.k.CheckRecord(gk.k, r, key)
}

// VerifyOpening checks an opening as a judge does, who knows the long-term key of the
// member that it names. Such an opening can't be made for anybody else, not by issuer
// and opener together. For an opening that names nobody the key is nil.
func (k *GroupKey) VerifyOpening(msg, sig []byte, opts VerifyOptions, o *Opening, key ed25519.PublicKey, context []byte) error {
	return k.k.VerifyOpening(transcript.MessageOf(msg), sig, opts, o, key, context)
}

// RevocationList signs a list of revoked members. With tokens, of those who are revoked
// in the opener's register, it shows everybody all that they ever signed.
func (k *OpenerKey) RevocationList(gk *GroupKey, terms Terms, v Revoked) (*Revocation, error) {
	return k.k.RevocationList(gk.k, terms, v)
}
