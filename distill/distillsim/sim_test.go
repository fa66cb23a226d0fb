// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package distillsim

import (
	"fmt"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
)

var runner = NewRunner()

// seeds returns how many seeds to run.
func seeds(short, long uint64) uint64 {
	if os.Getenv("UNDERSIGN_LONG") != "" {
		return long
	}
	return short
}

// TestSeeds runs simulations in which everybody is right who should be: no invariant may
// break. UNDERSIGN_SEED is where the seeds begin.
func TestSeeds(t *testing.T) {
	n := seeds(160, 10_000)
	first, _ := strconv.ParseUint(os.Getenv("UNDERSIGN_SEED"), 10, 64)
	var sum Stats
	done, bad := uint64(0), 0
	err := runner.Campaign(Config{Seed: first}, n, runtime.GOMAXPROCS(0), func(r *Report) bool {
		for _, v := range r.Violations {
			t.Errorf("seed %d: %s: %s\nagain: undersign aggregate simulate --seed %d --trace", r.Seed, v.Invariant, v.Text, r.Seed)
			bad++
		}
		sum.Add(&r.Stats)
		if done++; done%1000 == 0 {
			t.Logf("%d seeds", done)
		}
		return bad < 10
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d seeds from %d: %+v", done, first, sum)
	if bad > 0 {
		return
	}
	// A campaign in which nothing happens shows nothing.
	f := &sum.Faults
	for name, count := range map[string]int{
		"lost": f.Lost, "repeated": f.Repeated, "late": f.Late, "cut off": f.CutOff, "partitions": f.Partitions, "crashes": f.Crashes,
		"restores": f.Restores, "new keys": f.NewKeys, "messages": sum.Messages, "reissued": sum.Reissued, "strikes": sum.Strikes,
		"cheating": sum.Byzantine, "compact": sum.Compact, "two payloads": sum.Evidence["two payloads"],
		"two proposals": sum.Evidence["two proposals"], "bad batch": sum.Evidence["bad batch"],
	} {
		if count == 0 {
			t.Errorf("%s: none", name)
		}
	}
	if uint64(sum.Executed) < n {
		t.Errorf("%d executed with %d seeds", sum.Executed, n)
	}
	if n >= 10_000 && len(sum.Evidence) < 8 {
		t.Errorf("evidence of %v only", sum.Evidence)
	}
}

// TestWrongPartiesAreFound: a simulator that finds nothing wrong with them would be blind.
func TestWrongPartiesAreFound(t *testing.T) {
	for _, x := range []struct {
		wrong Wrong
		want  Invariant
		n     uint64
	}{{WrongReissue, Once, 20}, {WrongRange, Once, 300}, {WrongBareHash, Chosen, 20}, {WrongSequence, Innocent, 60}} {
		t.Run(x.wrong.String(), func(t *testing.T) {
			n := seeds(x.n, 20*x.n)
			found, others := 0, 0
			err := runner.Campaign(Config{Wrong: x.wrong}, n, runtime.GOMAXPROCS(0), func(r *Report) bool {
				if len(r.Violations) > 0 {
					if slices.ContainsFunc(r.Violations, func(v Violation) bool { return v.Invariant == x.want }) {
						found++
					} else {
						others++
						t.Logf("seed %d: %v", r.Seed, r.Violations)
					}
				}
				// Short tests end with the first.
				return found == 0 || n != x.n
			})
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%q broken in %d of %d seeds, others in %d", x.want, found, n, others)
			if found == 0 {
				t.Errorf("not found in %d seeds", n)
			}
		})
	}
}

// TestReplay runs seeds again: what happens must be the same to the last line.
func TestReplay(t *testing.T) {
	for seed := range uint64(6) {
		run := func() []string {
			var lines []string
			_, err := runner.Run(Config{Seed: seed, Trace: func(line string) { lines = append(lines, line) }})
			if err != nil {
				t.Fatal(err)
			}
			return lines
		}
		first, second := run(), run()
		if len(first) < 100 {
			t.Fatalf("seed %d: %d lines", seed, len(first))
		}
		for i := range first {
			if i >= len(second) || first[i] != second[i] {
				t.Fatalf("seed %d: line %d isn't the same:\n%s\n%s", seed, i, first[i], strings.Join(second[min(i, len(second)-1):], "\n")[:80])
			}
		}
	}
}

// TestCompactModel runs the model of the compact mode alone, which is quick.
func TestCompactModel(t *testing.T) {
	for seed := range seeds(2_000, 200_000) {
		rep := new(Report)
		runCompact(Config{Seed: seed}, rep)
		for _, v := range rep.Violations {
			t.Errorf("seed %d: %v", seed, v)
		}
	}
}

func TestParseWrong(t *testing.T) {
	for _, name := range append(Wrongs(), "") {
		w, ok := ParseWrong(name)
		if !ok || w.String() != name {
			t.Errorf("%q is %v", name, w)
		}
	}
	if _, ok := ParseWrong("clock"); ok {
		t.Error("an unknown name is known")
	}
	if s := wrongs.String(); s != "invalid" {
		t.Error(s)
	}
}

func TestCampaignKeepsOrderAndStops(t *testing.T) {
	var got []uint64
	err := runner.Campaign(Config{Seed: 5, Wrong: WrongRange}, 40, 3, func(r *Report) bool {
		got = append(got, r.Seed)
		return len(got) < 7
	})
	if err != nil || fmt.Sprint(got) != "[5 6 7 8 9 10 11]" {
		t.Errorf("%v, %v", got, err)
	}
}
