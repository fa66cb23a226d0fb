// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package client

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/undersign/undersign/distill"
	"github.com/undersign/undersign/internal/party"
	"github.com/undersign/undersign/internal/rpc"
	"github.com/undersign/undersign/keyfile"
)

// A Validator is where one of a network's validators is.
type Validator struct {
	Fingerprint string
	Address     string // host:port
}

// GatewayConfig says what a gateway is made of.
type GatewayConfig struct {
	// Key is the party's that the gateway connects as: the nodes have to know it.
	Key     *keyfile.PartyKey
	Network *distill.Network
	// Genesis is that of Network.
	Genesis *distill.Genesis

	// Aggregators are the addresses of aggregators, by their ids. Their keys are in the
	// genesis.
	Aggregators map[uint64]string
	// Validators are in the order of the genesis. One that has no address isn't asked.
	Validators []Validator

	// Clients are those that the gateway acts for, in the mode of the aggregators.
	Clients []GatewayClient

	// Receipt, unless it is nil, gets each receipt that settles a message, once it is
	// verified: others verify it by the genesis. It must return at once, and not keep the
	// receipt itself.
	Receipt func(*distill.Receipt)

	// Log gets what the gateway has to say. Nil: nobody.
	Log *slog.Logger
}

// A GatewayClient is a client of a gateway.
type GatewayClient struct {
	Client *distill.Client
	Ed     ed25519.PrivateKey // to show an aggregator that the client is there
}

// A Gateway carries the messages of any number of clients, in one session with each
// aggregator. The clients keep what they must not forget in their journals; a gateway
// has nothing to lose.
type Gateway struct {
	cfg  GatewayConfig
	log  *slog.Logger
	id   *party.Identity
	work chan func(now int64)
	done chan struct{}

	// Of the loop alone.
	clients map[uint64]*member
	links   map[uint64]*link // to aggregators
	touched map[*link]bool
	lookups []distill.Lookup
	asking  bool
	ctx     context.Context
	group   sync.WaitGroup
	fatal   error
	// When an aggregator last told a height, and when it last was a new one.
	headSeen, headMoved time.Time
}

// A member is a client with those who wait for it.
type member struct {
	c       *distill.Client
	ed      ed25519.PrivateKey
	refused bool // by the aggregator that has spoken last
	settled map[uint64]distill.Outcome
	waiting map[uint64][]chan distill.Outcome
}

// NewGateway returns a gateway. Call Run.
func NewGateway(cfg GatewayConfig) (*Gateway, error) {
	switch {
	case cfg.Key == nil || cfg.Network == nil || cfg.Genesis == nil:
		return nil, errors.New("client: a gateway without a key or a network")
	case cfg.Network.ID() != cfg.Genesis.ID():
		return nil, errors.New("client: the genesis is of another network")
	case len(cfg.Validators) > 0 && len(cfg.Validators) != len(cfg.Genesis.Validators):
		return nil, fmt.Errorf("client: %d validators, and the genesis has %d", len(cfg.Validators), len(cfg.Genesis.Validators))
	}
	id, err := party.NewIdentity(cfg.Key)
	if err != nil {
		return nil, err
	}
	g := &Gateway{
		cfg: cfg, log: cfg.Log, id: id, work: make(chan func(int64), 256), done: make(chan struct{}),
		clients: make(map[uint64]*member), links: make(map[uint64]*link), touched: make(map[*link]bool),
	}
	if g.log == nil {
		g.log = slog.New(slog.DiscardHandler)
	}
	for _, c := range cfg.Clients {
		g.clients[c.Client.ID()] = &member{
			c: c.Client, ed: c.Ed, settled: make(map[uint64]distill.Outcome), waiting: make(map[uint64][]chan distill.Outcome),
		}
	}
	for aggID, address := range cfg.Aggregators {
		key, ok := cfg.Genesis.AggregatorKey(aggID)
		if !ok {
			return nil, fmt.Errorf("client: the genesis has no aggregator %d", aggID)
		}
		fp := keyfile.Fingerprint(&keyfile.Party{Key: key[:]})
		g.links[aggID] = &link{g: g, aggID: aggID, peer: rpc.NewPeer(id, fp, address)}
	}
	return g, nil
}

// Run connects, and goes on until ctx ends or a client's journal fails.
func (g *Gateway) Run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	g.ctx = ctx
	defer close(g.done)
	defer g.group.Wait()
	defer cancel()
	for _, l := range g.links {
		g.group.Go(func() { l.run(ctx) })
		defer l.peer.Close()
	}
	if len(g.cfg.Validators) > 0 {
		g.group.Go(func() { g.followHeads(ctx) })
	}
	ticker := time.NewTicker(100 * time.Millisecond)
	defer ticker.Stop()
	for id := range g.clients {
		g.tick(time.Now().UnixMilli(), id)
	}
	for {
		g.flush()
		if g.fatal != nil {
			return g.fatal
		}
		select {
		case <-ctx.Done():
			return nil
		case f := <-g.work:
			f(time.Now().UnixMilli())
			for more := true; more; {
				select {
				case f := <-g.work:
					f(time.Now().UnixMilli())
				default:
					more = false
				}
			}
		case <-ticker.C:
			now := time.Now().UnixMilli()
			for id, m := range g.clients {
				if at, ok := m.c.Deadline(); ok && at <= now {
					g.tick(now, id)
				}
			}
		}
	}
}

