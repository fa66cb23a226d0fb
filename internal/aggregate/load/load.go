// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package load

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/undersign/undersign/distill"
	"github.com/undersign/undersign/internal/party"
	"github.com/undersign/undersign/internal/rpc"
	"github.com/undersign/undersign/keyfile"
)

// MaxConnections is how many sessions a load has at most, and MaxSeparate how many if each
// has a connection of its own.
const (
	MaxConnections = 256
	MaxSeparate    = 8192
)

// Config says what a load is.
type Config struct {
	Key     *keyfile.PartyKey // of the party that it comes from
	Genesis *distill.Genesis

	Aggregator uint64
	Address    string // of the aggregator
	Mode       distill.Mode

	Seed        string        // of the identities' keys
	IDs         []uint64      // of identities that were registered, in their order
	Connections int           // sessions
	Separate    bool          // each session in a TCP connection of its own, instead of 128 in one
	Payload     int           // bytes of each message, 16 at least
	Rate        int           // submissions a second, of all together; 0: each follows the receipt of the one before
	Warmup      time.Duration // before anything counts
	Duration    time.Duration

	// Enough is asked every second, if it isn't nil, whether the duration is over already.
	Enough func() bool
	// Progress is called every second, if it isn't nil.
	Progress func(Progress)
}

// Progress is what happened in a second.
type Progress struct {
	Acknowledged, Receipted uint64
	Waiting                 uint64 // submissions without a receipt, at its end
}

// A Report is what a load has measured. Counts are of the time after the warm-up.
type Report struct {
	Identities   int           `json:"identities"`
	Connections  int           `json:"connections"`
	Seconds      float64       `json:"seconds"`
	Submitted    uint64        `json:"submitted"`
	Acknowledged uint64        `json:"acknowledged"`
	Receipted    uint64        `json:"receipted"` // executed, by a receipt that was verified
	PerSecond    float64       `json:"receipted_per_second"`
	Refused      uint64        `json:"refused"`
	Throttled    uint64        `json:"throttled"` // of those, to come again later
	Resent       uint64        `json:"resent"`
	Repeated     uint64        `json:"repeated"` // receipts that had come before
	Bad          uint64        `json:"bad"`      // proposals and receipts that don't verify, or aren't of an execution
	Broken       uint64        `json:"broken"`   // sessions
	Ack          Percentiles   `json:"ack_ms"`
	Receipt      Percentiles   `json:"receipt_ms"`
	Memory       uint64        `json:"memory_bytes"` // of the load itself
	Left         int           `json:"left"`         // submissions without a receipt when it ended
	Elapsed      time.Duration `json:"-"`
}

// Percentiles are of times, in milliseconds.
type Percentiles struct {
	P50 float64 `json:"p50"`
	P90 float64 `json:"p90"`
	P99 float64 `json:"p99"`
	Max float64 `json:"max"`
}

// A runner is a load that runs.
type runner struct {
	cfg     Config
	who     []int    // the identities, in the order of their ids
	ids     []uint64 // which are these
	net     *distill.Network
	params  distill.Params
	keys    *keys
	self    *party.Identity
	counts  [counters]atomic.Uint64
	acks    histogram
	receipt histogram
	from    atomic.Int64 // when counting begins, in nanoseconds
	until   atomic.Int64 // when nothing new is submitted

	starting chan struct{} // sessions that begin

	rootsMu sync.Mutex
	roots   map[[32]byte]*rootEntry
}

type rootEntry struct {
	once sync.Once
	root *root
}

const (
	submitted = iota
	acknowledged
	receipted
	refused
	throttled
	resent
	repeated
	bad
	broken
	counters
)

func (r *runner) count(what int, n uint64) {
	if time.Now().UnixNano() >= r.from.Load() {
		r.counts[what].Add(n)
	}
}

// root returns what identities sign for a statement, made once.
func (r *runner) root(digest [32]byte) *root {
	r.rootsMu.Lock()
	e := r.roots[digest]
	if e == nil {
		if len(r.roots) > 64 {
			clear(r.roots)
		}
		e = &rootEntry{}
		r.roots[digest] = e
	}
	r.rootsMu.Unlock()
	e.once.Do(func() { e.root = r.keys.root(digest) })
	return e.root
}

