// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"encoding/hex"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/undersign/undersign/keyfile"
	"github.com/undersign/undersign/ring"
)

func newRingCmd(e *env) *cobra.Command {
	c := newGroupCmd(e, "ring", "Sign as one of a list of keys, without saying which", `
Linkable ring signatures: one of the holders of a list of keys signed, and
nobody can find out which. There is no issuer, and no opener. Two signatures of
one holder in one scope, such as one vote, can be seen to be of one holder.

For groups with an issuer, who admits members and revokes them, see
"undersign help group".`,
		// One line a command, in the order in which help lists them.
		newRingKeygenCmd(e),
		newRingMakeCmd(e),
		newRingSignCmd(e),
		newRingVerifyCmd(e),
	)
	c.Example = `  undersign ring keygen -o alice.key --to alice.txt
  undersign ring make alice.key.pub bob.key.pub carol.key.pub -o board.ring
  undersign ring sign motion.txt --ring board.ring --key alice.key -i alice-age.key --scope 2026-11
  undersign ring verify motion.txt --ring board.ring --scope 2026-11`
	return c
}

type ringKeygenFlags struct {
	secret         secretFlags
	to, group, out string
	force          bool
}

func newRingKeygenCmd(e *env) *cobra.Command {
	var f ringKeygenFlags
	c := &cobra.Command{
		Use:   "keygen -o FILE --to FILE",
		Short: "Make a key for rings",
		Long: `Make a key for rings. FILE gets the private key, encrypted, and FILE.pub the
public key, which goes into rings. The key signs in rings and nowhere else.`,
		Example: `  undersign ring keygen -o alice.key --to alice.txt
  undersign ring keygen -o test.key --insecure-plaintext --group bls12381-g1`,
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error { return e.ringKeygen(c, f) },
	}
	addSecretFlags(c, &f.secret)
	c.Flags().Lookup("insecure-plaintext").Usage = "don't encrypt the private key"
	c.Flags().StringVar(&f.to, "to", "", "encrypt the private key to the age recipients `FILE`\n(default: to the identities given with -i, or the passphrase)")
	c.Flags().StringVar(&f.group, "group", ring.Ristretto255.String(), fmt.Sprintf("group of the key, `NAME`: %s or %s", ring.Ristretto255, ring.BLS12381G1))
	addOutFlag(c, &f.out, "")
	addForceFlag(c, &f.force)
	c.MarkFlagRequired("out")
	return describe(c, "key, public_key, group, hex (of the public key), encrypted")
}

type ringKeygenResult struct {
	Key       string `json:"key"`
	PublicKey string `json:"public_key"`
	Group     string `json:"group"`
	Hex       string `json:"hex"`
	Encrypted bool   `json:"encrypted"`
}

func (e *env) ringKeygen(c *cobra.Command, f ringKeygenFlags) error {
	g, err := ring.ParseGroup(f.group)
	switch {
	case err != nil:
		return usagef(c, "--group: %w", err)
	case f.to != "" && f.secret.plaintext:
		return usagef(c, "--to encrypts the key and --insecure-plaintext doesn't: give one of them")
	case f.out == "-":
		return usagef(c, "a key is two files, and can't go to standard output")
	}
	pub := f.out + ".pub"
	for _, name := range []string{f.out, pub} {
		if err := e.checkOut(name, f.force); err != nil {
			return err
		}
	}
	o, err := e.newOpener(c.Context(), f.secret)
	if err != nil {
		return err
	}
	defer o.wipe()
	recipients, err := e.readWriteBack(c.Context(), f.to)
	if err != nil {
		return err
	}
	file, err := o.newSecretFile(f.out, recipients, nil)
	if err != nil {
		return err
	}
	k, err := ring.GenerateKey(g)
	if err != nil {
		return err
	}
	defer k.Wipe()
	data, err := file.encode(k)
	if err != nil {
		return err
	}
	s := e.newFileSet(f.force)
	defer s.abort()
	if err := s.add(f.out, data, secretFile); err != nil {
		return err
	}
	if err := addObject(s, pub, k.Public()); err != nil {
		return err
	}
	if err := s.commit(); err != nil {
		return err
	}
	if file.plaintext {
		e.warnf("the key isn't encrypted: whoever reads %s has it", f.out)
	}
	r := ringKeygenResult{f.out, pub, g.String(), hex.EncodeToString(k.Public().Bytes()), !file.plaintext}
	return e.print(r, func(w io.Writer) {
		fmt.Fprintf(w, "%s: the private key, for rings of %s\n%s: the public key %s\n", r.Key, r.Group, r.PublicKey, r.Hex)
	})
}

