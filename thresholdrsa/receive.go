// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package thresholdrsa

import (
	"bytes"
	"crypto/ed25519"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"

	"github.com/undersign/undersign/internal/modexp"
	"github.com/undersign/undersign/internal/wire"
)

// An Ack is a receiver's signed statement that it has stored its share of a record.
type Ack struct {
	proposal, record [32]byte
	index            int // of the receiver
	sig              []byte
}

// Index returns the receiver's index in the new record.
func (a *Ack) Index() int { return a.index }

// Record returns the ID of the record it acknowledges.
func (a *Ack) Record() [32]byte { return a.record }

// Equal reports whether x is the same acknowledgement.
func (a *Ack) Equal(x *Ack) bool { return x != nil && bytes.Equal(a.encode(), x.encode()) }

func ackSigned(proposal, record [32]byte, index int) []byte {
	b := append([]byte("undersign/trsa/v1/ack"), proposal[:]...)
	b = append(b, record[:]...)
	return append(b, byte(index))
}

func newAck(identity ed25519.PrivateKey, proposal, record [32]byte, index int) *Ack {
	return &Ack{proposal, record, index, ed25519.Sign(identity, ackSigned(proposal, record, index))}
}

// ReceiveOptions are for a receiver that has acknowledged another successor of the
// record already, or refused the run. It acknowledges a second one only when the
// first can't be committed any more, or the second has been.
type ReceiveOptions struct {
	// Refusals of the runs it acknowledged; L'-Q+K' of one run show that it is dead.
	Refusals []*Refusal
	// Certificate of the record that the contributions lead to, with the options to
	// verify it by: what is committed settles which successor holds.
	Certificate *Certificate
	Commit      *CommitOptions
	// InsecureSecond acknowledges all the same, but no second record of one run. If the
	// first successor is committed elsewhere too the key may fall apart into two sharings.
	InsecureSecond bool
}

// Receive takes the holder's share of the next epoch from a run's contributions.
// key is the holder's receiver key if its card is in the proposal, else nil.
//
// On success the share keeps the new one as pending: store it, and only then
// send the Ack. If a contribution is wrong the error is a *CeremonyError that names
// the contributor, with a Refusal to publish; store the share then too, since it
// remembers that it refused. Received again, the same contributions give the same
// Ack or Refusal. There is no Refusal of a run of which the holder has
// acknowledged a record.
func (s *KeyShare) Receive(key *ReceiverKey, pr *Proposal, contributions []*Contribution, opts *ReceiveOptions) (*Ack, error) {
	if err := s.ready(); err != nil {
		return nil, err
	}
	pl, err := pr.plan(s.key)
	if err != nil {
		return nil, err
	}
	in := &recipient{pl: pl, identity: s.identity, own: s}
	in.index = pr.receiverOf(s.identity.Public().(ed25519.PublicKey))
	if in.index == 0 {
		return nil, fmt.Errorf("thresholdrsa: proposal: %q gets no share in this ceremony", s.Name())
	}
	if key != nil {
		if err := in.use(key); err != nil {
			return nil, err
		}
	} else if len(s.decryption) != 0 {
		in.run = s.decryption
		run, err := publicOf(in.run)
		if err != nil || !bytes.Equal(run, pr.receivers[in.index-1].run) {
			return nil, fmt.Errorf("thresholdrsa: the proposal has a card of %q: its receiver key is needed", s.Name())
		}
	} else {
		return nil, fmt.Errorf("thresholdrsa: the receiver key of %q is needed", s.Name())
	}
	committed, err := opts.committed(s.key)
	if err != nil {
		return nil, err
	}
	refused := slices.Contains(s.refused, pl.id)
	in.bound = !refused && len(s.refused) >= maxRefused ||
		slices.ContainsFunc(s.pending, func(q *KeyShare) bool { return q.proposal == pl.id })
	next, ack, err := in.receive(contributions)
	var ce *CeremonyError
	if errors.As(err, &ce) && ce.Refusal != nil && !refused {
		s.refused = append(s.refused, pl.id)
	}
	if err != nil {
		return nil, err
	}
	if refused && committed == nil {
		next.Wipe()
		return nil, errors.New("thresholdrsa: this holder has refused the run")
	}
	if slices.ContainsFunc(s.pending, func(q *KeyShare) bool { return q.key.id == next.key.id }) {
		next.Wipe() // received again
		return ack, nil
	}
	if err := s.admit(next, committed, opts); err != nil {
		next.Wipe()
		return nil, err
	}
	s.pending = append(s.pending, next)
	return ack, nil
}

