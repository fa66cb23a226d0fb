// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package distill

import (
	"crypto/ed25519"
	"encoding/binary"
	"fmt"
	"math/big"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/undersign/undersign/bls"
	"github.com/undersign/undersign/internal/bls12381"
	"github.com/undersign/undersign/internal/cputime"
	"github.com/undersign/undersign/internal/zip215"
)

// A crowdView is a directory of many clients with dense ids.
type crowdView struct {
	keys bls.Keys
	ed   *zip215.Key // of all
}

func (v *crowdView) Version() uint64 { return 5 }

func (v *crowdView) FirstInactive(ids []uint64) int {
	return slices.IndexFunc(ids, func(id uint64) bool { return id >= uint64(v.keys.Len()) })
}

func (v *crowdView) SumKeys(ids []uint64) (*bls.ProvenKey, error) {
	at := make([]int, len(ids))
	for i, id := range ids {
		at[i] = int(id)
	}
	return v.keys.Sum(at)
}

func (v *crowdView) BLSKey(id uint64) *bls.ProvenKey { return v.keys.At(int(id)) }
func (v *crowdView) EdKey(uint64) *zip215.Key        { return v.ed }

// crowd returns a directory of n clients with the BLS keys 1000+i, and one Ed25519 key.
func (w *partyNet) crowd(n int) (*crowdView, ed25519.PrivateKey) {
	w.t.Helper()
	ed := edKey("crowd", 0)
	key, err := zip215.NewKey(ed.Public().(ed25519.PublicKey))
	if err != nil {
		w.t.Fatal(err)
	}
	v := &crowdView{ed: key}
	keys := make([]*bls.ProvenKey, n)
	one := bls.AssumeProvenUnsafe(blsKey(w.t, big.NewInt(1)).PublicKey())
	keys[0] = bls.AssumeProvenUnsafe(blsKey(w.t, big.NewInt(1000)).PublicKey())
	for i := 1; i < n; i++ {
		if keys[i], err = bls.SumKeys([]*bls.ProvenKey{keys[i-1], one}); err != nil {
			w.t.Fatal(err)
		}
	}
	if err := v.keys.Add(keys...); err != nil {
		w.t.Fatal(err)
	}
	return v, ed
}

// crowdReductions returns the signatures of a batch by the clients of a crowd.
func (w *partyNet) crowdReductions(red [32]byte, seq uint64, n int) []Reduction {
	w.t.Helper()
	sign := func(k int64) *bls12381.G2 {
		sig, err := bls.ProofOfPossession.Sign(blsKey(w.t, big.NewInt(k)), red[:])
		if err != nil {
			w.t.Fatal(err)
		}
		p := new(bls12381.G2)
		if err := p.SetUncompressed(sig.UncompressedBytes()); err != nil {
			w.t.Fatal(err)
		}
		return p
	}
	step := sign(1)
	points := make([]bls12381.G2, n)
	list := make([]*bls12381.G2, n)
	for i := range points {
		if i == 0 {
			points[0].Set(sign(1000))
		} else {
			points[i].Add(&points[i-1], step)
		}
		list[i] = &points[i]
	}
	bls12381.NormalizeG2(list...)
	reds := make([]Reduction, n)
	for i := range reds {
		reds[i] = Reduction{ID: uint64(i), Seq: seq, Digest: red, Signature: [ReductionSize]byte(points[i].UncompressedBytes())}
	}
	return reds
}

// A nullJournal loses everything: for what isn't about journals.
type nullJournal struct{ MemoryJournal }

func (*nullJournal) Commit([]Record) error { return nil }

// BenchmarkAggregator brings batches from their messages to their receipts, and tells how
// long each part takes for one message.
func BenchmarkAggregator(b *testing.B) {
	for _, n := range []int{1024, 65536} {
		b.Run(fmt.Sprintf("n=%d", n), func(b *testing.B) { benchmarkRound(b, n) })
	}
}

