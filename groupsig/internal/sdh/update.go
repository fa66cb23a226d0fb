// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package sdh

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"sync"

	"github.com/undersign/undersign/groupsig/internal/join"
	"github.com/undersign/undersign/groupsig/internal/sigma"
	"github.com/undersign/undersign/groupsig/internal/state"
	"github.com/undersign/undersign/internal/bls12381"
	"github.com/undersign/undersign/internal/transcript"
)

// An Update says, signed by the issuer, how the group's key has moved: by which steps, each
// of which revokes a member (Boneh, Boyen and Shacham 2004, section 7). It is immutable.
//
// The step that revokes x* divides the constants B_j that credentials are made of, g1
// among them, and g2, which is P2 at first, by γ+x*:
//
//	B_j' = B_j/(γ+x*), g2' = g2/(γ+x*), w' = γ·g2' = g2 - x*·g2'
//
// The issuer publishes x*, the B_j' and g2'; w' is computed. Everybody checks
//
//	e(B_j', w + x*·g2) = e(B_j, g2) for all j, e(g1', g2) = e(g1, g2')
//
// of which the first kind says what the divisor is. The last alone would take any multiples,
// and so a key with another γ. A member with another x gets A' = A/(γ+x*) from what is
// published, since with B = g1 + Σ y_j·B_j and A = B/(γ+x)
//
//	(B' - A)/(x - x*) = B/(γ+x*) · ((γ+x) - (γ+x*))/((γ+x)(x-x*)) = A/(γ+x*)
//
// and who has x = x* divides by 0. A* itself isn't published, and old signatures stay
// anonymous. Credentials are issued in the first version, and members take all steps.
//
// By a step anybody can sign under the keys before it: g1' + y·h1', for any y, is a credential
// with x*, and in the static form A* is g1'. So a signature under a key that has been replaced
// is worth something only to who knows that it was there before. Nobody is framed by that:
// the credential of a member has that member's y, but in the static form.
type Update struct {
	state.State
	root  *GroupKey
	steps []step
	key   func() *GroupKey // of the last step
}

// A step is one of the key, after it: what has moved, g2 and w.
type step struct {
	x     bls12381.Scalar
	moved []bls12381.G1
	g2, w bls12381.G2
	ver   []byte
}

// MaxSteps is how many members can be revoked in the life of a group.
const MaxSteps = 1 << 10

const updateOp = "update"

var errNoUpdates = errors.New("groupsig: the group doesn't rekey")

// first returns the first version of the key.
func (k *GroupKey) first() *GroupKey {
	if k.root != nil {
		return k.root
	}
	return k
}

// Version returns the number of updates.
func (k *GroupKey) Version() uint64 {
	if k.empty() {
		return 0
	}
	return k.version
}

// versionOf is what transcripts absorb of a version: the number of steps, and a hash of what
// has moved.
func versionOf(n uint64, moved []bls12381.G1, g2, w *bls12381.G2) []byte {
	items := new(transcript.Items)
	for i := range moved {
		items.G1("B", &moved[i])
	}
	sum := items.G2("g2", g2).G2("w", w).Sum()
	return append(binary.BigEndian.AppendUint64(make([]byte, 0, 8+sha256.Size), n), sum[:]...)
}

// setVersion numbers the key, if it is one that moves.
func (k *GroupKey) setVersion(n uint64) {
	if len(k.s.Moves) > 0 {
		k.version, k.ver = n, versionOf(n, k.moving(), &k.g2, &k.w)
	}
}

// moving returns the constants that move.
func (k *GroupKey) moving() []bls12381.G1 {
	var list []bls12381.G1
	for _, i := range k.s.Moves {
		list = append(list, k.consts[i].p)
	}
	return list
}

// start returns the state of the first version, as a step.
func (k *GroupKey) start() *step {
	f := k.first()
	return &step{moved: f.moving(), g2: f.g2, w: f.w, ver: f.ver}
}

