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
// different heights: the lowest is returned.
func Lookup(ctx context.Context, cfg GatewayConfig, id, nonce, notAfter uint64) (*distill.Look, error) {
	g, err := NewGateway(cfg)
	if err != nil {
		return nil, err
	}
	q := distill.Lookup{ID: id, Nonce: nonce, NotAfter: notAfter}
	rand.Read(q.Challenge[:])
	req := &aggregatev1.LookupRequest{}
	frame.AddQuestion(req, &q)
	var mu sync.Mutex
	said := make(map[distill.Look][]distill.SignedLook)
	var errs []error
	g.each(ctx, func(ctx context.Context, i int, c aggregatev1connect.ValidatorServiceClient) {
		resp, err := c.Lookup(ctx, req)
		var look *distill.SignedLook
		if err == nil && len(resp.GetLooks()) != 1 {
			err = errors.New("not one answer")
		}
		if err == nil {
			look, err = frame.Look(resp.Looks[0])
		}
		if err == nil && look.Share.Validator != uint32(i) {
			err = errors.New("an answer in another's name")
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
	for _, looks := range said {
		if cfg.Network.Committee().VerifyLooks(q.Challenge, id, nonce, notAfter, looks) != nil {
			continue
		}
		lowest := looks[0].Look
		for _, l := range looks {
			if l.Look.Height < lowest.Height {
				lowest = l.Look
			}
		}
		return &lowest, nil
	}
	return nil, errors.Join(append(errs, errors.New("client: too few validators say the same"))...)
}
