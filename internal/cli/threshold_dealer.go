// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/undersign/undersign/internal/nodedir"
	"github.com/undersign/undersign/internal/threshold"
	"github.com/undersign/undersign/keyfile"
	"github.com/undersign/undersign/thresholdrsa"
)

// Names of the files that a dealer writes, beside one NAME.share for each holder.
const (
	publicKeyName = "threshold.pub"
	rsaKeyName    = "rsa.pub.pem"
	ceremonyName  = "ceremony.txt"
	shareSuffix   = ".share"
)

const dealerFiles = `DIR gets threshold.pub, the threshold public key; rsa.pub.pem, the RSA public
key as OpenSSL reads it; NAME.share for each holder, encrypted to the holder's
age recipients; and ceremony.txt, from which anybody can check the dealing.`

const dealerJSON = "fingerprint, bits, threshold, form, holders [index, name, file], files [public_key, rsa_public_key, ceremony]"

// dealerFlags are the flags of keygen, deal and import.
type dealerFlags struct {
	holders   holderFlags
	k         int
	out       string
	plaintext bool
	force     bool
	nodes     []string // folders of nodes, in the place of recipients
	name      string   // of the key, at these
}

func addDealerFlags(c *cobra.Command, f *dealerFlags) {
	c.Flags().IntVarP(&f.k, "threshold", "k", 0, "how many holders sign, `K`")
	addHolderFlags(c, &f.holders)
	addDealtNodeFlags(c, f)
	c.Flags().StringVarP(&f.out, "out", "o", "", "write the files to the directory `DIR`")
	addForceFlag(c, &f.force)
	c.MarkFlagRequired("out")
}

// A dealer deals shares into a directory.
type dealer struct {
	e       *env
	flags   dealerFlags
	holders []holder
	nodes   []*dealtNode // those that are to hold the shares, if they are here
	made    bool         // we made the directory
}

// newDealer checks all that can be checked before the key is there, since making
// one takes long. Defer cleanup.
func (e *env) newDealer(c *cobra.Command, f dealerFlags) (_ *dealer, err error) {
	d := &dealer{e: e, flags: f}
	defer func() {
		if err != nil {
			d.cleanup()
		}
	}()
	switch {
	case !c.Flags().Changed("threshold"):
		return nil, usagef(c, "no threshold given: -k K")
	case len(f.holders.to) > 0 && f.plaintext:
		return nil, usagef(c, "--to encrypts the shares and --insecure-plaintext doesn't: give one of them")
	case len(f.nodes) > 0 && f.plaintext:
		return nil, usagef(c, "--node encrypts the shares and --insecure-plaintext doesn't: give one of them")
	case f.plaintext:
		if len(f.holders.names) == 0 {
			return nil, usagef(c, "--insecure-plaintext needs the holders' --names")
		}
		if d.holders, err = namedHolders(f.holders.names); err != nil {
			return nil, err
		}
	case len(f.nodes) > 0:
		d.flags.name = keyNameOf(f)
		if d.nodes, err = e.openDealtNodes(f.nodes, d.flags.name); err != nil {
			return nil, err
		}
		to := holderFlags{names: dealtNames(d.nodes)}
		for _, dir := range f.nodes {
			to.to = append(to.to, filepath.Join(dir, nodedir.Recipient))
		}
		if d.holders, err = e.readHolders(c.Context(), to); err != nil {
			return nil, err
		}
	case f.name != "":
		return nil, usagef(c, "--name goes with --node")
	case len(f.holders.to) == 0:
		return nil, failf(ExitUsage, "give one recipients file a holder: --to alice.txt,bob.txt,carol.txt; or the folders of nodes with --node", "nobody to deal shares to")
	default:
		if d.holders, err = e.readHolders(c.Context(), f.holders); err != nil {
			return nil, err
		}
	}
	l := len(d.holders)
	if l < 2 || l > thresholdrsa.MaxHolders || f.k < 1 || f.k > l {
		return nil, usagef(c, "a threshold of %d with %d holders: want 1 <= K <= L and 2 <= L <= %d", f.k, l, thresholdrsa.MaxHolders)
	}
	if f.k == 1 {
		e.warnf("a threshold of 1: each holder can sign alone, and has the whole key")
	}
	for _, path := range d.paths() {
		if _, err := os.Lstat(path); err == nil && !f.force {
			return nil, existsError(path)
		}
	}
	return d, d.makeDir()
}

func (d *dealer) path(name string) string { return filepath.Join(d.flags.out, name) }

func (d *dealer) paths() []string {
	paths := []string{d.path(publicKeyName), d.path(rsaKeyName), d.path(ceremonyName)}
	for _, h := range d.holders {
		paths = append(paths, d.path(h.name+shareSuffix))
	}
	return paths
}

func (d *dealer) makeDir() error {
	if d.flags.out == "-" {
		return failf(ExitUsage, "name a directory with -o", "a dealing is several files, and can't go to standard output")
	}
	if d.e.dryRun {
		return nil
	}
	_, err := os.Stat(d.flags.out)
	d.made = errors.Is(err, fs.ErrNotExist)
	if err := os.MkdirAll(d.flags.out, 0o777); err != nil {
		return outputError(d.flags.out, err)
	}
	return nil
}

