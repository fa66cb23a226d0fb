// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package audit

import (
	"bytes"
	"crypto/ed25519"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

var (
	testKey  = ed25519.NewKeyFromSeed(bytes.Repeat([]byte{7}, ed25519.SeedSize))
	testNode = testKey.Public().(ed25519.PublicKey)
	entry    = Entry{Party: "us1party", Operation: "threshold.sign", Key: "us1key", Subject: "00ff"}
)

// A memory is a file in memory that can be made to fail.
type memory struct {
	mu       sync.Mutex
	data     []byte
	synced   int // bytes that a crash leaves
	at       int64
	syncs    int
	writeErr error
	syncErr  error
	short    int // bytes that the next write takes before it fails, if writeErr is set
}

func (m *memory) Read(p []byte) (int, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.at >= int64(len(m.data)) {
		return 0, io.EOF
	}
	n := copy(p, m.data[m.at:])
	m.at += int64(n)
	return n, nil
}

func (m *memory) Write(p []byte) (int, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.writeErr != nil {
		p = p[:min(m.short, len(p))]
	}
	m.data = append(m.data[:m.at], p...)
	m.at += int64(len(p))
	return len(p), m.writeErr
}

func (m *memory) Seek(offset int64, whence int) (int64, error) {
	m.at = offset
	return offset, nil
}

func (m *memory) Truncate(size int64) error {
	m.data = m.data[:size]
	return nil
}

func (m *memory) Sync() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.syncs++
	if m.syncErr == nil {
		m.synced = len(m.data)
	}
	return m.syncErr
}

func (m *memory) Close() error { return nil }

func clock() func() time.Time {
	t := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	return func() time.Time {
		t = t.Add(time.Millisecond)
		return t
	}
}

