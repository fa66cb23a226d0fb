// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package distill

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/binary"
	"io"

	"github.com/hdevalence/ed25519consensus"

	"github.com/undersign/undersign/bls"
)

// slowVerify is what Verifier.Verify does, written down one thing after the other, with
// other libraries where there are any. It returns the rule that is broken, or 0, and
// which leaf breaks it, or -1.
func slowVerify(encoded []byte, g *Genesis, view View) (Rule, int) {
	s := &slow{g: g, view: view}
	func() {
		defer func() {
			if r := recover(); r != nil {
				if _, ok := r.(slowStop); !ok {
					panic(r)
				}
			}
		}()
		s.verify(encoded)
	}()
	return s.rule, s.index
}

type slow struct {
	g     *Genesis
	view  View
	rule  Rule
	index int
	r     *bytes.Reader
}

type slowStop struct{}

// if1 stops with a rule if it is broken.
func (s *slow) if1(broken bool, r Rule, index int) {
	if broken {
		s.rule, s.index = r, index
		panic(slowStop{})
	}
}

func (s *slow) bytes(n int) []byte {
	b := make([]byte, n)
	_, err := io.ReadFull(s.r, b)
	s.if1(err != nil, RuleTruncated, -1)
	return b
}

func (s *slow) varint() uint64 {
	before := s.r.Len()
	v, err := binary.ReadUvarint(s.r)
	s.if1(err == io.EOF || err == io.ErrUnexpectedEOF, RuleTruncated, -1)
	s.if1(err != nil, RuleVarint, -1)
	s.if1(before-s.r.Len() != len(binary.AppendUvarint(nil, v)), RuleVarint, -1)
	return v
}

func be(v uint64) []byte { return binary.BigEndian.AppendUint64(nil, v) }

func slowTag(s string) []byte { return append([]byte(s), make([]byte, 16-len(s))...) }

type slowLeaf struct {
	id, nonce, notAfter uint64
	payload             []byte
	straggler           bool
}

func (s *slow) verify(encoded []byte) {
	p := s.g.Params
	s.if1(len(encoded) > int(p.MaxBatch), RuleBatchSize, -1)
	s.if1(len(encoded) < 1+32+32+1+8+64, RuleHeader, -1)
	unsigned, signature := encoded[:len(encoded)-64], encoded[len(encoded)-64:]
	s.r = bytes.NewReader(unsigned)
	s.if1(s.bytes(1)[0] != 1, RuleHeader, -1)
	net := s.bytes(32)
	id := s.g.ID()
	s.if1(!bytes.Equal(net, id[:]), RuleNetwork, -1)
	var words [4]uint64
	for i := range words {
		words[i] = binary.BigEndian.Uint64(s.bytes(8))
	}
	dirver, agg, seq, validUntil := words[0], words[1], words[2], words[3]
	mode := s.bytes(1)[0]
	n := binary.BigEndian.Uint64(s.bytes(8))

	var aggKey []byte
	for _, a := range s.g.Aggregators {
		if a.ID == agg {
			aggKey = a.Key[:]
		}
	}
	s.if1(aggKey == nil, RuleAggregator, -1)
	digest := sha256.Sum256(unsigned)
	bat := bytes.Join([][]byte{slowTag("dist/bat/v1"), net, be(agg), be(seq), digest[:]}, nil)
	s.if1(!ed25519consensus.Verify(ed25519.PublicKey(aggKey), bat, signature), RuleAggregatorSignature, -1)
	s.if1(s.view.Version() != dirver, RuleVersion, -1)

	s.if1(mode > 2 || p.Modes>>mode&1 == 0, RuleMode, -1)
	s.if1(n == 0, RuleEmpty, -1)
	s.if1(n > p.MaxLeaves, RuleLeaves, -1)
	s.if1(uint64(s.r.Len()) < 4*n, RuleTruncated, -1)
	leaves := make([]slowLeaf, n)
	deltas := make([]uint64, n)
	for i := range deltas {
		deltas[i] = s.varint()
	}
	for i := range leaves {
		leaves[i].id = deltas[i]
		if i > 0 {
			leaves[i].id = leaves[i-1].id + deltas[i] + 1
			s.if1(leaves[i].id <= leaves[i-1].id, RuleOrder, i)
		}
	}
	for i := range leaves {
		leaves[i].nonce = s.varint()
	}
	for i := range deltas {
		deltas[i] = s.varint()
	}
	for i := range leaves {
		s.if1(deltas[i] > p.MaxAhead, RuleNotAfter, i)
		leaves[i].notAfter = validUntil + deltas[i]
		s.if1(leaves[i].notAfter < validUntil, RuleNotAfter, i)
	}
	for i := range deltas {
		deltas[i] = s.varint()
	}
	total := uint64(0)
	for i := range leaves {
		s.if1(deltas[i] > uint64(s.r.Len())-total, RuleTruncated, -1)
		total += deltas[i]
	}
	for i := range leaves {
		leaves[i].payload = s.bytes(int(deltas[i]))
	}
	stragglers := s.positions(leaves)
	limit := uint64(stragglers) * 100
	s.if1(limit > n*p.StragglerPercent && uint64(stragglers) > p.MinStragglers, RuleStragglers, -1)
	for i, l := range leaves {
		if mode == 2 && l.straggler {
			s.if1(len(l.payload) != 32, RuleAbsentHash, i)
		} else {
			s.if1(uint64(len(l.payload)) > p.MaxPayload, RulePayloadSize, i)
		}
	}
	sigs := make(map[int][]byte)
	if mode == 0 {
		for i, l := range leaves {
			if l.straggler {
				sigs[i] = s.bytes(64)
			}
		}
	}
	var aggregate []byte
	if mode == 1 || uint64(stragglers) < n {
		aggregate = s.bytes(96)
	}
	s.if1(s.r.Len() > 0, RuleTrailing, -1)

	for i, l := range leaves {
		s.if1(s.view.BLSKey(l.id) == nil, RuleInactive, i)
	}
	hashes := make([][]byte, n)
	blocks := make([][]byte, n)
	for i, l := range leaves {
		h := sha256.Sum256(bytes.Join([][]byte{slowTag("dist/pay/v1"), be(uint64(len(l.payload))), l.payload}, nil))
		hashes[i] = h[:]
		if mode == 2 && l.straggler {
			hashes[i] = l.payload
		}
		blocks[i] = bytes.Join([][]byte{{'L', 1, 0, 0, 0, 0, 0, 0}, be(l.id), be(l.nonce), be(l.notAfter), hashes[i]}, nil)
	}
	root := slowRoot(blocks)

	var proven []*bls.ProvenKey
	var keys []*bls.PublicKey
	var msgs [][]byte
	red := sha256.Sum256(bytes.Join([][]byte{slowTag("dist/red/v1"), net, be(dirver), be(agg), be(seq), be(n), root, be(validUntil)}, nil))
	for i, l := range leaves {
		sub := bytes.Join([][]byte{slowTag("dist/sub/v1"), net, be(l.id), be(l.nonce), be(l.notAfter), hashes[i]}, nil)
		switch {
		case !l.straggler:
			proven = append(proven, s.view.BLSKey(l.id))
		case mode == 0:
			key := s.view.EdKey(l.id).Bytes()
			s.if1(!ed25519consensus.Verify(ed25519.PublicKey(key[:]), sub, sigs[i]), RuleStragglerSignature, i)
		case mode == 1:
			subDigest := sha256.Sum256(sub)
			keys = append(keys, s.view.BLSKey(l.id).PublicKey())
			msgs = append(msgs, subDigest[:])
		}
	}
	var sum *bls.ProvenKey
	if len(proven) > 0 {
		var err error
		sum, err = bls.SumKeys(proven)
		s.if1(err != nil, RuleKeySum, -1)
	}
	if aggregate == nil {
		return
	}
	sig, err := bls.ParseSignature(aggregate)
	s.if1(err != nil, RuleAggregateEncoding, -1)
	s.if1(sig.IsIdentity(), RuleAggregateIdentity, -1)
	// Without stragglers' terms each key is paired with the digest by itself.
	if len(keys) == 0 {
		digests := make([][]byte, len(proven))
		for i := range digests {
			digests[i] = red[:]
		}
		err = bls.ProofOfPossession.AggregateVerifyProven(proven, digests, sig)
	} else {
		err = bls.ProofOfPossession.FoldedVerify(sum.PublicKey(), red[:], keys, msgs, sig)
	}
	s.if1(err != nil, RuleAggregate, -1)
}

