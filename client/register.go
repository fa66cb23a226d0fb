// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package client

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"

	"github.com/undersign/undersign/bls"
	"github.com/undersign/undersign/distill"
	aggregatev1 "github.com/undersign/undersign/gen/undersign/aggregate/v1"
	"github.com/undersign/undersign/gen/undersign/aggregate/v1/aggregatev1connect"
	"github.com/undersign/undersign/internal/party"
	"github.com/undersign/undersign/internal/rpc"
	"github.com/undersign/undersign/keyfile"
)

// A Registration is what a directory says of a client that it has registered.
type Registration struct {
	ID    uint64
	Since uint64 // the version from which on the keys are the client's
}

// Register has a client's keys registered, by a validator that is a directory. It can be
// called again with the same keys, if the answer was lost.
func Register(ctx context.Context, key *keyfile.PartyKey, genesis *distill.Genesis, fingerprint, address string, sk *bls.SecretKey, ed ed25519.PrivateKey) (*Registration, error) {
	id, err := party.NewIdentity(key)
	if err != nil {
		return nil, err
	}
	peer := rpc.NewPeer(id, fingerprint, address)
	defer peer.Close()
	head, err := aggregatev1connect.NewValidatorServiceClient(peer.HTTP(), peer.URL(), peer.Options(0)...).Head(ctx, &aggregatev1.HeadRequest{})
	if err != nil {
		return nil, rpc.DecodeError(id.Fingerprint(), err)
	}
	var h distill.Hgt
	if err := h.UnmarshalBinary(head.GetHgt()); err != nil {
		return nil, err
	}
	if h.Net != genesis.ID() {
		return nil, errors.New("client: the node is of another network")
	}
	change, err := distill.Register(genesis.ID(), sk, ed, h.Height+genesis.Params.MaxAhead/2)
	if err != nil {
		return nil, err
	}
	e := distill.DirectoryEntry{Net: genesis.ID(), Changes: []distill.Change{*change}}
	resp, err := aggregatev1connect.NewDirectoryServiceClient(peer.HTTP(), peer.URL(), peer.Options(0)...).
		Register(ctx, &aggregatev1.RegisterRequest{Entry: e.Bytes()})
	if err != nil {
		return nil, rpc.DecodeError(id.Fingerprint(), err)
	}
	if len(resp.GetChanges()) != 1 {
		return nil, errors.New("client: not one answer")
	}
	c := resp.Changes[0]
	if c.GetRule() != 0 {
		return nil, fmt.Errorf("client: not registered: %s", distill.Rule(min(c.GetRule(), 255)))
	}
	return &Registration{c.GetId(), c.GetVersion()}, nil
}
