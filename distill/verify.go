// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package distill

import (
	"errors"
	"slices"

	"github.com/undersign/undersign/bls"
	"github.com/undersign/undersign/internal/hashpairs"
	"github.com/undersign/undersign/internal/zip215"
)

// A Verifier checks batches: everything that depends on a batch and the version of the
// directory it names, and on nothing else, so that all validators come to the same
// verdict at any time. Whether a batch comes too late, or again, isn't its concern. It may
// be used by several goroutines.
type Verifier struct {
	net         NetworkID
	params      Params
	aggregators map[uint64]*zip215.Key
}

// NewVerifier returns the verifier for a network.
func NewVerifier(g *Genesis) (*Verifier, error) {
	if err := g.checkShape(); err != nil {
		return nil, err
	}
	v := &Verifier{g.ID(), g.Params, make(map[uint64]*zip215.Key)}
	for _, a := range g.Aggregators {
		key, err := zip215.NewKey(a.Key[:])
		if err != nil {
			return nil, genesisError("aggregator %d: %w", a.ID, err)
		}
		v.aggregators[a.ID] = key
	}
	return v, nil
}

// A Verified is a batch that passed, with what was computed on the way.
type Verified struct {
	*Batch
	Digest        [32]byte // of the batch: see [BatchDigest]
	Root          [32]byte
	PayloadHashes [][32]byte // of all leaves
}

// Leaf returns a leaf.
func (v *Verified) Leaf(i int) Leaf {
	return Leaf{v.IDs[i], v.Nonces[i], v.NotAfter[i], v.PayloadHashes[i]}
}

// Open verifies who made an encoded batch: that it is of the network and signed by one of
// its aggregators. It returns the header and the digest. Errors from later checks are
// evidence against that aggregator.
func (v *Verifier) Open(encoded []byte) (h Header, digest [32]byte, err error) {
	if uint64(len(encoded)) > v.params.MaxBatch {
		return h, digest, reject(RuleBatchSize)
	}
	if h, err = DecodeHeader(encoded); err != nil {
		return h, digest, err
	}
	if h.Net != v.net {
		return h, digest, reject(RuleNetwork)
	}
	key := v.aggregators[h.AggID]
	if key == nil {
		return h, digest, reject(RuleAggregator)
	}
	digest = BatchDigest(encoded)
	bat := Bat{h.Net, h.AggID, h.Seq, digest}
	if err := key.Verify(bat.Bytes(), encoded[len(encoded)-signatureSize:]); err != nil {
		return h, digest, reject(RuleAggregatorSignature)
	}
	return h, digest, nil
}

// Verify verifies an encoded batch, with a view of the directory at the version that the
// batch names. What it returns is a [RejectError], whose rule is the first that is broken.
func (v *Verifier) Verify(encoded []byte, view View) (*Verified, error) {
	c, eq, err := v.prepare(encoded, view)
	if err != nil {
		return nil, err
	}
	if eq.sig == nil {
		return c, nil // nobody signed the root
	}
	if err := eq.verify(c.redDigest()); err != nil {
		return nil, err
	}
	return c, nil
}

// VerifyAll verifies several batches to the same verdicts as Verify, each with a view of
// its own. Their aggregates are verified together, with random weights.
func (v *Verifier) VerifyAll(encoded [][]byte, views []View) ([]*Verified, []error) {
	results := make([]*Verified, len(encoded))
	errs := make([]error, len(encoded))
	joint := bls.NewBatch(bls.ProofOfPossession)
	joint.ShortWeights = true
	var items []int // by their position in joint
	for i := range encoded {
		var eq equation
		if results[i], eq, errs[i] = v.prepare(encoded[i], views[i]); errs[i] != nil || eq.sig == nil {
			continue
		}
		sig, err := eq.check()
		if err != nil {
			results[i], errs[i] = nil, err
			continue
		}
		digest := results[i].redDigest()
		joint.AddFolded(eq.sum, digest[:], eq.keys, eq.msgs, sig)
		items = append(items, i)
	}
	if bad, ok := errors.AsType[*bls.BatchError](joint.Verify()); ok {
		for _, at := range bad.Bad {
			results[items[at]], errs[items[at]] = nil, reject(RuleAggregate)
		}
	}
	return results, errs
}

func (v *Verified) redDigest() [32]byte { return v.Prop(v.Root).Red().Digest() }

// An equation is what is left to be verified of a batch: a sum of signatures of the root
// by the keys that add up to sum, and of msgs[i] by keys[i].
type equation struct {
	sum  *bls.PublicKey // nil if nobody signed the root
	keys []*bls.PublicKey
	msgs [][]byte
	sig  *bls.UncheckedSignature // nil if there is nothing to verify
}

// parse reads the aggregate. Whether it is in the group is found out later, by verify at no
// cost, or by check.
func (eq *equation) parse(aggregate []byte) (err error) {
	if eq.sig, err = bls.ParseUncheckedCompressed(aggregate); err != nil {
		return &RejectError{RuleAggregateEncoding, -1, err}
	}
	if eq.sig.IsIdentity() {
		return reject(RuleAggregateIdentity)
	}
	return nil
}

