// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package threshold

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"connectrpc.com/connect"

	thresholdv1 "github.com/undersign/undersign/gen/undersign/threshold/v1"
	"github.com/undersign/undersign/internal/audit"
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

// followTime bounds how long peers are asked for certificates.
const followTime = 3 * time.Second

// keyAnswer bounds what a peer may say of a key: hundreds of certificates, each of which
// holds a record.
func keyAnswer(record *thresholdrsa.PublicKey) int {
	data, err := record.MarshalBinary()
	if err != nil {
		return maxSmall
	}
	return min(4<<20+1024*len(data), MaxMessage)
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
	s.follow(ctx, k, record, epoch)
}

// follow asks peers for the certificates that lead on from a key's record until it is of an
// epoch, and reports whether it is a later one now. Who asks while others do waits with
// them: whatever is asked for, a peer's answers aren't held many times.
func (s *Service) follow(ctx context.Context, k *key, record *thresholdrsa.PublicKey, epoch uint64) bool {
	s.mu.Lock()
	done := s.follows[k]
	if done == nil {
		done = make(chan struct{})
		s.follows[k] = done
		s.running.Go(func() {
			s.askAll(k, record, epoch)
			s.mu.Lock()
			delete(s.follows, k)
			s.mu.Unlock()
			close(done)
		})
	}
	s.mu.Unlock()
	select {
	case <-done:
	case <-ctx.Done():
	}
	now, _ := k.state()
	return now.Epoch() > record.Epoch()
}

// askAll asks all peers at the same time, so that one that keeps silent doesn't keep this
// node from what others answer, and goes where their certificates lead.
func (s *Service) askAll(k *key, record *thresholdrsa.PublicKey, epoch uint64) {
	ctx, cancel := context.WithTimeout(s.ctx, followTime)
	id := record.ID()
	chains := make(chan []*thresholdrsa.Certificate)
	var group sync.WaitGroup
	defer group.Wait()
	defer cancel()
	peers := s.opt.Peers()
	for _, peer := range peers {
		group.Go(func() {
			var list []*thresholdrsa.Certificate
			if c, err := s.opt.Dial(peer, keyAnswer(record)); err == nil {
				resp, err := c.Key(ctx, &thresholdv1.KeyRequest{RecordId: id[:], Key: k.policy})
				if err == nil && len(resp.Certificates) > 0 {
					if _, list, err = Follow(record, resp.Certificates); err != nil {
						s.opt.Log.Warn("a node sent certificates that don't hold", "party", peer.Fingerprint, "error", err)
					}
				}
			}
			select {
			case chains <- list:
			case <-ctx.Done():
			}
		})
	}
	for range peers {
		select {
		case list := <-chains:
			if len(list) > 0 && !s.advance(k, list) {
				return
			}
		case <-ctx.Done():
			return
		}
		if now, _ := k.state(); now.Epoch() >= epoch {
			return
		}
	}
}

// advance goes where certificates lead that were verified, and reports whether it could.
func (s *Service) advance(k *key, list []*thresholdrsa.Certificate) bool {
	for _, c := range list {
		if err := s.keys.certify(k, c); err != nil {
			s.opt.Log.Error("can't store a certificate", "error", err)
			return false
		}
	}
	s.settle(k)
	if err := s.keys.advance(k); err != nil {
		s.opt.Log.Error("a certificate doesn't hold", "error", err)
		return false
	}
	return true
}

// settle ends the ceremonies at a share that certificates are there of, and records it if
// that gave the node another share, or took it away.
func (s *Service) settle(k *key) {
	before := k.shareRecord()
	if err := s.keys.settle(k); err != nil {
		s.opt.Log.Warn("the share is of an old epoch", "key", k.name, "error", err)
	}
	after := k.shareRecord()
	if after == before || after != nil && after.Equal(before) {
		return
	}
	detail := "the node has no share any more"
	if after != nil {
		detail = fmt.Sprintf("the node has a share of epoch %d", after.Epoch())
	}
	err := s.opt.Audit.Event(audit.Entry{Operation: "threshold.follow", Key: k.policy, Detail: detail + ", by a certificate"}, audit.OK)
	if err != nil {
		s.opt.Log.Error("can't record what became of a share", "key", k.name, "error", err)
	}
}

// shareRecord returns the record of the share if that is certain, or nil.
func (k *key) shareRecord() *thresholdrsa.PublicKey {
	k.mu.RLock()
	defer k.mu.RUnlock()
	if k.share == nil || k.share.Provisional() {
		return nil
	}
	return k.share.PublicKey()
}

// others is how long it is waited for the answers of other peers once there is a good one.
const others = 500 * time.Millisecond

// askForKey asks the others for the certificates that lead on from a record which this
// node never knew: it came later. It can't verify them, and the caller, who has the record,
// does; but those are best that lead to a record which this node knows. Of such it takes
// any one, so that a peer that is quick to answer with rubbish isn't always believed.
func (s *Service) askForKey(ctx context.Context, k *key, req *thresholdv1.KeyRequest) (*thresholdv1.KeyResponse, error) {
	ctx, cancel := context.WithTimeout(ctx, followTime)
	defer cancel()
	var mu sync.Mutex
	record, _ := k.state()
	var likely, other []*thresholdv1.KeyResponse
	var group sync.WaitGroup
	for _, peer := range s.opt.Peers() {
		group.Go(func() {
			c, err := s.opt.Dial(peer, keyAnswer(record))
			if err != nil {
				return
			}
			resp, err := c.Key(ctx, &thresholdv1.KeyRequest{RecordId: req.RecordId, Key: k.policy, Relayed: true})
			if err != nil {
				return
			}
			chained, known := s.chained([32]byte(req.RecordId), k, resp.Certificates)
			mu.Lock()
			defer mu.Unlock()
			switch {
			case known:
				if likely = append(likely, resp); len(likely) == 1 {
					time.AfterFunc(others, cancel)
				}
			case chained:
				other = append(other, resp)
			}
		})
	}
	group.Wait()
	if len(likely) == 0 {
		likely = other
	}
	if len(likely) == 0 {
		return nil, connect.NewError(connect.CodeNotFound, errors.New("threshold: no node that answers knows that epoch of the key"))
	}
	resp := likely[rand.IntN(len(likely))]
	return &thresholdv1.KeyResponse{Record: resp.Record, Certificates: resp.Certificates}, nil
}

// chained reports whether certificates, by what they say, lead on from a record, and by a
// record of k that this node knows.
func (s *Service) chained(id [32]byte, k *key, certificates [][]byte) (chained, known bool) {
	for _, data := range certificates {
		c := new(thresholdrsa.Certificate)
		if err := c.UnmarshalBinary(data); err != nil || c.Proposal().Parent() != id {
			return false, false
		}
		id = c.PublicKey().ID()
		known = known || s.keys.get(id) == k
	}
	return len(certificates) > 0, known
}
