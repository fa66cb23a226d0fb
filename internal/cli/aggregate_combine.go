// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/undersign/undersign/bls"
)

type aggregateCombineFlags struct {
	keys       blsKeyFlags
	message    blsMessageFlags
	files      []string
	weighted   bool
	withoutBad bool
	raw        bool
	out        string
	force      bool
}

func newAggregateCombineCmd(e *env) *cobra.Command {
	var f aggregateCombineFlags
	c := &cobra.Command{
		Use:   "combine SIG... -o FILE",
		Short: "Add BLS signatures up to one",
		Long: `Add signatures up to one, in any order.

With the signers' keys, in the order of the signatures, and the message, or one
for each, every signature is verified first, and the bad ones are named. Without
them nothing is checked: one bad signature spoils the sum.

With --weighted, signatures of one message of 32 bytes are multiplied by weights
that depend on all keys, so that keys need no proofs: see verify.`,
		Example: `  undersign aggregate combine motion.txt.*.sig -o motion.txt.sig
  undersign aggregate combine a.sig b.sig -o all.sig --key a.pub --key b.pub --message motion.txt
  undersign aggregate combine a.sig b.sig -o all.sig --key a.pub --key b.pub --message motion.txt --sha256 --weighted`,
		Args: nargs(1, -1, "a signature"),
		RunE: func(c *cobra.Command, args []string) error { return e.aggregateCombine(c, f, args) },
	}
	addBLSKeyFlags(c, &f.keys)
	fl := c.Flags()
	fl.StringArrayVar(&f.files, "message", nil, "message that was signed, `FILE` (repeatable)")
	addBLSMessageFlags(c, &f.message)
	fl.Lookup("sha256").Usage = "the SHA-256 of each message was signed"
	fl.BoolVar(&f.weighted, "weighted", false, "weight the signatures by their keys (Boneh, Drijvers and Neven)")
	fl.BoolVar(&f.withoutBad, "without-bad", false, "leave bad signatures out")
	fl.BoolVar(&f.raw, "raw", false, "write the signature's bytes, not hexadecimal")
	addOutFlag(c, &f.out, "")
	addForceFlag(c, &f.force)
	c.MarkFlagRequired("out")
	describe(c, "signature (file), hex, combined (number of signatures), verified, bad [file, index, reason]", ExitInvalid)
	describeExit(c, ExitInvalid, "a signature is bad, and nothing was written")
	return c
}

type aggregateBad struct {
	File   string `json:"file"`
	Index  int    `json:"index"`
	Reason string `json:"reason"`
}

type aggregateCombineResult struct {
	Signature string         `json:"signature,omitempty"`
	Hex       string         `json:"hex,omitempty"`
	Combined  int            `json:"combined"`
	Verified  bool           `json:"verified"`
	Bad       []aggregateBad `json:"bad"`
}

func (e *env) aggregateCombine(c *cobra.Command, f aggregateCombineFlags, files []string) error {
	if err := e.checkOut(f.out, f.force); err != nil {
		return err
	}
	scheme, keys, err := e.readBLSKeys(c, f.keys)
	if err != nil {
		return err
	}
	msgs, err := e.readBLSMessages(c, f.files, f.message)
	if err != nil {
		return err
	}
	switch {
	case (len(keys) > 0) != (len(msgs) > 0):
		return usagef(c, "signatures are verified by keys and messages: give both, or none")
	case f.weighted && len(keys) == 0:
		return usagef(c, "weights depend on the keys: give them, and the message")
	case f.withoutBad && len(keys) == 0:
		return usagef(c, "--without-bad needs the keys and the messages")
	}
	var sigs []blsSig
	for _, file := range files {
		s, err := e.readBLSSignature(c.Context(), file)
		if err != nil {
			return err
		}
		sigs = append(sigs, s)
	}
	r := aggregateCombineResult{Bad: []aggregateBad{}}
	if len(keys) > 0 {
		if keys, msgs, err = matchBLS(c, keys, msgs, len(sigs)); err != nil {
			return err
		}
		r.Verified = true
		for i := range sigs {
			sigs[i].checkGroup(scheme)
		}
		for _, i := range badBLS(scheme, keys, msgs, sigs) {
			r.Bad = append(r.Bad, sigs[i].bad(i, keys[i].name))
		}
	} else {
		for i, s := range sigs {
			if s.err != nil {
				r.Bad = append(r.Bad, s.bad(i, ""))
			}
		}
	}
	for _, b := range r.Bad {
		e.warnf("%s: %s", b.File, b.Reason)
	}
	if len(r.Bad) > 0 && (!f.withoutBad || len(r.Bad) == len(sigs)) {
		hint := "leave them out with --without-bad"
		if !r.Verified || len(r.Bad) == len(sigs) {
			hint = ""
		}
		return e.failWith(r, failf(ExitInvalid, hint, "%d of %s bad", len(r.Bad), countOf(len(sigs), "signature")))
	}
	isBad := map[int]bool{}
	for _, b := range r.Bad {
		isBad[b.Index] = true
	}
	var good []*bls.Signature
	var goodKeys []*bls.PublicKey
	for i, s := range sigs {
		if isBad[i] {
			continue
		}
		good = append(good, s.sig)
		if len(keys) > 0 {
			goodKeys = append(goodKeys, keys[i].key)
		}
	}
	sum, err := combineBLS(c, scheme, f.weighted, goodKeys, msgs, good)
	if err != nil {
		return err
	}
	data := sum.Bytes()
	if !f.raw {
		data = blsHex(data)
	}
	if err := e.writeFile(f.out, data, publicFile, f.force); err != nil {
		return err
	}
	if !r.Verified {
		e.notef("the signatures weren't verified: give the keys and messages for that")
	}
	if f.out == "-" {
		return nil
	}
	r.Signature, r.Hex, r.Combined = f.out, sum.String(), len(good)
	return e.print(r, func(w io.Writer) { fmt.Fprintf(w, "%s: %s\n", r.Signature, countOf(r.Combined, "signature")) })
}

