// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"fmt"
	"math/big"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// opensslVersion returns "" where there is no OpenSSL.
func opensslVersion(ctx context.Context) string {
	out, err := exec.CommandContext(ctx, "openssl", "version").Output()
	if err != nil {
		return ""
	}
	fields := strings.Fields(string(out))
	if len(fields) < 2 {
		return ""
	}
	return strings.Join(fields[:2], " ")
}

// opensslSafePrime is OpenSSL's generator, which tss-rsa-cpp uses through
// BN_generate_prime_ex, and the CPU time of the process that ran it. Its start
// costs some milliseconds of that.
func opensslSafePrime(ctx context.Context, bits int) (*big.Int, time.Duration, error) {
	out, cpu, err := openssl(ctx, "prime", "-generate", "-safe", "-bits", strconv.Itoa(bits))
	if err != nil {
		return nil, 0, err
	}
	p, ok := new(big.Int).SetString(strings.TrimSpace(out), 10)
	if !ok || p.BitLen() != bits {
		return nil, 0, fmt.Errorf("openssl prime: not a prime of %d bits", bits)
	}
	return p, cpu, nil
}

func openssl(ctx context.Context, args ...string) (string, time.Duration, error) {
	var out, errs bytes.Buffer
	cmd := exec.CommandContext(ctx, "openssl", args...)
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		return "", 0, fmt.Errorf("openssl %s: %w: %s", args[0], err, strings.TrimSpace(errs.String()))
	}
	usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	if !ok {
		return "", 0, fmt.Errorf("openssl %s: no resource usage on this system", args[0])
	}
	return out.String(), rusageTime(usage), nil
}
