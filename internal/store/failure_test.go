// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package store

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// Nothing is written to the log of the file before what is in it was moved into the file:
// see checkpoint.
func TestOpenMovesLog(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	set := func(s *Store, name string) {
		t.Helper()
		err := s.Update(func(tx *Tx) error {
			_, err := tx.Exec("INSERT INTO meta (name, value) VALUES (?, x'01')", name)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	a, err := Open(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	set(a, "one")
	// As a process that was killed leaves it.
	copied := filepath.Join(t.TempDir(), "store.db")
	for _, suffix := range []string{"", "-wal"} {
		data, err := os.ReadFile(path + suffix)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(copied+suffix, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	if fi, err := os.Stat(copied + "-wal"); err != nil || fi.Size() == 0 {
		t.Fatalf("nothing in the log: %v", err)
	}
	b, err := Open(copied, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	if fi, err := os.Stat(copied + "-wal"); err != nil || fi.Size() != 0 {
		t.Errorf("the log has %d bytes after it was opened: %v", fi.Size(), err)
	}
	var v []byte
	err = b.View(func(tx *Tx) error {
		ok, err := tx.Row([]any{&v}, "SELECT value FROM meta WHERE name = 'one'")
		if !ok && err == nil {
			err = errors.New("what was committed isn't there")
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
	set(b, "two")
}

// A store that can't commit says so, and takes nothing more.
func TestFailedTold(t *testing.T) {
	var told []error
	s, err := Open(filepath.Join(t.TempDir(), "store.db"), Options{Failed: func(err error) { told = append(told, err) }})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	// A constraint that is checked at the end makes COMMIT itself fail.
	err = s.Update(func(tx *Tx) error {
		for _, q := range []string{
			"CREATE TABLE parent (id INTEGER PRIMARY KEY)",
			"CREATE TABLE child (id INTEGER REFERENCES parent (id) DEFERRABLE INITIALLY DEFERRED)",
		} {
			if _, err := tx.Exec(q); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	insert := func(tx *Tx) error {
		_, err := tx.Exec("INSERT INTO child VALUES (1)")
		return err
	}
	first := s.Update(insert)
	if first == nil || len(told) != 1 || !errors.Is(told[0], first) {
		t.Fatalf("%v, and told %v", first, told)
	}
	if err := s.Update(func(*Tx) error { return nil }); !errors.Is(err, first) || len(told) != 1 {
		t.Errorf("it goes on: %v, and told %v", err, told)
	}
}
