// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package distill

import (
	"bytes"
	"crypto/ed25519"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/undersign/undersign/bls"
)

// Batches of all modes, sizes and shares of stragglers are verified, and the result has
// what was computed.
func TestVerify(t *testing.T) {
	net := newBatchNet(t, 140)
	for mode := range modes {
		for _, n := range []int{1, 2, 3, 8, 9, 33, 130} {
			for _, set := range [][]uint32{nil, {0}, {uint32(n) - 1}, upTo32(n)} {
				if mode == ModeFolded && len(set) > 9 {
					continue // for time
				}
				b := net.batch(t, mode, upTo(n), set...)
				enc := net.sign(t, b)
				v, err := net.verifier.Verify(enc, net.view)
				if err != nil {
					t.Fatalf("%v, %d leaves, %d stragglers: %v", mode, n, len(set), err)
				}
				if rule, _ := slowVerify(enc, net.genesis, net.view); rule != 0 {
					t.Errorf("%v, %d leaves, %d stragglers: the oracle says %v", mode, n, len(set), rule)
				}
				if v.Digest != BatchDigest(enc) {
					t.Error("digest")
				}
				var blocks [][]byte
				for i := range n {
					nonce, payload, notAfter := net.message(i)
					want := Leaf{batchID(i), nonce, notAfter, PayloadHash(payload)}
					if v.Leaf(i) != want {
						t.Fatalf("leaf %d is %v, not %v", i, v.Leaf(i), want)
					}
					block := want.Block()
					blocks = append(blocks, block[:])
				}
				if !bytes.Equal(v.Root[:], slowRoot(blocks)) {
					t.Error("root")
				}
			}
		}
	}
}

// A forgery is something that an aggregator might do to a batch of the clients 0 to 9, of
// which 2 and 5 are stragglers, before it signs it.
type forgery struct {
	name  string
	mode  Mode
	rule  Rule
	index int
	f     func(t *testing.T, net *batchNet, b *Batch)
}

// leavesForgeries change leaves.
var leavesForgeries = []forgery{
	{"payload", 0, RuleAggregate, -1, func(_ *testing.T, _ *batchNet, b *Batch) { b.Payloads.Data[3] ^= 1 }},
	{"payload", 1, RuleAggregate, -1, func(_ *testing.T, _ *batchNet, b *Batch) { b.Payloads.Data[3] ^= 1 }},
	{"payload", 2, RuleAggregate, -1, func(_ *testing.T, _ *batchNet, b *Batch) { b.Payloads.Data[3] ^= 1 }},
	{"byte moved to the next payload", 0, RuleAggregate, -1, func(_ *testing.T, _ *batchNet, b *Batch) { b.Payloads.Ends[6]-- }},
	{"nonce", 0, RuleAggregate, -1, func(_ *testing.T, _ *batchNet, b *Batch) { b.Nonces[0]++ }},
	{"expiry", 0, RuleAggregate, -1, func(_ *testing.T, _ *batchNet, b *Batch) { b.NotAfter[0]++ }},
	{"another client's id", 0, RuleAggregate, -1, func(_ *testing.T, _ *batchNet, b *Batch) { b.IDs[9] = batchID(11) }},
	{"nobody's id", 0, RuleInactive, 8, func(_ *testing.T, _ *batchNet, b *Batch) { b.IDs[8] = 8 }},
	{"id beyond all", 0, RuleInactive, 9, func(_ *testing.T, _ *batchNet, b *Batch) { b.IDs[9] = 1<<64 - 1 }},
	{"a leaf left out", 0, RuleAggregate, -1, func(t *testing.T, net *batchNet, b *Batch) { *b = *net.withLeaves(t, b, 9) }},
	{"a leaf put in", 0, RuleAggregate, -1, func(t *testing.T, net *batchNet, b *Batch) { *b = *net.withLeaves(t, b, 11) }},
	{"sequence", 0, RuleAggregate, -1, func(_ *testing.T, _ *batchNet, b *Batch) { b.Seq++ }},
	{"valid for longer", 0, RuleStragglerSignature, 2, func(_ *testing.T, _ *batchNet, b *Batch) {
		b.ValidUntil++
		for i := range b.NotAfter {
			b.NotAfter[i]++
		}
	}},
	{"valid for less long", 0, RuleAggregate, -1, func(_ *testing.T, _ *batchNet, b *Batch) { b.ValidUntil-- }},
}

