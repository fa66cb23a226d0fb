// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

// Command bench compares undersign with other libraries, in one run on one
// machine, and makes the test inputs that only those libraries can make.
//
//	go run . threshold           compare the parts of threshold RSA
//	go run . threshold -paper    beside the figures Safeheron published
//	go run . sm2                 compare batch verification of SM2 signatures
//	go run . group               measure group signatures, beside published figures
//	go run . bls                 compare BLS signatures with blst and circl
//	go run . kernels             measure the vector kernels, and safe primes beside OpenSSL's
//	go run . foreign -o DIR      keys dealt by tcrsa, and after tss-rsa-cpp
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
)

const usage = `usage: bench threshold [flags]    compare threshold RSA with its peers
       bench sm2 [flags]          compare SM2 batch verification with its peers
       bench group [flags]        measure group signatures beside published figures
       bench bls [flags]          compare BLS signatures with their peers
       bench kernels [flags]      measure modular powers and safe primes
       bench foreign -o DIR      write test inputs dealt by other libraries
`

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	err := run(ctx, os.Args[1:])
	switch {
	case err == nil:
	case errors.Is(err, flag.ErrHelp):
		os.Exit(2)
	default:
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	if len(args) == 0 {
		fmt.Fprint(os.Stderr, usage)
		return flag.ErrHelp
	}
	switch args[0] {
	case "threshold":
		return threshold(ctx, args[1:])
	case "sm2":
		return compareSM2(ctx, args[1:])
	case "group":
		return compareGroup(ctx, args[1:])
	case "bls":
		return compareBLS(ctx, args[1:])
	case "kernels":
		return kernels(ctx, args[1:])
	case "foreign":
		return foreign(ctx, args[1:])
	}
	fmt.Fprint(os.Stderr, usage)
	return fmt.Errorf("unknown comparison %q", args[0])
}
