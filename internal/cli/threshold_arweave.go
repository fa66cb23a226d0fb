// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"crypto"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/undersign/undersign/internal/arweave"
	"github.com/undersign/undersign/keyfile"
	"github.com/undersign/undersign/thresholdrsa"
)

func newThresholdArweaveCmd(e *env) *cobra.Command {
	c := newGroupCmd(e, "arweave", "Sign Arweave transactions by quorum", `
A threshold key of 4096 bits is an Arweave wallet that nobody holds alone. Make
a transaction with any tool, as JSON and of format 2, and don't sign it there:
request asks the holders for a signature, and finish adds it and the id.`,
		newArweaveAddressCmd(e),
		newArweaveRequestCmd(e),
		newArweaveShowCmd(e),
		newArweaveFinishCmd(e),
		newArweaveVerifyCmd(e),
	)
	c.Example = `  undersign threshold arweave address --key key/threshold.pub
  undersign threshold arweave request tx.json --key key/threshold.pub
  undersign threshold arweave show tx.json --key key/threshold.pub
  undersign threshold sign tx.json.req --share alice.share -i alice.key
  undersign threshold sign tx.json.req --share bob.share -i bob.key
  undersign threshold arweave finish tx.json tx.json.req.alice tx.json.req.bob --key key/threshold.pub
  undersign threshold arweave verify tx.signed.json`
	return c
}

func (e *env) readTransaction(ctx context.Context, file string) (*arweave.Transaction, error) {
	data, err := e.readInput(ctx, file, maxObject)
	if err != nil {
		return nil, err
	}
	t, err := arweave.Parse(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", inputName(file), err)
	}
	return t, nil
}

// walletKey reads a threshold public key that can be a wallet's.
func (e *env) walletKey(ctx context.Context, file string) (*thresholdrsa.PublicKey, error) {
	p, err := e.readPublicKey(ctx, file)
	if err != nil {
		return nil, err
	}
	if err := arweave.CheckKey(p.RSA()); err != nil {
		return nil, failf(ExitError, "make one with \"undersign threshold keygen --bits 4096\"", "%s: %w", inputName(file), err)
	}
	return p, nil
}

// txResult says what a transaction does.
type txResult struct {
	ID       string     `json:"id,omitempty"`
	Owner    string     `json:"owner"`
	Target   string     `json:"target,omitempty"`
	Quantity string     `json:"quantity"`
	Reward   string     `json:"reward"`
	LastTx   string     `json:"last_tx,omitempty"`
	DataSize string     `json:"data_size"`
	DataRoot string     `json:"data_root,omitempty"`
	Tags     []txTag    `json:"tags"`
	Format   int        `json:"format"`
	Digest   string     `json:"digest,omitempty"`
	Request  string     `json:"request,omitempty"`
	File     string     `json:"file,omitempty"`
	Bad      []badShare `json:"bad"`
}

type txTag struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

const txJSON = "format, id, owner, target, quantity, reward, last_tx, data_size, data_root, tags [name, value]"

func describeTx(t *arweave.Transaction) txResult {
	b64 := base64.RawURLEncoding.EncodeToString
	r := txResult{
		ID: b64(t.ID), Owner: t.OwnerAddress(), Target: b64(t.Target), Quantity: t.Quantity, Reward: t.Reward,
		LastTx: b64(t.LastTx), DataSize: t.DataSize, DataRoot: b64(t.DataRoot), Format: t.Format, Bad: []badShare{},
	}
	r.Tags = []txTag{}
	for _, tag := range t.Tags {
		r.Tags = append(r.Tags, txTag{tagText(tag.Name), tagText(tag.Value)})
	}
	return r
}

// tagText shows the bytes of a tag: as text if they are, otherwise as hex:HEX.
func tagText(b []byte) string {
	unprintable := func(r rune) bool { return !unicode.IsPrint(r) }
	if utf8.Valid(b) && !strings.ContainsFunc(string(b), unprintable) && !strings.HasPrefix(string(b), "hex:") {
		return string(b)
	}
	return "hex:" + hex.EncodeToString(b)
}

