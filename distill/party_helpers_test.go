// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package distill

import (
	"crypto/ed25519"
	"crypto/sha256"
	"errors"
	"fmt"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/undersign/undersign/bls"
	"github.com/undersign/undersign/internal/bls12381"
	"github.com/undersign/undersign/internal/zip215"
)

// A partyNet is a network for tests of clients and aggregators: their keys, those of the
// validators, and a directory.
type partyNet struct {
	t          testing.TB
	genesis    *Genesis
	network    *Network
	validators []*bls.SecretKey
	aggregator map[uint64]ed25519.PrivateKey
	keys       []ClientKeys // of clients, whose ids are their positions
	view       *partyView
	views      map[uint64]*partyView
	heads      map[uint64]*SignedHead
}

// partyView is a directory at a version, by ids.
type partyView struct {
	version uint64
	bls     map[uint64]*bls.ProvenKey
	ed      map[uint64]*zip215.Key
}

func (v *partyView) Version() uint64 { return v.version }

func (v *partyView) FirstInactive(ids []uint64) int {
	return slices.IndexFunc(ids, func(id uint64) bool { return v.bls[id] == nil })
}

func (v *partyView) SumKeys(ids []uint64) (*bls.ProvenKey, error) {
	keys := make([]*bls.ProvenKey, len(ids))
	for i, id := range ids {
		if keys[i] = v.bls[id]; keys[i] == nil || i > 0 && id <= ids[i-1] {
			return nil, errors.New("ids that aren't active or out of order")
		}
	}
	return bls.SumKeys(keys)
}

func (v *partyView) BLSKey(id uint64) *bls.ProvenKey { return v.bls[id] }
func (v *partyView) EdKey(id uint64) *zip215.Key     { return v.ed[id] }

// firstAgg and secondAgg are the aggregators of a partyNet.
const (
	firstAgg  = 7
	secondAgg = 9
)

// newPartyNet makes a network of 3f+1 validators.
func newPartyNet(t testing.TB, clients, f int, change func(*Params)) *partyNet {
	t.Helper()
	w := &partyNet{
		t: t, aggregator: make(map[uint64]ed25519.PrivateKey), heads: make(map[uint64]*SignedHead),
		view: &partyView{version: 5, bls: make(map[uint64]*bls.ProvenKey), ed: make(map[uint64]*zip215.Key)},
	}
	w.views = map[uint64]*partyView{w.view.version: w.view}
	w.genesis = &Genesis{Name: "party", F: uint64(f), Params: DefaultParams()}
	if change != nil {
		change(&w.genesis.Params)
	}
	for _, id := range []uint64{firstAgg, secondAgg} {
		w.aggregator[id] = edKey("party aggregator", int(id))
		w.genesis.Aggregators = append(w.genesis.Aggregators, GenesisAggregator{id, [32]byte(w.aggregator[id].Public().(ed25519.PublicKey))})
	}
	for i := range 3*f + 1 {
		sk := blsKey(t, big.NewInt(int64(5003+i*i)))
		proof, err := bls.ProofOfPossession.PopProve(sk)
		if err != nil {
			t.Fatal(err)
		}
		w.validators = append(w.validators, sk)
		w.genesis.Validators = append(w.genesis.Validators, GenesisValidator{[48]byte(sk.PublicKey().Bytes()), [96]byte(proof.Bytes())})
	}
	var err error
	if w.network, err = NewNetwork(w.genesis); err != nil {
		t.Fatal(err)
	}
	for i := range clients {
		w.setKeys(uint64(i), blsKey(t, big.NewInt(int64(900_001+i*i*31+i))), edKey("party client", i))
	}
	return w
}

// setKeys gives keys to a client, by a new one if its id is the next.
func (w *partyNet) setKeys(id uint64, sk *bls.SecretKey, ed ed25519.PrivateKey) {
	if id == uint64(len(w.keys)) {
		w.keys = append(w.keys, ClientKeys{})
	}
	w.keys[id] = ClientKeys{Since: w.view.version, BLS: sk, Ed: ed}
	w.view.bls[id] = bls.AssumeProvenUnsafe(sk.PublicKey())
	key, err := zip215.NewKey(ed.Public().(ed25519.PublicKey))
	if err != nil {
		w.t.Fatal(err)
	}
	w.view.ed[id] = key
}

// certify returns the signatures of some validators of a statement.
func (w *partyNet) certify(s Statement, validators ...int) Certificate {
	w.t.Helper()
	var shares []Share
	for _, i := range validators {
		share, err := SignStatement(w.validators[i], i, s)
		if err != nil {
			w.t.Fatal(err)
		}
		shares = append(shares, *share)
	}
	return *w.network.committee.combine(shares)
}

