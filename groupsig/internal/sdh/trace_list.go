// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package sdh

import (
	"errors"
	"fmt"

	"github.com/undersign/undersign/groupsig/internal/join"
	"github.com/undersign/undersign/groupsig/internal/sigma"
	"github.com/undersign/undersign/groupsig/internal/state"
	"github.com/undersign/undersign/internal/bls12381"
	"github.com/undersign/undersign/internal/transcript"
)

// A List has C of the revoked members of one group, signed by the opener. It shows what they
// signed, in the past too. It is immutable.
type List struct {
	state.State
	k *GroupKey
	c []bls12381.G1
}

// MaxListed is how many members a list may hold. Each costs every verification a pairing.
const MaxListed = 1 << 10

const listOp = "list"

var errNoTrace = errors.New("groupsig: the scheme doesn't trace members")

// traces reports whether the group's signatures can be traced, as an error.
func (k *GroupKey) traces() error {
	if k.empty() {
		return errEmpty
	}
	if k.s.Trace == nil {
		return errNoTrace
	}
	return nil
}

// Len returns how many members are revoked.
func (l *List) Len() int {
	if l == nil {
		return 0
	}
	return len(l.c)
}

// listFormat returns how the opener signs lists: by a proof of its secrets that absorbs
// what it signs (Schnorr 1991).
func (k *GroupKey) listFormat() *state.Format {
	st := k.consent(openerRole)
	return &state.Format{
		What: "revocation list", DST: k.dst(listOp), Group: k.id, SigSize: sigma.Size(st.Secrets),
		Sections: []state.Section{{Name: "members", Size: bls12381.G1Size, Max: MaxListed}},
		Verify: func(msg, sig []byte) error {
			if st.VerifyBytesVarTime(k.dst(listOp), k.context(listOp).Bytes("state", msg), sig) != nil {
				return errors.New("wrong signature")
			}
			return nil
		},
	}
}

// ParseList decodes a list and checks its signature. Whether it is in force is checked by
// each verification.
func (k *GroupKey) ParseList(data []byte) (*List, error) {
	if err := k.traces(); err != nil {
		return nil, err
	}
	s, err := k.listFormat().Parse(data)
	if err != nil {
		return nil, fmt.Errorf("groupsig: %w", err)
	}
	return k.newList(s)
}

func (k *GroupKey) newList(s *state.State) (*List, error) {
	l := &List{State: *s, k: k, c: make([]bls12381.G1, len(s.Entries(0)))}
	for i, b := range s.Entries(0) {
		if err := l.c[i].SetBytes(b); err != nil {
			return nil, fmt.Errorf("groupsig: revocation list: entry %d: %w", i, err)
		}
	}
	return l, nil
}

// List signs the list of those who are revoked in the opener's register. The list before,
// which may be nil, has a lower number.
func (k *RoleKeys) List(g *GroupKey, register *join.Register, terms state.Terms, base *List) (*List, error) {
	if err := k.as(openerRole, g); err != nil {
		return nil, err
	}
	if err := g.traces(); err != nil {
		return nil, err
	}
	if register == nil {
		return nil, errors.New("groupsig: no register")
	}
	if base != nil {
		if base.k == nil || base.k.id != g.id {
			return nil, &state.StaleError{What: "revocation list", Reason: "it is of another group"}
		}
		if err := base.Follows(terms); err != nil {
			return nil, err
		}
	}
	entries := [][]byte{}
	for r := range register.Revoked() {
		_, m, err := g.evidence(r)
		if err != nil {
			return nil, err
		}
		entries = append(entries, m.t.Bytes())
	}
	s, err := g.listFormat().Sign(terms, [][][]byte{entries}, func(msg []byte) ([]byte, error) {
		return g.consent(openerRole).ProveBytes(g.dst(listOp), g.context(listOp).Bytes("state", msg), k.secrets)
	})
	if err != nil {
		return nil, fmt.Errorf("groupsig: %w", err)
	}
	return g.newList(s)
}

// MarkTraced marks in the issuer's register those revoked members whom a list in force has,
// and returns their number: they may join anew.
func (k *GroupKey) MarkTraced(register *join.Register, l *List, now int64) (int, error) {
	if err := k.inForce(l, now, 0); err != nil {
		return 0, err
	}
	if register == nil {
		return 0, errors.New("groupsig: no register")
	}
	known := make(map[string]bool)
	for _, b := range l.Entries(0) {
		known[string(b)] = true
	}
	return register.Listed(func(r *join.Record) bool {
		_, m, err := k.evidence(r)
		return err == nil && known[string(m.t.Bytes())]
	}), nil
}

// inForce returns a *[state.StaleError] unless the list is one of the group, in force now,
// and its number not lower than the highest that the verifier has seen.
func (k *GroupKey) inForce(l *List, now int64, minNumber uint64) error {
	if err := k.traces(); err != nil {
		return err
	}
	if l == nil {
		return &state.StaleError{What: "revocation list", Reason: "there is none"}
	}
	return l.Fresh(k.id, now, minNumber)
}

// A Check is a list with when it is looked at, and the lowest number that the verifier takes.
type Check struct {
	List      *List
	Now       int64
	MinNumber uint64
}

// VerifyListed is Verify, and the error is [state.ErrRevoked] if the signer is on the list.
func (k *GroupKey) VerifyListed(msg transcript.Message, context, raw []byte, c Check) error {
	if err := k.inForce(c.List, c.Now, c.MinNumber); err != nil {
		return err
	}
	sig, err := k.verified(msg, context, raw)
	if err != nil {
		return err
	}
	if c.List.has(sig.traced[0]) {
		return state.ErrRevoked
	}
	return nil
}

// has reports whether one of the list has made a signature: e(C, T4) = T5.
func (l *List) has(t *traced) bool {
	switch len(l.c) {
	case 0:
		return false
	case 1:
		return t.of(&l.c[0])
	}
	lines := bls12381.NewLinesVarTime(&t.t4)
	return !forEach(len(l.c), func(i int) bool {
		return !new(bls12381.GT).PairingProductVarTime(bls12381.PairWith(&l.c[i], lines)).Equal(&t.t5)
	})
}
