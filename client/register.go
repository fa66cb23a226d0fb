// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package client

import (
	"context"
	"crypto/ed25519"

	"github.com/undersign/undersign/bls"
	"github.com/undersign/undersign/distill"
	"github.com/undersign/undersign/keyfile"
)

// A Registration is what a directory says of a client that it has registered.
type Registration struct {
	ID    uint64
	Since uint64 // the version from which on the keys are the client's
}

// Register has a client's keys registered, by a validator that is a directory. It can be
// called again with the same keys, if the answer was lost.
func Register(ctx context.Context, key *keyfile.PartyKey, genesis *distill.Genesis, fingerprint, address string, sk *bls.SecretKey, ed ed25519.PrivateKey) (r *Registration, err error) {
	d := &Directory{Key: key, Genesis: genesis, Validators: []Validator{{Fingerprint: fingerprint, Address: address}}, Quorum: 1}
	err = d.confirm(ctx, func(ctx context.Context, n *directoryNode) error {
		h, err := n.head(ctx)
		if err != nil {
			return err
		}
		change, err := distill.Register(genesis.ID(), sk, ed, h.Height+genesis.Params.MaxAhead/2)
		if err != nil {
			return err
		}
		c, err := n.change(ctx, change)
		if err == nil {
			r = &Registration{c.GetId(), c.GetVersion()}
		}
		return err
	})
	return r, err
}