func benchmarkRound(b *testing.B, n int) {
	w := newPartyNet(b, 1, 0, func(p *Params) { p.MaxAhead = 1 << 30 })
	view, _ := w.crowd(n)
	a := w.open(firstAgg, new(nullJournal), func(c *AggregatorConfig) {
		c.Mode = ModeLean
		c.Limits = AggregatorLimits{Leaves: n + 1, BatchAge: 1 << 40, BatchBytes: 1 << 30, PoolBytes: 1 << 30}
	})
	a.SetView(view)
	if _, err := a.Tick(0); err != nil {
		b.Fatal(err)
	}
	spent := make(map[string]time.Duration)
	part := func(name string, do func()) {
		before := cputime.Process()
		do()
		spent[name] += cputime.Process() - before
	}
	must := func(out []AggregatorAction, err error) []AggregatorAction {
		if err != nil {
			b.Fatal(err)
		}
		return out
	}
	nonce, now := uint64(0), int64(0)
	for b.Loop() {
		nonce++
		now += 10_000
		subs := make([]Submission, n)
		for i := range subs {
			subs[i] = Submission{ID: uint64(i), Nonce: nonce, NotAfter: 1 << 20, Payload: binary.BigEndian.AppendUint64(nil, uint64(i))}
		}
		var out []AggregatorAction
		part("admit", func() {
			for i := range subs {
				must(a.HandleSubmission(now, &subs[i]))
			}
			must(a.Tick(now + 5))
		})
		part("propose", func() {
			a.limits.Leaves = n
			out = must(a.Tick(now + 6))
			a.limits.Leaves = n + 1
		})
		p := one[SendProposals](b, out)
		part("proofs", func() {
			for i := range p.Len() {
				p.At(i)
			}
		})
		b.StopTimer()
		reds := w.crowdReductions(p.round.red, p.Seq(), n)
		b.StartTimer()
		part("reduce", func() {
			out = nil
			for i := range reds {
				if i == n-1 {
					a.verifyBurst(now+7, p.round, nil)
				}
				out = append(out, must(a.HandleReduction(now+7, &reds[i]))...)
			}
		})
		pub := one[Publish](b, out)
		r := &BatchReceipt{Seq: pub.Seq}
		for i := range subs {
			r.Results = append(r.Results, Result{
				Code: ResultOK, ID: uint64(i), Nonce: nonce, ExecHeight: 101, PayloadHash: PayloadHash(subs[i].Payload),
			})
		}
		r.Rcpt = Rcpt{Net: w.network.ID(), Height: 101, BatchDigest: pub.Digest, N: uint64(n), ResultRoot: ResultRoot(r.Results)}
		r.Certificate = w.certify(r.Rcpt, 0)
		part("deliver", func() { out = must(a.HandleBatchReceipt(now+8, r)) })
		s := one[SendReceipts](b, out)
		part("receipts", func() {
			for i := range s.Len() {
				s.At(i)
			}
		})
	}
	for name, d := range spent {
		b.ReportMetric(float64(d.Nanoseconds())/float64(b.N)/float64(n), name+"-ns/msg")
	}
}

// BenchmarkAdmit admits messages with Ed25519 signatures, in bursts.
func BenchmarkAdmit(b *testing.B) {
	const n = 2048
	w := newPartyNet(b, 1, 0, nil)
	view, ed := w.crowd(n)
	subs := make([]*Submission, n)
	for i := range subs {
		s := &Submission{ID: uint64(i), Nonce: 1, NotAfter: 1000, Payload: binary.BigEndian.AppendUint64(nil, uint64(i))}
		sub := s.Sub(w.network.ID())
		s.Signature = ed25519.Sign(ed, sub.Bytes())
		subs[i] = s
	}
	began := cputime.Process()
	for b.Loop() {
		a := w.open(firstAgg, new(nullJournal), nil)
		a.SetView(view)
		acks := 0
		for _, s := range subs {
			out, err := a.HandleSubmission(0, s)
			if err != nil {
				b.Fatal(err)
			}
			acks += len(actions[SendAck](out))
		}
		if acks != n {
			b.Fatal(acks)
		}
	}
	b.ReportMetric(float64((cputime.Process()-began).Nanoseconds())/float64(b.N)/n, "cpu-ns/msg")
}

// BenchmarkClients tells what a client takes in memory, with one message in flight.
func BenchmarkClients(b *testing.B) {
	w := newPartyNet(b, 1, 0, nil)
	const n = 4096
	began := cputime.Process()
	for b.Loop() {
		j := new(nullJournal)
		list := make([]*Client, n)
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		for i := range list {
			c, err := OpenClient(ClientConfig{Network: w.network, ID: uint64(i), Keys: w.keys[0], Journal: j})
			if err != nil {
				b.Fatal(err)
			}
			if _, err := c.HandleHead(0, w.head(100)); err != nil {
				b.Fatal(err)
			}
			if _, _, err := c.Submit(0, []byte("payload."), 0); err != nil {
				b.Fatal(err)
			}
			list[i] = c
		}
		runtime.GC()
		runtime.ReadMemStats(&after)
		b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/n, "B/client")
		runtime.KeepAlive(list)
	}
	b.ReportMetric(float64((cputime.Process()-began).Nanoseconds())/float64(b.N)/n, "cpu-ns/client")
}
