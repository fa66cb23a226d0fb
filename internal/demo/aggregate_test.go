// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package demo

import (
	"bytes"
	"context"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

func TestAggregate(t *testing.T) {
	n := 400
	if os.Getenv("UNDERSIGN_LONG") != "" {
		n = aggregateClients
	}
	var out bytes.Buffer
	s := &stage{Options{Dir: t.TempDir(), Out: &out}, &Result{}}
	if err := playAggregate(context.Background(), s, n); err != nil {
		t.Fatalf("%v\n%s", err, &out)
	}
	for _, w := range []string{
		"somebody registers a key made out of client 0's, to sign for both: distill: invalid proof of possession",
		"client 2 writes in the name of client 3: ",
		"client 16 signs two payloads under one nonce",
		strconv.Itoa(n) + " messages with ",
		"with one signature of 96 bytes for ",
		"all 4 validators agree, and every client has a receipt that 2 of them signed",
		"it alters a message: ",
		"it passes a straggler for one who signed: ",
	} {
		if !strings.Contains(out.String(), w) {
			t.Errorf("the output lacks %q:\n%s", w, &out)
		}
	}
	// The claim of it all, with much room for a busy machine.
	m := regexp.MustCompile(`different messages: .*, which is (\d+) times as long`).FindStringSubmatch(out.String())
	if m == nil {
		t.Fatalf("no comparison:\n%s", &out)
	}
	if times, err := strconv.Atoi(m[1]); err != nil || times < 20 {
		t.Errorf("classic is %s times as long, which should be 40 or more with %d clients:\n%s", m[1], n, &out)
	}
	if len(s.res.Steps) != 3 {
		t.Errorf("%d steps", len(s.res.Steps))
	}
}

func TestAggregateFew(t *testing.T) {
	if _, err := Aggregate(context.Background(), Options{Dir: t.TempDir(), Records: 10, Out: new(bytes.Buffer)}); err == nil {
		t.Error("too few clients for what is shown")
	}
}

func TestAggregateInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Aggregate(ctx, Options{Dir: t.TempDir(), Records: 64, Out: new(bytes.Buffer)}); err != context.Canceled {
		t.Errorf("got %v", err)
	}
	s := &stage{Options{Dir: t.TempDir(), Out: new(bytes.Buffer)}, &Result{}}
	if err := playAggregate(ctx, s, 64); err != context.Canceled {
		t.Errorf("in this process: %v", err)
	}
	if err := parallel(ctx, 10, func(int) error { return nil }); err != context.Canceled {
		t.Errorf("parallel: %v", err)
	}
}