// stragglersForgeries change stragglers.
var stragglersForgeries = []forgery{
	{"payload", 0, RuleStragglerSignature, 5, func(_ *testing.T, _ *batchNet, b *Batch) { b.Payloads.Data[5*8] ^= 1 }},
	{"nonce", 0, RuleStragglerSignature, 2, func(_ *testing.T, _ *batchNet, b *Batch) { b.Nonces[2]++ }},
	{"expiry", 0, RuleStragglerSignature, 2, func(_ *testing.T, _ *batchNet, b *Batch) { b.NotAfter[2]++ }},
	{"signatures exchanged", 0, RuleStragglerSignature, 2, func(_ *testing.T, _ *batchNet, b *Batch) {
		b.StragglerSigs = slices.Concat(b.StragglerSigs[64:], b.StragglerSigs[:64])
	}},
	{"signature", 0, RuleStragglerSignature, 5, func(_ *testing.T, _ *batchNet, b *Batch) { b.StragglerSigs[64+40] ^= 1 }},
	{"zeros for a signature", 0, RuleStragglerSignature, 2, func(_ *testing.T, _ *batchNet, b *Batch) { clear(b.StragglerSigs[:64]) }},
	{"signature for another network", 0, RuleStragglerSignature, 2, func(_ *testing.T, net *batchNet, b *Batch) {
		v := &Verified{Batch: b}
		v.hashLeaves()
		sub := v.sub(2)
		sub.Net[0] ^= 1
		copy(b.StragglerSigs, ed25519.Sign(net.ed[2], sub.Bytes()))
	}},
	{"reducer among them", 0, RuleStragglerSignature, 3, func(_ *testing.T, _ *batchNet, b *Batch) {
		b.Stragglers = []uint32{2, 3, 5}
		b.StragglerSigs = slices.Concat(b.StragglerSigs[:64], b.StragglerSigs)
	}},
	{"taken for a reducer", 0, RuleAggregate, -1, func(_ *testing.T, _ *batchNet, b *Batch) {
		b.Stragglers, b.StragglerSigs = b.Stragglers[:1], b.StragglerSigs[:64]
	}},

	{"payload", 1, RuleAggregate, -1, func(_ *testing.T, _ *batchNet, b *Batch) { b.Payloads.Data[5*8] ^= 1 }},
	{"reducer among them", 1, RuleAggregate, -1, func(_ *testing.T, _ *batchNet, b *Batch) { b.Stragglers = []uint32{2, 3, 5} }},
	{"taken for a reducer", 1, RuleAggregate, -1, func(_ *testing.T, _ *batchNet, b *Batch) { b.Stragglers = []uint32{2} }},
	{"unsigned", 1, RuleAggregate, -1, func(t *testing.T, net *batchNet, b *Batch) {
		b.Stragglers = []uint32{2, 5}
		b.Aggregate = net.aggregate(t, b, 0, 1, 3, 4, 6, 7, 8, 9)
	}},

	{"hash of an absent payload", 2, RuleAggregate, -1, func(_ *testing.T, _ *batchNet, b *Batch) { b.Payloads.Data[2*8+7] ^= 1 }},
	{"nonce of an absent leaf", 2, RuleAggregate, -1, func(_ *testing.T, _ *batchNet, b *Batch) { b.Nonces[2]++ }},
	{"absent leaf executed", 2, RuleAggregate, -1, func(_ *testing.T, _ *batchNet, b *Batch) { b.Stragglers = b.Stragglers[:1] }},
	{"reducer called absent", 2, RuleAggregate, -1, func(t *testing.T, net *batchNet, b *Batch) {
		absent := net.batch(t, ModeLean, upTo(10), 2, 3, 5)
		absent.Aggregate = b.Aggregate
		*b = *absent
	}},
	{"nobody absent", 2, RuleInactive, 8, func(t *testing.T, net *batchNet, b *Batch) {
		*b = *net.batch(t, ModeLean, upTo(10), 8)
		b.IDs[8] = 8
	}},
}

