// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package distill

import (
	"bytes"
	"crypto/ed25519"
	"encoding/binary"
	"math/big"
	"reflect"
	"slices"
	"testing"

	"github.com/undersign/undersign/bls"
)

// testGenesis returns a configuration of some validators.
func testGenesis(t testing.TB, validators int) *Genesis {
	t.Helper()
	g := &Genesis{Name: "net", F: uint64(validators-1) / 3, Params: DefaultParams()}
	for i := range 3 {
		key := edKey("genesis", i).Public().(ed25519.PublicKey)
		g.Aggregators = append(g.Aggregators, GenesisAggregator{uint64(5 * i), [32]byte(key)})
	}
	for i := range validators {
		g.Validators = append(g.Validators, testValidator(t, int64(i)+1))
	}
	return g
}

func testValidator(t testing.TB, scalar int64) (v GenesisValidator) {
	t.Helper()
	sk := blsKey(t, big.NewInt(scalar))
	proof, err := bls.ProofOfPossession.PopProve(sk)
	if err != nil {
		t.Fatal(err)
	}
	return GenesisValidator{[48]byte(sk.PublicKey().Bytes()), [96]byte(proof.Bytes())}
}

func TestGenesis(t *testing.T) {
	for _, n := range []int{1, 4, 7} {
		g := testGenesis(t, n)
		keys, err := g.Check()
		if err != nil || len(keys) != n || g.Quorum() != (n-1)/3+1 {
			t.Fatalf("%d validators: %d keys, %v", n, len(keys), err)
		}
		for i, k := range keys {
			if !bytes.Equal(k.Bytes(), g.Validators[i].Key[:]) {
				t.Errorf("key %d", i)
			}
		}
		b, err := g.MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		var back Genesis
		if err := back.UnmarshalBinary(b); err != nil || !reflect.DeepEqual(&back, g) || back.ID() != g.ID() {
			t.Errorf("%d validators: read %+v, %v", n, back, err)
		}
	}
	g := testGenesis(t, 1)
	if k, ok := g.AggregatorKey(5); !ok || k != g.Aggregators[1].Key {
		t.Errorf("aggregator 5: %x, %v", k, ok)
	}
	if _, ok := g.AggregatorKey(4); ok {
		t.Error("aggregator 4")
	}
}

