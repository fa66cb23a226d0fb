// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
)

// Limits for what commands read whole. A file that is larger is refused before
// it is read: no object of undersign comes near, and memory isn't the caller's to spend.
// Messages are what is signed by schemes that take them whole.
const (
	maxObject     = 16 << 20 // a ceremony of 255 holders at 8192 bits fits
	maxMessage    = 256 << 20
	maxPassphrase = 4096
)

// stdinName is how standard input is called in messages.
const stdinName = "standard input"

// A tooLargeError is about a file that is larger than what it should be can get.
type tooLargeError struct {
	name string
	max  int64
}

func (err *tooLargeError) Error() string {
	return fmt.Sprintf("%s is larger than %d bytes", err.name, err.max)
}

// readInput reads a whole file of at most max bytes; name - is standard input.
func (e *env) readInput(ctx context.Context, name string, max int64) ([]byte, error) {
	r, err := e.openInput(ctx, name)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	data, err := io.ReadAll(io.LimitReader(r, max+1))
	if err != nil {
		return nil, err
	}
	if int64(len(data)) > max {
		return nil, &tooLargeError{inputName(name), max}
	}
	return data, nil
}

// openInput opens a file of any size, to be read in pieces; name - is standard
// input. Reading fails once ctx ends, also where nothing arrives any more.
func (e *env) openInput(ctx context.Context, name string) (io.ReadCloser, error) {
	if name == "-" {
		if e.stdinUsed {
			return nil, failf(ExitUsage, "give - for one file only", "standard input can be read only once")
		}
		e.stdinUsed = true
		return &ctxReader{ctx: ctx, r: e.stdin, name: stdinName}, nil
	}
	f, err := openFile(ctx, name)
	if err != nil {
		return nil, err
	}
	if fi, err := f.Stat(); err == nil && fi.IsDir() {
		f.Close()
		return nil, fmt.Errorf("%s is a directory", name)
	}
	return &ctxReader{ctx: ctx, r: f, c: f, name: name}, nil
}

// openFile opens a file unless ctx ends before that: a named pipe isn't open
// until somebody writes to it.
func openFile(ctx context.Context, name string) (*os.File, error) {
	type result struct {
		f   *os.File
		err error
	}
	done := make(chan result, 1)
	go func() {
		f, err := os.Open(name)
		done <- result{f, err}
	}()
	select {
	case r := <-done:
		if r.err != nil {
			return nil, inputError(name, r.err)
		}
		return r.f, nil
	case <-ctx.Done(): // the goroutine is left behind, as in Read
		return nil, ctx.Err()
	}
}

func inputName(name string) string {
	if name == "-" {
		return stdinName
	}
	return name
}

func inputError(name string, err error) error {
	switch lower := strings.ToLower(name); { // what was given in the place of a file that holds it
	case !errors.Is(err, fs.ErrNotExist):
	case strings.HasPrefix(lower, "age-secret-key-"):
		return failf(ExitUsage, "other processes can see it there, and so can the shell's history: make a new one with age-keygen -o FILE, and give the file", "a secret key on the command line")
	case strings.HasPrefix(lower, "age1"):
		return failf(ExitUsage, "write it to a file, and give that", "%s is a recipient, and a file with it is wanted", name)
	}
	var pe *fs.PathError
	if errors.As(err, &pe) {
		err = pe.Err
	}
	return fmt.Errorf("can't read %s: %w", inputName(name), err)
}

// ctxReader reads from r until ctx ends.
type ctxReader struct {
	ctx  context.Context
	r    io.Reader
	c    io.Closer // nil if there is nothing to close
	name string
	buf  []byte
}

type readResult struct {
	n   int
	err error
}

// maxChunk bounds one read, which is also how long an interrupt can wait on a regular file.
const maxChunk = 1 << 20

func (r *ctxReader) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	if len(p) == 0 {
		return 0, nil
	}
	if len(p) > maxChunk {
		p = p[:maxChunk]
	}
	if len(r.buf) < len(p) {
		r.buf = make([]byte, len(p))
	}
	// The read goes to a buffer of its own, because a terminal or a pipe may
	// never answer: after an interrupt the goroutine is left behind, and the
	// process is about to end.
	buf, done := r.buf[:len(p)], make(chan readResult, 1)
	go func() {
		n, err := r.r.Read(buf)
		done <- readResult{n, err}
	}()
	select {
	case res := <-done:
		copy(p, buf[:res.n])
		if res.err != nil && res.err != io.EOF {
			res.err = inputError(r.name, res.err)
		}
		return res.n, res.err
	case <-r.ctx.Done():
		return 0, r.ctx.Err()
	}
}

// Close closes the file and wipes what was read through it.
func (r *ctxReader) Close() error {
	if r.ctx.Err() == nil {
		clear(r.buf)
	}
	if r.c != nil {
		return r.c.Close()
	}
	return nil
}
