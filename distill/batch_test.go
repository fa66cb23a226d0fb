// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package distill

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"reflect"
	"runtime"
	"slices"
	"testing"
)

// plainBatch returns a batch whose signatures are made up.
func plainBatch(mode Mode, n int, stragglers ...uint32) *Batch {
	b := &Batch{
		Net: NetworkID(filled(1, 32)), Dirver: 2, AggID: 3, Seq: 4, ValidUntil: 1000, Mode: mode,
		Stragglers: stragglers, Signature: [64]byte(filled(9, 64)),
	}
	for i := range n {
		b.IDs = append(b.IDs, uint64(i*i+5*i))
		b.Nonces = append(b.Nonces, uint64(i)<<(i%60))
		b.NotAfter = append(b.NotAfter, 1000+uint64(i%3)*200)
		payload := filled(byte(i), i%40)
		if mode == ModeLean && slices.Contains(stragglers, uint32(i)) {
			payload = filled(byte(i), 32)
		}
		b.Payloads.Append(payload)
	}
	if mode == ModeEd25519 && len(stragglers) > 0 {
		b.StragglerSigs = filled(100, 64*len(stragglers))
	}
	if hasAggregate(mode, n, len(stragglers)) {
		b.Aggregate = filled(200, 96)
	}
	return b
}

func upTo32(n int) []uint32 {
	list := make([]uint32, n)
	for i := range list {
		list[i] = uint32(i)
	}
	return list
}

func TestBatchEncoding(t *testing.T) {
	p := DefaultParams()
	for mode := range modes {
		for _, n := range []int{1, 2, 7, 8, 9, 100, 129, 300} {
			sets := [][]uint32{nil, {0}, {uint32(n) - 1}, upTo32(min(n, 200))}
			if n > 20 {
				sets = append(sets, []uint32{3, 4, 5, 17}, upTo32(n/5))
			}
			for _, set := range sets {
				if len(set) > p.MaxStragglers(mode, n) {
					continue
				}
				b := plainBatch(mode, n, set...)
				enc, err := b.MarshalBinary()
				if err != nil {
					t.Fatalf("%v, %d leaves, stragglers %v: %v", mode, n, set, err)
				}
				back, err := DecodeBatch(enc, &p)
				if err != nil || !reflect.DeepEqual(back, b) {
					t.Fatalf("%v, %d leaves, stragglers %v: %+v, not %+v: %v", mode, n, set, back, b, err)
				}
				if BatchDigest(enc) != sha256.Sum256(enc[:len(enc)-64]) {
					t.Error("digest")
				}
				h, err := DecodeHeader(enc)
				if err != nil || h != b.Header() {
					t.Errorf("header %v, %v", h, err)
				}
			}
		}
	}
}

// The encoding is as documented.
func TestBatchLayout(t *testing.T) {
	b := plainBatch(ModeEd25519, 3, 1)
	b.IDs, b.Nonces, b.NotAfter = []uint64{7, 8, 300}, []uint64{1, 128, 0}, []uint64{1000, 1001, 1200}
	b.Payloads = Payloads{}
	for _, s := range []string{"ab", "", "c"} {
		b.Payloads.Append([]byte(s))
	}
	got, err := b.MarshalBinary()
	want := bytes.Join([][]byte{
		{1}, filled(1, 32), be(2), be(3), be(4), be(1000), {0}, be(3),
		{7, 0, 0xa3, 0x02}, {1, 0x80, 1, 0}, {0, 1, 0xc8, 1}, {2, 0, 1}, []byte("abc"),
		{0, 1 << 1}, filled(100, 64), filled(200, 96), filled(9, 64),
	}, nil)
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("%x, not %x: %v", got, want, err)
	}
	if at := b.Payloads.At(1); len(at) != 0 || string(b.Payloads.At(2)) != "c" {
		t.Errorf("%q", at)
	}
}