func (g *Gateway) tick(now int64, id uint64) {
	m := g.clients[id]
	out, err := m.c.Tick(now)
	g.act(id, m, out, err)
}

var errClosed = errors.New("client: the gateway has ended")

// do has the loop run a function.
func (g *Gateway) do(ctx context.Context, f func(now int64)) error {
	select {
	case g.work <- f:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-g.done:
		return errClosed
	}
}

// Submit has a client's payload executed, within so many heights, and returns its nonce:
// see [distill.Client.Submit]. It is in the client's journal then.
func (g *Gateway) Submit(ctx context.Context, id uint64, payload []byte, heights uint64) (nonce uint64, err error) {
	finished := make(chan struct{})
	f := func(now int64) {
		defer close(finished)
		m := g.clients[id]
		if m == nil {
			err = fmt.Errorf("client: the gateway has no client %d", id)
			return
		}
		var out []distill.ClientAction
		nonce, out, err = m.c.Submit(now, payload, heights)
		g.act(id, m, out, nil)
	}
	if err := g.do(ctx, f); err != nil {
		return 0, err
	}
	select {
	case <-finished:
		return nonce, err
	case <-g.done:
		return 0, errClosed
	}
}

// Wait waits for what becomes of a message.
func (g *Gateway) Wait(ctx context.Context, id, nonce uint64) (distill.Outcome, error) {
	result := make(chan distill.Outcome, 1)
	if err := g.do(ctx, func(int64) {
		m := g.clients[id]
		if m == nil {
			return
		}
		if o, ok := m.settled[nonce]; ok {
			result <- o
			return
		}
		m.waiting[nonce] = append(m.waiting[nonce], result)
	}); err != nil {
		return distill.Outcome{}, err
	}
	select {
	case o := <-result:
		return o, nil
	case <-ctx.Done():
		return distill.Outcome{}, ctx.Err()
	case <-g.done:
		return distill.Outcome{}, errClosed
	}
}

// Release forgets a settled message: see [distill.Client.Release].
func (g *Gateway) Release(ctx context.Context, id, nonce uint64) error {
	result := make(chan error, 1)
	if err := g.do(ctx, func(int64) {
		m := g.clients[id]
		if m == nil {
			result <- fmt.Errorf("client: the gateway has no client %d", id)
			return
		}
		delete(m.settled, nonce)
		result <- m.c.Release(nonce)
	}); err != nil {
		return err
	}
	select {
	case err := <-result:
		return err
	case <-g.done:
		return errClosed
	}
}

// Head returns the newest certified height that a client of the gateway has seen.
func (g *Gateway) Head(ctx context.Context) (height uint64, err error) {
	result := make(chan uint64, 1)
	if err := g.do(ctx, func(int64) {
		var head uint64
		for _, m := range g.clients {
			head = max(head, m.c.Head())
		}
		result <- head
	}); err != nil {
		return 0, err
	}
	select {
	case h := <-result:
		return h, nil
	case <-g.done:
		return 0, errClosed
	}
}

// Refused reports whether an aggregator doesn't take a client's keys: it was revoked, has
// others, or the aggregator hasn't heard of them yet. They are shown again every second.
func (g *Gateway) Refused(ctx context.Context, id uint64) bool {
	result := make(chan bool, 1)
	if err := g.do(ctx, func(int64) {
		m := g.clients[id]
		result <- m != nil && m.refused
	}); err != nil {
		return false
	}
	select {
	case r := <-result:
		return r
	case <-g.done:
		return false
	}
}

// act does what a client wants done.
func (g *Gateway) act(id uint64, m *member, out []distill.ClientAction, err error) {
	if err != nil && distill.RuleOf(err) == 0 && g.fatal == nil {
		g.fatal = err
	} else if err != nil {
		g.log.Debug("refused", "client", id, "error", err)
	}
	for _, x := range out {
		switch x := x.(type) {
		case distill.SendSubmission:
			if l := g.links[x.AggID]; l != nil {
				l.submission(&x.Submission)
				g.touched[l] = true
			}
		case distill.SendReduction:
			if l := g.links[x.AggID]; l != nil {
				l.reduction(&x.Reduction)
				g.touched[l] = true
			}
		case distill.SendLookup:
			if len(g.lookups) < 1<<16 {
				g.lookups = append(g.lookups, x.Lookup)
			}
		case distill.Settled:
			m.settled[x.Nonce] = x.Outcome
			for _, w := range m.waiting[x.Nonce] {
				w <- x.Outcome
			}
			delete(m.waiting, x.Nonce)
		case distill.ReportEquivocation:
			g.log.Error("an aggregator signed two proposals of one number", "aggregator", x.First.Prop.AggID, "batch", x.First.Prop.Seq)
		}
	}
}

// flush sends what has piled up.
func (g *Gateway) flush() {
	for l := range g.touched {
		l.flush()
		delete(g.touched, l)
	}
	if len(g.lookups) > 0 && !g.asking {
		n := min(len(g.lookups), 256)
		list := g.lookups[:n:n]
		g.lookups = g.lookups[n:]
		g.asking = true
		g.group.Go(func() {
			g.ask(g.ctx, list)
			g.do(g.ctx, func(int64) { g.asking = false })
		})
	}
}