// aggregateForgeries change the aggregate.
var aggregateForgeries = []forgery{
	{"identity", 0, RuleAggregateIdentity, -1, func(_ *testing.T, _ *batchNet, b *Batch) { b.Aggregate = append([]byte{0xc0}, make([]byte, 95)...) }},
	{"identity", 1, RuleAggregateIdentity, -1, func(_ *testing.T, _ *batchNet, b *Batch) { b.Aggregate = append([]byte{0xc0}, make([]byte, 95)...) }},
	{"negated", 0, RuleAggregate, -1, func(_ *testing.T, _ *batchNet, b *Batch) { b.Aggregate[0] ^= 0x20 }},
	{"zeros", 0, RuleAggregateEncoding, -1, func(_ *testing.T, _ *batchNet, b *Batch) { b.Aggregate = make([]byte, 96) }},
	{"flag of compression", 0, RuleAggregateEncoding, -1, func(_ *testing.T, _ *batchNet, b *Batch) { b.Aggregate[0] &^= 0x80 }},
	{"sign of the identity", 0, RuleAggregateEncoding, -1, func(_ *testing.T, _ *batchNet, b *Batch) { b.Aggregate = append([]byte{0xe0}, make([]byte, 95)...) }},
	{"dirty identity", 0, RuleAggregateEncoding, -1, func(_ *testing.T, _ *batchNet, b *Batch) {
		b.Aggregate = append([]byte{0xc0}, make([]byte, 95)...)
		b.Aggregate[95] = 1
	}},
	{"coordinate not reduced", 0, RuleAggregateEncoding, -1, func(_ *testing.T, _ *batchNet, b *Batch) {
		b.Aggregate = append([]byte{0x9f}, bytes.Repeat([]byte{0xff}, 95)...)
	}},
	{"outside the subgroup", 0, RuleAggregateEncoding, -1, func(t *testing.T, _ *batchNet, b *Batch) { b.Aggregate = offSubgroup(t) }},
	{"one client too many", 0, RuleAggregate, -1, func(t *testing.T, net *batchNet, b *Batch) {
		b.Aggregate = net.aggregate(t, b, 0, 1, 2, 3, 4, 6, 7, 8, 9)
	}},
	{"one client too few", 0, RuleAggregate, -1, func(t *testing.T, net *batchNet, b *Batch) { b.Aggregate = net.aggregate(t, b, 0, 1, 3, 4, 6, 7, 8) }},
	{"one client twice", 0, RuleAggregate, -1, func(t *testing.T, net *batchNet, b *Batch) {
		b.Aggregate = net.aggregate(t, b, 0, 1, 3, 3, 4, 6, 7, 8, 9)
	}},
	{"signed under another tag", 0, RuleAggregate, -1, func(t *testing.T, net *batchNet, b *Batch) {
		v := &Verified{Batch: b}
		v.hashLeaves()
		digest := v.redDigest()
		sig, err := bls.Basic.Sign(blsKey(t, net.sum(0, 1, 3, 4, 6, 7, 8, 9)), digest[:])
		if err != nil {
			t.Fatal(err)
		}
		b.Aggregate = sig.Bytes()
	}},
	{"of the proposal", 0, RuleAggregate, -1, func(t *testing.T, net *batchNet, b *Batch) {
		v := &Verified{Batch: b}
		v.hashLeaves()
		digest := v.Prop(v.Root).Digest()
		b.Aggregate = net.signature(t, digest, 0, 1, 3, 4, 6, 7, 8, 9)
	}},
	{"of the root alone", 0, RuleAggregate, -1, func(t *testing.T, net *batchNet, b *Batch) {
		v := &Verified{Batch: b}
		v.hashLeaves()
		b.Aggregate = net.signature(t, v.Root, 0, 1, 3, 4, 6, 7, 8, 9)
	}},
}

