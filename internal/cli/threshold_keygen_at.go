// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"encoding/hex"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/undersign/undersign/client"
	"github.com/undersign/undersign/internal/threshold"
	"github.com/undersign/undersign/keyfile"
	"github.com/undersign/undersign/thresholdrsa"
)

// Names of what a dealer's node writes beside the files of a dealing.
const (
	transcriptName  = "transcript.txt"
	attestationName = "attestation"
)

// keygenAt has a node deal the key.
func (e *env) keygenAt(c *cobra.Command, f dealerFlags, bits int, dir, at string) error {
	if f.plaintext {
		return usagef(c, "--insecure-plaintext: shares leave a dealer's node encrypted only")
	}
	if len(f.nodes) > 0 {
		return usagef(c, "--node: a dealer's node sends shares to recipients, given with --to")
	}
	d, err := e.newDealer(c, f)
	if err != nil {
		return err
	}
	defer d.cleanup()
	for _, name := range []string{transcriptName, attestationName} {
		if err := e.checkOut(d.path(name), f.force); err != nil {
			return err
		}
	}
	req := &client.DealRequest{Bits: bits, Threshold: f.k}
	for _, h := range d.holders {
		x := client.DealHolder{Name: h.name}
		for _, r := range h.to {
			s, ok := r.(fmt.Stringer)
			if !ok {
				return fmt.Errorf("the recipient of %s can't be sent to a dealer", h.name)
			}
			x.Recipients = append(x.Recipients, s.String())
		}
		req.Holders = append(req.Holders, x)
	}
	n, id, err := e.dialNode(c.Context(), dir, at)
	if err != nil {
		return err
	}
	defer n.Close()
	p := e.startProgress()
	start := time.Now()
	req.Progress = func(candidates, expected uint64) {
		p.update("The dealer searches safe primes: %d candidates tested, %d expected on average, %v", candidates, expected, time.Since(start).Round(time.Second))
	}
	deal, err := n.Deal(c.Context(), req)
	p.done()
	if err != nil {
		return serviceError(id, err)
	}
	return d.finishAt(deal)
}

// finishAt writes what a dealer's node has made, all files or none.
func (d *dealer) finishAt(deal *client.Deal) error {
	pub := deal.Dealing.PublicKey()
	set := d.e.newFileSet(d.flags.force)
	defer set.abort()
	if err := addObject(set, d.path(publicKeyName), pub); err != nil {
		return err
	}
	spki, err := encodeSPKI(pub)
	if err != nil {
		return err
	}
	if err := set.add(d.path(rsaKeyName), spki, publicFile); err != nil {
		return err
	}
	if err := addObject(set, d.path(ceremonyName), deal.Dealing); err != nil {
		return err
	}
	text, err := threshold.EncodeTranscript(deal.Transcript)
	if err != nil {
		return err
	}
	if err := set.add(d.path(transcriptName), text, publicFile); err != nil {
		return err
	}
	if len(deal.Transcript.Attestation) > 0 {
		if err := set.add(d.path(attestationName), deal.Transcript.Attestation, publicFile); err != nil {
			return err
		}
	}
	r := dealResult{
		Fingerprint: keyfile.Fingerprint(pub), Bits: deal.Transcript.Bits, Threshold: pub.Threshold(), Form: pub.Form().String(),
		Files: dealtFiles{d.path(publicKeyName), d.path(rsaKeyName), d.path(ceremonyName)},
	}
	for i, h := range d.holders {
		file := d.path(h.name + shareSuffix)
		if err := set.add(file, deal.Shares[i], secretFile); err != nil {
			return err
		}
		r.Holders = append(r.Holders, dealtHolder{i + 1, h.name, file})
	}
	if err := set.commit(); err != nil {
		return err
	}
	return d.e.print(r, func(w io.Writer) {
		fmt.Fprintf(w, "RSA key of %d bits, dealt by %s among %d holders; any %d of them sign\n",
			r.Bits, keyfile.Fingerprint(&keyfile.Party{Key: deal.Transcript.Dealer}), len(r.Holders), r.Threshold)
		fmt.Fprintf(w, "fingerprint %s\n\n", r.Fingerprint)
		fmt.Fprintf(w, "%s says so. Each holder should now run, with the dealer's fingerprint known from elsewhere:\n", d.path(transcriptName))
		fmt.Fprintf(w, "  undersign threshold verify-transcript %s --dealer %s --ceremony %s --share %s\n",
			d.path(transcriptName), keyfile.Fingerprint(&keyfile.Party{Key: deal.Transcript.Dealer}), d.path(ceremonyName), r.Holders[0].File)
	})
}

