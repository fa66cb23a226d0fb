// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"
	"io"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/undersign/undersign/keyfile"
	"github.com/undersign/undersign/thresholdrsa"
)

// foreignFlags are those of an import of another library's share.
type foreignFlags struct {
	docs    []string
	share   string
	cards   []string
	cardKey string
}

func newThresholdImportCmd(e *env) *cobra.Command {
	var f dealerFlags
	var sf secretFlags
	var ff foreignFlags
	c := &cobra.Command{
		Use:   "import KEYFILE -k K --to FILE,... -o DIR",
		Short: "Deal shares of an existing RSA key, or adopt another library's shares",
		Long: `Deal shares of an existing RSA key with two primes of any kind, such as a CA's
or an Arweave wallet's.

` + keyFileHelp + `

` + dealerFiles + `

With --foreign, and without KEYFILE, a holder goes on with the share that it has
from niclabs/tcrsa (the key meta) or tss-rsa-cpp (the key meta and the public
key). All holders make cards first; then each imports its own share with the
cards of all, in the order of their indices. DIR gets NAME.share, threshold.pub
and rsa.pub.pem; the last two are the same for everybody.`,
		Example: `  undersign threshold import wallet.json -k 3 --to a.txt,b.txt,c.txt,d.txt,e.txt -o key
  undersign threshold import --foreign keymeta.json --share share-1.json \
      --cards alice.card,bob.card,carol.card --card-key alice.card.key -i alice.key -o key`,
		Args: nargs(0, 1, "a key file"),
		RunE: func(c *cobra.Command, args []string) error {
			switch {
			case len(ff.docs) > 0 && len(args) > 0:
				return usagef(c, "a KEYFILE is one way to import, and --foreign another")
			case len(ff.docs) > 0:
				return e.importForeign(c, f, sf, ff)
			case len(args) == 0:
				return usagef(c, "%q needs a key file", c.CommandPath())
			case ff.share != "" || len(ff.cards) > 0 || ff.cardKey != "":
				return usagef(c, "--share, --cards and --card-key go with --foreign")
			}
			return e.dealKeyFile(c, thresholdrsa.Import, args[0], f, sf)
		},
	}
	addDealerFlags(c, &f)
	addSecretFlags(c, &sf)
	c.Flags().Lookup("insecure-plaintext").Usage = "don't encrypt the shares"
	c.Flags().StringSliceVar(&ff.docs, "foreign", nil, "the other library's public JSON `FILE,...`")
	c.Flags().StringVar(&ff.share, "share", "", "the holder's share, a JSON `FILE` of the other library")
	c.Flags().StringSliceVar(&ff.cards, "cards", nil, "cards of all holders, `FILE,...` in the order of their indices")
	c.Flags().StringVar(&ff.cardKey, "card-key", "", "secret `FILE` of the holder's own card")
	return describe(c, dealerJSON+"; with --foreign: fingerprint, bits, threshold, index, name, file, public_key, rsa_public_key",
		ExitInvalid)
}

type foreignResult struct {
	Fingerprint  string `json:"fingerprint"`
	Bits         int    `json:"bits"`
	Threshold    int    `json:"threshold"`
	Index        int    `json:"index"`
	Name         string `json:"name"`
	File         string `json:"file"`
	PublicKey    string `json:"public_key"`
	RSAPublicKey string `json:"rsa_public_key"`
}

