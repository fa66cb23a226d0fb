// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

// Package policy decides who may do what: every call is a party, an operation and a key,
// and nothing is allowed unless a rule says so. A call that is denied is another thing
// than one that failed: see [DeniedError]. One that comes too often is a third: see
// [LimitError].
package policy

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// A Call is what is decided about.
type Call struct {
	Party     string // fingerprint of who calls
	Operation string // such as threshold.sign
	Key       string // fingerprint of the key, or empty if the operation is about none
}

// A Rule allows calls. Each list must have an entry that matches; an operation may end
// with .* for all that begin alike, and * alone matches everything.
type Rule struct {
	Parties    []string `toml:"parties"`
	Operations []string `toml:"operations"`
	Keys       []string `toml:"keys"`    // empty: calls that are about no key
	Rate       string   `toml:"rate"`    // of one party's calls, such as 10/s, 100/m or 5000/h; empty: no limit
	Approve    bool     `toml:"approve"` // a person has to approve each call
}

// A DeniedError says that no rule allows a call.
type DeniedError struct {
	Call   Call
	Reason string
}

func (e *DeniedError) Error() string {
	s := fmt.Sprintf("policy: %s is denied to %s", e.Call.Operation, e.Call.Party)
	if e.Call.Key != "" {
		s += " for key " + e.Call.Key
	}
	return s + ": " + e.Reason
}

// A LimitError says that a call is allowed, but not so soon.
type LimitError struct {
	Call  Call
	After time.Duration // when it may be tried again
}

func (e *LimitError) Error() string {
	if e.Call.Operation == "" { // from another node, which doesn't say
		return fmt.Sprintf("policy: too many calls by %s: try again in %v", e.Call.Party, e.After.Round(time.Millisecond))
	}
	return fmt.Sprintf("policy: too many calls of %s by %s: try again in %v", e.Call.Operation, e.Call.Party, e.After.Round(time.Millisecond))
}

// A Decision is about a call that is allowed.
type Decision struct {
	Approve bool // once a person has approved it
}

// A Policy is a list of rules, with what is left of each party's rates. It may be used
// by several goroutines.
type Policy struct {
	rules []rule
	used  *usage
}

type rule struct {
	Rule
	rate rate
	same string // is that of another rule if it allows the same, to whomever
}

// A usage is what is left of rates. A policy that takes the place of another goes on with
// the other's.
type usage struct {
	mu      sync.Mutex
	buckets map[bucketKey]*bucket
	swept   time.Time
}

type bucketKey struct {
	same  string
	party string
}

// New returns the policy of some rules.
func New(rules []Rule) (*Policy, error) {
	p := &Policy{used: &usage{buckets: make(map[bucketKey]*bucket)}}
	for i, r := range rules {
		for _, list := range []struct {
			name  string
			items []string
			none  bool // may be empty
		}{{"parties", r.Parties, false}, {"operations", r.Operations, false}, {"keys", r.Keys, true}} {
			if len(list.items) == 0 && !list.none {
				return nil, fmt.Errorf("policy: rule %d has no %s", i+1, list.name)
			}
			for _, s := range list.items {
				if err := checkPattern(s, list.name == "operations"); err != nil {
					return nil, fmt.Errorf("policy: rule %d: %s: %w", i+1, list.name, err)
				}
			}
		}
		rate, err := parseRate(r.Rate)
		if err != nil {
			return nil, fmt.Errorf("policy: rule %d: %w", i+1, err)
		}
		p.rules = append(p.rules, rule{r, rate, fmt.Sprintf("%q %q %q", r.Operations, r.Keys, r.Rate)})
	}
	return p, nil
}

// Follow has p, which wasn't used yet, take the place of another policy: what parties have
// used of their rates counts under rules that allow the same operations and keys at the
// same rate. Who is named beside them, and in which place a rule stands, doesn't matter.
func (p *Policy) Follow(old *Policy) { p.used = old.used }

func checkPattern(s string, prefixes bool) error {
	if s == "*" {
		return nil
	}
	if prefixes {
		s = strings.TrimSuffix(s, ".*")
	}
	if s == "" || strings.ContainsAny(s, "* \t\n") {
		return fmt.Errorf("%q isn't a pattern", s)
	}
	return nil
}

