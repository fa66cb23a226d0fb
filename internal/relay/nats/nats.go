// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

// Package nats is a [relay.Relay] for several validators: a stream of a NATS JetStream
// cluster, which others run.
//
// An acknowledgement is worth what the servers' disks know at the time. By default a
// server syncs every two minutes, and forgets what it acknowledged before that when its
// machine loses power. So it is asked, with a user of the system account, and refused
// unless its sync_interval is "always"; and the stream, which undersign makes if it isn't
// there, must be in files, have the replicas that were wanted, and no limit that discards.
//
// An entry's position is its number in the stream. The servers keep apart entries with the
// same ID for ten minutes; readers do it for [window] entries more, all in the same way.
// Readers remember where they are by themselves, together with what they made of it: there
// are no durable consumers, whose acknowledgements could tell another story.
//
// A validator may remove the oldest entries, once all have passed them: see [Relay.Prune].
// Whoever begins to read at what was removed gets an error, and never the next entry.
//
// Whoever may publish into the stream can hold it up, or take an ID before its owner does.
package nats

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	client "github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/undersign/undersign/internal/relay"
)

// ErrUnsafe is in the errors of servers and streams that may lose what they acknowledge.
var ErrUnsafe = errors.New("nats: not safe to use")

const (
	// patience is for how long an entry is tried to be published or read while servers
	// don't answer. Then the caller hears of it, and may go on trying.
	patience = 20 * time.Second
	// attempt is for how long a server has time to answer.
	attempt = 3 * time.Second
	// recheck is how often servers and stream are looked at again.
	recheck = time.Minute
	// overhead is for the headers of an entry.
	overhead = 1 << 10
)

// A Relay is a [relay.Relay] in a stream.
type Relay struct {
	cfg    Config
	conn   *client.Conn
	js     jetstream.JetStream
	closed chan struct{} // the connection is

	life context.Context // until Close
	end  context.CancelFunc
	busy sync.WaitGroup
	look chan struct{} // look at servers and stream now

	mu      sync.Mutex
	ended   bool
	refused error // what is wrong with servers or stream
	cursors []*cursor
}

// Open connects to servers, sees to it that they are safe, and that the stream is there.
// While servers can't be reached it tries on, until ctx ends.
func Open(ctx context.Context, cfg Config) (*Relay, error) {
	if err := cfg.Check(); err != nil {
		return nil, err
	}
	r := &Relay{cfg: cfg.complete(), closed: make(chan struct{}), look: make(chan struct{}, 1)}
	r.life, r.end = context.WithCancel(context.Background())
	if err := retry(ctx, func() error { return r.connect() }); err != nil {
		return nil, err
	}
	if err := retry(ctx, func() error { return r.check(ctx, true) }); err != nil {
		r.Close()
		return nil, err
	}
	r.busy.Go(r.watch)
	return r, nil
}

func (r *Relay) connect() (err error) {
	options, err := r.cfg.options(false)
	if err != nil {
		return permanent(err)
	}
	log := r.cfg.Logger
	options = append(options,
		client.MaxReconnects(-1),
		client.ReconnectWait(100*time.Millisecond),
		client.ReconnectJitter(100*time.Millisecond, 100*time.Millisecond),
		client.DisconnectErrHandler(func(_ *client.Conn, err error) {
			if err != nil {
				log.Warn("the queue's server is gone", "error", err)
			}
		}),
		client.ReconnectHandler(func(c *client.Conn) {
			log.Info("connected to the queue again", "server", c.ConnectedServerName())
			select {
			case r.look <- struct{}{}:
			default:
			}
		}),
		client.ClosedHandler(func(*client.Conn) { close(r.closed) }),
	)
	if r.conn, err = dial(&r.cfg, options); err != nil {
		return err
	}
	if r.js, err = jetstream.New(r.conn, jetstream.WithDefaultTimeout(attempt)); err != nil {
		return permanent(fmt.Errorf("nats: %w", err))
	}
	return nil
}

// Close ends the connection. Calls that are under way return relay.ErrClosed.
func (r *Relay) Close() error {
	r.mu.Lock()
	ended := r.ended
	r.ended = true
	r.mu.Unlock()
	r.end()
	if !ended {
		r.conn.Close()
	}
	<-r.closed
	r.busy.Wait()
	return nil
}

