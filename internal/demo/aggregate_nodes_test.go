// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package demo

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

func TestService(t *testing.T) {
	t.Parallel()
	skipShort(t)
	dir := t.TempDir()
	var out bytes.Buffer
	d := &service{stage: stage{Options{Dir: dir, Out: &out}, &Result{}}, clients: 100, atLeast: serviceTime}
	if err := d.play(context.Background()); err != nil {
		t.Fatalf("%v\n%s", err, &out)
	}
	for _, w := range []string{
		"100 clients are registered",
		"   aggregator: killed when ", "   validator: killed when ",
		"and none twice: as many as there are receipts",
		"one message of 32 bytes and one signature of 96: FastAggregateVerify",
		"   valid aggregate of ",
	} {
		if !strings.Contains(out.String(), w) {
			t.Errorf("the output lacks %q:\n%s", w, &out)
		}
	}
	// Both were killed with messages under way.
	m := regexp.MustCompile(`killed when (\d+) were acknowledged, \d+ receipted and (\d+) on their way`).FindAllStringSubmatch(out.String(), -1)
	if len(m) != 2 || slices.ContainsFunc(m, func(m []string) bool { return m[1] == "0" || m[2] == "0" }) {
		t.Errorf("nothing was under way:\n%s", &out)
	}
	if !slices.Equal(d.res.Verified, []string{"undersign aggregate verify"}) || len(d.res.Steps) != 4 {
		t.Errorf("%d steps, verified by %v", len(d.res.Steps), d.res.Verified)
	}
	for _, name := range []string{aggregateBatchName, aggregateStatementName, aggregateKeysName, aggregateSigName} {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			t.Error(err)
		}
	}
	checkEnded(t, out.String(), 3+2)

	// One receipt more or less than executions, and it isn't shown any more.
	for _, change := range []func(*loadLine){
		func(l *loadLine) { l.Receipted++ },
		func(l *loadLine) { l.Receipted-- },
		func(l *loadLine) { l.Submitted++ },
	} {
		last := d.last
		change(&d.last)
		if lines, err := d.count(context.Background()); err == nil {
			t.Errorf("%+v is taken for right: %q", d.last, lines)
		}
		d.last = last
	}
}

// A demo in which nobody is killed fails, and leaves no process.
func TestServiceShowsNothing(t *testing.T) {
	t.Parallel()
	skipShort(t)
	var out bytes.Buffer
	d := &service{stage: stage{Options{Dir: t.TempDir(), Out: &out}, &Result{}}, clients: 10, spare: true}
	err := d.play(context.Background())
	if err == nil || !strings.Contains(err.Error(), "before anybody was killed") {
		t.Errorf("%v\n%s", err, &out)
	}
	checkEnded(t, out.String(), 3)
}
