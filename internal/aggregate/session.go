// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package aggregate

import (
	"context"
	"crypto/rand"
	"errors"
	"io"
	"net/http"
	"sync"
	"time"

	"connectrpc.com/connect"

	"github.com/undersign/undersign/distill"
	aggregatev1 "github.com/undersign/undersign/gen/undersign/aggregate/v1"
	"github.com/undersign/undersign/internal/aggregate/frame"
	"github.com/undersign/undersign/internal/policy"
	"github.com/undersign/undersign/internal/rpc"
	"github.com/undersign/undersign/internal/zip215"
)

// A session carries messages of clients that have shown, in it, that they have their keys.
type session struct {
	a    *aggregator
	auth frame.Session
	out  *outbox

	// Of the goroutine that reads. ids may speak.
	ids map[uint64]bool

	// Of the loop: the clients that were routed here, and what it has to say when it
	// has done what there was to do.
	routed  []uint64
	pending struct {
		some     bool // it is among those that are to be flushed
		acks     aggregatev1.Acks
		refusals aggregatev1.Refusals
		requests aggregatev1.Requests
		throttle int64
	}
}

// maxIdentities is how many clients a session may have.
const maxIdentities = 1 << 20

// newSession begins a session with a party, or returns nil if there are too many.
func (a *aggregator) newSession(party string) *session {
	if a.open.Add(1) > a.most {
		a.open.Add(-1)
		return nil
	}
	s := &session{
		a: a, out: newOutbox(), ids: make(map[uint64]bool),
		auth: frame.Session{Net: a.s.network.ID(), Aggregator: a.id, Party: party},
	}
	rand.Read(s.auth.Challenge[:])
	return s
}

// end forgets the session.
func (s *session) end() {
	s.a.open.Add(-1)
	s.out.close(errors.New("the session has ended"))
	// Not by the session's context, which has ended.
	s.a.do(context.Background(), func(int64) error {
		delete(s.a.sessions, s)
		for _, id := range s.routed {
			if s.a.routes[id] == s {
				delete(s.a.routes, id)
			}
		}
		return nil
	})
}

func (a *aggregator) busy(ctx context.Context) error {
	call := rpc.CallFrom(ctx)
	return &policy.LimitError{Call: policy.Call{Party: call.Party, Operation: call.Operation}, After: retryBusy}
}

// sendTime is how long a frame may take to be sent.
const sendTime = 15 * time.Second

type controllerKey struct{}

// withController lets handlers set deadlines for their responses.
func withController(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c := http.NewResponseController(w)
		h.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), controllerKey{}, c)))
	})
}

func setWriteDeadline(ctx context.Context, d time.Duration) {
	if c, ok := ctx.Value(controllerKey{}).(*http.ResponseController); ok {
		c.SetWriteDeadline(time.Now().Add(d))
	}
}

// Session implements the service.
func (a *aggregator) Session(ctx context.Context, stream *connect.BidiStream[aggregatev1.SessionRequest, aggregatev1.SessionResponse]) error {
	s := a.newSession(rpc.CallFrom(ctx).Party)
	if s == nil {
		return a.busy(ctx)
	}
	ctx, cancel := context.WithCancel(ctx)
	var group sync.WaitGroup
	defer group.Wait()
	defer s.end()
	defer cancel()
	group.Go(func() { // the writer, who ends when the outbox is closed
		for {
			frames, err := s.out.next(ctx)
			if err != nil {
				return
			}
			for _, f := range frames {
				// Who keeps the connection and doesn't read is cut off.
				setWriteDeadline(ctx, sendTime)
				if err := stream.Send(f); err != nil {
					s.out.close(err)
					return
				}
			}
		}
	})
	// Receiving can't be interrupted but by the end of the handler, which then is this
	// goroutine's; so another one receives.
	received := make(chan error, 1)
	go func() {
		for {
			req, err := stream.Receive()
			if err == nil {
				err = s.take(ctx, req)
			}
			if err != nil {
				received <- err
				return
			}
		}
	}()
	select {
	case err := <-received:
		if errors.Is(err, io.EOF) {
			return nil
		}
		return err
	case <-a.s.host.Draining:
		return connect.NewError(connect.CodeUnavailable, errors.New("the node is ending"))
	case <-s.out.closed:
		return connect.NewError(connect.CodeResourceExhausted, s.out.reason())
	case <-a.quit:
		return connect.NewError(connect.CodeUnavailable, errors.New("the node is ending"))
	}
}

