// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bufio"
	"bytes"
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"
)

// passphraseFlags say where a passphrase comes from. Never from a flag's own
// value or the environment: other processes can see these.
type passphraseFlags struct {
	file string
	fd   int
}

func addPassphraseFlags(c *cobra.Command, p *passphraseFlags) {
	c.Flags().StringVar(&p.file, "passphrase-file", "", "read the passphrase from the first line of `FILE`")
	c.Flags().IntVar(&p.fd, "passphrase-fd", -1, "read the passphrase from this file descriptor `N`")
	c.MarkFlagsMutuallyExclusive("passphrase-file", "passphrase-fd")
}

// passphrase gets a passphrase from where the flags say, or asks for it on the
// terminal (twice if confirm is set). The caller wipes it.
func (e *env) passphrase(ctx context.Context, p passphraseFlags, what string, confirm bool) ([]byte, error) {
	switch {
	case p.file != "":
		r, err := e.openInput(ctx, p.file)
		if err != nil {
			return nil, err
		}
		defer r.Close()
		return firstLine(r, inputName(p.file))
	case p.fd == 0:
		r, err := e.openInput(ctx, "-")
		if err != nil {
			return nil, err
		}
		return firstLine(r, stdinName)
	case p.fd == 1 || p.fd == 2:
		return nil, failf(ExitUsage, "", "--passphrase-fd %d is an output", p.fd)
	case p.fd > 2:
		name := fmt.Sprintf("file descriptor %d", p.fd)
		f := os.NewFile(uintptr(p.fd), name)
		if f == nil {
			return nil, fmt.Errorf("%s isn't open", name)
		}
		r := &ctxReader{ctx: ctx, r: f, c: f, name: name}
		defer r.Close()
		return firstLine(r, name)
	case p.fd < -1:
		return nil, failf(ExitUsage, "", "--passphrase-fd %d isn't a file descriptor", p.fd)
	}
	pass, err := e.askSecret(ctx, "Passphrase for "+what+": ")
	if err != nil || !confirm {
		return pass, err
	}
	again, err := e.askSecret(ctx, "The same again: ")
	if err != nil {
		clear(pass)
		return nil, err
	}
	defer clear(again)
	if subtle.ConstantTimeCompare(pass, again) != 1 {
		clear(pass)
		return nil, errors.New("the passphrases differ")
	}
	return pass, nil
}

// firstLine reads a passphrase: up to the first newline, which isn't part of it.
func firstLine(r io.Reader, name string) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, maxPassphrase+2))
	defer clear(data)
	if err != nil {
		return nil, err
	}
	line, _, _ := bytes.Cut(data, []byte("\n"))
	line = bytes.TrimSuffix(line, []byte("\r"))
	if len(line) > maxPassphrase {
		return nil, fmt.Errorf("the passphrase in %s is longer than %d bytes", name, maxPassphrase)
	}
	if len(line) == 0 {
		return nil, fmt.Errorf("the passphrase in %s is empty", name)
	}
	return bytes.Clone(line), nil
}

// askSecret asks on the terminal, without echo. Standard input may be a pipe
// with other data, so the process's terminal is opened by its own name.
func (e *env) askSecret(ctx context.Context, prompt string) ([]byte, error) {
	tty, fd, err := e.openTerminal()
	if err != nil {
		return nil, failf(ExitError, "use --passphrase-file or --passphrase-fd", "no terminal to ask for a passphrase on")
	}
	defer tty.Close()
	old, err := term.GetState(fd)
	if err != nil {
		return nil, err
	}
	e.clearProgress()
	fmt.Fprint(tty, prompt)
	type answer struct {
		data []byte
		err  error
	}
	done := make(chan answer, 1)
	go func() {
		data, err := term.ReadPassword(fd)
		done <- answer{data, err}
	}()
	select {
	case a := <-done:
		fmt.Fprintln(tty)
		if a.err == nil && len(a.data) == 0 {
			a.err = errors.New("the passphrase is empty")
		}
		return a.data, a.err
	case <-ctx.Done():
		term.Restore(fd, old) // the reader is left behind; the process is about to end
		fmt.Fprintln(tty)
		return nil, ctx.Err()
	}
}

func (e *env) openTerminal() (*os.File, int, error) {
	tty, err := os.OpenFile("/dev/tty", os.O_RDWR, 0)
	if err != nil {
		return nil, 0, err
	}
	fd, ok := terminal(tty)
	if !ok {
		tty.Close()
		return nil, 0, errors.New("/dev/tty isn't a terminal")
	}
	return tty, fd, nil
}

// confirm asks a question that takes yes for an answer. --yes answers it.
func (e *env) confirm(ctx context.Context, question string) error {
	if e.yes {
		return nil
	}
	if _, ok := terminal(e.stdin); !ok {
		return failf(ExitError, "use --yes to go on without being asked", "no terminal to ask on: %s", question)
	}
	e.clearProgress()
	fmt.Fprintf(e.stderr, "%s [yes/no] ", question)
	r, err := e.openInput(ctx, "-")
	if err != nil {
		return err
	}
	e.stdinUsed = false // a terminal can be asked again
	line, err := bufio.NewReader(io.LimitReader(r, 64)).ReadString('\n')
	if err != nil && err != io.EOF {
		return err
	}
	if s := strings.ToLower(strings.TrimSpace(line)); s != "yes" && s != "y" {
		return errors.New("not confirmed")
	}
	return nil
}
