// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

func testEnv() (e *env, stdout, stderr *bytes.Buffer) {
	stdout, stderr = new(bytes.Buffer), new(bytes.Buffer)
	return &env{stdin: strings.NewReader(""), stdout: stdout, stderr: stderr}, stdout, stderr
}

// listDir returns the names in dir, temporary files included.
func listDir(t *testing.T, dir string) string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, d := range entries {
		names = append(names, d.Name())
	}
	return strings.Join(names, " ")
}

func wantFile(t *testing.T, path, want string) {
	t.Helper()
	if got, err := os.ReadFile(path); err != nil || string(got) != want {
		t.Errorf("%s holds %q (%v), want %q", path, got, err, want)
	}
}

func TestWriteFile(t *testing.T) {
	dir := t.TempDir()
	e, _, _ := testEnv()
	name := filepath.Join(dir, "secret")
	if err := e.writeFile(name, []byte("one"), secretFile, false); err != nil {
		t.Fatal(err)
	}
	wantFile(t, name, "one")
	if fi, err := os.Stat(name); err != nil || fi.Mode() != 0o600 {
		t.Errorf("mode is %v (%v)", fi.Mode(), err)
	}

	err := e.writeFile(name, []byte("two"), secretFile, false)
	if err == nil || hintOf(err) == "" || !strings.Contains(err.Error(), "exists") {
		t.Errorf("second write without force: %v", err)
	}
	wantFile(t, name, "one")
	if err := e.writeFile(name, []byte("three"), publicFile, true); err != nil {
		t.Error(err)
	}
	wantFile(t, name, "three")
	if got := listDir(t, dir); got != "secret" {
		t.Errorf("left behind: %s", got)
	}
}

