// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/undersign/undersign/bls"
)

func TestParseBLS(t *testing.T) {
	for args, want := range map[string]blsOptions{
		"":                         {draws: 9, most: 65536},
		"-quick":                   {draws: 3, most: 4096, quick: true},
		"-quick -draws 7 -json":    {draws: 7, most: 4096, quick: true, json: true},
		"-only hash":               {draws: 9, most: 65536, only: "hash"},
		"-draws 1 --json -only G2": {draws: 1, most: 65536, json: true, only: "G2"},
	} {
		got, err := parseBLS(strings.Fields(args))
		if err != nil {
			t.Errorf("%q: %v", args, err)
		} else if *got != want {
			t.Errorf("%q: got %+v", args, *got)
		}
	}
	for _, args := range []string{"-draws 0", "-draws -1", "more", "-nonsense", "-draws x"} {
		if _, err := parseBLS(strings.Fields(args)); err == nil {
			t.Errorf("%q: accepted", args)
		}
	}
}

// Every library agrees with ours about what is good, and with each operation about
// what isn't.
func TestBLS(t *testing.T) {
	pool, err := newBLSPool(4096)
	if err != nil {
		t.Fatal(err)
	}
	other, err := pool.signed(bls.Basic, []int{1}, []byte("another"))
	if err != nil {
		t.Fatal(err)
	}
	otherMin, err := pool.signed(bls.MinSigBasic, []int{1}, []byte("another"))
	if err != nil {
		t.Fatal(err)
	}
	for _, make := range []func(*blsPool) (*blsPeer, error){oursBLS, blstBLS, circlBLS} {
		p, err := make(pool)
		if err != nil {
			t.Fatal(err)
		}
		if p == nil {
			t.Log("built without cgo")
			continue
		}
		seen := map[blsKind]bool{}
		for _, op := range pool.operations(&blsOptions{draws: 1, most: 4096}) {
			if seen[op.kind] {
				continue // the smallest will do
			}
			seen[op.kind] = true
			for _, err := range measureWays(t, op, p) {
				if err != nil {
					t.Errorf("%s, %s: %v", p.name, op.title, err)
				}
			}
			in, err := op.input(0)
			if err != nil {
				t.Fatal(err)
			}
			bad := *in
			switch {
			case op.kind == blsHashG1 || op.kind == blsHashG2:
				continue
			case op.kind == blsDecodeKey:
				continue // takes keys of the pool
			case op.kind == blsDecodeSig:
				bad.sigs = [][]byte{bytes.Repeat([]byte{0x8f}, 96)}
			case in.want != nil:
				bad.want = other.sigs[0]
			case op.kind == blsVerifyMin || op.kind == blsSignMin:
				bad.sigs = append(in.sigs[:len(in.sigs)-1:len(in.sigs)-1], otherMin.sigs[0])
			default:
				bad.sigs = append(in.sigs[:len(in.sigs)-1:len(in.sigs)-1], other.sigs[0])
			}
			op.in, op.last = &bad, 0
			for i, err := range measureWays(t, op, p) {
				if err == nil {
					t.Errorf("%s, %s, way %d: accepts what is bad", p.name, op.title, i)
				}
			}
		}
	}
}

// measureWays runs each way of a library once.
func measureWays(t *testing.T, op *blsOp, p *blsPeer) (errs []error) {
	for _, way := range p.ways[op.kind] {
		one := &blsPeer{name: p.name}
		one.add(op.kind, way.note, way.prepare)
		_, _, err := measureBLS(t.Context(), op, []*blsPeer{one}, new(busyness))
		errs = append(errs, err)
	}
	return errs
}

func TestPrintBLS(t *testing.T) {
	tasks := []task{{name: "undersign"}, {name: "blst"}}
	out := []series{{{cpu: 2 * time.Millisecond}, {cpu: 4 * time.Millisecond}}, {{cpu: time.Millisecond}}}
	rows := blsRows(tasks, out)
	var text bytes.Buffer
	printBLS(&text, "signing", rows)
	if got := strings.Fields(text.String()); !strings.Contains(strings.Join(got, " "), "undersign 2 2000.0 3000.0 1.00 1.00 blst 1 1000.0 1000.0 0.50 0.33") {
		t.Errorf("%s", &text)
	}
	data, err := json.Marshal(&blsReport{Operations: []blsResult{{"signing", rows}}})
	if err != nil || !strings.Contains(string(data), `{"name":"blst","draws":1,"min_us":1000,"median_us":1000,"ratio_of_minima":0.5,`) {
		t.Errorf("%s, %v", data, err)
	}
}
