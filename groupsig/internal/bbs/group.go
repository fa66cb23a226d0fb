// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package bbs

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"sync"

	"github.com/undersign/undersign/groupsig/internal/join"
	"github.com/undersign/undersign/groupsig/internal/sigma"
	"github.com/undersign/undersign/internal/bls12381"
	"github.com/undersign/undersign/internal/transcript"
	"github.com/undersign/undersign/internal/wire"
)

const (
	version = 1
	suite   = 1

	maxName = 32
)

// A Draft is a group key before its roles have agreed to it: a label, from which the
// generators are derived, the features, and the public keys of the roles. A role
// agrees by a proof that it has its secret, made for the ID of exactly this group.
type Draft struct {
	Scheme    string
	Label     string
	Features  Features
	Issuer    []byte // ipk = isk·P2
	Opener    []byte // opk_j = z_j·g, then zt·P2 with tokens; empty without Escrow
	Converter []byte // cpk = csk·g; empty without Convert

	// Consents of issuer, opener and converter, empty where there is none.
	Consents [3][]byte
}

// roles, as indices of Draft.Consents.
const (
	issuerRole = iota
	openerRole
	converterRole
)

var roleNames = [3]string{"issuer", "opener", "converter"}

// ID returns the group's ID, which is everything but the consents.
func (d *Draft) ID() [sha256.Size]byte {
	return new(transcript.Items).
		Bytes("undersign/groupsig/v1/gid", nil).
		Bytes("scheme", []byte(d.Scheme)).
		Bytes("label", []byte(d.Label)).
		Uint64("features", uint64(d.Features)).
		Bytes("issuer", d.Issuer).
		Bytes("opener", d.Opener).
		Bytes("converter", d.Converter).
		Sum()
}

// MarshalBinary returns the canonical encoding, of a draft that some roles or all
// have agreed to.
func (d *Draft) MarshalBinary() ([]byte, error) {
	if err := join.CheckScheme(d.Scheme); err != nil {
		return nil, err
	}
	if err := join.CheckLabel(d.Label); err != nil {
		return nil, fmt.Errorf("groupsig: %w", err)
	}
	var e wire.Encoder
	e.U8(version)
	e.U8(suite)
	e.Bytes([]byte(d.Scheme))
	e.Bytes([]byte(d.Label))
	e.U16(uint16(d.Features))
	e.Bytes(d.Issuer)
	e.Bytes(d.Opener)
	e.Bytes(d.Converter)
	for _, c := range d.Consents {
		e.Bytes(c)
	}
	return e.Data(), nil
}

// UnmarshalBinary decodes a draft. It checks nothing but the form.
func (d *Draft) UnmarshalBinary(data []byte) error {
	r := wire.NewDecoder(data)
	r.Header(version, suite)
	var q Draft
	q.Scheme = string(r.Bytes("scheme", maxName))
	q.Label = string(r.Bytes("label", join.MaxLabel))
	q.Features = Features(r.U16("features"))
	q.Issuer = r.Bytes("issuer", bls12381.G2Size)
	q.Opener = r.Bytes("opener", 2*bls12381.G1Size+bls12381.G2Size)
	q.Converter = r.Bytes("converter", bls12381.G1Size)
	for i := range q.Consents {
		q.Consents[i] = r.Bytes(roleNames[i]+"'s consent", sigma.Size(3))
	}
	if err := join.CheckScheme(q.Scheme); err != nil {
		r.Fail("scheme", "%v", err)
	}
	if err := join.CheckLabel(q.Label); err != nil {
		r.Fail("label", "%v", err)
	}
	if err := r.Finish(); err != nil {
		return fmt.Errorf("groupsig: group key: %w", err)
	}
	*d = q
	return nil
}

// A base is a generator with what makes its multiplication fast.
type base struct {
	p     bls12381.G1
	table *bls12381.G1Table
	comb  func() *bls12381.G1Comb
}

func newBase(p *bls12381.G1) *base {
	bls12381.NormalizeG1(p)
	b := &base{p: *p, table: bls12381.NewG1TableVarTime(p)}
	b.comb = sync.OnceValue(func() *bls12381.G1Comb { return bls12381.NewG1Comb(&b.p) })
	return b
}

func (b *base) neg() *base { return newBase(new(bls12381.G1).Neg(&b.p)) }

// term returns the summand of the secret w.
func (b *base) term(w int) sigma.Term { return sigma.Term{W: w, P: &b.p, Table: b.table} }

