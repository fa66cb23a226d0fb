// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package threshold

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

	"connectrpc.com/connect"

	thresholdv1 "github.com/undersign/undersign/gen/undersign/threshold/v1"
	"github.com/undersign/undersign/internal/audit"
	"github.com/undersign/undersign/internal/store"
	"github.com/undersign/undersign/thresholdrsa"
)

// A node that was restored from a backup doesn't know what it did after that was made.
//
// The others may have new shares since, and then the old one mustn't be used: so no share
// is before K-1 other holders, one at least, say that they hold theirs of the same record,
// and nobody has a certificate that leads on.
//
// It may have acknowledged a successor of the record, and a second one could make the key
// fall apart into two sharings. So it takes no part in ceremonies that were begun before it
// was restored, except that it takes what has been committed; and in others only if a
// person joins at the node.
//
// Approvals count no more, since what a person has refused in the meantime is forgotten
// too; refusals stay. Shares of signatures that it has forgotten are made again, and are
// the same but for their proofs.

// partRestored is noted of a record, in the place of a ceremony: when the node was restored
// that held a share of it.
const partRestored = "restored"

var errUnsure = connect.NewError(codeLater, errors.New("threshold: the node was restored from a backup, and too few other holders have said yet that its share is current"))

// restore begins to deal with having been restored from a backup.
func (s *Service) restore() error {
	if s.opt.Restored == nil {
		return nil
	}
	pending, at, err := s.opt.Restored()
	if err != nil {
		return err
	}
	s.restoredAt = at
	if !pending {
		return nil
	}
	mark := strconv.AppendInt(nil, at.UnixMilli(), 10)
	err = s.opt.Store.Update(func(tx *store.Tx) error {
		fresh := int64(0)
		for _, k := range s.keys.all() {
			k.mu.Lock()
			k.unsure = k.share != nil
			k.mu.Unlock()
			record, _ := k.state()
			id := record.ID()
			n, err := tx.Exec(`INSERT INTO threshold_ceremony (id, part, value) VALUES (?, ?, ?)
				ON CONFLICT DO UPDATE SET value = excluded.value WHERE value != excluded.value`, id[:], partRestored, mark)
			if err != nil {
				return err
			}
			fresh += n
		}
		if fresh == 0 {
			return nil // this is done, and people have approved since
		}
		_, err := tx.Exec("DELETE FROM threshold_approval WHERE state != ?", rejected)
		return err
	})
	if err != nil {
		return err
	}
	s.running.Add(1)
	go s.confirm()
	return nil
}

// confirm asks other holders until all shares are known to be current, or not to be.
func (s *Service) confirm() {
	defer s.running.Done()
	for wait := 100 * time.Millisecond; ; wait = min(2*wait, 5*time.Second) {
		open := 0
		for _, k := range s.keys.all() {
			if k.isUnsure() && !s.confirmKey(k) {
				open++
			}
		}
		if open == 0 {
			if err := s.opt.Settled(); err != nil {
				s.opt.Log.Error("can't note that shares are current", "error", err)
			}
			return
		}
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-s.ctx.Done():
			timer.Stop()
			return
		}
	}
}

// confirmKey asks all others about a key once, and reports whether it is known now if the
// share is current.
func (s *Service) confirmKey(k *key) bool {
	record, index := k.state()
	if index == 0 { // it can't sign anyway
		k.setSure()
		return true
	}
	holders, certificates := s.inquire(k, record, index)
	for _, c := range certificates {
		if err := s.keys.certify(k, c); err != nil {
			s.opt.Log.Error("can't store a certificate", "error", err)
			return false
		}
		s.settle(k)
	}
	if len(certificates) > 0 {
		if err := s.keys.advance(k); err != nil {
			s.opt.Log.Error("a certificate doesn't hold", "error", err)
		}
		return false // and what holds now is the next question
	}
	need := min(max(record.Threshold()-1, 1), record.NumHolders()-1)
	if holders < need {
		s.opt.Log.Warn("restored from a backup: too few holders say that the share is current", "key", k.name, "answers", holders, "needed", need)
		return false
	}
	err := s.opt.Audit.Event(audit.Entry{
		Operation: "threshold.restored", Key: k.policy,
		Detail: fmt.Sprintf("the share of epoch %d is used again: %d others hold theirs", record.Epoch(), holders),
	}, audit.OK)
	if err != nil {
		return false
	}
	k.setSure()
	return true
}

// inquire returns how many others hold shares of a record, and the certificates that lead
// on from it, if anybody has them.
func (s *Service) inquire(k *key, record *thresholdrsa.PublicKey, index int) (holders int, certificates []*thresholdrsa.Certificate) {
	ctx, cancel := context.WithTimeout(s.ctx, 5*time.Second)
	defer cancel()
	id := record.ID()
	indices := map[int]bool{}
	var mu sync.Mutex
	var group sync.WaitGroup
	for _, peer := range s.opt.Peers() {
		group.Go(func() {
			c, err := s.opt.Dial(peer, keyAnswer(record))
			if err != nil {
				return
			}
			resp, err := c.Key(ctx, &thresholdv1.KeyRequest{RecordId: id[:], Key: k.policy, Relayed: true})
			if err != nil {
				return
			}
			var list []*thresholdrsa.Certificate
			if len(resp.Certificates) > 0 {
				if _, list, err = Follow(record, resp.Certificates); err != nil {
					s.opt.Log.Warn("a node sent certificates that don't hold", "party", peer.Fingerprint, "error", err)
					return
				}
			}
			mu.Lock()
			defer mu.Unlock()
			if len(list) > len(certificates) {
				certificates = list
			}
			if i := int(resp.Index); len(list) == 0 && i >= 1 && i <= record.NumHolders() && i != index {
				indices[i] = true
			}
		})
	}
	group.Wait()
	return len(indices), certificates
}

func (k *key) isUnsure() bool {
	k.mu.RLock()
	defer k.mu.RUnlock()
	return k.unsure
}

func (k *key) setSure() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.unsure = false
}

// Unsure returns the names of keys of which the node doesn't use its share, since it was
// restored from a backup and too few others have said that it is current.
func (s *Service) Unsure() (names []string) {
	for _, k := range s.keys.all() {
		if k.isUnsure() {
			names = append(names, k.name)
		}
	}
	return names
}

// mayStep returns an error if the node, since it was restored, mustn't take a step of a
// ceremony that isn't committed.
func (t *task) mayStep() error {
	if t.key != nil && t.me.Old != 0 && t.key.isUnsure() {
		return errUnsure
	}
	if !t.s.restoredAt.IsZero() && !t.p.Made.After(t.s.restoredAt) {
		return connect.NewError(connect.CodeFailedPrecondition, errors.New("threshold: the node was restored from a backup after the ceremony began: begin another one"))
	}
	return nil
}

// restoredHolder reports whether the node had a share of a record when it was restored from
// a backup.
func (s *Service) restoredHolder(record [32]byte) (bool, error) {
	mark, err := s.part(record, partRestored)
	return mark != nil, err
}
