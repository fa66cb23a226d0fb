// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/undersign/undersign/keyfile"
	"github.com/undersign/undersign/thresholdrsa"
)

type commitFlags struct {
	key    string
	quorum int
	out    string
	pubOut string
	force  bool
}

func (k *ceremony) commitCmd() *cobra.Command {
	var f commitFlags
	c := &cobra.Command{
		Use:   "commit PROPOSAL CONTRIBUTION... ACKNOWLEDGEMENT... [REFUSAL...]",
		Short: "Make the certificate that ends the old epoch",
		Long: `Make the certificate of a ceremony from its contributions and from the
acknowledgements of enough receivers, and write the public key of the new epoch.
The files come in any order after the proposal. Anybody can commit; the
certificate proves itself.

For the new K and L, 2K-1 acknowledgements are needed, more than (L+K-1)/2, or
all L where there are fewer. With them K honest receivers have shares, even if
K-1 holders cheat, and no other successor can be committed. Fewer take
--insecure-quorum, here and at every finish: if a contributor has cheated those
who are away, too few may be left to sign, and the old shares are gone by then.`,
		Example: k.example("commit proposal.txt *.contribution *.ack --key threshold.pub"),
		Args:    nargs(2, -1, "a proposal, its contributions and acknowledgements"),
		RunE:    func(c *cobra.Command, args []string) error { return k.commit(c.Context(), f, args) },
	}
	addKeyFlag(c, &f.key)
	addInsecureQuorumFlag(c, &f.quorum)
	addOutFlag(c, &f.out, "certificate.txt")
	c.Flags().StringVar(&f.pubOut, "pub-out", "", "write the new public key to `FILE` (default: as --key, with .epochN)")
	addForceFlag(c, &f.force)
	describe(c, "certificate, public_key, epoch, fingerprint, threshold, holders,\n  acknowledged [index, name], missing [index, name]", ExitInvalid, ExitQuorum)
	describeExit(c, ExitInvalid, "a contribution or acknowledgement is wrong")
	describeExit(c, ExitQuorum, "contributions or acknowledgements are missing")
	return c
}

func (k *ceremony) commit(ctx context.Context, f commitFlags, args []string) error {
	e := k.e
	parent, err := e.readPublicKey(ctx, f.key)
	if err != nil {
		return err
	}
	opts, err := e.commitOptions(f.quorum)
	if err != nil {
		return err
	}
	r, err := k.readRun(ctx, parent, args, contributionType, ackType, refusalType)
	if err != nil {
		return err
	}
	if err := r.complete(); err != nil {
		return err
	}
	for _, v := range r.refusals {
		e.warnf("receiver %d refused: %s", v.Index(), v.Reason())
	}
	cert, err := thresholdrsa.Commit(parent, r.proposal, r.contributions, r.acks, opts)
	if qe := new(thresholdrsa.QuorumError); errors.As(err, &qe) {
		return r.quorumError(qe)
	}
	if err != nil {
		return ceremonyError(err)
	}
	next := cert.PublicKey()
	e.warnInsecureQuorum(cert)

	out, pubOut := f.out, f.pubOut
	if out == "" {
		out = "certificate.txt"
	}
	if pubOut == "" {
		pubOut = epochName(f.key, next.Epoch())
	}
	certData, err1 := keyfile.Encode(cert)
	pubData, err2 := keyfile.Encode(next)
	if err := errors.Join(err1, err2); err != nil {
		return err
	}
	s := e.newFileSet(f.force)
	defer s.abort()
	if err := s.add(pubOut, pubData, publicFile); err != nil {
		return err
	}
	if err := s.add(out, certData, publicFile); err != nil {
		return err
	}
	if err := s.commit(); err != nil {
		return err
	}
	if out == "-" || pubOut == "-" {
		return nil
	}
	type result struct {
		Certificate  string  `json:"certificate"`
		PublicKey    string  `json:"public_key"`
		Epoch        uint64  `json:"epoch"`
		Fingerprint  string  `json:"fingerprint"`
		Threshold    int     `json:"threshold"`
		Holders      int     `json:"holders"`
		Acknowledged []party `json:"acknowledged"`
		Missing      []party `json:"missing"`
	}
	missing := r.silent(cert.Acks())
	return e.print(result{
		out, pubOut, next.Epoch(), keyfile.Fingerprint(next), next.Threshold(), next.NumHolders(),
		holdersAt(next, cert.Acks()), missing,
	}, func(w io.Writer) {
		fmt.Fprintf(w, "%s: epoch %d of the key is %d of %d holders, %s\n", pubOut, next.Epoch(), next.Threshold(), next.NumHolders(), keyfile.Fingerprint(next))
		fmt.Fprintf(w, "%s: ends epoch %d; all holders, old and new, need it to finish\n", out, parent.Epoch())
		if len(missing) > 0 {
			fmt.Fprintf(w, "not acknowledged by %s, who can still receive\n", printable(joinParties(missing)))
		}
	})
}

// silent returns the receivers that aren't among those who acknowledged.
func (r *messages) silent(acks []int) []party {
	out := []party{}
	for i, v := range r.proposal.Receivers() {
		if !slices.Contains(acks, i+1) {
			out = append(out, party{i + 1, v.Name()})
		}
	}
	return out
}

// quorumError names those who are missing, and what going on without them means.
func (r *messages) quorumError(qe *thresholdrsa.QuorumError) error {
	var have []int
	for _, a := range r.acks {
		have = append(have, a.Index())
	}
	hint := "get the acknowledgements of more receivers"
	if qe.Have >= r.proposal.Threshold() {
		hint += fmt.Sprintf("; if that is impossible, --insecure-quorum %d commits without them, at a risk that --help explains", qe.Have)
	}
	return failf(ExitQuorum, hint, "%d acknowledgements of %d needed; there is none of receiver %s",
		qe.Have, qe.Need, joinParties(r.silent(have)))
}

// warnInsecureQuorum says what it means that a certificate has fewer
// acknowledgements than it should.
func (e *env) warnInsecureQuorum(c *thresholdrsa.Certificate) {
	if have, need := len(c.Acks()), c.Proposal().Quorum(); have < need {
		e.warnf("an insecure quorum: %d acknowledgements instead of %d; if a contributor cheated receivers that were away, too few are left to sign once the old shares are erased", have, need)
	}
}

var epochSuffix = regexp.MustCompile(`\.epoch[0-9]+$`)

// epochName returns the name of the next public key: threshold.pub makes
// threshold.epoch2.pub, and that threshold.epoch3.pub.
func epochName(key string, epoch uint64) string {
	if key == "-" {
		key = "threshold.pub"
	}
	ext := filepath.Ext(key)
	stem := epochSuffix.ReplaceAllString(strings.TrimSuffix(key, ext), "")
	return fmt.Sprintf("%s.epoch%d%s", stem, epoch, ext)
}
