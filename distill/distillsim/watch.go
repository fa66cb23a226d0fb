// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package distillsim

import (
	"github.com/undersign/undersign/distill"
)

// A watch sees what reaches honest parties, or the log, and makes evidence of what
// contradicts itself. It looks at everybody alike. Evidence is verified as a stranger would
// verify it, and must not be against the honest.
type watch struct {
	props map[[2]uint64]distill.SignedProp // by aggregator and number
	bats  map[[2]uint64][]byte
	subs  map[message]*distill.Submission
	rcpts map[signedBy]distill.RcptShare // by what it follows
	hgts  map[heightOf]signedHgt
	looks map[lookOf]*distill.SignedLook
	found map[accusation]bool
	tried map[accusation]int
	kinds map[distill.EvidenceKind]int
}

type signedBy struct {
	validator uint32
	prev      [32]byte
}

type heightOf struct {
	validator uint32
	height    uint64
}

type signedHgt struct {
	hgt   distill.Hgt
	share distill.Share
}

type lookOf struct {
	validator uint32
	id, nonce uint64
}

type accusation struct {
	kind distill.EvidenceKind
	role distill.Role
	id   uint64
}

func (w *watch) init() {
	*w = watch{
		props: make(map[[2]uint64]distill.SignedProp), bats: make(map[[2]uint64][]byte),
		subs: make(map[message]*distill.Submission), rcpts: make(map[signedBy]distill.RcptShare),
		hgts: make(map[heightOf]signedHgt), looks: make(map[lookOf]*distill.SignedLook),
		found: make(map[accusation]bool), tried: make(map[accusation]int), kinds: make(map[distill.EvidenceKind]int),
	}
}

// maxTries bounds how often what looks like evidence is verified: whoever sends forgeries
// in another's name could keep a watch busy.
const maxTries = 4

// accuse verifies evidence. It must be good if proven says that the contradiction was
// provable and signed; otherwise it may be refused.
func (w *watch) accuse(s *sim, e *distill.Evidence, role distill.Role, id uint64, proven bool) {
	a := accusation{e.Kind, role, id}
	if w.found[a] || w.tried[a] >= maxTries {
		return
	}
	w.tried[a]++
	// A stranger gets it as bytes.
	b, err := e.MarshalBinary()
	var x distill.Evidence
	if err == nil {
		err = x.UnmarshalBinary(b)
	}
	if err != nil {
		s.violate(Guilty, "evidence of %v can't be written or read: %v", e.Kind, err)
		return
	}
	view, err := s.viewAt(x.Dirver)
	if err != nil {
		return
	}
	who, err := x.Verify(s.w.genesis, view)
	switch {
	case err != nil && proven:
		s.violate(Guilty, "evidence of %v against %v %d isn't accepted: %v", e.Kind, role, id, err)
	case err != nil:
		s.sound("evidence", err)
	case who != distill.Accused{Role: role, ID: id}:
		s.violate(Innocent, "evidence of %v against %v %d accuses %v %d", e.Kind, role, id, who.Role, who.ID)
	case !s.cheats(role, id):
		s.violate(Innocent, "there is evidence of %v against %v %d, which is honest", e.Kind, role, id)
	default:
		s.tracef("evidence of %v against %v %d", e.Kind, role, id)
		w.found[a] = true
		w.kinds[e.Kind]++
	}
}

// cheats reports whether a party isn't an honest one.
func (s *sim) cheats(role distill.Role, id uint64) bool {
	switch role {
	case distill.RoleClient:
		return s.honest(id) == nil
	case distill.RoleAggregator:
		return s.aggregator(id).rogue != nil
	}
	return s.vals[id].rogue != nil
}

// prop notes a proposal that a client was shown.
func (w *watch) prop(s *sim, p distill.SignedProp) {
	key := [2]uint64{p.Prop.AggID, p.Prop.Seq}
	first, ok := w.props[key]
	switch {
	case !ok && s.w.network.VerifyProp(&p) == nil:
		w.props[key] = p
	case ok && first.Prop != p.Prop:
		signed := s.w.network.VerifyProp(&p) == nil
		w.accuse(s, distill.NewPropEvidence(first, p), distill.RoleAggregator, p.Prop.AggID, signed)
	}
}

// batch notes a batch that came to the log.
func (w *watch) batch(s *sim, encoded []byte) {
	h, _, err := s.w.network.Verifier().Open(encoded)
	if err != nil {
		return
	}
	key := [2]uint64{h.AggID, h.Seq}
	first, ok := w.bats[key]
	switch {
	case !ok:
		w.bats[key] = encoded
	case distill.BatchDigest(first) != distill.BatchDigest(encoded):
		e, err := distill.NewBatEvidence(first, encoded)
		if err != nil {
			s.violate(Guilty, "no evidence of two batches: %v", err)
			return
		}
		w.accuse(s, e, distill.RoleAggregator, h.AggID, true)
	}
}

// strike notes a batch that the validators have found bad.
func (w *watch) strike(s *sim, encoded []byte) {
	h, err := distill.DecodeHeader(encoded)
	if err != nil {
		s.violate(Guilty, "a strike for what isn't a batch: %v", err)
		return
	}
	e, err := distill.NewBatchEvidence(encoded)
	if err != nil {
		s.violate(Guilty, "no evidence of a bad batch: %v", err)
		return
	}
	w.accuse(s, e, distill.RoleAggregator, h.AggID, true)
	if s.aggregator(h.AggID).rogue == nil {
		s.violate(Innocent, "an honest aggregator is suspended for a bad batch")
	}
}

