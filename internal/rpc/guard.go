// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package rpc

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/undersign/undersign/internal/audit"
	"github.com/undersign/undersign/internal/party"
	"github.com/undersign/undersign/internal/policy"
)

// Limits bound what one call costs.
type Limits struct {
	Message int           // bytes of a message
	Call    time.Duration // for a call that isn't a stream, from its first byte to its last
	Calls   int           // of one party at a time, streams included
}

// A GuardConfig is what a guard is made of. All fields are needed.
type GuardConfig struct {
	Self    string                           // the node's fingerprint
	Known   func(fingerprint string) bool    // whether a party is known
	Record  func(audit.Entry, audit.Outcome) // writes an event to the audit log
	Policy  *policy.Policy
	Limits  Limits
	Now     func() time.Time
	Log     *slog.Logger
	Metrics *Metrics
}

// A Guard is an http.Handler that lets calls through to services, and knows of each who
// makes it.
type Guard struct {
	cfg    GuardConfig
	policy atomic.Pointer[policy.Policy]
	limits atomic.Pointer[Limits]
	writer *connect.ErrorWriter
	denied denials // of parties that are known
	others denials // of all others together

	procedures map[string]*procedure // by path

	mu      sync.Mutex
	calls   map[caller]int // at this time
	running map[*running]struct{}
}

// A caller is a party, or one at an operation of which there are to be few calls.
type caller struct{ party, operation string }

// A procedure is a method of a service.
type procedure struct {
	operation string
	stream    bool
	open      bool  // for parties that aren't known too
	waits     bool  // for a person, if a rule wants it
	most      int64 // bytes of a message, if it isn't 0
	few       int   // calls of one party at a time, if it isn't 0
	handler   http.Handler
}

// A running call can be ended from elsewhere.
type running struct {
	call    Call
	cancel  context.CancelFunc
	control *http.ResponseController
}

// NewGuard returns a guard without services.
func NewGuard(cfg GuardConfig) *Guard {
	g := &Guard{cfg: cfg, writer: connect.NewErrorWriter(), procedures: make(map[string]*procedure), calls: make(map[caller]int), running: make(map[*running]struct{})}
	g.denied = denials{record: cfg.Record, now: cfg.Now, most: 20}
	g.others = denials{record: cfg.Record, now: cfg.Now, most: 1}
	g.SetPolicy(cfg.Policy)
	g.SetLimits(cfg.Limits)
	return g
}

// SetPolicy makes a policy hold from the next call on. Under rules that stay the same
// parties have left of their rates what they had.
//
// It is called too when parties have come or gone: calls under way end whose party isn't
// known any more, or that no rule allows it with any key. Streams would outlive their
// right to be there otherwise.
func (g *Guard) SetPolicy(p *policy.Policy) {
	if old := g.policy.Load(); old != nil {
		p.Follow(old)
	}
	g.policy.Store(p)
	g.mu.Lock()
	var ended []Call
	for r := range g.running {
		if g.permitted(r.call) != nil {
			r.cancel()
			// A handler that waits for the other end to send hears of it too.
			r.control.SetReadDeadline(time.Unix(1, 0))
			ended = append(ended, r.call)
		}
	}
	g.mu.Unlock()
	for _, call := range ended {
		g.Denied(call, "ended: the party isn't known any more, or no rule allows the call")
	}
}

// permitted returns why a call isn't allowed, whatever the key, or nil.
func (g *Guard) permitted(call Call) error {
	if call.Self || call.open {
		return nil
	}
	if !g.cfg.Known(call.Party) {
		return &policy.DeniedError{Call: call.policy(), Reason: "the party isn't known"}
	}
	_, err := g.policy.Load().Permits(call.policy())
	return err
}

// SetLimits makes limits hold from the next call on, but for the size of messages, which
// stays what it was when services were added.
func (g *Guard) SetLimits(l Limits) { g.limits.Store(&l) }

// Handle adds a service before the guard is used. Its methods in open may be called by
// parties that aren't known.
func (g *Guard) Handle(desc protoreflect.ServiceDescriptor, h http.Handler, open ...string) error {
	name := string(desc.FullName())
	methods := desc.Methods()
	for i := range methods.Len() {
		m := methods.Get(i)
		operation, err := Operation(name, string(m.Name()))
		if err != nil {
			return err
		}
		path := "/" + name + "/" + string(m.Name())
		if g.procedures[path] != nil {
			return fmt.Errorf("rpc: %s is there twice", path)
		}
		p := &procedure{operation: operation, stream: m.IsStreamingClient() || m.IsStreamingServer(), handler: h}
		for _, o := range open {
			p.open = p.open || o == string(m.Name())
		}
		g.procedures[path] = p
	}
	return nil
}

