// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bytes"
	"context"
	"crypto"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/undersign/undersign/bls"
	"github.com/undersign/undersign/keyfile"
)

func newAggregateCmd(e *env) *cobra.Command {
	c := newGroupCmd(e, "aggregate", "Sign with BLS, and add signatures up to one", `
BLS signatures on BLS12-381, as Ethereum, Chia and drand have them. Signatures
of many add up to one of 96 bytes, which is verified as a whole.

Keys of the scheme pop come with a proof that their owner has the secret. Then
an aggregate of one message costs no more than one signature. The other schemes
are basic and augmented, which is Chia's.`,
		// One line a command, in the order in which help lists them.
		newAggregateKeygenCmd(e),
		newAggregateProveCmd(e),
		newAggregateSignCmd(e),
		newAggregateCombineCmd(e),
		newAggregateVerifyCmd(e),
		newAggregateSimulateCmd(e),
		newAggregateGenesisCmd(e),
		newAggregateRegisterCmd(e),
		newAggregateSubmitCmd(e),
		newAggregateVerifyReceiptCmd(e),
		newAggregateGetCmd(e),
		newAggregateRotateCmd(e),
		newAggregateRevokeCmd(e),
		newAggregateLoadCmd(e),
	)
	c.Example = `  undersign aggregate keygen -o alice.key --to alice.txt
  undersign aggregate prove --key alice.key -i alice-age.key
  undersign aggregate sign motion.txt --key alice.key -i alice-age.key
  undersign aggregate combine motion.txt.*.sig -o motion.txt.sig
  undersign aggregate verify motion.txt --sig motion.txt.sig --key alice.key.proof --key bob.key.proof`
	return c
}

// blsNames are the schemes as flags name them, in the order of the constants.
var blsNames = []string{"basic", "augmented", "pop"}

const blsSchemeUsage = "basic, augmented or pop"

// parseBLSScheme returns the scheme that flags name.
func parseBLSScheme(c *cobra.Command, name string, minSig bool) (bls.Scheme, error) {
	for i, n := range blsNames {
		if n == name && minSig {
			return bls.MinSigBasic + bls.Scheme(i), nil
		}
		if n == name {
			return bls.Scheme(i), nil
		}
	}
	return 0, usagef(c, "--scheme %q isn't %s", name, blsSchemeUsage)
}

// isMinSig reports whether a scheme has its keys in G2.
func isMinSig(s bls.Scheme) bool { return s >= bls.MinSigBasic }

// blsName is the reverse of parseBLSScheme, without the groups.
func blsName(s bls.Scheme) string {
	if i := int(s % bls.MinSigBasic); s <= bls.MinSigProofOfPossession {
		return blsNames[i]
	}
	return s.String()
}

// blsText names a scheme with the groups, where they aren't the usual ones.
func blsText(s bls.Scheme) string {
	if isMinSig(s) {
		return blsName(s) + " with keys in G2"
	}
	return blsName(s)
}

// A blsKey is a public key that a command was given.
type blsKey struct {
	name  string // of the file, or the key's own beginning
	key   *bls.PublicKey
	proof *bls.Signature // nil if there is none
}

// blsKeyFlags name public keys.
type blsKeyFlags struct {
	files  []string
	hex    []string
	scheme string
}

func addBLSKeyFlags(c *cobra.Command, f *blsKeyFlags) {
	fl := c.Flags()
	fl.StringArrayVar(&f.files, "key", nil, "public key, proof, or list of keys in hexadecimal, `FILE` (repeatable)")
	fl.StringArrayVar(&f.hex, "key-hex", nil, "public key in hexadecimal, `HEX` (repeatable)")
	fl.StringVar(&f.scheme, "scheme", "", "scheme of keys in hexadecimal, `NAME`: "+blsSchemeUsage)
	c.MarkFlagsMutuallyExclusive("key", "key-hex")
}

