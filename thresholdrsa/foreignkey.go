// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package thresholdrsa

import (
	"bytes"
	"crypto/ed25519"
	"crypto/rand"
	"errors"
	"fmt"
	"math/big"
)

// A ForeignKey is the public half of a sharing that another library has dealt:
// niclabs/tcrsa, or Safeheron's tss-rsa-cpp. Its holders go on with this package
// under the same RSA key and with the same shares.
type ForeignKey struct {
	key *foreignKey
}

// ParseForeignKey reads the public JSON documents of a key: tcrsa's KeyMeta, or
// the public key and the key meta of tss-rsa-cpp in either order. It checks that
// the verification keys belong to one polynomial with the private exponent in it.
func ParseForeignKey(docs ...[]byte) (*ForeignKey, error) {
	k, err := parseForeignKey(docs...)
	if err != nil {
		return nil, err
	}
	return &ForeignKey{k}, nil
}

// Threshold returns K.
func (f *ForeignKey) Threshold() int { return f.key.k }

// NumHolders returns L.
func (f *ForeignKey) NumHolders() int { return f.key.l }

// Record returns the record of the key's first epoch here. holders are the cards of
// all holders in the order of their indices; everybody who gives the same cards
// gets the same record.
//
// Its v and v_i are the squares of the other library's, which are squares modulo n
// for certain, and their roots' signs don't matter then.
func (f *ForeignKey) Record(holders []*Receiver) (*PublicKey, error) {
	k := f.key
	if len(holders) != k.l {
		return nil, fmt.Errorf("thresholdrsa: foreign key: %d cards for %d holders", len(holders), k.l)
	}
	p := &PublicKey{
		n: k.n, e: k.e, k: k.k, l: k.l, form: FormModular, epoch: 1,
		gamma: one, smax: k.n, ubound: new(big.Int), root: k.v,
	}
	for i, vi := range k.vi {
		r := holders[i]
		if err := r.check(false); err != nil {
			return nil, fmt.Errorf("thresholdrsa: foreign key: %w", err)
		}
		p.vi = append(p.vi, mulMod(vi, vi, k.n))
		p.holders = append(p.holders, Holder{r.name, r.identity, r.next})
	}
	p, err := p.finish()
	if err != nil {
		return nil, fmt.Errorf("thresholdrsa: foreign key: %w", err)
	}
	return p, nil
}

// Share returns a holder's share of the record p, from the other library's share
// document and the secret half of its card. The share is checked against v_i.
func (f *ForeignKey) Share(p *PublicKey, key *ReceiverKey, doc []byte) (*KeyShare, error) {
	shares, err := parseForeignShares(f.key, doc)
	if err != nil {
		return nil, err
	}
	if len(shares) != 1 {
		return nil, fmt.Errorf("thresholdrsa: foreign share: %d shares in the document, not 1", len(shares))
	}
	in := shares[0]
	defer eraseInts(in.s)
	if p.epoch != 1 || p.n.Cmp(f.key.n) != 0 || p.l != f.key.l || p.root.Cmp(f.key.v) != 0 {
		return nil, errors.New("thresholdrsa: foreign share: the record is of another key")
	}
	h := p.holders[in.index-1]
	next, err := publicOf(key.next)
	if err != nil {
		return nil, fmt.Errorf("thresholdrsa: receiver key: %w", err)
	}
	if !bytes.Equal(h.Identity, key.identity.Public().(ed25519.PublicKey)) || !bytes.Equal(h.Encryption, next) {
		return nil, fmt.Errorf("thresholdrsa: foreign share: it is of holder %d (%s), and the card is another's", in.index, h.Name)
	}
	s := &KeyShare{
		key: p, index: in.index, s: natOf(in.s, p.ShareBits()),
		identity: bytes.Clone(key.identity), decryption: bytes.Clone(key.next),
	}
	rand.Read(s.seed[:])
	if err := s.Check(); err != nil {
		s.Wipe()
		return nil, err
	}
	return s, nil
}
