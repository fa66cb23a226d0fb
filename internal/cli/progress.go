// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"
	"os"
	"time"

	"golang.org/x/term"
)

// progress is one line on standard error that is overwritten as work goes on.
// It exists on a terminal only: a nil *progress does nothing.
type progress struct {
	e     *env
	width int
	last  time.Time
	shown bool
}

// progressInterval is how often the line changes at most.
const progressInterval = 100 * time.Millisecond

// startProgress returns a progress line, or nil where nobody would see it.
func (e *env) startProgress() *progress {
	fd, ok := terminal(e.stderr)
	if !ok || e.quiet || e.json {
		return nil
	}
	width, _, err := term.GetSize(fd)
	if err != nil || width < 20 {
		width = 80
	}
	p := &progress{e: e, width: width}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.line = p
	return p
}

// update replaces the line. Any goroutine may call it, as often as it likes.
func (p *progress) update(format string, args ...any) {
	if p == nil {
		return
	}
	p.e.mu.Lock()
	defer p.e.mu.Unlock()
	if p.e.line != p || time.Since(p.last) < progressInterval {
		return
	}
	p.last = time.Now()
	s := []rune(printable(fmt.Sprintf(format, args...)))
	if len(s) >= p.width { // a line that wraps can't be overwritten
		s = s[:p.width-1]
	}
	fmt.Fprintf(p.e.stderr, "\r\x1b[K%s", string(s))
	p.shown = true
}

// done removes the line for good.
func (p *progress) done() {
	if p == nil {
		return
	}
	p.e.clearProgress()
}

// hide removes the line until the next update, to make room for other output.
func (p *progress) hide() {
	if p == nil {
		return
	}
	p.e.mu.Lock()
	defer p.e.mu.Unlock()
	p.clear()
}

// clear removes the line from the screen. The caller holds e.mu.
func (p *progress) clear() {
	if p != nil && p.shown {
		fmt.Fprint(p.e.stderr, "\r\x1b[K")
		p.shown = false
	}
}

func (e *env) clearProgress() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.line.clear()
	e.line = nil
}

// terminal returns the descriptor of stream if it is a terminal.
func terminal(stream any) (fd int, ok bool) {
	f, ok := stream.(*os.File)
	if !ok || f == nil {
		return 0, false
	}
	fd = int(f.Fd())
	return fd, term.IsTerminal(fd)
}
