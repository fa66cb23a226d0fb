// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package distill

import (
	"crypto/sha256"

	"github.com/undersign/undersign/bls"
	"github.com/undersign/undersign/internal/wire"
	"github.com/undersign/undersign/internal/zip215"
)

// A Genesis is the configuration that a network begins with, and by whose hash it is
// known. It doesn't change.
type Genesis struct {
	Name        string // printable ASCII
	Aggregators []GenesisAggregator
	Validators  []GenesisValidator
	F           uint64 // validators that may be faulty
	Params      Params
}

// A GenesisAggregator is one of the aggregators, in ascending order of their ids.
type GenesisAggregator struct {
	ID  uint64
	Key [32]byte // Ed25519
}

// A GenesisValidator is one of the validators, which are known by their positions.
type GenesisValidator struct {
	Key   [bls.PublicKeySize]byte
	Proof [bls.SignatureSize]byte // of possession
}

const (
	genesisVersion = 1
	maxName        = 64
	maxAggregators = 1 << 16
	maxValidators  = 1 << 10
)

// ID returns the network's id.
func (g *Genesis) ID() NetworkID { return sha256.Sum256(g.encode()) }

// AggregatorKey returns the key of an aggregator, or false if there is none.
func (g *Genesis) AggregatorKey(id uint64) (key [32]byte, ok bool) {
	for _, a := range g.Aggregators {
		if a.ID == id {
			return a.Key, true
		}
	}
	return key, false
}

// Quorum returns the number of validators among which an honest one is: F+1.
func (g *Genesis) Quorum() int { return int(g.F) + 1 }

// Check verifies the configuration, the validators' proofs of possession among it, and
// returns their keys.
func (g *Genesis) Check() ([]*bls.ProvenKey, error) {
	if err := g.checkShape(); err != nil {
		return nil, err
	}
	for i, a := range g.Aggregators {
		if i > 0 && a.ID <= g.Aggregators[i-1].ID {
			return nil, genesisError("ids of aggregators don't ascend strictly")
		}
		if err := zip215.CheckRegistration(a.Key[:]); err != nil {
			return nil, genesisError("aggregator %d: %w", a.ID, err)
		}
	}
	keys := make([]*bls.PublicKey, len(g.Validators))
	proofs := make([]*bls.Signature, len(g.Validators))
	seen := make(map[[bls.PublicKeySize]byte]bool, len(keys))
	for i, v := range g.Validators {
		var err error
		if keys[i], err = bls.ParsePublicKey(v.Key[:]); err != nil {
			return nil, genesisError("validator %d: %w", i, err)
		}
		if proofs[i], err = bls.ParseSignature(v.Proof[:]); err != nil {
			return nil, genesisError("validator %d: %w", i, err)
		}
		x := v.Key
		x[0] &^= blsSign
		if seen[x] {
			return nil, genesisError("validator %d has the key of another one, or its opposite", i)
		}
		seen[x] = true
	}
	proven, err := bls.ProofOfPossession.PopVerifyBatch(keys, proofs)
	if err != nil {
		return nil, genesisError("validators: %w", err)
	}
	return proven, nil
}

// blsSign is the bit of a compressed key's first byte in which it differs from the
// opposite key.
const blsSign = 0x20

func (g *Genesis) checkShape() error {
	if len(g.Name) == 0 || len(g.Name) > maxName {
		return genesisError("a name of %d bytes", len(g.Name))
	}
	for _, c := range []byte(g.Name) {
		if c < ' ' || c > '~' {
			return genesisError("a name that isn't printable ASCII")
		}
	}
	n := uint64(len(g.Validators))
	switch {
	case len(g.Aggregators) == 0 || len(g.Aggregators) > maxAggregators:
		return genesisError("%d aggregators", len(g.Aggregators))
	case n == 0 || n > maxValidators:
		return genesisError("%d validators", n)
	case g.F > (n-1)/3:
		return genesisError("%d validators can't stand %d faulty ones", n, g.F)
	}
	return g.Params.Check()
}

func (g *Genesis) encode() []byte {
	var e wire.Encoder
	e.U8(genesisVersion)
	e.Bytes([]byte(g.Name))
	e.U32(uint32(len(g.Aggregators)))
	for _, a := range g.Aggregators {
		e.U64(a.ID)
		e.Fixed(a.Key[:])
	}
	e.U32(uint32(len(g.Validators)))
	for _, v := range g.Validators {
		e.Fixed(v.Key[:])
		e.Fixed(v.Proof[:])
	}
	e.U64(g.F)
	g.Params.encode(&e)
	return e.Data()
}

// MarshalBinary returns the encoding, whose hash is the network's id. What [Genesis.Check]
// verifies with keys isn't verified.
func (g *Genesis) MarshalBinary() ([]byte, error) {
	if err := g.checkShape(); err != nil {
		return nil, err
	}
	return g.encode(), nil
}

// UnmarshalBinary reads a configuration and does [Genesis.Check].
func (g *Genesis) UnmarshalBinary(b []byte) error {
	d := wire.NewDecoder(b)
	if v := d.U8("version"); v != genesisVersion {
		d.Fail("version", "%d isn't known", v)
	}
	var x Genesis
	x.Name = string(d.Bytes("name", maxName))
	for range count(d, "aggregators", maxAggregators, 8+32) {
		a := GenesisAggregator{ID: d.U64("id")}
		d.Read("key", a.Key[:])
		x.Aggregators = append(x.Aggregators, a)
	}
	for range count(d, "validators", maxValidators, bls.PublicKeySize+bls.SignatureSize) {
		var v GenesisValidator
		d.Read("key", v.Key[:])
		d.Read("proof", v.Proof[:])
		x.Validators = append(x.Validators, v)
	}
	x.F = d.U64("f")
	x.Params.decode(d)
	if err := d.Finish(); err != nil {
		return genesisError("%w", err)
	}
	if _, err := x.Check(); err != nil {
		return err
	}
	*g = x
	return nil
}

// count reads the number of items of some size that follow, which must be there.
func count(d *wire.Decoder, field string, max, size int) int {
	n := d.U32(field)
	if d.Err() == nil && (uint64(n) > uint64(max) || uint64(n)*uint64(size) > uint64(d.Remaining())) {
		d.Fail(field, "%d of them", n)
	}
	if d.Err() != nil {
		return 0
	}
	return int(n)
}