// Status returns why entries can be neither published nor read at the moment, as far as that
// is known.
func (r *Relay) Status() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.ended:
		return relay.ErrClosed
	case r.refused != nil:
		return r.refused
	case !r.conn.IsConnected():
		return errors.New("nats: no server is connected")
	}
	return nil
}

// begin returns a context that ends with ctx or when the relay is closed. Call done with
// what the caller will get, when all is over.
func (r *Relay) begin(ctx context.Context) (_ context.Context, done func(error) error, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ended {
		return nil, nil, relay.ErrClosed
	}
	if err := ctx.Err(); err != nil {
		return nil, nil, err
	}
	if r.refused != nil {
		return nil, nil, r.refused
	}
	r.busy.Add(1)
	inner, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(r.life, cancel)
	return inner, func(err error) error {
		defer r.busy.Done()
		stop()
		cancel()
		switch {
		case err == nil:
			return nil
		case r.life.Err() != nil:
			return relay.ErrClosed
		case ctx.Err() != nil:
			return ctx.Err()
		}
		return err
	}, nil
}

// Publish implements [relay.Relay]. An error may mean that the entry is there all the
// same: it can be published again.
func (r *Relay) Publish(ctx context.Context, e relay.Entry) error {
	if err := e.Check(); err != nil {
		return err
	}
	ctx, done, err := r.begin(ctx)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	err = retry(ctx, func() error {
		ctx, cancel := context.WithTimeout(ctx, attempt)
		defer cancel()
		// Each attempt has the same ID, so that one of them counts.
		m := &client.Msg{Subject: r.cfg.subject(), Data: e.Data}
		_, err := r.js.PublishMsg(ctx, m, jetstream.WithMsgID(hex.EncodeToString(e.ID[:])), jetstream.WithExpectStream(r.cfg.Stream))
		return unlessLasting(err)
	})
	return done(err)
}

// A permanentError isn't tried again.
type permanentError struct{ error }

func (e permanentError) Unwrap() error { return e.error }

func permanent(err error) error { return permanentError{err} }

// unlessLasting says of an error of the client's whether to try again: it is, unless
// trying can't help.
func unlessLasting(err error) error {
	if err == nil {
		return nil
	}
	wrapped := err
	if !strings.HasPrefix(err.Error(), "nats: ") {
		wrapped = fmt.Errorf("nats: %w", err)
	}
	var api *jetstream.APIError
	if errors.As(err, &api) {
		switch api.ErrorCode {
		case jetstream.JSErrCodeStreamMessageExceedsMaximum, jetstream.JSErrCodeJetStreamNotEnabledForAccount, jetstream.JSErrCodeBadRequest:
			return permanent(wrapped)
		}
	}
	for _, e := range []error{client.ErrMaxPayload, client.ErrAuthorization, client.ErrAuthExpired, client.ErrAuthRevoked, client.ErrPermissionViolation,
		client.ErrSecureConnWanted, client.ErrSecureConnRequired, client.ErrNkeysNotSupported} {
		if errors.Is(err, e) {
			return permanent(wrapped)
		}
	}
	return wrapped
}

// retry calls f until it returns nil or a permanent error, or ctx ends.
func retry(ctx context.Context, f func() error) error {
	for wait := 50 * time.Millisecond; ; wait = min(2*wait, time.Second) {
		err := f()
		var p permanentError
		if err == nil || errors.As(err, &p) {
			return err
		}
		t := time.NewTimer(wait)
		select {
		case <-ctx.Done():
			t.Stop()
			return err
		case <-t.C:
		}
	}
}

// watch looks at servers and stream from time to time.
func (r *Relay) watch() {
	t := time.NewTicker(recheck)
	defer t.Stop()
	for {
		select {
		case <-r.life.Done():
			return
		case <-t.C:
		case <-r.look:
		}
		r.lookAgain()
	}
}

// lookAgain refuses servers and stream from now on if they aren't safe any more, and takes
// them again if they are. That a server can't be asked at the moment changes nothing.
func (r *Relay) lookAgain() {
	err := r.check(r.life, false)
	if err != nil && !errors.Is(err, ErrUnsafe) {
		if r.life.Err() == nil {
			r.cfg.Logger.Warn("the queue can't be looked at", "error", err)
		}
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if err != nil {
		r.cfg.Logger.Error("the queue isn't used any more", "error", err)
	}
	r.refused = err
}