// after returns the key of a step.
func (k *GroupKey) after(n uint64, s *step) *GroupKey {
	f := k.first()
	z := &GroupKey{draft: f.draft, s: f.s, id: f.id, g2: s.g2, w: s.w, root: f, version: n, ver: s.ver}
	z.consts = make([]*base, len(f.consts))
	for i, b := range f.consts {
		c := &base{p: b.p, table: b.table, comb: b.comb}
		c.neg = sync.OnceValue(func() *base { return z.newBase(new(bls12381.G1).Neg(&c.p)) })
		z.pair(c)
		z.consts[i] = c
	}
	for j, i := range f.s.Moves {
		z.consts[i] = z.newBase(&s.moved[j])
	}
	z.lines()
	return z
}

// format returns how the issuer signs updates: by a proof of its secret that absorbs what
// it signs (Schnorr 1991).
func (k *GroupKey) format() *state.Format {
	f := k.first()
	dst := f.dst(updateOp)
	return &state.Format{
		What: "update", DST: dst, Group: f.id, SigSize: sigma.Size(1),
		Sections: []state.Section{{Name: "steps", Size: f.s.stepSize(), Max: MaxSteps}},
		Verify: func(msg, sig []byte) error {
			if f.consent(issuerRole).VerifyBytesVarTime(dst, f.context(updateOp).Bytes("state", msg), sig) != nil {
				return errors.New("wrong signature")
			}
			return nil
		},
	}
}

// stepSize is the length of a step: its number, x*, the B_j' and g2'.
func (s *Scheme) stepSize() int {
	return 8 + bls12381.ScalarSize + len(s.Moves)*bls12381.G1Size + bls12381.G2Size
}

func (s *step) append(n uint64) []byte {
	b := s.x.Append(binary.BigEndian.AppendUint64(nil, n))
	for i := range s.moved {
		b = s.moved[i].Append(b)
	}
	return s.g2.Append(b)
}

// readStep decodes the step after another, and checks it.
func (k *GroupKey) readStep(n uint64, last *step, b []byte) (*step, error) {
	if binary.BigEndian.Uint64(b) != n {
		return nil, fmt.Errorf("it has the number %d", binary.BigEndian.Uint64(b))
	}
	b = b[8:]
	s := new(step)
	if err := s.x.SetBytesNonZero(b[:bls12381.ScalarSize]); err != nil {
		return nil, err
	}
	b = b[bls12381.ScalarSize:]
	s.moved = make([]bls12381.G1, len(last.moved))
	for i := range s.moved {
		if err := s.moved[i].SetBytes(b[:bls12381.G1Size]); err != nil {
			return nil, err
		}
		b = b[bls12381.G1Size:]
	}
	if err := s.g2.SetBytes(b); err != nil {
		return nil, err
	}
	if err := s.follows(last); err != nil {
		return nil, err
	}
	s.finish(n, last)
	return s, nil
}