// genesisChanges are ways to change a configuration of four validators, and whether it
// is a valid one still.
var genesisChanges = []struct {
	name  string
	valid bool
	f     func(t *testing.T, g *Genesis)
}{
	{"name", true, func(_ *testing.T, g *Genesis) { g.Name = "Net" }},
	{"f", true, func(_ *testing.T, g *Genesis) { g.F = 0 }},
	{"aggregator's id", true, func(_ *testing.T, g *Genesis) { g.Aggregators[0].ID = 1 }},
	{"aggregator's key", true, func(_ *testing.T, g *Genesis) { g.Aggregators[0].Key = g.Aggregators[1].Key }},
	{"fewer aggregators", true, func(_ *testing.T, g *Genesis) { g.Aggregators = g.Aggregators[:2] }},
	{"order of validators", true, func(_ *testing.T, g *Genesis) { slices.Reverse(g.Validators) }},
	{"modes", true, func(_ *testing.T, g *Genesis) { g.Params.Modes = Modes(ModeLean) }},
	{"leaves", true, func(_ *testing.T, g *Genesis) { g.Params.MaxLeaves = 1 << 24 }},
	{"payload", true, func(_ *testing.T, g *Genesis) { g.Params.MaxPayload = 0 }},
	{"batch", true, func(_ *testing.T, g *Genesis) { g.Params.MaxBatch = 1 << 30 }},
	{"percent", true, func(_ *testing.T, g *Genesis) { g.Params.StragglerPercent = 0 }},
	{"least stragglers", true, func(_ *testing.T, g *Genesis) { g.Params.MinStragglers = 0 }},
	{"valid for", true, func(_ *testing.T, g *Genesis) { g.Params.ValidFor = 1 }},
	{"ahead", true, func(_ *testing.T, g *Genesis) { g.Params.MaxAhead = 1 << 40 }},
	{"keep", true, func(_ *testing.T, g *Genesis) { g.Params.KeepResults = 1 }},
	{"directory lag", true, func(_ *testing.T, g *Genesis) { g.Params.DirectoryLag = 0 }},
	{"window", true, func(_ *testing.T, g *Genesis) { g.Params.SeqWindow = 1 }},

	{"no name", false, func(_ *testing.T, g *Genesis) { g.Name = "" }},
	{"long name", false, func(_ *testing.T, g *Genesis) { g.Name = string(make([]byte, 65)) }},
	{"newline in the name", false, func(_ *testing.T, g *Genesis) { g.Name = "a\nb" }},
	{"not ASCII", false, func(_ *testing.T, g *Genesis) { g.Name = "nét" }},
	{"no aggregators", false, func(_ *testing.T, g *Genesis) { g.Aggregators = nil }},
	{"aggregators out of order", false, func(_ *testing.T, g *Genesis) { slices.Reverse(g.Aggregators) }},
	{"one aggregator twice", false, func(_ *testing.T, g *Genesis) { g.Aggregators[1].ID = g.Aggregators[0].ID }},
	{"aggregator of small order", false, func(_ *testing.T, g *Genesis) { g.Aggregators[1].Key = [32]byte{1} }},
	{"aggregator no point", false, func(_ *testing.T, g *Genesis) { g.Aggregators[1].Key = [32]byte{2} }},
	{"aggregator not canonical", false, func(_ *testing.T, g *Genesis) {
		// y = p + 3, which is 3
		g.Aggregators[1].Key = [32]byte(slices.Repeat([]byte{0xff}, 32))
		g.Aggregators[1].Key[0], g.Aggregators[1].Key[31] = 0xf0, 0x7f
	}},
	{"no validators", false, func(_ *testing.T, g *Genesis) { g.Validators = nil }},
	{"large f", false, func(_ *testing.T, g *Genesis) { g.F = 2 }},
	{"huge f", false, func(_ *testing.T, g *Genesis) { g.F = 1<<64 - 1 }},
	{"three validators with f = 1", false, func(_ *testing.T, g *Genesis) { g.Validators = g.Validators[:3] }},
	{"one validator twice", false, func(_ *testing.T, g *Genesis) { g.Validators[1] = g.Validators[0] }},
	{"opposite validators", false, func(t *testing.T, g *Genesis) { g.Validators[1] = testValidator(t, -1) }},
	{"another's proof", false, func(_ *testing.T, g *Genesis) { g.Validators[1].Proof = g.Validators[0].Proof }},
	{"proof is a signature", false, func(t *testing.T, g *Genesis) {
		sig, err := bls.ProofOfPossession.Sign(blsKey(t, big.NewInt(2)), g.Validators[1].Key[:])
		if err != nil {
			t.Fatal(err)
		}
		g.Validators[1].Proof = [96]byte(sig.Bytes())
	}},
	{"validator at infinity", false, func(_ *testing.T, g *Genesis) {
		g.Validators[1] = GenesisValidator{[48]byte{0xc0}, [96]byte{0xc0}}
	}},
	{"validator no point", false, func(_ *testing.T, g *Genesis) { g.Validators[1].Key[9] ^= 1 }},
	{"proof no point", false, func(_ *testing.T, g *Genesis) { g.Validators[1].Proof[9] ^= 1 }},
	{"no modes", false, func(_ *testing.T, g *Genesis) { g.Params.Modes = 0 }},
	{"unknown mode", false, func(_ *testing.T, g *Genesis) { g.Params.Modes = 8 }},
	{"no leaves", false, func(_ *testing.T, g *Genesis) { g.Params.MaxLeaves = 0 }},
	{"too many leaves", false, func(_ *testing.T, g *Genesis) { g.Params.MaxLeaves = 1<<24 + 1 }},
	{"101 percent", false, func(_ *testing.T, g *Genesis) { g.Params.StragglerPercent = 101 }},
	{"small batches", false, func(_ *testing.T, g *Genesis) { g.Params.MaxBatch = 1 }},
	{"leaves that outlive no two batches", false, func(_ *testing.T, g *Genesis) { g.Params.MaxAhead = 2*g.Params.ValidFor - 1 }},
	{"never valid", false, func(_ *testing.T, g *Genesis) { g.Params.ValidFor = 0 }},
	{"overflowing heights", false, func(_ *testing.T, g *Genesis) { g.Params.MaxAhead = 1 << 63 }},
}

