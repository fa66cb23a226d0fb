// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package threshold

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"connectrpc.com/connect"
	"filippo.io/age"
	"google.golang.org/protobuf/proto"

	thresholdv1 "github.com/undersign/undersign/gen/undersign/threshold/v1"
	"github.com/undersign/undersign/internal/audit"
	"github.com/undersign/undersign/internal/policy"
	"github.com/undersign/undersign/internal/rpc"
	"github.com/undersign/undersign/internal/store"
	"github.com/undersign/undersign/keyfile"
	"github.com/undersign/undersign/thresholdrsa"
)

// Dealer is the dealer's part of the configuration. A dealer knows the keys that it makes
// while it makes them, so its memory is locked: nothing of it is swapped out or dumped.
type Dealer struct {
	Enabled bool `toml:"enabled"`
	// Attest is a command that is given the hash of a transcript, in hexadecimal, as its
	// last argument and on standard input, and writes a document about the machine that
	// vouches for it.
	Attest []string `toml:"attest"`
	// InsecureUnlocked lets the dealer run where memory can't be locked.
	InsecureUnlocked bool `toml:"insecure-unlocked"`
}

func (d *Dealer) prepare() error {
	if !d.Enabled {
		return nil
	}
	if err := lockMemory(); err != nil && !d.InsecureUnlocked {
		return fmt.Errorf("threshold: the dealer's memory can't be locked: %w", err)
	}
	return nil
}

const (
	maxDeals        = 4 // under way or waiting
	maxDealsOfParty = 2
	keepDeal        = 7 * 24 * time.Hour
)

// deals are the keys that are being made.
type deals struct {
	mu      sync.Mutex
	running map[[16]byte]*deal
	one     chan struct{} // held by the one that computes
}

func (d *deals) init() {
	d.running = make(map[[16]byte]*deal)
	d.one = make(chan struct{}, 1)
}

type deal struct {
	party                string
	candidates, expected atomic.Uint64
	done                 chan struct{}
	err                  error
}

// A dealPlan is a request, checked.
type dealPlan struct {
	id      [16]byte
	bits    int
	k       int
	names   []string
	texts   [][]string
	to      [][]age.Recipient
	encoded []byte
}

func readDeal(req *thresholdv1.DealRequest) (*dealPlan, error) {
	if len(req.Id) != 16 {
		return nil, invalidf("threshold: the ID of a deal has 16 bytes")
	}
	d := &dealPlan{id: [16]byte(req.Id), bits: int(req.Bits), k: int(req.Threshold)}
	switch n := len(req.Holders); {
	case req.Bits < thresholdrsa.MinBits || req.Bits > thresholdrsa.MaxBits || req.Bits%4 != 0:
		return nil, invalidf("threshold: a key has from %d to %d bits, a multiple of 4", thresholdrsa.MinBits, thresholdrsa.MaxBits)
	case n == 0 || n > thresholdrsa.MaxHolders || req.Threshold < 1 || req.Threshold > uint32(n):
		return nil, invalidf("threshold: %d holders can't have the threshold %d", n, req.Threshold)
	}
	names := make(map[string]bool)
	for _, h := range req.Holders {
		if err := checkKeyFileName(h.Name); err != nil || names[h.Name] {
			return nil, invalidf("threshold: the name %q of a holder won't do, or is there twice", h.Name)
		}
		names[h.Name] = true
		if len(h.Recipients) == 0 || len(h.Recipients) > maxRecipients {
			return nil, invalidf("threshold: %s needs from 1 to %d recipients", h.Name, maxRecipients)
		}
		for _, r := range h.Recipients {
			if len(r) > maxRecipient || strings.ContainsAny(r, "\n\r#") {
				return nil, invalidf("threshold: what %s gives isn't an age recipient", h.Name)
			}
		}
		to, err := keyfile.ParseRecipients(strings.NewReader(strings.Join(h.Recipients, "\n")+"\n"), nil)
		if err != nil {
			return nil, invalidf("threshold: %s: %w", h.Name, err)
		}
		d.names, d.texts, d.to = append(d.names, h.Name), append(d.texts, h.Recipients), append(d.to, to)
	}
	var err error
	d.encoded, err = proto.MarshalOptions{Deterministic: true}.Marshal(req)
	return d, err
}

