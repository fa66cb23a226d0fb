// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package load

import (
	"context"
	"encoding/binary"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"connectrpc.com/connect"

	"github.com/undersign/undersign/distill"
	aggregatev1 "github.com/undersign/undersign/gen/undersign/aggregate/v1"
	"github.com/undersign/undersign/gen/undersign/aggregate/v1/aggregatev1connect"
	"github.com/undersign/undersign/internal/aggregate/frame"
	"github.com/undersign/undersign/internal/rpc"
)

// A conn is a session with the identities that it carries.
type conn struct {
	r    *runner
	peer *rpc.Peer
	who  []int    // its identities
	ids  []uint64 // theirs, ascending

	nonces   []uint64
	notAfter []uint64
	sent     []int64 // when, in nanoseconds; 0: it waits for its turn
	first    []int64 // when the message was sent for the first time
	acked    []bool
	hashes   [][32]byte
	ed       []edKey
	signer   *edSigner
	turn     int     // of identities, with a rate
	credit   float64 // submissions that a rate allows

	head    uint64
	mu      sync.Mutex // held while the state above is used
	out     chan *aggregatev1.SessionRequest
	waiting atomic.Int64
}

// sendItems is how many submissions are in a frame.
const sendItems = 512

func (r *runner) newConn(i int, peer *rpc.Peer) *conn {
	n := len(r.who)
	lo, hi := i*n/r.cfg.Connections, (i+1)*n/r.cfg.Connections
	c := &conn{
		r: r, peer: peer, who: r.who[lo:hi], ids: r.ids[lo:hi], nonces: make([]uint64, hi-lo), notAfter: make([]uint64, hi-lo),
		sent: make([]int64, hi-lo), first: make([]int64, hi-lo), acked: make([]bool, hi-lo), hashes: make([][32]byte, hi-lo),
		out:    make(chan *aggregatev1.SessionRequest, 64),
		signer: newEdSigner(binary.BigEndian.AppendUint64([]byte(time.Now().String()), uint64(lo))),
	}
	// Larger than any that a load before this one has used.
	start := uint64(time.Now().UnixMilli())
	for j := range c.nonces {
		c.nonces[j] = start
	}
	return c
}

// find returns which of the identities has an id, or -1.
func (c *conn) find(id uint64) int {
	if at := id - c.ids[0]; at < uint64(len(c.ids)) && c.ids[at] == id {
		return int(at) // most often there are no gaps
	}
	at, ok := slices.BinarySearch(c.ids, id)
	if !ok {
		return -1
	}
	return at
}

// run keeps a session, and begins another one when it breaks.
func (c *conn) run(ctx context.Context) {
	for ctx.Err() == nil {
		err := c.session(ctx)
		if ctx.Err() != nil {
			return
		}
		if err != nil {
			c.r.count(broken, 1)
		}
		select {
		case <-ctx.Done():
		case <-time.After(500 * time.Millisecond):
		}
	}
}

