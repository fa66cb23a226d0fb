// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package client

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"time"

	"github.com/undersign/undersign/bls"
	"github.com/undersign/undersign/distill"
	aggregatev1 "github.com/undersign/undersign/gen/undersign/aggregate/v1"
	"github.com/undersign/undersign/gen/undersign/aggregate/v1/aggregatev1connect"
	"github.com/undersign/undersign/internal/party"
	"github.com/undersign/undersign/internal/rpc"
	"github.com/undersign/undersign/keyfile"
)

// A Directory is a network's directory of clients, by way of validators that take changes
// of it. What one of them says may be a lie, and so a change counts as made when so many
// say so that one of them is honest.
type Directory struct {
	// Key is the party's that the nodes know.
	Key     *keyfile.PartyKey
	Genesis *distill.Genesis
	// Validators are asked one after the other, as far as they have addresses.
	Validators []Validator
	// Quorum is how many have to agree, if that isn't F+1. One is enough that is one's own.
	Quorum int
}

// A ChangeError says that validators have refused a change, and by which rule.
type ChangeError struct {
	Rule distill.Rule
}

func (e *ChangeError) Error() string {
	return "client: the directory wasn't changed: " + e.Rule.String()
}

// changeTime is how long one validator has for a change.
const changeTime = 30 * time.Second

// Rotate gives a client new keys, by its old Ed25519 key. Called again with the same keys, it
// finds that they are the client's. Until it has returned without an error the old keys must
// be kept.
func (d *Directory) Rotate(ctx context.Context, id uint64, old ed25519.PrivateKey, sk *bls.SecretKey, ed ed25519.PrivateKey) (*Registration, error) {
	var r *Registration
	err := d.confirm(ctx, func(ctx context.Context, n *directoryNode) error {
		for {
			version, err := n.version(ctx)
			if err != nil {
				return err
			}
			c, err := distill.Rotate(n.net, id, version, old, sk, ed)
			if err != nil {
				return err
			}
			change, err := n.change(ctx, c)
			if e, ok := errors.AsType[*ChangeError](err); ok && e.Rule == distill.RuleStaleChange {
				// The validator hasn't seen yet what another has: it will.
				if pause(ctx, 200*time.Millisecond) == nil {
					continue
				}
			}
			if err != nil {
				return err
			}
			if change.GetId() != id {
				return fmt.Errorf("client: the keys are those of client %d", change.GetId())
			}
			// The least, for one that is too large would keep the client from signing.
			if r == nil || change.GetVersion() < r.Since {
				r = &Registration{id, change.GetVersion()}
			}
			return nil
		}
	})
	if err != nil {
		return nil, err
	}
	return r, nil
}

// Revoke takes a client's keys away for ever, by its own Ed25519 key. It can be called again.
func (d *Directory) Revoke(ctx context.Context, id uint64, ed ed25519.PrivateKey) error {
	return d.confirm(ctx, func(ctx context.Context, n *directoryNode) error {
		for {
			version, err := n.version(ctx)
			if err != nil {
				return err
			}
			_, err = n.change(ctx, distill.Revoke(n.net, id, version, ed))
			e, ok := errors.AsType[*ChangeError](err)
			if ok && e.Rule == distill.RuleUnknownID {
				return nil // it has none any more
			}
			if ok && e.Rule == distill.RuleStaleChange && pause(ctx, 200*time.Millisecond) == nil {
				continue
			}
			return err
		}
	})
}

// Remove takes a client's keys away for ever, as F+1 validators want who have signed the
// [distill.Rvk] of a version. That the client isn't known, or not any more, is an error.
func (d *Directory) Remove(ctx context.Context, id, version uint64, cert *distill.Certificate) error {
	return d.confirm(ctx, func(ctx context.Context, n *directoryNode) error {
		_, err := n.change(ctx, distill.Remove(id, version, cert))
		return err
	})
}

