// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package threshold

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"connectrpc.com/connect"

	"github.com/undersign/undersign/internal/audit"
	"github.com/undersign/undersign/internal/failpoint"
	"github.com/undersign/undersign/internal/policy"
	"github.com/undersign/undersign/internal/store"
	"github.com/undersign/undersign/thresholdrsa"
)

// keepShares is how long a signature share is kept to be given out again. Made anew
// after that, it is the same but for its proof.
const keepShares = 7 * 24 * time.Hour

// What is being signed or waits for a processor, in all and of one party: it goes on when
// those who asked are gone.
const (
	maxFlights        = 1024
	maxFlightsOfParty = 128
)

// slotsPerProcessor shares are between their two records at a time: while one batch is
// signed another one comes together, and others are being recorded. See gatherer.
const slotsPerProcessor = 24

// A flight is a signature share that is being made.
type flight struct {
	party string // who asked first
	done  chan struct{}
	share []byte
	err   error
}

// codeLater is what a node answers that will have the share in a moment.
const codeLater = connect.CodeAborted

// errPending says until when a request waits for a person.
type errPending struct{ until time.Time }

func (e *errPending) Error() string {
	return "threshold: waits for approval until " + e.until.UTC().Format(time.RFC3339)
}

// readRequest reads a request and checks that it is about the key that the policy has
// decided about.
func readRequest(data []byte, name string) (*thresholdrsa.Request, error) {
	r := new(thresholdrsa.Request)
	if err := r.UnmarshalBinary(data); err != nil {
		return nil, invalidf("%w", err)
	}
	if name == "" {
		return nil, invalidf("threshold: the call names no key")
	}
	return r, nil
}

// held returns the key that a request is for.
func (s *Service) held(r *thresholdrsa.Request, name string) (*key, error) {
	k := s.keys.get(r.KeyID())
	if k == nil {
		if k = s.keys.named(name); k == nil {
			return nil, connect.NewError(connect.CodeNotFound, errors.New("threshold: the node doesn't know the key"))
		}
		// A node that came later doesn't know what was before. See Key.
		if record, _ := k.state(); r.Epoch() < record.Epoch() {
			return nil, encodeError(ErrSuperseded)
		}
		// Or it is about to learn of it: those who ask have finished a ceremony already.
		code := connect.CodeNotFound
		if record, _ := k.state(); r.Epoch() > record.Epoch() {
			code = codeLater
		}
		return nil, connect.NewError(code, fmt.Errorf("threshold: the node doesn't know epoch %d of the key", r.Epoch()))
	}
	if k.policy != name {
		return nil, invalidf("threshold: the request is for another key than the one that the call names")
	}
	return k, nil
}

