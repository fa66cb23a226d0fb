// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/undersign/undersign/internal/survey"
)

// maxSurveyDraws is minutes.
const maxSurveyDraws = 10_000

type benchSurveyResult struct {
	Rows      []survey.Row       `json:"rows"`
	Absent    []survey.Published `json:"absent,omitempty"`
	PairingMS float64            `json:"pairing_ms"`
}

func newBenchSurveyCmd(e *env) *cobra.Command {
	s := survey.Survey{}
	c := &cobra.Command{
		Use:   "survey",
		Short: "Count and measure group signatures, beside a survey",
		Long: `Repeat the tables of the survey "On Efficiency and Usability of Group Signatures
on Smartphone and Single-board Platforms" (Dobias, Malina, Ilgner and Dzurenda,
ARES 2023) for all schemes here, and print the survey's figures beside them.

Operations are counted while they are done: pairings (e), multiplications in G1
and G2, powers in GT and modulo composite numbers (Zn). Sizes of signatures and
keys are those of the elements that were decoded, and of the encodings. Times
are the least of --draws, of this processor: do nothing else meanwhile.

Schemes for comparison only (acjt00, cg05, kty04, cl04) are measured too, and
take longest, since they search for a modulus.

The survey's sizes are for curves of 175 bits, which nobody should use, and
those here for BLS12-381. docs/survey.md says where figures differ, and why.`,
		Example: `  undersign bench survey
  undersign bench survey --scheme ps16,klap20 --draws 50
  undersign bench survey --json`,
		Args: noArgs,
	}
	f := c.Flags()
	f.StringSliceVar(&s.Schemes, "scheme", nil, "measure these `SCHEMES,...` only")
	f.IntVar(&s.Draws, "draws", 15, "take the least of `N` times")
	c.RunE = func(c *cobra.Command, args []string) error {
		for _, name := range s.Schemes {
			if names := survey.Names(); !slices.Contains(names, name) {
				return usagef(c, "--scheme: there is no %q; there are %s", name, strings.Join(names, ", "))
			}
		}
		if s.Draws < 1 || s.Draws > maxSurveyDraws {
			return usagef(c, "--draws is from 1 to %d, not %d", maxSurveyDraws, s.Draws)
		}
		return e.benchSurvey(c.Context(), s)
	}
	return describe(c, "pairing_ms, rows [scheme, features, legacy, sign and verify [g1, g2, gt, zn, pairings, pairing_products, hashes], signature and group_key [g1, g2, gt, scalars, zn, integers, computed_bytes, encoded_bytes], issuer_key_bytes, opener_key_bytes, member_key_bytes, setup_ms, join_ms, sign_ms, verify_ms, survey], absent (schemes of the survey that aren't here)")
}

func (e *env) benchSurvey(ctx context.Context, s survey.Survey) error {
	p := e.startProgress()
	s.Progress = func(done, total int, what string) { p.update("measuring %s: %d of %d", what, done, total) }
	var res benchSurveyResult
	var err error
	if res.Rows, err = s.Run(ctx); err == nil {
		res.PairingMS, err = survey.PairingMS(ctx, s.Draws)
	}
	p.done()
	if err != nil {
		return err
	}
	if s.Schemes == nil {
		res.Absent = survey.Absent(res.Rows)
	}
	return e.print(res, func(w io.Writer) { printBenchSurvey(w, &res) })
}

// surveyDevice is the index of the fastest device of the survey's, which stands beside our
// times.
const surveyDevice = 2

func printBenchSurvey(w io.Writer, res *benchSurveyResult) {
	fmt.Fprintf(w, `Left what is counted and measured here, on BLS12-381, where a pairing takes
%.2f ms; right what the survey says, on curves of 175 bits. E is a power or a
multiple, e and /e a pairing.
`, res.PairingMS)
	for i := range res.Rows {
		printSurveyRow(w, &res.Rows[i])
	}
	if len(res.Absent) > 0 {
		fmt.Fprintf(w, "\nIn the survey only:\n")
	}
	for i := range res.Absent {
		p := &res.Absent[i]
		fmt.Fprintf(w, "%s\n", p.Scheme)
		if p.Table1 != nil {
			surveyLine(w, "signing", "", p.Sign)
			surveyLine(w, "verifying", "", p.Verify)
			surveyLine(w, "signature", "", fmt.Sprintf("%s, %d bits", p.Signature, p.SignatureBits))
		}
	}
}

func printSurveyRow(w io.Writer, r *survey.Row) {
	name := withFeatures(r.Scheme, r.Features)
	if r.Legacy {
		name += " (for comparison only)"
	}
	fmt.Fprintf(w, "\n%s\n", name)
	p := r.Survey
	if p == nil {
		p = new(survey.Published)
	}
	t1, sizes, device := p.Table1, p.Sizes, survey.Table4{}
	if t1 == nil {
		t1 = new(survey.Table1)
	}
	if len(p.Times) > surveyDevice {
		device = p.Times[surveyDevice]
	}
	published := func(text string, bits int) string {
		if text != "" && bits > 0 {
			text += fmt.Sprintf(", %d bits", bits)
		}
		return text
	}
	surveyLine(w, "signing", r.Sign.String(), t1.Sign)
	surveyLine(w, "verifying", r.Verify.String(), t1.Verify)
	surveyLine(w, "signature", sizeText(r.Signature), published(t1.Signature, t1.SignatureBits))
	surveyLine(w, "group key", sizeText(r.GroupKey), published(t1.Key, t1.KeyBits))
	if sizes != nil {
		surveyLine(w, "", "", fmt.Sprintf("libgroupsig: %d and %d bytes", sizes.Signature, sizes.Group))
	}
	var keys []string
	for _, k := range []struct {
		who  string
		size int
	}{{"issuer", r.IssuerKey}, {"opener", r.OpenerKey}, {"member", r.MemberKey}} {
		if k.size > 0 {
			keys = append(keys, fmt.Sprintf("%s %d", k.who, k.size))
		}
	}
	theirs := ""
	if sizes != nil {
		theirs = fmt.Sprintf("manager %d, member %d", sizes.Manager, sizes.Member)
	}
	surveyLine(w, "keys, bytes", strings.Join(keys, ", "), theirs)
	ms := func(setup, join, sign, verify float64) string {
		return fmt.Sprintf("%.2f / %.2f / %.2f / %.2f", setup, join, sign, verify)
	}
	theirs = ""
	if device.Device != "" {
		theirs = ms(device.Setup, device.Join, device.Sign, device.Verify) + ", " + device.Device
	}
	surveyLine(w, "times, ms", ms(r.SetupMS, r.JoinMS, r.SignMS, r.VerifyMS), theirs)
}

func sizeText(s survey.Size) string {
	if s.String() == "" {
		return fmt.Sprintf("%d encoded", s.Encoded)
	}
	return fmt.Sprintf("%s: %d, encoded %d", s, s.Computed, s.Encoded)
}

func surveyLine(w io.Writer, what, ours, theirs string) {
	fmt.Fprintln(w, strings.TrimRight(fmt.Sprintf("  %-12s %-42s %s", what, ours, theirs), " "))
}