// quorum returns the first F+1 validators.
func (w *partyNet) quorum() []int { return upTo(w.network.committee.Quorum()) }

func (w *partyNet) head(height uint64) *SignedHead {
	w.t.Helper()
	if w.heads[height] == nil {
		h := Hgt{Net: w.network.ID(), Height: height}
		w.heads[height] = &SignedHead{h, w.certify(h, w.quorum()...)}
	}
	return w.heads[height]
}

// look returns the answer of a validator.
func (w *partyNet) look(validator int, k Look) *SignedLook {
	w.t.Helper()
	share, err := SignStatement(w.validators[validator], validator, k)
	if err != nil {
		w.t.Fatal(err)
	}
	return &SignedLook{k, *share}
}

// client opens a client at height 100.
func (w *partyNet) client(id uint64, j Journal, change func(*ClientConfig)) *Client {
	w.t.Helper()
	cfg := ClientConfig{Network: w.network, ID: id, Keys: w.keys[id], Journal: j}
	if change != nil {
		change(&cfg)
	}
	c, err := OpenClient(cfg)
	if err != nil {
		w.t.Fatal(err)
	}
	if _, err := c.HandleHead(0, w.head(100)); err != nil {
		w.t.Fatal(err)
	}
	return c
}

// open opens an aggregator at height 100.
func (w *partyNet) open(id uint64, j Journal, change func(*AggregatorConfig)) *Aggregator {
	w.t.Helper()
	cfg := AggregatorConfig{
		Network: w.network, ID: id, Key: w.aggregator[id], Journal: j,
		Views: func(version uint64) (View, error) {
			if w.views[version] == nil {
				return nil, errors.New("no such version")
			}
			return w.views[version], nil
		},
	}
	if change != nil {
		change(&cfg)
	}
	a, err := OpenAggregator(cfg)
	if err != nil {
		w.t.Fatal(err)
	}
	a.SetView(w.view)
	if _, err := a.HandleHead(0, w.head(100)); err != nil {
		w.t.Fatal(err)
	}
	return a
}

// submission returns a message as its client would sign it.
func (w *partyNet) submission(mode Mode, id, nonce, notAfter uint64, payload string) *Submission {
	w.t.Helper()
	c := &Client{cfg: ClientConfig{Network: w.network, ID: id, Keys: w.keys[id]}}
	f := &flight{nonce: nonce, notAfter: notAfter, payload: []byte(payload), hash: PayloadHash([]byte(payload))}
	s, err := c.submission(f, mode)
	if err != nil {
		w.t.Fatal(err)
	}
	return &s
}

// reduce returns a client's signature of a batch.
func (w *partyNet) reduce(id uint64, p *Proposal) *Reduction {
	w.t.Helper()
	return w.reduceBy(w.keys[id].BLS, id, p)
}

func (w *partyNet) reduceBy(sk *bls.SecretKey, id uint64, p *Proposal) *Reduction {
	w.t.Helper()
	r := &Reduction{ID: id, Seq: p.Prop.Seq, Digest: p.Prop.Red().Digest()}
	sig, err := bls.ProofOfPossession.Sign(sk, r.Digest[:])
	if err != nil {
		w.t.Fatal(err)
	}
	r.Signature = [ReductionSize]byte(sig.UncompressedBytes())
	return r
}

// A modelLog is validators that agree, as plain as can be: batches in order, each nonce
// executed once.
type modelLog struct {
	w       *partyNet
	height  uint64
	prev    [32]byte
	entries map[[32]byte]*BatchReceipt // by digest
	taken   map[[2]uint64][32]byte     // digest by aggregator and number
	done    map[uint64]map[uint64]execution
	last    map[uint64]uint64
	reject  func(id uint64) ResultCode // the application, or nil
}

type execution struct {
	hash   [32]byte
	code   ResultCode
	height uint64
}

func newModelLog(w *partyNet) *modelLog {
	return &modelLog{
		w: w, height: 100, entries: make(map[[32]byte]*BatchReceipt), taken: make(map[[2]uint64][32]byte),
		done: make(map[uint64]map[uint64]execution), last: make(map[uint64]uint64),
	}
}

