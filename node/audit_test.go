// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package node

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	nodev1 "github.com/undersign/undersign/gen/undersign/node/v1"
	"github.com/undersign/undersign/internal/audit"
	"github.com/undersign/undersign/internal/nodedir"
)

// TestCutLog takes records away from the end of the audit log of a node that doesn't run.
func TestCutLog(t *testing.T) {
	t.Parallel()
	dir := newDir(t, testConfig)
	path := filepath.Join(dir, nodedir.Audit)
	// run runs the node, and returns how often its log says that it was cut.
	run := func() (cuts int) {
		t.Helper()
		n := start(t, dir)
		if _, err := n.client(t, n.id).Snapshot(t.Context(), new(nodev1.SnapshotRequest)); err != nil {
			t.Fatal(err)
		}
		if err := n.stop(); err != nil {
			t.Fatal(err)
		}
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if _, err := audit.Verify(f, n.id.PublicKey(), "", func(r *audit.Record) {
			if r.Operation == "node.audit-cut" {
				cuts++
			}
		}); err != nil {
			t.Fatal(err)
		}
		return cuts
	}
	change := func(f func(lines [][]byte) [][]byte) {
		t.Helper()
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, bytes.Join(f(bytes.SplitAfter(data, []byte("\n"))), nil), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if n := run(); n != 0 {
		t.Fatalf("%d cuts of a log that nobody has cut", n)
	}
	id, err := nodedir.ReadIdentity(dir)
	if err != nil {
		t.Fatal(err)
	}
	// What a command adds between two runs is no cut, nor is a rotation, nor are two.
	for i := range 3 {
		l, err := audit.Open(path, id.SigningKey(), audit.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		head := l.Synced()
		if i > 0 {
			if err := os.Rename(path, filepath.Join(dir, "audit-2026"+string(rune('0'+i))+"-7.jsonl")); err != nil {
				t.Fatal(err)
			}
			if l, err = audit.Open(path, id.SigningKey(), audit.Options{After: head}); err != nil {
				t.Fatal(err)
			}
			if err := l.Close(); err != nil {
				t.Fatal(err)
			}
		}
		if i == 1 {
			continue
		}
		if n := run(); n != 0 {
			t.Fatalf("%d cuts after change %d", n, i)
		}
	}

	change(func(lines [][]byte) [][]byte { return lines[:len(lines)-2] }) // the last is empty
	if n := run(); n != 1 {
		t.Errorf("a record was taken away: %d cuts", n)
	}
	if n := run(); n != 1 {
		t.Errorf("once more: %d cuts", n)
	}
	change(func(lines [][]byte) [][]byte { return lines[:1] })
	if n := run(); n != 1 {
		t.Errorf("all but the first: %d cuts", n)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if n := run(); n != 1 {
		t.Errorf("the file was taken away: %d cuts", n)
	}
	// A file that begins as if something was before it, which isn't there.
	l, err := audit.Open(path+".x", id.SigningKey(), audit.Options{After: string(bytes.Repeat([]byte("ab"), 32))})
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(path+".x", path); err != nil {
		t.Fatal(err)
	}
	if n := run(); n != 1 {
		t.Errorf("a file after one that isn't there: %d cuts", n)
	}
}
