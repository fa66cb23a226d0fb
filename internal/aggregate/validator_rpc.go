// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package aggregate

import (
	"context"
	"errors"
	"sync"

	"connectrpc.com/connect"

	"github.com/undersign/undersign/distill"
	aggregatev1 "github.com/undersign/undersign/gen/undersign/aggregate/v1"
	"github.com/undersign/undersign/gen/undersign/aggregate/v1/aggregatev1connect"
	"github.com/undersign/undersign/internal/aggregate/frame"
	"github.com/undersign/undersign/internal/relay"
)

var (
	_ aggregatev1connect.ValidatorServiceHandler = (*validator)(nil)
	_ aggregatev1connect.DirectoryServiceHandler = (*validator)(nil)
)

func invalid(err error) error { return connect.NewError(connect.CodeInvalidArgument, err) }

// storeFailed ends the node if err isn't about what a caller wants: the machine is broken
// then.
func (v *validator) storeFailed(err error) {
	if err != nil && distill.RuleOf(err) == 0 {
		v.s.host.Fail(err)
	}
}

// Witness implements the service.
func (v *validator) Witness(ctx context.Context, req *aggregatev1.WitnessRequest) (*aggregatev1.WitnessResponse, error) {
	if err := v.slot(ctx); err != nil {
		return nil, err
	}
	defer func() { <-v.checks }()
	data := req.GetBatch()
	v.mu.Lock()
	err := v.v.Place(data) // cheap, and first
	v.mu.Unlock()
	c := (*distill.Checked)(nil)
	if err == nil {
		if c = v.cached(distill.BatchDigest(data)); c == nil || !sameBytes(c.Data(), data) {
			c, err = v.v.Check(data)
		}
	}
	var share *distill.Share
	if err == nil {
		v.mu.Lock()
		_, share, err = v.v.WitnessChecked(c)
		v.mu.Unlock()
		v.storeFailed(err)
	}
	if err != nil {
		if rule := distill.RuleOf(err); rule != 0 {
			v.log.Info("a batch isn't witnessed", "error", err)
			return &aggregatev1.WitnessResponse{Rule: uint32(rule)}, nil
		}
		return nil, err
	}
	v.addCache(c)
	return &aggregatev1.WitnessResponse{Share: frame.NewShare(share)}, nil
}

func sameBytes(a, b []byte) bool { return string(a) == string(b) }