// withLeaves returns b with the leaves of n clients, and its aggregate.
func (n *batchNet) withLeaves(t *testing.T, b *Batch, clients int) *Batch {
	c := n.batch(t, b.Mode, upTo(clients), b.Stragglers...)
	c.Aggregate = b.Aggregate
	return c
}

// sum returns the sum of clients' secrets.
func (n *batchNet) sum(clients ...int) *big.Int {
	sum := new(big.Int)
	for _, c := range clients {
		sum.Add(sum, n.scalars[c])
	}
	return sum
}

// signature returns the sum of clients' signatures of a digest.
func (n *batchNet) signature(t *testing.T, digest [32]byte, clients ...int) []byte {
	t.Helper()
	sig, err := bls.ProofOfPossession.Sign(blsKey(t, n.sum(clients...)), digest[:])
	if err != nil {
		t.Fatal(err)
	}
	return sig.Bytes()
}

// aggregate returns the sum of clients' signatures of b.
func (n *batchNet) aggregate(t *testing.T, b *Batch, clients ...int) []byte {
	v := &Verified{Batch: b}
	v.hashLeaves()
	return n.signature(t, v.redDigest(), clients...)
}

// offSubgroup returns the encoding of a point of the curve outside the group.
var offSubgroup = func() func(t *testing.T) []byte {
	find := sync.OnceValue(func() []byte {
		for x := range byte(255) {
			b := append([]byte{0x80}, make([]byte, 95)...)
			b[95] = x
			if _, err := bls.ParseSignature(b); err != nil && strings.Contains(err.Error(), "subgroup") {
				return b
			}
		}
		return nil
	})
	return func(t *testing.T) []byte {
		b := find()
		if b == nil {
			t.Fatal("no point outside the subgroup")
		}
		return bytes.Clone(b)
	}
}()

func TestForgeries(t *testing.T) {
	net := newBatchNet(t, 12)
	for _, list := range []struct {
		name string
		list []forgery
	}{{"leaves", leavesForgeries}, {"stragglers", stragglersForgeries}, {"aggregate", aggregateForgeries}} {
		for _, c := range list.list {
			name := fmt.Sprintf("%s: %s, %v", list.name, c.name, c.mode)
			b := net.batch(t, c.mode, upTo(10), 2, 5)
			c.f(t, net, b)
			enc := net.sign(t, b)
			_, err := net.verifier.Verify(enc, net.view)
			if RuleOf(err) != c.rule || err.(*RejectError).Index != c.index {
				t.Errorf("%s: %v", name, err)
			}
			if !RuleOf(err).Signed() {
				t.Errorf("%s: isn't blamed on the aggregator", name)
			}
			if rule, index := slowVerify(enc, net.genesis, net.view); rule != c.rule || index != c.index {
				t.Errorf("%s: the oracle says %v at %d", name, rule, index)
			}
		}
	}
}

