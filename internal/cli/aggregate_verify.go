// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/undersign/undersign/bls"
)

type aggregateVerifyFlags struct {
	keys     blsKeyFlags
	message  blsMessageFlags
	sigs     []string
	sigHex   []string
	weighted bool
	assume   bool
}

func newAggregateVerifyCmd(e *env) *cobra.Command {
	var f aggregateVerifyFlags
	c := &cobra.Command{
		Use:   "verify FILE... --sig FILE --key FILE...",
		Short: "Check a BLS signature, or an aggregate",
		Long: `Check a BLS signature, or an aggregate of many, by the keys of all signers.

With as many keys as messages, each key has signed its message. With one message
all keys have signed it: keys for pop must be proven then, so that proofs are
given in their place. One key may have signed several messages. With --weighted
the aggregate is one of combine --weighted, and its keys need no proofs.

With several signatures each is checked for itself, by its own key and message,
and the bad ones are named.

The keys of other programs are in hexadecimal, and so are their proofs, in a
second word on a key's line; --scheme says what they are for.`,
		Example: `  undersign aggregate verify motion.txt --sig motion.txt.sig --key alice.key.proof --key bob.key.proof
  undersign aggregate verify motion.txt --sig motion.txt.alice.sig --key alice.key.pub
  undersign aggregate verify --messages messages.txt --key keys.txt --scheme augmented --sig bundle.sig
  undersign aggregate verify a.txt b.txt --sig a.sig --sig b.sig --key alice.key.pub`,
		Args: nargs(0, -1, "a file"),
		RunE: func(c *cobra.Command, args []string) error { return e.aggregateVerify(c, f, args) },
	}
	fl := c.Flags()
	fl.StringArrayVar(&f.sigs, "sig", nil, "the signature, `FILE` (repeatable)")
	fl.StringArrayVar(&f.sigHex, "sig-hex", nil, "the signature in hexadecimal, `HEX` (repeatable)")
	addBLSKeyFlags(c, &f.keys)
	addBLSMessageFlags(c, &f.message)
	fl.Lookup("sha256").Usage = "the SHA-256 of each message was signed"
	fl.BoolVar(&f.weighted, "weighted", false, "the signature is weighted by the keys (Boneh, Drijvers and Neven)")
	fl.BoolVar(&f.assume, "insecure-proven", false, "take keys for proven that come without a proof: only if they\nwere proven before, and nobody else could change them")
	c.MarkFlagsOneRequired("sig", "sig-hex")
	c.MarkFlagsMutuallyExclusive("sig", "sig-hex")
	c.MarkFlagsMutuallyExclusive("weighted", "insecure-proven")
	describe(c, "valid, scheme, min_sig, kind (signature, aggregate, fast, weighted or separate), keys, messages, reason (of an invalid one), bad [file, index, reason] (of separate ones)", ExitInvalid)
	describeExit(c, ExitInvalid, "a signature or a proof is invalid")
	return c
}

type aggregateVerifyResult struct {
	Valid    bool           `json:"valid"`
	Scheme   string         `json:"scheme"`
	MinSig   bool           `json:"min_sig"`
	Kind     string         `json:"kind"`
	Keys     int            `json:"keys"`
	Messages int            `json:"messages"`
	Reason   string         `json:"reason,omitempty"`
	Bad      []aggregateBad `json:"bad,omitempty"`
}

func (e *env) aggregateVerify(c *cobra.Command, f aggregateVerifyFlags, files []string) error {
	scheme, keys, err := e.readBLSKeys(c, f.keys)
	if err != nil {
		return err
	}
	var sigs []blsSig
	for i, text := range f.sigHex {
		b, err := decodeHex(text)
		if err != nil {
			return usagef(c, "--sig-hex: %w", err)
		}
		s := parseBLSSignature(blsHex(b))
		s.name = fmt.Sprintf("signature %d", i+1)
		sigs = append(sigs, s)
	}
	for _, file := range f.sigs {
		s, err := e.readBLSSignature(c.Context(), file)
		if err != nil {
			return err
		}
		sigs = append(sigs, s)
	}
	msgs, err := e.readBLSMessages(c, files, f.message)
	if err != nil {
		return err
	}
	// Chia's augmented aggregate of nothing is the identity.
	if len(keys) == 0 && (f.keys.scheme != "augmented" || len(msgs) > 0) {
		return usagef(c, "name the keys with --key or --key-hex")
	}
	if len(keys) == 0 {
		scheme = bls.Augmented
	}
	if len(msgs) == 0 && len(keys) > 0 {
		return usagef(c, "name the messages: files, --message-hex or --messages")
	}
	for i := range sigs {
		sigs[i].checkGroup(scheme)
	}
	r := aggregateVerifyResult{Scheme: blsName(scheme), MinSig: isMinSig(scheme), Keys: len(keys), Messages: len(msgs)}
	if len(sigs) > 1 {
		return e.verifySeparate(c, r, scheme, keys, msgs, sigs, f)
	}
	v, err := blsEquationOf(c, scheme, keys, msgs, f)
	if err != nil {
		return err
	}
	r.Kind = v.kind
	reason := sigs[0].err
	if reason == nil {
		reason = v.verify(sigs[0].sig)
	}
	if reason == nil {
		r.Valid = true
		return e.print(r, func(w io.Writer) { fmt.Fprintf(w, "valid %s\n", r.text(scheme)) })
	}
	r.Reason = blsReason(reason)
	return e.failWith(r, failf(ExitInvalid, "", "invalid signature: %s: %s", sigs[0].name, r.Reason))
}

