// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package survey

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/undersign/undersign/groupsig"
	"github.com/undersign/undersign/groupsig/legacy"
)

// counted are operations that change only if a scheme does: who makes them fewer changes
// docs/survey.md too. Schemes that aren't here are run all the same.
var counted = map[string][3]string{ // signing, verifying, elements of a signature
	"bbsgs":                              {"8 G1", "2 e + 6 G1", "3 G1 + 5 Zr"},
	"dl21 with scope":                    {"12 G1", "2 e + 9 G1", "4 G1 + 6 Zr"},
	"gl19 with escrow,epoch,convert":     {"22 G1", "2 e + 17 G1", "7 G1 + 8 Zr"},
	"klap20 with escrow,token":           {"4 G1", "3 e + 2 G1", "3 G1 + 2 Zr"},
	"ps16 with escrow,token":             {"2 G1 + 1 GT", "3 e + 3 G1", "2 G1 + 2 Zr"},
	"dp06 with escrow":                   {"8 G1 + 3 GT", "2 e + 12 G1", "4 G1 + 5 Zr"},
	"bbs04 with escrow,rekey,static":     {"7 G1 + 3 GT", "2 e + 17 G1", "3 G1 + 6 Zr"},
	"cpy06 with escrow,token,trace":      {"7 G1 + 1 G2 + 6 GT", "3 e + 19 G1 + 1 GT", "3 G1 + 1 G2 + 1 GT + 7 Zr"},
	"bbsgs with scope,escrow,epoch":      {"18 G1", "2 e + 16 G1", "7 G1 + 6 Zr"},
	"dl21seq with scope,sequence":        {"12 G1", "2 e + 9 G1", "4 G1 + 6 Zr"},
	"dl21seq with scope,escrow,sequence": {"20 G1", "2 e + 17 G1", "7 G1 + 7 Zr"},
}

func TestRun(t *testing.T) {
	var names []string
	for _, s := range groupsig.Schemes() {
		names = append(names, s.Name())
	}
	steps := 0
	s := Survey{Schemes: names, Draws: 1, Progress: func(done, total int, what string) {
		if done != steps || total < len(groupsig.Schemes()) || what == "" {
			t.Errorf("%d of %d: %q", done, total, what)
		}
		steps++
	}}
	rows, err := s.Run(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if steps != len(rows) {
		t.Errorf("%d steps, %d rows", steps, len(rows))
	}
	found := 0
	for _, r := range rows {
		name := r.Scheme
		if r.Features != "" {
			name += " with " + r.Features
		}
		if want, ok := counted[name]; ok {
			found++
			if got := [3]string{r.Sign.String(), r.Verify.String(), r.Signature.String()}; got != want {
				t.Errorf("%s: %q, want %q", name, got, want)
			}
		}
		if r.SignMS <= 0 || r.VerifyMS <= 0 || r.SetupMS <= 0 || r.JoinMS <= 0 {
			t.Errorf("%s: times %v %v %v %v", name, r.SetupMS, r.JoinMS, r.SignMS, r.VerifyMS)
		}
		if r.Signature.Computed <= 0 || r.Signature.Computed > r.Signature.Encoded || r.GroupKey.Computed <= 0 || r.GroupKey.Computed > r.GroupKey.Encoded {
			t.Errorf("%s: signature %+v, group key %+v", name, r.Signature, r.GroupKey)
		}
		if r.IssuerKey <= 0 || r.MemberKey <= 0 || (r.OpenerKey > 0) != strings.Contains(r.Features, "escrow") {
			t.Errorf("%s: keys of %d, %d and %d bytes", name, r.IssuerKey, r.OpenerKey, r.MemberKey)
		}
		if b, err := json.Marshal(r); err != nil || !strings.Contains(string(b), `"sign":{"g1":`) {
			t.Errorf("%s: %s, %v", name, b, err)
		}
	}
	if found < 8 {
		t.Errorf("only %d forms have counts to compare with", found)
	}
	for _, name := range names {
		if !slices.ContainsFunc(rows, func(r Row) bool { return r.Scheme == name }) {
			t.Errorf("no row for %s", name)
		}
	}
	for _, p := range Absent(rows) {
		if p.Scheme == "PS16" || p.Table1 == nil {
			t.Errorf("%s is absent", p.Scheme)
		}
	}
}

// Those in groups of unknown order search for a modulus first.
func TestRunLegacy(t *testing.T) {
	names := []string{"cl04"}
	if os.Getenv("UNDERSIGN_LONG") != "" {
		names = nil
		for _, s := range legacy.Schemes() {
			names = append(names, s.Name())
		}
	}
	rows, err := (&Survey{Schemes: names, Draws: 1}).Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for i, r := range rows {
		unknownOrder := r.Scheme != "cl04"
		if !r.Legacy || r.Scheme != names[i] || (r.Verify.ExpZn > 0) != unknownOrder || (r.Signature.Zn > 0) != unknownOrder ||
			r.Signature.Computed != r.Signature.Encoded || r.MemberKey <= 0 || (r.Survey != nil) != (r.Scheme == "acjt00" || r.Scheme == "cg05") {
			t.Errorf("%+v", r)
		}
	}
	if len(rows) != len(names) {
		t.Errorf("%d rows", len(rows))
	}
	for _, s := range legacy.Schemes() {
		if !slices.Contains(Names(), s.Name()) {
			t.Errorf("%s can't be measured", s.Name())
		}
	}
}

func TestRunSome(t *testing.T) {
	rows, err := (&Survey{Schemes: []string{"klap20"}, Draws: 1}).Run(context.Background())
	if err != nil || len(rows) != 1 || rows[0].Scheme != "klap20" || rows[0].Survey == nil || rows[0].Survey.Sizes.Signature != 229 {
		t.Errorf("%+v, %v", rows, err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := (&Survey{Draws: 1}).Run(ctx); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if ms, err := PairingMS(context.Background(), 3); err != nil || ms <= 0 {
		t.Error(ms, err)
	}
	if PublishedOf("bbsgs") != nil || PublishedOf("DL21").Scheme != "DL21" || PublishedOf("ps16").Scheme != "PS16" {
		t.Error("the survey has other schemes")
	}
}

// The survey's own sums, from its own sizes of elements. Four don't follow: see
// docs/survey.md. Of keys all do that are given in elements.
func TestPublishedSums(t *testing.T) {
	bits := map[string]int{"G1": 175, "G2": 175, "Zp": 170, "G*n": 1024, "Z*_n2": 1024, "Zq": 160, "H": 256}
	sum := func(s string) (n int) {
		for term := range strings.SplitSeq(s, " + ") {
			count, unit, _ := strings.Cut(term, " ")
			k, err := strconv.Atoi(count)
			if err != nil || bits[unit] == 0 {
				return -1
			}
			n += k * bits[unit]
		}
		return n
	}
	var wrong []string
	for _, p := range published {
		if p.Table1 == nil {
			continue
		}
		if sum(p.Signature) != p.SignatureBits {
			wrong = append(wrong, p.Scheme)
		}
		if p.KeyBits > 0 && sum(p.Key) != p.KeyBits {
			t.Errorf("%s: a key of %s hasn't %d bits", p.Scheme, p.Key, p.KeyBits)
		}
	}
	if want := []string{"DP06", "HLCCN11", "IMSTY06", "KLAP20"}; !slices.Equal(wrong, want) {
		t.Errorf("sums that don't follow: %v, want %v", wrong, want)
	}
}
