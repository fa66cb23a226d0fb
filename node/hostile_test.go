// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package node

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/binary"
	"errors"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"connectrpc.com/connect"

	nodev1 "github.com/undersign/undersign/gen/undersign/node/v1"
	"github.com/undersign/undersign/gen/undersign/node/v1/nodev1connect"
	"github.com/undersign/undersign/internal/party"
	"github.com/undersign/undersign/internal/roster"
	"github.com/undersign/undersign/internal/rpc"
)

// A rawConn speaks HTTP/2 as badly as a test wants.
type rawConn struct {
	*tls.Conn
	t testing.TB
}

const (
	frameData, frameHeaders, frameReset, frameSettings, framePing, frameContinuation = 0, 1, 3, 4, 6, 9
	endStream, endHeaders                                                            = 1, 4

	preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
)

// raw connects as a party, and greets.
func (n *testNode) raw(t testing.TB, id *party.Identity) *rawConn {
	t.Helper()
	c, err := tls.Dial("tcp", n.Addr().String(), id.ClientTLS(n.Fingerprint()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	c.SetDeadline(time.Now().Add(20 * time.Second))
	r := &rawConn{c, t}
	if _, err := c.Write(append([]byte(preface), frame(frameSettings, 0, 0, nil)...)); err != nil {
		t.Fatal(err)
	}
	return r
}

func frame(kind, flags byte, stream uint32, payload []byte) []byte {
	b := binary.BigEndian.AppendUint32(nil, uint32(len(payload))<<8|uint32(kind))
	b = append(b, flags)
	b = binary.BigEndian.AppendUint32(b, stream)
	return append(b, payload...)
}

// fields encodes headers without compression.
func fields(list ...string) (b []byte) {
	for i, s := range list {
		if i%2 == 0 {
			b = append(b, 0) // literal, not indexed
		}
		if len(s) < 127 {
			b = append(b, byte(len(s)))
		} else {
			b = append(b, 127)
			n := len(s) - 127
			for ; n >= 128; n >>= 7 {
				b = append(b, byte(n)|128)
			}
			b = append(b, byte(n))
		}
		b = append(b, s...)
	}
	return b
}

func request(extra ...string) []byte {
	return fields(append([]string{":method", "POST", ":scheme", "https", ":authority", "x", ":path",
		nodev1connect.NodeServiceStatusProcedure, "content-type", "application/proto"}, extra...)...)
}

// ends reads until the node closes the connection, and returns the frames' kinds.
func (c *rawConn) ends(within time.Duration) (kinds []byte, ended bool) {
	c.SetReadDeadline(time.Now().Add(within))
	head := make([]byte, 9)
	for {
		if _, err := io.ReadFull(c, head); err != nil {
			return kinds, !errors.Is(err, os.ErrDeadlineExceeded)
		}
		kinds = append(kinds, head[3])
		if _, err := io.CopyN(io.Discard, c, int64(head[0])<<16|int64(head[1])<<8|int64(head[2])); err != nil {
			return kinds, !errors.Is(err, os.ErrDeadlineExceeded)
		}
	}
}

// alive fails the test unless the node answers others, soon.
func (n *testNode) alive(t testing.TB, what string) {
	t.Helper()
	p := rpc.NewPeer(n.id, n.Fingerprint(), n.Addr().String())
	defer p.Close()
	start := time.Now()
	client := nodev1connect.NewNodeServiceClient(p.HTTP(), p.URL(), p.Options(0)...)
	if _, err := client.Status(t.Context(), new(nodev1.StatusRequest)); err != nil {
		t.Errorf("%s: the node doesn't answer: %v", what, err)
	} else if d := time.Since(start); d > 15*time.Second {
		t.Errorf("%s: the node answers after %v", what, d)
	}
}

// TestHalfOpen connects and doesn't go on: at each step the node stops waiting.
func TestHalfOpen(t *testing.T) {
	t.Parallel()
	n := start(t, newDir(t, testConfig))
	var wg sync.WaitGroup
	for what, send := range map[string]func(net.Conn){
		"nothing":              func(net.Conn) {},
		"a part of a record":   func(c net.Conn) { c.Write([]byte{22, 3, 1}) },
		"a record that is cut": func(c net.Conn) { c.Write([]byte{22, 3, 1, 2, 0, 1, 0}) },
		"a byte at a time": func(c net.Conn) {
			for _, b := range append([]byte{22, 3, 1, 0, 200, 1, 0, 0, 196}, make([]byte, 100)...) {
				if _, err := c.Write([]byte{b}); err != nil {
					return
				}
				time.Sleep(200 * time.Millisecond)
			}
		},
	} {
		wg.Go(func() {
			c, err := net.Dial("tcp", n.Addr().String())
			if err != nil {
				t.Error(err)
				return
			}
			defer c.Close()
			begin := time.Now()
			go send(c)
			c.SetReadDeadline(begin.Add(15 * time.Second))
			if _, err := io.Copy(io.Discard, c); errors.Is(err, os.ErrDeadlineExceeded) {
				t.Errorf("%s: open after %v", what, time.Since(begin))
			}
		})
	}
	wg.Go(func() { // who has connected properly, and says nothing
		c, err := tls.Dial("tcp", n.Addr().String(), n.id.ClientTLS(n.Fingerprint()))
		if err != nil {
			t.Error(err)
			return
		}
		defer c.Close()
		c.SetDeadline(time.Now().Add(20 * time.Second))
		if _, err := io.Copy(io.Discard, c); errors.Is(err, os.ErrDeadlineExceeded) {
			t.Error("who says nothing is waited for")
		}
	})
	n.alive(t, "half-open connections")
	wg.Wait()
	n.alive(t, "half-open connections")
}

// TestBadFrames sends what isn't HTTP/2, or too much of it, as a party that is known.
func TestBadFrames(t *testing.T) {
	t.Parallel()
	n := start(t, newDir(t, testConfig))
	bob := newParty(t)
	n.join(t, bob, "bob")
	for what, send := range map[string]func(*rawConn){
		"a frame of 16 MiB":      func(c *rawConn) { c.Write([]byte{0xff, 0xff, 0xff, frameData, 0, 0, 0, 0, 1}) },
		"data before headers":    func(c *rawConn) { c.Write(frame(frameData, 0, 1, []byte("x"))) },
		"a stream of the server": func(c *rawConn) { c.Write(frame(frameHeaders, endHeaders, 2, request())) },
		"headers that aren't": func(c *rawConn) {
			c.Write(frame(frameHeaders, endHeaders, 1, []byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff}))
		},
		"a continuation of none": func(c *rawConn) { c.Write(frame(frameContinuation, endHeaders, 1, nil)) },
		"a table of 4 GiB":       func(c *rawConn) { c.Write(frame(frameSettings, 0, 0, []byte{0, 2, 255, 255, 255, 255})) },
		"headers without end": func(c *rawConn) {
			c.Write(frame(frameHeaders, 0, 1, request()))
			for range 10000 {
				if _, err := c.Write(frame(frameContinuation, 0, 1, fields("x-more", strings.Repeat("y", 8000)))); err != nil {
					return
				}
			}
		},
		"empty continuations": func(c *rawConn) {
			c.Write(frame(frameHeaders, 0, 1, request()))
			for range 100000 {
				if _, err := c.Write(frame(frameContinuation, 0, 1, nil)); err != nil {
					return
				}
			}
			c.CloseWrite() // it costs the sender more than the node
		},
		"another protocol": func(c *rawConn) { io.WriteString(c, strings.Repeat("GET / HTTP/1.1\r\n\r\n", 10)) },
	} {
		c := n.raw(t, bob)
		send(c)
		if kinds, ended := c.ends(10 * time.Second); !ended {
			t.Errorf("%s: the connection is open, after frames %v", what, kinds)
		}
		c.Close()
		n.alive(t, what)
	}
}

// TestHeadersTooLarge is refused without a look at the call.
func TestHeadersTooLarge(t *testing.T) {
	t.Parallel()
	n := start(t, newDir(t, testConfig))
	p := rpc.NewPeer(n.id, n.Fingerprint(), n.Addr().String())
	defer p.Close()
	req, err := http.NewRequestWithContext(t.Context(), "POST", p.URL()+nodev1connect.NodeServiceStatusProcedure, strings.NewReader(""))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/proto")
	for range 40 {
		req.Header.Add("X-More", strings.Repeat("y", 1000))
	}
	resp, err := p.HTTP().Do(req)
	if err == nil {
		resp.Body.Close()
		if resp.StatusCode == http.StatusOK {
			t.Error("40 kB of headers are taken")
		}
	}
	n.alive(t, "large headers")
}

// TestMessagesTooLarge are refused by their size, whoever sends them, and by what they say
// of it.
func TestMessagesTooLarge(t *testing.T) {
	t.Parallel()
	n := start(t, newDir(t, testConfig))
	_, err := n.client(t, n.id).Invite(t.Context(), &nodev1.InviteRequest{Name: strings.Repeat("a", maxNodeMessage+1)})
	wantCode(t, "a message of 64 KiB and more", err, connect.CodeResourceExhausted)
	for _, encoding := range []string{"gzip", "br"} {
		p := rpc.NewPeer(n.id, n.Fingerprint(), n.Addr().String())
		req, err := http.NewRequestWithContext(t.Context(), "POST", p.URL()+nodev1connect.NodeServiceStatusProcedure, strings.NewReader("x"))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/proto")
		req.Header.Set("Content-Encoding", encoding)
		resp, err := p.HTTP().Do(req)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode == http.StatusOK {
			t.Errorf("%s is taken", encoding)
		}
		p.Close()
	}
}

// TestRapidReset begins calls and takes them back, as fast as it can.
func TestRapidReset(t *testing.T) {
	n := start(t, newDir(t, testConfig))
	bob := newParty(t)
	n.join(t, bob, "bob")
	var most atomic.Int64
	stop := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			select {
			case <-stop:
				return
			case <-time.After(time.Millisecond):
				most.Store(max(most.Load(), int64(runtime.NumGoroutine())))
			}
		}
	})
	before := runtime.NumGoroutine()
	var senders sync.WaitGroup
	for range 4 {
		c := n.raw(t, bob)
		senders.Go(func() {
			go c.ends(20 * time.Second)
			for i := range uint32(3000) {
				b := append(frame(frameHeaders, endHeaders, 2*i+1, request()), frame(frameReset, 0, 2*i+1, make([]byte, 4))...)
				if _, err := c.Write(b); err != nil {
					return
				}
			}
		})
	}
	n.alive(t, "calls that are taken back")
	senders.Wait()
	n.alive(t, "calls that were taken back")
	close(stop)
	wg.Wait()
	if grown := int(most.Load()) - before; grown > 4*256+200 {
		t.Errorf("%d goroutines more", grown)
	}
}

