// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package tokens

import (
	"crypto/ed25519"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"

	"github.com/undersign/undersign/groupsig/internal/join"
	"github.com/undersign/undersign/groupsig/internal/sigma"
	"github.com/undersign/undersign/internal/bls12381"
	"github.com/undersign/undersign/internal/transcript"
	"github.com/undersign/undersign/internal/wire"
)

// ErrUnknown: a valid signature fits no member of the opener's register. Either the
// register isn't complete, or the issuer made a credential without a registration.
var ErrUnknown = errors.New("groupsig: the signature fits no registered member")

// errOpening is the verdict on an opening that is well formed.
var errOpening = errors.New("the opening's proof is wrong")

// Add puts a member's record into the opener's register, with the token sealed in
// place of the evidence. The caller has checked the registration signature. A token that
// the register has is refused.
func (k *Key) Add(g *Group, register *join.Register, r *join.Record, token *bls12381.G2) error {
	p, err := g.points(r)
	if err != nil {
		return err
	}
	if token.IsIdentity() {
		return errors.New("the token is zero")
	}
	s := share(token)
	defer s.wipe()
	// e(w·Base, Q) = e(Base, token), as Belongs has it of a token that is no secret.
	var neg bls12381.G1
	neg.Neg(&p.Base)
	if p.Multiple.IsIdentity() || !bls12381.PairingCheckVarTime(append(
		s.pairs(&neg, bls12381.NewG1Comb(&p.Base)), bls12381.PairWith(&p.Multiple, g.Q))...) {
		return errors.New("the token doesn't belong to the registration point")
	}
	mark := k.markOf(g, token)
	if mark != nil {
		if other := register.Find(mark); other != nil {
			return fmt.Errorf("the token is that of %q", other.Member)
		}
	}
	q := *r
	if q.Evidence, err = k.sealToken(g, r, s, mark); err != nil {
		return err
	}
	return register.Add(&q)
}

// token returns the sealed token of a record in the opener's register.
func (k *Key) token(g *Group, r *join.Record) (*shared, error) {
	s, err := k.openToken(g, r)
	if err != nil {
		return nil, fmt.Errorf("the register's token of %q can't be opened by this key", r.Member)
	}
	return s, nil
}

func decodePoint(r *join.Record) (*bls12381.G1, error) {
	p := new(bls12381.G1)
	if err := p.SetBytes(r.Point); err != nil {
		return nil, fmt.Errorf("registration point: %w", err)
	}
	return p, nil
}

// An Opening says who made a signature, and proves it: the opener knows a token that
// belongs to the signature, and to the point that the member registered.
//
// The opener signs it. The proof alone could be made by whoever knows the token, the
// signer first of all, and would go with a record of the same point that somebody else
// has signed, who then would be named; openers accept no such record.
type Opening struct {
	record join.Record // without evidence
	proof  sigma.HomProof
	sig    []byte // by the opener's Ed25519 key
}

// Member returns the signer's identity.
func (o *Opening) Member() string { return o.record.Member }

// Key returns the long-term key by which the signer registered. A judge compares it
// with the one that he knows of the member.
func (o *Opening) Key() ed25519.PublicKey { return o.record.Key }

// MarshalBinary returns the canonical encoding.
func (o *Opening) MarshalBinary() ([]byte, error) {
	r, err := o.record.MarshalBinary()
	if err != nil {
		return nil, err
	}
	if len(o.sig) != ed25519.SignatureSize {
		return nil, errors.New("groupsig: incomplete opening")
	}
	var e wire.Encoder
	e.U8(version)
	e.U8(suite)
	e.Bytes(r)
	e.Fixed(o.proof.Append(nil))
	e.Fixed(o.sig)
	return e.Data(), nil
}

// maxRecord bounds the encoding of a record without evidence.
const maxRecord = 1024

// UnmarshalBinary decodes an opening. It doesn't check the proof, nor the signature.
func (o *Opening) UnmarshalBinary(data []byte) error {
	d := wire.NewDecoder(data)
	d.Header(version, suite)
	r := d.Bytes("record", maxRecord)
	p := d.Fixed("proof", sigma.HomSize)
	q := Opening{sig: d.Fixed("signature", ed25519.SignatureSize)}
	if err := d.Finish(); err != nil {
		return fmt.Errorf("groupsig: opening: %w", err)
	}
	if err := q.record.UnmarshalBare(r); err != nil {
		return fmt.Errorf("groupsig: opening: %w", err)
	}
	proof, err := sigma.DecodeHom(p)
	if err != nil {
		return fmt.Errorf("groupsig: opening: %w", err)
	}
	q.proof = *proof
	*o = q
	return nil
}

// openItems are what proof and signature of an opening are bound to.
func (g *Group) openItems(t *Target, context []byte) *transcript.Items {
	return new(transcript.Items).Bytes("gid", g.ID[:]).Bytes("ver", nil).Bytes("operation", []byte("open")).
		Bytes("sigID", t.ID[:]).Bytes("context", context)
}

// openMessage is what the opener signs.
func (g *Group) openMessage(t *Target, o *Opening, context []byte) ([]byte, error) {
	r, err := o.record.MarshalBinary()
	if err != nil {
		return nil, err
	}
	return new(transcript.Items).Bytes("dst", g.dst("opening")).Append(g.openItems(t, context)).
		Bytes("record", r).Bytes("proof", o.proof.Append(nil)).Data(), nil
}

