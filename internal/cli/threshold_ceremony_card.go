// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"fmt"
	"io"

	"filippo.io/age"
	"github.com/spf13/cobra"

	"github.com/undersign/undersign/keyfile"
	"github.com/undersign/undersign/thresholdrsa"
)

type cardFlags struct {
	heldFlags
	name  string
	out   string
	force bool
}

func (k *ceremony) cardCmd() *cobra.Command {
	var f cardFlags
	c := &cobra.Command{
		Use:   "card",
		Short: "Make a receiver's card and the key that belongs to it",
		Long: `Make the card of somebody who is to get a share: a name, an identity, a fresh
key that shares are sealed to in this one ceremony, and a key for the next. The
card is public; give it to whoever proposes, and compare its fingerprint when
the proposal comes.

A holder makes it from its share, and keeps its identity. The secret half goes
beside it, encrypted, and serves one ceremony.`,
		Args: noArgs,
	}
	c.Example = k.example("card --share alice.share -i alice.key", "card --share alice.share -i alice.key -o alice-2.card")
	if k.name == "reshare" {
		c.Long += `

Somebody who holds no share gives a name, and makes a new identity. So does a
holder who has lost its share.`
		c.Example = k.example("card --share alice.share -i alice.key", "card --name dave --to dave.txt")
		c.Flags().StringVar(&f.name, "name", "", "`NAME` of somebody who holds no share")
	}
	c.RunE = func(c *cobra.Command, args []string) error {
		if (f.share == "") == (f.name == "") {
			if k.name == "refresh" {
				return usagef(c, "give the holder's share with --share")
			}
			return usagef(c, "give either --share or --name")
		}
		return k.card(c.Context(), f)
	}
	c.Flags().StringVar(&f.share, "share", "", "the holder's share `FILE`")
	addSecretFlags(c, &f.secretFlags)
	c.Flags().StringVar(&f.to, "to", "", "encrypt the card's key to the age recipients `FILE`\n(default: to the identity or passphrase that opens the share)")
	addOutFlag(c, &f.out, "NAME.card; the key goes to NAME.card.key")
	addForceFlag(c, &f.force)
	return describe(c, "card, card_key, name, fingerprint")
}

func (k *ceremony) card(ctx context.Context, f cardFlags) error {
	e := k.e
	o, to, release, err := f.open(ctx, e)
	if err != nil {
		return err
	}
	defer release()
	var rk *thresholdrsa.ReceiverKey
	var like *sealedFile
	if f.share != "" {
		var share *thresholdrsa.KeyShare
		if share, like, err = o.openShare(f.share); err != nil {
			return err
		}
		defer share.Wipe()
		rk, err = share.NewReceiver()
	} else {
		if err := checkHolderName(f.name); err != nil {
			return err
		}
		rk, err = thresholdrsa.NewReceiver(f.name)
	}
	if err != nil {
		return err
	}
	defer rk.Wipe()
	card, err := rk.Receiver()
	if err != nil {
		return err
	}

	out := f.out
	if out == "" {
		out = rk.Name() + ".card"
		if err := checkHolderName(rk.Name()); err != nil {
			return failf(ExitUsage, "name the file with -o", "%q can't be part of a file name", rk.Name())
		}
	}
	if out == "-" {
		return failf(ExitUsage, "name a file", "a card has a key beside it, and can't go to standard output")
	}
	file, err := o.newSecretFile(out+".key", to, like)
	if err != nil {
		return err
	}
	secret, err := file.encode(rk)
	if err != nil {
		return err
	}
	public, err := keyfile.Encode(card)
	if err != nil {
		return err
	}
	s := e.newFileSet(f.force)
	defer s.abort()
	if err := s.add(file.path, secret, secretFile); err != nil {
		return err
	}
	if err := s.add(out, public, publicFile); err != nil {
		return err
	}
	if err := s.commit(); err != nil {
		return err
	}
	type result struct {
		Card        string `json:"card"`
		CardKey     string `json:"card_key"`
		Name        string `json:"name"`
		Fingerprint string `json:"fingerprint"`
	}
	return e.print(result{out, file.path, rk.Name(), keyfile.Fingerprint(card)}, func(w io.Writer) {
		fmt.Fprintf(w, "%s: the card of %s, %s\n", out, printable(rk.Name()), keyfile.Fingerprint(card))
		fmt.Fprintf(w, "%s: its key, to be kept secret\n", file.path)
	})
}

// newSecretFile says how a new secret is to be stored: for to, for those who
// read like, for the identities that were given, under the passphrase that was, or in the
// open if that was asked for.
func (o *opener) newSecretFile(path string, to []age.Recipient, like *sealedFile) (*sealedFile, error) {
	f := &sealedFile{path: path, recipients: to}
	if len(to) > 0 {
		return f, nil
	}
	if like != nil {
		f.recipients, f.plaintext = like.recipients, like.plaintext
	} else {
		for _, id := range o.identities {
			f.recipients = append(f.recipients, nonNil(recipient(id))...)
		}
		f.plaintext = len(f.recipients) == 0 && o.flags.plaintext
		if pass := o.flags.pass; len(f.recipients) == 0 && !f.plaintext && (pass.file != "" || pass.fd != -1) {
			p, err := o.passphrase(path)
			if err != nil {
				return nil, err
			}
			defer clear(p)
			r, err := age.NewScryptRecipient(string(p))
			if err != nil {
				return nil, err
			}
			f.recipients = nonNil(r)
		}
	}
	if len(f.recipients) == 0 && !f.plaintext {
		return nil, failf(ExitUsage, "name a recipients file with --to, or a passphrase with --passphrase-file", "%s: can't tell to whom it is to be encrypted", path)
	}
	return f, nil
}
