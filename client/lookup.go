// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package client

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"sync"

	"github.com/undersign/undersign/distill"
	aggregatev1 "github.com/undersign/undersign/gen/undersign/aggregate/v1"
	"github.com/undersign/undersign/gen/undersign/aggregate/v1/aggregatev1connect"
	"github.com/undersign/undersign/internal/aggregate/frame"
)

// Lookup asks the validators of a gateway's configuration what became of a nonce that was
// to be executed up to a height, and returns what F+1 of them say alike. They are at
// different heights: the lowest is returned, and the smallest of their last nonces, which
// are true if one of them is honest. If some say that it was executed and others, who are
// behind, that it wasn't, it was.
func Lookup(ctx context.Context, cfg GatewayConfig, id, nonce, notAfter uint64) (*distill.Look, error) {
	g, err := NewGateway(cfg)
	if err != nil {
		return nil, err
	}
	q := distill.Lookup{ID: id, Nonce: nonce, NotAfter: notAfter}
	rand.Read(q.Challenge[:])
	req := &aggregatev1.LookupRequest{}
	frame.AddQuestion(req, &q)
	committee := cfg.Network.Committee()
	var mu sync.Mutex
	said := make(map[distill.Look][]distill.SignedLook)
	var errs []error
	g.each(ctx, func(ctx context.Context, i int, c aggregatev1connect.ValidatorServiceClient) {
		look, err := lookupAt(ctx, c, req)
		if err == nil && look.Share.Validator != uint32(i) {
			err = errors.New("an answer in another's name")
		}
		if err == nil && !consistent(&look.Look) {
			err = errors.New("an answer that contradicts itself")
		}
		if err == nil {
			// One by one: a wrong signature mustn't spoil what others say alike.
			err = committee.VerifyShare(&look.Look, &look.Share)
		}
		mu.Lock()
		defer mu.Unlock()
		if err != nil {
			errs = append(errs, fmt.Errorf("validator %d: %w", i, err))
			return
		}
		key := look.Look
		key.Height, key.LastNonce = 0, 0 // which differ while the log goes on
		said[key] = append(said[key], *look)
	})
	var best *distill.Look
	for _, looks := range said {
		if committee.VerifyLooks(q.Challenge, id, nonce, notAfter, looks) != nil {
			continue
		}
		lowest := looks[0].Look
		for _, l := range looks {
			lowest.Height, lowest.LastNonce = min(lowest.Height, l.Look.Height), min(lowest.LastNonce, l.Look.LastNonce)
		}
		if best == nil || lowest.Code == distill.LookExecuted {
			best = &lowest
		}
	}
	if best == nil {
		return nil, errors.Join(append(errs, errors.New("client: too few validators say the same"))...)
	}
	return best, nil
}

func lookupAt(ctx context.Context, c aggregatev1connect.ValidatorServiceClient, req *aggregatev1.LookupRequest) (*distill.SignedLook, error) {
	resp, err := c.Lookup(ctx, req)
	if err != nil {
		return nil, err
	}
	if len(resp.GetLooks()) != 1 {
		return nil, errors.New("not one answer")
	}
	return frame.Look(resp.Looks[0])
}

// consistent reports whether an answer says one thing.
func consistent(k *distill.Look) bool {
	if k.Code == distill.LookExecuted {
		return k.FirstCode.Executed() && k.ExecHeight <= k.Height
	}
	return k.FirstCode == 0 && k.AppCode == 0 && k.ExecHeight == 0 && k.PayloadHash == [32]byte{}
}