func (v *validator) slot(ctx context.Context) error {
	select {
	case v.checks <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// SubmitBatch implements the service.
func (v *validator) SubmitBatch(ctx context.Context, req *aggregatev1.SubmitBatchRequest) (*aggregatev1.SubmitBatchResponse, error) {
	o, err := frame.ParseOrder(req.GetOrder())
	if err == nil {
		wit := o.Wit(v.s.network.ID())
		err = v.s.network.Committee().Verify(&wit, &o.Witness)
	}
	if err != nil {
		return nil, invalid(err)
	}
	if err := v.relay.Publish(ctx, relay.NewOrder(o.Digest, req.GetOrder())); err != nil {
		return nil, err
	}
	return &aggregatev1.SubmitBatchResponse{}, nil
}

// Head implements the service.
func (v *validator) Head(context.Context, *aggregatev1.HeadRequest) (*aggregatev1.HeadResponse, error) {
	v.mu.Lock()
	hgt, share, err := v.v.SignHead()
	v.mu.Unlock()
	if err != nil {
		return nil, err
	}
	return &aggregatev1.HeadResponse{Hgt: hgt.Bytes(), Share: frame.NewShare(share)}, nil
}

// maxQuestions is how many questions a call may have: each takes a signature.
const maxQuestions = 256

// Lookup implements the service.
func (v *validator) Lookup(ctx context.Context, req *aggregatev1.LookupRequest) (*aggregatev1.LookupResponse, error) {
	questions, err := frame.Questions(req)
	if err == nil && len(questions) > maxQuestions {
		err = errors.New("too many questions")
	}
	if err != nil {
		return nil, invalid(err)
	}
	resp := &aggregatev1.LookupResponse{}
	for _, q := range questions {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		v.mu.Lock()
		look, err := v.v.Lookup(q)
		v.mu.Unlock()
		switch {
		case distill.RuleOf(err) != 0:
			resp.Looks = append(resp.Looks, &aggregatev1.Look{})
		case err != nil:
			return nil, err
		default:
			resp.Looks = append(resp.Looks, frame.NewLook(look))
		}
	}
	return resp, nil
}

// LastBatch implements the service.
func (v *validator) LastBatch(_ context.Context, req *aggregatev1.LastBatchRequest) (*aggregatev1.LastBatchResponse, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	seq, any := v.v.LastSeq(req.GetAggregator())
	return &aggregatev1.LastBatchResponse{Validator: uint32(v.index), Any: any, Seq: seq}, nil
}

// FetchBatch implements the service.
func (v *validator) FetchBatch(_ context.Context, req *aggregatev1.FetchBatchRequest) (*aggregatev1.FetchBatchResponse, error) {
	if len(req.GetDigest()) != 32 {
		return nil, invalid(errors.New("not a digest"))
	}
	data, _, err := v.store.Batch([32]byte(req.Digest))
	if err != nil {
		return nil, err
	}
	return &aggregatev1.FetchBatchResponse{Batch: data}, nil
}

// Subscribe implements the service.
func (v *validator) Subscribe(ctx context.Context, req *aggregatev1.SubscribeRequest, stream *connect.ServerStream[aggregatev1.SubscribeResponse]) error {
	ctx, cancel := context.WithCancel(ctx)
	var group sync.WaitGroup
	defer group.Wait()
	defer cancel()
	group.Go(func() {
		select {
		case <-v.s.host.Draining:
			cancel()
		case <-ctx.Done():
		}
	})
	err := v.follow(ctx, req.GetFrom(), func(e *event) error {
		setWriteDeadline(ctx, sendTime)
		return stream.Send(encodeEvent(e, req))
	})
	if errors.Is(err, context.Canceled) {
		return connect.NewError(connect.CodeUnavailable, errors.New("ending"))
	}
	return err
}

// follow calls send with what became of each height, from one on, until ctx ends. Of
// heights that are long past it leaves out those at which nothing was.
func (v *validator) follow(ctx context.Context, from uint64, send func(*event) error) error {
	for height := max(from, 1); ; height++ {
		e, news := v.feed.at(height)
		for e == nil && news != nil {
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-news:
			}
			e, news = v.feed.at(height)
		}
		if e == nil {
			var err error
			if e, err = v.past(height); err != nil {
				return err
			}
			if err := ctx.Err(); err != nil {
				return err
			}
			if len(e.outcomes) == 0 && height%1024 != 0 { // now and then, so that progress shows
				continue
			}
		}
		if err := send(e); err != nil {
			return err
		}
	}
}

// past returns what became of a height, from disk.
func (v *validator) past(height uint64) (*event, error) {
	v.mu.Lock()
	log, receipts, err := v.v.Receipts(height)
	v.mu.Unlock()
	if err != nil {
		return nil, err
	}
	e := &event{height: height}
	for i, r := range receipts {
		o := outcome{kind: r.Kind, rcpt: r.Rcpt, share: r.Share}
		if o.kind == distill.RecordBatch {
			h, err := distill.DecodeHeader(log[i].Data)
			if err != nil {
				continue // the batch was deleted: nobody waits for it
			}
			o.aggregator, o.seq, o.results = h.AggID, h.Seq, frame.ResultBytes(log[i].Results)
		}
		e.outcomes = append(e.outcomes, o)
	}
	return e, nil
}

func encodeEvent(e *event, req *aggregatev1.SubscribeRequest) *aggregatev1.SubscribeResponse {
	resp := &aggregatev1.SubscribeResponse{Height: e.height, Share: frame.NewShare(e.share)}
	if e.hgt != nil {
		resp.Hgt = e.hgt.Bytes()
	}
	if req.GetHeads() {
		return resp
	}
	for i := range e.outcomes {
		o := &e.outcomes[i]
		if o.kind != distill.RecordBatch || o.aggregator != req.GetAggregator() {
			continue
		}
		resp.Outcomes = append(resp.Outcomes, &aggregatev1.Outcome{
			Kind: uint32(o.kind), Rcpt: o.rcpt.Bytes(), Share: frame.NewShare(o.share),
			Aggregator: o.aggregator, Seq: o.seq, Results: o.results,
		})
	}
	return resp
}

// maxSync is how many bytes of changes an answer has.
const maxSync = 1 << 20

// Sync implements the service.
func (v *validator) Sync(_ context.Context, req *aggregatev1.SyncRequest) (*aggregatev1.SyncResponse, error) {
	v.mu.Lock()
	version := v.v.Head().Dirver
	var records []distill.LogRecord
	var err error
	if req.GetSince() < version {
		records, err = v.v.Sync(req.GetSince(), maxSync)
	}
	v.mu.Unlock()
	if err != nil {
		return nil, err
	}
	resp := &aggregatev1.SyncResponse{Version: version}
	for i := range records {
		resp.Records = append(resp.Records, &aggregatev1.SyncRecord{
			Version: records[i].Version, Height: records[i].Rcpt.Height, Entry: records[i].Data,
		})
	}
	return resp, nil
}
