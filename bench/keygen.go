// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"fmt"
	"os"
	"time"

	circl "github.com/cloudflare/circl/tss/rsa"
	"github.com/niclabs/tcrsa"

	"github.com/undersign/undersign/thresholdrsa"
)

// opensslKey draws the two safe primes of a key, one after the other as
// tss-rsa-cpp does.
func opensslKey(ctx context.Context, bits int) (cost, error) {
	start := time.Now()
	var c cost
	for range 2 {
		_, cpu, err := opensslSafePrime(ctx, bits/2)
		if err != nil {
			return cost{}, err
		}
		c.cpu += cpu
	}
	c.wall = time.Since(start)
	return c, nil
}

// compareKeygen prints the comparison and returns a key for what follows.
func compareKeygen(ctx context.Context, o *options, openssl string) (*rsa.PrivateKey, error) {
	var priv *rsa.PrivateKey
	ours := task{"undersign", max(o.draws, 1), func(int) (cost, error) {
		return timed(func() (err error) {
			priv, err = thresholdrsa.GenerateKey(ctx, o.bits, nil)
			return err
		})
	}}
	tasks := []task{ours}
	if openssl != "" && o.draws > 0 {
		tasks = append(tasks, task{openssl + ", two safe primes", o.draws, func(int) (cost, error) {
			return opensslKey(ctx, o.bits)
		}})
	}
	if o.slow > 0 {
		tasks = append(tasks,
			task{"circl", o.slow, func(int) (cost, error) {
				return timed(func() error {
					_, err := circl.GenerateKey(rand.Reader, o.bits)
					return err
				})
			}},
			task{"tcrsa, dealing included", o.slow, func(int) (cost, error) {
				return timed(func() error {
					_, _, err := tcrsa.NewKey(o.bits, uint16(o.k), uint16(o.l), nil)
					return err
				})
			}})
	}
	out, err := alternate(ctx, tasks, progress("key generation"))
	if err != nil {
		return nil, err
	}
	if o.draws > 0 {
		printKeygen(os.Stdout, o.bits, tasks, out)
	}
	return priv, nil
}

// opensslStart is what a process of OpenSSL costs that does next to nothing.
func opensslStart(ctx context.Context) (time.Duration, error) {
	var least time.Duration
	for i := range 5 {
		_, cpu, err := openssl(ctx, "prime", "-generate", "-bits", "64")
		if err != nil {
			return 0, err
		}
		if i == 0 || cpu < least {
			least = cpu
		}
	}
	return least, nil
}

func formatStart(d time.Duration) string {
	return fmt.Sprintf("OpenSSL's time includes two process starts of %.1f ms.", d.Seconds()*1e3)
}
