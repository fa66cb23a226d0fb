// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"io"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestParseThreshold(t *testing.T) {
	for args, want := range map[string]options{
		"":                     {bits: 2048, k: 3, l: 5, draws: 10, slow: 1, rounds: 20},
		"-bits 4096":           {bits: 4096, k: 3, l: 5, draws: 10, rounds: 20},
		"-quick":               {bits: 2048, k: 3, l: 5, draws: 1, rounds: 3, quick: true},
		"-draws 0":             {bits: 2048, k: 3, l: 5, rounds: 20},
		"--paper":              {bits: 4096, k: 3, l: 5, draws: 3, rounds: 20, paper: true},
		"-quick -rounds 7":     {bits: 2048, k: 3, l: 5, draws: 1, rounds: 7, quick: true},
		"-k 6 -l 10 -slow 0":   {bits: 2048, k: 6, l: 10, draws: 10, rounds: 20},
		"-bits 3072 -slow 2":   {bits: 3072, k: 3, l: 5, draws: 10, slow: 2, rounds: 20},
		"-paper -quick":        {bits: 4096, k: 3, l: 5, draws: 1, rounds: 3, quick: true, paper: true},
		"-paper -draws 5":      {bits: 4096, k: 3, l: 5, draws: 5, rounds: 20, paper: true},
		"-quick -slow 1":       {bits: 2048, k: 3, l: 5, draws: 1, slow: 1, rounds: 3, quick: true},
		"-paper -tcrsa-keygen": {bits: 4096, k: 3, l: 5, draws: 3, rounds: 20, paper: true, tcrsaKeygen: true},
	} {
		got, err := parseThreshold(strings.Fields(args))
		if err != nil {
			t.Errorf("%q: %v", args, err)
		} else if *got != want {
			t.Errorf("%q: got %+v", args, *got)
		}
	}
	for _, args := range []string{
		"-bits 1024", "-bits 2050", "-bits 16384", "-k 2", "-k 6", "-l 1", "-l 256 -k 200", "-rounds 0",
		"-paper -bits 2048", "-paper -k 3", "-tcrsa-keygen", "more",
	} {
		if _, err := parseThreshold(strings.Fields(args)); err == nil {
			t.Errorf("%q: accepted", args)
		}
	}
}

func TestAlternate(t *testing.T) {
	var order []string
	add := func(name string) func(int) (cost, error) {
		return func(draw int) (cost, error) {
			order = append(order, name)
			return cost{cpu: time.Duration(draw+1) * time.Second}, nil
		}
	}
	tasks := []task{{"a", 3, add("a")}, {"b", 3, add("b")}, {"c", 1, add("c")}}
	out, err := alternate(context.Background(), tasks, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(order, ""); got != "abcbaab" {
		t.Errorf("order %s", got)
	}
	if cpu := out[0].cpu(); len(cpu) != 3 || mean(cpu) != 2 || median(cpu) != 2 || median(cpu[:2]) != 1.5 {
		t.Errorf("got %v", cpu)
	}

	bad := errors.New("bad")
	tasks[1].run = func(int) (cost, error) { return cost{}, bad }
	if _, err := alternate(context.Background(), tasks, nil); !errors.Is(err, bad) || !strings.HasPrefix(err.Error(), "b:") {
		t.Errorf("a failing task: %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := alternate(ctx, tasks, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// A time of zero means that nothing was measured.
func TestTimed(t *testing.T) {
	c, err := timed(func() error {
		x := big.NewInt(3)
		for range 200 {
			x.Exp(x, new(big.Int).Lsh(big.NewInt(1), 2000), new(big.Int).SetBit(big.NewInt(1), 2047, 1))
		}
		return io.EOF
	})
	if err != io.EOF || c.cpu <= 0 || c.wall <= 0 {
		t.Errorf("got %v, %v", c, err)
	}
}

func TestForeign(t *testing.T) {
	if opensslVersion(t.Context()) == "" {
		t.Skip("no OpenSSL")
	}
	dir := t.TempDir()
	if err := run(t.Context(), []string{"foreign", "-o", dir}); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join("..", "thresholdrsa", "testdata", "foreign", "*"))
	if err != nil || len(files) == 0 {
		t.Fatal("no test data", err)
	}
	for _, f := range files {
		if _, err := os.Stat(filepath.Join(dir, filepath.Base(f))); err != nil {
			t.Error(err)
		}
	}
	if err := run(t.Context(), []string{"foreign"}); err == nil {
		t.Error("no -o: accepted")
	}
}
