// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestParseGroup(t *testing.T) {
	all := []string{"bbsgs", "dl21", "dl21seq", "gl19", "ps16", "klap20", "dp06", "hlccn11", "bbs04", "bbs04-static", "cpy06", "ds18"}
	for args, want := range map[string]groupOptions{
		"":                          {15, false, all},
		"-quick":                    {3, true, all},
		"-quick -draws 7":           {7, true, all},
		"-draws 1 -scheme ps16":     {1, false, []string{"ps16"}},
		"-scheme klap20,dl21seq":    {15, false, []string{"klap20", "dl21seq"}},
		"-scheme gl19 -quick=false": {15, false, []string{"gl19"}},
	} {
		got, err := parseGroup(strings.Fields(args))
		if err != nil {
			t.Errorf("%q: %v", args, err)
		} else if got.draws != want.draws || got.quick != want.quick || !slices.Equal(got.schemes, want.schemes) {
			t.Errorf("%q: got %+v", args, got)
		}
	}
	for _, args := range []string{"-draws 0", "-draws -1", "more", "-nonsense", "-scheme bbs05", "-scheme ps16,", "-scheme ps16,ps16"} {
		if _, err := parseGroup(strings.Fields(args)); err == nil {
			t.Errorf("%q: accepted", args)
		}
	}
}

// Every operation works, and those that verify refuse what is bad.
func TestGroupSchemes(t *testing.T) {
	sizes := map[string]int{"bbsgs": 528, "dl21": 384, "dl21seq": 480, "gl19": 600, "ps16": 160, "klap20": 208,
		"dp06": 352, "hlccn11": 304, "bbs04": 368, "bbs04-static": 336, "cpy06": 752, "ds18": 352}
	for _, made := range groupSchemes {
		t.Run(made.name, func(t *testing.T) {
			s, err := made.make()
			if err != nil {
				t.Fatal(err)
			}
			if s.name != made.name || s.size != sizes[s.name] {
				t.Errorf("%s: signatures of %d bytes, want %d", s.name, s.size, sizes[s.name])
			}
			ops, err := groupOps(s, &groupOptions{draws: 1, quick: true})
			if err != nil {
				t.Fatal(err)
			}
			for i := range ops {
				ops[i].times = 1
			}
			out, err := measureGroup(t.Context(), s.name, ops, new(busyness))
			if err != nil {
				t.Fatal(err)
			}
			for i, op := range ops {
				if cpu := out[i].cpu(); len(cpu) != 1 || cpu[0] < 0 {
					t.Errorf("%s: %v", op.name, cpu)
				}
			}
			testGroupRefuses(t, s)
		})
	}
}

func testGroupRefuses(t *testing.T, s *groupScheme) {
	var set []groupSigned
	for i := range 4 {
		x := groupSigned{msg: []byte{byte(i)}}
		if s.scoped {
			x.scope = []byte{'s', byte(i)}
		}
		var err error
		if x.sig, err = s.sign(x.msg, x.scope); err != nil {
			t.Fatal(err)
		}
		set = append(set, x)
	}
	bad := slices.Clone(set)
	bad[2].msg = []byte("another")
	checks := map[string]func([]groupSigned) error{
		"verify": func(set []groupSigned) error { return s.verify(&set[2]) },
		"batch":  s.batch,
	}
	if s.parse != nil {
		checks["parse"] = func(set []groupSigned) error {
			verify, err := s.parse(&set[2])
			if err != nil {
				t.Fatal(err)
			}
			return verify()
		}
	}
	if s.parseBatch != nil {
		checks["parseBatch"] = func(set []groupSigned) error {
			verify, err := s.parseBatch(set)
			if err != nil {
				t.Fatal(err)
			}
			return verify()
		}
	}
	if s.open != nil {
		checks["open"] = func(set []groupSigned) error { return s.open(&set[2]) }
	}
	if s.openMany != nil {
		checks["openMany"] = func(set []groupSigned) error { return s.openMany(&set[2]) }
	}
	if s.convert != nil {
		checks["convert"] = s.convert
	}
	if s.link != nil {
		checks["link"] = func(set []groupSigned) error { prove, _ := s.link(set); return prove() }
	}
	for what, check := range checks {
		if err := check(set); err != nil {
			t.Errorf("%s: %v", what, err)
		}
		if check(bad) == nil {
			t.Errorf("%s: accepts a signature of another message", what)
		}
	}
	if s.link != nil { // a link of other signatures
		prove, verify := s.link(set)
		if err := prove(); err != nil {
			t.Fatal(err)
		}
		if err := verify(); err != nil {
			t.Errorf("link: %v", err)
		}
		set[1] = bad[2]
		if _, verify := s.link(set); verify() == nil {
			t.Error("no link: accepted")
		}
	}
}

// What is published is scaled by the pairing, and what isn't known isn't compared.
func TestPrintGroup(t *testing.T) {
	us := func(x int) series { return series{{cpu: time.Duration(x) * time.Microsecond}} }
	ops := []groupOp{{name: opPairing}, {name: opSetup}, {name: opSign}, {name: "batch of 1000, each, compact"}, {name: "open, 10 members"}}
	out := []series{us(1202), us(5), us(101), us(1000), us(52100)}
	lines := func(name string) []string {
		var b bytes.Buffer
		printGroup(&b, &groupScheme{name: name, size: 208}, ops, out)
		var lines []string
		for line := range strings.Lines(b.String()) {
			if line = strings.Join(strings.Fields(line), " "); line != "" {
				lines = append(lines, line)
			}
		}
		return lines
	}
	want := []string{
		"klap20: signatures of 208 bytes (libgroupsig 229; the survey's sum for small curves is 1280 bits): CPU us",
		"draws min median libgroupsig scaled x",
		"gnark-crypto's pairing 1 1202.0 1202.0 601 then scale 2.00",
		"setup 1 5.0 5.0 -",
		"sign 1 101.0 101.0 241 482 4.77",
		"batch of 1000, each, compact 1 1000.0 1000.0 1689 3378 3.38",
		"open, 10 members 1 52100.0 52100.0 52100 104200 2.00",
		"libgroupsig's own batches, with weights of 11 bits where ours have 128: 243 each, scaled 486",
	}
	if got := lines("klap20"); !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if got := lines("cpy06"); got[0] != "cpy06: signatures of 208 bytes (libgroupsig 1089): CPU us" {
		t.Errorf("in a survey that hasn't it: %s", got[0])
	}
	if got := lines("bbsgs"); got[4] != "sign 1 101.0 101.0 -" {
		t.Errorf("compared with nothing: %s", got[4])
	}
	p := groupPublished["ps16"]
	for _, op := range []string{opParsed, opVerify, "batch of 100, each", "batch of 100, each, parsed"} {
		if p.figure(op) != 1761 {
			t.Errorf("%s: %v", op, p.figure(op))
		}
	}
	for _, op := range []string{opSetup, opSignScope, opPairing, "link 10", ""} {
		if p.figure(op) != 0 {
			t.Errorf("%s: %v from nowhere", op, p.figure(op))
		}
	}
	var b bytes.Buffer
	printSurvey(&b, []string{"bbsgs", "cpy06", "ps16"})
	if s := b.String(); strings.Contains(s, "bbsgs") || strings.Contains(s, "cpy06") || !strings.Contains(s, "PUBLISHED") || !strings.Contains(s, "115.38") {
		t.Errorf("the survey:\n%s", s)
	}
}