// append puts a batch at the end of the log, and returns its receipt. A batch that comes
// again has the same; one that isn't valid, or comes too late, is an error.
func (l *modelLog) append(encoded []byte) (*BatchReceipt, error) {
	h, err := DecodeHeader(encoded)
	if err != nil {
		return nil, err
	}
	v, err := l.w.network.verifier.Verify(encoded, l.w.views[h.Dirver])
	if err != nil {
		return nil, err
	}
	if r := l.entries[v.Digest]; r != nil {
		return r, nil
	}
	number := [2]uint64{v.AggID, v.Seq}
	if other, ok := l.taken[number]; ok {
		return nil, fmt.Errorf("batch %d of aggregator %d has digests %x and %x", v.Seq, v.AggID, other[:4], v.Digest[:4])
	}
	if l.height > v.ValidUntil {
		return nil, reject(RuleExpired)
	}
	l.taken[number] = v.Digest
	r := &BatchReceipt{Seq: v.Seq}
	for i := range v.IDs {
		r.Results = append(r.Results, l.execute(v, i))
	}
	r.Rcpt = Rcpt{
		Net: l.w.network.ID(), Height: l.height, PrevLogHash: l.prev, BatchDigest: v.Digest,
		N: uint64(len(r.Results)), ResultRoot: ResultRoot(r.Results),
	}
	l.prev = r.Rcpt.Digest()
	r.Certificate = l.w.certify(r.Rcpt, l.w.quorum()...)
	l.entries[v.Digest] = r
	return r, nil
}

func (l *modelLog) execute(v *Verified, i int) Result {
	leaf := v.Leaf(i)
	r := Result{ID: leaf.ID, Nonce: leaf.Nonce, PayloadHash: leaf.PayloadHash}
	before, executed := l.done[leaf.ID][leaf.Nonce]
	switch {
	case v.Mode == ModeLean && slices.Contains(v.Stragglers, uint32(i)):
		r.Code = ResultAbsent
	case executed && before.hash == leaf.PayloadHash:
		r.Code, r.FirstCode, r.ExecHeight = ResultDup, before.code, before.height
	case executed:
		r.Code = ResultTaken
	case l.last[leaf.ID] >= NonceWindow && leaf.Nonce <= l.last[leaf.ID]-NonceWindow:
		r.Code = ResultSkipped
	case l.w.views[v.Dirver].bls[leaf.ID] != l.w.view.bls[leaf.ID]:
		r.Code = ResultKey
	default:
		r.Code, r.ExecHeight = ResultOK, l.height
		if l.reject != nil && l.reject(leaf.ID) != 0 {
			r.Code = l.reject(leaf.ID)
		}
		if l.done[leaf.ID] == nil {
			l.done[leaf.ID] = make(map[uint64]execution)
		}
		l.done[leaf.ID][leaf.Nonce] = execution{leaf.PayloadHash, r.Code, l.height}
		l.last[leaf.ID] = max(l.last[leaf.ID], leaf.Nonce)
	}
	return r
}

// look returns what all honest validators answer.
func (l *modelLog) look(q *Lookup) Look {
	k := Look{
		Net: l.w.network.ID(), Challenge: q.Challenge, Height: l.height, ID: q.ID, Nonce: q.Nonce,
		NotAfter: q.NotAfter, LastNonce: l.last[q.ID], Code: LookNotExecuted,
	}
	if e, ok := l.done[q.ID][q.Nonce]; ok {
		k.Code, k.FirstCode, k.ExecHeight, k.PayloadHash = LookExecuted, e.code, e.height, e.hash
	}
	return k
}

// A faultyJournal fails at one of its calls, before or after it has written.
type faultyJournal struct {
	*MemoryJournal
	left  int // calls until the failure
	after bool
}

var errCrash = errors.New("crash")

func (j *faultyJournal) Commit(writes []Record) error {
	if j.left--; j.left != 0 {
		return j.MemoryJournal.Commit(writes)
	}
	if j.after {
		if err := j.MemoryJournal.Commit(writes); err != nil {
			return err
		}
	}
	return errCrash
}

// hasRule fails the test unless err is about a rule.
func hasRule(t testing.TB, err error, want Rule) {
	t.Helper()
	if got := RuleOf(err); got != want {
		t.Fatalf("got %v (%v), want %v", err, got, want)
	}
}

// actions returns those of one type.
func actions[T, A any](list []A) (found []T) {
	for _, a := range list {
		if x, ok := any(a).(T); ok {
			found = append(found, x)
		}
	}
	return found
}

// one returns the action of a type, of which there must be one.
func one[T, A any](t testing.TB, list []A) T {
	t.Helper()
	found := actions[T](list)
	if len(found) != 1 {
		t.Fatalf("%d actions of type %T among %d, want 1", len(found), *new(T), len(list))
	}
	return found[0]
}

