// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/undersign/undersign/bls"
	"github.com/undersign/undersign/keyfile"
)

type aggregateKeygenFlags struct {
	secret                 secretFlags
	to, scheme             string
	minSig, hex            bool
	seed, derivation, path string
	unhardened             bool
	from                   string
	out                    string
	force                  bool
}

func newAggregateKeygenCmd(e *env) *cobra.Command {
	var f aggregateKeygenFlags
	c := &cobra.Command{
		Use:   "keygen -o FILE --to FILE",
		Short: "Make a BLS key",
		Long: `Make a BLS key. FILE gets the secret key, encrypted, and FILE.pub the public
key. A key is for one scheme: pop, basic or augmented.

The key is random, unless there is a seed file, which holds 32 bytes or more in
hexadecimal. Keys are derived from it after EIP-2333, or as Chia does, at a path
from the seed's master key such as m/12381/3600/0/0/0. Seeds, and secret keys to
be imported, may be in age files.`,
		Example: `  undersign aggregate keygen -o alice.key --to alice.txt
  undersign aggregate keygen -o validator.key --to me.txt --seed-file seed.age -i me.key --path m/12381/3600/0/0/0
  undersign aggregate keygen -o farmer.key --to me.txt --scheme augmented --hex \
      --seed-file seed --derivation chia --path m/12381/8444/0/0
  undersign aggregate keygen -o test.key --insecure-plaintext`,
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error { return e.aggregateKeygen(c, f) },
	}
	addSecretFlags(c, &f.secret)
	c.Flags().Lookup("insecure-plaintext").Usage = "don't encrypt the secret key"
	fl := c.Flags()
	fl.StringVar(&f.to, "to", "", "encrypt the secret key to the age recipients `FILE`\n(default: to the identities given with -i, or the passphrase)")
	fl.StringVar(&f.scheme, "scheme", "pop", "scheme that the key is for, `NAME`: "+blsSchemeUsage)
	fl.BoolVar(&f.minSig, "min-sig", false, "keys of 96 bytes and signatures of 48, in place of 48 and 96")
	fl.BoolVar(&f.hex, "hex", false, "write the public key in hexadecimal, for other programs")
	fl.StringVar(&f.seed, "seed-file", "", "derive the key from the seed in `FILE`")
	fl.StringVar(&f.derivation, "derivation", "eip2333", "how keys are derived, `NAME`: eip2333 or chia")
	fl.StringVar(&f.path, "path", "", "derive the key at this `PATH` (default: the master key, m)")
	fl.BoolVar(&f.unhardened, "unhardened", false, "derive as Chia's wallets do for keys that they watch")
	fl.StringVar(&f.from, "import", "", "take the secret key from `FILE`: 32 bytes in hexadecimal")
	addOutFlag(c, &f.out, "")
	addForceFlag(c, &f.force)
	c.MarkFlagRequired("out")
	c.MarkFlagsMutuallyExclusive("seed-file", "import")
	return describe(c, "key, public_key, scheme, min_sig, hex (of the public key), encrypted")
}

type aggregateKeygenResult struct {
	Key       string `json:"key"`
	PublicKey string `json:"public_key"`
	Scheme    string `json:"scheme"`
	MinSig    bool   `json:"min_sig"`
	Hex       string `json:"hex"`
	Encrypted bool   `json:"encrypted"`
}

