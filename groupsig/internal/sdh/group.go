// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package sdh

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
	suite   = 1 // BLS12-381, SHA-256, SHAKE256, Ed25519

	maxName = 32
	maxRole = 4 * bls12381.G1Size
)

// A Draft is a group key to which not all roles have agreed yet.
type Draft struct {
	Scheme *Scheme
	Label  string
	Issuer []byte // w = γ·P2
	Opener []byte // the role's constants, in the order of the table
	Linker []byte // the same; empty without

	// Consents of issuer, opener and linker, empty where there is none.
	Consents [3][]byte
}

const (
	issuerRole = iota
	openerRole
	linkerRole
)

var roleNames = [3]string{"issuer", "opener", "linker"}

// ID returns the group's ID with the keys that are in the draft.
func (d *Draft) ID() [sha256.Size]byte {
	if d.Scheme == nil {
		return [sha256.Size]byte{}
	}
	return new(transcript.Items).
		Bytes("undersign/groupsig/v1/gid", nil).
		Bytes("scheme", []byte(d.Scheme.Name)).
		Bytes("label", []byte(d.Label)).
		Uint64("features", d.Scheme.flags()).
		Bytes("issuer", d.Issuer).
		Bytes("opener", d.Opener).
		Bytes("linker", d.Linker).
		Sum()
}

// MarshalBinary returns the canonical encoding.
func (d *Draft) MarshalBinary() ([]byte, error) {
	if d.Scheme == nil {
		return nil, errEmpty
	}
	if err := join.CheckLabel(d.Label); err != nil {
		return nil, fmt.Errorf("groupsig: %w", err)
	}
	var e wire.Encoder
	e.U8(version)
	e.U8(suite)
	e.Bytes([]byte(d.Scheme.Name))
	e.Bytes([]byte(d.Label))
	e.U64(d.Scheme.flags())
	e.Bytes(d.Issuer)
	e.Bytes(d.Opener)
	e.Bytes(d.Linker)
	for _, c := range d.Consents {
		e.Bytes(c)
	}
	return e.Data(), nil
}

// ParseDraft decodes a draft of a scheme, of which it checks the form only.
func ParseDraft(s *Scheme, data []byte) (*Draft, error) {
	r := wire.NewDecoder(data)
	r.Header(version, suite)
	d := &Draft{Scheme: s}
	if name := r.Bytes("scheme", maxName); r.Err() == nil && string(name) != s.Name {
		r.Fail("scheme", "%q, not %s", name, s.Name)
	}
	d.Label = string(r.Bytes("label", join.MaxLabel))
	if flags := r.U64("features"); r.Err() == nil {
		if d.Scheme = s.withFlags(flags); d.Scheme == nil {
			r.Fail("features", "%#x", flags)
			d.Scheme = s
		}
	}
	d.Issuer = r.Bytes("issuer", bls12381.G2Size)
	d.Opener = r.Bytes("opener", maxRole)
	d.Linker = r.Bytes("linker", maxRole)
	for i := range d.Consents {
		d.Consents[i] = r.Bytes(roleNames[i]+"'s consent", sigma.Size(4))
	}
	if err := join.CheckLabel(d.Label); err != nil {
		r.Fail("label", "%v", err)
	}
	if err := r.Finish(); err != nil {
		return nil, fmt.Errorf("groupsig: group key: %w", err)
	}
	return d, nil
}

// A base is a constant of G1, with what multiplies it fast.
type base struct {
	p     bls12381.G1
	table *bls12381.G1Table
	comb  func() *bls12381.G1Comb
	neg   func() *base
	// e(p, P2) and e(p, w), for signers.
	combP2, combW func() *bls12381.GTComb
}

func (k *GroupKey) newBase(p *bls12381.G1) *base {
	bls12381.NormalizeG1(p)
	b := &base{p: *p, table: bls12381.NewG1TableVarTime(p)}
	b.neg = sync.OnceValue(func() *base { return k.newBase(new(bls12381.G1).Neg(&b.p)) })
	b.comb = sync.OnceValue(func() *bls12381.G1Comb { return bls12381.NewG1Comb(&b.p) })
	k.pair(b)
	return b
}

