// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	functionName = regexp.MustCompile(`(?m)^TEXT ·(\w+)\(SB\)`)
	operandBase  = regexp.MustCompile(`\(([A-Z][A-Z0-9]*)\)`)
	indexed      = regexp.MustCompile(`\)\([A-Z]`)
	parameter    = regexp.MustCompile(`^\w+\+\d+\(FP\)$`)
	general      = regexp.MustCompile(`^([ABCD]X|[SD]I|R\d+)$`)
	constant     = regexp.MustCompile(`^\$0x[0-9a-f]+$`)
)

// The vector kernels can't be run by the checker of secrets, so their code is read
// here. A general register from which an address or a branch comes is written in few
// ways only: from parameters, which are pointers and sizes, from constants and from
// registers of the same kind. Nothing is loaded into them from memory otherwise, and
// what is computed never gets there.
func TestNoSecretAddresses(t *testing.T) {
	files, err := generate()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"lanes_amd64.s", "lanes4_amd64.s", "wide_amd64.s"} {
		text := string(files[name])
		at := functionName.FindAllStringSubmatchIndex(text, -1)
		if len(at) < 3 {
			t.Fatalf("%s: %d functions", name, len(at))
		}
		for i, m := range at {
			end := len(text)
			if i+1 < len(at) {
				end = at[i+1][0]
			}
			for _, problem := range secretUses(text[m[0]:end]) {
				t.Errorf("%s, %s: %s", name, text[m[2]:m[3]], problem)
			}
		}
	}
}

// The reader sees what it should see.
func TestSecretUses(t *testing.T) {
	const good = "\tMOVQ z+0(FP), DI\n\tMOVQ blocks+8(FP), DX\nloop:\n\tVMOVDQU64 (DI), Z0\n\tADDQ $0x00000040, DI\n\tDECQ DX\n\tJNE loop\n\tRET\n"
	if p := secretUses(good); len(p) != 0 {
		t.Errorf("harmless code: %q", p)
	}
	for what, line := range map[string]string{
		"pointer from memory":   "\tMOVQ (DI), DI\n",
		"pointer from a vector": "\tVMOVQ X0, DI\n",
		"pointer from a mask":   "\tKMOVQ K1, DI\n",
		"pointer from a sum":    "\tMOVQ (DI), AX\n\tADDQ AX, DI\n",
		"index":                 "\tMOVQ (DI), AX\n\tVMOVDQU64 (DI)(AX*8), Z0\n",
		"branch on a value":     "\tMOVQ (DI), AX\n\tTESTQ AX, AX\n\tJNE loop\n",
		"branch on a count":     "\tMOVQ (DI), AX\n\tDECQ AX\n\tJNE loop\n",
		"branch on a carry":     "\tDECQ DX\n\tADDQ AX, AX\n\tJCS loop\n",
		"gather":                "\tVPGATHERQQ (DI)(Z1*8), K1, Z0\n",
	} {
		if p := secretUses(strings.Replace(good, "\tRET", line+"\tRET", 1)); len(p) == 0 {
			t.Errorf("%s isn't noticed", what)
		}
	}
}

// secretUses says what is suspicious in the code of a function.
func secretUses(code string) (problems []string) {
	type instruction struct {
		op   string
		args []string
		line string
	}
	var list []instruction
	for line := range strings.Lines(code) {
		line, _, _ = strings.Cut(strings.TrimSpace(line), "//")
		fields := strings.Fields(line)
		if len(fields) == 0 || strings.HasSuffix(fields[0], ":") || fields[0] == "TEXT" {
			continue
		}
		in := instruction{op: fields[0], line: strings.Join(fields, " ")}
		for _, a := range strings.Split(strings.Join(fields[1:], " "), ",") {
			in.args = append(in.args, strings.TrimSpace(a))
		}
		list = append(list, in)
	}

	// Registers that name addresses, and counts on which a branch depends.
	public := map[string]bool{}
	for i, in := range list {
		if indexed.MatchString(in.line) || strings.Contains(in.op, "GATHER") || strings.Contains(in.op, "SCATTER") {
			problems = append(problems, "an index: "+in.line)
		}
		for _, m := range operandBase.FindAllStringSubmatch(in.line, -1) {
			if m[1] != "FP" && m[1] != "SB" && m[1] != "SP" {
				public[m[1]] = true
			}
		}
		if strings.HasPrefix(in.op, "J") && in.op != "JMP" {
			before := list[i-1]
			count := before.args[len(before.args)-1]
			if before.op != "DECQ" && (before.op != "SUBQ" || !constant.MatchString(before.args[0])) {
				problems = append(problems, "a branch after "+before.line)
			}
			public[count] = true
		}
	}
	// And those from which they come.
	for before := 0; before != len(public); {
		before = len(public)
		for _, in := range list {
			if public[in.args[len(in.args)-1]] && general.MatchString(in.args[0]) {
				public[in.args[0]] = true
			}
		}
	}
	for _, in := range list {
		last := in.args[len(in.args)-1]
		if !public[last] {
			continue
		}
		from := in.args[0]
		var ok bool
		switch in.op {
		case "MOVQ":
			ok = parameter.MatchString(from) || constant.MatchString(from) || public[from]
		case "LEAQ":
			ok = true // of a public base, as that was collected
		case "ADDQ", "SUBQ", "SHLQ":
			ok = constant.MatchString(from) || public[from]
		case "DECQ":
			ok = true
		case "MOVL":
			ok = constant.MatchString(from)
		case "XORL":
			ok = slices.Equal(in.args, []string{last, last})
		}
		if !ok {
			problems = append(problems, "an address or a count from "+in.line)
		}
	}
	return problems
}
