// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"filippo.io/age"
	"github.com/spf13/cobra"

	"github.com/undersign/undersign/keyfile"
	"github.com/undersign/undersign/thresholdrsa"
)

// A ceremony is one of the groups refresh and reshare. They have the same
// steps; under refresh nobody but the holders can get a share.
type ceremony struct {
	e    *env
	name string
}

func newRefreshCmd(e *env) *cobra.Command {
	k := &ceremony{e, "refresh"}
	c := k.group("Give the holders new shares of the same key", `
A refresh gives the same holders new shares of the same key, with the same
threshold. The RSA public key and all signatures and certificates stay. Shares
of the old epoch and of the new one don't combine: who has stolen fewer than K
of the old ones has nothing. Old shares are revoked by nothing but their
deletion.

Files carry the ceremony from step to step. Each holder may make a card, with a
fresh key that its share is sealed to; somebody proposes; K holders or more
contribute; every holder receives, which ends in an acknowledgement or in a
refusal that names a culprit; somebody commits; every holder finishes. A key
that was dealt, and not imported or reshared, takes exactly K contributors.

Who loses track may run any step again, but for a contribution.`)
	return c
}

func newReshareCmd(e *env) *cobra.Command {
	k := &ceremony{e, "reshare"}
	c := k.group("Hand the key to other holders, or another threshold", `
A reshare gives shares of the same key to any receivers, with any threshold from
2: holders leave, join, or replace a share that was lost. There is no dealer,
and the key isn't put together at any time. The RSA public key, signatures and
certificates stay.

Files carry the ceremony from step to step. Each receiver makes a card; somebody
proposes; exactly K holders contribute; every receiver receives, which ends in
an acknowledgement or in a refusal that names a culprit; somebody commits;
holders, old and new, finish. Who contributes hands the key to the receivers of
the proposal: look at them.

Who loses track may run any step again, but for a contribution.`)
	return c
}

func (k *ceremony) group(short, long string) *cobra.Command {
	c := newGroupCmd(k.e, k.name, short, long,
		k.cardCmd(), k.proposeCmd(), k.contributeCmd(), k.receiveCmd(),
		k.commitCmd(), k.finishCmd(), k.judgeCmd(), k.verifyCmd())
	first := "propose --key threshold.pub --by 1,2,3 *.card"
	if k.name == "reshare" {
		first = "propose --key threshold.pub --by 1,2,3 -k 2 dave.card erin.card"
	}
	c.Example = k.example(
		"card --share alice.share -i alice.key", first,
		"contribute proposal.txt --share alice.share -i alice.key",
		"receive proposal.txt *.contribution --share alice.share -i alice.key --card-key alice.card.key",
		"commit proposal.txt *.contribution *.ack --key threshold.pub",
		"finish certificate.txt --share alice.share -i alice.key --card-key alice.card.key",
	)
	return c
}

// example returns command lines of the group's steps for a help text.
func (k *ceremony) example(lines ...string) string {
	for i, l := range lines {
		lines[i] = "  undersign threshold " + k.name + " " + l
	}
	return strings.Join(lines, "\n")
}

// heldFlags name the secrets of somebody in a ceremony, and to whom what changes of
// them is encrypted.
type heldFlags struct {
	secretFlags
	share, cardKey, to string
}

// open returns what opens the secrets, and the recipients of --to, if it was given.
// Until release is called no other process changes those files that are to be locked.
func (f *heldFlags) open(ctx context.Context, e *env, lock ...string) (o *opener, to []age.Recipient, release func(), err error) {
	var undo []func()
	undoAll := func() {
		for _, f := range slices.Backward(undo) {
			f()
		}
	}
	defer func() {
		if err != nil {
			undoAll()
		}
	}()
	for _, path := range lock {
		if path == "" || path == "-" {
			continue
		}
		unlock, err := lockFile(path)
		if err != nil {
			return nil, nil, nil, err
		}
		undo = append(undo, unlock)
	}
	if o, err = e.newOpener(ctx, f.secretFlags); err != nil {
		return nil, nil, nil, err
	}
	undo = append(undo, o.wipe)
	if to, err = e.readWriteBack(ctx, f.to); err != nil {
		return nil, nil, nil, err
	}
	return o, to, undoAll, nil
}

// readWriteBack reads the recipients of --to, if it was given.
func (e *env) readWriteBack(ctx context.Context, file string) ([]age.Recipient, error) {
	if file == "" {
		return nil, nil
	}
	return e.readRecipients(ctx, file)
}

// addWriteBackFlag gives a command that changes a secret its --to.
func addWriteBackFlag(c *cobra.Command, to *string) {
	c.Flags().StringVar(to, "to", "", "encrypt what is written back to the age recipients `FILE`\n(default: to the identity or passphrase that opened it)")
}

