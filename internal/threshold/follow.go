// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package threshold

import (
	"context"
	"errors"
	"sync"
	"time"

	"connectrpc.com/connect"

	thresholdv1 "github.com/undersign/undersign/gen/undersign/threshold/v1"
	"github.com/undersign/undersign/thresholdrsa"
)

// Follow verifies the certificates that lead from a record that is trusted to a later
// one, and returns that.
func Follow(from *thresholdrsa.PublicKey, certificates [][]byte) (*thresholdrsa.PublicKey, []*thresholdrsa.Certificate, error) {
	var list []*thresholdrsa.Certificate
	for _, data := range certificates {
		c := new(thresholdrsa.Certificate)
		if err := c.UnmarshalBinary(data); err != nil {
			return nil, nil, err
		}
		next, err := c.Verify(from, nil)
		if err != nil {
			return nil, nil, err
		}
		from, list = next, append(list, c)
	}
	if len(list) == 0 {
		return nil, nil, errors.New("threshold: no certificate leads on from the record")
	}
	return from, list, nil
}

// catchUp asks all peers for certificates if a request is of a later epoch than this node,
// which only coordinates, has heard of.
func (s *Service) catchUp(ctx context.Context, r *thresholdrsa.Request, name string) {
	s.learn(ctx, name, r.KeyID(), r.Epoch())
}

// learn asks all peers for what leads to a later record of a key than this node knows, if
// it holds no share of the last that it knows.
func (s *Service) learn(ctx context.Context, name string, id [32]byte, epoch uint64) {
	k := s.keys.named(name)
	if k == nil || s.keys.get(id) != nil {
		return
	}
	record, index := k.state()
	if index != 0 || epoch <= record.Epoch() {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, 3*time.Second)
	defer cancel()
	var all []*source
	for _, peer := range s.opt.Peers() {
		all = append(all, &source{party: peer.Fingerprint})
	}
	s.follow(ctx, k, record, all)
}

// follow asks nodes that have a later epoch for the certificates, and reports whether the
// key's record is a later one now.
func (s *Service) follow(ctx context.Context, k *key, record *thresholdrsa.PublicKey, stale []*source) bool {
	id := record.ID()
	for _, src := range stale {
		for _, peer := range s.opt.Peers() {
			if peer.Fingerprint != src.party {
				continue
			}
			c, err := s.opt.Dial(peer, MaxMessage)
			if err != nil {
				continue
			}
			resp, err := c.Key(ctx, &thresholdv1.KeyRequest{RecordId: id[:], Key: k.policy})
			if err != nil {
				continue
			}
			_, list, err := Follow(record, resp.Certificates)
			if err != nil {
				s.opt.Log.Warn("a node sent certificates that don't hold", "party", peer.Fingerprint, "error", err)
				continue
			}
			for _, c := range list {
				if err = s.keys.certify(k, c); err != nil {
					s.opt.Log.Error("can't store a certificate", "error", err)
					return false
				}
			}
			if err := s.keys.settle(k); err != nil {
				s.opt.Log.Warn("the share is of an old epoch", "key", k.name, "error", err)
			}
			if err := s.keys.advance(k); err != nil {
				s.opt.Log.Error("a certificate doesn't hold", "error", err)
				return false
			}
			return true
		}
	}
	return false
}

// askForKey asks the others for the certificates that lead on from a record which this
// node never knew: it came later. The caller, who has the record, verifies them.
func (s *Service) askForKey(ctx context.Context, k *key, req *thresholdv1.KeyRequest) (*thresholdv1.KeyResponse, error) {
	ctx, cancel := context.WithTimeout(ctx, 3*time.Second)
	defer cancel()
	peers := s.opt.Peers()
	found := make(chan *thresholdv1.KeyResponse, len(peers))
	var wg sync.WaitGroup
	for _, peer := range peers {
		wg.Go(func() {
			c, err := s.opt.Dial(peer, MaxMessage)
			if err != nil {
				return
			}
			resp, err := c.Key(ctx, &thresholdv1.KeyRequest{RecordId: req.RecordId, Key: k.policy, Relayed: true})
			if err == nil && len(resp.Certificates) > 0 {
				found <- resp
				cancel() // the others aren't needed
			}
		})
	}
	wg.Wait()
	select {
	case resp := <-found:
		return &thresholdv1.KeyResponse{Record: resp.Record, Certificates: resp.Certificates}, nil
	default:
		return nil, connect.NewError(connect.CodeNotFound, errors.New("threshold: no node that answers knows that epoch of the key"))
	}
}
