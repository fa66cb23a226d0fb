// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package threshold

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"sync"
	"time"

	"connectrpc.com/connect"

	"github.com/undersign/undersign/internal/policy"
	"github.com/undersign/undersign/internal/store"
	"github.com/undersign/undersign/thresholdrsa"
)

// States of an approval.
const (
	waiting  = 0
	approved = 1
	rejected = 2
)

// maxWaiting requests of one party wait at a time: what a person can look at is less.
const maxWaiting = 100

// An approval is a request that waits for a person, or of which one has decided.
type approval struct {
	id      [32]byte // of the request
	request []byte
	party   string // who asked first
	key     string
	asked   time.Time
	expires time.Time
	state   int
	reason  string
}

// approvals are a node's, in its store.
type approvals struct {
	store *store.Store
	now   func() time.Time
	valid time.Duration

	mu      sync.Mutex
	changed chan struct{} // closed at the next decision
}

func newApprovals(st *store.Store, now func() time.Time, valid time.Duration) *approvals {
	return &approvals{store: st, now: now, valid: valid, changed: make(chan struct{})}
}

const approvalColumns = "id, request, party, key, asked, expires, state, reason"

// scan returns the destinations of approvalColumns, and a function that makes an approval
// of them.
func scanApproval() ([]any, func() (approval, error)) {
	var id, request []byte
	var a approval
	var asked, expires int64
	return []any{&id, &request, &a.party, &a.key, &asked, &expires, &a.state, &a.reason}, func() (approval, error) {
		if len(id) != 32 {
			return approval{}, errors.New("threshold: the store has an approval of no request")
		}
		b := a
		b.id, b.request = [32]byte(id), bytes.Clone(request)
		b.asked, b.expires = time.UnixMilli(asked), time.UnixMilli(expires)
		return b, nil
	}
}

// ask returns the approval of a request, which it makes to wait if nobody has asked.
func (as *approvals) ask(party, keyName string, r *thresholdrsa.Request) (a approval, fresh bool, err error) {
	id := r.ID()
	data, err := r.MarshalBinary()
	if err != nil {
		return a, false, err
	}
	now := as.now()
	err = as.store.Update(func(tx *store.Tx) error {
		dst, made := scanApproval()
		ok, err := tx.Row(dst, "SELECT "+approvalColumns+" FROM threshold_approval WHERE id = ?", id[:])
		if err != nil {
			return err
		}
		if ok {
			if a, err = made(); err != nil || a.expires.After(now) {
				return err
			}
		}
		var n int
		if _, err := tx.Row([]any{&n}, "SELECT count(*) FROM threshold_approval WHERE party = ? AND state = 0 AND expires > ?", party, now.UnixMilli()); err != nil {
			return err
		}
		if n >= maxWaiting {
			return &policy.LimitError{Call: policy.Call{Party: party, Operation: "threshold.share", Key: keyName}, After: time.Minute}
		}
		if _, err := tx.Exec("DELETE FROM threshold_approval WHERE expires <= ?", now.UnixMilli()); err != nil {
			return err
		}
		fresh = true
		a = approval{id: id, request: data, party: party, key: keyName, asked: now, expires: now.Add(as.valid)}
		_, err = tx.Exec("INSERT INTO threshold_approval ("+approvalColumns+") VALUES (?, ?, ?, ?, ?, ?, 0, '')",
			id[:], data, party, keyName, a.asked.UnixMilli(), a.expires.UnixMilli())
		return err
	})
	return a, fresh, err
}

// wait returns once somebody has decided, until has passed, or ctx ends; a is then the
// last state that was seen.
func (as *approvals) wait(ctx context.Context, a approval, until time.Time) (approval, error) {
	if a.expires.Before(until) {
		until = a.expires
	}
	timer := time.NewTimer(until.Sub(as.now()))
	defer timer.Stop()
	for {
		as.mu.Lock()
		changed := as.changed
		as.mu.Unlock()
		b, ok, err := as.get(a.id)
		if err != nil {
			return a, err
		}
		if ok && b.state != waiting {
			return b, nil
		}
		select {
		case <-changed:
		case <-timer.C:
			return a, nil
		case <-ctx.Done():
			return a, nil
		}
	}
}

func (as *approvals) get(id [32]byte) (a approval, ok bool, err error) {
	err = as.store.View(func(tx *store.Tx) error {
		dst, made := scanApproval()
		if ok, err = tx.Row(dst, "SELECT "+approvalColumns+" FROM threshold_approval WHERE id = ?", id[:]); err != nil || !ok {
			return err
		}
		a, err = made()
		return err
	})
	return a, ok, err
}

// pending lists what waits, the oldest first.
func (as *approvals) pending() ([]approval, error) {
	return as.list("state = 0 AND expires > ?", as.now().UnixMilli())
}

func (as *approvals) list(where string, args ...any) (list []approval, err error) {
	err = as.store.View(func(tx *store.Tx) error {
		dst, made := scanApproval()
		return tx.Rows(dst, func() error {
			a, err := made()
			list = append(list, a)
			return err
		}, "SELECT "+approvalColumns+" FROM threshold_approval WHERE "+where+" ORDER BY asked, id", args...)
	})
	return list, err
}

// minPrefix is how much of an ID is enough to name a request. Who asks can choose salts
// and digests until the starts of two IDs are alike, the sooner the shorter they are.
const minPrefix = 8

// decide approves or rejects what waits under an ID, of which the start is enough if
// nothing else begins so that still counts, decided or not: a request can't take the
// place of one that somebody has looked at. may says whether the caller may.
func (as *approvals) decide(prefix string, state int, reason string, may func(approval) error) (approval, error) {
	list, err := as.list("expires > ?", as.now().UnixMilli())
	if err != nil {
		return approval{}, err
	}
	var found []approval
	for _, a := range list {
		if id := hex.EncodeToString(a.id[:]); len(prefix) >= minPrefix && len(prefix) <= len(id) && id[:len(prefix)] == prefix {
			found = append(found, a)
		}
	}
	switch {
	case len(found) > 1:
		return approval{}, connect.NewError(connect.CodeNotFound, fmt.Errorf("threshold: %d requests have an ID that begins with %q", len(found), prefix))
	case len(found) == 0 || found[0].state != waiting:
		return approval{}, connect.NewError(connect.CodeNotFound, fmt.Errorf("threshold: no request that waits has an ID that begins with %q, of %d digits or more", prefix, minPrefix))
	}
	a := found[0]
	if err := may(a); err != nil {
		return approval{}, err
	}
	a.state, a.reason = state, reason
	err = as.store.Update(func(tx *store.Tx) error {
		// Somebody else may ask for the same once this has expired.
		n, err := tx.Exec("UPDATE threshold_approval SET state = ?, reason = ? WHERE id = ? AND state = 0 AND party = ? AND asked = ?",
			state, reason, a.id[:], a.party, a.asked.UnixMilli())
		if err == nil && n != 1 {
			err = connect.NewError(connect.CodeNotFound, errors.New("threshold: somebody else has decided"))
		}
		return err
	})
	if err != nil {
		return approval{}, err
	}
	as.mu.Lock()
	close(as.changed)
	as.changed = make(chan struct{})
	as.mu.Unlock()
	return a, nil
}
