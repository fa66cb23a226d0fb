// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/undersign/undersign/bls"
	"github.com/undersign/undersign/keyfile"
)

type aggregateProveFlags struct {
	secret secretFlags
	key    string
	hex    bool
	check  []string
	out    string
	force  bool
}

func newAggregateProveCmd(e *env) *cobra.Command {
	var f aggregateProveFlags
	c := &cobra.Command{
		Use:   "prove --key FILE -i FILE",
		Short: "Prove that one has the secret of a BLS key",
		Long: `Write a proof of possession: that whoever made it has the secret of a key of the
scheme pop. The file holds the key too, and is given in the key's place wherever
keys must be proven.

With --check, verify the proofs in files that others made. A proof can be
copied: it says that somebody has the secret, not that whoever shows it does.`,
		Example: `  undersign aggregate prove --key alice.key -i alice-age.key
  undersign aggregate prove --check alice.key.proof --check bob.key.proof`,
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if len(f.check) > 0 {
				return e.aggregateCheckProofs(c, f.check)
			}
			return e.aggregateProve(c, f)
		},
	}
	fl := c.Flags()
	fl.StringVar(&f.key, "key", "", "the secret key, `FILE`")
	addSecretFlags(c, &f.secret)
	fl.BoolVar(&f.hex, "hex", false, "write the proof alone, in hexadecimal, for other programs")
	fl.StringArrayVar(&f.check, "check", nil, "verify the proof in `FILE` (repeatable): one of ours, or a list of\nkeys and proofs in hexadecimal")
	addOutFlag(c, &f.out, "KEY.proof")
	addForceFlag(c, &f.force)
	c.MarkFlagsOneRequired("key", "check")
	c.MarkFlagsMutuallyExclusive("key", "check")
	describe(c, "key, proof (file), hex (of the proof), public_key; with --check: valid, proofs [key, public_key, valid, reason]", ExitInvalid)
	describeExit(c, ExitInvalid, "with --check: some proofs are bad")
	return c
}

type aggregateProveResult struct {
	Key       string `json:"key"`
	Proof     string `json:"proof"`
	Hex       string `json:"hex"`
	PublicKey string `json:"public_key"`
}

func (e *env) aggregateProve(c *cobra.Command, f aggregateProveFlags) error {
	out := f.out
	if out == "" {
		out = f.key + ".proof"
	}
	if err := e.checkOut(out, f.force); err != nil {
		return err
	}
	secret, err := e.openBLSKey(c, f.secret, f.key)
	if err != nil {
		return err
	}
	defer secret.Wipe()
	if blsName(secret.Scheme) != "pop" {
		return failf(ExitError, "make a key with --scheme pop", "%s is for %s, which has no proofs", inputName(f.key), blsText(secret.Scheme))
	}
	proof, err := secret.Scheme.PopProve(secret.Key)
	if err != nil {
		return err
	}
	v := &keyfile.BLSProof{Scheme: secret.Scheme, Key: secret.PublicKey(), Proof: proof}
	if _, err := v.Scheme.PopVerify(v.Key, v.Proof); err != nil {
		return fmt.Errorf("the proof that was made isn't valid: %w", err) // a fault of the machine
	}
	data := blsHex(proof.Bytes())
	if !f.hex {
		if data, err = keyfile.Encode(v); err != nil {
			return err
		}
	}
	if err := e.writeFile(out, data, publicFile, f.force); err != nil || out == "-" {
		return err
	}
	r := aggregateProveResult{inputName(f.key), out, proof.String(), v.Key.String()}
	return e.print(r, func(w io.Writer) { fmt.Fprintf(w, "%s\n", out) })
}

// openBLSKey opens a secret key. Wipe it.
func (e *env) openBLSKey(c *cobra.Command, sf secretFlags, path string) (*keyfile.BLSSecretKey, error) {
	o, err := e.newOpener(c.Context(), sf)
	if err != nil {
		return nil, err
	}
	defer o.wipe()
	secret, _, err := openSecret[*keyfile.BLSSecretKey](o, path)
	return secret, err
}

type aggregateProofResult struct {
	Key       string `json:"key"`
	PublicKey string `json:"public_key"`
	Valid     bool   `json:"valid"`
	Reason    string `json:"reason,omitempty"`
}

type aggregateProofsResult struct {
	Valid  bool                   `json:"valid"`
	Proofs []aggregateProofResult `json:"proofs"`
}

func (e *env) aggregateCheckProofs(c *cobra.Command, files []string) error {
	scheme, keys, err := e.readBLSKeys(c, blsKeyFlags{files: files, scheme: "pop"})
	if err != nil {
		return err
	}
	_, bad, err := proveBLSKeys(scheme, keys)
	if err != nil {
		return err
	}
	r := aggregateProofsResult{Valid: len(bad) == 0}
	for i, k := range keys {
		reason := bad[i]
		r.Proofs = append(r.Proofs, aggregateProofResult{k.name, k.key.String(), reason == "", reason})
	}
	text := func(w io.Writer) {
		for _, p := range r.Proofs {
			if p.Valid {
				fmt.Fprintf(w, "%s: proved\n", p.Key)
			} else {
				fmt.Fprintf(w, "%s: %s\n", p.Key, p.Reason)
			}
		}
	}
	if err := e.print(r, text); err != nil || r.Valid {
		return err
	}
	return failf(ExitInvalid, "", "%d of %s not proven", len(bad), countOf(len(keys), "key"))
}

// proveBLSKeys verifies proofs together. It returns what is wrong with the bad ones,
// by index, and nil in their place among the keys.
func proveBLSKeys(scheme bls.Scheme, keys []blsKey) ([]*bls.ProvenKey, map[int]string, error) {
	var ks []*bls.PublicKey
	var proofs []*bls.Signature
	for _, k := range keys {
		ks, proofs = append(ks, k.key), append(proofs, k.proof)
	}
	proven, err := scheme.PopVerifyBatch(ks, proofs)
	var batch *bls.BatchError
	if err != nil && !errors.As(err, &batch) {
		return nil, nil, err
	}
	bad := map[int]string{}
	if batch != nil {
		for _, i := range batch.Bad {
			if bad[i] = "the proof of possession is invalid"; keys[i].proof == nil {
				bad[i] = "no proof of possession"
			}
		}
	}
	return proven, bad, nil
}