// What the aggregator hasn't signed isn't blamed on it.
func TestOpen(t *testing.T) {
	net := newBatchNet(t, 4)
	good := net.sign(t, net.batch(t, 0, upTo(4), 1))
	change := func(f func(b []byte)) []byte {
		b := bytes.Clone(good)
		f(b)
		return b
	}
	view := net.view
	other := *net.view
	other.version++
	for _, c := range []struct {
		name string
		rule Rule
		enc  []byte
		view View
	}{
		{"nothing", RuleHeader, nil, view},
		{"short", RuleHeader, good[:headerSize+signatureSize-1], view},
		{"version", RuleHeader, net.resign(change(func(b []byte) { b[0] = 2 })), view},
		{"too long", RuleBatchSize, append(bytes.Clone(good), make([]byte, 16<<20)...), view},
		{"network", RuleNetwork, net.resign(change(func(b []byte) { b[1] ^= 1 })), view},
		{"aggregator", RuleAggregator, net.resign(change(func(b []byte) { b[33+15] = 4 })), view},
		{"signature", RuleAggregatorSignature, change(func(b []byte) { b[len(b)-1] ^= 1 }), view},
		{"leaf", RuleAggregatorSignature, change(func(b []byte) { b[headerSize+1] ^= 1 }), view},
		{"sequence", RuleAggregatorSignature, change(func(b []byte) { b[33+23] ^= 1 }), view},
		{"byte more", RuleAggregatorSignature, append(bytes.Clone(good), 0), view},
		{"byte less", RuleAggregatorSignature, good[:len(good)-1], view},
		{"the end of one", RuleNetwork, append([]byte{1}, good[len(good)-headerSize-signatureSize:]...), view},
		{"directory", RuleVersion, good, &other},
		{"directory of another version", RuleVersion, net.resign(change(func(b []byte) { b[33+7] ^= 1 })), view},
	} {
		_, err := net.verifier.Verify(c.enc, c.view)
		if RuleOf(err) != c.rule || RuleOf(err).Signed() {
			t.Errorf("%s: %v", c.name, err)
		}
		if rule, _ := slowVerify(c.enc, net.genesis, c.view); rule != c.rule {
			t.Errorf("%s: the oracle says %v", c.name, rule)
		}
	}
	h, digest, err := net.verifier.Open(good)
	if err != nil || h.Seq != 5 || h.N != 4 || digest != BatchDigest(good) {
		t.Errorf("%v, %x, %v", h, digest, err)
	}
}

// A client may be in a batch once, even if one of its leaves is called absent: with two
// leaves in the tree, an aggregator could show it the one and execute the other.
func TestTwoLeavesOfOneClient(t *testing.T) {
	net := newBatchNet(t, 4)
	b := net.batch(t, ModeLean, []int{0, 1, 2, 3}, 1)
	r := raw(b)
	r.deltas = varints(0, 1, 1<<64-1, 0) // 0, 2, 2, 3
	enc := net.resign(r.encode())
	if _, err := net.verifier.Verify(enc, net.view); RuleOf(err) != RuleOrder {
		t.Error(err)
	}
	if rule, index := slowVerify(enc, net.genesis, net.view); rule != RuleOrder || index != 2 {
		t.Errorf("the oracle says %v", rule)
	}
}

func TestRevoked(t *testing.T) {
	net := newBatchNet(t, 4)
	net.view.inactive = map[uint64]bool{batchID(2): true}
	for mode := range modes {
		enc := net.sign(t, net.batch(t, mode, upTo(4), 2))
		if _, err := net.verifier.Verify(enc, net.view); RuleOf(err) != RuleInactive || err.(*RejectError).Index != 2 {
			t.Errorf("%v: %v", mode, err)
		}
	}
}

// Keys that add up to the identity verify nothing, or anything. Their owners registered
// them properly.
func TestCancellingKeys(t *testing.T) {
	net := newBatchNet(t, 3)
	net.scalars[2].Neg(net.sum(0, 1))
	var proven []*bls.ProvenKey
	for _, k := range net.scalars {
		proven = append(proven, bls.AssumeProvenUnsafe(blsKey(t, k).PublicKey()))
	}
	net.view.keys = bls.Keys{}
	if err := net.view.keys.Add(proven...); err != nil {
		t.Fatal(err)
	}
	b := net.batch(t, 0, upTo(3))
	b.Aggregate = append([]byte{0xc0}, make([]byte, 95)...)
	enc := net.sign(t, b)
	_, err := net.verifier.Verify(enc, net.view)
	rule, _ := slowVerify(enc, net.genesis, net.view)
	if RuleOf(err) != RuleKeySum || rule != RuleKeySum {
		t.Errorf("%v, and the oracle says %v", err, rule)
	}
	// With one of them a straggler it is a batch like others.
	if _, err := net.verifier.Verify(net.sign(t, net.batch(t, 0, upTo(3), 1)), net.view); err != nil {
		t.Error(err)
	}
}

