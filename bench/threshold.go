// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
)

type options struct {
	bits, k, l  int
	draws       int // keys, undersign and OpenSSL
	slow        int // keys, circl and tcrsa
	rounds      int // of every other operation
	quick       bool
	paper       bool
	tcrsaKeygen bool
}

const thresholdUsage = `usage: bench threshold [-bits N] [-k K] [-l L] [-draws N] [-slow N] [-rounds N] [-quick]
       bench threshold -paper [-draws N] [-rounds N] [-quick] [-tcrsa-keygen]

Compares key generation, dealing, share signing, share verification and combining
with cloudflare/circl, niclabs/tcrsa and OpenSSL's safe-prime generator. Peers take
turns within the run; every draw has another input.

circl and tcrsa look for safe primes by trial: about a minute for a key of 2048
bits, and half an hour for one of 4096 bits.

`

func parseThreshold(args []string) (*options, error) {
	o := new(options)
	flags := flag.NewFlagSet("threshold", flag.ContinueOnError)
	flags.IntVar(&o.bits, "bits", 2048, "`bits` of the modulus")
	flags.IntVar(&o.k, "k", 3, "`holders` who sign")
	flags.IntVar(&o.l, "l", 5, "`holders` in all")
	flags.IntVar(&o.draws, "draws", -1, "`keys` to generate by undersign and OpenSSL each (default 10, with -paper 3); 0 leaves key generation out")
	flags.IntVar(&o.slow, "slow", -1, "`keys` to generate by circl and tcrsa each (default 1 up to 2048 bits, else 0)")
	flags.IntVar(&o.rounds, "rounds", 20, "`draws` of the other operations")
	flags.BoolVar(&o.quick, "quick", false, "few draws, and no key generation by circl and tcrsa")
	flags.BoolVar(&o.paper, "paper", false, "4096 bits, 3 of 5, beside the figures published with tss-rsa-cpp")
	flags.BoolVar(&o.tcrsaKeygen, "tcrsa-keygen", false, "with -paper: generate a key by tcrsa, which takes half an hour or more")
	flags.Usage = func() {
		fmt.Fprint(flags.Output(), thresholdUsage)
		flags.PrintDefaults()
	}
	if err := flags.Parse(args); err != nil {
		return nil, err
	}
	given := make(map[string]bool)
	flags.Visit(func(f *flag.Flag) { given[f.Name] = true })

	if o.paper {
		if given["bits"] || given["k"] || given["l"] || given["slow"] {
			return nil, errors.New("threshold: -paper fixes the sizes")
		}
		o.bits = 4096
	} else if o.tcrsaKeygen {
		return nil, errors.New("threshold: -tcrsa-keygen goes with -paper")
	}
	if o.quick && !given["rounds"] {
		o.rounds = 3
	}
	if o.draws < 0 {
		switch {
		case o.quick:
			o.draws = 1
		case o.paper:
			o.draws = 3
		default:
			o.draws = 10
		}
	}
	if o.slow < 0 {
		o.slow = 0
		if o.bits <= 2048 && o.draws > 0 && !o.quick {
			o.slow = 1
		}
	}
	switch {
	case flags.NArg() > 0:
		return nil, fmt.Errorf("threshold: unexpected argument %q", flags.Arg(0))
	case o.bits < 2048 || o.bits > 8192 || o.bits%4 != 0:
		return nil, errors.New("threshold: -bits is a multiple of 4 between 2048 and 8192")
	case o.l < 2 || o.k < o.l/2+1 || o.k > o.l || o.l > 255:
		return nil, errors.New("threshold: tcrsa wants more than half of the holders to sign")
	case o.rounds < 1:
		return nil, errors.New("threshold: -rounds is at least 1")
	}
	return o, nil
}

func threshold(ctx context.Context, args []string) error {
	o, err := parseThreshold(args)
	if err != nil {
		return err
	}
	openssl := opensslVersion(ctx)
	printMachine(os.Stdout, openssl)
	if o.paper {
		return paper(ctx, o, openssl)
	}

	fmt.Printf("\nthreshold RSA, %d bits, %d of %d holders\n", o.bits, o.k, o.l)
	priv, err := compareKeygen(ctx, o, openssl)
	if err != nil {
		return err
	}
	s, err := newSetup(ctx, o, priv, openssl)
	if err != nil {
		return err
	}
	for _, op := range s.operations(o.rounds) {
		out, err := alternate(ctx, op.tasks, progress(op.title))
		if err != nil {
			return err
		}
		printOperation(os.Stdout, op, out)
	}
	fmt.Println("\nCPU time of all threads. A ratio is the peer's time by undersign's: above 1, undersign is faster.")
	for _, n := range s.notes {
		fmt.Println(n)
	}
	return nil
}