func newThresholdVerifyTranscriptCmd(e *env) *cobra.Command {
	var dealer, ceremony, out string
	var force bool
	var shares []string
	c := &cobra.Command{
		Use:   "verify-transcript TRANSCRIPT --dealer FINGERPRINT --ceremony FILE",
		Short: "Check what a dealer's node says that it has dealt",
		Long: `Check the transcript of a key that a dealer's node has made: the node's
signature, that it is of the dealing in --ceremony, and that each share file is
the one that was made for the holder whose name it has.

With -o the attestation in it is written to a file. What that document is
depends on the dealer's machine; it is about the hash that is printed, and has
to be checked with the tools of whoever makes the machine.`,
		Example: `  undersign threshold verify-transcript key/transcript.txt --dealer us1... \
      --ceremony key/ceremony.txt --share key/alice.share`,
		Args: nargs(1, 1, "a transcript"),
		RunE: func(c *cobra.Command, args []string) error {
			ctx := c.Context()
			data, err := e.readInput(ctx, args[0], maxObject)
			if err != nil {
				return err
			}
			t, err := threshold.ParseTranscript(data)
			if err != nil {
				return fileError(args[0], err)
			}
			dealing, err := readObject[*thresholdrsa.Dealing](ctx, e, ceremony)
			if err != nil {
				return err
			}
			if err := t.Verify(dealer, dealing); err != nil {
				return withCode(fileError(args[0], err), ExitInvalid)
			}
			for _, file := range shares {
				data, err := e.readInput(ctx, file, maxObject)
				if err != nil {
					return err
				}
				i := 0
				for j, h := range t.Holders {
					if h.Name == holderName(file) {
						i = j + 1
					}
				}
				if err := t.VerifyShare(i, data); err != nil {
					return withCode(fileError(file, err), ExitInvalid)
				}
			}
			if out != "" {
				if err := e.writeFile(out, t.Attestation, publicFile, force); err != nil {
					return err
				}
			}
			h := t.Hash()
			result := struct {
				Dealer      string `json:"dealer"`
				Fingerprint string `json:"fingerprint"`
				Hash        string `json:"hash"`
				Time        string `json:"time"`
				Party       string `json:"party"`
				Attestation int    `json:"attestation"`
			}{dealer, keyfile.Fingerprint(dealing.PublicKey()), hex.EncodeToString(h[:]), timeText(t.Time.UnixMilli()), t.Party, len(t.Attestation)}
			if out == "-" {
				return nil
			}
			return e.print(result, func(w io.Writer) {
				writeFields(w, []field{
					{"dealer", result.Dealer}, {"key", result.Fingerprint}, {"hash", result.Hash}, {"time", result.Time},
					{"asked by", result.Party}, {"attestation", fmt.Sprintf("%d bytes", result.Attestation)},
				})
				fmt.Fprintf(w, "\nThe dealer has signed it, and it is of this dealing.\n")
				for _, file := range shares {
					fmt.Fprintf(w, "%s is the share that was dealt to %s.\n", inputName(file), holderName(file))
				}
			})
		},
	}
	fl := c.Flags()
	fl.StringVar(&dealer, "dealer", "", "`FINGERPRINT` of the dealer's node")
	fl.StringVar(&ceremony, "ceremony", "", "the dealing, `FILE`")
	c.MarkFlagRequired("dealer")
	c.MarkFlagRequired("ceremony")
	fl.StringArrayVar(&shares, "share", nil, "check the share `FILE`, which needn't be opened (repeatable)")
	addOutFlag(c, &out, "")
	addForceFlag(c, &force)
	describe(c, "dealer, fingerprint, hash, time, party, attestation", ExitInvalid)
	return c
}