// TestManyStreams begins more calls than the node takes, and sends nothing for them.
func TestManyStreams(t *testing.T) {
	t.Parallel()
	n := start(t, newDir(t, testConfig+"[limits]\ncall = \"2s\"\n"))
	bob := newParty(t)
	n.join(t, bob, "bob")
	c := n.raw(t, bob)
	for i := range uint32(400) {
		if _, err := c.Write(frame(frameHeaders, endHeaders, 2*i+1, request("content-length", "100"))); err != nil {
			break // it has had enough
		}
	}
	n.alive(t, "many streams")
	kinds, _ := c.ends(4 * time.Second)
	answers := strings.Count(string(kinds), string(rune(frameHeaders)))
	refused := strings.Count(string(kinds), string(rune(frameReset)))
	if answers+refused < 400-256 {
		t.Errorf("%d answers and %d resets for 400 calls", answers, refused)
	}
	// All of them end by the deadline, whether or not the caller goes on.
	deadline := time.Now().Add(10 * time.Second)
	for n.guard.Running() > 0 && time.Now().Before(deadline) {
		time.Sleep(20 * time.Millisecond)
	}
	if got := n.guard.Running(); got > 0 {
		t.Errorf("%d calls are under way", got)
	}
}

// TestSlowBody sends a message a byte at a time.
func TestSlowBody(t *testing.T) {
	t.Parallel()
	n := start(t, newDir(t, testConfig+"[limits]\ncall = \"1s\"\n"))
	bob := newParty(t)
	n.join(t, bob, "bob")
	body, w := io.Pipe()
	defer w.Close()
	go func() {
		for {
			if _, err := w.Write([]byte{8}); err != nil {
				return
			}
			time.Sleep(50 * time.Millisecond)
		}
	}()
	p := rpc.NewPeer(bob, n.Fingerprint(), n.Addr().String())
	defer p.Close()
	req, err := http.NewRequestWithContext(t.Context(), "POST", p.URL()+nodev1connect.NodeServiceStatusProcedure, body)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/proto")
	begin := time.Now()
	resp, err := p.HTTP().Do(req)
	if err == nil {
		resp.Body.Close()
		if resp.StatusCode == http.StatusOK {
			t.Error("it is answered")
		}
	}
	if d := time.Since(begin); d > 20*time.Second {
		t.Errorf("the call took %v", d)
	}
	n.alive(t, "a slow body")
}