// propose returns a signed proposal of some leaves, in which the one of id is.
func (w *partyNet) propose(aggID, seq, validUntil, dirver uint64, leaves []Leaf, id uint64) *Proposal {
	w.t.Helper()
	hashes := make([][32]byte, len(leaves))
	p := &Proposal{}
	for i, l := range leaves {
		hashes[i] = l.Hash()
		if l.ID == id {
			p.Nonce, p.Index = l.Nonce, uint64(i)
		}
	}
	tree := NewTree(hashes)
	p.Siblings = tree.Proof(int(p.Index))
	p.Prop = Prop{w.network.ID(), dirver, aggID, seq, uint64(len(leaves)), tree.Root(), validUntil}
	w.signProp(p)
	return p
}

func (w *partyNet) signProp(p *Proposal) {
	p.Signature = [64]byte(ed25519.Sign(w.aggregator[p.Prop.AggID], p.Prop.Bytes()))
}

// someLeaves returns leaves of several clients, in which that of id is.
func someLeaves(id, nonce, notAfter uint64, payload string) []Leaf {
	var list []Leaf
	for i := range uint64(5) {
		l := Leaf{ID: i, Nonce: 3, NotAfter: notAfter + i, PayloadHash: sha256.Sum256([]byte{byte(i)})}
		if i == id {
			l = Leaf{id, nonce, notAfter, PayloadHash([]byte(payload))}
		}
		list = append(list, l)
	}
	return list
}

func newRand(seed int) *rand.Rand { return rand.New(rand.NewPCG(uint64(seed), 1)) }

// negatedSum returns the key that cancels out the keys of two others.
func negatedSum(t testing.TB, x, y *bls.SecretKey) *bls.SecretKey {
	t.Helper()
	sum := new(big.Int)
	for _, sk := range []*bls.SecretKey{x, y} {
		b, err := sk.MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		sum.Add(sum, new(big.Int).SetBytes(b))
	}
	return blsKey(t, sum.Neg(sum))
}

// pointOutside returns a point of the curve y² = x³ + 4(1+u) that isn't in the group G2.
func pointOutside(t testing.TB) *bls12381.G2 {
	t.Helper()
	p, _ := new(big.Int).SetString("1a0111ea397fe69a4b1ba7b6434bacd764774b84f38512bf6730d2a0f6b0f6241eabfffeb153ffffb9feffffffffaaab", 16)
	four := big.NewInt(4)
	for x := int64(1); ; x++ {
		// The square root of a+4u for a = x³+4, as p is 3 modulo 4: if s² is the norm
		// a²+16 and y0² = (a±s)/2, it is y0 + (2/y0)u.
		a := big.NewInt(x*x*x + 4)
		s := new(big.Int).ModSqrt(new(big.Int).Add(new(big.Int).Mul(a, a), big.NewInt(16)), p)
		if s == nil {
			continue
		}
		for range 2 {
			s.Sub(p, s)
			half := new(big.Int).Mul(new(big.Int).Add(a, s), new(big.Int).ModInverse(big.NewInt(2), p))
			y0 := new(big.Int).ModSqrt(half.Mod(half, p), p)
			if y0 == nil || y0.Sign() == 0 {
				continue
			}
			y1 := new(big.Int).Mul(new(big.Int).ModInverse(y0, p), new(big.Int).Rsh(four, 1))
			enc := make([]byte, 4*48)
			big.NewInt(x).FillBytes(enc[48:96])
			y1.Mod(y1, p).FillBytes(enc[96:144])
			y0.FillBytes(enc[144:])
			q := new(bls12381.G2)
			if err := q.SetUncompressedUnsafe(enc); err != nil {
				t.Fatal(err)
			}
			if !q.InSubgroupVarTime() {
				return q
			}
		}
	}
}

// renewed returns the next version of the directory, with other keys for some clients, and without others.
func (w *partyNet) renewed(renew, revoke []uint64) *partyView {
	w.t.Helper()
	v := &partyView{version: w.view.version + 1, bls: make(map[uint64]*bls.ProvenKey), ed: make(map[uint64]*zip215.Key)}
	for id := range w.view.bls {
		v.bls[id], v.ed[id] = w.view.bls[id], w.view.ed[id]
	}
	w.view, w.views[v.version] = v, v
	for _, id := range renew {
		key := blsKey(w.t, big.NewInt(int64(77_000_003+1009*v.version+id)))
		w.setKeys(id, key, edKey("renewed", int(1009*v.version+id)))
	}
	for _, id := range revoke {
		delete(v.bls, id)
		delete(v.ed, id)
	}
	return v
}
