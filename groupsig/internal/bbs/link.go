// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package bbs

import (
	"errors"
	"fmt"

	"github.com/undersign/undersign/groupsig/internal/sigma"
	"github.com/undersign/undersign/internal/bls12381"
	"github.com/undersign/undersign/internal/transcript"
)

// MaxLink bounds the number of signatures in a link.
const MaxLink = 1 << 12

// A Signed is a signature with what it was made for.
type Signed struct {
	Message   transcript.Message
	Signature []byte
	Options   VerifyOptions
}

var errScope = errors.New("groupsig: the group has no pseudonyms")

// Pseudonym returns the pseudonym of a signature in its scope: the same for all
// signatures of one member in one scope. It doesn't verify the signature.
func (k *GroupKey) Pseudonym(sig []byte) ([]byte, error) {
	if !k.Features().Has(Scope) {
		return nil, errScope
	}
	g, err := k.parse(sig)
	if err != nil {
		return nil, err
	}
	return g.p[ptNym].Bytes(), nil
}

// Identify reports whether a valid signature is the member's own.
func (m *MemberKey) Identify(s Signed) (bool, error) {
	if m.wiped() {
		return false, errWiped
	}
	k := m.gk
	if !k.draft.Features.Has(Scope) {
		return false, errScope
	}
	g, err := k.verify(s.Message, s.Signature, &s.Options)
	if err != nil {
		return false, err
	}
	return m.made(g, s.Options.Scope), nil
}

func (m *MemberKey) made(g *signature, scope []byte) bool {
	nym := new(bls12381.G1).CombMult(&m.y, m.gk.scope(scope).comb())
	return nym.Equal(&g.p[ptNym])
}

// A link is the proof that one y is behind all pseudonyms: one commitment k·hs_i for
// each signature, in one challenge, and one response. Equal scopes need no case of
// their own: with different pseudonyms over one base no y fits.

// links are the verified signatures of a link.
type links struct {
	g  []*signature
	st *sigma.Statement
	// context absorbs gid, ver, operation, the caller's context and all (scope_i,
	// m_i, sigID_i) in order.
	context *transcript.Items
}

// newLinks verifies signatures and prepares the statement. Signatures in groups are
// verified as a batch.
func (k *GroupKey) newLinks(op string, context []byte, set []Signed) (*links, error) {
	if !k.Features().Has(Scope) {
		return nil, errScope
	}
	if len(set) == 0 || len(set) > MaxLink {
		return nil, fmt.Errorf("groupsig: a link has 1 to %d signatures", MaxLink)
	}
	batch := k.Batch()
	for _, s := range set {
		batch.Add(s.Message, s.Signature, s.Options)
	}
	if err := batch.Verify(); err != nil {
		return nil, err
	}
	l := &links{st: &sigma.Statement{Secrets: 1}}
	l.context = k.context(op).Bytes("context", context).Uint64("n", uint64(len(set)))
	seen := map[[32]byte]bool{}
	nyms := map[string]string{}
	for _, s := range set {
		g, err := k.parse(s.Signature)
		if err != nil {
			return nil, err
		}
		scope := s.Options.Scope
		if g.batch {
			g.c = *g.t.AppendTo(k.items(g, scope, s.Message)).Challenge(k.dst("sig"))
		}
		id := k.sigID(g)
		if seen[id] {
			return nil, errors.New("groupsig: a signature occurs twice in the link")
		}
		seen[id] = true
		nym := string(g.p[ptNym].Bytes())
		if before, ok := nyms[string(scope)]; ok && before != nym {
			return nil, errors.New("groupsig: two signers in one scope")
		}
		nyms[string(scope)] = nym
		hs := k.scope(scope)
		l.g = append(l.g, g)
		l.st.G1 = append(l.st.G1, sigma.Relation{
			Y:     &g.p[ptNym],
			Terms: []sigma.Term{{W: 0, P: &hs.p, Comb: nil, Table: hs.table}},
		})
		l.context.Bytes("scope", scope).Message("m", s.Message).Bytes("sigID", id[:])
	}
	return l, nil
}

// prove proves a link of the member's own signatures.
func (m *MemberKey) prove(op string, l *links, set []Signed) ([]byte, error) {
	for i, g := range l.g {
		if !m.made(g, set[i].Options.Scope) {
			return nil, fmt.Errorf("groupsig: signature %d isn't the member's own", i)
		}
	}
	w := make([]bls12381.Scalar, 1)
	w[0].Set(&m.y)
	defer wipeScalars(w)
	return l.st.ProveBytes(m.gk.dst(op), l.context, w)
}

// verifyLink checks the proof of a link.
func (k *GroupKey) verifyLink(op string, l *links, proof []byte) error {
	if l.st.VerifyBytesVarTime(k.dst(op), l.context, proof) != nil {
		return errors.New("groupsig: the link is wrong")
	}
	return nil
}

// Link proves to anyone that the member made all signatures of a set, in this order,
// for a purpose that the context says.
func (m *MemberKey) Link(set []Signed, context []byte) ([]byte, error) {
	return m.link("link", set, context)
}

func (m *MemberKey) link(op string, set []Signed, context []byte) ([]byte, error) {
	if m.wiped() {
		return nil, errWiped
	}
	l, err := m.gk.newLinks(op, context, set)
	if err != nil {
		return nil, err
	}
	return m.prove(op, l, set)
}

// VerifyLink checks a link, and all signatures in it.
func (k *GroupKey) VerifyLink(set []Signed, context, link []byte) error {
	l, err := k.newLinks("link", context, set)
	if err != nil {
		return err
	}
	return k.verifyLink("link", l, link)
}

// Claim proves to anyone that the member made a signature.
func (m *MemberKey) Claim(s Signed, context []byte) ([]byte, error) {
	return m.link("claim", []Signed{s}, context)
}

// VerifyClaim checks a claim, and the signature.
func (k *GroupKey) VerifyClaim(s Signed, context, claim []byte) error {
	l, err := k.newLinks("claim", context, []Signed{s})
	if err != nil {
		return err
	}
	return k.verifyLink("claim", l, claim)
}

// LimitedScope returns the scope for the use of number index of limit within a scope:
// a member has one pseudonym for each, and so is seen to use one twice. It refuses an
// index that isn't below the limit. Scopes of different limits have nothing in common.
func LimitedScope(scope []byte, index, limit uint64) ([]byte, error) {
	if index >= limit {
		return nil, fmt.Errorf("groupsig: use %d of %d", index, limit)
	}
	return new(transcript.Items).Bytes("limited scope", scope).Uint64("index", index).Uint64("limit", limit).Data(), nil
}