// Bound makes a number of bytes the most that a message of an operation has, where that is
// less than what its service takes. Handlers read a message before they know the key
// in it, so that all whom a rule allows the operation with any key can send one.
func (g *Guard) Bound(operation string, bytes int64) {
	for _, p := range g.procedures {
		if p.operation == operation {
			p.most = bytes
		}
	}
}

// Few makes a number the most calls of an operation that a party has under way, where that
// is less than what holds for all its calls: for operations whose messages are large.
func (g *Guard) Few(operation string, calls int) {
	for _, p := range g.procedures {
		if p.operation == operation {
			p.few = calls
		}
	}
}

// Approvable names operations that wait for a person where a rule wants one: their
// handlers look at the call's Approve. All others are denied under such a rule.
func (g *Guard) Approvable(operations ...string) {
	for _, p := range g.procedures {
		p.waits = p.waits || slices.Contains(operations, p.operation)
	}
}

// Options returns what the handlers of services need. maxMessage of 0 means the usual.
func (g *Guard) Options(maxMessage int) []connect.HandlerOption {
	if maxMessage <= 0 {
		maxMessage = g.limits.Load().Message
	}
	return []connect.HandlerOption{
		connect.WithInterceptors(&interceptor{g}),
		connect.WithReadMaxBytes(maxMessage),
		// What is signed and encrypted doesn't shrink; and nothing can be blown up.
		connect.WithCompression("gzip", nil, nil),
	}
}

// ServeHTTP implements [http.Handler].
func (g *Guard) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	fingerprint, err := party.Peer(r.TLS)
	if err != nil {
		http.Error(w, "no party", http.StatusForbidden) // not over party's TLS
		return
	}
	p := g.procedures[r.URL.Path]
	if p == nil {
		http.NotFound(w, r)
		return
	}
	key, _ := r.TLS.PeerCertificates[0].PublicKey.(ed25519.PublicKey) // as Peer has found
	call := Call{Party: fingerprint, PublicKey: key, Operation: p.operation, Self: fingerprint == g.cfg.Self, open: p.open, waits: p.waits}
	if err := g.permitted(call); err != nil { // before anything of the message is read
		g.refuse(w, r, call, err)
		return
	}
	limits := g.limits.Load()
	all, these := caller{party: fingerprint}, caller{fingerprint, p.operation}
	if !g.enter(all, limits.Calls) {
		g.refuse(w, r, call, &policy.LimitError{Call: call.policy(), After: time.Second})
		return
	}
	defer g.leave(all)
	if p.few > 0 {
		if !g.enter(these, p.few) {
			g.refuse(w, r, call, &policy.LimitError{Call: call.policy(), After: time.Second})
			return
		}
		defer g.leave(these)
	}
	defer g.recover(call)

	ctx, cancel := context.WithCancel(withCall(r.Context(), call))
	defer cancel()
	control := http.NewResponseController(w)
	defer g.run(&running{call, cancel, control})()
	if p.most > 0 {
		r.Body = http.MaxBytesReader(w, r.Body, p.most)
	}
	if !p.stream && !call.Self { // a copy of a large store takes its time
		ctx, cancel = context.WithTimeout(ctx, limits.Call)
		defer cancel()
		// A caller who sends or reads slowly doesn't hold the call for longer.
		deadline := time.Now().Add(limits.Call)
		control.SetReadDeadline(deadline)
		control.SetWriteDeadline(deadline.Add(time.Second))
	}
	p.handler.ServeHTTP(w, r.WithContext(ctx))
}

// run notes that a call is under way until the function that it returns is called. From
// then on nobody may use the call's response.
func (g *Guard) run(r *running) func() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.running[r] = struct{}{}
	return func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		delete(g.running, r)
	}
}

// recover says what a handler's panic was. Nobody but the call is harmed by it; that it
// happens at all is a fault of ours that people should hear of.
func (g *Guard) recover(call Call) {
	v := recover()
	if v == nil {
		return
	}
	if v != http.ErrAbortHandler {
		g.cfg.Log.Error("a call panicked", "operation", call.Operation, "party", call.Party, "panic", fmt.Sprint(v), "stack", string(debug.Stack()))
		g.cfg.Record(audit.Entry{Party: call.Party, Operation: call.Operation, Detail: "the call panicked: the node's log says more"}, audit.Failed)
	}
	panic(http.ErrAbortHandler) // resets the stream
}

func (c *Call) policy() policy.Call {
	return policy.Call{Party: c.Party, Operation: c.Operation, Key: c.Key}
}