// pair has b's combs in GT made with the key's points of G2.
func (k *GroupKey) pair(b *base) {
	combWith := func(lines **bls12381.Lines) func() *bls12381.GTComb {
		return sync.OnceValue(func() *bls12381.GTComb {
			return bls12381.NewGTComb(new(bls12381.GT).PairingProductVarTime(bls12381.PairWith(&b.p, *lines)))
		})
	}
	b.combP2, b.combW = combWith(&k.linesP2), combWith(&k.linesW)
}

// A GroupKey is what verifies signatures of a group. It is immutable, and may be used by
// several goroutines.
type GroupKey struct {
	draft  Draft
	s      *Scheme
	id     [sha256.Size]byte
	consts []*base
	g2, w  bls12381.G2 // P2 and γ·P2, of the current version

	linesP2, linesW *bls12381.Lines // of g2 and w

	// Where keys move: the first version, nil in itself, the number of this one, and what
	// transcripts absorb of it.
	root    *GroupKey
	version uint64
	ver     []byte
	index   index // of later versions
}

var errEmpty = errors.New("groupsig: empty group key")

// NewGroupKey makes the key of a draft to which all roles have agreed, and checks that
// they did.
func NewGroupKey(d *Draft) (*GroupKey, error) {
	k, err := decode(d)
	if err != nil {
		return nil, fmt.Errorf("groupsig: group key: %w", err)
	}
	for role := range d.Consents {
		if err := k.checkConsent(role); err != nil {
			return nil, fmt.Errorf("groupsig: group key: %s: %w", roleNames[role], err)
		}
	}
	k.lines()
	return k, nil
}

func (k *GroupKey) lines() {
	k.linesW = bls12381.NewLinesVarTime(&k.w)
	k.linesP2 = bls12381.NewLinesVarTime(&k.g2)
}

// decode computes the constants, and decodes what roles have made. No role's constant
// is the identity, and no two constants are the same.
func decode(d *Draft) (*GroupKey, error) {
	if d == nil || d.Scheme == nil {
		return nil, errEmpty
	}
	if err := join.CheckLabel(d.Label); err != nil {
		return nil, err
	}
	k := &GroupKey{draft: *d, s: d.Scheme, id: d.ID()}
	k.g2.SetGenerator()
	if err := k.w.SetBytes(d.Issuer); err != nil {
		return nil, fmt.Errorf("issuer: %w", err)
	}
	keys := [3][]byte{openerRole: d.Opener, linkerRole: d.Linker}
	seen := make(map[string]bool)
	for i, c := range d.Scheme.Consts {
		var p *bls12381.G1
		switch c.From {
		case OfGroup, OfLabel:
			p = k.generator(i)
		default:
			role := openerRole
			if c.From == OfLinker {
				role = linkerRole
			}
			p = new(bls12381.G1)
			b := keys[role]
			if len(b) < bls12381.G1Size {
				return nil, fmt.Errorf("%s: the key is too short", roleNames[role])
			}
			if err := p.SetBytes(b[:bls12381.G1Size]); err != nil {
				return nil, fmt.Errorf("%s: %w", roleNames[role], err)
			}
			keys[role] = b[bls12381.G1Size:]
		}
		bls12381.NormalizeG1(p)
		if enc := string(p.Bytes()); seen[enc] {
			return nil, fmt.Errorf("%s is another constant too", c.Name)
		} else {
			seen[enc] = true
		}
		k.consts = append(k.consts, k.newBase(p))
	}
	for role, b := range keys {
		if len(b) > 0 {
			return nil, fmt.Errorf("%s: the key is too long", roleNames[role])
		}
	}
	k.setVersion(0)
	return k, nil
}

// generator derives constant i of the group or its label.
func (k *GroupKey) generator(i int) *bls12381.G1 {
	c := k.s.Consts[i]
	items := new(transcript.Items).Bytes("label", []byte(k.draft.Label)).Bytes("name", []byte(c.Name))
	if c.From == OfGroup {
		items.Bytes("gid", k.id[:])
	}
	return items.HashToG1(k.dst("h2c/gen"))
}

// secrets are the keys of a role.
func (s *Scheme) secrets(role int) Role {
	switch role {
	case openerRole:
		return s.Opener
	case linkerRole:
		return s.Linker
	}
	return nil
}