// follows checks the equations of a step after another: all at once, with random weights,
//
//	e(Σ ρ_j·B_j', w + x*·g2) · e(σ·g1' - Σ ρ_j·B_j, g2) · e(-σ·g1, g2') = 1
//
// and then one by one, if they don't hold, to say which it is.
func (s *step) follows(last *step) error {
	var divisor bls12381.G2 // (γ+x*)·g2
	divisor.ScalarMultVarTime(&s.x, &last.g2)
	divisor.Add(&divisor, &last.w)
	bls12381.NormalizeG2(&divisor)
	if divisor.IsIdentity() {
		return errors.New("the divisor is zero")
	}
	h := sha256.New()
	h.Write(last.ver)
	h.Write(s.append(0))
	weights := transcript.NewWeights([sha256.Size]byte(h.Sum(nil)))
	var rho bls12381.Scalar
	var first, second, third, p bls12381.G1
	for i := range s.moved {
		weights.Next(&rho)
		first.Add(&first, p.ScalarMultVarTime(&rho, &s.moved[i]))
		second.Sub(&second, p.ScalarMultVarTime(&rho, &last.moved[i]))
	}
	weights.Next(&rho)
	second.Add(&second, p.ScalarMultVarTime(&rho, &s.moved[0]))
	third.Neg(p.ScalarMultVarTime(&rho, &last.moved[0]))
	bls12381.NormalizeG1(&first, &second, &third)
	if bls12381.PairingCheckVarTime(bls12381.PairOf(&first, &divisor), bls12381.PairOf(&second, &last.g2), bls12381.PairOf(&third, &s.g2)) {
		return nil
	}

	var minus bls12381.G1
	for i := range s.moved {
		minus.Neg(&last.moved[i])
		if !bls12381.PairingCheckVarTime(bls12381.PairOf(&s.moved[i], &divisor), bls12381.PairOf(&minus, &last.g2)) {
			return fmt.Errorf("constant %d isn't the one before, divided", i)
		}
	}
	minus.Neg(&last.moved[0])
	if !bls12381.PairingCheckVarTime(bls12381.PairOf(&s.moved[0], &last.g2), bls12381.PairOf(&minus, &s.g2)) {
		return errors.New("the point of G2 isn't the one before, divided")
	}
	return errors.New("it isn't the one before, divided")
}

// finish computes w' and the version.
func (s *step) finish(n uint64, last *step) {
	s.w.ScalarMultVarTime(&s.x, &s.g2)
	s.w.Sub(&last.g2, &s.w)
	bls12381.NormalizeG2(&s.w)
	s.ver = versionOf(n, s.moved, &s.g2, &s.w)
}

// ParseUpdate decodes an update, and checks the issuer's signature and every step. Whether
// it is in force is checked by each verification.
func (k *GroupKey) ParseUpdate(data []byte) (*Update, error) {
	if k.empty() {
		return nil, errEmpty
	}
	if !k.Moves() {
		return nil, errNoUpdates
	}
	s, err := k.format().Parse(data)
	if err != nil {
		return nil, fmt.Errorf("groupsig: %w", err)
	}
	return k.newUpdate(s)
}

func (k *GroupKey) newUpdate(s *state.State) (*Update, error) {
	u := &Update{State: *s, root: k.first()}
	last := k.start()
	seen := make(map[string]bool)
	for i, b := range s.Entries(0) {
		next, err := k.readStep(uint64(i+1), last, b)
		if err == nil && seen[string(next.x.Bytes())] {
			err = errors.New("it revokes whom another has revoked")
		}
		if err != nil {
			return nil, fmt.Errorf("groupsig: update: step %d: %w", i+1, err)
		}
		seen[string(next.x.Bytes())] = true
		u.steps = append(u.steps, *next)
		last = next
	}
	u.key = sync.OnceValue(func() *GroupKey { return u.at(len(u.steps)) })
	return u, nil
}

func (u *Update) empty() bool { return u == nil || u.root == nil }

var errNoUpdate = &state.StaleError{What: "update", Reason: "it is empty"}

// at returns the key after n steps.
func (u *Update) at(n int) *GroupKey {
	if n == 0 {
		return u.root
	}
	return u.root.after(uint64(n), &u.steps[n-1])
}

// Len returns how many members are revoked.
func (u *Update) Len() int {
	if u == nil {
		return 0
	}
	return len(u.steps)
}

// Key returns the current key, or nil.
func (u *Update) Key() *GroupKey {
	if u.empty() {
		return nil
	}
	return u.key()
}

// KeyAt returns the key after a number of steps, for what is known to have been signed then:
// later steps let anybody sign under it.
func (u *Update) KeyAt(version uint64) (*GroupKey, error) {
	if u.empty() || version > uint64(len(u.steps)) {
		return nil, fmt.Errorf("groupsig: update: there is no version %d", version)
	}
	if version == uint64(len(u.steps)) {
		return u.key(), nil
	}
	return u.at(int(version)), nil
}