// share returns this node's share of a request. party is who asks; with approve a person
// has to agree, for whom it waits no longer than wait.
func (s *Service) share(ctx context.Context, party string, k *key, r *thresholdrsa.Request, approve bool, wait time.Duration) ([]byte, error) {
	record, index := k.state()
	if record.ID() != r.KeyID() {
		if r.Epoch() > record.Epoch() {
			return nil, connect.NewError(codeLater, fmt.Errorf("threshold: the node is still at epoch %d of the key", record.Epoch()))
		}
		return nil, ErrSuperseded
	}
	if index == 0 {
		return nil, connect.NewError(connect.CodeNotFound, errors.New("threshold: the node holds no share of the key"))
	}
	if k.isUnsure() {
		return nil, errUnsure
	}
	// A share that is there already was made for somebody; that it needed no person then
	// doesn't mean that it needs none now.
	if approve {
		if err := s.approved(ctx, party, k.policy, r, wait); err != nil {
			return nil, err
		}
	}
	id := r.ID()
	if data, ok, err := s.storedShare(id); err != nil || ok {
		return data, err
	}

	// Whoever asks for the same at the same time gets the same.
	s.mu.Lock()
	f := s.flights[id]
	if f == nil && (len(s.flights) >= maxFlights || s.flying(party) >= maxFlightsOfParty) {
		s.mu.Unlock()
		return nil, &policy.LimitError{Call: policy.Call{Party: party, Operation: "threshold.share", Key: k.policy}, After: time.Second}
	}
	if f == nil {
		f = &flight{party: party, done: make(chan struct{})}
		s.flights[id] = f
		s.running.Add(1)
		go func() {
			defer s.running.Done()
			f.share, f.err = s.makeShare(party, k, r)
			s.mu.Lock()
			delete(s.flights, id)
			s.mu.Unlock()
			close(f.done)
		}()
	}
	s.mu.Unlock()
	select {
	case <-f.done:
		return f.share, f.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// flying returns how many shares are being made for a party. s.mu is held.
func (s *Service) flying(party string) (n int) {
	for _, f := range s.flights {
		if f.party == party {
			n++
		}
	}
	return n
}

// makeShare uses the share: a record before, and one after what was made is stored. It
// isn't interrupted, so that both are there.
func (s *Service) makeShare(party string, k *key, r *thresholdrsa.Request) ([]byte, error) {
	s.slots <- struct{}{}
	defer func() { <-s.slots }()
	id := r.ID()
	if data, ok, err := s.storedShare(id); err != nil || ok {
		return data, err // it was made while this one waited
	}
	action, err := s.opt.Audit.Begin(audit.Entry{
		Party: party, Operation: "threshold.share", Key: k.policy, Subject: hex.EncodeToString(r.Digest()),
		Detail: fmt.Sprintf("request %x, epoch %d, %s with %v", id, r.Epoch(), r.Padding(), r.Hash()),
	})
	if err != nil {
		return nil, err
	}
	data, err := s.useShare(k, r)
	if err != nil {
		if e := action.End(audit.Failed, err.Error()); e != nil {
			return nil, e
		}
		return nil, err
	}
	if err := failpoint.Hit("threshold.stored"); err != nil {
		return nil, err
	}
	return data, action.End(audit.OK, "")
}

func (s *Service) useShare(k *key, r *thresholdrsa.Request) ([]byte, error) {
	if err := failpoint.Hit("threshold.begun"); err != nil {
		return nil, err
	}
	share, err := k.sign(r)
	if err != nil {
		return nil, signError(err)
	}
	data, err := share.MarshalBinary()
	if err != nil {
		return nil, err
	}
	if err := failpoint.Hit("threshold.signed"); err != nil {
		return nil, err
	}
	id := r.ID()
	now := s.opt.Now()
	err = s.opt.Store.Update(func(tx *store.Tx) error {
		if _, err := tx.Exec("DELETE FROM threshold_share WHERE made < ?", now.Add(-keepShares).UnixMilli()); err != nil {
			return err
		}
		_, err := tx.Exec("INSERT OR IGNORE INTO threshold_share (request, share, made) VALUES (?, ?, ?)", id[:], data, now.UnixMilli())
		return err
	})
	return data, err
}

// signError says what a share's refusal means to the caller.
func signError(err error) error {
	var key *thresholdrsa.KeyError
	if errors.As(err, &key) { // a ceremony came in between
		return ErrSuperseded
	}
	if errors.Is(err, errUnsure) {
		return err
	}
	return invalidf("%w", err)
}

func (s *Service) storedShare(id [32]byte) (data []byte, ok bool, err error) {
	err = s.opt.Store.View(func(tx *store.Tx) error {
		var share []byte
		ok, err = tx.Row([]any{&share}, "SELECT share FROM threshold_share WHERE request = ?", id[:])
		data = bytes.Clone(share)
		return err
	})
	return data, ok, err
}

// approved returns nil once a person has approved a request.
func (s *Service) approved(ctx context.Context, party, keyName string, r *thresholdrsa.Request, wait time.Duration) error {
	a, fresh, err := s.approvals.ask(party, keyName, r)
	if err != nil {
		return err
	}
	if fresh {
		err := s.opt.Audit.Event(audit.Entry{
			Party: party, Operation: "threshold.share", Key: keyName, Subject: hex.EncodeToString(r.Digest()),
			Detail: fmt.Sprintf("request %x waits for a person", a.id),
		}, "")
		if err != nil {
			return err
		}
		s.opt.Log.Info("a request waits for approval", "request", hex.EncodeToString(a.id[:8]), "party", party, "key", keyName)
	}
	if a.state == waiting {
		if a, err = s.approvals.wait(ctx, a, s.opt.Now().Add(wait)); err != nil {
			return err
		}
	}
	switch a.state {
	case approved:
		return nil
	case rejected:
		return &RejectedError{a.reason}
	}
	return &errPending{a.expires}
}
