// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	_ "embed"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/emmansun/gmsm/smx509"
)

//go:embed csrc/sm2verify.c
var sm2verifySource []byte

// opensslSM2 verifies by libcrypto: in a small C program of ours, since the openssl
// command verifies one signature a process, and its speed test the same one again
// and again. Where it can't be compiled the speed test has to do.
type opensslSM2 struct {
	dir   string
	speed time.Duration // of the speed test, instead of the program
}

// newOpenSSLSM2 returns nil if there is no OpenSSL, and what a reader has to know.
func newOpenSSLSM2(ctx context.Context) (*opensslSM2, string) {
	dir, err := os.MkdirTemp("", "undersign-bench-")
	if err == nil {
		o := &opensslSM2{dir: dir}
		if err = o.compile(ctx); err == nil {
			return o, ""
		}
		o.close()
	}
	speed, serr := opensslSpeedSM2(ctx)
	if serr != nil {
		return nil, fmt.Sprintf("OpenSSL is left out: %v; %v.", err, serr)
	}
	return &opensslSM2{speed: speed}, fmt.Sprintf("OpenSSL is its own speed test, of one signature again and again (%v).", err)
}

func (o *opensslSM2) close() {
	if o.dir != "" {
		os.RemoveAll(o.dir)
	}
}

func (o *opensslSM2) program() string { return filepath.Join(o.dir, "sm2verify") }

func (o *opensslSM2) compile(ctx context.Context) error {
	source := o.program() + ".c"
	if err := os.WriteFile(source, sm2verifySource, 0o600); err != nil {
		return err
	}
	out, err := exec.CommandContext(ctx, "cc", "-O2", "-o", o.program(), source, "-lcrypto").CombinedOutput()
	if err != nil {
		line, _, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
		return fmt.Errorf("a program for libcrypto can't be compiled here: %w %s", err, line)
	}
	return nil
}

// verify returns the processor time for all.
func (o *opensslSM2) verify(ctx context.Context, items []*sm2Record) (time.Duration, error) {
	if o.speed > 0 {
		return o.speed * time.Duration(len(items)), nil
	}
	var in []byte
	for _, r := range items {
		spki, err := smx509.MarshalPKIXPublicKey(r.pub)
		if err != nil {
			return 0, err
		}
		in = appendSM2(in, spki, r.sig, r.msg)
	}
	cmd := exec.CommandContext(ctx, o.program())
	cmd.Stdin = bytes.NewReader(in)
	out, err := cmd.Output()
	if err != nil {
		return 0, fmt.Errorf("sm2verify: %w", err)
	}
	var valid int
	var ns int64
	if _, err := fmt.Sscan(string(out), &valid, &ns); err != nil {
		return 0, fmt.Errorf("sm2verify: %w", err)
	}
	if valid != len(items) {
		return 0, fmt.Errorf("%d of %d good signatures are good to OpenSSL", valid, len(items))
	}
	return time.Duration(ns), nil
}

// opensslSpeedSM2 returns the time of a verification by "openssl speed".
func opensslSpeedSM2(ctx context.Context) (time.Duration, error) {
	out, _, err := openssl(ctx, "speed", "-seconds", "1", "sm2")
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(out) {
		if !strings.Contains(line, "CurveSM2") {
			continue
		}
		fields := strings.Fields(line)
		var rate float64
		if _, err := fmt.Sscan(fields[len(fields)-1], &rate); err == nil && rate > 0 {
			return time.Duration(1e9 / rate), nil
		}
	}
	return 0, fmt.Errorf("openssl speed: no line for SM2")
}