// admit reports whether next may be acknowledged after what is pending.
func (s *KeyShare) admit(next *KeyShare, committed *PublicKey, opts *ReceiveOptions) error {
	if len(s.pending) >= maxPending {
		return fmt.Errorf("thresholdrsa: %d acknowledged ceremonies await their certificates", len(s.pending))
	}
	if committed != nil {
		return next.isOf(committed)
	}
	// Whatever the options: there is evidence of who has signed both, and no need of the second.
	if slices.ContainsFunc(s.pending, func(q *KeyShare) bool { return q.proposal == next.proposal }) {
		return errors.New("thresholdrsa: this holder has acknowledged another record of the run: a contributor sent two versions")
	}
	for _, q := range s.pending {
		if err := q.superseded(opts); err != nil {
			return err
		}
	}
	return nil
}

// isOf returns an error if s isn't a share of the committed record.
func (s *KeyShare) isOf(committed *PublicKey) error {
	if !committed.Equal(s.key) {
		return &KeyError{"certificate", committed.id, s.key.id, committed.epoch, s.key.epoch}
	}
	return nil
}

// committed returns the record that the options' certificate is for, or nil.
func (o *ReceiveOptions) committed(parent *PublicKey) (*PublicKey, error) {
	if o == nil || o.Certificate == nil {
		return nil, nil
	}
	return o.Certificate.Verify(parent, o.Commit)
}

// superseded returns nil if the run of the pending share q can't be committed: Q of
// L' acknowledgements are out of reach once L'-Q+1 receivers have refused who don't
// acknowledge as well, which K'-1 of them might.
func (q *KeyShare) superseded(opts *ReceiveOptions) error {
	need := q.key.l - quorum(q.key.k, q.key.l) + q.key.k
	refused := map[int]bool{}
	if opts != nil {
		if opts.InsecureSecond {
			return nil
		}
		for _, f := range opts.Refusals {
			if f.proposal == q.proposal && f.verifyBy(q.key.holders) == nil {
				refused[f.index] = true
			}
		}
	}
	if len(refused) < need {
		return fmt.Errorf("thresholdrsa: this holder has acknowledged another successor (run %x): refusals by %d of its receivers are needed to give it up, and there are %d",
			q.proposal[:8], need, len(refused))
	}
	return nil
}

// Receive takes a share for somebody who holds none: see KeyShare.Receive. parent
// is the record that the ceremony succeeds, from a source that is trusted. The key
// remembers what it acknowledged or refused: store it with the share, before
// the Ack or the Refusal is sent.
func (k *ReceiverKey) Receive(parent *PublicKey, pr *Proposal, contributions []*Contribution, opts *ReceiveOptions) (*KeyShare, *Ack, error) {
	pl, err := pr.plan(parent)
	if err != nil {
		return nil, nil, err
	}
	in := &recipient{pl: pl, identity: k.identity}
	in.index = pr.receiverOf(k.identity.Public().(ed25519.PublicKey))
	if in.index == 0 {
		return nil, nil, fmt.Errorf("thresholdrsa: proposal: %q gets no share in this ceremony", k.name)
	}
	if pr.kind == Refresh {
		return nil, nil, errors.New("thresholdrsa: a refresh needs the share of the epoch before")
	}
	// A holder's share remembers what it acknowledged, in other runs too.
	if parent.holderOf(k.identity.Public().(ed25519.PublicKey)) != 0 {
		return nil, nil, fmt.Errorf("thresholdrsa: %q holds a share of the epoch before, and receives with that", k.name)
	}
	if err := in.use(k); err != nil {
		return nil, nil, err
	}
	committed, err := opts.committed(parent)
	if err != nil {
		return nil, nil, err
	}
	refused := k.refused
	in.bound = k.record != [32]byte{}
	s, ack, err := in.receive(contributions)
	var ce *CeremonyError
	if errors.As(err, &ce) && ce.Refusal != nil {
		k.refused = true
	}
	if err != nil {
		return nil, nil, err
	}
	if committed != nil {
		err = s.isOf(committed)
	} else if refused {
		err = errors.New("thresholdrsa: this receiver has refused the run")
	} else if k.record != [32]byte{} && k.record != s.key.id {
		err = errors.New("thresholdrsa: this receiver has acknowledged another record of the run: a contributor sent two versions")
	}
	if err != nil {
		s.Wipe()
		return nil, nil, err
	}
	k.record = s.key.id
	return s, ack, nil
}