// of refuses an update of another group.
func (u *Update) of(k *GroupKey) error {
	if u.empty() {
		return errNoUpdate
	}
	if u.root.id != k.id {
		return &state.StaleError{What: "update", Reason: "it is of another group"}
	}
	return nil
}

// Replaces is that of [state.State], and demands that the update goes on from the old one,
// which may be nil: under a key that has been replaced anybody can sign, and so an issuer
// that has lost steps would let everybody in.
func (u *Update) Replaces(old *Update) error {
	if u.empty() {
		return errNoUpdate
	}
	if old == nil {
		return u.State.Replaces(nil)
	}
	if err := u.State.Replaces(&old.State); err != nil {
		return err
	}
	for i, b := range old.Entries(0) {
		if next := u.Entries(0); i >= len(next) || !bytes.Equal(next[i], b) {
			return &state.StaleError{What: "update", Reason: fmt.Sprintf("it hasn't step %d of the one that there is", i+1)}
		}
	}
	return nil
}

// Fresh returns the current key, or a *[state.StaleError] unless the update is one of the
// group, in force now, and its number not lower than the highest that the verifier has seen.
func (k *GroupKey) Fresh(u *Update, now int64, minNumber uint64) (*GroupKey, error) {
	if k.empty() {
		return nil, errEmpty
	}
	if err := u.of(k); err != nil {
		return nil, err
	}
	if err := u.State.Fresh(k.id, now, minNumber); err != nil {
		return nil, err
	}
	return u.key(), nil
}

// KeyOf returns the key of the version that a signature is valid in, of those that an update
// has: it verifies it. Whether the update is in force plays no part.
func (k *GroupKey) KeyOf(u *Update, msg transcript.Message, context, raw []byte) (*GroupKey, error) {
	if k.empty() {
		return nil, errEmpty
	}
	if err := u.of(k); err != nil {
		return nil, err
	}
	if _, err := k.s.parse(raw); err != nil {
		return nil, err
	}
	for n := u.Len(); n >= 0; n-- {
		z, err := u.KeyAt(uint64(n))
		if err != nil {
			return nil, err
		}
		if z.Verify(msg, context, raw) == nil {
			return z, nil
		}
	}
	return nil, ErrSignature
}

// revokes reports whether a credential's x is revoked by a step from number n on.
func (u *Update) revokes(x *bls12381.Scalar, n int) bool {
	for i := n; i < len(u.steps); i++ {
		if x.Equal(&u.steps[i].x) {
			return true
		}
	}
	return false
}

// Update signs an update that revokes those who are revoked in the issuer's register,
// after those whom the update before, which may be nil, has revoked.
func (k *RoleKeys) Update(g *GroupKey, register *join.Register, terms state.Terms, base *Update) (*Update, error) {
	if err := k.as(issuerRole, g); err != nil {
		return nil, err
	}
	if !g.Moves() {
		return nil, errNoUpdates
	}
	g = g.first()
	last := g.start()
	entries := [][]byte{}
	if base != nil {
		if err := base.of(g); err != nil {
			return nil, err
		}
		if err := base.Follows(terms); err != nil {
			return nil, err
		}
		entries = append(entries, base.Entries(0)...)
		if n := len(base.steps); n > 0 {
			last = &base.steps[n-1]
		}
	}
	if register == nil {
		return nil, errors.New("groupsig: no register")
	}
	for r := range register.Revoked() {
		c, _, err := g.evidence(r)
		if err != nil {
			return nil, err
		}
		if base != nil && base.revokes(&c.x, 0) {
			continue
		}
		if len(entries) == MaxSteps {
			return nil, fmt.Errorf("groupsig: update: %d members are revoked, and there can be no more", MaxSteps)
		}
		n := uint64(len(entries) + 1)
		last = k.divide(n, last, &c.x)
		entries = append(entries, last.append(n))
	}
	s, err := g.format().Sign(terms, [][][]byte{entries}, func(msg []byte) ([]byte, error) {
		return g.consent(issuerRole).ProveBytes(g.dst(updateOp), g.context(updateOp).Bytes("state", msg), k.secrets)
	})
	if err != nil {
		return nil, fmt.Errorf("groupsig: %w", err)
	}
	return g.newUpdate(s)
}