// TestControlFlood asks without end, and doesn't read the answers.
func TestControlFlood(t *testing.T) {
	n := start(t, newDir(t, testConfig))
	bob := newParty(t)
	n.join(t, bob, "bob")
	for what, f := range map[string][]byte{
		"pings":    frame(framePing, 0, 0, make([]byte, 8)),
		"settings": frame(frameSettings, 0, 0, nil),
	} {
		c := n.raw(t, bob)
		c.SetWriteDeadline(time.Now().Add(5 * time.Second))
		var many []byte
		for range 1000 {
			many = append(many, f...)
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for range 2000 {
			if _, err := c.Write(many); err != nil {
				break
			}
		}
		runtime.GC()
		runtime.ReadMemStats(&after)
		if grown := int64(after.HeapAlloc) - int64(before.HeapAlloc); grown > 64<<20 {
			t.Errorf("%s: %d MiB more in memory", what, grown>>20)
		}
		n.alive(t, what)
		c.Close()
	}
}

// TestWrongCertificates shows what isn't a party's certificate.
func TestWrongCertificates(t *testing.T) {
	t.Parallel()
	n := start(t, newDir(t, testConfig))
	n.invite(t, "bob") // so that strangers may connect
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour)}
	certificate := func(key crypto.Signer, parent *x509.Certificate, by crypto.Signer) []byte {
		der, err := x509.CreateCertificate(rand.Reader, template, parent, key.Public(), by)
		if err != nil {
			t.Fatal(err)
		}
		return der
	}
	_, ed, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	_, other, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	ec, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	own := certificate(ed, template, ed)
	ownOfNode := n.id.ServerTLS(nil).Certificates[0].Certificate[0]
	for what, cert := range map[string]*tls.Certificate{
		"none":                     nil,
		"another kind of key":      {Certificate: [][]byte{certificate(ec, template, ec)}, PrivateKey: ec},
		"two":                      {Certificate: [][]byte{own, certificate(other, template, other)}, PrivateKey: ed},
		"somebody else's":          {Certificate: [][]byte{certificate(other, template, other)}, PrivateKey: ed},
		"the node's, without key":  {Certificate: [][]byte{ownOfNode}, PrivateKey: ed},
		"not a certificate at all": {Certificate: [][]byte{{1, 2, 3}}, PrivateKey: ed},
	} {
		config := &tls.Config{MinVersion: tls.VersionTLS13, InsecureSkipVerify: true, NextProtos: []string{"h2"}}
		config.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
			if cert == nil {
				return new(tls.Certificate), nil
			}
			return cert, nil
		}
		if c, err := tls.Dial("tcp", n.Addr().String(), config); err == nil {
			c.SetDeadline(time.Now().Add(10 * time.Second))
			io.WriteString(c, preface+string(frame(frameSettings, 0, 0, nil)))
			if k, err := c.Read(make([]byte, 1)); err == nil {
				t.Errorf("%s: the node says %d bytes", what, k)
			}
			c.Close()
		}
	}
	old := n.id.ClientTLS(n.Fingerprint())
	old.MinVersion, old.MaxVersion = tls.VersionTLS12, tls.VersionTLS12
	if c, err := tls.Dial("tcp", n.Addr().String(), old); err == nil {
		c.Close()
		t.Error("connected by TLS 1.2")
	}
	// A session isn't taken up again: a party that was removed would come back by it.
	config := n.id.ClientTLS(n.Fingerprint())
	config.ClientSessionCache = tls.NewLRUClientSessionCache(4)
	for range 2 {
		c, err := tls.Dial("tcp", n.Addr().String(), config)
		if err != nil {
			t.Fatal(err)
		}
		if c.ConnectionState().DidResume {
			t.Error("a session is taken up again")
		}
		c.SetDeadline(time.Now().Add(5 * time.Second))
		io.WriteString(c, preface+string(frame(frameSettings, 0, 0, nil)))
		c.Read(make([]byte, 1)) // a ticket would come now
		c.Close()
	}
	n.alive(t, "wrong certificates")
}