// refuse answers a call before anything of it was read.
func (g *Guard) refuse(w http.ResponseWriter, r *http.Request, call Call, err error) {
	g.note(call, err)
	g.cfg.Metrics.refused(call.Operation, err)
	if !g.writer.IsSupported(r) {
		http.Error(w, "refused", http.StatusForbidden)
		return
	}
	g.writer.Write(w, r, encodeError(g.cfg.Log, call.Operation, err))
}

// Denied records that a handler denies a call by itself.
func (g *Guard) Denied(call Call, reason string) {
	g.note(call, &policy.DeniedError{Call: call.policy(), Reason: reason})
}

// note records a denial.
func (g *Guard) note(call Call, err error) {
	var denied *policy.DeniedError
	if !errors.As(err, &denied) {
		return
	}
	d := &g.others
	if g.cfg.Known(call.Party) {
		d = &g.denied
	}
	if d.add(call, denied.Reason) {
		g.cfg.Log.Warn("denied", "party", call.Party, "operation", call.Operation, "key", call.Key, "reason", denied.Reason)
	}
}

func (g *Guard) enter(c caller, most int) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.calls[c] >= most && c.party != g.cfg.Self {
		return false
	}
	g.calls[c]++
	return true
}

// Running returns how many calls are under way.
func (g *Guard) Running() (n int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for c, k := range g.calls {
		if c.operation == "" {
			n += k
		}
	}
	return n
}

func (g *Guard) leave(c caller) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.calls[c]--; g.calls[c] == 0 {
		delete(g.calls, c)
	}
}

// Authorize decides about the call of ctx once more, with a key that isn't in a field
// key of its first message: handlers of streams, and of messages with keys inside, call it
// before they do anything with the key.
func (g *Guard) Authorize(ctx context.Context, key string) (Call, error) {
	call := CallFrom(ctx)
	call.Key = key
	if call.Self {
		return call, nil
	}
	d, err := g.policy.Load().Decide(call.policy(), g.cfg.Now())
	return g.decided(call, d, err)
}

// Permit is Authorize for a key that is found out during a call which is authorized
// already: it doesn't count against the rate of a rule.
func (g *Guard) Permit(ctx context.Context, key string) (Call, error) {
	call := CallFrom(ctx)
	call.Key = key
	if call.Self {
		return call, nil
	}
	d, err := g.policy.Load().Permits(call.policy())
	return g.decided(call, d, err)
}

// May is Permit for those who only leave out what the caller may not see: it records nothing.
func (g *Guard) May(ctx context.Context, key string) bool {
	call := CallFrom(ctx)
	call.Key = key
	if call.Self {
		return true
	}
	d, err := g.policy.Load().Permits(call.policy())
	return err == nil && g.cfg.Known(call.Party) && (!d.Approve || call.waits)
}

func (g *Guard) decided(call Call, d policy.Decision, err error) (Call, error) {
	if call.Party != "" && !g.cfg.Known(call.Party) { // removed since the stream began
		err = &policy.DeniedError{Call: call.policy(), Reason: "the party isn't known"}
	}
	if err == nil && d.Approve && !call.waits {
		err = &policy.DeniedError{Call: call.policy(), Reason: "its rule says approve = true, and the operation can't wait for a person"}
	}
	if err != nil {
		g.note(call, err)
		return call, err
	}
	call.Approve = d.Approve
	return call, nil
}

// denials writes denials to the audit log: most of them a second one by one, and after
// mostAnHour one a minute. More would let a caller without any rights fill the disk; the next
// one says how many there were.
type denials struct {
	record func(audit.Entry, audit.Outcome)
	now    func() time.Time
	most   int

	mu      sync.Mutex
	second  time.Time
	written int
	hour    time.Time
	hourly  int
	last    time.Time
	skipped uint64
}

const mostAnHour = 2000

// add reports whether it has written the denial.
func (d *denials) add(call Call, reason string) bool {
	d.mu.Lock()
	now := d.now()
	if since := now.Sub(d.second); since < 0 || since >= time.Second {
		d.second, d.written = now, 0
	}
	if since := now.Sub(d.hour); since < 0 || since >= time.Hour {
		d.hour, d.hourly, d.last = now, 0, time.Time{}
	}
	if d.written >= d.most || d.hourly >= mostAnHour && now.Sub(d.last) < time.Minute {
		d.skipped++
		d.mu.Unlock()
		return false
	}
	d.written++
	d.hourly++
	d.last = now
	skipped := d.skipped
	d.skipped = 0
	d.mu.Unlock()
	if skipped > 0 {
		reason += fmt.Sprintf(" (and %d denials that weren't written)", skipped)
	}
	// A key comes from the caller, and may be anything.
	d.record(audit.Entry{Party: call.Party, Operation: call.Operation, Key: strings.ToValidUTF8(call.Key, "?"), Detail: reason}, audit.Denied)
	return true
}
