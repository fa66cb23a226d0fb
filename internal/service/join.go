// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package service

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"connectrpc.com/connect"

	nodev1 "github.com/undersign/undersign/gen/undersign/node/v1"
	"github.com/undersign/undersign/gen/undersign/node/v1/nodev1connect"
	"github.com/undersign/undersign/internal/party"
	"github.com/undersign/undersign/internal/policy"
	"github.com/undersign/undersign/internal/roster"
	"github.com/undersign/undersign/internal/rpc"
)

// errShut is in the error about a node that proved its key and then ended the connection,
// as one does that knows nothing of the caller and has no invitation out. What TLS or HTTP
// say of it depends on who wrote first.
var errShut = errors.New("the node is there, and doesn't let this one in")

// Join uses an invitation for the party id, which listens at address, or doesn't if that
// is empty. Afterwards each knows the other: here it is called name, or what it calls itself
// if name is empty. Once more with the same invitation is allowed.
//
// What the other calls itself is its own choice, so it can't be a name that rules give
// rights to: for that somebody here has to say the name.
func Join(ctx context.Context, id *party.Identity, r *roster.Roster, rules []policy.Rule, token, name, address string) (m roster.Member, yourName string, err error) {
	inv, err := party.ParseInvitation(token)
	if err != nil {
		return m, "", err
	}
	if inv.Fingerprint == id.Fingerprint() {
		return m, "", errors.New("service: the invitation is this node's own")
	}
	// A name that won't do is better known before the invitation is used.
	if name != "" {
		if err := roster.CheckName(name); err != nil {
			return m, "", err
		}
		if other, ok := r.Find(name); ok && other.Fingerprint != inv.Fingerprint {
			return m, "", fmt.Errorf("%w: %s", roster.ErrName, name)
		}
	}
	peer := rpc.NewPeer(id, inv.Fingerprint, inv.Address)
	defer peer.Close()
	resp, err := nodev1connect.NewNodeServiceClient(peer.HTTP(), peer.URL(), peer.Options(64<<10)...).
		Join(ctx, &nodev1.JoinRequest{Secret: inv.Secret[:], Address: address})
	var coded *connect.Error
	if errors.As(err, &coded) && coded.Code() == connect.CodePermissionDenied {
		return m, "", roster.ErrInvitation
	}
	if err != nil && ctx.Err() == nil && peer.PublicKey() != nil && !connect.IsWireError(err) {
		return m, "", fmt.Errorf("service: %s: %w: %w", inv.Address, errShut, err)
	}
	if err != nil {
		return m, "", fmt.Errorf("service: %s: %w", inv.Address, err)
	}
	m = roster.Member{Key: peer.PublicKey(), Name: name, Address: inv.Address}
	if name == "" {
		m.Name = resp.Name
		known, _ := r.Lookup(inv.Fingerprint)
		if known.Name != m.Name && slices.ContainsFunc(rules, func(rule policy.Rule) bool { return slices.Contains(rule.Parties, m.Name) }) {
			return m, "", fmt.Errorf("%w: a rule names %s, as the other calls itself", roster.ErrName, m.Name)
		}
	}
	if err := r.Add(m); err != nil {
		return m, "", err
	}
	m, _ = r.Lookup(inv.Fingerprint)
	if roster.CheckName(resp.YourName) == nil { // it is shown to people
		yourName = resp.YourName
	}
	return m, yourName, nil
}