func open(t *testing.T, f File, opts Options) *Log {
	t.Helper()
	if opts.Now == nil {
		opts.Now = clock()
	}
	l, err := OpenFile(f, testKey, opts)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// sample returns a file with some records of every kind.
func sample(t *testing.T) []byte {
	t.Helper()
	f := new(memory)
	l := open(t, f, Options{Every: 4})
	for i := range 4 {
		a, err := l.Begin(entry)
		if err != nil {
			t.Fatal(err)
		}
		if i == 2 {
			continue
		}
		if err := a.End(OK, fmt.Sprintf("signature %d", i)); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.Event(Entry{Operation: "party.join", Party: "us1other", Detail: "<new> & \"quoted\""}, Denied); err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	return f.data
}

func check(data []byte, known string) (*Report, error) {
	return Verify(bytes.NewReader(data), testNode, known, nil)
}

func TestVerify(t *testing.T) {
	data := sample(t)
	report, err := check(data, "")
	if err != nil {
		t.Fatal(err)
	}
	if report.Unsigned != 0 || report.Checkpoints < 2 || report.Torn != 0 || len(report.Open) != 1 || report.After != noHash {
		t.Errorf("report is %+v", report)
	}
	if n := uint64(bytes.Count(data, []byte("\n"))); report.Records != n {
		t.Errorf("%d records of %d", report.Records, n)
	}
	if r, err := check(data, report.Head); err != nil || !r.Found {
		t.Errorf("the head isn't found: %v", err)
	}
}

// Every change of a byte, and every line that is missing, doubled or exchanged, shows.
func TestTamper(t *testing.T) {
	data := sample(t)
	broken := func(what string, changed []byte) {
		t.Helper()
		if bytes.Equal(changed, data) {
			return
		}
		r, err := check(changed, "")
		if err == nil && r.Torn == 0 && r.Unsigned == 0 {
			t.Errorf("%s: not found", what)
		}
		if err != nil && !errors.Is(err, ErrBroken) {
			t.Errorf("%s: %v", what, err)
		}
	}
	for i := range data {
		for _, x := range []byte{1, 0x20, 0x80} {
			changed := bytes.Clone(data)
			changed[i] ^= x
			broken(fmt.Sprintf("byte %d", i), changed)
		}
	}
	lines := bytes.SplitAfter(data, []byte("\n"))
	lines = lines[:len(lines)-1]
	join := func(l ...[]byte) []byte { return bytes.Join(l, nil) }
	for i := range lines {
		if i < len(lines)-1 {
			broken("line left out", join(join(lines[:i]...), join(lines[i+1:]...)))
			broken("lines exchanged", join(join(lines[:i]...), lines[i+1], lines[i], join(lines[i+2:]...)))
		}
		broken("line doubled", join(join(lines[:i+1]...), join(lines[i:]...)))
		broken("space", join(join(lines[:i]...), []byte(" "), join(lines[i:]...)))
	}
}

// Someone without the node's key can write a chain anew, but not its checkpoints.
func TestForgedChain(t *testing.T) {
	var records []*Record
	if _, err := Verify(bytes.NewReader(sample(t)), testNode, "", func(r *Record) { records = append(records, r) }); err != nil {
		t.Fatal(err)
	}
	records[1].Party = "us1somebodyelse"
	var data []byte
	prev := noHash
	for _, r := range records {
		r.Prev = prev
		line, err := r.line()
		if err != nil {
			t.Fatal(err)
		}
		prev = hashLine(line)
		data = append(append(data, line...), '\n')
	}
	if _, err := check(data, ""); err == nil || !strings.Contains(err.Error(), "checkpoint") {
		t.Errorf("a chain written anew: %v", err)
	}
}

func TestCutEnd(t *testing.T) {
	data := sample(t)
	report, err := check(data, "")
	if err != nil {
		t.Fatal(err)
	}
	cut := data[:bytes.LastIndexByte(data[:len(data)-1], '\n')+1]
	if r, err := check(cut, ""); err != nil || r.Unsigned == 0 {
		t.Errorf("a shorter file is one without its last checkpoint: %+v, %v", r, err)
	}
	if _, err := check(cut, report.Head); !errors.Is(err, ErrBroken) {
		t.Errorf("a file cut before a known record: %v", err)
	}
	other := ed25519.NewKeyFromSeed(make([]byte, 32)).Public().(ed25519.PublicKey)
	if _, err := Verify(bytes.NewReader(data), other, "", nil); !errors.Is(err, ErrBroken) {
		t.Errorf("the file of another node: %v", err)
	}
	if _, err := Verify(bytes.NewReader(data), nil, "", nil); err == nil {
		t.Error("verified without a key")
	}
}

// Wherever a crash cuts the file, it can be opened, and no whole record is lost.
func TestTorn(t *testing.T) {
	data := sample(t)
	for n := range len(data) + 1 {
		f := &memory{data: bytes.Clone(data[:n])}
		l := open(t, f, Options{})
		whole := bytes.Count(data[:n], []byte("\n"))
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		if !bytes.HasPrefix(f.data, data[:bytes.LastIndexByte(data[:n], '\n')+1]) {
			t.Fatalf("cut at %d: records are lost", n)
		}
		r, err := check(f.data, "")
		if err != nil || r.Torn != 0 || r.Records < uint64(whole)+1 {
			t.Fatalf("cut at %d: %+v, %v", n, r, err)
		}
	}
}

func TestRefusesBrokenFile(t *testing.T) {
	data := sample(t)
	data[len(data)/2] ^= 1
	if _, err := OpenFile(&memory{data: data}, testKey, Options{}); !errors.Is(err, ErrBroken) {
		t.Errorf("a broken file is written on: %v", err)
	}
	if _, err := OpenFile(&memory{data: bytes.Repeat([]byte("x"), 2*maxLine)}, testKey, Options{}); !errors.Is(err, ErrBroken) {
		t.Errorf("a line without an end: %v", err)
	}
	if _, err := OpenFile(new(memory), nil, Options{}); err == nil {
		t.Error("a log without a key")
	}
}

func TestContinued(t *testing.T) {
	first := sample(t)
	report, err := check(first, "")
	if err != nil {
		t.Fatal(err)
	}
	f := new(memory)
	if err := open(t, f, Options{After: report.Head}).Close(); err != nil {
		t.Fatal(err)
	}
	if r, err := check(f.data, ""); err != nil || r.After != report.Head {
		t.Errorf("the second file continues %v, %v", r, err)
	}
}

// Nothing is acknowledged that isn't on disk, and after an error nothing more is written.
func TestFailures(t *testing.T) {
	full := errors.New("disk full")
	for _, test := range []struct {
		name string
		set  func(*memory)
	}{
		{"write", func(m *memory) { m.writeErr = full }},
		{"short write", func(m *memory) { m.writeErr, m.short = full, 20 }},
		{"sync", func(m *memory) { m.syncErr = full }},
	} {
		f := new(memory)
		l := open(t, f, Options{})
		a, err := l.Begin(entry)
		if err != nil {
			t.Fatal(err)
		}
		test.set(f)
		if err := a.End(OK, ""); !errors.Is(err, full) {
			t.Errorf("%s: %v", test.name, err)
		}
		f.writeErr, f.syncErr = nil, nil
		n := len(f.data)
		if _, err := l.Begin(entry); !errors.Is(err, full) {
			t.Errorf("%s: the log goes on: %v", test.name, err)
		}
		if err := l.Event(entry, OK); !errors.Is(err, full) || len(f.data) != n {
			t.Errorf("%s: the log goes on: %v", test.name, err)
		}
	}
}

func TestMisuse(t *testing.T) {
	f := new(memory)
	l := open(t, f, Options{})
	if _, err := l.Begin(Entry{}); err == nil {
		t.Error("an intent without an operation")
	}
	if err := l.Event(Entry{Operation: "x"}, "splendid"); err == nil {
		t.Error("an unknown outcome")
	}
	a, err := l.Begin(entry)
	if err != nil {
		t.Fatal(err)
	}
	if err := a.End("", ""); err == nil {
		t.Error("an end without an outcome")
	}
	if err := a.End(Failed, "a\nline\xff"+strings.Repeat("é", MaxDetail)); err != nil {
		t.Fatal(err)
	}
	if err := a.End(OK, ""); err == nil {
		t.Error("two ends")
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Begin(entry); err == nil {
		t.Error("written after it was closed")
	}
	if _, err := check(f.data, ""); err != nil {
		t.Error(err)
	}
}

// What is acknowledged when the machine stops is there afterwards, from many goroutines
// that share writes.
func TestConcurrent(t *testing.T) {
	f := new(memory)
	l := open(t, f, Options{Now: time.Now})
	var wg sync.WaitGroup
	for range 32 {
		wg.Go(func() {
			for range 50 {
				a, err := l.Begin(entry)
				if err != nil {
					t.Error(err)
					return
				}
				f.mu.Lock()
				durable := f.synced
				f.mu.Unlock()
				if !bytes.Contains(f.snapshot(durable), fmt.Appendf(nil, `{"seq":%d,`, a.seq)) {
					t.Errorf("record %d was acknowledged and isn't on disk", a.seq)
				}
				if err := a.End(OK, ""); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	r, err := check(f.data, "")
	if err != nil || len(r.Open) != 0 || r.Records < 3200 {
		t.Fatalf("%+v, %v", r, err)
	}
}

func (m *memory) snapshot(n int) []byte {
	m.mu.Lock()
	defer m.mu.Unlock()
	return bytes.Clone(m.data[:n])
}

func TestOpen(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	for i := range 3 {
		l, err := Open(path, testKey, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if n, _ := l.Head(); n != uint64(max(1, 2*i+1)) {
			t.Errorf("open %d: %d records", i, n)
		}
		if err := l.Event(entry, OK); err != nil {
			t.Fatal(err)
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
	}
	st, err := os.Stat(path)
	if err != nil || st.Mode().Perm()&0o077 != 0 {
		t.Errorf("mode %v, %v", st.Mode(), err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if r, err := check(data, ""); err != nil || r.Records != 7 || r.Checkpoints != 3 {
		t.Errorf("%+v, %v", r, err)
	}
	if _, err := Open(t.TempDir(), testKey, Options{}); err == nil {
		t.Error("a folder was opened")
	}
}

func FuzzVerify(f *testing.F) {
	l, err := OpenFile(new(memory), testKey, Options{Now: clock()})
	if err != nil {
		f.Fatal(err)
	}
	if err := l.Close(); err != nil {
		f.Fatal(err)
	}
	f.Add(l.f.(*memory).data)
	f.Add([]byte(`{"seq":0,"time":"2026-01-02T03:04:05.000000Z","kind":"start","node":"` + hex.EncodeToString(testNode) + `","prev":"` + noHash + `"}` + "\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := check(data, "")
		if err == nil && r.Bytes+r.Torn != int64(len(data)) {
			t.Errorf("%d and %d bytes of %d", r.Bytes, r.Torn, len(data))
		}
	})
}

// What a record quotes is shown at terminals.
func TestNothingButText(t *testing.T) {
	m := new(memory)
	l, err := OpenFile(m, testKey, Options{})
	if err != nil {
		t.Fatal(err)
	}
	const controls = "\x1b\x00\n\r\u0085\u009b\u2028\u202e\u2066\ufeff\x7f"
	if err := l.Event(Entry{Party: "p" + controls, Operation: "o" + controls, Key: controls, Subject: "\xff", Detail: "{\"seq\":1}" + controls + "ü✓"}, Denied); err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if bytes.Count(m.data, []byte("\n")) != 3 || strings.ContainsAny(strings.ReplaceAll(string(m.data), "\n", ""), controls+"\ufffd") || bytes.Contains(m.data, []byte(`\u`)) {
		t.Errorf("%q", m.data)
	}
	if !bytes.Contains(m.data, []byte("ü✓")) {
		t.Errorf("text is gone: %s", m.data)
	}
}
