// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode"

	"github.com/spf13/cobra"
)

// Exit statuses. They are part of the command's contract.
const (
	ExitOK          = 0
	ExitError       = 1
	ExitInvalid     = 3
	ExitQuorum      = 4
	ExitRefused     = 5
	ExitUsage       = 64
	ExitInterrupted = 130
)

// exitText says in a help text what a status means, unless the command says it better.
var exitText = map[int]string{
	ExitOK:          "success",
	ExitError:       "an error occurred",
	ExitInvalid:     "a signature is invalid, or bad items were found",
	ExitQuorum:      "too few valid shares for the threshold",
	ExitRefused:     "refused by policy",
	ExitUsage:       "the command line is wrong",
	ExitInterrupted: "interrupted",
}

// Error is an error with an exit status and, where the user can mend it, a
// hint, which should hold a command or a flag.
type Error struct {
	Err  error
	Hint string
	Code int // 0 means ExitError
}

func (err *Error) Error() string { return err.Err.Error() }

func (err *Error) Unwrap() error { return err.Err }

// failf returns an Error. The hint may be empty; format may hold %w.
func failf(code int, hint, format string, args ...any) error {
	return &Error{Err: fmt.Errorf(format, args...), Hint: hint, Code: code}
}

// withHint adds a hint to err, and keeps the exit status that err carries.
func withHint(err error, format string, args ...any) error {
	return &Error{Err: err, Hint: fmt.Sprintf(format, args...), Code: exitCode(err)}
}

// withCode makes err end the program with the given status, and keeps its hint.
func withCode(err error, code int) error {
	if err == nil {
		return nil
	}
	return &Error{Err: err, Hint: hintOf(err), Code: code}
}

// usagef returns an error about the command line of c.
func usagef(c *cobra.Command, format string, args ...any) error {
	return asUsageError(fmt.Errorf(format, args...), c)
}

func asUsageError(err error, c *cobra.Command) error {
	hint := hintOf(err)
	if hint == "" && c != nil {
		hint = fmt.Sprintf("run %q", c.CommandPath()+" --help")
	}
	return &Error{Err: err, Hint: hint, Code: ExitUsage}
}

// exitCode returns the status that err asks for: the outermost one counts.
func exitCode(err error) int {
	if err == nil {
		return ExitOK
	}
	var e *Error
	if errors.As(err, &e) && e.Code != 0 {
		return e.Code
	}
	return ExitError
}

func hintOf(err error) string {
	var e *Error
	for errors.As(err, &e) {
		if e.Hint != "" {
			return e.Hint
		}
		err = e.Err
	}
	return ""
}

// printError reports err on standard error, as text or, with --json, as one object.
func (e *env) printError(err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.json {
		e.encodeError(struct {
			Error string `json:"error"`
			Hint  string `json:"hint,omitempty"`
			Exit  int    `json:"exit"`
		}{err.Error(), hintOf(err), exitCode(err)})
		return
	}
	fmt.Fprintf(e.stderr, "undersign: error: %s\n", printable(err.Error()))
	if hint := hintOf(err); hint != "" {
		fmt.Fprintf(e.stderr, "undersign: hint: %s\n", printable(hint))
	}
}

// encodeError prints an object on standard error, on a line of its own.
func (e *env) encodeError(v any) {
	enc := json.NewEncoder(e.stderr)
	enc.SetEscapeHTML(false)
	enc.Encode(v)
}

// notef tells the user something that isn't the result; -q and --json silence it.
func (e *env) notef(format string, args ...any) {
	if e.quiet || e.json {
		return
	}
	e.say(fmt.Sprintf(format, args...))
}

// warnf tells the user something that mustn't be missed; nothing silences it.
// With --json it is an object, so that standard error can be read line by line.
func (e *env) warnf(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if e.json {
		e.mu.Lock()
		defer e.mu.Unlock()
		e.encodeError(struct {
			Warning string `json:"warning"`
		}{text})
		return
	}
	e.say("warning: " + text)
}

func (e *env) say(s string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.line.clear()
	fmt.Fprintf(e.stderr, "undersign: %s\n", printable(s))
}

// printable replaces the control characters that text from a file could use to
// deceive a terminal. Newlines and tabs stay.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' {
			return r
		}
		// C0, DEL, C1, other line ends, and the marks that reorder text (Unicode TR36, 2.5).
		if unicode.IsControl(r) || r == '\u2028' || r == '\u2029' || unicode.Is(unicode.Bidi_Control, r) {
			return '\uFFFD'
		}
		return r
	}, s)
}

// oneLine is printable for what must not look like several lines.
func oneLine(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' {
			return '\uFFFD'
		}
		return r
	}, printable(s))
}