func (e *env) aggregateKeygen(c *cobra.Command, f aggregateKeygenFlags) error {
	scheme, err := parseBLSScheme(c, f.scheme, f.minSig)
	if err != nil {
		return err
	}
	switch {
	case f.to != "" && f.secret.plaintext:
		return usagef(c, "--to encrypts the key and --insecure-plaintext doesn't: give one of them")
	case f.out == "-":
		return usagef(c, "a key is two files, and can't go to standard output")
	case f.seed == "" && (f.path != "" || f.unhardened || c.Flags().Changed("derivation")):
		return usagef(c, "--path, --derivation and --unhardened go with --seed-file")
	case f.derivation != "eip2333" && f.derivation != "chia":
		return usagef(c, "--derivation %q isn't eip2333 or chia", f.derivation)
	case f.unhardened && f.derivation != "chia":
		return usagef(c, "--unhardened is Chia's, and goes with --derivation chia")
	}
	path, err := parseBLSPath(f.path)
	if err != nil {
		return usagef(c, "--path: %w", err)
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
	secret := &keyfile.BLSSecretKey{Scheme: scheme}
	switch {
	case f.seed != "":
		secret.Key, err = o.deriveBLSKey(f, path)
	case f.from != "":
		err = o.withSecretHex(f.from, func(b []byte) (err error) {
			secret.Key, err = bls.ParseSecretKey(b)
			return err
		})
	default:
		secret.Key = bls.GenerateKey()
	}
	if err != nil {
		return err
	}
	defer secret.Wipe()
	data, err := file.encode(secret)
	if err != nil {
		return err
	}
	s := e.newFileSet(f.force)
	defer s.abort()
	if err := s.add(f.out, data, secretFile); err != nil {
		return err
	}
	public := &keyfile.BLSPublicKey{Scheme: scheme, Key: secret.PublicKey()}
	if f.hex {
		err = s.add(pub, blsHex(public.Key.Bytes()), publicFile)
	} else {
		err = addObject(s, pub, public)
	}
	if err != nil {
		return err
	}
	if err := s.commit(); err != nil {
		return err
	}
	if file.plaintext {
		e.warnf("the key isn't encrypted: whoever reads %s has it", f.out)
	}
	for _, from := range []string{f.seed, f.from} {
		if from != "" && !e.dryRun {
			e.warnf("whoever reads %s still has the key", inputName(from))
		}
	}
	r := aggregateKeygenResult{f.out, pub, blsName(scheme), isMinSig(scheme), public.Key.String(), !file.plaintext}
	return e.print(r, func(w io.Writer) {
		fmt.Fprintf(w, "%s: the secret key, for %s\n%s: the public key %s\n", r.Key, blsText(scheme), r.PublicKey, r.Hex)
	})
}

// deriveBLSKey returns the key of a seed at a path.
func (o *opener) deriveBLSKey(f aggregateKeygenFlags, path []uint32) (key *bls.SecretKey, err error) {
	d := bls.EIP2333
	if f.derivation == "chia" {
		d = bls.Chia
	}
	err = o.withSecretHex(f.seed, func(seed []byte) error {
		key, err = d.Master(seed)
		return err
	})
	if err != nil {
		return nil, err
	}
	child := d.Child
	if f.unhardened {
		child = (*bls.SecretKey).UnhardenedChild
	}
	for _, i := range path {
		next, err := child(key, i)
		key.Wipe()
		if err != nil {
			return nil, err
		}
		key = next
	}
	return key, nil
}

// parseBLSPath reads a path: m, and numbers after slashes.
func parseBLSPath(text string) ([]uint32, error) {
	if text == "" {
		return nil, nil
	}
	steps := strings.Split(text, "/")
	if steps[0] != "m" {
		return nil, fmt.Errorf("%q doesn't begin with m", text)
	}
	var path []uint32
	for _, s := range steps[1:] {
		n, err := strconv.ParseUint(s, 10, 32)
		if err != nil || s != strconv.FormatUint(n, 10) {
			return nil, fmt.Errorf("%q isn't a number below 2^32", s)
		}
		path = append(path, uint32(n))
	}
	return path, nil
}

// withSecretHex calls f with the secret in a file, which is in hexadecimal and may be
// in an age file, and wipes it.
func (o *opener) withSecretHex(path string, f func([]byte) error) error {
	data, err := o.readSecretInput(path)
	if err != nil {
		return err
	}
	defer clear(data)
	text := bytes.TrimPrefix(bytes.TrimSpace(data), []byte("0x"))
	secret := make([]byte, len(text)/2)
	defer clear(secret)
	if !decodeSecretHex(secret, text) {
		return failf(ExitError, "a seed or key is given in hexadecimal, and not by the words that stand for it", "%s: not hexadecimal", inputName(path))
	}
	if err := f(secret); err != nil {
		return fmt.Errorf("%s: %w", inputName(path), unwrapBLSKey(err))
	}
	return nil
}

func unwrapBLSKey(err error) error {
	if errors.Is(err, bls.ErrKey) {
		return errors.New(strings.TrimPrefix(err.Error(), "bls: "))
	}
	return err
}

// decodeSecretHex decodes hexadecimal, and takes the same time whatever the digits
// are, if they are.
func decodeSecretHex(dst, text []byte) bool {
	if len(text) != 2*len(dst) {
		return false
	}
	bad := 0
	for i := range dst {
		hi, lo := hexDigit(text[2*i]), hexDigit(text[2*i+1])
		bad |= hi | lo
		dst[i] = byte(hi<<4 | lo&15)
	}
	return bad>>8 == 0
}

// hexDigit returns the value of a digit, or 256 if it isn't one.
func hexDigit(c byte) int {
	x := int(c)
	value, is := 0, 0
	for _, r := range []struct{ lo, hi, base int }{{'0', '9', 0}, {'a', 'f', 10}, {'A', 'F', 10}} {
		// All ones if lo <= x <= hi, from the signs of the differences.
		in := ^((x - r.lo) >> 31) & ^((r.hi - x) >> 31)
		value |= in & (x - r.lo + r.base)
		is |= in
	}
	return value&is | ^is&256
}
