// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package hlccn11

import (
	"github.com/undersign/undersign/groupsig/internal/sdh"
	"github.com/undersign/undersign/internal/transcript"
)

// A Signed is a signature with what it is verified by.
type Signed struct {
	Message, Signature, Context []byte
	Key                         *GroupKey // of the version that it is of, nil if it is the one that is asked
}

func signed(set []Signed) []sdh.Signed {
	out := make([]sdh.Signed, len(set))
	for i, s := range set {
		out[i] = sdh.Signed{Message: transcript.MessageOf(s.Message), Context: s.Context, Signature: s.Signature}
		if s.Key != nil {
			out[i].Key = s.Key.k
		}
	}
	return out
}

// Tag verifies a signature, and returns what all signatures of one member have in common,
// and no others. Tags are the linker's secret.
func (k *LinkerKey) Tag(gk *GroupKey, s Signed) ([]byte, error) {
	return k.k.Tag(gk.k, signed([]Signed{s})[0])
}

// ProveLink proves to anyone that one member made all signatures of a set, without saying
// which one. It is an error if they are of several.
func (k *LinkerKey) ProveLink(gk *GroupKey, set []Signed, context []byte) ([]byte, error) {
	return k.k.ProveLink(gk.k, signed(set), context)
}

// VerifyLink checks the proof, and the signatures.
func (k *GroupKey) VerifyLink(set []Signed, context, link []byte) error {
	return k.k.VerifyLink(signed(set), context, link)
}
