// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"

	"github.com/spf13/cobra"

	"github.com/undersign/undersign/keyfile"
	"github.com/undersign/undersign/ring"
)

type ringVerifyFlags struct {
	ring  string
	sigs  []string
	scope ringScopeFlags
	once  bool
}

func newRingVerifyCmd(e *env) *cobra.Command {
	var f ringVerifyFlags
	c := &cobra.Command{
		Use:   "verify FILE... --ring FILE",
		Short: "Check signatures of a ring",
		Long: `Check that holders of the ring's keys signed files, in a scope. Each signature
is shown with its key image: equal ones are of one holder. --once refuses a
second signature of one holder. Signatures that were made with --batch are
verified together, which is several times faster with keys of ristretto255.`,
		Example: `  undersign ring verify motion.txt --ring board.ring --scope 2026-11
  undersign ring verify ballots/*.txt --ring voters.ring --scope mayor --once --json`,
		Args: nargs(1, -1, "a file"),
		RunE: func(c *cobra.Command, args []string) error { return e.ringVerify(c, f, args) },
	}
	fl := c.Flags()
	fl.StringVar(&f.ring, "ring", "", "the ring's `FILE`")
	c.MarkFlagRequired("ring")
	fl.StringSliceVar(&f.sigs, "sig", nil, "the signatures, `FILE,...`, in the order of the files (default: FILE"+ringSigSuffix+")")
	f.scope.add(c, "accept signatures for the scope `TEXT` only")
	fl.BoolVar(&f.once, "once", false, "refuse a second signature of one holder")
	return describe(c, "valid, ring (digest), keys, signatures [file, status (valid, invalid, repeated),\n  image, first (file with the same image), reason]", ExitInvalid)
}

type ringVerdict struct {
	File   string `json:"file"`
	Status string `json:"status"`
	Image  string `json:"image,omitempty"`
	First  string `json:"first,omitempty"`
	Reason string `json:"reason,omitempty"`
}

func (v *ringVerdict) line(keys int) string {
	line := v.Status
	if v.Status == "valid" {
		line = fmt.Sprintf("valid signature of one of %d, key image %s", keys, v.Image[:16])
		if v.First != "" {
			line += ", by the one that signed " + v.First
		}
	}
	if v.Reason != "" {
		line += ": " + v.Reason
	}
	return line
}

type ringVerifyResult struct {
	Valid      bool          `json:"valid"`
	Ring       string        `json:"ring"`
	Keys       int           `json:"keys"`
	Signatures []ringVerdict `json:"signatures"`
}

func (e *env) ringVerify(c *cobra.Command, f ringVerifyFlags, files []string) error {
	ctx := c.Context()
	if len(f.sigs) > 0 && len(f.sigs) != len(files) {
		return usagef(c, "--sig has %d files, and there are %d to check", len(f.sigs), len(files))
	}
	r, err := readObject[*ring.Ring](ctx, e, f.ring)
	if err != nil {
		return err
	}
	d := r.Digest()
	result := ringVerifyResult{Ring: hex.EncodeToString(d[:]), Keys: r.Len(), Signatures: make([]ringVerdict, len(files))}
	batch, first := r.Batch(f.scope.options()), 0
	flush := func() error {
		if err := refuseBad(result.Signatures[first:], batch.Verify()); err != nil {
			return err
		}
		first += batch.Len()
		batch = r.Batch(f.scope.options())
		return nil
	}
	for i, file := range files {
		sigFile := beside(file, ringSigSuffix)
		if len(f.sigs) > 0 {
			sigFile = f.sigs[i]
		}
		msg, err := e.readInput(ctx, file, maxMessage)
		if err != nil {
			return err
		}
		v := &result.Signatures[i]
		*v = ringVerdict{File: inputName(file), Status: "valid"}
		sig, err := e.readRingSignature(ctx, r, sigFile)
		switch {
		case errors.Is(err, ring.ErrSignature):
			v.Status, v.Reason = "invalid", ringReason(err)
		case len(f.sigs) == 0 && errors.Is(err, fs.ErrNotExist):
			return withHint(err, "name the signature with --sig FILE")
		case err != nil:
			return err
		case sig.Ring() != d || sig.Group() != r.Group():
			v.Status, v.Reason = "invalid", fmt.Sprintf("it is of another ring, %x", sig.Ring())
		default:
			v.Image = hex.EncodeToString(sig.Image())
		}
		batch.Add(msg, sig)
		if batch.Len()*r.Len() >= maxRingBatch {
			if err := flush(); err != nil {
				return err
			}
		}
	}
	if err := flush(); err != nil {
		return err
	}
	refused, invalid := 0, false
	signed := make(map[string]string) // by key image
	for i := range result.Signatures {
		v := &result.Signatures[i]
		if v.Status == "valid" {
			if file, ok := signed[v.Image]; !ok {
				signed[v.Image] = v.File
			} else if v.First = file; f.once {
				v.Status, v.Reason = "repeated", "the one that signed "+file+" signed it"
			}
		}
		if v.Status != "valid" {
			refused++
		}
		invalid = invalid || v.Reason == notOfScope
	}
	result.Valid = refused == 0
	err = e.print(result, func(w io.Writer) {
		for _, v := range result.Signatures {
			fmt.Fprintf(w, "%s: %s\n", oneLine(v.File), oneLine(v.line(r.Len())))
		}
	})
	if err != nil || refused == 0 {
		return err
	}
	hint := ""
	if invalid {
		hint = "a signature is for one scope: give the --scope, and --across-rings, that it was made with"
	}
	return failf(ExitInvalid, hint, "%d of %d signatures are refused", refused, len(files))
}

// maxRingBatch bounds the signatures that are verified at a time, in keys: each takes half a
// kilobyte of memory. Far fewer would do for the speed, and for tests.
var maxRingBatch = 1 << 17

const notOfScope = "it isn't of this ring, file and scope"

// refuseBad enters what a batch's verification found.
func refuseBad(verdicts []ringVerdict, err error) error {
	if err == nil {
		return nil
	}
	be, ok := errors.AsType[*ring.BatchError](err)
	if !ok {
		return err
	}
	for _, i := range be.Bad {
		if v := &verdicts[i]; v.Status == "valid" {
			v.Status, v.Image, v.Reason = "invalid", "", notOfScope
		}
	}
	return nil
}

// readRingSignature reads a signature, unless the file is so long that it can't be one of the
// ring: to decode it could take seconds.
func (e *env) readRingSignature(ctx context.Context, r *ring.Ring, file string) (*ring.Signature, error) {
	data, err := e.readInput(ctx, file, maxObject)
	if err != nil {
		return nil, err
	}
	const head = 64 << 10 // of comments and the like
	if len(data) > head+2*r.MaxSignatureSize() {
		return nil, fmt.Errorf("%w: of a larger ring", ring.ErrSignature)
	}
	sig, err := keyfile.ParseAs[*ring.Signature](data)
	if err != nil {
		return nil, wantedHint(sig, fileError(file, err))
	}
	return sig, nil
}

// ringReason returns the text of an error without the names of packages.
func ringReason(err error) string {
	return strings.NewReplacer("ring: ", "", "keyfile: ", "").Replace(err.Error())
}
