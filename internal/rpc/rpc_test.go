// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package rpc

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"connectrpc.com/connect"
	"github.com/prometheus/client_golang/prometheus"

	nodev1 "github.com/undersign/undersign/gen/undersign/node/v1"
	"github.com/undersign/undersign/internal/audit"
	"github.com/undersign/undersign/internal/policy"
)

func TestOperation(t *testing.T) {
	for _, tt := range []struct{ service, method, want string }{
		{"undersign.threshold.v1.ThresholdService", "Sign", "threshold.sign"},
		{"undersign.threshold.v1.ThresholdService", "SignFile", "threshold.sign-file"},
		{"undersign.node.v1.NodeService", "Join", "node.join"},
		{"undersign.node.v1", "Join", ""},
		{"other.node.v1.NodeService", "Join", ""},
		{"undersign.node.v1.NodeService", "", ""},
		{"", "", ""},
	} {
		got, err := Operation(tt.service, tt.method)
		if got != tt.want || (err != nil) != (tt.want == "") {
			t.Errorf("%s, %s: %q, %v", tt.service, tt.method, got, err)
		}
	}
}

func TestErrors(t *testing.T) {
	var logged strings.Builder
	log := slog.New(slog.NewTextHandler(&logged, nil))
	call := policy.Call{Party: "us1x", Operation: "threshold.sign", Key: "us1k"}
	encode := func(err error) error { return encodeError(log, "threshold.sign", err) }

	err := encode(fmt.Errorf("wrapped: %w", &policy.DeniedError{Call: call, Reason: "no rule"}))
	var denied *policy.DeniedError
	if connect.CodeOf(err) != connect.CodePermissionDenied || !errors.As(DecodeError("us1x", err), &denied) || denied.Call != call || denied.Reason != "no rule" {
		t.Errorf("denied: %v", err)
	}
	err = encode(&policy.LimitError{Call: call, After: 1500 * time.Millisecond})
	var limit *policy.LimitError
	if connect.CodeOf(err) != connect.CodeResourceExhausted || !errors.As(DecodeError("us1x", err), &limit) || limit.After != 1500*time.Millisecond {
		t.Errorf("throttled: %v", err)
	}
	// A delay of nothing would make a caller try without end; one of years, never again.
	err = encode(&policy.LimitError{After: 1})
	if !errors.As(DecodeError("", err), &limit) || limit.After != time.Millisecond {
		t.Errorf("%v", DecodeError("", err))
	}
	e := connect.NewError(connect.CodeResourceExhausted, errors.New("x"))
	if !errors.As(DecodeError("", withDetail(e, &nodev1.Throttled{RetryAfterMs: math.MaxUint64})), &limit) || limit.After != time.Hour {
		t.Errorf("a delay of years is %v", limit.After)
	}
	if connect.CodeOf(encode(context.Canceled)) != connect.CodeCanceled || connect.CodeOf(encode(context.DeadlineExceeded)) != connect.CodeDeadlineExceeded {
		t.Error("contexts")
	}
	if encode(nil) != nil || logged.Len() > 0 {
		t.Errorf("logged: %s", logged.String())
	}
	// What isn't for callers stays here.
	err = encode(errors.New("open /etc/secret: permission denied"))
	if connect.CodeOf(err) != connect.CodeInternal || strings.Contains(err.Error(), "secret") {
		t.Errorf("internal: %v", err)
	}
	if !strings.Contains(logged.String(), "secret") {
		t.Errorf("not logged: %s", logged.String())
	}
	// Nor does what another party says do more at a terminal than to be shown.
	err = encode(&policy.DeniedError{Call: call, Reason: "\x1b[2J\u202e no\u009b" + strings.Repeat("x", 1<<20)})
	if !errors.As(DecodeError("", err), &denied) || len(denied.Reason) > 1000 || strings.ContainsAny(denied.Reason, "\x1b\u202e\u009b") || !strings.Contains(denied.Reason, " no") {
		t.Errorf("%.100q", denied.Reason)
	}
	if got := DecodeError("", io.EOF); got != io.EOF {
		t.Errorf("%v", got)
	}
}

