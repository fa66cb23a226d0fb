// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package rpc

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/proto"

	nodev1 "github.com/undersign/undersign/gen/undersign/node/v1"
	"github.com/undersign/undersign/internal/policy"
)

// Handlers return connect.NewError(code, err) for what the caller may know. Of what else
// they return the caller learns only that something went wrong.
var errInternal = errors.New("internal error: the node's log says more")

// encodeError returns the error as the caller will see it.
func encodeError(log *slog.Logger, operation string, err error) error {
	var denied *policy.DeniedError
	var limit *policy.LimitError
	var coded *connect.Error
	switch {
	case err == nil:
		return nil
	case errors.As(err, &denied):
		e := connect.NewError(connect.CodePermissionDenied, errors.New(denied.Reason))
		return withDetail(e, &nodev1.Denied{Operation: denied.Call.Operation, Key: denied.Call.Key, Reason: denied.Reason})
	case errors.As(err, &limit):
		e := connect.NewError(connect.CodeResourceExhausted, errors.New("too many calls"))
		return withDetail(e, &nodev1.Throttled{RetryAfterMs: uint64(max(limit.After.Milliseconds(), 1))})
	case errors.As(err, &coded):
		return coded
	case errors.Is(err, context.Canceled):
		return connect.NewError(connect.CodeCanceled, context.Canceled)
	case errors.Is(err, context.DeadlineExceeded):
		return connect.NewError(connect.CodeDeadlineExceeded, context.DeadlineExceeded)
	}
	log.Error("call failed", "operation", operation, "error", err)
	return connect.NewError(connect.CodeInternal, errInternal)
}

func withDetail(e *connect.Error, msg proto.Message) error {
	if d, err := connect.NewErrorDetail(msg); err == nil {
		e.AddDetail(d)
	}
	return e
}

// DecodeError returns what a call's error means to the party that made it: a
// [policy.DeniedError] or a [policy.LimitError] where the node says so, and the error
// itself otherwise.
func DecodeError(self string, err error) error {
	var e *connect.Error
	if !errors.As(err, &e) {
		return err
	}
	for _, d := range e.Details() {
		v, verr := d.Value()
		if verr != nil {
			continue
		}
		switch v := v.(type) {
		case *nodev1.Denied:
			return &policy.DeniedError{Call: policy.Call{Party: self, Operation: Printable(v.Operation), Key: Printable(v.Key)}, Reason: Printable(v.Reason)}
		case *nodev1.Throttled:
			// What the other says isn't to be believed beyond an hour.
			after := time.Duration(min(v.RetryAfterMs, uint64(time.Hour/time.Millisecond))) * time.Millisecond
			return &policy.LimitError{Call: policy.Call{Party: self}, After: after}
		}
	}
	return err
}

const maxText = 600

// Printable returns what another party says as one line of text that terminals show and
// do nothing else with, and that has an end.
func Printable(s string) string {
	if len(s) > maxText {
		s = strings.ToValidUTF8(s[:maxText], "") + "..."
	}
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) { // control characters, and marks that reorder text
			return utf8.RuneError
		}
		return r
	}, s)
}