// Version returns the directory's version, as the first validator says that answers.
func (d *Directory) Version(ctx context.Context) (version uint64, err error) {
	one := *d
	one.Quorum = 1
	err = one.confirm(ctx, func(ctx context.Context, n *directoryNode) (err error) {
		version, err = n.version(ctx)
		return err
	})
	return version, err
}

func pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}

// confirm asks validators until enough have said yes.
func (d *Directory) confirm(ctx context.Context, ask func(context.Context, *directoryNode) error) error {
	id, err := party.NewIdentity(d.Key)
	if err != nil {
		return err
	}
	need := d.Quorum
	if need == 0 {
		need = d.Genesis.Quorum()
	}
	var errs []error
	good := 0
	for i, v := range d.Validators {
		if v.Address == "" || good >= need {
			continue
		}
		err := func() error {
			peer := rpc.NewPeer(id, v.Fingerprint, v.Address)
			defer peer.Close()
			ctx, cancel := context.WithTimeout(ctx, changeTime)
			defer cancel()
			n := &directoryNode{
				net:       d.Genesis.ID(),
				validator: aggregatev1connect.NewValidatorServiceClient(peer.HTTP(), peer.URL(), peer.Options(0)...),
				directory: aggregatev1connect.NewDirectoryServiceClient(peer.HTTP(), peer.URL(), peer.Options(0)...),
			}
			return rpc.DecodeError(id.Fingerprint(), ask(ctx, n))
		}()
		if err == nil {
			good++
			continue
		}
		errs = append(errs, fmt.Errorf("validator %d: %w", i, err))
		if ctx.Err() != nil {
			break
		}
	}
	if good >= need {
		return nil
	}
	if len(errs) == 1 && need == 1 {
		return errors.Unwrap(errs[0])
	}
	return fmt.Errorf("client: %d validators agree, and %d must: %w", good, need, errors.Join(errs...))
}

// A directoryNode is a validator that is asked.
type directoryNode struct {
	net       distill.NetworkID
	validator aggregatev1connect.ValidatorServiceClient
	directory aggregatev1connect.DirectoryServiceClient
}

// version returns the directory's version there.
func (n *directoryNode) version(ctx context.Context) (uint64, error) {
	h, err := n.head(ctx)
	return h.Dirver, err
}

func (n *directoryNode) head(ctx context.Context) (h distill.Hgt, err error) {
	resp, err := n.validator.Head(ctx, &aggregatev1.HeadRequest{})
	if err != nil {
		return h, err
	}
	if err := h.UnmarshalBinary(resp.GetHgt()); err != nil {
		return h, err
	}
	if h.Net != n.net {
		return h, errors.New("client: the node is of another network")
	}
	return h, nil
}

// change has one change made.
func (n *directoryNode) change(ctx context.Context, c *distill.Change) (*aggregatev1.Change, error) {
	e := distill.DirectoryEntry{Net: n.net, Changes: []distill.Change{*c}}
	data := e.Bytes()
	var list []*aggregatev1.Change
	switch c.Kind {
	case distill.ChangeRegister:
		resp, err := n.directory.Register(ctx, &aggregatev1.RegisterRequest{Entry: data})
		if err != nil {
			return nil, err
		}
		list = resp.GetChanges()
	case distill.ChangeRotate:
		resp, err := n.directory.Rotate(ctx, &aggregatev1.RotateRequest{Entry: data})
		if err != nil {
			return nil, err
		}
		list = resp.GetChanges()
	default:
		resp, err := n.directory.Revoke(ctx, &aggregatev1.RevokeRequest{Entry: data})
		if err != nil {
			return nil, err
		}
		list = resp.GetChanges()
	}
	if len(list) != 1 {
		return nil, errors.New("client: not one answer")
	}
	if r := list[0].GetRule(); r != 0 {
		return nil, &ChangeError{distill.Rule(min(r, 255))}
	}
	if list[0].GetVersion() == 0 {
		// The first version is that without changes.
		return nil, errors.New("client: the node says neither that the directory was changed nor why it wasn't")
	}
	return list[0], nil
}
