// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"
	"io"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/undersign/undersign/keyfile"
	"github.com/undersign/undersign/thresholdrsa"
)

func newThresholdVerifyCeremonyCmd(e *env) *cobra.Command {
	var key, share string
	var sf secretFlags
	c := &cobra.Command{
		Use:   "verify-ceremony CEREMONY",
		Short: "Check how a key was dealt",
		Long: `Check the transcript of a dealing: that all shares belong to one polynomial with
the private exponent in it, and that the holders' trial shares make a signature.
With --key, that it is the dealing of that key; with --share, that the holder's
own share is the one that was dealt.

It can't be seen from outside that the dealer has forgotten the key. Compare the
fingerprint with the other holders'.`,
		Example: `  undersign threshold verify-ceremony key/ceremony.txt --key key/threshold.pub
  undersign threshold verify-ceremony key/ceremony.txt --share key/alice.share -i alice.key`,
		Args: nargs(1, 1, "the transcript"),
		RunE: func(c *cobra.Command, args []string) error {
			if share == "" && len(sf.identities) > 0 {
				return usagef(c, "-i goes with --share")
			}
			return e.verifyCeremony(c, args[0], key, share, sf)
		},
	}
	c.Flags().StringVar(&key, "key", "", "demand that it is the dealing of this threshold public key `FILE`")
	c.Flags().StringVar(&share, "share", "", "check this share `FILE` too")
	addSecretFlags(c, &sf)
	describe(c, "fingerprint, bits, threshold, holders, form, index and name of the share", ExitInvalid)
	describeExit(c, ExitInvalid, "the dealing is wrong, of another key, or not the share's")
	return c
}

type ceremonyResult struct {
	Fingerprint string   `json:"fingerprint"`
	Bits        int      `json:"bits"`
	Threshold   int      `json:"threshold"`
	Holders     []string `json:"holders"`
	Form        string   `json:"form"`
	Index       int      `json:"index,omitempty"`
	Name        string   `json:"name,omitempty"`
}

func (e *env) verifyCeremony(c *cobra.Command, file, key, share string, sf secretFlags) error {
	ctx := c.Context()
	d, err := readObject[*thresholdrsa.Dealing](ctx, e, file)
	if err != nil {
		return err
	}
	p := d.PublicKey()
	if key != "" {
		k, err := e.readPublicKey(ctx, key)
		if err != nil {
			return err
		}
		if !k.Equal(p) {
			return failf(ExitInvalid, "", "%s is the dealing of %s, and %s is %s",
				inputName(file), keyfile.Fingerprint(p), inputName(key), keyfile.Fingerprint(k))
		}
	}
	r := ceremonyResult{Fingerprint: keyfile.Fingerprint(p), Bits: p.RSA().N.BitLen(), Threshold: p.Threshold(), Form: p.Form().String()}
	for _, h := range p.Holders() {
		r.Holders = append(r.Holders, h.Name)
	}
	if share == "" {
		err = d.Verify()
	} else {
		var o *opener
		if o, err = e.newOpener(ctx, sf); err != nil {
			return err
		}
		defer o.wipe()
		s, _, oerr := o.openShare(share)
		if oerr != nil {
			return oerr
		}
		defer s.Wipe()
		r.Index, r.Name = s.Index(), s.Name()
		if err = s.CheckDealing(d); err != nil {
			return withCode(fileError(share, err), ExitInvalid)
		}
	}
	if err != nil {
		return withCode(fileError(file, err), ExitInvalid)
	}
	return e.print(r, func(w io.Writer) {
		fs := []field{
			{"fingerprint", r.Fingerprint},
			{"key", fmt.Sprintf("RSA, %d bits, %s form", r.Bits, r.Form)},
			{"threshold", fmt.Sprintf("%d of %d", r.Threshold, len(r.Holders))},
		}
		for i, name := range r.Holders {
			fs = append(fs, field{"holder " + strconv.Itoa(i+1), name})
		}
		writeFields(w, fs)
		fmt.Fprintf(w, "\nThe dealing is consistent.\n")
		if r.Index > 0 {
			fmt.Fprintf(w, "%s is share %d of it, of %s.\n", share, r.Index, printable(r.Name))
		}
	})
}