// importForeign adopts one holder's share of another library.
func (e *env) importForeign(c *cobra.Command, f dealerFlags, sf secretFlags, ff foreignFlags) error {
	ctx := c.Context()
	switch {
	case c.Flags().Changed("threshold") || len(f.holders.names) > 0:
		return usagef(c, "threshold and names are the other library's and the cards': --threshold and --names don't go with --foreign")
	case ff.share == "" || len(ff.cards) == 0 || ff.cardKey == "":
		return usagef(c, "--foreign needs --share, --cards and --card-key")
	case len(f.holders.to) > 1:
		return usagef(c, "--foreign imports one share: --to names one file")
	}
	var docs [][]byte
	for _, file := range ff.docs {
		data, err := e.readInput(ctx, file, maxObject)
		if err != nil {
			return err
		}
		docs = append(docs, data)
	}
	key, err := thresholdrsa.ParseForeignKey(docs...)
	if err != nil {
		return fileError(ff.docs[0], err)
	}
	var cards []*thresholdrsa.Receiver
	for _, file := range ff.cards {
		card, err := readObject[*thresholdrsa.Receiver](ctx, e, file)
		if err != nil {
			return err
		}
		cards = append(cards, card)
	}
	p, err := key.Record(cards)
	if err != nil {
		return thresholdError(err)
	}

	o, err := e.newOpener(ctx, sf)
	if err != nil {
		return err
	}
	defer o.wipe()
	cardKey, file, err := openSecret[*thresholdrsa.ReceiverKey](o, ff.cardKey)
	if err != nil {
		return err
	}
	defer cardKey.Wipe()
	file.path = ff.cardKey
	if len(f.holders.to) == 1 {
		if file.recipients, err = e.readRecipients(ctx, f.holders.to[0]); err != nil {
			return err
		}
		file.plaintext = false
	} else if !file.plaintext && len(file.recipients) == 0 {
		return failf(ExitUsage, "name a recipients file with --to", "can't tell to whom the share is to be encrypted")
	}
	doc, err := o.readSecretInput(ff.share)
	if err != nil {
		return err
	}
	defer clear(doc)
	share, err := key.Share(p, cardKey, doc)
	if err != nil {
		return fileError(ff.share, err)
	}
	defer share.Wipe()

	d := &dealer{e: e, flags: f}
	if err := checkHolderName(share.Name()); err != nil {
		return err
	}
	if err := d.makeDir(); err != nil {
		return err
	}
	defer d.cleanup()
	r := foreignResult{
		Fingerprint:  keyfile.Fingerprint(p),
		Bits:         p.RSA().N.BitLen(),
		Threshold:    p.Threshold(),
		Index:        share.Index(),
		Name:         share.Name(),
		File:         d.path(share.Name() + shareSuffix),
		PublicKey:    d.path(publicKeyName),
		RSAPublicKey: d.path(rsaKeyName),
	}
	set := e.newFileSet(f.force)
	defer set.abort()
	pub, err := keyfile.Encode(p)
	if err != nil {
		return err
	}
	spki, err := encodeSPKI(p)
	if err != nil {
		return err
	}
	// Other holders may have written these before.
	if err := addUnlessSame(set, r.PublicKey, pub); err != nil {
		return err
	}
	if err := addUnlessSame(set, r.RSAPublicKey, spki); err != nil {
		return err
	}
	data, err := file.encode(share)
	if err != nil {
		return err
	}
	if file.plaintext {
		defer clear(data)
	}
	if err := set.add(r.File, data, secretFile); err != nil {
		return err
	}
	if err := set.commit(); err != nil {
		return err
	}
	if !e.dryRun {
		e.warnf("%s still holds the share: destroy it once the new one has been tried", inputName(ff.share))
	}
	return e.print(r, func(w io.Writer) {
		fmt.Fprintf(w, "share %d of %s, for a key of %d bits of which any %d holders sign\n", r.Index, r.Name, r.Bits, r.Threshold)
		fmt.Fprintf(w, "fingerprint %s (the same for all holders, or something is wrong)\n\n", r.Fingerprint)
		fmt.Fprintf(w, "  %s\n  %s\n  %s\n", filepath.Clean(r.File), r.PublicKey, r.RSAPublicKey)
	})
}

// addUnlessSame stages a public file, unless it is there with this very content.
func addUnlessSame(set *fileSet, path string, data []byte) error {
	if holds(path, data) {
		return nil
	}
	return set.add(path, data, publicFile)
}
