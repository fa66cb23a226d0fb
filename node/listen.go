// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package node

import (
	"crypto/tls"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/undersign/undersign/internal/party"
)

// A limitListener closes connections beyond a number at once, so that those who connect
// without end don't keep the others waiting. One address can't take all of them before it
// has shown a key, nor one party afterwards.
type limitListener struct {
	net.Listener
	most int64
	open atomic.Int64

	mu        sync.Mutex
	unknown   map[netip.Prefix]int // connections whose party isn't known yet, by address
	parties   map[string]int       // the others
	strangers []*limitConn         // those of strangers, the oldest first
}

func newLimitListener(l net.Listener, most int) *limitListener {
	return &limitListener{Listener: l, most: int64(most), unknown: make(map[netip.Prefix]int), parties: make(map[string]int)}
}

// ofAddress is how many connections an address may have that show no key yet.
func (l *limitListener) ofAddress() int { return int(max(l.most/8, 4)) }

// ofParty is how many connections a party may have.
func (l *limitListener) ofParty() int { return int(max(l.most/16, 4)) }

// Accept implements [net.Listener].
func (l *limitListener) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		lc := &limitConn{Conn: c, l: l, address: network(c.RemoteAddr())}
		if l.open.Load() < l.most && lc.enter() { // one goroutine accepts
			l.open.Add(1)
			return lc, nil
		}
		c.Close()
	}
}

// network returns what one host has: an IPv4 address, or 64 bits of an IPv6 address.
func network(a net.Addr) netip.Prefix {
	ap, err := netip.ParseAddrPort(a.String())
	if err != nil {
		return netip.Prefix{}
	}
	ip, bits := ap.Addr().Unmap(), 64
	if ip.Is4() {
		bits = 32
	}
	p, _ := ip.WithZone("").Prefix(bits)
	return p
}

type limitConn struct {
	net.Conn
	l       *limitListener
	address netip.Prefix
	known   atomic.Bool // identify was called

	// Of l.mu:
	counted string // the party that it counts for
	closed  bool
}

func (c *limitConn) enter() bool {
	c.l.mu.Lock()
	defer c.l.mu.Unlock()
	if c.l.unknown[c.address] >= c.l.ofAddress() {
		return false
	}
	c.l.unknown[c.address]++
	return true
}

// identify notes whose connection it is, and reports whether the party may have one more.
// It isn't limited if free. A stranger may, and the oldest of strangers gives way: who holds
// all that they have doesn't keep out somebody who has an invitation.
func (c *limitConn) identify(who string, free bool) bool {
	ok, gone := c.count(who, free)
	if gone != nil {
		gone.Close()
	}
	return ok
}

func (c *limitConn) count(who string, free bool) (ok bool, gone *limitConn) {
	if !c.known.CompareAndSwap(false, true) {
		return true, nil
	}
	l := c.l
	l.mu.Lock()
	defer l.mu.Unlock()
	if c.closed {
		return true, nil
	}
	decrement(l.unknown, c.address)
	l.parties[who]++
	c.counted = who
	ok = free || l.parties[who] <= l.ofParty()
	if who == stranger {
		if !ok {
			gone = l.strangers[0]
		}
		l.strangers = append(l.strangers, c)
		return true, gone
	}
	return ok, nil
}

func decrement[K comparable](m map[K]int, k K) {
	if m[k]--; m[k] == 0 {
		delete(m, k)
	}
}

// Close implements [net.Conn].
func (c *limitConn) Close() error {
	l := c.l
	l.mu.Lock()
	if !c.closed {
		c.closed = true
		l.open.Add(-1)
		if c.counted == "" {
			decrement(l.unknown, c.address)
		} else {
			decrement(l.parties, c.counted)
		}
		if c.counted == stranger {
			l.strangers = slices.DeleteFunc(l.strangers, func(o *limitConn) bool { return o == c })
		}
	}
	l.mu.Unlock()
	return c.Conn.Close()
}

// stranger stands for all parties that aren't known, while an invitation lets them in: a
// key costs nothing.
const stranger = "?"

// connState hears of connections when their handshake is over: only then has the other
// end shown that it has the key.
func (n *Node) connState(c net.Conn, s http.ConnState) {
	if s != http.StateActive && s != http.StateIdle {
		return
	}
	t, ok := c.(*tls.Conn)
	if !ok {
		return
	}
	lc, ok := t.NetConn().(*limitConn)
	if !ok || lc.known.Load() {
		return
	}
	state := t.ConnectionState()
	who, err := party.Peer(&state)
	self := who == n.id.Fingerprint()
	if err == nil && !self && !n.roster.Known(who) {
		who = stranger
	}
	if err != nil || !lc.identify(who, self) {
		lc.Close()
	}
}
