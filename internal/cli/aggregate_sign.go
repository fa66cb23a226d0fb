// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"
)

type aggregateSignFlags struct {
	secret  secretFlags
	key     string
	message blsMessageFlags
	raw     bool
	out     string
	force   bool
}

func newAggregateSignCmd(e *env) *cobra.Command {
	var f aggregateSignFlags
	c := &cobra.Command{
		Use:   "sign {FILE | --message-hex HEX} --key FILE -i FILE",
		Short: "Sign a file with a BLS key",
		Long: `Sign a file, or a message in hexadecimal, with a BLS key. The file has at most
256 MiB; with --sha256 its digest is signed, and it may have any size.

The signature is in hexadecimal, or raw. It is the same each time.`,
		Example: `  undersign aggregate sign motion.txt --key alice.key -i alice-age.key
  undersign aggregate sign --message-hex 0x5656 --key farmer.key -i me.key
  undersign aggregate sign disk.img --sha256 --key alice.key -i alice-age.key --raw -o disk.img.alice`,
		Args: nargs(0, 1, "a file"),
		RunE: func(c *cobra.Command, args []string) error { return e.aggregateSign(c, f, args) },
	}
	c.Flags().StringVar(&f.key, "key", "", "the secret key, `FILE`")
	c.MarkFlagRequired("key")
	addSecretFlags(c, &f.secret)
	c.Flags().StringArrayVar(&f.message.hex, "message-hex", nil, "sign the message `HEX`, in hexadecimal, in place of a file")
	c.Flags().BoolVar(&f.message.sha256, "sha256", false, "sign the SHA-256 of the message in its place")
	c.Flags().BoolVar(&f.raw, "raw", false, "write the signature's bytes, not hexadecimal")
	addOutFlag(c, &f.out, "FILE.NAME.sig, with NAME that of the key's file; standard\noutput without FILE")
	addForceFlag(c, &f.force)
	return describe(c, "file, signature (file), hex, scheme, key (in hexadecimal)")
}

type aggregateSignResult struct {
	File      string `json:"file,omitempty"`
	Signature string `json:"signature,omitempty"`
	Hex       string `json:"hex"`
	Scheme    string `json:"scheme"`
	Key       string `json:"key"`
}

func (e *env) aggregateSign(c *cobra.Command, f aggregateSignFlags, files []string) error {
	if len(files)+len(f.message.hex) != 1 {
		return usagef(c, "%q signs one FILE, or one --message-hex", c.CommandPath())
	}
	var r aggregateSignResult
	out := f.out
	if len(files) == 1 {
		r.File = inputName(files[0])
		if out == "" && files[0] != "-" {
			out = files[0] + "." + holderName(f.key) + ".sig"
		}
	}
	onlyJSON := out == "" && e.json // which has the signature in it
	if out == "" {
		out = "-"
	}
	if !onlyJSON {
		if err := e.checkOut(out, f.force); err != nil {
			return err
		}
	}
	secret, err := e.openBLSKey(c, f.secret, f.key)
	if err != nil {
		return err
	}
	defer secret.Wipe()
	msgs, err := e.readBLSMessages(c, files, f.message)
	if err != nil {
		return err
	}
	sig, err := secret.Scheme.Sign(secret.Key, msgs[0].data)
	if err != nil {
		return err
	}
	pub := secret.PublicKey()
	if err := secret.Scheme.Verify(pub, msgs[0].data, sig); err != nil {
		return fmt.Errorf("the signature that was made isn't valid: %w", err) // a fault of the machine
	}
	r.Hex, r.Scheme, r.Key = sig.String(), blsName(secret.Scheme), pub.String()
	if !onlyJSON {
		data := sig.Bytes()
		if !f.raw {
			data = blsHex(data)
		}
		if err := e.writeFile(out, data, publicFile, f.force); err != nil || out == "-" {
			return err
		}
		r.Signature = out
	}
	return e.print(r, func(w io.Writer) { fmt.Fprintf(w, "%s\n", out) })
}