// statement returns the pairs e(A, token) = K and e(P1, token) = e(T, Q), and the
// context of their proof.
func (g *Group) statement(t *Target, p *Points, context []byte) (*transcript.Items, []sigma.HomPair) {
	items := g.openItems(t, context)
	own := new(bls12381.GT).PairingProductVarTime(bls12381.PairWith(&p.Multiple, g.Q))
	return items, []sigma.HomPair{{G: t.A, K: t.k()}, {G: &p.Base, K: own}}
}

// Open finds the signer of a signature that the caller has verified. It tries all
// tokens, each in constant time, and takes equally long whose signature it is. Tokens
// are unique in a register, because registration points or marks are, so that one at the
// most fits.
func (k *Key) Open(g *Group, register *join.Register, t *Target, context []byte) (*Opening, error) {
	var records []*join.Record
	for r := range register.All() {
		if r.Scheme != g.Scheme || r.GroupID != g.ID {
			return nil, errors.New("the register is of another group")
		}
		records = append(records, r)
	}
	value := t.k()
	neg := bls12381.NewG1Comb(new(bls12381.G1).Neg(t.A))
	fits, errs := make([]bool, len(records)), make([]error, len(records))
	search(len(records), func(i int) bool {
		token, err := k.token(g, records[i])
		if err != nil {
			errs[i] = err
			return false
		}
		defer token.wipe()
		fits[i] = new(bls12381.GT).PairingProductVarTime(token.pairs(t.A, neg)...).Equal(value)
		return false // goes on, whether or not it is found
	})
	i := slices.Index(fits, true)
	if i < 0 {
		if err := errors.Join(errs...); err != nil {
			return nil, err // the search wasn't complete
		}
		return nil, ErrUnknown
	}
	o := &Opening{record: *records[i]}
	o.record.Evidence = nil
	p, err := g.points(&o.record)
	if err != nil {
		return nil, err
	}
	s, err := k.token(g, records[i])
	if err != nil {
		return nil, err
	}
	defer s.wipe()
	token := s.token()
	defer token.Wipe()
	items, pairs := g.statement(t, &p, context)
	proof, err := sigma.ProveHom(g.dst("open"), items, pairs, token)
	if err != nil {
		return nil, err
	}
	o.proof = *proof
	msg, err := g.openMessage(t, o, context)
	if err != nil {
		return nil, err
	}
	o.sig = k.Sign(msg)
	return o, nil
}

// VerifyOpening checks an opening of a signature that the caller has verified: the
// registered point isn't zero, the proof ties it to the signature, the opener has
// signed both, and the member's long-term key has signed the point for this group.
func (g *Group) VerifyOpening(t *Target, o *Opening, key ed25519.PublicKey, context []byte) error {
	if o == nil {
		return errOpening
	}
	p, err := g.points(&o.record)
	if err != nil {
		return err
	}
	items, pairs := g.statement(t, &p, context)
	if sigma.VerifyHomVarTime(g.dst("open"), items, pairs, &o.proof) != nil {
		return errOpening
	}
	msg, err := g.openMessage(t, o, context)
	if err != nil {
		return err
	}
	if !ed25519.Verify(g.Opener, msg, o.sig) {
		return errors.New("the opening isn't signed by the opener")
	}
	if o.record.Scheme != g.Scheme || o.record.GroupID != g.ID {
		return errors.New("the registration is for another group")
	}
	return o.record.Verify(key)
}

// List makes a list of the tokens of all revoked members in the register. Each is
// compared with its registration point again.
func (k *Key) List(g *Group, register *join.Register, terms Terms) (*List, error) {
	var listed []*bls12381.G2
	seen := make(map[string]bool) // a token that is there twice mustn't stop the list
	for r := range register.Revoked() {
		s, err := k.token(g, r)
		if err != nil {
			return nil, err
		}
		token := s.token() // which is published
		p, err := g.points(r)
		if err != nil {
			return nil, err
		}
		if !g.belongs(token, &p) {
			return nil, fmt.Errorf("the register's token of %q is wrong", r.Member)
		}
		if b := string(token.Bytes()); !seen[b] {
			seen[b] = true
			listed = append(listed, token)
		}
	}
	return g.sign(terms, listed, k.sign)
}

// MarkListed marks in an issuer's register those revoked members whose tokens a list
// has: e(T, Q) = e(P1, token). It returns their number.
func (g *Group) MarkListed(register *join.Register, l *List, now int64) (int, error) {
	if l == nil {
		return 0, errors.New("no list")
	}
	if err := l.Fresh(g, now, 0); err != nil {
		return 0, err
	}
	// With one base for all, e(P1, token) is computed once for each token.
	var known map[[32]byte]bool
	if g.Points == nil {
		known = make(map[[32]byte]bool)
		for _, token := range l.tokens {
			known[digest(bls12381.PairWith(bls12381.G1Generator(), token))] = true
		}
	}
	return register.Listed(func(r *join.Record) bool {
		p, err := g.points(r)
		if err != nil {
			return false
		}
		own := bls12381.PairWith(&p.Multiple, g.Q)
		if g.Points == nil {
			return known[digest(own)]
		}
		return l.Check(&Target{A: &p.Base, Pairs: []bls12381.Pair{own}}) != nil
	}), nil
}

// digest names the value of a pairing.
func digest(p bls12381.Pair) [32]byte {
	return sha256.Sum256(new(bls12381.GT).PairingProductVarTime(p).Bytes())
}