// text says what was verified.
func (r *aggregateVerifyResult) text(scheme bls.Scheme) string {
	switch r.Kind {
	case kindSignature:
		return "signature: " + blsText(scheme)
	case kindWeighted:
		return fmt.Sprintf("weighted aggregate: %s, %s", blsText(scheme), countOf(r.Keys, "key"))
	}
	return fmt.Sprintf("aggregate: %s, %s, %s", blsText(scheme), countOf(r.Keys, "key"), countOf(r.Messages, "message"))
}

// Kinds of verification.
const (
	kindSignature = "signature"
	kindAggregate = "aggregate"
	kindFast      = "fast"
	kindWeighted  = "weighted"
	kindSeparate  = "separate"
)

// A blsEquation is what a signature has to fulfil.
type blsEquation struct {
	kind   string
	verify func(sig *bls.Signature) error
}

// blsEquationOf finds out which it is from the numbers of keys and messages.
func blsEquationOf(c *cobra.Command, scheme bls.Scheme, keys []blsKey, msgs []blsMessage, f aggregateVerifyFlags) (v blsEquation, err error) {
	public := make([]*bls.PublicKey, len(keys))
	for i, k := range keys {
		public[i] = k.key
	}
	texts := make([][]byte, len(msgs))
	for i, m := range msgs {
		texts[i] = m.data
	}
	switch {
	case f.weighted:
		if len(msgs) != 1 {
			return v, usagef(c, "a weighted aggregate is of one message")
		}
		digest, err := blsDigest(c, msgs)
		if err != nil {
			return v, err
		}
		return blsEquation{kindWeighted, func(sig *bls.Signature) error { return scheme.BDNVerify(public, digest, sig) }}, nil
	case len(keys) == 1 && len(msgs) == 1:
		return blsEquation{kindSignature, func(sig *bls.Signature) error { return scheme.Verify(public[0], texts[0], sig) }}, nil
	case len(keys) == 1:
		public = repeat(public[0], len(msgs))
	case len(msgs) == 1 && blsName(scheme) == "basic":
		return v, failf(ExitUsage, "use --weighted, or keys for pop", "keys for basic don't sign one message together")
	case len(msgs) == 1 && blsName(scheme) == "pop":
		proven, err := provenBLS(scheme, keys, f.assume)
		if err != nil {
			return v, err
		}
		return blsEquation{kindFast, func(sig *bls.Signature) error { return scheme.FastAggregateVerify(proven, texts[0], sig) }}, nil
	case len(msgs) == 1:
		texts = repeat(texts[0], len(keys))
	case len(keys) != len(msgs):
		return v, usagef(c, "%s and %s: there is one for each, or one for all", countOf(len(keys), "key"), countOf(len(msgs), "message"))
	}
	if blsName(scheme) == "pop" && len(keys) > 1 && hasEqual(texts) {
		proven, err := provenBLS(scheme, keys, f.assume)
		if err != nil {
			return v, err
		}
		return blsEquation{kindAggregate, func(sig *bls.Signature) error { return scheme.AggregateVerifyProven(proven, texts, sig) }}, nil
	}
	return blsEquation{kindAggregate, func(sig *bls.Signature) error { return scheme.AggregateVerify(public, texts, sig) }}, nil
}

func hasEqual(texts [][]byte) bool {
	seen := map[string]bool{}
	for _, t := range texts {
		if seen[string(t)] {
			return true
		}
		seen[string(t)] = true
	}
	return false
}

