// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package tokens

import (
	"github.com/undersign/undersign/groupsig/internal/codec"
	"github.com/undersign/undersign/groupsig/internal/sigma"
	"github.com/undersign/undersign/internal/bls12381"
	"github.com/undersign/undersign/internal/transcript"
	"github.com/undersign/undersign/internal/wire"
)

// twoSecrets are x and y of an issuer, or z0 and z1 of an opener, with their public half.
type twoSecrets struct {
	w   [2]bls12381.Scalar
	pub twoPoints
}

// twoPoints are the multiples of P2 by two secrets.
type twoPoints [2]bls12381.G2

func (k *twoSecrets) generate() {
	k.w[0].Random()
	k.w[1].Random()
	k.publish()
}

func (k *twoSecrets) publish() {
	for i := range k.w {
		k.pub[i].ScalarBaseMult(&k.w[i])
	}
	bls12381.NormalizeG2(&k.pub[0], &k.pub[1])
}

func (k *twoSecrets) wipe() {
	k.w[0].Wipe()
	k.w[1].Wipe()
}

func (k *twoSecrets) equal(x *twoSecrets) bool {
	return k.w[0].Equal(&x.w[0]) && k.w[1].Equal(&x.w[1])
}

func (k *twoSecrets) append(e *wire.Encoder) {
	codec.PutSecret(e, k.w[0].Bytes())
	codec.PutSecret(e, k.w[1].Bytes())
}

// read reads the secrets. The caller publishes them.
func (k *twoSecrets) read(d *wire.Decoder, names [2]string) {
	codec.ReadSecret(d, names[0], &k.w[0])
	codec.ReadSecret(d, names[1], &k.w[1])
}

// prove proves possession.
func (k *twoSecrets) prove(dst []byte, items *transcript.Items) ([]byte, error) {
	w := []bls12381.Scalar{k.w[0], k.w[1]}
	defer func() {
		w[0].Wipe()
		w[1].Wipe()
	}()
	return k.pub.statement().ProveBytes(dst, items, w)
}

// twoProofSize is the length of the proof.
var twoProofSize = sigma.Size(2)

// verify checks it.
func (p *twoPoints) verify(dst []byte, items *transcript.Items, proof []byte) error {
	return p.statement().VerifyBytesVarTime(dst, items, proof)
}

// statement is that both logarithms to the base P2 are known.
func (p *twoPoints) statement() *sigma.Statement {
	base := bls12381.G2Generator()
	return &sigma.Statement{Secrets: 2, G2: []sigma.RelationG2{
		{Y: &p[0], Terms: []sigma.TermG2{{W: 0, P: base}}},
		{Y: &p[1], Terms: []sigma.TermG2{{W: 1, P: base}}},
	}}
}

func (p *twoPoints) append(e *wire.Encoder) {
	e.Fixed(p[0].Bytes())
	e.Fixed(p[1].Bytes())
}

func (p *twoPoints) read(d *wire.Decoder, names [2]string) {
	codec.ReadG2(d, names[0], &p[0])
	codec.ReadG2(d, names[1], &p[1])
}