func newRingMakeCmd(e *env) *cobra.Command {
	var f outFlags
	c := &cobra.Command{
		Use:   "make FILE... -o FILE",
		Short: "Make a ring of public keys",
		Long: fmt.Sprintf(`Make a ring of %d to %d public keys of one group, in whatever order. It is
public: everybody who signs or verifies needs it. Signatures name it by its
digest, which depends on the set of keys alone.`, ring.MinKeys, ring.MaxKeys),
		Example: `  undersign ring make alice.key.pub bob.key.pub carol.key.pub -o board.ring
  undersign ring make keys/*.pub -o voters.ring`,
		Args: nargs(1, -1, "a public key"),
		RunE: func(c *cobra.Command, args []string) error { return e.ringMake(c.Context(), f, args) },
	}
	addOutFlag(c, &f.out, "")
	addForceFlag(c, &f.force)
	c.MarkFlagRequired("out")
	return describe(c, "ring, keys, group, digest")
}

type ringMakeResult struct {
	Ring   string `json:"ring"`
	Keys   int    `json:"keys"`
	Group  string `json:"group"`
	Digest string `json:"digest"`
}

func (e *env) ringMake(ctx context.Context, f outFlags, files []string) error {
	if err := e.checkOut(f.out, f.force); err != nil {
		return err
	}
	keys := make([]*ring.PublicKey, len(files))
	first := make(map[string]string)
	for i, file := range files {
		k, err := readObject[*ring.PublicKey](ctx, e, file)
		if err != nil {
			return err
		}
		if k.Group() != keys0(keys, k).Group() {
			return failf(ExitError, "", "%s: a key of %s, and that of %s is of %s", inputName(file), k.Group(), inputName(files[0]), keys[0].Group())
		}
		if other, ok := first[string(k.Bytes())]; ok {
			return failf(ExitError, "", "%s: the same key as in %s", inputName(file), other)
		}
		first[string(k.Bytes())] = inputName(file)
		keys[i] = k
	}
	r, err := ring.NewRing(keys...)
	if err != nil {
		return err
	}
	data, err := keyfile.Encode(r)
	if err != nil {
		return err
	}
	d := r.Digest()
	result := ringMakeResult{f.out, r.Len(), r.Group().String(), hex.EncodeToString(d[:])}
	return f.finish(e, data, publicFile, result, func(w io.Writer) {
		fmt.Fprintf(w, "%s: %d keys of %s, digest %s\n", oneLine(f.out), result.Keys, result.Group, result.Digest)
	})
}

// keys0 returns the first of the keys, or k if there is none yet.
func keys0(keys []*ring.PublicKey, k *ring.PublicKey) *ring.PublicKey {
	if keys[0] != nil {
		return keys[0]
	}
	return k
}

// ringSigSuffix is what a signature's name ends with.
const ringSigSuffix = ".ringsig"

// ringScopeFlags say where signatures are linked.
type ringScopeFlags struct {
	scope  string
	across bool
}

func (f *ringScopeFlags) add(c *cobra.Command, usage string) {
	c.Flags().StringVar(&f.scope, "scope", "", usage)
	c.Flags().BoolVar(&f.across, "across-rings", false, "link signatures in the scope whatever their rings; it shows that\na signer is in all of them")
}

func (f *ringScopeFlags) options() *ring.Options {
	return &ring.Options{Scope: []byte(f.scope), AcrossRings: f.across}
}
