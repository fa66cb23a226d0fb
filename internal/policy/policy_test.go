// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

var start = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

func mustNew(t *testing.T, rules ...Rule) *Policy {
	t.Helper()
	p, err := New(rules)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestDecide(t *testing.T) {
	p := mustNew(t,
		Rule{Parties: []string{"us1a"}, Operations: []string{"threshold.sign"}, Keys: []string{"us1k", "us1l"}},
		Rule{Parties: []string{"us1a", "us1b"}, Operations: []string{"threshold.*"}, Keys: []string{"us1m"}, Approve: true},
		Rule{Parties: []string{"*"}, Operations: []string{"node.status"}},
		Rule{Parties: []string{"us1root"}, Operations: []string{"*"}, Keys: []string{"*"}},
	)
	for _, test := range []struct {
		party, op, key string
		want           string // allow, approve or deny
	}{
		{"us1a", "threshold.sign", "us1k", "allow"},
		{"us1a", "threshold.sign", "us1l", "allow"},
		{"us1a", "threshold.sign", "us1m", "approve"},
		{"us1b", "threshold.refresh", "us1m", "approve"},
		{"us1anybody", "node.status", "", "allow"},
		{"us1root", "node.stop", "", "allow"},
		{"us1root", "threshold.sign", "us1q", "allow"},

		{"us1a", "threshold.sign", "us1q", "deny"},
		{"us1a", "threshold.refresh", "us1k", "deny"},
		{"us1b", "threshold.sign", "us1k", "deny"},
		{"us1b", "thresholdsign", "us1m", "deny"},
		{"us1b", "threshold", "us1m", "deny"},
		{"us1a2", "threshold.sign", "us1k", "deny"},
		{"us1", "threshold.sign", "us1k", "deny"},
		{"US1A", "threshold.sign", "us1k", "deny"},
		{"us1anybody", "node.status", "us1k", "deny"}, // the rule is about no key
		{"us1anybody", "node.stop", "", "deny"},
		{"*", "threshold.sign", "us1k", "deny"},
		{"us1a", "*", "us1k", "deny"},
		{"us1a", "threshold.sign", "*", "deny"},
		{"", "node.status", "", "deny"},
		{"us1root", "", "", "deny"},
	} {
		d, err := p.Decide(Call{test.party, test.op, test.key}, start)
		got := "allow"
		var denied *DeniedError
		switch {
		case errors.As(err, &denied):
			got = "deny"
		case err != nil:
			got = err.Error()
		case d.Approve:
			got = "approve"
		}
		if got != test.want {
			t.Errorf("%q %q %q: %s, want %s", test.party, test.op, test.key, got, test.want)
		}
	}
	if _, err := mustNew(t).Decide(Call{"us1a", "x", ""}, start); err == nil {
		t.Error("something is allowed without rules")
	}
}

func TestNewRefuses(t *testing.T) {
	one := []string{"x"}
	for _, r := range []Rule{
		{Operations: one},
		{Parties: one},
		{Parties: []string{""}, Operations: one},
		{Parties: []string{"us1*"}, Operations: one},
		{Parties: one, Operations: []string{"a*"}},
		{Parties: one, Operations: []string{"*.*"}},
		{Parties: one, Operations: []string{".*"}},
		{Parties: one, Operations: []string{"a b"}},
		{Parties: one, Operations: one, Keys: []string{"us1.*"}},
		{Parties: one, Operations: one, Rate: "10"},
		{Parties: one, Operations: one, Rate: "/s"},
		{Parties: one, Operations: one, Rate: "0/s"},
		{Parties: one, Operations: one, Rate: "-1/s"},
		{Parties: one, Operations: one, Rate: "+1/s"},
		{Parties: one, Operations: one, Rate: "01/s"},
		{Parties: one, Operations: one, Rate: "1/d"},
		{Parties: one, Operations: one, Rate: "1/s "},
		{Parties: one, Operations: one, Rate: "2000000000/s"},
		{Parties: one, Operations: one, Rate: "99999999999999999999/s"},
	} {
		if _, err := New([]Rule{r}); err == nil {
			t.Errorf("%+v is accepted", r)
		}
	}
}

func TestRate(t *testing.T) {
	p := mustNew(t, Rule{Parties: []string{"*"}, Operations: []string{"x"}, Rate: "3/s"})
	call := func(party string, at time.Duration) error {
		_, err := p.Decide(Call{party, "x", ""}, start.Add(at))
		return err
	}
	for i := range 3 {
		if err := call("a", 0); err != nil {
			t.Fatalf("call %d: %v", i, err)
		}
	}
	var limit *LimitError
	if err := call("a", 0); !errors.As(err, &limit) || limit.After <= 0 || limit.After > time.Second {
		t.Fatalf("the fourth call: %v", err)
	}
	if err := call("b", 0); err != nil {
		t.Errorf("another party: %v", err)
	}
	if err := call("a", limit.After-1); err == nil {
		t.Error("allowed too early")
	}
	if err := call("a", limit.After); err != nil {
		t.Errorf("after the time that was named: %v", err)
	}
	// A clock that goes back gives nothing away.
	if err := call("a", -time.Hour); err == nil {
		t.Error("allowed in the past")
	}
	// The bucket doesn't fill over the burst.
	for i := range 4 {
		if err := call("a", time.Hour); (err == nil) != (i < 3) {
			t.Errorf("call %d after an hour: %v", i, err)
		}
	}
	// Parties that stay away are forgotten.
	for i := range 1000 {
		call(fmt.Sprint(i), time.Hour)
	}
	call("z", 3*time.Hour)
	if len(p.used.buckets) != 1 {
		t.Errorf("%d buckets are kept", len(p.used.buckets))
	}
}

func TestRateConcurrent(t *testing.T) {
	p := mustNew(t, Rule{Parties: []string{"*"}, Operations: []string{"x"}, Rate: "100/h"})
	var allowed atomic.Int64
	var wg sync.WaitGroup
	for range 16 {
		wg.Go(func() {
			for range 50 {
				if _, err := p.Decide(Call{"a", "x", ""}, start); err == nil {
					allowed.Add(1)
				}
			}
		})
	}
	wg.Wait()
	if n := allowed.Load(); n != 100 {
		t.Errorf("%d calls are allowed", n)
	}
}

// A policy that takes another's place doesn't give anybody a new start.
func TestFollow(t *testing.T) {
	limited := Rule{Parties: []string{"a", "c"}, Operations: []string{"x"}, Keys: []string{"k"}, Rate: "2/h"}
	old := mustNew(t, limited, Rule{Parties: []string{"*"}, Operations: []string{"y"}, Rate: "2/h"})
	use := func(p *Policy, party, operation string) error {
		_, err := p.Decide(Call{party, operation, ""}, start)
		return err
	}
	for range 2 {
		for _, c := range []struct{ party, operation string }{{"a", "x"}, {"a", "y"}, {"b", "y"}} {
			if err := use(old, c.party, c.operation); err != nil {
				t.Fatal(err)
			}
		}
	}
	change := func(f func(*Rule)) Rule { r := limited; f(&r); return r }
	for _, tt := range []struct {
		name  string
		rule  Rule
		fresh bool
	}{
		{"the same", limited, false},
		{"another party beside", change(func(r *Rule) { r.Parties = []string{"d", "a"} }), false},
		{"by a star", change(func(r *Rule) { r.Parties = []string{"*"} }), false},
		{"to be approved", change(func(r *Rule) { r.Approve = true }), false},
		{"another rate", change(func(r *Rule) { r.Rate = "3/h" }), true},
		{"no rate", change(func(r *Rule) { r.Rate = "" }), true},
		{"more operations", change(func(r *Rule) { r.Operations = []string{"x", "z"} }), true},
		{"other keys", change(func(r *Rule) { r.Keys = []string{"k", "l"} }), true},
		{"a list that reads alike", change(func(r *Rule) { r.Keys = []string{`k"`} }), true},
	} {
		p := mustNew(t, Rule{Parties: []string{"z"}, Operations: []string{"*"}}, tt.rule, Rule{Parties: []string{"*"}, Operations: []string{"y"}, Rate: "2/h"})
		p.Follow(old)
		var limit *LimitError
		if err := use(p, "a", "x"); (err == nil) != tt.fresh || err != nil && !errors.As(err, &limit) {
			t.Errorf("%s: %v", tt.name, err)
		}
		if err := use(p, "b", "y"); !errors.As(err, &limit) {
			t.Errorf("%s: the rule that stayed: %v", tt.name, err)
		}
	}
	// What is used under the new one counts for the old, which calls may still be at.
	p := mustNew(t, limited)
	p.Follow(old)
	for range 2 {
		if err := use(p, "c", "x"); err != nil {
			t.Fatal(err)
		}
	}
	if err := use(old, "c", "x"); err == nil {
		t.Error("the old policy has its own account")
	}
}