func TestWriteFileRefuses(t *testing.T) {
	dir := t.TempDir()
	e, _, _ := testEnv()
	for name, path := range map[string]string{
		"directory":         dir,
		"missing directory": filepath.Join(dir, "no", "file"),
		"file as directory": "/dev/null/file",
		"name too long":     filepath.Join(dir, strings.Repeat("x", 300)),
	} {
		if err := e.writeFile(path, []byte("x"), secretFile, true); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if got := listDir(t, dir); got != "" {
		t.Errorf("left behind: %s", got)
	}
}

// A set of which one file can't be written leaves none.
func TestFileSetAllOrNone(t *testing.T) {
	dir := t.TempDir()
	a, b, c := filepath.Join(dir, "a"), filepath.Join(dir, "b"), filepath.Join(dir, "c")
	for _, force := range []bool{false, true} {
		e, stdout, _ := testEnv()
		s := e.newFileSet(force)
		for _, name := range []string{a, b, "-", c} {
			if err := s.add(name, []byte("new"), publicFile); err != nil {
				t.Fatal(err)
			}
		}
		// Between staging and commit somebody takes the last name.
		want := "c"
		if force {
			os.Remove(c)
			os.WriteFile(a, []byte("old"), 0o666)
			os.Mkdir(c, 0o777)
			want = "a c"
		} else {
			os.WriteFile(c, []byte("theirs"), 0o666)
		}
		if err := s.commit(); err == nil {
			t.Fatal("commit over a name that was taken: no error")
		}
		s.abort()
		if got := listDir(t, dir); got != want {
			t.Errorf("force=%v: left behind %q, want %q", force, got, want)
		}
		if stdout.Len() > 0 {
			t.Errorf("force=%v: printed %q", force, stdout)
		}
		if force {
			wantFile(t, a, "old")
		} else {
			wantFile(t, c, "theirs")
		}
	}
}

func TestFileSetAbort(t *testing.T) {
	dir := t.TempDir()
	e, _, _ := testEnv()
	s := e.newFileSet(false)
	for _, name := range []string{"a", "b"} {
		if err := s.add(filepath.Join(dir, name), []byte("x"), secretFile); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.add(filepath.Join(dir, ".", "a"), []byte("y"), secretFile); err == nil {
		t.Error("the same file twice: no error")
	}
	s.abort()
	if got := listDir(t, dir); got != "" {
		t.Errorf("left behind: %s", got)
	}
}

func TestFileSetDryRun(t *testing.T) {
	dir := t.TempDir()
	e, stdout, stderr := testEnv()
	e.dryRun = true
	s := e.newFileSet(false)
	for _, name := range []string{filepath.Join(dir, "a"), "-"} {
		if err := s.add(name, []byte("x"), secretFile); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.commit(); err != nil {
		t.Fatal(err)
	}
	if got := listDir(t, dir); got != "" {
		t.Errorf("dry run wrote %s", got)
	}
	if stdout.String() != "x" || !strings.Contains(stderr.String(), "would write") {
		t.Errorf("stdout %q, stderr %q", stdout, stderr)
	}
	os.WriteFile(filepath.Join(dir, "a"), nil, 0o666)
	if err := e.writeFile(filepath.Join(dir, "a"), nil, secretFile, false); err == nil {
		t.Error("dry run: a file that exists isn't refused")
	}
}

// Devices are written to, never replaced; symbolic links are followed.
func TestFileSetSpecialFiles(t *testing.T) {
	dir := t.TempDir()
	e, _, _ := testEnv()
	if err := e.writeFile("/dev/null", []byte("x"), secretFile, true); err != nil {
		t.Error(err)
	}
	if fi, err := os.Lstat("/dev/null"); err != nil || fi.Mode().Type()&fs.ModeDevice == 0 {
		t.Fatalf("/dev/null is now %v (%v)", fi.Mode(), err)
	}
	target, link := filepath.Join(dir, "target"), filepath.Join(dir, "link")
	os.WriteFile(target, []byte("old"), 0o666)
	if err := os.Symlink(target, link); err != nil {
		t.Fatal(err)
	}
	if err := e.writeFile(link, []byte("new"), publicFile, true); err != nil {
		t.Error(err)
	}
	wantFile(t, target, "new")
	if fi, err := os.Lstat(link); err != nil || fi.Mode().Type() != fs.ModeSymlink {
		t.Errorf("the link is now %v (%v)", fi.Mode(), err)
	}
}

func TestReadInput(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "file")
	os.WriteFile(name, []byte("0123456789"), 0o666)
	e, _, _ := testEnv()
	e.stdin = strings.NewReader("0123456789")
	if got, err := e.readInput(t.Context(), name, 10); err != nil || string(got) != "0123456789" {
		t.Errorf("got %q, %v", got, err)
	}
	if got, err := e.readInput(t.Context(), "-", 10); err != nil || string(got) != "0123456789" {
		t.Errorf("standard input: got %q, %v", got, err)
	}
	for what, path := range map[string]string{
		"standard input twice": "-",
		"a directory":          dir,
		"a missing file":       filepath.Join(dir, "none"),
		"an endless file":      "/dev/zero",
		"too large a file":     name,
	} {
		if got, err := e.readInput(t.Context(), path, 9); err == nil {
			t.Errorf("%s: read %q without an error", what, got)
		} else if strings.Contains(err.Error(), "\x00") {
			t.Errorf("%s: %q", what, err)
		}
	}
}

// A pipe that nobody writes to doesn't hold up an interrupt.
func TestReadPipe(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Skip(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	e, _, _ := testEnv()
	if _, err := e.readInput(ctx, pipe, 9); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
	// Let go of the reader that was left behind.
	if w, err := os.OpenFile(pipe, os.O_WRONLY, 0); err == nil {
		w.Close()
	}
}

func TestErrors(t *testing.T) {
	base := errors.New("base")
	for _, tt := range []struct {
		err  error
		code int
		hint string
	}{
		{nil, ExitOK, ""},
		{base, ExitError, ""},
		{failf(ExitQuorum, "", "x: %w", base), ExitQuorum, ""},
		{withHint(base, "do %s", "this"), ExitError, "do this"},
		{withHint(failf(ExitRefused, "inner", "x"), "outer"), ExitRefused, "outer"},
		{withCode(withHint(base, "h"), ExitInvalid), ExitInvalid, "h"},
		{errors.Join(errors.New("other"), failf(ExitInvalid, "h", "x")), ExitInvalid, "h"},
		{withCode(nil, ExitInvalid), ExitOK, ""},
	} {
		if got := exitCode(tt.err); got != tt.code {
			t.Errorf("exitCode(%v) = %d, want %d", tt.err, got, tt.code)
		}
		if got := hintOf(tt.err); got != tt.hint {
			t.Errorf("hintOf(%v) = %q, want %q", tt.err, got, tt.hint)
		}
	}
	if err := failf(ExitQuorum, "", "x: %w", base); !errors.Is(err, base) {
		t.Error("failf doesn't wrap")
	}
}

func TestPrintable(t *testing.T) {
	for in, want := range map[string]string{
		"plain\ttext\n":  "plain\ttext\n",
		"grüße":          "grüße",
		"\x1b[2Jcleared": "\uFFFD[2Jcleared",
		"\rovertype":     "\uFFFDovertype",
		"a\u202eb":       "a\uFFFDb",
		"\u009b31m":      "\uFFFD31m",
		"a\u200fb\u2029": "a\uFFFDb\uFFFD",
	} {
		if got := printable(in); got != want {
			t.Errorf("printable(%q) = %q, want %q", in, got, want)
		}
	}
	var b bytes.Buffer
	writeFields(&b, []field{{"subject", "CN=a\nissuer\tCN=b\u2028"}})
	if got, want := b.String(), "subject  CN=a\uFFFDissuer\uFFFDCN=b\uFFFD\n"; got != want {
		t.Errorf("a field of two lines is shown as %q", got)
	}
}

func TestPrintNotAnObject(t *testing.T) {
	e, stdout, _ := testEnv()
	e.json = true
	for _, v := range []any{nil, 1, "text", []int{1}, func() {}} {
		if err := e.print(v, nil); err == nil || stdout.Len() > 0 {
			t.Errorf("print(%T): %v, printed %q", v, err, stdout)
		}
	}
}

func TestProgressIsForTerminals(t *testing.T) {
	e, _, stderr := testEnv()
	p := e.startProgress()
	p.update("working")
	p.done()
	if p != nil || stderr.Len() > 0 {
		t.Errorf("progress on a buffer: %q", stderr)
	}
}