// readBLSKeys reads public keys, and finds out their scheme, which is one for all.
func (e *env) readBLSKeys(c *cobra.Command, f blsKeyFlags) (bls.Scheme, []blsKey, error) {
	var keys []blsKey
	schemes := map[bls.Scheme]string{}
	bare := 0 // keys that don't say what they are for
	add := func(name string, words []string) error {
		k, err := parseBLSWords(words)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if k.name = name; len(keys) > 0 && isG2(keys[0].key) != isG2(k.key) {
			return fmt.Errorf("%s and %s are in different groups", keys[0].name, name)
		}
		bare++
		keys = append(keys, k)
		return nil
	}
	for i, text := range f.hex {
		if err := add(fmt.Sprintf("key %d", i+1), []string{text}); err != nil {
			return 0, nil, err
		}
	}
	for _, file := range f.files {
		data, err := e.readInput(c.Context(), file, maxObject)
		if err != nil {
			return 0, nil, err
		}
		if isAge(data) || bytes.Contains(data, []byte("-----BEGIN ")) {
			s, k, err := parseBLSKey(file, data)
			if err != nil {
				return 0, nil, err
			}
			schemes[s] = file
			keys = append(keys, k)
			continue
		}
		lines := hexLines(data)
		for _, l := range lines {
			name := inputName(file)
			if len(lines) > 1 {
				name = fmt.Sprintf("%s, line %d", name, l.number)
			}
			if err := add(name, l.words); err != nil {
				return 0, nil, err
			}
		}
		if len(lines) == 0 {
			return 0, nil, fmt.Errorf("%s: no keys in it", inputName(file))
		}
	}
	if len(keys) == 0 {
		return 0, nil, nil
	}
	if f.scheme != "" {
		s, err := parseBLSScheme(c, f.scheme, isG2(keys[0].key))
		if err != nil {
			return 0, nil, err
		}
		schemes[s] = "--scheme"
	} else if bare > 0 && len(schemes) == 0 {
		return 0, nil, failf(ExitUsage, "Chia's are augmented, Ethereum's are pop", "keys in hexadecimal don't say what they are for: name it with --scheme")
	}
	if len(schemes) > 1 {
		var all []string
		for _, s := range slices.Sorted(maps.Keys(schemes)) {
			from := schemes[s]
			all = append(all, fmt.Sprintf("%s is for %s", inputName(from), blsText(s)))
		}
		return 0, nil, fmt.Errorf("keys of different schemes: %s", strings.Join(all, ", "))
	}
	for s := range schemes {
		for _, k := range keys {
			if isG2(k.key) != isMinSig(s) {
				return 0, nil, fmt.Errorf("%s isn't in the group of keys of %s", k.name, blsText(s))
			}
		}
		return s, keys, nil
	}
	return 0, nil, errors.New("no keys")
}

func isG2(k *bls.PublicKey) bool { return len(k.Bytes()) == bls.MinSigPublicKeySize }

// parseBLSKey reads one of our files.
func parseBLSKey(file string, data []byte) (bls.Scheme, blsKey, error) {
	if isAge(data) {
		return 0, blsKey{}, encryptedKeyError(file)
	}
	v, err := keyfile.Parse(data)
	if err != nil {
		return 0, blsKey{}, fileError(file, err)
	}
	switch v := v.(type) {
	case *keyfile.BLSPublicKey:
		return v.Scheme, blsKey{inputName(file), v.Key, nil}, nil
	case *keyfile.BLSProof:
		return v.Scheme, blsKey{inputName(file), v.Key, v.Proof}, nil
	}
	return 0, blsKey{}, fileError(file, &keyfile.TypeError{Want: "BLS PUBLIC KEY", Got: keyfile.Type(v)})
}

// parseBLSWords reads a key in hexadecimal, and its proof if there is one.
func parseBLSWords(words []string) (k blsKey, err error) {
	if len(words) > 2 {
		return k, errors.New("a line has a key, and its proof at most")
	}
	b, err := decodeHex(words[0])
	if err != nil {
		return k, err
	}
	k.key = new(bls.PublicKey)
	if err := k.key.UnmarshalBinary(b); err != nil || len(words) == 1 {
		return k, err
	}
	if b, err = decodeHex(words[1]); err != nil {
		return k, err
	}
	k.proof = new(bls.Signature)
	return k, k.proof.UnmarshalBinary(b)
}

// A hexLine is a line of a list, in words.
type hexLine struct {
	number int
	words  []string
}

// hexLines returns the lines of a list that aren't empty and aren't comments.
func hexLines(data []byte) (out []hexLine) {
	n := 0
	for line := range bytes.Lines(data) {
		n++
		if words := strings.Fields(string(line)); len(words) > 0 && words[0][0] != '#' {
			out = append(out, hexLine{n, words})
		}
	}
	return out
}

// decodeHex reads hexadecimal with or without 0x. What is wrong isn't repeated: it may
// be the wrong file.
func decodeHex(text string) ([]byte, error) {
	b, err := hex.DecodeString(strings.TrimPrefix(text, "0x"))
	if err != nil {
		return nil, errors.New("not hexadecimal")
	}
	return b, nil
}

// blsMessageFlags name messages, beside the files that are arguments.
type blsMessageFlags struct {
	hex    []string
	list   string
	sha256 bool
}

