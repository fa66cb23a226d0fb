// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package threshold

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"connectrpc.com/connect"

	thresholdv1 "github.com/undersign/undersign/gen/undersign/threshold/v1"
	"github.com/undersign/undersign/internal/policy"
	"github.com/undersign/undersign/internal/rpc"
	"github.com/undersign/undersign/thresholdrsa"
)

// How a coordinator collects. As many nodes as it takes are asked at first; each that
// gives no good share is replaced at once, and all are asked when hedge has passed, but
// for those that have said that they hold no share: they are asked when the others were
// replaced, or when widen has passed. What is signed is no business of theirs.
const (
	widen      = 2 * time.Second
	hedge      = 250 * time.Millisecond
	attempt    = 10 * time.Second // for one call
	personWait = 2 * time.Second  // of that, for a person at the other node
	firstRetry = 200 * time.Millisecond
	lastRetry  = 2 * time.Second
	silences   = 4 // calls without an answer, until a node is given up
)

// A source is a node that may have a share.
type source struct {
	party string
	name  string
	own   bool // it is this node
	ask   func(context.Context) ([]byte, error)

	tries    int
	delay    time.Duration
	unlikely bool // it said that it holds no share

	fault    *Fault // of the last try
	later    bool   // and it will have the share in a moment
	answered bool   // it sent a share
}

// A reply is what came of a try.
type reply struct {
	src   *source
	share *thresholdrsa.SignatureShare
	sound bool // the share has been verified
	fault Fault
	stale bool // it has a later epoch
	later bool // it will have the share in a moment
}

// collect gets shares until those of K holders combine. stale lists who has a later epoch.
func collect(ctx context.Context, p *thresholdrsa.PublicKey, r *thresholdrsa.Request, sources []*source) (sig []byte, faults []Fault, good []*source, stale []*source, err error) {
	ctx, cancel := context.WithCancel(ctx)
	var wg sync.WaitGroup
	defer wg.Wait()
	defer cancel()
	replies := make(chan reply)
	retries := make(chan *source)
	launched, running, sleeping := 0, 0, 0
	launch := func(src *source) {
		running++
		wg.Go(func() {
			select {
			case replies <- src.try(ctx):
			case <-ctx.Done():
			}
		})
	}
	next := func() {
		if launched < len(sources) {
			launch(sources[launched])
			launched++
		}
	}
	for range p.Threshold() {
		next()
	}
	hedged := time.NewTimer(hedge)
	defer hedged.Stop()
	widened := time.NewTimer(widen)
	defer widened.Stop()
	shares := pile{p: p, r: r, of: make(map[int]*reply)}
	need := p.Threshold()
	failed := func(a *reply) {
		a.src.fault, a.src.later = &a.fault, a.later
		if a.stale {
			stale = append(stale, a.src)
		}
		next()
		if delay, again := a.src.again(); again {
			sleeping++
			wg.Go(func() { sleep(ctx, a.src, delay, retries) })
		}
	}
	tooFew := func() error {
		for _, a := range shares.verify() {
			a.src.fault = &a.fault
		}
		return &QuorumError{len(shares.of), need, faultsOf(sources)}
	}
	for {
		if len(shares.of) >= need {
			sig, bad, err := shares.combine()
			if len(bad) == 0 {
				return sig, faultsOf(sources), shares.sources(), stale, err
			}
			for _, a := range bad {
				failed(a)
			}
			continue
		}
		if len(shares.of)+running+sleeping+len(sources)-launched < need {
			err := tooFew()
			return nil, faultsOf(sources), shares.sources(), stale, err
		}
		select {
		case <-hedged.C:
			for launched < len(sources) && !sources[launched].unlikely {
				next()
			}
		case <-widened.C:
			for launched < len(sources) {
				next()
			}
		case src := <-retries:
			sleeping--
			launch(src)
		case a := <-replies:
			running--
			if a.share == nil {
				failed(&a)
				continue
			}
			a.src.fault, a.src.answered = nil, true
			bad, twice := shares.add(&a)
			for _, a := range bad {
				failed(a)
			}
			if twice {
				next()
			}
		case <-ctx.Done():
			for _, src := range sources[:launched] {
				if src.fault == nil && !src.answered {
					src.fault = &Fault{Party: src.party, Name: src.name, Kind: Silent, Reason: "not in time"}
				}
			}
			err := tooFew()
			return nil, faultsOf(sources), shares.sources(), stale, err
		}
	}
}

// A pile is shares of different holders. That they combine shows that all of them are
// right, at a small part of what verifying each costs; so only those are verified that
// don't, or of which there are too few. Once they didn't, each is verified before it is
// tried: or else one liar after the other would have all of them verified again.
type pile struct {
	p      *thresholdrsa.PublicKey
	r      *thresholdrsa.Request
	of     map[int]*reply // by the holder's index
	failed int            // times that they didn't combine
}

