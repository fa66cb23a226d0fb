// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"io"

	"filippo.io/age"
	"github.com/spf13/cobra"

	"github.com/undersign/undersign/keyfile"
	"github.com/undersign/undersign/thresholdrsa"
)

type receiveFlags struct {
	heldFlags
	shareOut    string // newcomers
	key         string
	refusals    []string
	certificate string
	second      bool
	quorum      int
	out         string
	force       bool
}

func (k *ceremony) receiveCmd() *cobra.Command {
	var f receiveFlags
	c := &cobra.Command{
		Use:   "receive PROPOSAL CONTRIBUTION...",
		Short: "Check the contributions and take the new share",
		Long: `Check all contributions of a run, take the new share, and acknowledge it. The
share file then holds both shares, the old and the new; nothing is signed with
the new one before finish. The acknowledgement is written once the share is
stored.

If a contribution is wrong, a refusal that names the contributor is written
instead, and the status is 3. The holder acknowledges nothing of that run any
more.

A holder that has acknowledged another successor of its epoch does so again only
if that one can't be committed any more, which refusals of enough of its
receivers show, or if a certificate shows that this one is committed. Receiving
again after an interruption gives the same acknowledgement.`,
		Example: k.example("receive proposal.txt *.contribution --share alice.share -i alice.key --card-key alice.card.key"),
		Args:    nargs(2, -1, "a proposal and all its contributions"),
	}
	fl := c.Flags()
	fl.StringVar(&f.share, "share", "", "the holder's share `FILE`, which is updated")
	if k.name == "reshare" {
		c.Long += `

Somebody who held no share gives the old public key, from a source that is
trusted, the card's key, and a name for the new share's file.`
		c.Example += "\n" + k.example("receive proposal.txt *.contribution --key threshold.pub --card-key dave.card.key -i dave.key --share-out dave.share")
		fl.StringVar(&f.shareOut, "share-out", "", "write a newcomer's share to `FILE`")
	}
	fl.StringVar(&f.key, "key", "", "threshold public key `FILE` of the old epoch")
	fl.StringVar(&f.cardKey, "card-key", "", "`FILE` with the key of the receiver's card, if the proposal has its card")
	addSecretFlags(c, &f.secretFlags)
	addWriteBackFlag(c, &f.to)
	fl.StringSliceVar(&f.refusals, "refusals", nil, "refusal `FILE,...` of runs that were acknowledged before")
	fl.StringVar(&f.certificate, "certificate", "", "certificate `FILE` of this run, if it is committed already")
	fl.BoolVar(&f.second, "insecure-second", false, "acknowledge a second successor all the same; if the first is\ncommitted too, the key may fall apart into two sharings")
	addInsecureQuorumFlag(c, &f.quorum)
	addOutFlag(c, &f.out, "proposal.NAME.ack, or .refusal")
	addForceFlag(c, &f.force)
	c.RunE = func(c *cobra.Command, args []string) error {
		switch {
		case (f.share == "") == (f.shareOut == "") && k.name == "reshare":
			return usagef(c, "give --share, or --share-out for somebody who held no share")
		case f.share == "" && k.name == "refresh":
			return usagef(c, "give the holder's share with --share")
		case f.shareOut != "" && (f.key == "" || f.cardKey == ""):
			return usagef(c, "--share-out needs the old public key with --key, and --card-key")
		case f.shareOut == "-":
			return usagef(c, "--share-out must be a file")
		case f.cardKey != "" && f.cardKey == f.share:
			return usagef(c, "--share and --card-key are one file")
		case f.quorum != 0 && f.certificate == "":
			return usagef(c, "--insecure-quorum is about a --certificate")
		}
		return k.receive(c.Context(), f, args)
	}
	describe(c, "acknowledgement, share, index, name, epoch, fingerprint", ExitInvalid, ExitQuorum)
	describeExit(c, ExitInvalid, "a contribution is wrong; a refusal was written if it is signed")
	describeExit(c, ExitQuorum, "contributions are missing")
	return c
}

// A receiver takes a share: a holder with its share of the old epoch, or a
// newcomer with the key of its card.
type receiver struct {
	share     *thresholdrsa.KeyShare // nil for a newcomer
	shareFile *sealedFile
	card      *thresholdrsa.ReceiverKey // nil for a holder whose card isn't in the proposal
	cardFile  *sealedFile
	parent    *thresholdrsa.PublicKey
}

func (r *receiver) wipe() {
	if r.share != nil {
		r.share.Wipe()
	}
	if r.card != nil {
		r.card.Wipe()
	}
}

func (r *receiver) name() string {
	if r.share != nil {
		return r.share.Name()
	}
	return r.card.Name()
}

