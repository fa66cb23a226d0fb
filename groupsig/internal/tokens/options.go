// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package tokens

import "github.com/undersign/undersign/groupsig/internal/state"

// VerifyOptions are what a verifier demands. The zero value, or nil, is no context
// and no revocation.
type VerifyOptions struct {
	// Context must be what the signer gave.
	Context []byte

	// Revocation, if it isn't nil, is the list of revoked members. Then Now is the
	// time, in seconds since 1970, and MinNumber the highest number of a list that
	// the verifier has seen: a list that isn't in force, or is older, is refused.
	Revocation *List
	Now        int64
	MinNumber  uint64
}

// Check returns the options, which may be nil, if the list in them is fresh.
func (o *VerifyOptions) Check(g *Group) (VerifyOptions, error) {
	if o == nil {
		return VerifyOptions{}, nil
	}
	if o.Revocation != nil {
		if err := o.Revocation.Fresh(g, o.Now, o.MinNumber); err != nil {
			return VerifyOptions{}, err
		}
	}
	return *o, nil
}

// OpenOptions are what an opening is bound to beside the signature. The zero value,
// or nil, is nothing.
type OpenOptions struct {
	SignatureContext []byte // what the signer gave as Context
	Context          []byte // why the signature is opened, for instance
}

// NewBatchError returns a *[BatchError] of the errors that aren't nil, or nil.
func NewBatchError(errs []error) error { return state.NewBatchError(errs) }