// add puts a share there and returns those that turned out to be bad: of two that name the
// same holder one may be somebody else's. It may be the same one twice, too.
func (l *pile) add(a *reply) (bad []*reply, twice bool) {
	i := a.share.Index()
	old := l.of[i]
	if old == nil {
		l.of[i] = a
		return nil, false
	}
	if !old.sound && l.judge([]*reply{old}) != nil {
		l.of[i] = a
		return []*reply{old}, false
	}
	if a.sound = a.share.Equal(old.share); !a.sound && l.judge([]*reply{a}) != nil {
		return []*reply{a}, false
	}
	l.twice(old, a)
	return nil, true
}

// twice names who sent a holder's share that another node sent too, and keeps the other's.
// That is the holder, if it is this node or the one that this node calls by the holder's
// name; and both are named if that doesn't tell them apart.
func (l *pile) twice(a, b *reply) {
	i := a.share.Index()
	holder := l.p.Holders()[i-1].Name
	if b.isOf(holder) && !a.isOf(holder) || b.src.own {
		a, b = b, a
	}
	l.of[i] = a
	fault := func(a, b *reply) {
		a.fault.Kind, a.fault.Index, a.fault.Holder = Failed, i, holder
		a.fault.Reason = "it sent the same holder's share as " + b.src.name
		a.src.fault = &a.fault
	}
	fault(b, a)
	if !a.src.own && a.isOf(holder) == b.isOf(holder) {
		fault(a, b)
	}
}

func (a *reply) isOf(holder string) bool { return a.src.own || a.src.name == holder }

// combine returns the signature, or the shares that were bad and are gone, or an error that
// is nobody's fault here.
func (l *pile) combine() (sig []byte, bad []*reply, err error) {
	if l.failed > 0 {
		if bad := l.verify(); len(bad) > 0 {
			return nil, bad, nil
		}
	}
	var list []*thresholdrsa.SignatureShare
	for _, a := range l.of {
		list = append(list, a.share)
	}
	if sig, _, err = l.p.Combine(l.r, list...); err != nil {
		l.failed++
		bad = l.verify()
	}
	return sig, bad, err
}

// verify takes the bad shares out and returns them.
func (l *pile) verify() (bad []*reply) {
	var list []*reply
	for _, a := range l.of {
		if !a.sound {
			list = append(list, a)
		}
	}
	bad = l.judge(list)
	for _, a := range bad {
		delete(l.of, a.share.Index())
	}
	return bad
}

// judge verifies shares and returns the bad ones.
func (l *pile) judge(list []*reply) (bad []*reply) {
	answers := make([]thresholdrsa.Answer, len(list))
	for i, a := range list {
		answers[i] = thresholdrsa.Answer{Request: l.r, Share: a.share}
	}
	for i, err := range l.p.VerifyShares(answers) {
		a := list[i]
		if a.sound = err == nil; a.sound {
			continue
		}
		a.fault.Kind, a.fault.Reason = Bad, trim(err)
		var se *thresholdrsa.ShareError
		if errors.As(err, &se) {
			a.fault.Index, a.fault.Holder, a.fault.Reason = se.Index, se.Holder, se.Reason
		}
		bad = append(bad, a)
	}
	return bad
}

// sources returns whose shares are there.
func (l *pile) sources() (list []*source) {
	for _, a := range l.of {
		list = append(list, a.src)
	}
	return list
}

// sleep hands the source back after a delay.
func sleep(ctx context.Context, src *source, delay time.Duration, retries chan<- *source) {
	timer := time.NewTimer(delay)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
		return
	}
	select {
	case retries <- src:
	case <-ctx.Done():
	}
}

func faultsOf(sources []*source) (list []Fault) {
	for _, src := range sources {
		if src.fault != nil {
			list = append(list, *src.fault)
		}
	}
	return list
}

// again says whether a source is asked once more after its last fault, and when.
func (src *source) again() (time.Duration, bool) {
	src.tries++
	if src.later {
		return firstRetry, true
	}
	switch src.fault.Kind {
	case Pending: // it has waited already, or so it should have
		return firstRetry, true
	case Limited:
	case Silent, Failed:
		if src.tries >= silences {
			return 0, false
		}
	default:
		return 0, false
	}
	src.delay = min(max(2*src.delay, firstRetry), lastRetry)
	return src.delay, true
}

// try asks a source once.
func (src *source) try(ctx context.Context) reply {
	call, cancel := context.WithTimeout(ctx, attempt)
	defer cancel()
	a := reply{src: src, fault: Fault{Party: src.party, Name: src.name}}
	data, err := src.ask(call)
	if err != nil {
		a.fault.Kind, a.fault.Reason = classify(err)
		a.stale, a.later = errors.Is(err, ErrSuperseded), connect.CodeOf(err) == codeLater
		return a
	}
	share := new(thresholdrsa.SignatureShare)
	if err := share.UnmarshalBinary(data); err != nil {
		a.fault.Kind, a.fault.Reason = Bad, trim(err)
		return a
	}
	a.share = share
	return a
}