// A GroupKey is a public key to which all its roles have agreed. It may be used by
// several goroutines.
type GroupKey struct {
	draft Draft
	id    [sha256.Size]byte
	l     layout

	g1, h1, h2, h3, g, h, hc *base // see generator
	negH1, negH2             *base
	opk                      []*base
	cpk                      *base
	ipk                      bls12381.G2
	tpk                      bls12381.G2 // zt·P2

	linesIPK, linesP2 *bls12381.Lines

	mu     sync.Mutex
	scopes map[[32]byte]*base // hs, by SHA-256 of the scope
	epochs map[uint64]*base   // g1 + epoch·h3
}

var errEmpty = errors.New("groupsig: empty group key")

// maxCached bounds each of a group key's caches.
const maxCached = 64

// NewGroupKey checks a draft and the consents of all its roles.
func NewGroupKey(d *Draft) (*GroupKey, error) {
	k := &GroupKey{draft: *d, id: d.ID(), l: d.Features.layout(), scopes: map[[32]byte]*base{}, epochs: map[uint64]*base{}}
	if err := k.decode(); err != nil {
		return nil, fmt.Errorf("groupsig: group key: %w", err)
	}
	for role := range d.Consents {
		if err := k.checkConsent(role); err != nil {
			return nil, fmt.Errorf("groupsig: group key: %s: %w", roleNames[role], err)
		}
	}
	k.linesIPK = bls12381.NewLinesVarTime(&k.ipk)
	k.linesP2 = bls12381.NewLinesVarTime(bls12381.G2Generator())
	return k, nil
}

// decode reads the roles' keys and derives the generators.
func (k *GroupKey) decode() error {
	d := &k.draft
	if err := join.CheckScheme(d.Scheme); err != nil {
		return err
	}
	if err := join.CheckLabel(d.Label); err != nil {
		return err
	}
	if err := d.Features.check(); err != nil {
		return err
	}
	if err := k.ipk.SetBytes(d.Issuer); err != nil {
		return fmt.Errorf("issuer: %w", err)
	}
	gen := func(name string) *base { return newBase(generator(d, name)) }
	k.g1, k.h1, k.h2, k.h3, k.g, k.h, k.hc = gen("g1"), gen("h1"), gen("h2"), gen("h3"), gen("g"), gen("h"), gen("hc")
	k.negH1, k.negH2 = k.h1.neg(), k.h2.neg()

	b := d.Opener
	want := d.Features.openers() * bls12381.G1Size
	if d.Features.Has(Token) {
		want += bls12381.G2Size
	}
	if len(b) != want {
		return fmt.Errorf("opener: key of %d bytes, want %d", len(b), want)
	}
	for range d.Features.openers() {
		p := new(bls12381.G1)
		if err := p.SetBytes(b[:bls12381.G1Size]); err != nil {
			return fmt.Errorf("opener: %w", err)
		}
		k.opk = append(k.opk, newBase(p))
		b = b[bls12381.G1Size:]
	}
	if len(k.opk) == 2 && k.opk[0].p.Equal(&k.opk[1].p) {
		return errors.New("opener: both keys are the same")
	}
	if d.Features.Has(Token) {
		if err := k.tpk.SetBytes(b); err != nil {
			return fmt.Errorf("opener: %w", err)
		}
	}
	if d.Features.Has(Convert) {
		p := new(bls12381.G1)
		if err := p.SetBytes(d.Converter); err != nil {
			return fmt.Errorf("converter: %w", err)
		}
		for _, o := range k.opk {
			if o.p.Equal(p) {
				return errors.New("converter: has the opener's key")
			}
		}
		k.cpk = newBase(p)
	} else if len(d.Converter) != 0 {
		return errors.New("converter: a key without the feature")
	}
	return nil
}

// consent returns what a role proves, or nil if the group doesn't have it.
func (k *GroupKey) consent(role int) *sigma.Statement {
	f := k.draft.Features
	switch {
	case role == issuerRole:
		return sigma.DlogG2(bls12381.G2Generator(), &k.ipk)
	case role == openerRole && f.Has(Escrow):
		st := &sigma.Statement{Secrets: len(k.opk)}
		for i, o := range k.opk {
			st.G1 = append(st.G1, sigma.Relation{Y: &o.p, Terms: []sigma.Term{k.g.term(i)}})
		}
		if f.Has(Token) {
			st.G2 = []sigma.RelationG2{{Y: &k.tpk, Terms: []sigma.TermG2{{W: st.Secrets, P: bls12381.G2Generator()}}}}
			st.Secrets++
		}
		return st
	case role == converterRole && f.Has(Convert):
		return sigma.Dlog(&k.g.p, &k.cpk.p)
	}
	return nil
}

func (k *GroupKey) checkConsent(role int) error {
	st, b := k.consent(role), k.draft.Consents[role]
	if st == nil {
		if len(b) != 0 {
			return errors.New("the group has no such role")
		}
		return nil
	}
	if err := st.VerifyBytesVarTime(k.dst("pop"), k.context("pop/"+roleNames[role]), b); err != nil {
		return errors.New("the proof of possession is wrong")
	}
	return nil
}