// A Batch whose columns don't fit together can't be written.
func TestBatchRefusedToWrite(t *testing.T) {
	for _, c := range []struct {
		name string
		rule Rule
		f    func(b *Batch)
	}{
		{"mode", RuleMode, func(b *Batch) { b.Mode = 3 }},
		{"no leaves", RuleEmpty, func(b *Batch) { b.IDs = nil }},
		{"too many leaves", RuleLeaves, func(b *Batch) { b.IDs = make([]uint64, 1<<24+1) }},
		{"nonces", RuleColumns, func(b *Batch) { b.Nonces = b.Nonces[1:] }},
		{"expiries", RuleColumns, func(b *Batch) { b.NotAfter = append(b.NotAfter, 2000) }},
		{"payloads", RuleColumns, func(b *Batch) { b.Payloads.Append(nil) }},
		{"ends descend", RuleColumns, func(b *Batch) { b.Payloads.Ends[3] = 0 }},
		{"bytes after the last end", RuleColumns, func(b *Batch) { b.Payloads.Data = append(b.Payloads.Data, 0) }},
		{"equal ids", RuleOrder, func(b *Batch) { b.IDs[2] = b.IDs[1] }},
		{"descending ids", RuleOrder, func(b *Batch) { b.IDs[2], b.IDs[1] = b.IDs[1], b.IDs[2] }},
		{"expires before the batch", RuleNotAfter, func(b *Batch) { b.NotAfter[3] = 999 }},
		{"equal stragglers", RulePositions, func(b *Batch) { b.Stragglers = []uint32{2, 2} }},
		{"straggler n", RulePositions, func(b *Batch) { b.Stragglers = []uint32{2, 10} }},
		{"signatures of stragglers", RuleColumns, func(b *Batch) { b.StragglerSigs = b.StragglerSigs[:64] }},
		{"no aggregate", RuleColumns, func(b *Batch) { b.Aggregate = nil }},
		{"short aggregate", RuleColumns, func(b *Batch) { b.Aggregate = b.Aggregate[1:] }},
		{"signatures in another mode", RuleColumns, func(b *Batch) { b.Mode = ModeFolded }},
		{"payload of an absent leaf", RuleAbsentHash, func(b *Batch) { b.Mode, b.StragglerSigs = ModeLean, nil }},
	} {
		b := plainBatch(ModeEd25519, 10, 2, 5)
		c.f(b)
		if _, err := b.MarshalBinary(); RuleOf(err) != c.rule {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	all := plainBatch(ModeEd25519, 2, 0, 1)
	all.Aggregate = make([]byte, 96)
	if _, err := all.Sign(edKey("x", 0)); RuleOf(err) != RuleColumns {
		t.Errorf("aggregate of nobody: %v", err)
	}
}

// A rawBatch is a batch in parts, whatever is in them.
type rawBatch struct {
	header                           Header
	version                          byte
	deltas, nonces, ahead, lengths   []byte
	data, positions, sigs, aggregate []byte
	signature                        []byte
}

func (r *rawBatch) encode() []byte {
	e := r.header.append(nil)
	e[0] = r.version
	return bytes.Join([][]byte{e, r.deltas, r.nonces, r.ahead, r.lengths, r.data, r.positions, r.sigs, r.aggregate, r.signature}, nil)
}

func varints(v ...uint64) (b []byte) {
	for _, x := range v {
		b = binary.AppendUvarint(b, x)
	}
	return b
}

// raw takes a batch apart.
func raw(b *Batch) *rawBatch {
	r := &rawBatch{header: b.Header(), version: 1, data: slices.Clone(b.Payloads.Data), sigs: slices.Clone(b.StragglerSigs), aggregate: slices.Clone(b.Aggregate), signature: slices.Clone(b.Signature[:])}
	next := uint64(0)
	for i, id := range b.IDs {
		r.deltas = append(r.deltas, varints(id-next)...)
		next = id + 1
		r.nonces = append(r.nonces, varints(b.Nonces[i])...)
		r.ahead = append(r.ahead, varints(b.NotAfter[i]-b.ValidUntil)...)
		r.lengths = append(r.lengths, varints(uint64(len(b.Payloads.At(i))))...)
	}
	r.positions = appendPositions(nil, b.Stragglers, b.Len())
	return r
}

// smallBatch has four leaves with one byte in each column.
func smallBatch(mode Mode, stragglers ...uint32) *Batch {
	b := plainBatch(mode, 4, stragglers...)
	b.IDs, b.Nonces, b.NotAfter = []uint64{1, 3, 5, 7}, []uint64{1, 2, 3, 4}, []uint64{1000, 1001, 1002, 1003}
	return b
}

func TestBatchRefused(t *testing.T) {
	max := []byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1}
	over := []byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2}
	for _, c := range []struct {
		name  string
		rule  Rule
		index int
		b     *Batch
		f     func(r *rawBatch)
	}{
		{"version 0", RuleHeader, -1, smallBatch(0), func(r *rawBatch) { r.version = 0 }},
		{"version 2", RuleHeader, -1, smallBatch(0), func(r *rawBatch) { r.version = 2 }},
		{"unknown mode", RuleMode, -1, smallBatch(0), func(r *rawBatch) { r.header.Mode = 3 }},
		{"mode of another kind", RuleMode, -1, smallBatch(0), func(r *rawBatch) { r.header.Mode = 200 }},
		{"no leaves", RuleEmpty, -1, smallBatch(0), func(r *rawBatch) { r.header.N = 0 }},
		{"too many leaves", RuleLeaves, -1, smallBatch(0), func(r *rawBatch) { r.header.N = 1<<20 + 1 }},
		{"far too many leaves", RuleLeaves, -1, smallBatch(0), func(r *rawBatch) { r.header.N = 1<<64 - 1 }},
		{"leaves that aren't there", RuleTruncated, -1, smallBatch(0), func(r *rawBatch) { r.header.N = 1 << 20 }},
		{"a leaf more", RulePositions, -1, smallBatch(0), func(r *rawBatch) { r.header.N = 5 }},

		{"two leaves of one id", RuleOrder, 2, smallBatch(0), func(r *rawBatch) { r.deltas = varints(1, 1, 1<<64-1, 1) }},
		{"ids descend", RuleOrder, 2, smallBatch(0), func(r *rawBatch) { r.deltas = varints(1, 1, 1<<64-2, 1) }},
		{"ids overflow", RuleOrder, 3, smallBatch(0), func(r *rawBatch) { r.deltas = varints(1, 1, 1, 1<<64-6) }},
		{"after the largest id", RuleOrder, 1, smallBatch(0), func(r *rawBatch) { r.deltas = varints(1<<64-1, 0, 1, 1) }},
		{"id not in its shortest form", RuleVarint, -1, smallBatch(0), func(r *rawBatch) { r.deltas = []byte{0x81, 0, 1, 1, 1} }},
		{"id of zero in two bytes", RuleVarint, -1, smallBatch(0), func(r *rawBatch) { r.deltas = []byte{1, 0x80, 0, 1, 1} }},
		{"id over 64 bits", RuleVarint, -1, smallBatch(0), func(r *rawBatch) { r.deltas = slices.Concat(over, []byte{1, 1, 1}) }},
		{"endless id", RuleVarint, -1, smallBatch(0), func(r *rawBatch) { r.deltas = bytes.Repeat([]byte{0x80}, 20) }},
		{"nonce not in its shortest form", RuleVarint, -1, smallBatch(0), func(r *rawBatch) { r.nonces = []byte{1, 0x82, 0x80, 0, 3, 4} }},
		{"nonce over 64 bits", RuleVarint, -1, smallBatch(0), func(r *rawBatch) { r.nonces = slices.Concat([]byte{1, 2, 3}, over) }},
		{"expiry not in its shortest form", RuleVarint, -1, smallBatch(0), func(r *rawBatch) { r.ahead = []byte{0, 0, 0, 0x80, 0} }},
		{"expires too late", RuleNotAfter, 1, smallBatch(0), func(r *rawBatch) { r.ahead = varints(0, 4097, 0, 0) }},
		{"expiry overflows", RuleNotAfter, 0, smallBatch(0), func(r *rawBatch) { r.ahead = slices.Concat(max, []byte{0, 0, 0}) }},
		{"expiry overflows with the batch's", RuleNotAfter, 2, smallBatch(0), func(r *rawBatch) { r.header.ValidUntil, r.ahead = 1<<64-2, varints(0, 1, 2, 3) }},
		{"length not in its shortest form", RuleVarint, -1, smallBatch(0), func(r *rawBatch) { r.lengths = []byte{0x80, 0, 1, 2, 3} }},
		{"huge length", RuleTruncated, -1, smallBatch(0), func(r *rawBatch) { r.lengths = slices.Concat([]byte{0}, max, []byte{2, 3}) }},
		{"lengths overflow", RuleTruncated, -1, smallBatch(0), func(r *rawBatch) { r.lengths = slices.Concat([]byte{2}, max, []byte{2, 3}) }},
		{"long payload", RulePayloadSize, 1, smallBatch(0), func(r *rawBatch) { r.lengths, r.data = varints(0, 65537, 0, 0), make([]byte, 65537) }},

		{"no positions", RuleTruncated, -1, smallBatch(0), func(r *rawBatch) { r.positions, r.aggregate = nil, nil }},
		{"kind of positions", RulePositions, -1, smallBatch(0), func(r *rawBatch) { r.positions[0] = 2 }},
		{"bit for leaf n", RulePositions, -1, smallBatch(0, 1), func(r *rawBatch) { r.positions[1] |= 1 << 4 }},
		{"padding", RulePositions, -1, smallBatch(0, 1), func(r *rawBatch) { r.positions[1] |= 1 << 7 }},
		{"list instead of a bitmap", RulePositions, -1, smallBatch(0, 1), func(r *rawBatch) { r.positions = []byte{positionsList, 1, 1} }},
		{"empty list instead of a bitmap", RulePositions, -1, smallBatch(0), func(r *rawBatch) { r.positions = []byte{positionsList, 0} }},
		{"bitmap instead of a list", RulePositions, -1, plainBatch(0, 100, 1), func(r *rawBatch) { r.positions = append([]byte{positionsBitmap, 2}, make([]byte, 12)...) }},
		{"list with index n", RulePositions, -1, plainBatch(0, 100, 1), func(r *rawBatch) { r.positions = []byte{positionsList, 1, 100} }},
		{"list with index n after another", RulePositions, -1, plainBatch(0, 100, 1), func(r *rawBatch) { r.positions = []byte{positionsList, 2, 98, 1} }},
		{"list with a huge index", RulePositions, -1, plainBatch(0, 100, 1), func(r *rawBatch) { r.positions = slices.Concat([]byte{positionsList, 2, 50}, max) }},
		{"list longer than the leaves", RulePositions, -1, plainBatch(0, 100, 1), func(r *rawBatch) { r.positions = []byte{positionsList, 101} }},
		{"list that isn't there", RuleTruncated, -1, plainBatch(0, 1000, 1), func(r *rawBatch) {
			r.positions, r.sigs, r.aggregate = []byte{positionsList, 0xe7, 7}, nil, nil
		}},
		{"list not in its shortest form", RuleVarint, -1, plainBatch(0, 100, 1), func(r *rawBatch) { r.positions = []byte{positionsList, 1, 0x81, 0} }},
		{"list ends early", RuleTruncated, -1, plainBatch(0, 100, 1), func(r *rawBatch) { r.positions, r.sigs, r.aggregate = []byte{positionsList, 1, 0x81}, nil, nil }},
		{"bitmap ends early", RuleTruncated, -1, plainBatch(0, 100, upTo32(50)...), func(r *rawBatch) { r.positions, r.sigs, r.aggregate = r.positions[:5], nil, nil }},
		{"too many stragglers", RuleStragglers, -1, plainBatch(0, 400, upTo32(257)...), func(*rawBatch) {}},
		{"absent leaf without a hash", RuleAbsentHash, 1, smallBatch(2, 1), func(r *rawBatch) { r.lengths[1]--; r.data = r.data[1:] }},
		{"absent leaf with its payload", RuleAbsentHash, 3, smallBatch(0, 3), func(r *rawBatch) { r.header.Mode, r.sigs = ModeLean, nil }},

		{"signature of a straggler is missing", RuleTruncated, -1, smallBatch(0, 1, 2), func(r *rawBatch) { r.sigs = r.sigs[:64] }},
		{"signature of nobody", RuleTrailing, -1, smallBatch(0, 1), func(r *rawBatch) { r.sigs = append(r.sigs, r.sigs...) }},
		{"straggler's entry not consumed", RuleTrailing, -1, smallBatch(0, 1, 2), func(r *rawBatch) { r.positions[1] &^= 1 << 2 }},
		{"signatures in folded mode", RuleTrailing, -1, smallBatch(0, 1), func(r *rawBatch) { r.header.Mode = ModeFolded }},
		{"no aggregate", RuleTruncated, -1, smallBatch(0), func(r *rawBatch) { r.aggregate = nil }},
		{"no aggregate in folded mode", RuleTruncated, -1, smallBatch(1, 0, 1, 2, 3), func(r *rawBatch) { r.aggregate = nil }},
		{"aggregate of nobody", RuleTrailing, -1, smallBatch(0, 0, 1, 2, 3), func(r *rawBatch) { r.aggregate = make([]byte, 96) }},
		{"aggregate of the absent", RuleTrailing, -1, smallBatch(2, 0, 1, 2, 3), func(r *rawBatch) { r.aggregate = make([]byte, 96) }},
		{"byte more", RuleTrailing, -1, smallBatch(0), func(r *rawBatch) { r.aggregate = append(r.aggregate, 0) }},
	} {
		r := raw(c.b)
		p := DefaultParams()
		if _, err := DecodeBatch(r.encode(), &p); err != nil && c.rule != RuleStragglers {
			t.Errorf("%s: refused before: %v", c.name, err)
		}
		c.f(r)
		_, err := DecodeBatch(r.encode(), &p)
		if RuleOf(err) != c.rule || err.(*RejectError).Index != c.index {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

func TestBatchLimits(t *testing.T) {
	b := plainBatch(ModeFolded, 100, 5, 6)
	enc, err := b.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		f    func(p *Params)
		want Rule
	}{
		"nothing":         {func(*Params) {}, 0},
		"batch":           {func(p *Params) { p.MaxBatch = uint64(len(enc)) - 1 }, RuleBatchSize},
		"batch fits":      {func(p *Params) { p.MaxBatch = uint64(len(enc)) }, 0},
		"leaves":          {func(p *Params) { p.MaxLeaves = 99 }, RuleLeaves},
		"leaves fit":      {func(p *Params) { p.MaxLeaves = 100 }, 0},
		"modes":           {func(p *Params) { p.Modes = Modes(ModeEd25519, ModeLean) }, RuleMode},
		"ahead":           {func(p *Params) { p.MaxAhead = 399 }, RuleNotAfter},
		"ahead fits":      {func(p *Params) { p.MaxAhead = 400 }, 0},
		"payload":         {func(p *Params) { p.MaxPayload = 38 }, RulePayloadSize},
		"payload fits":    {func(p *Params) { p.MaxPayload = 39 }, 0},
		"stragglers":      {func(p *Params) { p.MinStragglers, p.StragglerPercent = 1, 1 }, RuleStragglers},
		"stragglers fit":  {func(p *Params) { p.MinStragglers, p.StragglerPercent = 2, 1 }, 0},
		"stragglers fit2": {func(p *Params) { p.MinStragglers, p.StragglerPercent = 2, 0 }, 0},
	} {
		p := DefaultParams()
		c.f(&p)
		if _, err := DecodeBatch(enc, &p); RuleOf(err) != c.want {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// No prefix of an encoding is one, and none makes the decoder panic.
func TestBatchTruncated(t *testing.T) {
	p := DefaultParams()
	for _, b := range []*Batch{plainBatch(ModeEd25519, 30, 1, 7, 8), plainBatch(ModeLean, 30, 3), plainBatch(ModeFolded, 30)} {
		enc, err := b.MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		for i := range enc {
			if _, err := DecodeBatch(enc[:i], &p); RuleOf(err) == 0 {
				t.Fatalf("%d of %d bytes: %v", i, len(enc), err)
			}
		}
	}
}

// What the decoder allocates is bounded by the length of its input.
func TestBatchAllocation(t *testing.T) {
	r := raw(smallBatch(0))
	r.header.N = 1 << 20
	r.data = make([]byte, 1<<20)
	p := DefaultParams()
	enc := r.encode()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range 16 {
		if _, err := DecodeBatch(enc, &p); RuleOf(err) != RuleTruncated {
			t.Fatal(err)
		}
	}
	runtime.ReadMemStats(&after)
	if n := (after.TotalAlloc - before.TotalAlloc) / 16; n > 1<<16 {
		t.Errorf("%d bytes for leaves that aren't there", n)
	}
}

func FuzzDecodeBatch(f *testing.F) {
	for mode := range modes {
		for _, b := range []*Batch{plainBatch(mode, 4), plainBatch(mode, 40, 1, 2), plainBatch(mode, 3, 0, 1, 2)} {
			enc, err := b.MarshalBinary()
			if err != nil {
				f.Fatal(err)
			}
			f.Add(enc)
		}
	}
	p := DefaultParams()
	f.Fuzz(func(t *testing.T, enc []byte) {
		b, err := DecodeBatch(enc, &p)
		if err != nil {
			if RuleOf(err) == 0 {
				t.Errorf("%v has no rule", err)
			}
			return
		}
		if got, err := b.MarshalBinary(); err != nil || !bytes.Equal(got, enc) {
			t.Errorf("%x is written as %x, %v", enc, got, err)
		}
	})
}

// Every rule says what is wrong, in words of its own.
func TestRules(t *testing.T) {
	for _, texts := range []map[Rule]string{batchRuleTexts, directoryRuleTexts, partyRuleTexts, keyedRuleTexts} {
		seen := map[string]Rule{}
		for r, text := range texts {
			if text == "" || seen[text] != 0 {
				t.Errorf("rule %d says %q, as %d does", r, text, seen[text])
			}
			seen[text] = r
			if r.String() != text {
				t.Errorf("rule %d says %q", r, r.String())
			}
		}
	}
	for r := RuleBatchSize; r <= RuleAggregate; r++ {
		if batchRuleTexts[r] == "" {
			t.Errorf("rule %d says nothing", r)
		}
		if signed := r >= RuleTruncated; r.Signed() != signed {
			t.Errorf("%v: signed is %v", r, r.Signed())
		}
	}
	err := fmt.Errorf("wrapped: %w", &RejectError{RuleOrder, 4, nil})
	if RuleOf(err) != RuleOrder || RuleOf(nil) != 0 || err.Error() != "wrapped: distill: ids don't ascend strictly (at 4)" {
		t.Error(err)
	}
	if Rule(255).String() == "" || RuleGenesis.Signed() {
		t.Error(Rule(255))
	}
}