// trim returns an error's text without the prefix of our own packages, for use inside
// another one, and no longer than what fits in a line or two: the text may be the other's.
func trim(err error) string {
	s := err.Error()
	for _, prefix := range []string{"threshold: ", "thresholdrsa: ", "policy: "} {
		s = strings.TrimPrefix(s, prefix)
	}
	if len(s) > 300 {
		s = strings.ToValidUTF8(s[:300], "") + "..."
	}
	return s
}

// classify says what an error of a call means.
func classify(err error) (FaultKind, string) {
	var (
		denied   *policy.DeniedError
		limit    *policy.LimitError
		rejected *RejectedError
		pending  *errPending
		ce       *connect.Error
	)
	switch {
	case errors.As(err, &denied):
		return Denied, denied.Reason
	case errors.As(err, &rejected):
		return Denied, trim(rejected)
	case errors.As(err, &limit):
		return Limited, ""
	case errors.As(err, &pending):
		return Pending, "until " + pending.until.UTC().Format(time.RFC3339)
	case errors.Is(err, ErrSuperseded):
		return Absent, "it has a later epoch"
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		return Silent, "not in time"
	case errors.As(err, &ce):
		switch ce.Code() {
		case connect.CodeUnavailable, connect.CodeDeadlineExceeded, connect.CodeCanceled:
			return Silent, shorten(ce.Message())
		case connect.CodeNotFound:
			return Absent, shorten(strings.TrimPrefix(ce.Message(), "threshold: "))
		case connect.CodePermissionDenied, connect.CodeUnauthenticated:
			return Denied, shorten(ce.Message())
		case connect.CodeResourceExhausted:
			if !connect.IsWireError(ce) { // its answer is too long for us
				return Failed, shorten(ce.Message())
			}
			return Limited, ""
		}
		return Failed, shorten(ce.Message())
	}
	return Failed, trim(err)
}

// shorten is trim for the text of another node.
func shorten(s string) string { return trim(errors.New(rpc.Printable(s))) }

// sources returns whom to ask for shares of a key, the likeliest first.
func (s *Service) sources(call rpc.Call, k *key, r *thresholdrsa.Request, data []byte) (list []*source) {
	if _, index := k.state(); index != 0 {
		list = append(list, &source{party: s.opt.Identity.Fingerprint(), name: "this node", own: true, ask: func(ctx context.Context) ([]byte, error) {
			return s.share(ctx, call.Party, k, r, false, 0) // the call is approved already
		}})
	}
	local := len(list)
	for _, peer := range s.opt.Peers() {
		list = append(list, &source{party: peer.Fingerprint, name: peer.Name, ask: func(ctx context.Context) ([]byte, error) {
			return s.askPeer(ctx, peer, k, data)
		}})
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	slices.SortStableFunc(list[local:], func(a, b *source) int {
		return s.scores[scoreKey{k, b.party}] - s.scores[scoreKey{k, a.party}]
	})
	for _, src := range list[local:] {
		src.unlikely = s.scores[scoreKey{k, src.party}] == scoreAbsent
	}
	return list
}

// askPeer asks a peer for its share.
func (s *Service) askPeer(ctx context.Context, peer Peer, k *key, data []byte) ([]byte, error) {
	c, err := s.opt.Dial(peer, maxSmall)
	if err != nil {
		return nil, connect.NewError(connect.CodeUnavailable, err)
	}
	resp, err := c.Share(ctx, &thresholdv1.ShareRequest{Request: data, Key: k.policy, WaitMs: uint64(personWait.Milliseconds())})
	if err != nil {
		return nil, DecodeError(rpc.DecodeError(s.opt.Identity.Fingerprint(), err))
	}
	if len(resp.Share) == 0 {
		if resp.PendingUntilMs == 0 {
			return nil, fmt.Errorf("threshold: neither a share nor a reason")
		}
		return nil, &errPending{time.UnixMilli(resp.PendingUntilMs)}
	}
	return resp.Share, nil
}

const scoreAbsent = -2

type scoreKey struct {
	key   *key
	party string
}

// remember notes who was worth asking.
func (s *Service) remember(k *key, good []*source, faults []Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.scores) > 1<<16 { // parties come and go
		clear(s.scores)
	}
	for _, src := range good {
		s.scores[scoreKey{k, src.party}] = 1
	}
	for _, f := range faults {
		score := -1
		if f.Kind == Absent {
			score = scoreAbsent
		}
		s.scores[scoreKey{k, f.Party}] = score
	}
}
