// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package distill

import (
	"bytes"
	"crypto/ed25519"
	"encoding/binary"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"github.com/undersign/undersign/bls"
)

// A mutator makes batches that are nearly valid. Most are signed by the aggregator
// afterwards, so that the checks behind its signature are reached.
type mutator struct {
	*rand.Rand
	t   *testing.T
	net *batchNet
	off []byte // the encoding of a point outside the subgroup
	old []byte // the aggregate of another batch

	base *Batch // is good for some mutants
	left int
}

func newMutator(t *testing.T, seed uint64) *mutator {
	m := &mutator{Rand: rand.New(rand.NewPCG(seed, 0)), t: t, net: newBatchNet(t, 20), off: offSubgroup(t)}
	// Limits that small batches reach.
	p := &m.net.genesis.Params
	p.MaxLeaves, p.MaxPayload, p.MaxAhead, p.ValidFor, p.MinStragglers, p.MaxBatch = 11, 9, 4, 2, 3, 1500
	m.net.net = m.net.genesis.ID()
	var err error
	if m.net.verifier, err = NewVerifier(m.net.genesis); err != nil {
		t.Fatal(err)
	}
	m.net.view.inactive = map[uint64]bool{batchID(19): true}
	return m
}

// batch returns a batch that is valid, unless it is over a limit.
func (m *mutator) batch() *Batch {
	clients := m.Perm(19)[:1+m.IntN(11)]
	slices.Sort(clients)
	var stragglers []uint32
	share := []float64{0, 0.1, 0.3, 1}[m.IntN(4)]
	for i := range clients {
		if m.Float64() < share && len(stragglers) < 3 {
			stragglers = append(stragglers, uint32(i))
		}
	}
	return m.net.batch(m.t, Mode(m.IntN(3)), clients, stragglers...)
}

func cloneBatch(b *Batch) *Batch {
	c := *b
	c.IDs, c.Nonces, c.NotAfter = slices.Clone(b.IDs), slices.Clone(b.Nonces), slices.Clone(b.NotAfter)
	c.Payloads = Payloads{slices.Clone(b.Payloads.Data), slices.Clone(b.Payloads.Ends)}
	c.Stragglers, c.StragglerSigs, c.Aggregate = slices.Clone(b.Stragglers), slices.Clone(b.StragglerSigs), slices.Clone(b.Aggregate)
	return &c
}

// mutant returns an encoded batch.
func (m *mutator) mutant() []byte {
	if m.left == 0 {
		if m.base != nil {
			m.old = m.base.Aggregate
		}
		m.base, m.left = m.batch(), 8
	}
	m.left--
	b := cloneBatch(m.base)
	r := raw(b)
	for range 1 + m.IntN(2) {
		m.change(b, r)
	}
	enc := r.encode()
	if m.IntN(8) == 0 {
		enc = m.bytes(enc)
	}
	if m.IntN(16) == 0 {
		return enc
	}
	return m.net.resign(enc)
}

// change changes one thing.
func (m *mutator) change(b *Batch, r *rawBatch) {
	column := []*[]byte{&r.deltas, &r.nonces, &r.ahead, &r.lengths}[m.IntN(4)]
	part := []*[]byte{&r.deltas, &r.nonces, &r.ahead, &r.lengths, &r.data, &r.positions, &r.sigs, &r.aggregate}[m.IntN(8)]
	if len(*column) == 0 || len(r.deltas) == 0 {
		return // taken away by the change before
	}
	switch m.IntN(20) {
	case 0: // nothing
	case 1, 2:
		m.flip(*part)
	case 3:
		*part = m.bytes(*part)
	case 4:
		m.header(&r.header)
	case 5: // not the shortest form of an integer
		if i := m.IntN(len(*column)); (*column)[i] < 0x80 {
			*column = slices.Concat((*column)[:i], []byte{(*column)[i] | 0x80, 0}, (*column)[i+1:])
		}
	case 6: // a large integer
		v := []uint64{1<<64 - 1, 1<<64 - 2, -uint64(m.IntN(30)), 1 << 63, 1 << m.IntN(64), 5, 10, 20}[m.IntN(8)]
		i := m.IntN(len(*column))
		*column = slices.Concat((*column)[:i], varints(v), (*column)[i+1:])
	case 7: // two leaves of one id, or in the wrong order
		i := m.IntN(len(r.deltas))
		r.deltas = slices.Concat(r.deltas[:i], varints(1<<64-1-uint64(m.IntN(2))), r.deltas[i+1:])
	case 8: // other positions
		var list []uint32
		for i := range b.Len() {
			if m.IntN(4) == 0 {
				list = append(list, uint32(i))
			}
		}
		r.positions = appendPositions(nil, list, b.Len())
		if m.IntN(2) == 0 && b.Mode == ModeEd25519 {
			r.sigs = m.subs(b, list)
		}
	case 9: // the other form of positions
		list := varints(uint64(len(b.Stragglers)))
		next := uint32(0)
		for _, i := range b.Stragglers {
			list = append(list, varints(uint64(i-next))...)
			next = i + 1
		}
		r.positions = append([]byte{positionsList}, list...)
	case 10: // padding
		if len(r.positions) > 0 && r.positions[0] == positionsBitmap {
			r.positions[len(r.positions)-1] |= 0x80
		}
	case 11: // exchange signatures of stragglers
		if len(r.sigs) > 64 {
			r.sigs = slices.Concat(r.sigs[64:], r.sigs[:64])
		}
	case 12: // a signature too few or too many, or none
		r.sigs = [][]byte{nil, r.sigs[:max(0, len(r.sigs)-64)], append(r.sigs, make([]byte, 64)...)}[m.IntN(3)]
	case 13, 14:
		r.aggregate = m.aggregate(b, r.aggregate)
	case 15: // exchange payloads
		if len(r.data) >= 16 {
			r.data = slices.Concat(r.data[8:16], r.data[:8], r.data[16:])
		}
	case 16: // exchange columns
		r.nonces, r.ahead = r.ahead, r.nonces
	case 17: // an id that isn't active
		c := []uint64{batchID(19), 8, 9, 18, 1000}[m.IntN(5)]
		b.IDs[b.Len()-1] = max(c, b.IDs[b.Len()-1])
		r.deltas = raw(b).deltas
	case 18: // a leaf changed, and signed by all
		b.Nonces[m.IntN(b.Len())] = m.Uint64() >> m.IntN(64)
		m.resign(b)
		*r = *raw(b)
	case 19: // another leaf, but not signed
		b.Nonces[m.IntN(b.Len())]++
		*r = *raw(b)
	}
}

