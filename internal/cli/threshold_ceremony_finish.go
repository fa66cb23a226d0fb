// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/undersign/undersign/keyfile"
	"github.com/undersign/undersign/thresholdrsa"
)

type finishFlags struct {
	heldFlags
	key    string
	quorum int
}

func (k *ceremony) finishCmd() *cobra.Command {
	var f finishFlags
	c := &cobra.Command{
		Use:   "finish CERTIFICATE",
		Short: "Put the new share in the place of the old one",
		Long: `Check the certificate, put the new share in the place of the old one, and remove
the card's key. A holder that gets no share in the new epoch loses its share
file, after a question.

Erase backups of the old share too. As long as K of them exist anywhere they
sign.

A holder that was away receives first. Somebody who held no share before gives
the old public key, from a source that is trusted.`,
		Example: k.example("finish certificate.txt --share alice.share -i alice.key --card-key alice.card.key",
			"finish certificate.txt --share dave.share -i dave.key --key threshold.pub --card-key dave.card.key"),
		Args: nargs(1, 1, "a certificate"),
		RunE: func(c *cobra.Command, args []string) error { return k.finish(c.Context(), f, args[0]) },
	}
	c.Flags().StringVar(&f.share, "share", "", "the holder's share `FILE`, which is replaced")
	c.MarkFlagRequired("share")
	c.Flags().StringVar(&f.key, "key", "", "threshold public key `FILE` of the old epoch\n(needed by those who held no share in it)")
	c.Flags().StringVar(&f.cardKey, "card-key", "", "`FILE` with the key of the receiver's card, to be removed")
	addSecretFlags(c, &f.secretFlags)
	addWriteBackFlag(c, &f.to)
	addInsecureQuorumFlag(c, &f.quorum)
	describe(c, "share, index, name, epoch, fingerprint, erased [files]", ExitInvalid, ExitQuorum)
	describeExit(c, ExitInvalid, "the certificate is wrong")
	describeExit(c, ExitQuorum, "the certificate has too few acknowledgements")
	return c
}

func (k *ceremony) finish(ctx context.Context, f finishFlags, certificate string) error {
	e := k.e
	if f.share == "-" || f.cardKey == "-" {
		return failf(ExitUsage, "name the file", "a secret from standard input can't be replaced")
	}
	o, to, release, err := f.open(ctx, e, f.share)
	if err != nil {
		return err
	}
	defer release()
	opts, err := e.commitOptions(f.quorum)
	if err != nil {
		return err
	}
	cert, err := readObject[*thresholdrsa.Certificate](ctx, e, certificate)
	if err != nil {
		return err
	}
	share, file, err := o.openShare(f.share)
	if err != nil {
		return err
	}
	defer share.Wipe()
	if err := k.checkCardKey(o, f.cardKey, share); err != nil {
		return err
	}
	done := !share.Provisional() && share.PublicKey().Equal(cert.PublicKey())
	if done { // by an earlier run, of which only the erasing may be left
		return k.finished(f, share)
	}
	if err := file.writable(e, to); err != nil {
		return err
	}
	parent, err := k.finishParent(ctx, f, share)
	if err != nil {
		return err
	}
	if err := k.checkProposal(parent, cert.Proposal()); err != nil {
		return ceremonyFileError(certificate, err)
	}

	index, name := share.Index(), share.Name()
	next, err := share.Finish(cert, parent, opts)
	if err != nil {
		err = certificateError(certificate, err)
		if hintOf(err) == "" && exitCode(err) == ExitError {
			err = withHint(err, "a holder that was away takes its share with \"undersign threshold %s receive --certificate\" first", k.name)
		}
		return err
	}
	e.warnInsecureQuorum(cert)
	if next == nil {
		if err := e.confirm(ctx, fmt.Sprintf("%s gets no share in epoch %d. Erase the share in %s?", name, cert.PublicKey().Epoch(), f.share)); err != nil {
			return err
		}
		return k.leave(f, party{index, name}, cert.PublicKey())
	}
	defer next.Wipe()
	if err := file.replace(e, next); err != nil {
		return err
	}
	return k.finished(f, next)
}

// finishParent returns the record that the certificate must succeed: the
// share's own, or the one that a newcomer trusts.
func (k *ceremony) finishParent(ctx context.Context, f finishFlags, share *thresholdrsa.KeyShare) (*thresholdrsa.PublicKey, error) {
	if f.key == "" {
		if share.Provisional() {
			return nil, failf(ExitUsage, "name the public key of the old epoch with --key", "%s holds the share of somebody who held none before, and can't check the certificate on its own", f.share)
		}
		return share.PublicKey(), nil
	}
	p, err := k.e.readPublicKey(ctx, f.key)
	if err != nil {
		return nil, err
	}
	if !share.Provisional() && !p.Equal(share.PublicKey()) {
		return nil, fileError(f.key, keyError("public key", p, share.PublicKey()))
	}
	return p, nil
}