// Run puts an aggregator under load until the duration is over and what was submitted has
// its receipts, or ctx ends.
func Run(ctx context.Context, cfg Config) (*Report, error) {
	most, each := MaxConnections, 128 // a connection carries 250 streams at most
	if cfg.Separate {
		most, each = MaxSeparate, 1
	}
	if len(cfg.IDs) == 0 || cfg.Connections < 1 || cfg.Connections > most || cfg.Duration <= 0 {
		return nil, fmt.Errorf("load: it takes identities, 1 to %d connections, and a duration", most)
	}
	who := make([]int, len(cfg.IDs))
	for i := range who {
		who[i] = i
	}
	slices.SortFunc(who, func(i, j int) int { return cmp.Compare(cfg.IDs[i], cfg.IDs[j]) })
	ids := make([]uint64, len(who))
	for j, i := range who {
		if ids[j] = cfg.IDs[i]; j > 0 && ids[j] == ids[j-1] {
			return nil, errors.New("load: two identities have one id")
		}
	}
	cfg.Payload = max(cfg.Payload, 16)
	cfg.Connections = min(cfg.Connections, len(cfg.IDs))
	net, err := distill.NewNetwork(cfg.Genesis)
	if err != nil {
		return nil, err
	}
	self, err := party.NewIdentity(cfg.Key)
	if err != nil {
		return nil, err
	}
	key, ok := cfg.Genesis.AggregatorKey(cfg.Aggregator)
	if !ok {
		return nil, fmt.Errorf("load: the genesis has no aggregator %d", cfg.Aggregator)
	}
	fp := keyfile.Fingerprint(&keyfile.Party{Key: key[:]})
	r := &runner{cfg: cfg, who: who, ids: ids, net: net, params: net.Params(), keys: newKeys(cfg.Seed), self: self, roots: make(map[[32]byte]*rootEntry), starting: make(chan struct{}, 64)}
	start := time.Now().Add(cfg.Warmup)
	r.from.Store(start.UnixNano())
	end := start.Add(cfg.Duration)
	r.until.Store(end.UnixNano())

	var conns []*conn
	var group sync.WaitGroup
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	peers := make([]*rpc.Peer, (cfg.Connections+each-1)/each)
	for i := range peers {
		peers[i] = rpc.NewPeer(self, fp, cfg.Address)
		defer peers[i].Close()
	}
	for i := range cfg.Connections {
		c := r.newConn(i, peers[i%len(peers)])
		conns = append(conns, c)
		group.Go(func() { c.run(ctx) })
	}
	ticker := time.NewTicker(time.Second)
	defer ticker.Stop()
	var last [counters]uint64
	var atEnd [counters]uint64
	counted := false
	memory := uint64(0)
	for done := false; !done; {
		select {
		case <-ctx.Done():
			done = true
		case <-ticker.C:
		}
		var ms runtime.MemStats
		runtime.ReadMemStats(&ms)
		memory = max(memory, ms.Sys)
		waiting := uint64(0)
		for _, c := range conns {
			waiting += uint64(c.waiting.Load())
		}
		if cfg.Progress != nil {
			a, b := r.counts[acknowledged].Load(), r.counts[receipted].Load()
			cfg.Progress(Progress{a - last[acknowledged], b - last[receipted], waiting})
			last[acknowledged], last[receipted] = a, b
		}
		if cfg.Enough != nil && time.Now().Before(end) && cfg.Enough() {
			end = time.Now()
			r.until.Store(end.UnixNano())
		}
		if time.Now().After(end) {
			if !counted {
				counted = true
				for i := range atEnd {
					atEnd[i] = r.counts[i].Load()
				}
			}
			if waiting == 0 || time.Now().After(end.Add(60*time.Second)) {
				done = true
			}
		}
	}
	elapsed := end.Sub(start)
	if !counted {
		elapsed = max(time.Since(start), 0)
		for i := range atEnd {
			atEnd[i] = r.counts[i].Load()
		}
	}
	left := 0
	for _, c := range conns {
		left += int(c.waiting.Load())
	}
	cancel()
	group.Wait()
	rep := &Report{
		Identities: len(cfg.IDs), Connections: cfg.Connections, Seconds: elapsed.Seconds(),
		Submitted: atEnd[submitted], Acknowledged: atEnd[acknowledged], Receipted: atEnd[receipted],
		Refused: r.counts[refused].Load(), Throttled: r.counts[throttled].Load(), Resent: r.counts[resent].Load(),
		Repeated: r.counts[repeated].Load(), Bad: r.counts[bad].Load(), Broken: r.counts[broken].Load(),
		Ack: r.acks.percentiles(), Receipt: r.receipt.percentiles(), Memory: memory, Left: left, Elapsed: elapsed,
	}
	if elapsed > 0 {
		rep.PerSecond = float64(rep.Receipted) / elapsed.Seconds()
	}
	return rep, nil
}