// sub notes a message that came to an aggregator.
func (w *watch) sub(s *sim, dirver uint64, sub *distill.Submission) {
	if len(sub.Signature) == 0 {
		return
	}
	m := message{sub.ID, sub.Nonce}
	first := w.subs[m]
	if first == nil {
		w.subs[m] = sub
		return
	}
	net := s.w.network.ID()
	if first.Sub(net).PayloadHash == sub.Sub(net).PayloadHash {
		return
	}
	w.accuse(s, distill.NewSubEvidence(net, dirver, first, sub), distill.RoleClient, sub.ID, s.honest(sub.ID) == nil)
}

// rcpt notes what a validator says about a batch.
func (w *watch) rcpt(s *sim, r distill.Rcpt, share *distill.Share) {
	key := signedBy{share.Validator, r.PrevLogHash}
	first, ok := w.rcpts[key]
	if !ok {
		copied := *share
		w.rcpts[key] = distill.RcptShare{Rcpt: r, Share: &copied}
		return
	}
	if first.Rcpt == r {
		return
	}
	e := distill.NewEvidence(distill.EvidenceRcpt,
		distill.Signed{Statement: first.Rcpt.Bytes(), Signature: first.Share.Signature[:]},
		distill.Signed{Statement: r.Bytes(), Signature: share.Signature[:]})
	e.Validator = share.Validator
	w.accuse(s, e, distill.RoleValidator, uint64(share.Validator), !s.spoils(share.Validator))
}

// spoils reports whether a validator's signatures may be invalid.
func (s *sim) spoils(validator uint32) bool {
	r := s.vals[validator].rogue
	return r != nil && r.has(garbage)
}

// hgt notes a head that a validator has signed.
func (w *watch) hgt(s *sim, h distill.Hgt, share *distill.Share) {
	key := heightOf{share.Validator, h.Height}
	first, ok := w.hgts[key]
	if !ok {
		w.hgts[key] = signedHgt{h, *share}
		return
	}
	if first.hgt == h {
		return
	}
	e := distill.NewEvidence(distill.EvidenceHgt,
		distill.Signed{Statement: first.hgt.Bytes(), Signature: first.share.Signature[:]},
		distill.Signed{Statement: h.Bytes(), Signature: share.Signature[:]})
	e.Validator = share.Validator
	w.accuse(s, e, distill.RoleValidator, uint64(share.Validator), !s.spoils(share.Validator))
}

// look notes an answer, and compares it with the one before and with the receipt.
func (w *watch) look(s *sim, l *distill.SignedLook) {
	key := lookOf{l.Share.Validator, l.Look.ID, l.Look.Nonce}
	first := w.looks[key]
	w.looks[key] = l
	if first != nil && contradicts(&first.Look, &l.Look) {
		w.accuse(s, distill.NewLookEvidence(first, l), distill.RoleValidator, uint64(l.Share.Validator), true)
	}
	w.against(s, l)
}

// against compares an answer with the receipt that the validator has signed for the batch
// in which the message was executed.
func (w *watch) against(s *sim, l *distill.SignedLook) {
	k := &l.Look
	e, ok := s.oracle.executed[message{k.ID, k.Nonce}]
	if !ok || k.Height < e.height || k.Height-e.height > s.w.params.KeepResults {
		return
	}
	if k.Code == distill.LookExecuted && k.PayloadHash == e.hash && k.ExecHeight == e.height && k.FirstCode == e.code && k.AppCode == e.appCode {
		return
	}
	for _, v := range s.vals {
		if v.seen < e.height {
			continue
		}
		records, err := v.store.Tick(e.height)
		s.sound(v.name, err)
		for i := range records {
			r := &records[i]
			signed, ok := w.rcpts[signedBy{l.Share.Validator, r.Rcpt.PrevLogHash}]
			if !ok || signed.Rcpt != r.Rcpt {
				continue
			}
			var leaves [][32]byte
			at := -1
			for j := range r.Results {
				leaves = append(leaves, r.Results[j].Hash())
				if r.Results[j].ID == k.ID && r.Results[j].Nonce == k.Nonce && r.Results[j].Code.Executed() {
					at = j
				}
			}
			if at >= 0 {
				e := distill.NewOutcomeEvidence(&signed, r.Results[at], uint64(at), distill.NewTree(leaves).Proof(at), l)
				w.accuse(s, e, distill.RoleValidator, uint64(l.Share.Validator), !s.spoils(l.Share.Validator))
			}
		}
		return
	}
}

// contradicts reports whether two answers about one nonce can't both be true: a simpler
// rule than the protocol's, which finds more.
func contradicts(a, b *distill.Look) bool {
	if a.Height > b.Height {
		a, b = b, a
	}
	return a.LastNonce > b.LastNonce || a.Code == distill.LookExecuted && b.Code == distill.LookExecuted && a.PayloadHash != b.PayloadHash ||
		a.Code == distill.LookExecuted && b.Code == distill.LookNotExecuted && b.Height-a.ExecHeight <= worldParams().KeepResults
}

// counts returns how much evidence there is, by its kind.
func (w *watch) counts() map[string]int {
	m := make(map[string]int)
	for k, n := range w.kinds {
		m[k.String()] = n
	}
	return m
}

// finish checks that there is evidence of what was provable.
func (w *watch) finish(s *sim) {
	for a, n := range w.tried {
		if !w.found[a] && n >= maxTries && !(a.role == distill.RoleValidator && s.spoils(uint32(a.id))) && s.cheats(a.role, a.id) {
			s.violate(Guilty, "there is no evidence of %v against %v %d", a.kind, a.role, a.id)
		}
	}
}