// consent is the statement that a role proves with its consent, or nil.
func (k *GroupKey) consent(role int) *sigma.Statement {
	if role == issuerRole {
		return sigma.DlogG2(bls12381.G2Generator(), &k.w)
	}
	keys := k.s.secrets(role)
	if len(keys) == 0 {
		return nil
	}
	return &sigma.Statement{Secrets: len(keys), G1: k.roleRelations(keys)}
}

// roleRelations says how a role's constants depend on its secrets.
func (k *GroupKey) roleRelations(keys Role) []sigma.Relation {
	list := make([]sigma.Relation, len(keys))
	for i, key := range keys {
		y, of := k.consts[key.Const], k.consts[key.Base]
		if key.Inverse {
			y, of = of, y
		}
		list[i] = sigma.Relation{Y: &y.p, Terms: []sigma.Term{{W: i, P: &of.p, Table: of.table}}}
	}
	return list
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

// agree returns a role's consent to a draft.
func agree(d *Draft, role int, secrets []bls12381.Scalar) ([]byte, error) {
	k, err := decode(d)
	if err != nil {
		return nil, fmt.Errorf("groupsig: group key: %w", err)
	}
	st := k.consent(role)
	if st == nil {
		return nil, errors.New("groupsig: the group has no such role")
	}
	return st.ProveBytes(k.dst("pop"), k.context("pop/"+roleNames[role]), secrets)
}

func (k *GroupKey) empty() bool { return k == nil || k.linesP2 == nil }

func (k *GroupKey) dst(op string) []byte { return transcript.DST(k.s.Name, op) }

// context is what every proof absorbs first.
func (k *GroupKey) context(op string) *transcript.Items {
	return new(transcript.Items).Bytes("gid", k.id[:]).Bytes("ver", k.ver).Bytes("operation", []byte(op))
}

// ID returns the group's ID, its fingerprint.
func (k *GroupKey) ID() (id [sha256.Size]byte) {
	if k == nil {
		return id
	}
	return k.id
}

// Label returns the group's label.
func (k *GroupKey) Label() string {
	if k == nil {
		return ""
	}
	return k.draft.Label
}

// MarshalBinary returns the canonical encoding, of the first version.
func (k *GroupKey) MarshalBinary() ([]byte, error) {
	if k.empty() {
		return nil, errEmpty
	}
	return k.draft.MarshalBinary()
}

// ParseGroupKey decodes a group key of a scheme and checks it: constants are derived
// again, and every role's proof of possession is verified. The caller compares the ID
// with the published one.
func ParseGroupKey(s *Scheme, data []byte) (*GroupKey, error) {
	d, err := ParseDraft(s, data)
	if err != nil {
		return nil, err
	}
	return NewGroupKey(d)
}

// Equal reports whether x is the same group's key, of the same version.
func (k *GroupKey) Equal(x *GroupKey) bool {
	return !k.empty() && !x.empty() && k.id == x.id && string(k.ver) == string(x.ver)
}

// Static reports whether the issuer makes members' whole keys.
func (k *GroupKey) Static() bool { return !k.empty() && k.s.Static }

// Variant reports whether the group is of its scheme's variant.
func (k *GroupKey) Variant() bool { return !k.empty() && k.s.flags() != 0 }

// Moves reports whether members are revoked by moving the key.
func (k *GroupKey) Moves() bool { return !k.empty() && len(k.s.Moves) > 0 }

func (k *GroupKey) name() string {
	if k.empty() {
		return ""
	}
	return k.s.Name
}

// SignatureSize is the length of a signature.
func (k *GroupKey) SignatureSize() int {
	if k.empty() {
		return 0
	}
	return k.s.SignatureSize()
}

// NewSessions returns an empty table for the group's issuer.
func (k *GroupKey) NewSessions() *join.Sessions { return join.NewSessions(k.name(), k.ID()) }

// NewRegister returns an empty register for the group's issuer or opener: records are
// found by A.
func (k *GroupKey) NewRegister() *join.Register {
	return join.NewRegisterBy(k.name(), k.ID(), func(r *join.Record) []byte {
		if len(r.Evidence) < bls12381.G1Size {
			return nil
		}
		return r.Evidence[:bls12381.G1Size]
	})
}
