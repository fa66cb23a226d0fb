// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/undersign/undersign/internal/sm2stream"
)

type sm2GenFlags struct {
	sm2stream.GenerateOptions
	bad, format, encoding, seed, out, answers string
	force                                     bool
}

func newSM2GenCmd(e *env) *cobra.Command {
	var f sm2GenFlags
	c := &cobra.Command{
		Use:   "gen -n N -o FILE",
		Short: "Make a file of SM2 signatures for tests",
		Long: `Make a file of SM2 signatures for sm2 batch, good ones and bad ones. The keys
are made for it and thrown away. The same --seed and flags give the same file.
Whoever knows the seed knows the keys: it is good for tests only.

Bad ones are, in turn, signatures of another message, by another key, with
another s, with r and s swapped, with r out of range, with a key that isn't on
the curve, and lines that aren't JSON. --answers writes their numbers.`,
		Example: `  undersign sm2 gen -n 100000 --signers 64 --bad 0.1% -o signatures.jsonl --answers bad.jsonl
  undersign sm2 gen -n 1000000 --signers 0 --hinted --format binary -o signatures.bin --seed 1`,
		Args: noArgs,
		RunE: func(c *cobra.Command, args []string) error { return e.sm2Gen(c, f) },
	}
	fl := c.Flags()
	fl.Int64VarP(&f.Records, "number", "n", 0, "how many signatures, `N`")
	fl.IntVar(&f.Signers, "signers", 16, "so many signers, `N`, whose keys recur; 0 for a key each")
	fl.Float64Var(&f.Once, "once", 0, "`SHARE` of signatures by other signers, who sign once")
	fl.StringVar(&f.bad, "bad", "0", "how many are bad: a `NUMBER`, or a share such as 0.01 or 1%")
	fl.StringVar(&f.format, "format", "jsonl", "`NAME` of the format: jsonl or binary")
	addSM2EncodingFlag(c, &f.encoding, "of signatures in lines")
	fl.StringVar(&f.ID, "id", "", "`ID` that goes into the file: default, empty, none, a text, or hex:HEX")
	fl.IntVar(&f.Payload, "message", 200, "messages of `N` bytes")
	fl.BoolVar(&f.Digests, "digests", false, "digests instead of messages")
	fl.BoolVar(&f.Hinted, "hinted", false, "signers make the y of R even, and hints say so")
	fl.StringVar(&f.seed, "seed", "", "`TEXT` that decides on everything (default: random)")
	addOutFlag(c, &f.out, "")
	fl.StringVar(&f.answers, "answers", "", "write which are bad, as JSON lines, to `FILE`")
	addForceFlag(c, &f.force)
	c.MarkFlagRequired("number")
	c.MarkFlagRequired("out")
	return describe(c, "file, format, records, bad, seed")
}

func (e *env) sm2Gen(c *cobra.Command, f sm2GenFlags) error {
	var err error
	o := f.GenerateOptions
	if o.Format, err = sm2stream.ParseFormat(f.format); err != nil {
		return usageError(c, err)
	}
	if o.Encoding, err = sm2stream.ParseEncoding(f.encoding); err != nil {
		return usageError(c, err)
	}
	if o.Format == sm2stream.Binary && c.Flags().Changed("encoding") {
		return usagef(c, "--encoding goes with --format jsonl")
	}
	if c.Flags().Changed("id") {
		if _, err := sm2stream.ParseID(o.ID); err != nil {
			return usageError(c, err)
		}
	}
	if o.Bad, err = parseShare(f.bad, o.Records); err != nil {
		return usagef(c, "--bad %w", err)
	}
	if f.seed == "" {
		f.seed = rand.Text()
	}
	o.Seed = []byte(f.seed)
	if err := o.Check(); err != nil {
		return usageError(c, err)
	}
	if f.answers == "-" && f.out == "-" {
		return usagef(c, "two outputs are called -")
	}
	if _, ok := terminal(e.stdout); ok && f.out == "-" && o.Format == sm2stream.Binary {
		return failf(ExitUsage, "name a file, or use a pipe", "won't print binary data on a terminal")
	}
	w, err := e.createStream(f.out, publicFile, f.force)
	if err != nil {
		return err
	}
	defer w.abort()
	var answers *streamFile
	var made func(sm2stream.Made) error
	if f.answers != "" {
		if answers, err = e.createStream(f.answers, publicFile, f.force); err != nil {
			return err
		}
		defer answers.abort()
		made = func(m sm2stream.Made) error { return json.NewEncoder(answers).Encode(m) }
	}
	p := e.startProgress()
	o.Progress = func(n int64) { p.update("%d of %d signatures", n, o.Records) }
	if err := sm2stream.Generate(c.Context(), w, &o, made); err != nil {
		return err
	}
	p.done()
	if err := w.commit(); err != nil {
		return err
	}
	if answers != nil {
		if err := answers.commit(); err != nil {
			return err
		}
	}
	type result struct {
		File    string `json:"file"`
		Format  string `json:"format"`
		Records int64  `json:"records"`
		Bad     int64  `json:"bad"`
		Seed    string `json:"seed"`
	}
	if f.out == "-" || f.answers == "-" {
		e.notef("%d signatures, %d of them bad; --seed %s", o.Records, o.Bad, f.seed)
		return nil
	}
	return e.print(result{f.out, o.Format.String(), o.Records, o.Bad, f.seed}, func(w io.Writer) {
		fmt.Fprintf(w, "%s: %d signatures, %d of them bad; --seed %s\n", f.out, o.Records, o.Bad, printable(f.seed))
	})
}

// parseShare reads a number of n things: as such, or as a share with a point or a
// percent sign. A share that isn't zero is at least one.
func parseShare(s string, n int64) (int64, error) {
	number, percent := strings.CutSuffix(s, "%")
	if !percent && !strings.Contains(s, ".") {
		k, err := strconv.ParseInt(s, 10, 64)
		if err != nil || k < 0 || k > n {
			return 0, fmt.Errorf("%q isn't a number from 0 to %d, or a share", s, n)
		}
		return k, nil
	}
	x, err := strconv.ParseFloat(number, 64)
	if percent {
		x /= 100
	}
	if err != nil || !(x >= 0 && x <= 1) {
		return 0, fmt.Errorf("%q isn't a share from 0 to 1", s)
	}
	k := int64(math.Round(x * float64(n)))
	if k == 0 && x > 0 {
		k = min(1, n)
	}
	return k, nil
}