func matches(patterns []string, s string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool {
		if p == "*" || p == s {
			return true
		}
		prefix, ok := strings.CutSuffix(p, "*")
		return ok && strings.HasSuffix(prefix, ".") && strings.HasPrefix(s, prefix)
	})
}

// Decide decides about a call at a time. The first rule that matches holds. The error is
// a [DeniedError] or a [LimitError].
func (p *Policy) Decide(c Call, now time.Time) (Decision, error) {
	r, err := p.find(c)
	if err != nil {
		return Decision{}, err
	}
	if after := p.used.take(r, c.Party, now); after > 0 {
		return Decision{}, &LimitError{c, after}
	}
	return Decision{Approve: r.Approve}, nil
}

// Permits is Decide for what isn't a call of its own, such as a key that comes to light
// during one: it doesn't count against rates. Without a key it says whether there is any
// with which the call is allowed. The error is a [DeniedError].
func (p *Policy) Permits(c Call) (Decision, error) {
	r, err := p.find(c)
	if err != nil {
		return Decision{}, err
	}
	return Decision{Approve: r.Approve}, nil
}

// find returns the first rule that matches.
func (p *Policy) find(c Call) (*rule, error) {
	if c.Party == "" || c.Operation == "" {
		return nil, &DeniedError{c, "the caller or the operation isn't known"}
	}
	known := false
	for i := range p.rules {
		r := &p.rules[i]
		if !matches(r.Parties, c.Party) {
			continue
		}
		known = true
		if matches(r.Operations, c.Operation) && (c.Key == "" || matches(r.Keys, c.Key)) {
			return r, nil
		}
	}
	if !known {
		return nil, &DeniedError{c, "no rule names the party"}
	}
	return nil, &DeniedError{c, "no rule of the party allows the operation with this key"}
}

// A rate is a token bucket: burst tokens at most, one more every interval.
type rate struct {
	burst    int64
	interval time.Duration
}

// parseRate reads 10/s, 100/m or 5000/h.
func parseRate(s string) (rate, error) {
	if s == "" {
		return rate{}, nil
	}
	bad := fmt.Errorf("rate %q isn't like 10/s, 100/m or 5000/h", s)
	count, unit, ok := strings.Cut(s, "/")
	n, err := strconv.ParseUint(count, 10, 31)
	if !ok || err != nil || n == 0 || count[0] == '0' || count[0] == '+' {
		return rate{}, bad
	}
	per := map[string]time.Duration{"s": time.Second, "m": time.Minute, "h": time.Hour}[unit]
	if per == 0 {
		return rate{}, bad
	}
	if per/time.Duration(n) == 0 {
		return rate{}, errors.New("rate over 10^9 calls a second")
	}
	return rate{int64(n), per / time.Duration(n)}, nil
}

// A bucket holds the tokens of one party under one rule: as many as intervals have
// passed since empty, and no more than the burst.
type bucket struct {
	rate  rate
	empty time.Time
}

// full is what empty is at least.
func (r rate) full(now time.Time) time.Time { return now.Add(-time.Duration(r.burst) * r.interval) }

// take takes a token, or returns how long it takes until there is one.
func (u *usage) take(r *rule, party string, now time.Time) time.Duration {
	if r.rate.burst == 0 {
		return 0
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	u.sweep(now)
	full := r.rate.full(now)
	b := u.buckets[bucketKey{r.same, party}]
	if b == nil {
		b = &bucket{r.rate, full}
		u.buckets[bucketKey{r.same, party}] = b
	}
	if b.empty.Before(full) {
		b.empty = full
	}
	next := b.empty.Add(r.rate.interval)
	if next.After(now) {
		return next.Sub(now)
	}
	b.empty = next
	return 0
}

// sweep forgets full buckets once a minute, so that parties that stay away cost nothing.
func (u *usage) sweep(now time.Time) {
	if now.Sub(u.swept) < time.Minute {
		return
	}
	u.swept = now
	for k, b := range u.buckets {
		if b.empty.Before(b.rate.full(now)) {
			delete(u.buckets, k)
		}
	}
}
