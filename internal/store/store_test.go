// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package store

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

func open(t *testing.T, path string) *Store {
	t.Helper()
	s, err := Open(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func tempStore(t *testing.T) (*Store, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "a folder", "50% #1?.db")
	if err := os.Mkdir(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	return open(t, path), path
}

func put(name string, value []byte) func(*Tx) error {
	return func(tx *Tx) error {
		_, err := tx.Exec("INSERT OR REPLACE INTO meta (name, value) VALUES (?, ?)", name, value)
		return err
	}
}

func get(t *testing.T, s *Store, name string) (value []byte) {
	t.Helper()
	if err := s.View(func(tx *Tx) error {
		_, err := tx.Row([]any{&value}, "SELECT value FROM meta WHERE name = ?", name)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return value
}

func TestOpen(t *testing.T) {
	s, path := tempStore(t)
	if err := s.Update(put("a", []byte("1"))); err != nil {
		t.Fatal(err)
	}
	if err := s.Update(func(tx *Tx) error {
		var mode string
		var synchronous int
		if _, err := tx.Row([]any{&mode}, "PRAGMA journal_mode"); err != nil || mode != "wal" {
			t.Errorf("journal mode %s, %v", mode, err)
		}
		if _, err := tx.Row([]any{&synchronous}, "PRAGMA synchronous"); err != nil || synchronous != 2 {
			t.Errorf("synchronous %d, %v", synchronous, err)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	st, err := os.Stat(path)
	if err != nil || st.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", st, err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := s.Update(put("a", nil)); !errors.Is(err, ErrClosed) {
		t.Errorf("written after it was closed: %v", err)
	}
	if got := get(t, open(t, path), "a"); string(got) != "1" {
		t.Errorf("read %q", got)
	}
}

func TestOpenRefuses(t *testing.T) {
	dir := t.TempDir()
	if s, err := Open(filepath.Join(dir, "none", "x.db"), Options{}); err == nil {
		s.Close()
		t.Error("a folder that isn't there")
	}
	text := filepath.Join(dir, "text")
	if err := os.WriteFile(text, bytes.Repeat([]byte("not a database "), 1000), 0o600); err != nil {
		t.Fatal(err)
	}
	if s, err := Open(text, Options{}); err == nil {
		s.Close()
		t.Error("a file that isn't a database")
	}
	for _, q := range []string{"PRAGMA application_id = 7", "PRAGMA user_version = 99"} {
		s, path := tempStore(t)
		if err := s.Update(func(tx *Tx) error {
			_, err := tx.Exec(q)
			return err
		}); err != nil {
			t.Fatal(err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		if s, err := Open(path, Options{}); err == nil {
			s.Close()
			t.Errorf("opened after %s", q)
		}
	}
}

// What one caller does wrong isn't another's loss.
func TestUpdateIsolation(t *testing.T) {
	s, _ := tempStore(t)
	mine := errors.New("mine")
	var wg sync.WaitGroup
	for i := range 200 {
		wg.Go(func() {
			name := fmt.Sprint(i)
			err := s.Update(func(tx *Tx) error {
				if err := put(name, []byte("x"))(tx); err != nil {
					return err
				}
				switch i % 3 {
				case 1:
					return mine
				case 2:
					_, err := tx.Exec("INSERT INTO meta (name, value) VALUES (?, NULL)", name+"null")
					return err
				}
				return nil
			})
			if (err == nil) != (i%3 == 0) || i%3 == 1 && !errors.Is(err, mine) {
				t.Errorf("%d: %v", i, err)
			}
		})
	}
	wg.Wait()
	for i := range 200 {
		if got := get(t, s, fmt.Sprint(i)); (got != nil) != (i%3 == 0) {
			t.Errorf("%d: %q", i, got)
		}
	}
}

// After a commit that failed the store refuses everything; opened anew, it has all that
// was acknowledged.
func TestFullDisk(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.db")
	s, err := Open(path, Options{MaxPages: 64})
	if err != nil {
		t.Fatal(err)
	}
	acknowledged := 0
	for ; acknowledged < 1000; acknowledged++ {
		if err = s.Update(put(fmt.Sprint(acknowledged), make([]byte, 5000))); err != nil {
			break
		}
	}
	if err == nil || acknowledged == 0 || !strings.Contains(err.Error(), "full") {
		t.Fatalf("after %d rows: %v", acknowledged, err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = open(t, path)
	for i := range acknowledged {
		if len(get(t, s, fmt.Sprint(i))) != 5000 {
			t.Errorf("row %d is lost", i)
		}
	}
	if err := s.Check(); err != nil {
		t.Error(err)
	}
}

func TestViewIsOneState(t *testing.T) {
	s, _ := tempStore(t)
	if err := s.Update(put("a", []byte("1"))); err != nil {
		t.Fatal(err)
	}
	if err := s.View(func(tx *Tx) error {
		read := func() (v []byte) {
			if _, err := tx.Row([]any{&v}, "SELECT value FROM meta WHERE name = 'a'"); err != nil {
				t.Fatal(err)
			}
			return v
		}
		before := read()
		if err := s.Update(put("a", []byte("2"))); err != nil {
			t.Fatal(err)
		}
		if after := read(); !bytes.Equal(before, after) {
			t.Errorf("%q, and then %q", before, after)
		}
		_, err := tx.Exec("DELETE FROM meta")
		if err == nil {
			t.Error("written by a reader")
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
}

func TestBackup(t *testing.T) {
	s, path := tempStore(t)
	if err := s.Update(put("a", []byte("1"))); err != nil {
		t.Fatal(err)
	}
	copied := path + ".copy"
	if err := s.Backup(copied); err != nil {
		t.Fatal(err)
	}
	if err := s.Backup(copied); err == nil {
		t.Error("a file was written over")
	}
	if err := s.Update(put("a", []byte("2"))); err != nil {
		t.Fatal(err)
	}
	st, err := os.Stat(copied)
	if err != nil || st.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", st, err)
	}
	if got := get(t, open(t, copied), "a"); string(got) != "1" {
		t.Errorf("the copy has %q", got)
	}
}

func TestCheckFindsDamage(t *testing.T) {
	s, path := tempStore(t)
	for i := range 200 {
		if err := s.Update(put(fmt.Sprint(i), make([]byte, 1000))); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Check(); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for i := len(data) / 2; i < len(data)/2+8192; i++ {
		data[i] = 0xa5
	}
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	damaged, err := Open(path, Options{})
	if err != nil {
		return // found even earlier
	}
	defer damaged.Close()
	if err := damaged.Check(); err == nil {
		t.Error("damage isn't found")
	}
}

// BenchmarkUpdate is of durable writes by many goroutines.
func BenchmarkUpdate(b *testing.B) {
	s, err := Open(filepath.Join(b.TempDir(), "x.db"), Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	value := make([]byte, 100)
	b.SetParallelism(500)
	b.RunParallel(func(pb *testing.PB) {
		for i := 0; pb.Next(); i++ {
			if err := s.Update(put(fmt.Sprint(i), value)); err != nil {
				b.Error(err)
			}
		}
	})
}