// openReceiver opens the receiver's secrets, and checks that they can be written back.
func (k *ceremony) openReceiver(o *opener, f receiveFlags, to []age.Recipient) (r *receiver, err error) {
	r = new(receiver)
	if f.cardKey != "" {
		if r.card, r.cardFile, err = openSecret[*thresholdrsa.ReceiverKey](o, f.cardKey); err != nil {
			return nil, err
		}
		if err := r.cardFile.writable(k.e, to); err != nil {
			return nil, err
		}
	}
	if f.share != "" {
		if r.share, r.shareFile, err = o.openShare(f.share); err != nil {
			return nil, err
		}
		if err := r.shareFile.writable(k.e, to); err != nil {
			return nil, err
		}
		r.parent = r.share.PublicKey()
	}
	if f.key != "" {
		p, err := k.e.readPublicKey(o.ctx, f.key)
		if err != nil {
			return nil, err
		}
		if r.share != nil && !p.Equal(r.parent) {
			return nil, fileError(f.key, keyError("public key", p, r.parent))
		}
		r.parent = p
	}
	return r, nil
}

// keyError says that something of one record was given where another is in use.
func keyError(what string, got, want *thresholdrsa.PublicKey) error {
	return &thresholdrsa.KeyError{What: what, Got: got.ID(), Want: want.ID(), GotEpoch: got.Epoch(), WantEpoch: want.Epoch()}
}

func (k *ceremony) receive(ctx context.Context, f receiveFlags, args []string) error {
	e := k.e
	// One process at a time: two of them could acknowledge two successors.
	o, to, release, err := f.open(ctx, e, f.share, f.cardKey)
	if err != nil {
		return err
	}
	defer release()
	in, err := k.openReceiver(o, f, to)
	if err != nil {
		return err
	}
	defer in.wipe()
	r, err := k.readRun(ctx, in.parent, args, contributionType)
	if err != nil {
		return err
	}
	if err := r.complete(); err != nil {
		return err
	}
	opts, err := k.receiveOptions(ctx, f)
	if err != nil {
		return err
	}
	if c := opts.Certificate; c != nil && !c.Proposal().Equal(r.proposal) {
		return failf(ExitInvalid, "", "%s: certifies another proposal (run %x, not %x)", inputName(f.certificate), first8(c.Proposal().ID()), first8(r.proposal.ID()))
	}

	before := in.state()
	defer before.wipe()
	var fresh *thresholdrsa.KeyShare // of a newcomer
	var ack *thresholdrsa.Ack
	if in.share != nil {
		ack, err = in.share.Receive(in.card, r.proposal, r.contributions, opts)
	} else {
		fresh, ack, err = in.card.Receive(in.parent, r.proposal, r.contributions, opts)
	}
	var ce *thresholdrsa.CeremonyError
	if errors.As(err, &ce) && ce.Refusal != nil {
		return k.refuse(f, args[0], in, before, ce)
	}
	if err != nil {
		return receiveError(f.certificate, err)
	}
	if fresh != nil {
		defer fresh.Wipe()
	}
	if c := opts.Certificate; c != nil && c.PublicKey().ID() != ack.Record() {
		return otherRecord(ack.Record(), c.PublicKey().ID()) // it was acknowledged before
	}
	// The share first and durably, and only then the word that it is there.
	who := party{ack.Index(), in.name()}
	out := f.out
	if out == "" {
		out = outName(args[0], who, ".ack")
	}
	w, err := e.newAnswer(out, ack, f.force)
	if err != nil {
		return err
	}
	share := f.share
	if fresh != nil {
		share = f.shareOut
		if err := o.storeFresh(f, to, in, fresh); err != nil {
			return err
		}
	}
	if err := in.store(e, before); err != nil {
		return err
	}
	if err := w.write(); err != nil {
		return err
	}
	successor, err := r.proposal.Successor(in.parent, r.contributions)
	if err != nil {
		return ceremonyError(err)
	}
	type result struct {
		Acknowledgement string `json:"acknowledgement"`
		Share           string `json:"share"`
		party
		Epoch       uint64 `json:"epoch"`
		Fingerprint string `json:"fingerprint"`
	}
	if out == "-" {
		return nil
	}
	return e.print(result{out, share, who, successor.Epoch(), keyfile.Fingerprint(successor)}, func(w io.Writer) {
		fmt.Fprintf(w, "%s: holds the share of receiver %s for epoch %d, %s\n", share, printable(who.String()), successor.Epoch(), keyfile.Fingerprint(successor))
		fmt.Fprintf(w, "%s: acknowledges it, to whoever commits\n", out)
	})
}

