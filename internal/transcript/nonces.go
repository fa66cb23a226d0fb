// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package transcript

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/sha3"
	"encoding/binary"

	"github.com/undersign/undersign/internal/bls12381"
)

// Nonces are the random scalars of one proof. They are hedged: SHAKE256 over a
// secret, 32 fresh random bytes and all public inputs. A generator that fails or
// was cloned then doesn't give one nonce under two challenges, and who knows the
// secret alone doesn't know the nonces.
type Nonces struct {
	xof *sha3.SHAKE
}

// NewNonces returns the nonces for proving a statement. The secret is whatever the
// prover alone knows; dst is that of the challenge.
func NewNonces(dst []byte, secret, statement *Items) *Nonces {
	var fresh [32]byte
	rand.Read(fresh[:])
	n := &Nonces{sha3.NewSHAKE256()}
	n.item("undersign/nonces/v1", dst)
	n.item("secret", secret.b)
	n.item("random", fresh[:])
	n.item("statement", statement.b)
	return n
}

// item writes an item without a copy of it.
func (n *Nonces) item(label string, v []byte) {
	var b []byte
	b = binary.BigEndian.AppendUint64(b, uint64(len(label)))
	b = append(b, label...)
	b = binary.BigEndian.AppendUint64(b, uint64(len(v)))
	n.xof.Write(b)
	n.xof.Write(v)
}

// Next sets each k to the next nonce. A nonce is 0 with probability 2⁻²⁵⁵, which
// isn't tested.
func (n *Nonces) Next(ks ...*bls12381.Scalar) {
	var b [64]byte
	for _, k := range ks {
		n.xof.Read(b[:])
		k.SetWide(b[:])
	}
	clear(b[:])
}

// Read fills b, for scalars of other groups.
func (n *Nonces) Read(b []byte) { n.xof.Read(b) }

// Wipe forgets the state.
func (n *Nonces) Wipe() { n.xof.Reset() }

// Wipe clears the encoding, for items that are secret.
func (t *Items) Wipe() {
	clear(t.b[:cap(t.b)])
	*t = Items{}
}

// Grow makes room for n more bytes, so that items that are secret are appended
// without leaving a copy of what is there behind.
func (t *Items) Grow(n int) *Items {
	if cap(t.b)-len(t.b) < n {
		b := make([]byte, len(t.b), len(t.b)+n)
		copy(b, t.b)
		clear(t.b)
		t.b = b
	}
	return t
}

// Weights are the random integers below 2¹²⁸ by which a batch's equations are
// multiplied before they are summed: SHAKE256 over the digest of all inputs and 32
// fresh random bytes. The digest helps against a bad generator, the fresh bytes
// against inputs that were found by trial.
type Weights struct {
	xof *sha3.SHAKE
}

// NewWeights returns weights for the equations of one batch. The digest is
// SHA-256 of all inputs, in order: keys, messages and signatures.
func NewWeights(digest [sha256.Size]byte) *Weights {
	var fresh [32]byte
	rand.Read(fresh[:])
	w := &Weights{sha3.NewSHAKE256()}
	w.xof.Write([]byte("undersign/weights/v1"))
	w.xof.Write(digest[:])
	w.xof.Write(fresh[:])
	return w
}

// Next sets k to the next weight, which isn't 0. Each equation needs its own.
func (w *Weights) Next(k *bls12381.Scalar) *bls12381.Scalar { return w.next(k, 16) }

// Read fills b with a weight's bytes, for scalars of other groups. The caller draws again
// what is 0.
func (w *Weights) Read(b []byte) { w.xof.Read(b) }

// NextShort is Next for weights below 2⁶⁴, which cost half, and let a false equation
// pass with a probability of 2⁻⁶⁴.
func (w *Weights) NextShort(k *bls12381.Scalar) *bls12381.Scalar { return w.next(k, 8) }

func (w *Weights) next(k *bls12381.Scalar, size int) *bls12381.Scalar {
	var b [16]byte
	for {
		w.xof.Read(b[len(b)-size:])
		if k.SetWeight(b[:]) {
			return k
		}
	}
}