// TestConnectionsOfOne takes as many connections as it gets: from an address without a
// key, by one party, and by many that aren't known. Others get theirs.
func TestConnectionsOfOne(t *testing.T) {
	t.Parallel()
	n := start(t, newDir(t, testConfig+"[limits]\nconnections = 96\n"))
	bob, carol := newParty(t), newParty(t)
	n.join(t, bob, "bob")
	n.join(t, carol, "carol")
	open := func(conns []*rawConn) (count int) {
		for _, c := range conns {
			c.SetReadDeadline(time.Now().Add(200 * time.Millisecond))
			if _, err := io.Copy(io.Discard, c); errors.Is(err, os.ErrDeadlineExceeded) {
				count++
			}
		}
		return count
	}
	var byBob, byStrangers []*rawConn
	for range 10 {
		byBob = append(byBob, n.raw(t, bob))
	}
	if got := open(byBob); got != 6 {
		t.Errorf("a party has %d connections of 96", got)
	}
	n.invite(t, "dave")
	for range 10 {
		byStrangers = append(byStrangers, n.raw(t, newParty(t)))
	}
	if got := open(byStrangers); got != 6 {
		t.Errorf("strangers have %d connections of 96", got)
	}
	// The oldest gave way.
	dave := n.raw(t, newParty(t))
	if open([]*rawConn{dave}) != 1 || open(byStrangers) != 5 || open(byStrangers[:5]) != 0 {
		t.Error("a stranger who comes later has no connection")
	}
	byStrangers = append(byStrangers, dave)
	n.raw(t, carol)
	var silent []net.Conn
	for range 100 {
		c, err := net.Dial("tcp", n.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		silent = append(silent, c)
	}
	time.Sleep(100 * time.Millisecond)
	n.listener.mu.Lock()
	for a, k := range n.listener.unknown {
		if k > 12 {
			t.Errorf("%v has %d connections that say nothing", a, k)
		}
	}
	n.listener.mu.Unlock()
	if got := n.listener.open.Load(); got > 6+6+12+10 {
		t.Errorf("%d connections", got)
	}
	// All are given back.
	for _, c := range append(byBob, byStrangers...) {
		c.Close()
	}
	for _, c := range silent {
		c.Close()
	}
	deadline := time.Now().Add(10 * time.Second)
	for time.Now().Before(deadline) {
		n.listener.mu.Lock()
		left := n.listener.parties[bob.Fingerprint()] + n.listener.parties[stranger] + len(n.listener.unknown)
		n.listener.mu.Unlock()
		if left == 0 {
			break
		}
		time.Sleep(20 * time.Millisecond)
	}
	if n.listener.mu.Lock(); len(n.listener.strangers) != 0 {
		t.Errorf("%d strangers are left", len(n.listener.strangers))
	}
	n.listener.mu.Unlock()
	if _, err := n.client(t, bob).Join(t.Context(), new(nodev1.JoinRequest)); connect.CodeOf(err) == connect.CodeUnavailable {
		t.Errorf("the party doesn't get in again: %v", err)
	}
}

// TestReplayedInvitation uses an invitation several times: one party comes in.
func TestReplayedInvitation(t *testing.T) {
	t.Parallel()
	n := start(t, newDir(t, testConfig))
	inv, err := party.ParseInvitation(n.invite(t, "bob"))
	if err != nil {
		t.Fatal(err)
	}
	n.invite(t, "carol") // so that strangers may go on trying
	var joined atomic.Int64
	var wg sync.WaitGroup
	for range 8 {
		client := n.client(t, newParty(t))
		wg.Go(func() {
			for i := range 3 { // who has come in may ask again
				_, err := client.Join(t.Context(), &nodev1.JoinRequest{Secret: inv.Secret[:]})
				if err == nil && i == 0 {
					joined.Add(1)
				} else if err != nil && connect.CodeOf(err) != connect.CodePermissionDenied {
					t.Errorf("refused by %v", err)
				}
			}
		})
	}
	wg.Wait()
	if joined.Load() != 1 {
		t.Errorf("%d joined by one invitation", joined.Load())
	}
	if got := len(n.roster.List()); got != 1 {
		t.Errorf("%d members", got)
	}
}

// TestFloodOfStrangers calls what strangers may not: the audit log doesn't grow with it,
// and says how many there were.
func TestFloodOfStrangers(t *testing.T) {
	t.Parallel()
	n := start(t, newDir(t, testConfig))
	n.invite(t, "bob")
	before, _ := n.audit.Head()
	begin := time.Now()
	var wg sync.WaitGroup
	for range 4 {
		client := n.client(t, newParty(t))
		wg.Go(func() {
			for range 100 {
				_, err := client.Status(t.Context(), new(nodev1.StatusRequest))
				if connect.CodeOf(err) != connect.CodePermissionDenied {
					t.Errorf("refused by %v", err)
				}
			}
		})
	}
	wg.Wait()
	after, _ := n.audit.Head()
	if most := uint64(2 + 2*time.Since(begin).Seconds()); after-before > most {
		t.Errorf("%d records for 400 denials in %v", after-before, time.Since(begin))
	}
	n.alive(t, "strangers")
}

// TestNoGoroutines counts them when a node has ended that had bad company.
func TestNoGoroutines(t *testing.T) {
	before := runtime.NumGoroutine()
	for range 3 {
		n := start(t, newDir(t, testConfig+"[limits]\ndrain = \"100ms\"\n"))
		bob := newParty(t)
		n.join(t, bob, "bob")
		for range 5 {
			c, err := net.Dial("tcp", n.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			r := n.raw(t, bob)
			r.Write(frame(frameHeaders, endHeaders, 1, request("content-length", "5")))
		}
		if err := n.stop(); err != nil {
			t.Fatal(err)
		}
	}
	http.DefaultTransport.(*http.Transport).CloseIdleConnections()
	for range 100 {
		if runtime.NumGoroutine() <= before+6 { // clients whose test hasn't ended
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	stacks := make([]byte, 1<<17)
	t.Errorf("%d goroutines, and %d before:\n%s", runtime.NumGoroutine(), before, stacks[:runtime.Stack(stacks, true)])
}

// TestNameOfOther joins a node that calls itself what a rule calls somebody else.
func TestNameOfOther(t *testing.T) {
	t.Parallel()
	const rule = "[[rule]]\nparties = [\"boss\"]\noperations = [\"node.*\"]\n"
	n := start(t, newDir(t, testConfig+rule))
	mallory := start(t, newDir(t, "name = \"boss\"\n"+testConfig))
	token := mallory.invite(t, "friend")
	own := n.client(t, n.id)
	accept := func(name string) error {
		_, err := own.Accept(t.Context(), &nodev1.AcceptRequest{Token: token, Name: name})
		return err
	}
	err := accept("")
	wantCode(t, "a name of its own choice", err, connect.CodeFailedPrecondition)
	if err == nil || !strings.Contains(err.Error(), roster.ErrName.Error()) {
		t.Errorf("%v", err)
	}
	_, err = n.client(t, mallory.id).Parties(t.Context(), new(nodev1.PartiesRequest))
	if err == nil {
		t.Error("mallory has the rights of boss")
	}
	// By a name that somebody here says it joins, by the same invitation.
	if err := accept("friend"); err != nil {
		t.Fatal(err)
	}
	_, err = n.client(t, mallory.id).Parties(t.Context(), new(nodev1.PartiesRequest))
	wantCode(t, "by another name", err, connect.CodePermissionDenied)
	if err := accept("boss"); err != nil {
		t.Errorf("a name that somebody here says: %v", err)
	}
}