// cleanup removes the directory if nothing was written to it, and gives folders back.
func (d *dealer) cleanup() {
	closeDealtNodes(d.nodes)
	d.nodes = nil
	if d.made {
		os.Remove(d.flags.out) // fails if something is in it
	}
}

func (d *dealer) options() *thresholdrsa.DealOptions {
	o := new(thresholdrsa.DealOptions)
	for _, h := range d.holders {
		o.Names = append(o.Names, h.name)
	}
	return o
}

type dealtHolder struct {
	Index int    `json:"index"`
	Name  string `json:"name"`
	File  string `json:"file"`
}

type dealResult struct {
	Fingerprint string        `json:"fingerprint"`
	Bits        int           `json:"bits"`
	Threshold   int           `json:"threshold"`
	Form        string        `json:"form"`
	Holders     []dealtHolder `json:"holders"`
	Files       dealtFiles    `json:"files"`
}

type dealtFiles struct {
	PublicKey    string `json:"public_key"`
	RSAPublicKey string `json:"rsa_public_key"`
	Ceremony     string `json:"ceremony"`
}

// finish checks a dealing as its holders will, writes it, all files or none, and
// prints the result. It wipes the shares.
func (d *dealer) finish(ctx context.Context, dealing *thresholdrsa.Dealing, shares []*thresholdrsa.KeyShare) error {
	defer func() {
		for _, s := range shares {
			s.Wipe()
		}
	}()
	p := dealing.PublicKey()
	progress := d.e.startProgress()
	progress.update("Checking the dealing")
	if err := dealing.Verify(); err != nil {
		return thresholdError(err)
	}
	for _, s := range shares {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := s.Check(); err != nil {
			return thresholdError(err)
		}
	}
	progress.done()

	set := d.e.newFileSet(d.flags.force)
	defer set.abort()
	r := dealResult{
		Fingerprint: keyfile.Fingerprint(p),
		Bits:        p.RSA().N.BitLen(),
		Threshold:   p.Threshold(),
		Form:        p.Form().String(),
		Files:       dealtFiles{d.path(publicKeyName), d.path(rsaKeyName), d.path(ceremonyName)},
	}
	if err := addObject(set, r.Files.PublicKey, p); err != nil {
		return err
	}
	spki, err := encodeSPKI(p)
	if err != nil {
		return err
	}
	if err := set.add(r.Files.RSAPublicKey, spki, publicFile); err != nil {
		return err
	}
	if err := addObject(set, r.Files.Ceremony, dealing); err != nil {
		return err
	}
	for i, h := range d.holders {
		var data []byte
		if d.flags.plaintext {
			data, err = keyfile.EncodeInsecurePlaintext(shares[i])
			defer clear(data)
		} else {
			data, err = seal(shares[i], h.to)
		}
		if err != nil {
			return fmt.Errorf("share of %s: %w", h.name, err)
		}
		file := d.path(h.name + shareSuffix)
		if err := set.add(file, data, secretFile); err != nil {
			return err
		}
		r.Holders = append(r.Holders, dealtHolder{i + 1, h.name, file})
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := set.commit(); err != nil {
		return err
	}
	if err := d.place(r.Holders); err != nil {
		return err
	}
	if d.flags.plaintext {
		d.e.warnf("the shares aren't encrypted: whoever reads the files has them")
	}
	return d.e.print(r, func(w io.Writer) {
		fmt.Fprintf(w, "RSA key of %d bits, shared among %d holders; any %d of them sign\n", r.Bits, len(r.Holders), r.Threshold)
		fmt.Fprintf(w, "fingerprint %s\n\n", r.Fingerprint)
		files := []field{
			{r.Files.PublicKey, "threshold public key, for everybody"},
			{r.Files.RSAPublicKey, "RSA public key, for whoever verifies signatures"},
			{r.Files.Ceremony, "shows that the dealing is right, for everybody"},
		}
		for _, h := range r.Holders {
			files = append(files, field{h.File, fmt.Sprintf("share %d, for %s only", h.Index, h.Name)})
		}
		writeFields(w, files)
		if len(d.nodes) > 0 {
			fmt.Fprintf(w, "\nThe nodes call the key %s, and rules call it %s. Start each of them, and sign:\n", d.flags.name, threshold.KeyName(p))
			fmt.Fprintf(w, "  undersign serve --dir %s\n", d.nodes[0].dir)
			fmt.Fprintf(w, "  undersign threshold sign-file FILE --key %s --dir %s\n", r.Files.PublicKey, d.nodes[0].dir)
			return
		}
		fmt.Fprintf(w, "\nEach holder should now run, with the fingerprint above in mind:\n")
		h := r.Holders[0]
		fmt.Fprintf(w, "  undersign threshold verify-ceremony %s --share %s -i IDENTITY\n", r.Files.Ceremony, h.File)
	})
}

// addObject stages a public object.
func addObject(set *fileSet, path string, v keyfile.Object) error {
	data, err := keyfile.Encode(v)
	if err != nil {
		return err
	}
	return set.add(path, data, publicFile)
}

// encodeSPKI returns the RSA public key of p as PEM, as OpenSSL reads it.
func encodeSPKI(p *thresholdrsa.PublicKey) ([]byte, error) {
	der, err := x509.MarshalPKIXPublicKey(p.RSA())
	if err != nil {
		return nil, err
	}
	return pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der}), nil
}