func addBLSMessageFlags(c *cobra.Command, f *blsMessageFlags) {
	fl := c.Flags()
	fl.StringArrayVar(&f.hex, "message-hex", nil, "message in hexadecimal, `HEX`, in place of a file (repeatable)")
	fl.StringVar(&f.list, "messages", "", "messages in hexadecimal, one a line, `FILE`")
	fl.BoolVar(&f.sha256, "sha256", false, "sign the SHA-256 of each message in its place")
}

// A blsMessage is what is signed.
type blsMessage struct {
	name string
	data []byte
}

// readBLSMessages reads the files and what flags say.
func (e *env) readBLSMessages(c *cobra.Command, files []string, f blsMessageFlags) ([]blsMessage, error) {
	ways := 0
	for _, given := range []bool{len(files) > 0, len(f.hex) > 0, f.list != ""} {
		if given {
			ways++
		}
	}
	if ways > 1 {
		return nil, usagef(c, "messages come from files, from --message-hex or from --messages")
	}
	var out []blsMessage
	add := func(name, text string) error {
		b, err := decodeHex(text)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if f.sha256 {
			d, err := digest(bytes.NewReader(b), crypto.SHA256)
			if err != nil {
				return err
			}
			b = d[0]
		}
		out = append(out, blsMessage{name, b})
		return nil
	}
	for i, text := range f.hex {
		if err := add(fmt.Sprintf("message %d", i+1), text); err != nil {
			return nil, usagef(c, "--message-hex: %w", err)
		}
	}
	if f.list != "" {
		data, err := e.readInput(c.Context(), f.list, maxMessage)
		if err != nil {
			return nil, err
		}
		for _, l := range hexLines(data) {
			name := fmt.Sprintf("%s, line %d", inputName(f.list), l.number)
			if len(l.words) > 1 {
				return nil, fmt.Errorf("%s: more than a message", name)
			}
			if err := add(name, l.words[0]); err != nil {
				return nil, err
			}
		}
	}
	for _, file := range files {
		b, err := e.readBLSFile(c.Context(), file, f.sha256)
		if err != nil {
			return nil, err
		}
		out = append(out, blsMessage{inputName(file), b})
	}
	return out, nil
}

// readBLSFile reads a message, or its digest.
func (e *env) readBLSFile(ctx context.Context, file string, sha256 bool) ([]byte, error) {
	if sha256 {
		d, err := e.digestInput(ctx, file, crypto.SHA256)
		if err != nil {
			return nil, err
		}
		return d[0], nil
	}
	b, err := e.readInput(ctx, file, maxMessage)
	if b == nil && err == nil {
		b = []byte{}
	}
	return b, err
}

// A blsSig is a signature that a command was given. It is nil if it isn't one.
type blsSig struct {
	name string
	sig  *bls.Signature
	err  error
}

// readBLSSignature reads a signature, raw or in hexadecimal.
func (e *env) readBLSSignature(ctx context.Context, file string) (blsSig, error) {
	data, err := e.readInput(ctx, file, maxObject)
	if err != nil {
		return blsSig{}, err
	}
	s := parseBLSSignature(data)
	s.name = inputName(file)
	return s, nil
}

// parseBLSSignature reads a signature. A compressed point begins with a bit that no
// text begins with.
func parseBLSSignature(data []byte) (s blsSig) {
	if len(data) == 0 || data[0]&0x80 == 0 {
		data, s.err = decodeHex(string(bytes.TrimSpace(data)))
		if s.err != nil {
			s.err = fmt.Errorf("%w: %w", bls.ErrSignature, s.err)
			return s
		}
	}
	sig := new(bls.Signature)
	if s.err = sig.UnmarshalBinary(data); s.err == nil {
		s.sig = sig
	}
	return s
}

// checkGroup refuses a signature in the group of the keys.
func (s *blsSig) checkGroup(scheme bls.Scheme) {
	want := bls.SignatureSize
	if isMinSig(scheme) {
		want = bls.MinSigSignatureSize
	}
	if got := len(s.sig.Bytes()); s.err == nil && got != want {
		s.sig, s.err = nil, fmt.Errorf("%w: it has %d bytes, and those of these keys have %d", bls.ErrSignature, got, want)
	}
}

// blsHex returns a file in hexadecimal.
func blsHex(b []byte) []byte { return append(hex.AppendEncode(nil, b), '\n') }

// blsReason is an error of package bls without its name.
func blsReason(err error) string {
	return strings.TrimPrefix(strings.TrimPrefix(err.Error(), "bls: "), "invalid signature: ")
}

// countOf returns a number and what is counted, in the plural where it should be.
func countOf(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
