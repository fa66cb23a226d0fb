// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/undersign/undersign/internal/sm2stream"
)

type sm2BatchFlags struct {
	id, encoding, hint string
	budget, out        string
	stats, force       bool
	sample             int
}

// maxListed bounds the bad items in the JSON object; -o gets all of them.
const maxListed = 10_000

func newSM2BatchCmd(e *env) *cobra.Command {
	var f sm2BatchFlags
	c := &cobra.Command{
		Use:   "batch FILE",
		Short: "Verify a file of SM2 signatures",
		Long: `Verify a file of SM2 signatures of any length, with a verdict for each that is
the same as by itself. FILE is JSON lines or binary records. A line is

  {"key":"04...", "message":"...", "signature":"30..."}

where bytes are hexadecimal, or base64: or text: and so on. There may be an id;
a digest in place of the message; an encoding of the signature (der, raw, skf,
raw-key); and a hint (even, odd, low, high), with which signatures of many
different keys are verified faster. docs/formats/sm2-batch.md has all of it.

Each bad item is printed as a JSON line with its line or record number and the
reason: encoding, key, range, no such point, equation; or malformed for what
can't be read, which is passed over. The rest is on standard error.

Memory is twice that of --budget and some 50 MB a processor, however long the
file is.`,
		Example: `  undersign sm2 batch signatures.jsonl
  undersign sm2 batch signatures.bin --stats -o bad.jsonl
  zcat signatures.jsonl.gz | undersign sm2 batch - --id alice --json`,
		Args: nargs(1, 1, "a file"),
		RunE: func(c *cobra.Command, args []string) error { return e.sm2Batch(c, f, args[0]) },
	}
	addSM2IDFlag(c, &f.id, "messages that come without one")
	addSM2EncodingFlag(c, &f.encoding, "of signatures in lines that don't name theirs")
	c.Flags().StringVar(&f.hint, "hint", "none", "`HINT` for signatures that come without one: none, even (they were\nmade with --hinted), odd, low or high")
	c.Flags().StringVar(&f.budget, "budget", "64MiB", "most memory for tables of recurring keys, a `SIZE` such as 1GiB; 0 for none to keep")
	c.Flags().BoolVar(&f.stats, "stats", false, "compare with one by one, on a sample")
	c.Flags().IntVar(&f.sample, "sample", 2000, "how many `N` the sample for --stats has at most")
	c.Flags().StringVarP(&f.out, "out", "o", "", "write the bad items to `FILE` instead of standard output")
	addForceFlag(c, &f.force)
	describe(c, "file, format, items, bad, malformed, bytes, seconds, cpu_seconds, keys_with_tables, table_bytes, by (items by what decided), sample [items, one_by_one_rate, batch_rate, ratio, one_by_one_seconds, verdicts], bad_items [line or record, reason, detail] (the first 10000, unless -o is given)", ExitInvalid)
	describeExit(c, ExitInvalid, "bad or malformed items were found")
	return c
}

// addSM2IDFlag gives a command its --id.
func addSM2IDFlag(c *cobra.Command, id *string, of string) {
	c.Flags().StringVar(id, "id", "default", "`ID` for "+of+": default (1234567812345678),\nempty, none (hash the message alone), a text, or hex:HEX")
}

// addSM2EncodingFlag gives a command its --encoding.
func addSM2EncodingFlag(c *cobra.Command, enc *string, of string) {
	c.Flags().StringVar(enc, "encoding", "der", "encoding `NAME` "+of+": der, raw (r||s),\nskf (128 bytes), raw-key (r||s||key)")
}

// usageError makes err an error about the command line of c.
func usageError(c *cobra.Command, err error) error {
	return usagef(c, "%s", strings.TrimPrefix(err.Error(), "sm2stream: "))
}

type sm2BatchResult struct {
	File string `json:"file"`
	*sm2stream.Summary
	BadItems []sm2stream.Bad `json:"bad_items,omitzero"`
}

