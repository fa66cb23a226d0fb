// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package hlccn11

import (
	"crypto/ed25519"

	"github.com/undersign/undersign/groupsig/internal/sdh"
	"github.com/undersign/undersign/internal/transcript"
)

// An Opening says who made a signature, and proves it. If it names nobody, the issuer
// made a member that it didn't register, unless it shows that it did: its register's
// record that FindRecord finds by the opening's Value, which the opener didn't have or
// left out. With [Rekey] others can make what opens to nobody, for which the error is
// [ErrUnknown].
type Opening = sdh.Opening

// Open verifies a signature and says who made it. The proof is bound to a reason, such as
// why the signature is opened, and a judge gives the same.
// The group's key is of the version that the signature was made in.
func (k *OpenerKey) Open(gk *GroupKey, register *Register, msg, sig, context, reason []byte) (*Opening, error) {
	return k.k.Open(gk.k, register, transcript.MessageOf(msg), context, sig, reason)
}

// CheckRecord is what an opener checks of a registration when it comes in, so as not
// to rely on the issuer. The key is the member's long-term key.
func (k *OpenerKey) CheckRecord(gk *GroupKey, r *Record, key ed25519.PublicKey) error {
	return k.k.CheckRecord(gk.k, r, key)
}

// FindRecord returns the record that an opening's Value is of, or nil.
func (k *GroupKey) FindRecord(register *Register, value []byte) *Record {
	return k.k.FindRecord(register, value)
}

// VerifyOpening checks an opening as a judge does, who knows the long-term key of the
// member that it names. Such an opening can't be made for anybody else, not by issuer
// and opener together. For an opening that names nobody the key is nil.
func (k *GroupKey) VerifyOpening(msg, sig, context []byte, o *Opening, key ed25519.PublicKey, reason []byte) error {
	return k.k.VerifyOpening(transcript.MessageOf(msg), context, sig, o, key, reason)
}