// receiveOptions reads what lets a receiver acknowledge a second successor.
func (k *ceremony) receiveOptions(ctx context.Context, f receiveFlags) (opts *thresholdrsa.ReceiveOptions, err error) {
	opts = &thresholdrsa.ReceiveOptions{InsecureSecond: f.second}
	for _, file := range f.refusals {
		v, err := readObject[*thresholdrsa.Refusal](ctx, k.e, file)
		if err != nil {
			return nil, err
		}
		opts.Refusals = append(opts.Refusals, v)
	}
	if f.certificate != "" {
		if opts.Certificate, err = readObject[*thresholdrsa.Certificate](ctx, k.e, f.certificate); err != nil {
			return nil, err
		}
		if opts.Commit, err = k.e.commitOptions(f.quorum); err != nil {
			return nil, err
		}
	}
	return opts, nil
}

// receiveError says what can be done about a share that wasn't taken.
func receiveError(certificate string, err error) error {
	if errors.Is(err, thresholdrsa.ErrQuorum) {
		return certificateError(certificate, err)
	}
	if key := new(thresholdrsa.KeyError); errors.As(err, &key) && key.What == "certificate" {
		return otherRecord(key.Want, key.Got)
	}
	err = ceremonyError(err)
	if hintOf(err) != "" {
		return err
	}
	if errors.As(err, new(*thresholdrsa.CeremonyError)) {
		return withHint(err, "nothing was stored: get the right contribution of that holder")
	}
	return err
}

// otherRecord says that contributions aren't those that were committed.
func otherRecord(got, committed [32]byte) error {
	return failf(ExitInvalid, "get the contributions that were committed",
		"these contributions lead to another record (%x) than the certificate's (%x)", got[:8], committed[:8])
}

// refuse stores that the receiver has refused, and then writes the refusal.
func (k *ceremony) refuse(f receiveFlags, proposal string, in *receiver, before *receiverState, ce *thresholdrsa.CeremonyError) error {
	out := f.out
	if out == "" {
		out = outName(proposal, party{ce.Refusal.Index(), in.name()}, ".refusal")
	}
	w, err := k.e.newAnswer(out, ce.Refusal, f.force)
	if err != nil {
		return err
	}
	if err := in.store(k.e, before); err != nil {
		return err
	}
	if err := w.write(); err != nil {
		return err
	}
	return failf(ExitInvalid, fmt.Sprintf("publish %s, and propose anew without %s %d (%s)", out, ce.Role, ce.Index, ce.Name), "%w", ce)
}

// receiverState is what the receiver's files held before.
type receiverState struct{ share, card []byte }

func (s *receiverState) wipe() { clear(s.share); clear(s.card) }

func (r *receiver) state() *receiverState {
	s := new(receiverState)
	if r.share != nil {
		s.share, _ = r.share.MarshalBinary()
	}
	if r.card != nil {
		s.card, _ = r.card.MarshalBinary()
	}
	return s
}

// store writes back what has changed, durably. Killed in between, it is done
// again by the next run: what either file says on its own is true.
func (r *receiver) store(e *env, before *receiverState) error {
	after := r.state()
	defer after.wipe()
	s := e.newFileSet(true)
	defer s.abort()
	add := func(f *sealedFile, secret keyfile.Object) error {
		data, err := f.encode(secret)
		if err != nil {
			return err
		}
		return s.add(f.path, data, secretFile)
	}
	if r.card != nil && subtle.ConstantTimeCompare(before.card, after.card) != 1 {
		if err := add(r.cardFile, r.card); err != nil {
			return err
		}
	}
	if r.share != nil && subtle.ConstantTimeCompare(before.share, after.share) != 1 {
		if err := add(r.shareFile, r.share); err != nil {
			return err
		}
	}
	return s.commit()
}

// storeFresh writes a newcomer's share, unless an earlier run did.
func (o *opener) storeFresh(f receiveFlags, to []age.Recipient, in *receiver, fresh *thresholdrsa.KeyShare) error {
	if exists(f.shareOut) && !f.force {
		old, _, err := o.openShare(f.shareOut)
		if err != nil {
			return err
		}
		defer old.Wipe()
		if old.PublicKey().Equal(fresh.PublicKey()) && old.Index() == fresh.Index() {
			return nil
		}
		return existsError(f.shareOut)
	}
	file, err := o.newSecretFile(f.shareOut, to, in.cardFile)
	if err != nil {
		return err
	}
	data, err := file.encode(fresh)
	if err != nil {
		return err
	}
	return o.e.writeFile(f.shareOut, data, secretFile, f.force)
}

// An answer is an acknowledgement or a refusal to be written.
type answer struct {
	e     *env
	path  string
	data  []byte
	force bool
	there bool // it was written before
}

// newAnswer looks whether the answer can be written, before anything is stored.
func (e *env) newAnswer(path string, v keyfile.Object, force bool) (*answer, error) {
	data, err := keyfile.Encode(v)
	if err != nil {
		return nil, err
	}
	there := holds(path, data)
	return &answer{e: e, path: path, data: data, force: force, there: there}, e.checkOut(path, force || there)
}

func (a *answer) write() error {
	if a.there {
		return nil
	}
	return a.e.writeFile(a.path, a.data, publicFile, a.force)
}