// take does what a frame asks for. It waits while the aggregator has enough to do, and so
// does the sender, by the flow control of the connection.
func (s *session) take(ctx context.Context, req *aggregatev1.SessionRequest) error {
	switch f := req.GetFrame().(type) {
	case *aggregatev1.SessionRequest_Hello:
		return s.hello(ctx, f.Hello)
	case *aggregatev1.SessionRequest_Auth:
		return s.authenticate(ctx, f.Auth)
	case *aggregatev1.SessionRequest_Submissions:
		return s.submit(ctx, f.Submissions)
	case *aggregatev1.SessionRequest_Reductions:
		return s.reduce(ctx, f.Reductions)
	case *aggregatev1.SessionRequest_Queries:
		return s.query(ctx, f.Queries)
	}
	return invalid(errors.New("a frame of no known kind"))
}

func (s *session) hello(ctx context.Context, f *aggregatev1.Hello) error {
	if string(f.GetNetwork()) != string(s.auth.Net[:]) {
		return invalid(errors.New("the aggregator is of another network"))
	}
	c := &aggregatev1.Challenge{Challenge: s.auth.Challenge[:], Head: s.a.headFrame()}
	if v := s.a.view.Load(); v != nil {
		c.Dirver = v.Version()
	}
	s.out.addFrame(&aggregatev1.SessionResponse{Frame: &aggregatev1.SessionResponse_Challenge{Challenge: c}})
	s.out.setHead(s.a.head.Load())
	s.a.do(ctx, func(int64) error {
		s.a.sessions[s] = struct{}{}
		return nil
	})
	return nil
}

// authenticate lets clients speak whose signatures of the challenge are valid.
func (s *session) authenticate(ctx context.Context, f *aggregatev1.Auth) error {
	box := s.a.view.Load()
	w := &aggregatev1.Welcome{}
	if box == nil {
		w.Refused = f.GetIds()
		s.out.addFrame(&aggregatev1.SessionResponse{Frame: &aggregatev1.SessionResponse_Welcome{Welcome: w}})
		return nil
	}
	w.Dirver = box.Version()
	batch := zip215.NewBatch(len(f.GetIds()))
	var candidates []uint64
	err := frame.Auths(f, func(id uint64, signature []byte) {
		key := box.EdKey(id)
		if key == nil || len(s.ids)+len(candidates) >= maxIdentities {
			w.Refused = append(w.Refused, id)
			return
		}
		batch.Add(key, s.auth.Bytes(id), signature)
		candidates = append(candidates, id)
	})
	if err != nil {
		return invalid(err)
	}
	bad := make(map[int]bool)
	for _, i := range batch.Verify() {
		bad[i] = true
	}
	for i, id := range candidates {
		if bad[i] {
			w.Refused = append(w.Refused, id)
			continue
		}
		w.Ids = append(w.Ids, id)
		s.ids[id] = true
	}
	// What the client says next is taken when its answer has somewhere to go.
	routed := make(chan struct{})
	if !s.a.do(ctx, func(int64) error {
		defer close(routed)
		if _, ok := s.a.sessions[s]; ok { // or it has ended, or not begun by a hello
			for _, id := range w.Ids {
				if s.a.routes[id] != s { // the newest session of a client is where it is
					s.a.routes[id] = s
					s.routed = append(s.routed, id)
				}
			}
		}
		s.out.addFrame(&aggregatev1.SessionResponse{Frame: &aggregatev1.SessionResponse_Welcome{Welcome: w}})
		return s.a.done(s.a.machine.Remind(w.Ids), nil)
	}) {
		return errEnding
	}
	select {
	case <-routed:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-s.a.quit:
		return errEnding
	}
}

var errEnding = connect.NewError(connect.CodeUnavailable, errors.New("the node is ending"))

// errStranger ends a session in which somebody speaks who may not: it is a mistake of the
// gateway's, or worse.
var errStranger = connect.NewError(connect.CodePermissionDenied, errors.New("a message of a client that hasn't shown its key in this session"))