// Each field counts for the network's id, and what isn't a valid configuration is
// refused however it comes.
func TestGenesisChanges(t *testing.T) {
	ids := map[NetworkID]string{testGenesis(t, 4).ID(): "unchanged"}
	for _, c := range genesisChanges {
		g := testGenesis(t, 4)
		c.f(t, g)
		id := g.ID()
		if ids[id] != "" {
			t.Errorf("%s: the id of %s", c.name, ids[id])
		}
		ids[id] = c.name
		_, err := g.Check()
		read := new(Genesis).UnmarshalBinary(g.encode())
		if c.valid && (err != nil || read != nil) {
			t.Errorf("%s: %v, %v", c.name, err, read)
		}
		if !c.valid && (RuleOf(err) != RuleGenesis || RuleOf(read) != RuleGenesis) {
			t.Errorf("%s: %v, %v", c.name, err, read)
		}
		if _, err := g.MarshalBinary(); c.valid && err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	g := testGenesis(t, 4)
	g.Params = Params{}
	if _, err := NewVerifier(g); RuleOf(err) != RuleGenesis {
		t.Errorf("without parameters: %v", err)
	}
}

func TestGenesisEncoding(t *testing.T) {
	g := testGenesis(t, 1)
	b := g.encode()
	for i := range b {
		if err := new(Genesis).UnmarshalBinary(b[:i]); RuleOf(err) != RuleGenesis {
			t.Fatalf("%d of %d bytes: %v", i, len(b), err)
		}
	}
	at := func(i int, v byte) []byte {
		c := bytes.Clone(b)
		c[i] = v
		return c
	}
	count := 1 + 4 + len(g.Name)
	huge := bytes.Clone(b)
	binary.BigEndian.PutUint32(huge[count:], 1<<32-1)
	for name, c := range map[string][]byte{
		"trailing byte": append(bytes.Clone(b), 0),
		"version":       at(0, 2),
		"aggregators":   at(count+3, 4),
		"too many":      huge,
		"modes":         at(len(b)-1, 0xff),
	} {
		if err := new(Genesis).UnmarshalBinary(c); RuleOf(err) != RuleGenesis {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestMaxStragglers(t *testing.T) {
	p := DefaultParams()
	for n, want := range map[int]int{1: 1, 256: 256, 257: 256, 1024: 256, 1028: 257, 1 << 20: 1 << 18, 1 << 24: 1 << 22} {
		if got := p.MaxStragglers(ModeEd25519, n); got != want {
			t.Errorf("%d leaves: %d, not %d", n, got, want)
		}
		if got := p.MaxStragglers(ModeFolded, n); got != min(want, 256) {
			t.Errorf("%d leaves, folded: %d, not %d", n, got, min(want, 256))
		}
	}
}

func TestModes(t *testing.T) {
	s := Modes(ModeEd25519, ModeLean, 9)
	for m := range Mode(255) {
		if got := s.Has(m); got != (m == ModeEd25519 || m == ModeLean) {
			t.Errorf("%v: %v", m, got)
		}
	}
	names := map[string]bool{ModeEd25519.String(): true, ModeFolded.String(): true, ModeLean.String(): true, Mode(3).String(): true}
	if len(names) != 4 {
		t.Error(names)
	}
}

func FuzzGenesis(f *testing.F) {
	f.Add(testGenesis(f, 1).encode())
	f.Fuzz(func(t *testing.T, b []byte) {
		var g Genesis
		if g.UnmarshalBinary(b) != nil {
			return
		}
		if got, err := g.MarshalBinary(); err != nil || !bytes.Equal(got, b) {
			t.Errorf("%x is written as %x, %v", b, got, err)
		}
	})
}