// Deal implements [thresholdv1connect.ThresholdServiceHandler].
func (s *Service) Deal(ctx context.Context, req *thresholdv1.DealRequest) (*thresholdv1.DealResponse, error) {
	call := rpc.CallFrom(ctx)
	if !s.opt.Config.Dealer.Enabled {
		return nil, connect.NewError(connect.CodeFailedPrecondition, errors.New("threshold: the node isn't a dealer"))
	}
	d, err := readDeal(req)
	if err != nil {
		return nil, err
	}
	s.deals.mu.Lock()
	defer s.deals.mu.Unlock()
	known, result, err := s.storedDeal(call.Party, d.id, d.encoded)
	if err != nil {
		return nil, err
	}
	if s.deals.running[d.id] != nil || len(result) > 0 {
		return &thresholdv1.DealResponse{}, nil
	}
	mine := 0
	for _, run := range s.deals.running {
		if run.party == call.Party {
			mine++
		}
	}
	if len(s.deals.running) >= maxDeals || mine >= maxDealsOfParty {
		return nil, &policy.LimitError{Call: policy.Call{Party: call.Party, Operation: "threshold.deal"}, After: time.Minute}
	}
	if !known {
		now := s.opt.Now()
		err := s.opt.Store.Update(func(tx *store.Tx) error {
			if _, err := tx.Exec("DELETE FROM threshold_deal WHERE asked < ?", now.Add(-keepDeal).UnixMilli()); err != nil {
				return err
			}
			_, err := tx.Exec("INSERT INTO threshold_deal (id, party, request, asked, result) VALUES (?, ?, ?, ?, x'')", d.id[:], call.Party, d.encoded, now.UnixMilli())
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	run := &deal{party: call.Party, done: make(chan struct{})}
	s.deals.running[d.id] = run
	s.running.Add(1)
	go func() {
		defer s.running.Done()
		run.err = s.deal(call.Party, d, run)
		if run.err != nil {
			s.opt.Log.Error("a deal failed", "party", call.Party, "error", run.err)
		}
		s.deals.mu.Lock()
		delete(s.deals.running, d.id)
		s.deals.mu.Unlock()
		close(run.done)
	}()
	return &thresholdv1.DealResponse{}, nil
}

// storedDeal returns what is known of a deal. An ID is one party's, and one request's.
func (s *Service) storedDeal(party string, id [16]byte, request []byte) (known bool, result []byte, err error) {
	err = s.opt.Store.View(func(tx *store.Tx) error {
		var who string
		var req, res []byte
		known, err = tx.Row([]any{&who, &req, &res}, "SELECT party, request, result FROM threshold_deal WHERE id = ?", id[:])
		if err != nil || !known {
			return err
		}
		if who != party || (request != nil && !bytes.Equal(req, request)) {
			return connect.NewError(connect.CodeAlreadyExists, errors.New("threshold: another deal has that ID"))
		}
		result = bytes.Clone(res)
		return nil
	})
	return known, result, err
}

// deal makes a key, and stores what goes out. The key itself is never stored.
func (s *Service) deal(party string, d *dealPlan, run *deal) error {
	select {
	case s.deals.one <- struct{}{}:
		defer func() { <-s.deals.one }()
	case <-s.ctx.Done():
		return s.ctx.Err()
	}
	action, err := s.opt.Audit.Begin(audit.Entry{
		Party: party, Operation: "threshold.deal", Subject: fmt.Sprintf("%x", d.id),
		Detail: fmt.Sprintf("%d bits, %d of %d", d.bits, d.k, len(d.names)),
	})
	if err != nil {
		return err
	}
	resp, detail, err := s.makeDeal(party, d, run)
	if err == nil {
		var data []byte
		if data, err = proto.Marshal(resp); err == nil {
			err = s.opt.Store.Update(func(tx *store.Tx) error {
				_, err := tx.Exec("UPDATE threshold_deal SET result = ? WHERE id = ?", data, d.id[:])
				return err
			})
		}
	}
	if err != nil {
		return errors.Join(err, action.End(audit.Failed, trim(err)))
	}
	return action.End(audit.OK, detail)
}

func (s *Service) makeDeal(party string, d *dealPlan, run *deal) (resp *thresholdv1.DealtResponse, detail string, err error) {
	priv, err := thresholdrsa.GenerateKey(s.ctx, d.bits, func(p thresholdrsa.Progress) {
		run.candidates.Store(p.Candidates)
		run.expected.Store(p.Expected)
	})
	if err != nil {
		return nil, "", err
	}
	defer thresholdrsa.Erase(priv)
	dealing, shares, err := thresholdrsa.Deal(priv, d.k, len(d.names), &thresholdrsa.DealOptions{Names: d.names})
	if err != nil {
		return nil, "", err
	}
	defer func() {
		for _, share := range shares {
			share.Wipe()
		}
	}()
	resp = &thresholdv1.DealtResponse{Done: true}
	t := &Transcript{Dealer: s.opt.Identity.PublicKey(), Party: party, Time: s.opt.Now(), Bits: d.bits, Threshold: d.k}
	for i, share := range shares {
		var buf bytes.Buffer
		if err := keyfile.Seal(&buf, share, d.to[i]...); err != nil {
			return nil, "", err
		}
		resp.Shares = append(resp.Shares, buf.Bytes())
		t.Holders = append(t.Holders, TranscriptHolder{d.names[i], d.texts[i], sha256.Sum256(buf.Bytes())})
	}
	if resp.Dealing, err = dealing.MarshalBinary(); err != nil {
		return nil, "", err
	}
	t.Dealing = sha256.Sum256(resp.Dealing)
	if err := s.sign(t); err != nil {
		return nil, "", err
	}
	resp.Transcript, err = t.MarshalBinary()
	return resp, fmt.Sprintf("%s, transcript %x", KeyName(dealing.PublicKey()), t.Hash()), err
}

// Dealt implements [thresholdv1connect.ThresholdServiceHandler].
func (s *Service) Dealt(ctx context.Context, req *thresholdv1.DealtRequest) (*thresholdv1.DealtResponse, error) {
	call := rpc.CallFrom(ctx)
	if len(req.Id) != 16 {
		return nil, invalidf("threshold: the ID of a deal has 16 bytes")
	}
	id := [16]byte(req.Id)
	s.deals.mu.Lock()
	run := s.deals.running[id]
	s.deals.mu.Unlock()
	known, result, err := s.storedDeal(call.Party, id, nil)
	if err != nil {
		return nil, err
	}
	if !known {
		return nil, connect.NewError(connect.CodeNotFound, errors.New("threshold: no deal has that ID"))
	}
	if run != nil && len(result) == 0 {
		timer := time.NewTimer(time.Duration(min(req.WaitMs, uint64(maxPersonWait.Milliseconds()))) * time.Millisecond)
		defer timer.Stop()
		select {
		case <-run.done:
			if run.err != nil {
				return nil, connect.NewError(connect.CodeAborted, errors.New("threshold: the deal failed: the dealer's log says why"))
			}
		case <-timer.C:
			return &thresholdv1.DealtResponse{Candidates: run.candidates.Load(), Expected: run.expected.Load()}, nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		if _, result, err = s.storedDeal(call.Party, id, nil); err != nil {
			return nil, err
		}
	}
	if len(result) == 0 {
		return nil, connect.NewError(connect.CodeAborted, errors.New("threshold: the deal failed, or the dealer was restarted: ask for it again"))
	}
	resp := new(thresholdv1.DealtResponse)
	return resp, proto.Unmarshal(result, resp)
}