// A small batch may be of stragglers only. The first bad one is named.
func TestAllStragglers(t *testing.T) {
	net := newBatchNet(t, 256)
	enc := net.sign(t, net.batch(t, 0, upTo(256), upTo32(256)...))
	if _, err := net.verifier.Verify(enc, net.view); err != nil {
		t.Error(err)
	}
	b := net.batch(t, 0, upTo(256), upTo32(256)...)
	b.StragglerSigs[64*200] ^= 1
	b.StragglerSigs[64*100+50] ^= 1
	if _, err := net.verifier.Verify(net.sign(t, b), net.view); RuleOf(err) != RuleStragglerSignature || err.(*RejectError).Index != 100 {
		t.Error(err)
	}
}

// Several batches at once get the verdicts they get alone.
func TestVerifyAll(t *testing.T) {
	net := newBatchNet(t, 30)
	var encoded [][]byte
	var views []View
	add := func(enc []byte, view View) {
		encoded = append(encoded, enc)
		views = append(views, view)
	}
	for mode := range modes {
		for n := 1; n < 30; n += 7 {
			add(net.sign(t, net.batch(t, mode, upTo(n), uint32(n/2))), net.view)
		}
	}
	check := func() {
		t.Helper()
		results, errs := net.verifier.VerifyAll(encoded, views)
		for i, enc := range encoded {
			want, err := net.verifier.Verify(enc, views[i])
			if RuleOf(errs[i]) != RuleOf(err) || (results[i] == nil) != (want == nil) {
				t.Errorf("batch %d: %v, and alone %v", i, errs[i], err)
			}
			if want != nil && (results[i].Digest != want.Digest || results[i].Root != want.Root) {
				t.Errorf("batch %d: another result", i)
			}
		}
	}
	check()
	bad := net.batch(t, 0, upTo(9), 4)
	bad.Payloads.Data[0] ^= 1
	add(net.sign(t, bad), net.view)
	// Two aggregates whose errors cancel if they are just added up.
	a, b := net.batch(t, 0, upTo(6)), net.batch(t, 0, upTo(7))
	offset := net.signature(t, [32]byte{1}, 1)
	a.Aggregate = addSigs(t, a.Aggregate, offset)
	offset[0] ^= 0x20
	b.Aggregate = addSigs(t, b.Aggregate, offset)
	add(net.sign(t, a), net.view)
	add(net.sign(t, b), net.view)
	add(nil, net.view)
	other := *net.view
	other.version++
	add(encoded[0], &other)
	check()
	if results, errs := net.verifier.VerifyAll(nil, nil); len(results) != 0 || len(errs) != 0 {
		t.Error("of nothing")
	}
}

func addSigs(t *testing.T, encoded ...[]byte) []byte {
	t.Helper()
	sigs := make([]*bls.Signature, len(encoded))
	for i, b := range encoded {
		var err error
		if sigs[i], err = bls.ParseSignature(b); err != nil {
			t.Fatal(err)
		}
	}
	sum, err := bls.Aggregate(sigs...)
	if err != nil {
		t.Fatal(err)
	}
	return sum.Bytes()
}

// A Verifier is for several goroutines.
func TestVerifyParallel(t *testing.T) {
	net := newBatchNet(t, 8)
	enc := net.sign(t, net.batch(t, 0, upTo(8), 3))
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			if _, err := net.verifier.Verify(enc, net.view); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
}