func (s *session) submit(ctx context.Context, f *aggregatev1.Submissions) error {
	list := make([]*distill.Submission, 0, min(len(f.GetIds()), frame.MaxItems))
	strangers := false
	if err := frame.Submissions(f, func(x *distill.Submission) {
		strangers = strangers || !s.ids[x.ID]
		list = append(list, x)
	}); err != nil {
		return invalid(err)
	}
	if strangers {
		return errStranger
	}
	if !s.a.later(ctx, func(now int64) error {
		for _, x := range list {
			if err := s.a.done(s.a.machine.HandleSubmission(now, x)); err != nil {
				return err
			}
		}
		return nil
	}) {
		return errEnding
	}
	return nil
}

func (s *session) reduce(ctx context.Context, f *aggregatev1.Reductions) error {
	for _, id := range f.GetIds() {
		if !s.ids[id] {
			return errStranger
		}
	}
	// The form is checked first, and the rest in the loop without a copy.
	if err := frame.Reductions(f, func(*distill.Reduction) {}); err != nil {
		return invalid(err)
	}
	return s.do(ctx, func(now int64) (err error) {
		frame.Reductions(f, func(r *distill.Reduction) {
			if err == nil {
				err = s.a.done(s.a.machine.HandleReduction(now, r))
			}
		})
		return err
	})
}

func (s *session) query(ctx context.Context, f *aggregatev1.Queries) error {
	n, err := frame.Pairs(f.GetIds(), f.GetNonces())
	if err != nil {
		return invalid(err)
	}
	for i := range n {
		if !s.ids[f.Ids[i]] {
			return errStranger
		}
	}
	return s.do(ctx, func(int64) error {
		for i := range n {
			if r, ok := s.a.machine.Lookup(f.Ids[i], f.Nonces[i]); ok {
				s.out.add(outItem{receipts: r, at: []int32{0}}, 1)
			}
		}
		return nil
	})
}

func (s *session) do(ctx context.Context, f func(int64) error) error {
	if !s.a.do(ctx, f) {
		return errEnding
	}
	return nil
}

// flush hands what is pending to the writer.
func (s *session) flush() {
	p := &s.pending
	if len(p.acks.Ids) > 0 {
		for at := 0; at < len(p.acks.Ids); at += frame.MaxItems {
			end := min(at+frame.MaxItems, len(p.acks.Ids))
			s.out.addFrame(&aggregatev1.SessionResponse{Frame: &aggregatev1.SessionResponse_Acks{
				Acks: &aggregatev1.Acks{Ids: p.acks.Ids[at:end], Nonces: p.acks.Nonces[at:end]},
			}})
		}
		p.acks.Ids, p.acks.Nonces = nil, nil
	}
	if r := &p.refusals; len(r.Ids) > 0 {
		for at := 0; at < len(r.Ids); at += frame.MaxItems {
			end := min(at+frame.MaxItems, len(r.Ids))
			s.out.addFrame(&aggregatev1.SessionResponse{Frame: &aggregatev1.SessionResponse_Refusals{Refusals: &aggregatev1.Refusals{
				Ids: r.Ids[at:end], Nonces: r.Nonces[at:end], Rules: r.Rules[at:end], RetryAfterMs: r.RetryAfterMs[at:end],
			}}})
		}
		r.Ids, r.Nonces, r.Rules, r.RetryAfterMs = nil, nil, nil, nil
	}
	if len(p.requests.Ids) > 0 {
		for at := 0; at < len(p.requests.Ids); at += frame.MaxItems {
			end := min(at+frame.MaxItems, len(p.requests.Ids))
			s.out.addFrame(&aggregatev1.SessionResponse{Frame: &aggregatev1.SessionResponse_Requests{
				Requests: &aggregatev1.Requests{Ids: p.requests.Ids[at:end], Nonces: p.requests.Nonces[at:end]},
			}})
		}
		p.requests.Ids, p.requests.Nonces = nil, nil
	}
	if p.throttle > 0 {
		s.out.addFrame(&aggregatev1.SessionResponse{Frame: &aggregatev1.SessionResponse_Throttle{
			Throttle: &aggregatev1.Throttle{RetryAfterMs: uint64(p.throttle)},
		}})
		p.throttle = 0
	}
}
