// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package load

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/undersign/undersign/bls"
	"github.com/undersign/undersign/distill"
	aggregatev1 "github.com/undersign/undersign/gen/undersign/aggregate/v1"
	"github.com/undersign/undersign/gen/undersign/aggregate/v1/aggregatev1connect"
	"github.com/undersign/undersign/internal/bls12381"
	"github.com/undersign/undersign/internal/party"
	"github.com/undersign/undersign/internal/rpc"
	"github.com/undersign/undersign/keyfile"
)

// A registrar registers identities, an entry of the directory after another.
type registrar struct {
	genesis   *distill.Genesis
	keys      *keys
	self      *party.Identity
	directory aggregatev1connect.DirectoryServiceClient
	validator aggregatev1connect.ValidatorServiceClient
}

// underWay is how many entries are made and verified at a time: while the directory works on
// some, the next ones are signed.
const underWay = 4

// Register registers identities from one to another, exclusively, with a validator that
// is a directory, and returns their ids, in the order of the identities. After an error they
// are those of the first ones: who is registered already gets the same id again.
func Register(ctx context.Context, self *keyfile.PartyKey, genesis *distill.Genesis, fingerprint, address, seed string, from, to int, progress func(done int)) ([]uint64, error) {
	id, err := party.NewIdentity(self)
	if err != nil {
		return nil, err
	}
	peer := rpc.NewPeer(id, fingerprint, address)
	defer peer.Close()
	r := &registrar{
		genesis: genesis, keys: newKeys(seed), self: id,
		directory: aggregatev1connect.NewDirectoryServiceClient(peer.HTTP(), peer.URL(), peer.Options(0)...),
		validator: aggregatev1connect.NewValidatorServiceClient(peer.HTTP(), peer.URL(), peer.Options(0)...),
	}
	parts := make([][]uint64, (to-from+distill.MaxChanges-1)/distill.MaxChanges)
	errs := make([]error, len(parts))
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var mu sync.Mutex
	var group sync.WaitGroup
	var next atomic.Int64
	done := from
	for range underWay {
		group.Go(func() {
			for {
				i := int(next.Add(1)) - 1
				if i >= len(parts) || ctx.Err() != nil {
					return
				}
				at := from + i*distill.MaxChanges
				end := min(at+distill.MaxChanges, to)
				if parts[i], errs[i] = r.register(ctx, at, end); errs[i] != nil {
					cancel()
					return
				}
				mu.Lock()
				done += end - at
				if progress != nil {
					progress(done)
				}
				mu.Unlock()
			}
		})
	}
	group.Wait()
	var ids []uint64
	for i := range parts {
		if parts[i] == nil {
			// One error ends the others.
			for _, err := range errs {
				if err != nil && !errors.Is(err, context.Canceled) {
					return ids, err
				}
			}
			return ids, errors.Join(append(errs, ctx.Err())...)
		}
		ids = append(ids, parts[i]...)
	}
	return ids, nil
}

// register registers the identities of one entry.
func (r *registrar) register(ctx context.Context, from, to int) ([]uint64, error) {
	head, err := r.validator.Head(ctx, &aggregatev1.HeadRequest{})
	if err != nil {
		return nil, rpc.DecodeError(r.self.Fingerprint(), err)
	}
	var h distill.Hgt
	if err := h.UnmarshalBinary(head.GetHgt()); err != nil {
		return nil, err
	}
	e := distill.DirectoryEntry{Net: r.genesis.ID(), Changes: make([]distill.Change, to-from)}
	var group sync.WaitGroup
	var next atomic.Int64
	for range runtime.GOMAXPROCS(0) {
		group.Go(func() {
			for i := int(next.Add(1)) - 1; i < len(e.Changes) && ctx.Err() == nil; i = int(next.Add(1)) - 1 {
				e.Changes[i] = r.keys.registration(e.Net, from+i, h.Height+r.genesis.Params.MaxAhead/2)
			}
		})
	}
	group.Wait()
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	resp, err := r.directory.Register(ctx, &aggregatev1.RegisterRequest{Entry: e.Bytes()})
	if err != nil {
		return nil, rpc.DecodeError(r.self.Fingerprint(), err)
	}
	if len(resp.GetChanges()) != len(e.Changes) {
		return nil, fmt.Errorf("load: %d answers to %d registrations", len(resp.GetChanges()), len(e.Changes))
	}
	var ids []uint64
	for i, c := range resp.GetChanges() {
		if c.GetRule() != 0 {
			return nil, fmt.Errorf("load: identity %d isn't registered: %s", from+i, distill.Rule(min(c.GetRule(), 255)))
		}
		ids = append(ids, c.GetId())
	}
	return ids, nil
}

// registration returns what [distill.Register] does for an identity, for less, as its keys
// are short and protect nothing.
func (k *keys) registration(net distill.NetworkID, i int, notAfter uint64) distill.Change {
	sk, ed := k.scalar(i), k.ed(i)
	sign := func(msg []byte, suite string) [bls.SignatureSize]byte {
		p := new(bls12381.G2).HashVarTime(msg, []byte(suite))
		return [bls.SignatureSize]byte(p.ScalarMultVarTime(sk, p).Bytes())
	}
	c := distill.Change{Kind: distill.ChangeRegister, NotAfter: notAfter, EdKey: [32]byte(ed.Public().(ed25519.PublicKey))}
	c.BLSKey = [bls.PublicKeySize]byte(new(bls12381.G1).ScalarBaseMult(sk).Bytes())
	c.Proof = sign(c.BLSKey[:], popSuite)
	reg := distill.Reg{Net: net, BLSKey: c.BLSKey, EdKey: c.EdKey, NotAfter: notAfter}
	digest := reg.Digest()
	c.BLSSig = sign(digest[:], bls.ProofOfPossession.Ciphersuite())
	c.EdSig = [64]byte(ed25519.Sign(ed, reg.Bytes()))
	return c
}