// combineBLS returns the sum of signatures, weighted or not.
func combineBLS(c *cobra.Command, scheme bls.Scheme, weighted bool, keys []*bls.PublicKey, msgs []blsMessage, sigs []*bls.Signature) (*bls.Signature, error) {
	if !weighted {
		sum, err := bls.Aggregate(sigs...)
		if err != nil {
			return nil, fmt.Errorf("%s", blsReason(err))
		}
		return sum, nil
	}
	digest, err := blsDigest(c, msgs)
	if err != nil {
		return nil, err
	}
	sum, err := scheme.BDNAggregate(keys, digest, sigs)
	if err != nil {
		return nil, fmt.Errorf("%s", blsReason(err))
	}
	return sum, nil
}

// blsDigest returns the one message of a weighted aggregate.
func blsDigest(c *cobra.Command, msgs []blsMessage) (digest [32]byte, err error) {
	for _, m := range msgs {
		if len(m.data) != len(digest) {
			return digest, failf(ExitUsage, "sign with --sha256", "%s has %d bytes: weighted aggregates are of a digest of 32", m.name, len(m.data))
		}
		if string(m.data) != string(msgs[0].data) {
			return digest, usagef(c, "a weighted aggregate is of one message")
		}
	}
	return [32]byte(msgs[0].data), nil
}

// matchBLS repeats the one key, or the one message, of n signatures.
func matchBLS(c *cobra.Command, keys []blsKey, msgs []blsMessage, n int) ([]blsKey, []blsMessage, error) {
	if len(keys) == 1 {
		keys = repeat(keys[0], n)
	}
	if len(msgs) == 1 {
		msgs = repeat(msgs[0], n)
	}
	if len(keys) != n || len(msgs) != n {
		return nil, nil, usagef(c, "%s with %s and %s: there is one for each, or one for all", countOf(n, "signature"), countOf(len(keys), "key"), countOf(len(msgs), "message"))
	}
	return keys, msgs, nil
}

func repeat[T any](x T, n int) []T {
	out := make([]T, n)
	for i := range out {
		out[i] = x
	}
	return out
}

// badBLS verifies signatures, each for itself, and returns which are bad.
func badBLS(scheme bls.Scheme, keys []blsKey, msgs []blsMessage, sigs []blsSig) []int {
	b := bls.NewBatch(scheme)
	for i, s := range sigs {
		b.Add(keys[i].key, msgs[i].data, s.sig)
	}
	var bad *bls.BatchError
	if errors.As(b.Verify(), &bad) {
		return bad.Bad
	}
	return nil
}

// bad says why a signature is a bad one.
func (s *blsSig) bad(index int, key string) aggregateBad {
	reason := "not a signature of the message by this key (" + key + ")"
	if s.err != nil {
		reason = "not a signature: " + blsReason(s.err)
	}
	return aggregateBad{s.name, index, reason}
}