// addInsecureQuorumFlag gives a command its --insecure-quorum.
func addInsecureQuorumFlag(c *cobra.Command, n *int) {
	c.Flags().IntVar(n, "insecure-quorum", 0, "accept `N` acknowledgements, K or more, instead of a quorum of the receivers;\na contributor may have cheated those who are away, and then\nthe key can be lost with the old shares")
}

// commitOptions returns the options for a quorum below the full one.
func (e *env) commitOptions(quorum int) (*thresholdrsa.CommitOptions, error) {
	if quorum < 0 {
		return nil, failf(ExitUsage, "", "--insecure-quorum is negative")
	}
	return &thresholdrsa.CommitOptions{InsecureQuorum: quorum}, nil
}

// messages are what the files of one run say.
type messages struct {
	parent        *thresholdrsa.PublicKey
	proposal      *thresholdrsa.Proposal
	contributions []*thresholdrsa.Contribution
	acks          []*thresholdrsa.Ack
	refusals      []*thresholdrsa.Refusal
}

// readRun reads the proposal and the other messages of a run in any order. What
// isn't of this proposal is refused, and so is what the step has no use for.
func (k *ceremony) readRun(ctx context.Context, parent *thresholdrsa.PublicKey, files []string, kinds ...string) (*messages, error) {
	pr, err := readObject[*thresholdrsa.Proposal](ctx, k.e, files[0])
	if err != nil {
		return nil, err
	}
	if err := k.checkProposal(parent, pr); err != nil {
		return nil, ceremonyFileError(files[0], err)
	}
	r := &messages{parent: parent, proposal: pr}
	for _, file := range files[1:] {
		data, err := k.e.readInput(ctx, file, maxObject)
		if err != nil {
			return nil, err
		}
		v, err := keyfile.Parse(data)
		if err != nil {
			return nil, fileError(file, err)
		}
		if !slices.Contains(kinds, keyfile.Type(v)) {
			return nil, fileError(file, &keyfile.TypeError{Want: kinds[0], Got: keyfile.Type(v)})
		}
		of := pr.ID()
		switch v := v.(type) {
		case *thresholdrsa.Contribution:
			of = v.ProposalID()
			r.contributions = append(r.contributions, v)
		case *thresholdrsa.Ack:
			r.acks = append(r.acks, v) // Commit names whose is of another run
		case *thresholdrsa.Refusal:
			of = v.ProposalID()
			r.refusals = append(r.refusals, v)
		}
		if of != pr.ID() {
			return nil, failf(ExitInvalid, "", "%s: belongs to another proposal (run %x, not %x)", inputName(file), of[:8], first8(pr.ID()))
		}
	}
	return r, nil
}

func first8(id [32]byte) []byte { return id[:8] }

// Types of messages, as keyfile.Type has them.
var (
	contributionType = keyfile.Type((*thresholdrsa.Contribution)(nil))
	ackType          = keyfile.Type((*thresholdrsa.Ack)(nil))
	refusalType      = keyfile.Type((*thresholdrsa.Refusal)(nil))
)

// checkProposal checks a proposal against the record that it is to succeed and,
// under refresh, that it hands the key to nobody else.
func (k *ceremony) checkProposal(parent *thresholdrsa.PublicKey, pr *thresholdrsa.Proposal) error {
	if err := pr.Check(parent); err != nil {
		return err
	}
	if k.name == "refresh" && !keepsHolders(parent, pr) {
		return failf(ExitError, "look at it with \"undersign inspect\", and use \"undersign threshold reshare\" if it is meant so",
			"the proposal isn't a refresh: it changes the holders or the threshold")
	}
	return nil
}

// keepsHolders reports whether threshold, holders and their order stay.
func keepsHolders(parent *thresholdrsa.PublicKey, pr *thresholdrsa.Proposal) bool {
	receivers, holders := pr.Receivers(), parent.Holders()
	if pr.Threshold() != parent.Threshold() || len(receivers) != len(holders) {
		return false
	}
	for i, r := range receivers {
		if r.Name() != holders[i].Name || !r.Identity().Equal(holders[i].Identity) {
			return false
		}
	}
	return true
}

// complete checks that there is a contribution of every contributor.
func (r *messages) complete() error {
	var missing []string
	for _, i := range r.proposal.Contributors() {
		if !slices.ContainsFunc(r.contributions, func(c *thresholdrsa.Contribution) bool { return c.Index() == i }) {
			missing = append(missing, holderLabel(r.parent, i))
		}
	}
	if len(missing) > 0 {
		return failf(ExitQuorum, "get the missing ones, or propose anew with other contributors",
			"no contribution of %s", strings.Join(missing, ", "))
	}
	return nil
}

// ceremonyError gives an error of a ceremony its exit status and hint.
func ceremonyError(err error) error {
	var ce *thresholdrsa.CeremonyError
	var e *Error
	if errors.As(err, &ce) && !errors.As(err, &e) {
		return &Error{Err: err, Code: ExitInvalid}
	}
	return thresholdError(err)
}