// check returns the aggregate, if it is in the group.
func (eq *equation) check() (*bls.Signature, error) {
	sig, err := eq.sig.Check()
	if err != nil {
		return nil, &RejectError{RuleAggregateEncoding, -1, err}
	}
	return sig, nil
}

// verify verifies the equation, where the root is signed by its digest.
func (eq *equation) verify(digest [32]byte) error {
	if bls.ProofOfPossession.FoldedVerifyUnchecked(eq.sum, digest[:], eq.keys, eq.msgs, eq.sig) == nil {
		return nil
	}
	if _, err := eq.check(); err != nil {
		return err
	}
	return reject(RuleAggregate)
}

// prepare does all checks but that of the equation.
func (v *Verifier) prepare(encoded []byte, view View) (c *Verified, eq equation, err error) {
	h, digest, err := v.Open(encoded)
	if err != nil {
		return nil, eq, err
	}
	if view.Version() != h.Dirver {
		return nil, eq, reject(RuleVersion)
	}
	b, err := DecodeBatch(encoded, &v.params)
	if err != nil {
		return nil, eq, err
	}
	if i := view.FirstInactive(b.IDs); i >= 0 {
		return nil, eq, rejectAt(RuleInactive, i)
	}
	c = &Verified{Batch: b, Digest: digest}
	c.hashLeaves()
	switch b.Mode {
	case ModeEd25519:
		err = c.checkStragglers(view)
	case ModeFolded:
		c.foldStragglers(view, &eq)
	}
	if err != nil {
		return nil, eq, err
	}
	if len(b.Stragglers) < b.Len() {
		sum, err := view.SumKeys(b.reducers())
		if err != nil {
			return nil, eq, &RejectError{RuleKeySum, -1, err}
		}
		eq.sum = sum.PublicKey()
	}
	if b.Aggregate == nil {
		return c, eq, nil
	}
	if err := eq.parse(b.Aggregate); err != nil {
		return nil, eq, err
	}
	return c, eq, nil
}

// hashLeaves sets the hashes of payloads and the root.
func (v *Verified) hashLeaves() {
	v.PayloadHashes = make([][32]byte, v.Len())
	absent := v.Stragglers
	if v.Mode != ModeLean {
		absent = nil
	}
	const chunk = 128
	var blocks [2 * chunk][32]byte // as many as stay in a near cache
	leaves := make([][32]byte, v.Len())
	for from := 0; from < len(leaves); from += chunk {
		to := min(from+chunk, len(leaves))
		for i := from; i < to; i++ {
			if len(absent) > 0 && int(absent[0]) == i {
				absent = absent[1:]
				v.PayloadHashes[i] = [32]byte(v.Payloads.At(i))
			} else {
				v.PayloadHashes[i] = PayloadHash(v.Payloads.At(i))
			}
			block := blocks[2*(i-from):]
			putFields(&block[0], v.IDs[i], v.Nonces[i], v.NotAfter[i])
			block[1] = v.PayloadHashes[i]
		}
		hashpairs.Sum(leaves[from:to], blocks[:2*(to-from)])
	}
	v.Root = rootOf(leaves)
}

// stragglerChunk is the number of Ed25519 signatures that are verified together: with
// more they don't get cheaper, and take memory.
const stragglerChunk = 1 << 14

// checkStragglers verifies the Ed25519 signatures of stragglers.
func (v *Verified) checkStragglers(view View) error {
	var buf [128]byte
	sigs := v.StragglerSigs
	for chunk := range slices.Chunk(v.Stragglers, stragglerChunk) {
		batch := zip215.NewBatch(len(chunk))
		for _, at := range chunk {
			sub := v.sub(int(at))
			batch.Add(view.EdKey(sub.ID), sub.append(buf[:0]), sigs[:signatureSize])
			sigs = sigs[signatureSize:]
		}
		if bad := batch.Verify(); len(bad) > 0 {
			return rejectAt(RuleStragglerSignature, int(chunk[bad[0]]))
		}
	}
	return nil
}

// foldStragglers adds the terms of the stragglers' own signatures to the equation.
func (v *Verified) foldStragglers(view View, eq *equation) {
	for _, at := range v.Stragglers {
		sub := v.sub(int(at))
		digest := sub.Digest()
		eq.keys = append(eq.keys, view.BLSKey(sub.ID).PublicKey())
		eq.msgs = append(eq.msgs, digest[:])
	}
}

func (v *Verified) sub(i int) Sub {
	return Sub{v.Net, v.IDs[i], v.Nonces[i], v.NotAfter[i], v.PayloadHashes[i]}
}

// reducers returns the ids of those who signed the root.
func (b *Batch) reducers() []uint64 {
	if len(b.Stragglers) == 0 {
		return b.IDs
	}
	ids := make([]uint64, 0, len(b.IDs)-len(b.Stragglers))
	next := 0
	for _, at := range b.Stragglers {
		ids = append(ids, b.IDs[next:at]...)
		next = int(at) + 1
	}
	return append(ids, b.IDs[next:]...)
}
