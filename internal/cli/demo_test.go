// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/undersign/undersign/internal/demo"
)

// All demos are run, each in its folder, up to the first that fails, whose exit status is
// that of the command.
func TestDemos(t *testing.T) {
	t.Parallel()
	var names []string
	fake := func(name string, err error) namedDemo {
		return namedDemo{name, func(_ context.Context, o demo.Options) (*demo.Result, error) {
			names = append(names, name)
			if filepath.Base(o.Dir) != name {
				t.Errorf("%s is in %s", name, o.Dir)
			}
			if fi, err := os.Stat(o.Dir); err != nil || !fi.IsDir() {
				t.Errorf("%s has no folder: %v", name, err)
			}
			return &demo.Result{Dir: o.Dir}, err
		}}
	}
	var out bytes.Buffer
	e := &env{stdout: &out}
	good := []namedDemo{fake("a", nil), fake("b", nil)}
	if err := e.runDemos(context.Background(), good, demo.Options{Dir: t.TempDir()}); err != nil {
		t.Error(err)
	}
	if !bytes.HasPrefix(out.Bytes(), []byte("=== a\n=== b\nall files are in ")) {
		t.Errorf("it prints %q", &out)
	}
	names = nil
	failing := []namedDemo{fake("a", nil), fake("b", withCode(errors.New("shown wrong"), ExitQuorum)), fake("c", nil)}
	err := e.runDemos(context.Background(), failing, demo.Options{Dir: t.TempDir()})
	if exitCode(err) != ExitQuorum || err.Error() != "b: shown wrong" {
		t.Errorf("%v, exit status %d", err, exitCode(err))
	}
	if !slices.Equal(names, []string{"a", "b"}) {
		t.Errorf("%v were run", names)
	}
	// What the system can't do is said, and the others are run.
	names = nil
	var stderr bytes.Buffer
	e.stderr = &stderr
	elsewhere := []namedDemo{fake("a", demo.ErrSystem), fake("b", nil)}
	if err := e.runDemos(context.Background(), elsewhere, demo.Options{Dir: t.TempDir()}); err != nil {
		t.Error(err)
	}
	if !slices.Equal(names, []string{"a", "b"}) || !bytes.Contains(stderr.Bytes(), []byte("a: demo: nodes don't run on")) {
		t.Errorf("%v were run: %s", names, &stderr)
	}
	// The real list is what the help text and the arguments name.
	c := newDemoCmd(e)
	want := append([]string(nil), "threshold", "group", "aggregate", "batch")
	for i, d := range demos {
		if i >= len(want) || d.name != want[i] || !slices.Contains(c.ValidArgs, d.name) {
			t.Errorf("demo %d is %s", i, d.name)
		}
	}
}