func (e *env) sm2Batch(c *cobra.Command, f sm2BatchFlags, file string) error {
	opts := &sm2stream.Options{}
	var err error
	if opts.UID, err = sm2stream.ParseID(f.id); err != nil {
		return usageError(c, err)
	}
	if opts.Encoding, err = sm2stream.ParseEncoding(f.encoding); err != nil {
		return usageError(c, err)
	}
	if opts.Hint, err = sm2stream.ParseHint(f.hint); err != nil {
		return usageError(c, err)
	}
	if opts.CacheBytes, err = parseSize(f.budget); err != nil {
		return usagef(c, "--budget %w", err)
	}
	if opts.CacheBytes == 0 {
		opts.CacheBytes = -1
	}
	if f.stats {
		if f.sample < 1 || f.sample > 1_000_000 {
			return usagef(c, "--sample %d: from 1 to 1000000", f.sample)
		}
		opts.Sample = f.sample
	} else if c.Flags().Changed("sample") {
		return usagef(c, "--sample goes with --stats")
	}
	r, err := e.openInput(c.Context(), file)
	if err != nil {
		return err
	}
	defer r.Close()

	// Bad items go to a file, into the JSON object, or line by line to standard output.
	res := sm2BatchResult{File: inputName(file)}
	var out io.Writer = e.stdout
	var stream *streamFile
	switch {
	case f.out != "":
		if stream, err = e.createStream(f.out, publicFile, f.force); err != nil {
			return err
		}
		defer stream.abort()
		out = stream
	case e.json:
		out = nil
		res.BadItems = []sm2stream.Bad{}
	}
	p := e.startProgress()
	opts.Progress = sm2Progress(p, fileSize(file))
	_, tty := terminal(e.stdout)
	res.Summary, err = sm2stream.Verify(c.Context(), r, opts, func(b sm2stream.Bad) error {
		if out == nil {
			if len(res.BadItems) < maxListed {
				res.BadItems = append(res.BadItems, b)
			}
			return nil
		}
		line, err := json.Marshal(b)
		if err != nil {
			return err
		}
		if tty {
			p.hide()
		}
		if _, err := out.Write(append(line, '\n')); err != nil {
			return fmt.Errorf("can't write %s: %w", outputName(f.out), err)
		}
		return nil
	})
	p.done()
	if err != nil {
		return sm2StreamError(file, err)
	}
	if stream != nil {
		if err := stream.commit(); err != nil {
			return err
		}
	}
	if e.json || stream != nil && f.out != "-" {
		err = e.print(res, func(w io.Writer) { printSM2Summary(w, res.Summary) })
		if err != nil {
			return err
		}
	} else {
		var b strings.Builder
		printSM2Summary(&b, res.Summary)
		for line := range strings.Lines(b.String()) {
			e.notef("%s", strings.TrimSuffix(line, "\n"))
		}
	}
	if res.Bad > 0 {
		return failf(ExitInvalid, "", "%d of %d signatures are bad", res.Bad, res.Items)
	}
	return nil
}

func outputName(name string) string {
	if name == "" || name == "-" {
		return "standard output"
	}
	return name
}

// sm2StreamError says which file an error of sm2stream is about. Errors of reading
// name it already.
func sm2StreamError(file string, err error) error {
	if s, ok := strings.CutPrefix(err.Error(), "sm2stream: "); ok {
		return fmt.Errorf("%s: %s", inputName(file), s)
	}
	return err
}

// fileSize returns the size of a regular file, or 0.
func fileSize(file string) int64 {
	if fi, err := os.Stat(file); file != "-" && err == nil && fi.Mode().IsRegular() {
		return fi.Size()
	}
	return 0
}

func sm2Progress(p *progress, size int64) func(sm2stream.Progress) {
	if p == nil {
		return nil
	}
	start := time.Now()
	return func(g sm2stream.Progress) {
		text := fmt.Sprintf("%d signatures, %d bad, %.0f a second", g.Items, g.Bad, float64(g.Items)/time.Since(start).Seconds())
		if size > 0 {
			text += fmt.Sprintf(", %.0f %%", 100*min(1, float64(g.Bytes)/float64(size)))
		}
		p.update("%s", text)
	}
}

func printSM2Summary(w io.Writer, s *sm2stream.Summary) {
	switch {
	case s.Items == 0:
		fmt.Fprint(w, "0 signatures: nothing was verified")
	case s.Bad == 0:
		fmt.Fprintf(w, "%s, all good", countOf(int(s.Items), "signature"))
	default:
		fmt.Fprintf(w, "%s: %d good, %d bad", countOf(int(s.Items), "signature"), s.Items-s.Bad, s.Bad)
	}
	if s.Malformed > 0 {
		fmt.Fprintf(w, " (%d malformed)", s.Malformed)
	}
	rate := float64(s.Items) / math.Max(s.Seconds, 1e-9)
	fmt.Fprintf(w, "; %.2f s, %.0f a second\n", s.Seconds, rate)
	if x := s.Sample; x != nil && x.Items > 0 {
		var by []string
		for _, name := range slices.Sorted(maps.Keys(s.By)) {
			by = append(by, fmt.Sprintf("%d %s", s.By[name], name))
		}
		fmt.Fprintf(w, "decided by: %s; tables of %d keys, %.1f MiB\n", strings.Join(by, ", "), s.Keys, float64(s.TableBytes)/(1<<20))
		fmt.Fprintf(w, "in batches: %.0f a second and processor, reading and parsing included\n", x.BatchRate)
		fmt.Fprintf(w, "one by one: %.0f a second and processor (gmsm, a sample of %d, the same verdicts); %.2f s for all on one\n", x.OneByOneRate, x.Items, x.OneByOneAll)
		fmt.Fprintf(w, "ratio: %.2f\n", x.Ratio)
	}
}

// parseSize reads a number of bytes, with a unit if there is one.
func parseSize(s string) (int64, error) {
	digits := strings.TrimRight(s, "KMGTiBkb ")
	unit := map[string]int64{"": 1, "B": 1, "K": 1 << 10, "KiB": 1 << 10, "M": 1 << 20, "MiB": 1 << 20, "G": 1 << 30, "GiB": 1 << 30,
		"kB": 1000, "MB": 1_000_000, "GB": 1_000_000_000}[strings.TrimSpace(s[len(digits):])]
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || n < 0 || unit == 0 || n > math.MaxInt64/unit {
		return 0, errors.New(strconv.Quote(s) + " isn't a size, such as 64MiB")
	}
	return n * unit, nil
}