// provenBLS returns keys that are proven, or taken for it.
func provenBLS(scheme bls.Scheme, keys []blsKey, assume bool) ([]*bls.ProvenKey, error) {
	proven := make([]*bls.ProvenKey, len(keys))
	var prove []blsKey
	var at []int
	for i, k := range keys {
		switch {
		case k.proof != nil:
			prove, at = append(prove, k), append(at, i)
		case assume:
			proven[i] = bls.AssumeProvenUnsafe(k.key)
		default:
			return nil, failf(ExitError, "give its proof, from \"undersign aggregate prove\", in its place", "%s: the key comes without a proof of possession", k.name)
		}
	}
	if len(prove) == 0 {
		return proven, nil
	}
	ks, bad, err := proveBLSKeys(scheme, prove)
	if err != nil {
		return nil, err
	}
	for i, k := range prove {
		if reason := bad[i]; reason != "" {
			return nil, failf(ExitInvalid, "", "%s: %s", k.name, reason)
		}
		proven[at[i]] = ks[i]
	}
	return proven, nil
}

// verifySeparate verifies several signatures, each for itself.
func (e *env) verifySeparate(c *cobra.Command, r aggregateVerifyResult, scheme bls.Scheme, keys []blsKey, msgs []blsMessage, sigs []blsSig, f aggregateVerifyFlags) error {
	if f.weighted || f.assume {
		return usagef(c, "--weighted and --insecure-proven are for one aggregate, and there are %d signatures", len(sigs))
	}
	if len(keys) == 0 {
		return usagef(c, "name the keys with --key or --key-hex")
	}
	keys, msgs, err := matchBLS(c, keys, msgs, len(sigs))
	if err != nil {
		return err
	}
	r.Kind = kindSeparate
	for _, i := range badBLS(scheme, keys, msgs, sigs) {
		r.Bad = append(r.Bad, sigs[i].bad(i, keys[i].name))
	}
	r.Valid = len(r.Bad) == 0
	text := func(w io.Writer) {
		bad := map[int]string{}
		for _, b := range r.Bad {
			bad[b.Index] = b.Reason
		}
		for i, s := range sigs {
			if reason := bad[i]; reason != "" {
				fmt.Fprintf(w, "%s: %s\n", s.name, reason)
			} else {
				fmt.Fprintf(w, "%s: valid signature of %s\n", s.name, msgs[i].name)
			}
		}
	}
	if err := e.print(r, text); err != nil || r.Valid {
		return err
	}
	return failf(ExitInvalid, "", "%d of %s bad", len(r.Bad), countOf(len(sigs), "signature"))
}

// isBLSFile reports whether a file is a key or a proof of BLS.
func isBLSFile(data []byte) bool {
	return bytes.Contains(data, []byte("-----BEGIN UNDERSIGN BLS "))
}

// verifyBLSFile is what "undersign verify" does with a BLS key.
func (e *env) verifyBLSFile(c *cobra.Command, f verifyFlags, file string, keyData []byte) error {
	for _, name := range []string{"padding", "hash", "salt"} {
		if c.Flags().Changed(name) {
			return usagef(c, "--%s is about RSA, and %s is a BLS key", name, inputName(f.key))
		}
	}
	scheme, key, err := parseBLSKey(f.key, keyData)
	if err != nil {
		return err
	}
	sig, err := e.readBLSSignature(c.Context(), f.sig)
	if err != nil {
		return err
	}
	msg, err := e.readBLSFile(c.Context(), file, false)
	if err != nil {
		return err
	}
	type result struct {
		Valid  bool   `json:"valid"`
		Scheme string `json:"scheme"`
		MinSig bool   `json:"min_sig"`
		Key    string `json:"key"`
		Reason string `json:"reason,omitempty"`
	}
	r := result{Scheme: blsName(scheme), MinSig: isMinSig(scheme), Key: key.key.String()}
	sig.checkGroup(scheme)
	reason := sig.err
	if reason == nil {
		reason = scheme.Verify(key.key, msg, sig.sig)
	}
	if reason == nil {
		r.Valid = true
		return e.print(r, func(w io.Writer) { fmt.Fprintf(w, "valid signature: BLS, %s\nkey %s\n", blsText(scheme), r.Key) })
	}
	r.Reason = blsReason(reason)
	if !errors.Is(reason, bls.ErrSignature) {
		return fileError(f.key, reason)
	}
	return e.failWith(r, failf(ExitInvalid, "\"undersign aggregate verify\" checks aggregates", "invalid signature: %s isn't a signature of %s by this key (%s)", sig.name, inputName(file), r.Reason))
}