// divide makes the step that revokes x.
func (k *RoleKeys) divide(n uint64, last *step, x *bls12381.Scalar) *step {
	s := &step{x: *x, moved: make([]bls12381.G1, len(last.moved))}
	var inv bls12381.Scalar
	inv.Inverse(inv.Add(&k.secrets[0], x))
	for i := range s.moved {
		s.moved[i].ScalarMult(&inv, &last.moved[i])
		bls12381.NormalizeG1(&s.moved[i])
	}
	s.g2.ScalarMult(&inv, &last.g2)
	bls12381.NormalizeG2(&s.g2)
	inv.Wipe()
	s.finish(n, last)
	return s
}

// MarkListed marks in the issuer's register those revoked members whom an update in force
// has revoked, and returns their number: they may join anew.
func (k *GroupKey) MarkListed(register *join.Register, u *Update, now int64) (int, error) {
	if _, err := k.Fresh(u, now, 0); err != nil {
		return 0, err
	}
	if register == nil {
		return 0, errors.New("groupsig: no register")
	}
	return register.Listed(func(r *join.Record) bool {
		c, _, err := k.evidence(r)
		return err == nil && u.revokes(&c.x, 0)
	}), nil
}

// Update takes the credential along to the update's version. The update is what is published
// for all: one that was made for one member is a way to trace it. If the member is revoked,
// the error is [state.ErrRevoked], and the key stays what it was.
func (m *MemberKey) Update(u *Update) error {
	if m.wiped() {
		return errWiped
	}
	if err := u.of(m.gk); err != nil {
		return err
	}
	from := int(m.gk.version)
	ver := m.gk.first().ver
	if from > 0 && from <= len(u.steps) {
		ver = u.steps[from-1].ver
	}
	if from > len(u.steps) || !bytes.Equal(ver, m.gk.ver) {
		return errors.New("groupsig: update: it doesn't go on from where the member's key is")
	}
	if u.revokes(&m.cred.x, from) {
		return state.ErrRevoked
	}
	if from == len(u.steps) {
		return nil
	}
	z := &MemberKey{gk: u.key(), member: m.member, cred: m.cred, y: append([]bls12381.Scalar(nil), m.y...), update: u}
	for i := from; i < len(u.steps); i++ {
		m.step(&z.cred.a, &u.steps[i])
		bls12381.NormalizeG1(&z.cred.a)
	}
	if err := z.load(); err != nil {
		z.Wipe()
		return fmt.Errorf("groupsig: update: %w", err)
	}
	m.Wipe()
	*m = *z
	return nil
}

// step computes A' = (B' - A)/(x - x*) in the place of A. It is constant time.
func (m *MemberKey) step(a *bls12381.G1, s *step) {
	var b, p bls12381.G1
	b.Set(&s.moved[0])
	for j := range m.y { // Base[j] is Moves[j+1]: see TestTables
		p.ScalarMult(&m.y[j], &s.moved[j+1])
		if m.gk.s.Minus {
			b.Sub(&b, &p)
		} else {
			b.Add(&b, &p)
		}
	}
	b.Sub(&b, a)
	var d bls12381.Scalar
	d.Inverse(d.Sub(&m.cred.x, &s.x))
	a.ScalarMult(&d, &b)
	d.Wipe()
	b.Wipe()
	p.Wipe()
}

// Version returns how many updates the key has taken.
func (m *MemberKey) Version() uint64 {
	if m.wiped() {
		return 0
	}
	return m.gk.version
}