func (c *conn) session(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	var group sync.WaitGroup
	defer group.Wait()
	defer cancel()
	// Not all at a time: connections of their own would all be late with their handshakes.
	select {
	case c.r.starting <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	var once sync.Once
	started := func() { once.Do(func() { <-c.r.starting }) }
	defer started()
	client := aggregatev1connect.NewAggregatorServiceClient(c.peer.HTTP(), c.peer.URL(), c.peer.Options(16<<20)...)
	stream, err := client.Session(ctx)
	if err != nil {
		return err
	}
	// While nothing is sent the transport waits for it, and doesn't see that ctx has ended.
	stop := context.AfterFunc(ctx, func() { stream.CloseRequest() })
	defer stop()
	defer stream.CloseRequest()
	challenge, err := c.greet(stream)
	if err != nil {
		return err
	}
	if err := c.authenticate(stream, challenge); err != nil {
		return err
	}
	started()
	group.Go(func() {
		for {
			select {
			case <-ctx.Done():
				return
			case f := <-c.out:
				if stream.Send(f) != nil {
					cancel()
					return
				}
			}
		}
	})
	group.Go(func() { c.pump(ctx) })
	for {
		resp, err := stream.Receive()
		if err != nil {
			return err
		}
		if err := c.take(ctx, resp); err != nil {
			return err
		}
	}
}

type stream = connect.BidiStreamForClientSimple[aggregatev1.SessionRequest, aggregatev1.SessionResponse]

func (c *conn) greet(s *stream) (*aggregatev1.Challenge, error) {
	net := c.r.net.ID()
	// An error of Send is io.EOF if the other end has refused: Receive says why.
	_ = s.Send(&aggregatev1.SessionRequest{Frame: &aggregatev1.SessionRequest_Hello{Hello: &aggregatev1.Hello{Network: net[:]}}})
	for {
		resp, err := s.Receive()
		if err != nil {
			return nil, err
		}
		if ch := resp.GetChallenge(); ch != nil && len(ch.GetChallenge()) == 32 {
			return ch, c.setHead(ch.GetHead())
		}
	}
}

func (c *conn) setHead(h *aggregatev1.Head) error {
	if h == nil {
		return nil
	}
	head, err := frame.Head(h)
	if err == nil {
		err = c.r.net.VerifyHead(head)
	}
	if err == nil {
		c.mu.Lock()
		c.head = max(c.head, head.Hgt.Height)
		c.mu.Unlock()
	}
	return err
}

// authenticate shows the keys of all identities, and waits for the answers.
func (c *conn) authenticate(s *stream, ch *aggregatev1.Challenge) error {
	auth := frame.Session{Net: c.r.net.ID(), Aggregator: c.r.cfg.Aggregator, Party: c.r.self.Fingerprint(), Challenge: [32]byte(ch.Challenge)}
	if c.ed == nil {
		c.ed = make([]edKey, len(c.ids))
		for i := range c.ed {
			c.ed[i] = expand(c.r.keys.ed(c.who[i]))
		}
	}
	for at := 0; at < len(c.ids); at += 1024 {
		f := &aggregatev1.Auth{}
		for i := at; i < min(at+1024, len(c.ids)); i++ {
			f.Ids = append(f.Ids, c.ids[i])
			f.Signatures = c.signer.sign(f.Signatures, &c.ed[i], auth.Bytes(c.ids[i]))
		}
		if err := s.Send(&aggregatev1.SessionRequest{Frame: &aggregatev1.SessionRequest_Auth{Auth: f}}); err != nil {
			break // Receive says why
		}
	}
	for n := 0; n < len(c.ids); {
		resp, err := s.Receive()
		if err != nil {
			return err
		}
		if w := resp.GetWelcome(); w != nil {
			if len(w.GetRefused()) > 0 {
				return errors.New("load: the aggregator doesn't know an identity")
			}
			n += len(w.GetIds())
		}
		if err := c.setHead(resp.GetHead()); err != nil {
			return err
		}
	}
	return nil
}

// pump submits: what is next, and what got no answer for long.
func (c *conn) pump(ctx context.Context) {
	// Thousands of sessions that look often would be what is measured.
	period := time.Duration(min(max(20, c.r.cfg.Connections/4), 500)) * time.Millisecond
	t := time.NewTicker(period)
	defer t.Stop()
	rate := float64(c.r.cfg.Rate) * float64(len(c.ids)) / float64(len(c.r.ids))
	// A session that broke has lost what was under way.
	c.mu.Lock()
	for i := range c.sent {
		if c.first[i] != 0 {
			c.sent[i] = 1
		}
	}
	c.mu.Unlock()
	check := time.Now()
	for {
		now := time.Now()
		var frames []*aggregatev1.SessionRequest
		c.mu.Lock()
		if rate > 0 {
			c.credit = min(c.credit+rate*period.Seconds(), float64(len(c.ids)))
		}
		if c.head > 0 && now.UnixNano() < c.r.until.Load() {
			frames = c.fresh(now, rate > 0)
		}
		if now.Sub(check) > 500*time.Millisecond {
			check = now
			frames = append(frames, c.late(now)...)
		}
		c.mu.Unlock()
		for _, f := range frames {
			select {
			case c.out <- f:
			case <-ctx.Done():
				return
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-t.C:
		}
	}
}

// fresh returns submissions of identities that have none under way, as many as a rate allows.
func (c *conn) fresh(now time.Time, limited bool) []*aggregatev1.SessionRequest {
	var p packer
	for range c.ids {
		if limited && c.credit < 1 {
			break
		}
		i := c.turn
		c.turn = (c.turn + 1) % len(c.ids)
		if c.first[i] != 0 {
			continue
		}
		c.credit--
		c.nonces[i]++
		c.notAfter[i] = c.head + c.r.params.MaxAhead/2
		c.first[i], c.acked[i] = now.UnixNano(), false
		c.waiting.Add(1)
		c.r.count(submitted, 1)
		c.put(&p, i, now)
	}
	return p.done()
}

// late returns submissions again that have had no receipt for half a minute. Before that a
// session that isn't broken has lost nothing.
func (c *conn) late(now time.Time) []*aggregatev1.SessionRequest {
	var p packer
	for i := range c.ids {
		age := now.UnixNano() - c.sent[i]
		if c.first[i] == 0 || age < int64(30*time.Second) {
			continue
		}
		c.r.count(resent, 1)
		c.put(&p, i, now)
	}
	return p.done()
}

// put appends the submission of an identity.
func (c *conn) put(p *packer, i int, now time.Time) {
	payload := make([]byte, c.r.cfg.Payload)
	binary.BigEndian.PutUint64(payload, c.ids[i])
	binary.BigEndian.PutUint64(payload[8:], c.nonces[i])
	c.hashes[i] = distill.PayloadHash(payload)
	c.sent[i] = now.UnixNano()
	s := &distill.Submission{ID: c.ids[i], Nonce: c.nonces[i], NotAfter: c.notAfter[i], Payload: payload}
	if c.r.cfg.Mode == distill.ModeEd25519 {
		sub := distill.Sub{Net: c.r.net.ID(), ID: s.ID, Nonce: s.Nonce, NotAfter: s.NotAfter, PayloadHash: c.hashes[i]}
		s.Signature = c.signer.sign(make([]byte, 0, 64), &c.ed[i], sub.Bytes())
	}
	p.add(s)
}

// A packer makes frames of submissions.
type packer struct {
	frames []*aggregatev1.SessionRequest
	f      *aggregatev1.Submissions
}

func (p *packer) add(s *distill.Submission) {
	if p.f == nil {
		p.f = &aggregatev1.Submissions{}
	}
	frame.AddSubmission(p.f, s)
	if len(p.f.Ids) >= sendItems || len(p.f.Payloads) > 1<<20 {
		p.done()
	}
}

func (p *packer) done() []*aggregatev1.SessionRequest {
	if p.f != nil {
		p.frames = append(p.frames, &aggregatev1.SessionRequest{Frame: &aggregatev1.SessionRequest_Submissions{Submissions: p.f}})
		p.f = nil
	}
	return p.frames
}

// take does what a client does with what it is sent.
func (c *conn) take(ctx context.Context, resp *aggregatev1.SessionResponse) error {
	switch f := resp.GetFrame().(type) {
	case *aggregatev1.SessionResponse_Head:
		return c.setHead(f.Head)
	case *aggregatev1.SessionResponse_Acks:
		return c.acks(f.Acks)
	case *aggregatev1.SessionResponse_Refusals:
		return c.refusals(f.Refusals)
	case *aggregatev1.SessionResponse_Proposals:
		return c.proposals(ctx, f.Proposals)
	case *aggregatev1.SessionResponse_Receipts:
		return c.receipts(f.Receipts)
	}
	return nil
}

func (c *conn) acks(f *aggregatev1.Acks) error {
	n, err := frame.Pairs(f.GetIds(), f.GetNonces())
	if err != nil {
		return err
	}
	now := time.Now()
	c.mu.Lock()
	defer c.mu.Unlock()
	counted := uint64(0)
	for j := range n {
		i := c.find(f.Ids[j])
		if i < 0 || c.nonces[i] != f.Nonces[j] || c.acked[i] || c.first[i] == 0 {
			continue
		}
		c.acked[i] = true
		counted++
		if c.first[i] >= c.r.from.Load() {
			c.r.acks.add(time.Duration(now.UnixNano() - c.first[i]))
		}
	}
	c.r.count(acknowledged, counted)
	return nil
}

func (c *conn) refusals(f *aggregatev1.Refusals) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return frame.Refusals(f, func(x *distill.Refusal) {
		i := c.find(x.ID)
		if i < 0 || c.nonces[i] != x.Nonce || c.first[i] == 0 {
			return
		}
		c.r.count(refused, 1)
		if x.RetryAfter > 0 {
			c.r.count(throttled, 1)
			return // it is sent again after a while
		}
		// Not to be taken: the next one may.
		c.first[i] = 0
		c.waiting.Add(-1)
	})
}

// proposals checks that each shows the identity's own leaf in the tree, and signs.
func (c *conn) proposals(ctx context.Context, f *aggregatev1.Proposals) error {
	red := &aggregatev1.Reductions{}
	var prop *distill.SignedProp
	var tree *proofs
	var shown, list []int
	c.mu.Lock()
	err := frame.Proposals(f, func(id uint64, p *distill.Proposal) {
		i := c.find(id)
		if i < 0 || c.first[i] == 0 || c.nonces[i] != p.Nonce {
			return // late, or again
		}
		if prop == nil {
			prop = &p.SignedProp
			tree = newProofs(prop.Prop.Root, prop.Prop.N)
		}
		leaf := distill.Leaf{ID: id, Nonce: c.nonces[i], NotAfter: c.notAfter[i], PayloadHash: c.hashes[i]}
		if prop.Prop.ValidUntil > c.notAfter[i] || prop.Prop.ValidUntil < c.head {
			c.r.count(bad, 1)
			return
		}
		shown = append(shown, i)
		tree.add(leaf.Hash(), p.Index, p.Siblings)
	})
	c.mu.Unlock()
	if err != nil || len(shown) == 0 {
		return err
	}
	if c.r.net.VerifyProp(prop) != nil || prop.Prop.AggID != c.r.cfg.Aggregator || prop.Prop.N > c.r.params.MaxLeaves {
		c.r.count(bad, uint64(len(shown)))
		return nil
	}
	for j, good := range tree.verify() {
		if !good {
			c.r.count(bad, 1)
			continue
		}
		list = append(list, c.who[shown[j]])
		red.Ids = append(red.Ids, c.ids[shown[j]])
	}
	if len(list) == 0 {
		return nil
	}
	digest := prop.Prop.Red().Digest()
	red.Seq, red.Digest, red.Signatures = prop.Prop.Seq, digest[:], c.r.root(digest).sign(list)
	select {
	case c.out <- &aggregatev1.SessionRequest{Frame: &aggregatev1.SessionRequest_Reductions{Reductions: red}}:
	case <-ctx.Done():
	}
	return nil
}

// receipts verifies receipts and settles what they are about.
func (c *conn) receipts(f *aggregatev1.Receipts) error {
	now := time.Now()
	c.mu.Lock()
	defer c.mu.Unlock()
	var rcpt *distill.SignedRcpt
	var tree *proofs
	var about []int
	var codes []distill.ResultCode
	if err := frame.Receipts(f, func(x *distill.Receipt) {
		i := c.find(x.Result.ID)
		if i < 0 {
			c.r.count(bad, 1)
			return
		}
		if c.first[i] == 0 || c.nonces[i] != x.Result.Nonce {
			c.r.count(repeated, 1)
			return
		}
		if x.Result.PayloadHash != c.hashes[i] {
			c.r.count(bad, 1)
			return
		}
		if rcpt == nil {
			rcpt = &x.SignedRcpt
			tree = newProofs(rcpt.Rcpt.ResultRoot, rcpt.Rcpt.N)
		}
		about, codes = append(about, i), append(codes, x.Result.Code)
		tree.add(x.Result.Hash(), x.Index, x.Siblings)
	}); err != nil || rcpt == nil {
		return err
	}
	if c.r.net.VerifyRcpt(rcpt) != nil {
		c.r.count(bad, uint64(len(about)))
		return nil
	}
	for j, good := range tree.verify() {
		if !good {
			c.r.count(bad, 1)
		} else if code := codes[j]; code.Final() {
			c.settle(about[j], code, now)
		}
	}
	return nil
}

// settle notes what became of an identity's message, which has its receipt.
func (c *conn) settle(i int, code distill.ResultCode, now time.Time) {
	if c.first[i] == 0 {
		c.r.count(repeated, 1) // twice in a frame
		return
	}
	if code != distill.ResultOK && code != distill.ResultDup {
		c.r.count(bad, 1)
	} else {
		c.r.count(receipted, 1)
	}
	if c.first[i] >= c.r.from.Load() {
		c.r.receipt.add(time.Duration(now.UnixNano() - c.first[i]))
	}
	c.first[i] = 0
	c.waiting.Add(-1)
}
