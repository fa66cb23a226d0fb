// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package bbs

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/undersign/undersign/groupsig/internal/state"
)

// An Announcement says which epochs verifiers accept, and for which one members get
// credentials. It is signed by the issuer, so that no member or verifier takes an
// epoch for the group's that is somebody else's: an epoch of one's own is a way to be
// traced. It is immutable.
type Announcement struct {
	state.State
	oldest, epoch uint64
}

// Oldest returns the oldest epoch that is accepted.
func (a *Announcement) Oldest() uint64 { return a.oldest }

// Epoch returns the epoch that credentials are made for, which is the newest that is
// accepted.
func (a *Announcement) Epoch() uint64 { return a.epoch }

const announceOp = "epochs"

func (k *GroupKey) announceFormat() *state.Format {
	return k.format("announcement of epochs", announceOp, issuerRole, state.Section{Name: "epochs", Size: 16, Min: 1, Max: 1})
}

var errNoEpochs = errors.New("groupsig: the group has no epochs")

// Announce signs an announcement of the epochs from oldest to epoch.
func (k *IssuerKey) Announce(gk *GroupKey, terms Terms, oldest, epoch uint64) (*Announcement, error) {
	if err := k.matches(gk); err != nil {
		return nil, err
	}
	if !gk.draft.Features.Has(Epoch) {
		return nil, errNoEpochs
	}
	b := binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(nil, oldest), epoch)
	s, err := gk.announceFormat().Sign(terms, [][][]byte{{b}}, gk.signer(announceOp, issuerRole, &k.isk[0]))
	if err != nil {
		return nil, fmt.Errorf("groupsig: %w", err)
	}
	return newAnnouncement(s)
}

// ParseAnnouncement decodes an announcement and checks its signature. Whether it is in
// force is checked by each verification.
func (k *GroupKey) ParseAnnouncement(data []byte) (*Announcement, error) {
	if k.empty() {
		return nil, errEmpty
	}
	if !k.draft.Features.Has(Epoch) {
		return nil, errNoEpochs
	}
	s, err := k.announceFormat().Parse(data)
	if err != nil {
		return nil, fmt.Errorf("groupsig: %w", err)
	}
	return newAnnouncement(s)
}

func newAnnouncement(s *state.State) (*Announcement, error) {
	b := s.Entries(0)[0]
	a := &Announcement{*s, binary.BigEndian.Uint64(b), binary.BigEndian.Uint64(b[8:])}
	if a.oldest > a.epoch {
		return nil, errors.New("groupsig: announcement of epochs: the oldest is after the newest")
	}
	return a, nil
}

// accepts refuses an epoch that isn't accepted: by the announcement if there is one,
// and else by the limits of the options.
func (o *VerifyOptions) accepts(k *GroupKey, epoch uint64) error {
	lo, hi := o.MinEpoch, o.MaxEpoch
	if a := o.Announcement; a != nil {
		if lo != 0 || hi != 0 {
			return errors.New("groupsig: epochs and an announcement of epochs")
		}
		if err := a.Fresh(k.id, o.Now, o.MinAnnouncement); err != nil {
			return err
		}
		lo, hi = a.oldest, a.epoch
	}
	if epoch < lo || epoch > hi {
		return fmt.Errorf("groupsig: the signature is of epoch %d, and %d to %d are accepted", epoch, lo, hi)
	}
	return nil
}
