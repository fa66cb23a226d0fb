// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package aggregate

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/undersign/undersign/distill"
	aggregatev1 "github.com/undersign/undersign/gen/undersign/aggregate/v1"
	"github.com/undersign/undersign/gen/undersign/aggregate/v1/aggregatev1connect"
	"github.com/undersign/undersign/internal/aggregate/frame"
)

// callTime is how long a validator may take for an answer.
const callTime = 10 * time.Second

// A remote is a validator, which may be the node itself.
type remote struct {
	s     *Service
	index int
}

// local returns the validator if it is the node itself, or nil.
func (r *remote) local() *validator {
	if v := r.s.validator; v != nil && v.index == r.index {
		return v
	}
	return nil
}

func (r *remote) client() (aggregatev1connect.ValidatorServiceClient, error) {
	peer, err := r.s.host.Peer(r.s.cfg.Validators[r.index])
	if err != nil {
		return nil, err
	}
	return aggregatev1connect.NewValidatorServiceClient(peer.HTTP(), peer.URL(), peer.Options(r.s.maxMessage())...), nil
}

func (r *remote) directory() (aggregatev1connect.DirectoryServiceClient, error) {
	peer, err := r.s.host.Peer(r.s.cfg.Validators[r.index])
	if err != nil {
		return nil, err
	}
	return aggregatev1connect.NewDirectoryServiceClient(peer.HTTP(), peer.URL(), peer.Options(r.s.maxMessage())...), nil
}

// maxMessage is the size of the largest answer: a batch, or the results of several.
func (s *Service) maxMessage() int {
	return 2*max(int(s.params.MaxBatch), distill.LeafSize*int(s.params.MaxLeaves)) + 1<<16
}

func (r *remote) witness(ctx context.Context, batch []byte) (*distill.Share, error) {
	ctx, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	req := &aggregatev1.WitnessRequest{Batch: batch}
	var resp *aggregatev1.WitnessResponse
	var err error
	if v := r.local(); v != nil {
		resp, err = v.Witness(ctx, req)
	} else {
		c, cerr := r.client()
		if cerr != nil {
			return nil, cerr
		}
		resp, err = c.Witness(ctx, req)
	}
	if err != nil {
		return nil, err
	}
	if resp.GetRule() != 0 {
		return nil, fmt.Errorf("validator %d: %s", r.index, distill.Rule(min(resp.GetRule(), 255)))
	}
	share, err := frame.Share(resp.GetShare())
	if err == nil && share.Validator != uint32(r.index) {
		err = errors.New("aggregate: a share in another validator's name")
	}
	return share, err
}

func (r *remote) submit(ctx context.Context, order []byte) error {
	ctx, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	req := &aggregatev1.SubmitBatchRequest{Order: order}
	if v := r.local(); v != nil {
		_, err := v.SubmitBatch(ctx, req)
		return err
	}
	c, err := r.client()
	if err == nil {
		_, err = c.SubmitBatch(ctx, req)
	}
	return err
}

func (r *remote) head(ctx context.Context) (h distill.Hgt, share *distill.Share, err error) {
	c, err := r.client()
	if err != nil {
		return h, nil, err
	}
	resp, err := c.Head(ctx, &aggregatev1.HeadRequest{})
	if err == nil {
		err = h.UnmarshalBinary(resp.GetHgt())
	}
	if err == nil {
		share, err = frame.Share(resp.GetShare())
	}
	if err == nil {
		if share.Validator != uint32(r.index) {
			return h, nil, errors.New("aggregate: a share in another validator's name")
		}
		err = r.s.network.Committee().VerifyShare(h, share)
	}
	return h, share, err
}

func (r *remote) fetch(ctx context.Context, digest [32]byte) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	c, err := r.client()
	if err != nil {
		return nil, err
	}
	resp, err := c.FetchBatch(ctx, &aggregatev1.FetchBatchRequest{Digest: digest[:]})
	if err == nil && len(resp.GetBatch()) == 0 {
		err = errors.New("aggregate: it doesn't have the batch")
	}
	return resp.GetBatch(), err
}

func (r *remote) lastBatch(ctx context.Context, aggregator uint64) (uint64, error) {
	ctx, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	req := &aggregatev1.LastBatchRequest{Aggregator: aggregator}
	if v := r.local(); v != nil {
		resp, err := v.LastBatch(ctx, req)
		return resp.GetSeq(), err
	}
	c, err := r.client()
	if err != nil {
		return 0, err
	}
	resp, err := c.LastBatch(ctx, req)
	return resp.GetSeq(), err
}

func (r *remote) sync(ctx context.Context, since uint64) (*aggregatev1.SyncResponse, error) {
	ctx, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	c, err := r.directory()
	if err != nil {
		return nil, err
	}
	return c.Sync(ctx, &aggregatev1.SyncRequest{Since: since})
}

// subscribe calls each with what the validator says of each height, until ctx ends or the
// stream breaks.
func (r *remote) subscribe(ctx context.Context, from, aggregator uint64, each func(*aggregatev1.SubscribeResponse) error) error {
	req := &aggregatev1.SubscribeRequest{From: from, Aggregator: aggregator}
	if v := r.local(); v != nil {
		return v.follow(ctx, from, func(e *event) error { return each(encodeEvent(e, req)) })
	}
	c, err := r.client()
	if err != nil {
		return err
	}
	stream, err := c.Subscribe(ctx, req)
	if err != nil {
		return err
	}
	defer stream.Close()
	for stream.Receive() {
		if err := each(stream.Msg()); err != nil {
			return err
		}
	}
	return stream.Err()
}
