// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package strongrsa

import (
	"crypto/sha3"
	"encoding/binary"
	"math/big"
	"sync"

	"github.com/undersign/undersign/groupsig/legacy/internal/qrn"
)

// Counters at which expand gives the prime Q, and a number below which P is.
const (
	counterQ = 50
	counterP = 273
)

type primes struct {
	group *qrn.Group
	order *big.Int // Q
}

// expand returns an odd number of so many bits, the counter-th of a name.
func expand(name string, counter uint64, bits int) *big.Int {
	h := sha3.NewSHAKE256()
	h.Write([]byte("undersign/groupsig/v1/cg05/" + name))
	h.Write(binary.BigEndian.AppendUint64(nil, counter))
	b := make([]byte, bits/8)
	h.Read(b)
	b[0] |= 0x80
	b[len(b)-1] |= 1
	return new(big.Int).SetBytes(b)
}

// primeP returns the largest number up to expand's that is 1 modulo 2q.
func primeP(counter uint64, q *big.Int) *big.Int {
	p := expand("P", counter, 3072)
	p.Sub(p, new(big.Int).Mod(p, new(big.Int).Lsh(q, 1)))
	return p.Add(p, big.NewInt(1))
}

// subgroup returns the group of order Q, of 256 bits, modulo P, of 3072. The first
// primes in two hashed sequences are taken, so that nobody chose them.
var subgroup = sync.OnceValue(func() primes {
	q := expand("Q", counterQ, 256)
	g, err := qrn.NewSubgroup(primeP(counterP, q), q)
	if err != nil {
		panic("strongrsa: " + err.Error())
	}
	return primes{g, q}
})