// positions marks the stragglers among the leaves, and returns their number.
func (s *slow) positions(leaves []slowLeaf) (count int) {
	kind := s.bytes(1)[0]
	s.if1(kind > 1, RulePositions, -1)
	if kind == 0 {
		bitmap := s.bytes((len(leaves) + 7) / 8)
		for i := range 8 * len(bitmap) {
			if bitmap[i/8]>>(i%8)&1 == 1 {
				s.if1(i >= len(leaves), RulePositions, -1)
				leaves[i].straggler = true
				count++
			}
		}
	} else {
		n := s.varint()
		s.if1(n > uint64(len(leaves)), RulePositions, -1)
		s.if1(n > uint64(s.r.Len()), RuleTruncated, -1)
		deltas := make([]uint64, n)
		for i := range deltas {
			deltas[i] = s.varint()
		}
		at := uint64(0)
		for _, d := range deltas {
			s.if1(d >= uint64(len(leaves)) || at+d >= uint64(len(leaves)), RulePositions, -1)
			leaves[at+d].straggler = true
			at += d + 1
		}
		count = int(n)
	}
	// The shorter form is right, and the bitmap if both are equally long.
	list := binary.AppendUvarint(nil, uint64(count))
	at := 0
	for i, l := range leaves {
		if l.straggler {
			list = binary.AppendUvarint(list, uint64(i-at))
			at = i + 1
		}
	}
	bitmap := (len(leaves) + 7) / 8
	s.if1((kind == 0) != (bitmap <= len(list)), RulePositions, -1)
	return count
}

// slowRoot returns the root of the tree of blocks: a full tree, in which leaves that are
// missing have the hash zero.
func slowRoot(blocks [][]byte) []byte {
	var level [][]byte
	for _, b := range blocks {
		h := sha256.Sum256(b)
		level = append(level, h[:])
	}
	for len(level)&(len(level)-1) != 0 {
		level = append(level, make([]byte, 32))
	}
	for len(level) > 1 {
		var next [][]byte
		for i := 0; i < len(level); i += 2 {
			h := sha256.Sum256(append(bytes.Clone(level[i]), level[i+1]...))
			next = append(next, h[:])
		}
		level = next
	}
	return level[0]
}