func ceremonyFileError(file string, err error) error { return fileError(file, ceremonyError(err)) }

// A party is a holder or a receiver, in JSON.
type party struct {
	Index int    `json:"index"`
	Name  string `json:"name"`
}

func (p party) String() string { return fmt.Sprintf("%d (%s)", p.Index, p.Name) }

func joinParties(ps []party) string {
	var out []string
	for _, p := range ps {
		out = append(out, p.String())
	}
	return strings.Join(out, ", ")
}

// holdersAt returns holders of p by their indices.
func holdersAt(p *thresholdrsa.PublicKey, indices []int) []party {
	out := []party{}
	for _, i := range indices {
		out = append(out, party{i, p.Holders()[i-1].Name})
	}
	return out
}

// proposalInfo is what people should know of a proposal.
type proposalInfo struct {
	Proposal         string         `json:"proposal"` // file
	Fingerprint      string         `json:"fingerprint"`
	Kind             string         `json:"kind"`
	Key              string         `json:"key"`
	Epoch            uint64         `json:"epoch"` // the new one
	OldThreshold     int            `json:"old_threshold"`
	OldHolders       int            `json:"old_holders"`
	Threshold        int            `json:"threshold"`
	Contributors     []party        `json:"contributors"`
	Receivers        []receiverInfo `json:"receivers"`
	Acknowledgements int            `json:"acknowledgements"` // that commit it
}

const proposalFields = "proposal, fingerprint, kind, key, epoch, old_threshold, old_holders, threshold,\n  contributors [index, name], receivers [index, name, card, holder], acknowledgements"

type receiverInfo struct {
	party
	Card   string `json:"card"`   // fingerprint
	Holder int    `json:"holder"` // index in the old epoch, 0 if it is new
}

func (k *ceremony) info(file string, parent *thresholdrsa.PublicKey, pr *thresholdrsa.Proposal) proposalInfo {
	info := proposalInfo{
		Proposal: file, Fingerprint: keyfile.Fingerprint(pr), Kind: k.name, Key: keyfile.Fingerprint(parent),
		Epoch: parent.Epoch() + 1, OldThreshold: parent.Threshold(), OldHolders: parent.NumHolders(),
		Threshold: pr.Threshold(), Contributors: holdersAt(parent, pr.Contributors()), Acknowledgements: pr.Quorum(),
	}
	for i, r := range pr.Receivers() {
		old := slices.IndexFunc(parent.Holders(), func(h thresholdrsa.Holder) bool { return r.Identity().Equal(h.Identity) })
		info.Receivers = append(info.Receivers, receiverInfo{party{i + 1, r.Name()}, keyfile.Fingerprint(r), old + 1})
	}
	return info
}

func (p proposalInfo) write(w io.Writer) {
	fmt.Fprintf(w, "%s of %s: %d of %d holders, epoch %d\n", p.Kind, p.Key, p.OldThreshold, p.OldHolders, p.Epoch-1)
	fmt.Fprintf(w, "  becomes %d of %d, epoch %d\n", p.Threshold, len(p.Receivers), p.Epoch)
	fmt.Fprintf(w, "  proposal      %s\n", p.Fingerprint)
	fmt.Fprintf(w, "  contributors  %s\n", printable(joinParties(p.Contributors)))
	for i, r := range p.Receivers {
		title, was := "receivers", "new"
		if i > 0 {
			title = ""
		}
		if r.Holder > 0 {
			was = fmt.Sprintf("holder %d now", r.Holder)
		}
		fmt.Fprintf(w, "  %-13s %s, %s, card %s\n", title, printable(r.party.String()), was, r.Card)
	}
	fmt.Fprintf(w, "  %d acknowledgements commit it\n", p.Acknowledgements)
}

// outName returns the default name of an answer to a proposal: proposal.txt and
// alice make proposal.alice.ack.
func outName(proposal string, who party, ext string) string {
	stem := "proposal"
	if proposal != "-" {
		stem = strings.TrimSuffix(proposal, filepath.Ext(proposal))
	}
	name := who.Name
	if checkHolderName(name) != nil {
		name = fmt.Sprintf("holder-%d", who.Index)
	}
	return stem + "." + name + ext
}

// holds reports whether a file has this very content already.
func holds(path string, data []byte) bool {
	fi, err := os.Stat(path)
	if err != nil || !fi.Mode().IsRegular() || fi.Size() != int64(len(data)) {
		return false
	}
	old, err := os.ReadFile(path)
	return err == nil && bytes.Equal(old, data)
}

// exists reports whether something has the name of a file that is to be written.
func exists(path string) bool {
	_, err := os.Lstat(path)
	return path != "-" && err == nil
}