func TestDenialsAreBounded(t *testing.T) {
	now := time.Unix(1e9, 0)
	var entries []audit.Entry
	g := NewGuard(GuardConfig{
		Self: "us1self", Known: func(s string) bool { return s == "us1known" },
		Record: func(e audit.Entry, o audit.Outcome) {
			if o != audit.Denied {
				t.Errorf("outcome %s", o)
			}
			entries = append(entries, e)
		},
		Policy: newPolicy(t), Limits: Limits{1 << 20, time.Second, 1}, Now: func() time.Time { return now },
		Log: slog.New(slog.DiscardHandler), Metrics: NewMetrics(prometheus.NewRegistry()),
	})
	for range 1000 {
		g.Denied(Call{Party: "us1known", Operation: "a.b", Key: "\xff"}, "no")
		g.Denied(Call{Party: "us1stranger", Operation: "a.b"}, "no")
	}
	if len(entries) != 21 {
		t.Fatalf("%d entries", len(entries))
	}
	if entries[0].Key != "?" {
		t.Errorf("key %q", entries[0].Key)
	}
	now = now.Add(time.Second)
	g.Denied(Call{Party: "us1known", Operation: "a.b"}, "no")
	if last := entries[len(entries)-1]; len(entries) != 22 || !strings.Contains(last.Detail, "980 denials") {
		t.Errorf("%d entries, and %+v", len(entries), last)
	}
	now = now.Add(-time.Hour) // a clock that was set back
	g.Denied(Call{Party: "us1known", Operation: "a.b"}, "no")
	if len(entries) != 23 {
		t.Errorf("%d entries", len(entries))
	}
	// Nor in a day: 24 times what an hour may have, and one a minute.
	entries = nil
	for range 24 * 3600 / 2 {
		now = now.Add(2 * time.Second)
		for range 30 {
			g.Denied(Call{Party: "us1known", Operation: "a.b"}, "no")
		}
	}
	if n := len(entries); n < 24*mostAnHour || n > 24*(mostAnHour+60) {
		t.Errorf("%d entries in a day", n)
	}
}

func newPolicy(t *testing.T, rules ...policy.Rule) *policy.Policy {
	t.Helper()
	p, err := policy.New(rules)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestAuthorize(t *testing.T) {
	known := true
	g := NewGuard(GuardConfig{
		Self: "us1self", Known: func(s string) bool { return known },
		Record: func(audit.Entry, audit.Outcome) {},
		Policy: newPolicy(t, policy.Rule{Parties: []string{"us1a"}, Operations: []string{"a.b"}, Keys: []string{"us1k"}, Approve: true}),
		Limits: Limits{1 << 20, time.Second, 1}, Now: time.Now,
		Log: slog.New(slog.DiscardHandler), Metrics: NewMetrics(prometheus.NewRegistry()),
	})
	ctx := func(c Call) context.Context { return withCall(t.Context(), c) }
	if c, err := g.Authorize(ctx(Call{Party: "us1a", Operation: "a.b", waits: true}), "us1k"); err != nil || !c.Approve || c.Key != "us1k" {
		t.Errorf("%+v, %v", c, err)
	}
	for name, c := range map[string]Call{
		"another party":     {Party: "us1b", Operation: "a.b"},
		"another operation": {Party: "us1a", Operation: "a.c"},
		"nobody":            {},
	} {
		if _, err := g.Authorize(ctx(c), "us1k"); err == nil {
			t.Errorf("%s is allowed", name)
		}
	}
	if _, err := g.Authorize(ctx(Call{Party: "us1a", Operation: "a.b"}), "us1other"); err == nil {
		t.Error("another key is allowed")
	}
	if _, err := g.Authorize(t.Context(), "us1k"); err == nil {
		t.Error("a context of no call is allowed")
	}
	if _, err := g.Authorize(ctx(Call{Party: "us1self", Operation: "x.y", Self: true}), "us1k"); err != nil {
		t.Errorf("the node itself: %v", err)
	}
	g.SetPolicy(newPolicy(t))
	if _, err := g.Authorize(ctx(Call{Party: "us1a", Operation: "a.b"}), "us1k"); err == nil {
		t.Error("the old policy holds")
	}
	g.SetPolicy(newPolicy(t, policy.Rule{Parties: []string{"*"}, Operations: []string{"*"}, Keys: []string{"*"}}))
	known = false
	if _, err := g.Authorize(ctx(Call{Party: "us1a", Operation: "a.b"}), "us1k"); err == nil {
		t.Error("a party that was removed is allowed")
	}
}

// Without party's TLS nothing is served.
func TestGuardWantsTLS(t *testing.T) {
	g := NewGuard(GuardConfig{Policy: newPolicy(t), Metrics: NewMetrics(prometheus.NewRegistry())})
	w := httptest.NewRecorder()
	g.ServeHTTP(w, httptest.NewRequest("POST", "/undersign.node.v1.NodeService/Join", nil))
	if w.Code != 403 {
		t.Errorf("status %d", w.Code)
	}
	desc := nodev1.File_undersign_node_v1_node_proto.Services().ByName("NodeService")
	if err := g.Handle(desc, g); err != nil {
		t.Fatal(err)
	}
	if err := g.Handle(desc, g); err == nil {
		t.Error("a service is there twice")
	}
}
