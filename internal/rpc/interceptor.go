// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package rpc

import (
	"context"
	"time"

	"connectrpc.com/connect"
)

// An interceptor decides about calls, once the guard knows the caller.
type interceptor struct{ g *Guard }

// keyed are messages about a key: the field is its fingerprint.
type keyed interface{ GetKey() string }

// WrapUnary implements [connect.Interceptor].
func (i *interceptor) WrapUnary(next connect.UnaryFunc) connect.UnaryFunc {
	return func(ctx context.Context, req connect.AnyRequest) (connect.AnyResponse, error) {
		key := ""
		if m, ok := req.Any().(keyed); ok {
			key = m.GetKey()
		}
		var resp connect.AnyResponse
		err := i.serve(ctx, key, func(ctx context.Context) (err error) {
			resp, err = next(ctx, req)
			return err
		})
		if err != nil {
			return nil, err
		}
		return resp, nil
	}
}

// WrapStreamingHandler implements [connect.Interceptor].
func (i *interceptor) WrapStreamingHandler(next connect.StreamingHandlerFunc) connect.StreamingHandlerFunc {
	return func(ctx context.Context, conn connect.StreamingHandlerConn) error {
		return i.serve(ctx, "", func(ctx context.Context) error { return next(ctx, conn) })
	}
}

// WrapStreamingClient implements [connect.Interceptor].
func (i *interceptor) WrapStreamingClient(next connect.StreamingClientFunc) connect.StreamingClientFunc {
	return next
}

func (i *interceptor) serve(ctx context.Context, key string, handler func(context.Context) error) (err error) {
	call := CallFrom(ctx)
	if !call.open { // or else the handler decides
		if call, err = i.g.Authorize(ctx, key); err != nil {
			i.g.cfg.Metrics.refused(call.Operation, err)
			return encodeError(i.g.cfg.Log, call.Operation, err)
		}
	}
	start := time.Now()
	i.g.cfg.Metrics.began(call.Operation)
	// Deferred, so that a handler that panics is counted too.
	defer func() { i.g.cfg.Metrics.ended(call.Operation, time.Since(start), err) }()
	err = encodeError(i.g.cfg.Log, call.Operation, handler(withCall(ctx, call)))
	return err
}