// certificateError says what is wrong with a certificate.
func certificateError(file string, err error) error {
	var quorum *thresholdrsa.QuorumError
	if errors.As(err, &quorum) {
		return failf(ExitQuorum, fmt.Sprintf("it was made with --insecure-quorum %d; --help explains the risk of accepting that", quorum.Have),
			"%s: %d acknowledgements of %d needed", inputName(file), quorum.Have, quorum.Need)
	}
	return ceremonyFileError(file, err)
}

// checkCardKey makes sure that what is removed at the end is the key of a card
// of the same holder. It may be gone already.
func (k *ceremony) checkCardKey(o *opener, path string, share *thresholdrsa.KeyShare) error {
	if path == "" || !exists(path) {
		return nil
	}
	rk, _, err := openSecret[*thresholdrsa.ReceiverKey](o, path)
	if err != nil {
		return err
	}
	defer rk.Wipe()
	if rk.Name() != share.Name() {
		return failf(ExitError, "", "%s is the key of %s's card, and the share is %s's", path, rk.Name(), share.Name())
	}
	return nil
}

type finishResult struct {
	Share string `json:"share"` // empty if the holder has none any more
	party
	Epoch       uint64   `json:"epoch"`
	Fingerprint string   `json:"fingerprint"`
	Erased      []string `json:"erased"`
}

// finished erases what the new share has made useless.
func (k *ceremony) finished(f finishFlags, share *thresholdrsa.KeyShare) error {
	erased, err := k.e.erase(leftovers(f.share, f.cardKey), f.cardKey)
	if err != nil {
		return err
	}
	p := share.PublicKey()
	res := finishResult{f.share, party{share.Index(), share.Name()}, p.Epoch(), keyfile.Fingerprint(p), erased}
	return k.e.print(res, func(w io.Writer) {
		fmt.Fprintf(w, "%s: the share of holder %s in epoch %d, %s\n", f.share, printable(res.party.String()), p.Epoch(), res.Fingerprint)
		for _, path := range erased {
			fmt.Fprintf(w, "%s: erased\n", path)
		}
		fmt.Fprintf(w, "erase backups of older shares too\n")
	})
}

// leave erases the share of a holder that has none in the new epoch.
func (k *ceremony) leave(f finishFlags, who party, p *thresholdrsa.PublicKey) error {
	erased, err := k.e.erase(leftovers(f.share, f.cardKey), f.share, f.cardKey)
	if err != nil {
		return err
	}
	res := finishResult{"", who, p.Epoch(), keyfile.Fingerprint(p), erased}
	return k.e.print(res, func(w io.Writer) {
		for _, path := range erased {
			fmt.Fprintf(w, "%s: erased\n", path)
		}
		fmt.Fprintf(w, "%s holds no share in epoch %d\n", printable(who.Name), p.Epoch())
		fmt.Fprintf(w, "erase backups of it too\n")
	})
}

// leftovers returns what processes that were killed while they replaced one of
// paths have left beside it: old secrets, or new ones that were never put in place.
func leftovers(paths ...string) (out []string) {
	for _, path := range paths {
		if path == "" {
			continue
		}
		if final, err := filepath.EvalSymlinks(path); err == nil {
			path = final
		}
		entries, err := os.ReadDir(filepath.Dir(path))
		if err != nil {
			continue
		}
		for _, d := range entries {
			rest, ok := strings.CutPrefix(d.Name(), "."+filepath.Base(path)+".undersign-")
			if ok && (strings.HasPrefix(rest, "tmp-") || strings.HasPrefix(rest, "old-")) {
				out = append(out, filepath.Join(filepath.Dir(path), d.Name()))
			}
		}
	}
	return out
}

// erase removes files, and what symbolic links among them point to. Overwriting
// them first would promise what file systems and disks don't keep.
func (e *env) erase(more []string, paths ...string) ([]string, error) {
	erased := []string{}
	for _, path := range append(paths, more...) {
		if path == "" || !exists(path) {
			continue
		}
		if e.dryRun {
			e.notef("would erase %s", path)
			continue
		}
		final, err := filepath.EvalSymlinks(path)
		if err == nil {
			err = os.Remove(final)
		}
		if err == nil && final != filepath.Clean(path) {
			err = os.Remove(path)
			if errors.Is(err, fs.ErrNotExist) {
				err = nil
			}
		}
		if err != nil {
			return erased, fmt.Errorf("can't erase %s: %w", path, err)
		}
		syncDir(filepath.Dir(final))
		erased = append(erased, path)
	}
	return erased, nil
}