// A recipient is one receiver in one run.
type recipient struct {
	pl        *plan
	index     int
	identity  ed25519.PrivateKey
	run, next []byte
	own       *KeyShare // in a refresh
	bound     bool      // it can't refuse the run, as when it has acknowledged a record of it
}

func (in *recipient) use(k *ReceiverKey) error {
	card, err := k.Receiver()
	if err != nil {
		return err
	}
	if !card.Equal(in.pl.pr.receivers[in.index-1]) {
		return fmt.Errorf("thresholdrsa: the receiver key isn't the one of %q in the proposal", card.name)
	}
	in.run, in.next = k.run, k.next
	return k.claim(in.pl.id)
}

// receive opens and checks all parts, and computes the share of the new record.
func (in *recipient) receive(contributions []*Contribution) (*KeyShare, *Ack, error) {
	pl := in.pl
	bs, e := pl.gather(contributions)
	if e != nil {
		if e.signed { // else the right contribution may come yet
			e.Refusal = in.refuse(e, nil)
		}
		return nil, nil, e
	}
	next, err := pl.successor(bs)
	if err != nil {
		return nil, nil, fmt.Errorf("thresholdrsa: ceremony: %w", err)
	}
	s := &KeyShare{
		key: next, index: in.index, identity: bytes.Clone(in.identity), decryption: bytes.Clone(in.next),
		provisional: true, proposal: pl.id, s: modexp.NewNat(next.ShareBits()),
	}
	rand.Read(s.seed[:])
	if pl.pr.kind == Refresh {
		s.s.Add(s.s, in.own.s)
	}
	for _, b := range bs {
		g, opening, e := in.open(b)
		if e != nil {
			s.Wipe()
			e.Refusal = in.refuse(e, opening)
			return nil, nil, e
		}
		s.s.Add(s.s, narrow(g, len(s.s)))
		g.Wipe()
	}
	// v^(s'_j) = v'_j follows from the checks of the parts; a slip of ours would show here.
	if err := s.Check(); err != nil {
		s.Wipe()
		return nil, nil, err
	}
	return s, newAck(in.identity, pl.id, next.id, in.index), nil
}

// refuse refuses the run. Who has acknowledged a record of it doesn't: its refusal
// would count as evidence that the record can't be committed.
func (in *recipient) refuse(e *CeremonyError, opening []byte) *Refusal {
	if in.bound {
		return nil
	}
	return in.pl.refuse(in.identity, in.index, e, opening)
}

// open returns g(j) as contributor b sent it, or who is to blame, with the opening
// if that proves it.
func (in *recipient) open(b *broadcast) (modexp.Nat, []byte, *CeremonyError) {
	part := b.parts[in.index-1]
	opening, err := open(in.run, in.pl.sealInfo(b.index, in.index), part.sealed)
	if err != nil {
		return nil, nil, b.fault(in.pl, "its part for receiver %d can't be opened", in.index)
	}
	if in.pl.openingHash(b.index, in.index, opening) != part.hash {
		return nil, nil, b.fault(in.pl, "its part for receiver %d doesn't match its hash", in.index)
	}
	g, err := in.pl.checkOpening(b, in.index, opening)
	if err != nil {
		return nil, opening, b.fault(in.pl, "its part for receiver %d: %v", in.index, err)
	}
	clear(opening)
	return g, nil, nil
}

func (a *Ack) encode() []byte {
	var e wire.Encoder
	e.U8(version)
	e.U8(suite)
	e.Fixed(a.proposal[:])
	e.Fixed(a.record[:])
	e.U8(uint8(a.index))
	e.Fixed(a.sig)
	return e.Data()
}

// MarshalBinary returns the canonical encoding. The error is always nil.
func (a *Ack) MarshalBinary() ([]byte, error) { return a.encode(), nil }

// UnmarshalBinary decodes an acknowledgement. Commit checks it.
func (a *Ack) UnmarshalBinary(data []byte) error {
	d := wire.NewDecoder(data)
	d.Header(version, suite)
	var q Ack
	d.Read("proposal", q.proposal[:])
	d.Read("record", q.record[:])
	q.index = int(d.U8("index"))
	q.sig = d.Fixed("signature", ed25519.SignatureSize)
	if err := d.Finish(); err != nil {
		return fmt.Errorf("thresholdrsa: acknowledgement: %w", err)
	}
	*a = q
	return nil
}