// resign signs b for its clients.
func (m *mutator) resign(b *Batch) {
	clients := make([]int, b.Len())
	for i, id := range b.IDs {
		if clients[i] = m.net.view.position(id); clients[i] < 0 {
			return
		}
	}
	m.net.signLeaves(m.t, b, clients)
}

// subs returns signatures of stragglers.
func (m *mutator) subs(b *Batch, list []uint32) (sigs []byte) {
	v := &Verified{Batch: b}
	v.hashLeaves()
	for _, i := range list {
		if c := m.net.view.position(b.IDs[i]); c >= 0 {
			sigs = append(sigs, ed25519.Sign(m.net.ed[c], v.sub(int(i)).Bytes())...)
		}
	}
	return sigs
}

func (m *mutator) header(h *Header) {
	switch m.IntN(7) {
	case 0:
		h.N += []uint64{1, 1<<64 - 1, 100, 1 << 40}[m.IntN(4)]
	case 1:
		h.N = []uint64{0, 1, 1<<64 - 1}[m.IntN(3)]
	case 2:
		h.Mode = Mode(m.IntN(4))
	case 3:
		h.Seq ^= 1 << m.IntN(64)
	case 4:
		h.ValidUntil = []uint64{h.ValidUntil + 1, h.ValidUntil - 1, 1<<64 - 1, 0}[m.IntN(4)]
	case 5:
		h.Dirver++
	case 6:
		h.AggID++
	}
}

// aggregate returns something in the place of an aggregate.
func (m *mutator) aggregate(b *Batch, sig []byte) []byte {
	identity := append([]byte{0xc0}, make([]byte, 95)...)
	switch m.IntN(8) {
	case 0:
		return nil
	case 1:
		return identity
	case 2:
		return bytes.Clone(m.off)
	case 3:
		return bytes.Clone(m.old)
	case 4:
		return append(bytes.Clone(sig), identity...)
	case 5:
		if len(sig) == 96 {
			sig[0] ^= 0x20
		}
		return sig
	case 6: // one who isn't a reducer signs as well
		if s, err := bls.ParseSignature(sig); err == nil {
			v := &Verified{Batch: b}
			v.hashLeaves()
			more, err := bls.ParseSignature(m.net.signature(m.t, v.redDigest(), m.IntN(19)))
			if err != nil {
				m.t.Fatal(err)
			}
			if s, err = bls.Aggregate(s, more); err != nil {
				m.t.Fatal(err)
			}
			return s.Bytes()
		}
	}
	return slices.Concat(identity[:1], bytes.Repeat([]byte{0xff}, 95))
}

func (m *mutator) flip(b []byte) {
	if len(b) > 0 {
		b[m.IntN(len(b))] ^= 1 << m.IntN(8)
	}
}

// bytes takes out, puts in, or repeats some bytes.
func (m *mutator) bytes(b []byte) []byte {
	i := m.IntN(len(b) + 1)
	j := min(len(b), i+m.IntN(4))
	switch m.IntN(4) {
	case 0:
		return slices.Concat(b[:i], b[j:])
	case 1:
		return slices.Concat(b[:i], binary.BigEndian.AppendUint16(nil, uint16(m.Uint32())), b[i:])
	case 2:
		return slices.Concat(b[:j], b[i:])
	}
	return b[:i]
}

// TestMutants compares the verifier with the slow oracle.
func TestMutants(t *testing.T) {
	n := 2000
	if os.Getenv("UNDERSIGN_LONG") != "" {
		n = 100_000
	}
	m := newMutator(t, 5)
	count := map[Rule]int{}
	for i := range n {
		enc := m.mutant()
		_, err := m.net.verifier.Verify(enc, m.net.view)
		rule, index := slowVerify(enc, m.net.genesis, m.net.view)
		got, at := RuleOf(err), -1
		if err != nil {
			at = err.(*RejectError).Index
		}
		if got != rule || err != nil && at != index {
			t.Fatalf("mutant %d: %v (%v), and the oracle says %v at %d: %x", i, err, got, rule, index, enc)
		}
		count[rule]++
	}
	t.Log(count)
	// None of the rules is out of reach, but those that need keys which cancel and more
	// bytes than small batches have.
	for rule := range maps.Keys(batchRuleTexts) {
		if rule <= RuleAggregate && rule != RuleKeySum && rule != RuleColumns && rule != RuleBatchSize && count[rule] == 0 {
			t.Errorf("no mutant breaks rule %d: %v", rule, rule)
		}
	}
	if count[0] < n/50 || count[RuleAggregate] < n/50 {
		t.Errorf("%d are valid, and %d have a wrong aggregate only", count[0], count[RuleAggregate])
	}
}
