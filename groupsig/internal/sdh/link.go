// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package sdh

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/undersign/undersign/groupsig/internal/sigma"
	"github.com/undersign/undersign/internal/bls12381"
	"github.com/undersign/undersign/internal/transcript"
	"github.com/undersign/undersign/internal/wire"
)

// A Signed is a signature with what it is verified by.
type Signed struct {
	Message   transcript.Message
	Context   []byte
	Signature []byte
	Key       *GroupKey // of the version that it is of, nil if it is the one that is asked
}

// verify verifies a signature, and returns it.
func (k *GroupKey) verify(s Signed) (*signature, error) {
	if k.empty() {
		return nil, errEmpty
	}
	if s.Key == nil {
		s.Key = k
	}
	if s.Key.empty() || s.Key.id != k.id {
		return nil, errors.New("groupsig: the signature is of another group")
	}
	if err := s.Key.Verify(s.Message, s.Context, s.Signature); err != nil {
		return nil, err
	}
	return k.s.parse(s.Signature)
}

// Tag returns what all signatures of one member have in common, and no others: D3 - ξ·D1
// = y·g. It verifies the signature. Tags are the linker's secret: who has those of two
// signatures can link them, and sees nothing else.
func (k *RoleKeys) Tag(g *GroupKey, s Signed) ([]byte, error) {
	if err := k.as(linkerRole, g); err != nil {
		return nil, err
	}
	sig, err := g.verify(s)
	if err != nil {
		return nil, err
	}
	return k.tag(g, sig), nil
}

// tag is Tag for a signature that is verified.
func (k *RoleKeys) tag(g *GroupKey, sig *signature) []byte {
	tag := new(bls12381.G1).ScalarMult(&k.secrets[0], &sig.points[g.s.Link[0]])
	tag.Sub(&sig.points[g.s.Link[1]], tag)
	bls12381.NormalizeG1(tag)
	return tag.Bytes()
}

// linkStatement is d = ξ·u and, for each signature after the first, D3 - D3' =
// ξ·(D1 - D1') with the first one's: all have one y·g. A member can give two signatures
// one D1, by using one α twice. If they have one D3 too, they are linked for everybody, and
// there is nothing to prove; if not, they are of two members.
func (k *GroupKey) linkStatement(sigs []*signature) (*sigma.Statement, error) {
	st := &sigma.Statement{Secrets: 1, G1: k.roleRelations(k.s.Linker)}
	one, two := k.s.Link[0], k.s.Link[1]
	for i, sig := range sigs[1:] {
		y := new(bls12381.G1).Sub(&sigs[0].points[two], &sig.points[two])
		p := new(bls12381.G1).Sub(&sigs[0].points[one], &sig.points[one])
		bls12381.NormalizeG1(y, p)
		if p.IsIdentity() {
			if !y.IsIdentity() {
				return nil, fmt.Errorf("groupsig: signature %d is of another member than the first", i+1)
			}
			continue
		}
		st.G1 = append(st.G1, sigma.Relation{Y: y, Terms: []sigma.Term{{W: 0, P: p}}})
	}
	return st, nil
}

// MaxLinked is how many signatures a proof is about at the most.
const MaxLinked = 1 << 12

// linked verifies signatures, and returns them with what a proof about them absorbs.
func (k *GroupKey) linked(set []Signed, context []byte) ([]*signature, *transcript.Items, error) {
	if k.empty() {
		return nil, nil, errEmpty
	}
	if len(k.s.Linker) == 0 {
		return nil, nil, errors.New("groupsig: the scheme has no linker")
	}
	if len(set) < 2 || len(set) > MaxLinked {
		return nil, nil, fmt.Errorf("groupsig: a proof of linking is about 2 to %d signatures", MaxLinked)
	}
	items := k.first().context("link").Bytes("context", context).Uint64("signatures", uint64(len(set)))
	seen := make(map[[32]byte]bool)
	sigs := make([]*signature, len(set))
	for i, s := range set {
		var err error
		if sigs[i], err = k.verify(s); err != nil {
			return nil, nil, fmt.Errorf("signature %d: %w", i, err)
		}
		id := signatureID(s.Signature)
		if seen[id] {
			return nil, nil, fmt.Errorf("groupsig: signature %d is there twice", i)
		}
		seen[id] = true
		items.Bytes("sigID", id[:])
	}
	return sigs, items, nil
}

// ProveLink proves to anyone that one member made all signatures of a set, without
// saying which one. It is an error if they are of several.
func (k *RoleKeys) ProveLink(g *GroupKey, set []Signed, context []byte) ([]byte, error) {
	if err := k.as(linkerRole, g); err != nil {
		return nil, err
	}
	sigs, items, err := g.linked(set, context)
	if err != nil {
		return nil, err
	}
	first := k.tag(g, sigs[0])
	for i, sig := range sigs {
		if !bytes.Equal(k.tag(g, sig), first) {
			return nil, fmt.Errorf("groupsig: signature %d is of another member than the first", i)
		}
	}
	st, err := g.linkStatement(sigs)
	if err != nil {
		return nil, err
	}
	p, err := st.Prove(g.dst("link"), items, k.secrets)
	if err != nil {
		return nil, err
	}
	var e wire.Encoder
	e.U8(version)
	e.U8(suite)
	e.Fixed(p.Append(nil))
	return e.Data(), nil
}

// VerifyLink checks the proof, and the signatures.
func (k *GroupKey) VerifyLink(set []Signed, context, link []byte) error {
	sigs, items, err := k.linked(set, context)
	if err != nil {
		return err
	}
	st, err := k.linkStatement(sigs)
	if err != nil {
		return err
	}
	d := wire.NewDecoder(link)
	d.Header(version, suite)
	b := d.Fixed("proof", sigma.Size(1))
	if err := d.Finish(); err != nil {
		return fmt.Errorf("groupsig: link: %w", err)
	}
	if st.VerifyBytesVarTime(k.dst("link"), items, b) != nil {
		return errors.New("groupsig: the proof of linking is wrong")
	}
	return nil
}