// agree makes a role's consent to a draft.
func agree(d *Draft, role int, secrets []bls12381.Scalar) ([]byte, error) {
	k := &GroupKey{draft: *d, id: d.ID(), l: d.Features.layout()}
	if err := k.decode(); err != nil {
		return nil, fmt.Errorf("groupsig: group key: %w", err)
	}
	st := k.consent(role)
	if st == nil {
		return nil, errors.New("groupsig: the group has no such role")
	}
	return st.ProveBytes(k.dst("pop"), k.context("pop/"+roleNames[role]), secrets)
}

// empty reports whether k is nil, or not made by NewGroupKey.
func (k *GroupKey) empty() bool { return k == nil || k.linesP2 == nil }

// orEmpty returns k, or an empty key for nil: what is read of it is zero.
func (k *GroupKey) orEmpty() *GroupKey {
	if k == nil {
		return new(GroupKey)
	}
	return k
}

// dst returns the domain separation tag of an operation.
func (k *GroupKey) dst(op string) []byte { return transcript.DST(k.draft.Scheme, op) }

// context returns the items that every challenge starts with: gid, ver and the
// operation. Keys of these schemes don't move, so that ver is empty.
func (k *GroupKey) context(op string) *transcript.Items {
	return new(transcript.Items).Bytes("gid", k.id[:]).Bytes("ver", nil).Bytes("operation", []byte(op))
}

// ID returns the group's ID, its fingerprint.
func (k *GroupKey) ID() [sha256.Size]byte { return k.orEmpty().id }

// Label returns the group's label.
func (k *GroupKey) Label() string { return k.orEmpty().draft.Label }

// Scheme returns the scheme's name.
func (k *GroupKey) Scheme() string { return k.orEmpty().draft.Scheme }

// Features returns the group's features.
func (k *GroupKey) Features() Features { return k.orEmpty().draft.Features }

// MarshalBinary returns the canonical encoding.
func (k *GroupKey) MarshalBinary() ([]byte, error) {
	if k.empty() {
		return nil, errEmpty
	}
	return k.draft.MarshalBinary()
}

// ParseGroupKey decodes a group key and checks it: generators are derived anew, and all roles have agreed.
func ParseGroupKey(data []byte) (*GroupKey, error) {
	var d Draft
	if err := d.UnmarshalBinary(data); err != nil {
		return nil, err
	}
	return NewGroupKey(&d)
}

// Equal reports whether x is the same group.
func (k *GroupKey) Equal(x *GroupKey) bool { return !k.empty() && !x.empty() && k.id == x.id }

// scope returns hs, the base of the pseudonyms of a scope in this group.
func (k *GroupKey) scope(scope []byte) *base {
	key := sha256.Sum256(scope)
	k.mu.Lock()
	defer k.mu.Unlock()
	b, ok := k.scopes[key]
	if !ok {
		b = newBase(new(transcript.Items).Bytes("gid", k.id[:]).Bytes("scope", scope).HashToG1(k.dst("h2c/scope")))
		if len(k.scopes) >= maxCached {
			clear(k.scopes)
		}
		k.scopes[key] = b
	}
	return b
}

// epochBase returns g1 + epoch·h3, or g1 without epochs.
func (k *GroupKey) epochBase(epoch uint64) *base {
	if !k.draft.Features.Has(Epoch) {
		return k.g1
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	b, ok := k.epochs[epoch]
	if !ok {
		p := new(bls12381.G1).ScalarMultVarTime(new(bls12381.Scalar).SetUint64(epoch), &k.h3.p)
		b = newBase(p.Add(p, &k.g1.p))
		if len(k.epochs) >= maxCached {
			clear(k.epochs)
		}
		k.epochs[epoch] = b
	}
	return b
}

// Check refuses a draft that isn't of a scheme, which has some features and may have
// others.
func (d *Draft) Check(scheme string, required, optional Features) error {
	switch {
	case d.Scheme != scheme:
		return fmt.Errorf("groupsig: the group is of the scheme %q, not %q", d.Scheme, scheme)
	case join.CheckLabel(d.Label) != nil:
		return fmt.Errorf("groupsig: %w", join.CheckLabel(d.Label))
	case !d.Features.Has(required) || d.Features&^(required|optional) != 0:
		return fmt.Errorf("groupsig: features %#x don't belong to the scheme %q", uint16(d.Features), scheme)
	}
	if err := d.Features.check(); err != nil {
		return fmt.Errorf("groupsig: %w", err)
	}
	return nil
}