func (r *txResult) fields() []field {
	fs := []field{{"from", r.Owner}}
	if r.Target != "" {
		fs = append(fs, field{"to", r.Target})
	}
	fs = append(fs, field{"amount", winston(r.Quantity)}, field{"fee", winston(r.Reward)}, field{"data", r.DataSize + " bytes"})
	if r.DataRoot != "" {
		fs = append(fs, field{"data root", r.DataRoot})
	}
	for _, tag := range r.Tags {
		fs = append(fs, field{"tag", tag.Name + ": " + tag.Value})
	}
	if r.LastTx != "" {
		fs = append(fs, field{"anchor", r.LastTx})
	}
	if r.ID != "" {
		fs = append(fs, field{"id", r.ID})
	}
	return fs
}

// winston shows an amount in AR, of 10^12 winston.
func winston(s string) string {
	const decimals = 12
	padded := strings.Repeat("0", max(decimals+1-len(s), 0)) + s
	point := len(padded) - decimals
	ar := strings.TrimSuffix(strings.TrimRight(padded[:point]+"."+padded[point:], "0"), ".")
	return fmt.Sprintf("%s AR (%s winston)", ar, s)
}

func newArweaveAddressCmd(e *env) *cobra.Command {
	var key string
	c := &cobra.Command{
		Use:   "address --key FILE",
		Short: "Print the address of a threshold key's wallet",
		Long: `Print the address of the wallet whose key is a threshold key: the SHA-256 of the
modulus. The key needs 4096 bits and the public exponent 65537.`,
		Example: `  undersign threshold arweave address --key key/threshold.pub`,
		Args:    noArgs,
		RunE: func(c *cobra.Command, args []string) error {
			p, err := e.walletKey(c.Context(), key)
			if err != nil {
				return err
			}
			addr, err := arweave.Address(p.RSA())
			if err != nil {
				return err
			}
			return e.print(struct {
				Address     string `json:"address"`
				Fingerprint string `json:"fingerprint"`
			}{addr, keyfile.Fingerprint(p)}, func(w io.Writer) { fmt.Fprintln(w, addr) })
		},
	}
	addKeyFlag(c, &key)
	return describe(c, "address, fingerprint")
}

// preparedTx reads a transaction, makes p its owner, and returns what is to be signed.
func (e *env) preparedTx(ctx context.Context, file string, p *thresholdrsa.PublicKey) (*arweave.Transaction, []byte, error) {
	t, err := e.readTransaction(ctx, file)
	if err != nil {
		return nil, nil, err
	}
	if err := t.Prepare(p.RSA()); err != nil {
		return nil, nil, fmt.Errorf("%s: %w", inputName(file), err)
	}
	digest, err := t.Digest()
	if err != nil {
		return nil, nil, err
	}
	return t, digest, nil
}

// txRequest reads the request for a transaction, and checks that it is.
func (e *env) txRequest(ctx context.Context, file, request string, p *thresholdrsa.PublicKey, digest []byte) (*thresholdrsa.Request, error) {
	if request == "" {
		if file == "-" {
			return nil, failf(ExitUsage, "name it with --request", "no request")
		}
		request = file + ".req"
	}
	r, err := e.readRequest(ctx, request, p)
	if err != nil {
		return nil, err
	}
	if r.Padding() != thresholdrsa.PSS || r.Hash() != crypto.SHA256 {
		return nil, failf(ExitInvalid, "", "%s isn't for a transaction: that is signed with PSS and SHA-256", inputName(request))
	}
	if string(r.Digest()) != string(digest) {
		return nil, failf(ExitInvalid, "give the transaction that the request was made for", "%s isn't for %s: the digests differ", inputName(request), inputName(file))
	}
	return r, nil
}

func addTxRequestFlag(c *cobra.Command, request *string) {
	c.Flags().StringVar(request, "request", "", "the request `FILE` (default: TX.json.req)")
}
