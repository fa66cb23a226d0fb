// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"crypto"
	"crypto/rsa"
	"fmt"
	"math"
	"os"
	"runtime"
	"time"

	"github.com/niclabs/tcrsa"

	"github.com/undersign/undersign/thresholdrsa"
)

// published holds the seconds that the README of Safeheron's tss-rsa-cpp gives for
// a key of 4096 bits, 3 of 5, on 2 cores of 2.5 GHz: ten keys, one hundred of the
// rest. Its benchmark signs with all five holders, and combines without checks.
var published = struct{ safeheron, tcrsa [rows]float64 }{
	safeheron: [rows]float64{35.3, 0.25, 0.0033, 0.0001, 35.55},
	tcrsa:     [rows]float64{1673.92, 0.87, 0.0017, 0.0002, 1674.79},
}

const (
	rowKey = iota
	rowSign
	rowCombine
	rowVerify
	rowWhole
	rows
)

var rowNames = [rows]string{
	"key shares        ",
	"5 signature shares",
	"combination       ",
	"verification      ",
	"whole process     ",
}

func paper(ctx context.Context, o *options, openssl string) error {
	if o.draws == 0 {
		return fmt.Errorf("threshold: -paper needs at least one key")
	}
	// A whole key, from nothing to dealt shares.
	var priv *rsa.PrivateKey
	tasks := []task{{"undersign", o.draws, func(int) (cost, error) {
		return timed(func() (err error) {
			if priv, err = thresholdrsa.GenerateKey(ctx, o.bits, nil); err != nil {
				return err
			}
			_, _, err = thresholdrsa.Deal(priv, o.k, o.l, nil)
			return err
		})
	}}}
	if openssl != "" {
		tasks = append(tasks, task{openssl, o.draws, func(int) (cost, error) { return opensslKey(ctx, o.bits) }})
	}
	if o.tcrsaKeygen {
		tasks = append(tasks, task{"tcrsa", 1, func(int) (cost, error) {
			return timed(func() error {
				_, _, err := tcrsa.NewKey(o.bits, uint16(o.k), uint16(o.l), nil)
				return err
			})
		}})
	}
	keys, err := alternate(ctx, tasks, progress("key shares"))
	if err != nil {
		return err
	}
	s, err := newSetup(ctx, o, priv, openssl)
	if err != nil {
		return err
	}

	ours := []*[rows][]cost{{}, {}}
	peers := []task{{"undersign", o.rounds, func(draw int) (cost, error) { return s.paperOurs(draw, ours[0]) }}}
	if s.tcrsaArgs != nil {
		peers = append(peers, task{"tcrsa", o.rounds, func(draw int) (cost, error) { return s.paperTCRSA(draw, ours[1]) }})
	}
	if _, err := alternate(ctx, peers, progress("signatures")); err != nil {
		return err
	}
	var deals series
	if s.tcrsaArgs != nil && !o.tcrsaKeygen {
		for range max(2, o.rounds/4) {
			c, err := timed(func() error {
				_, _, err := s.dealTCRSA()
				return err
			})
			if err != nil {
				return err
			}
			deals = append(deals, c)
		}
	}

	// Key shares by the clock, since undersign uses all cores. The rest has one
	// thread, whose CPU time is what the clock shows on an idle machine.
	var mine, theirs [rows]float64
	for r := rowSign; r < rowWhole; r++ {
		mine[r] = mean(series(ours[0][r]).cpu())
		if s.tcrsaArgs != nil {
			theirs[r] = mean(series(ours[1][r]).cpu())
		}
	}
	mine[rowKey] = mean(keys[0].wall())
	mine[rowWhole] = mine[rowKey] + mine[rowSign] + mine[rowCombine] + mine[rowVerify]
	primesOnly := 0.0
	if openssl != "" {
		primesOnly = mean(keys[1].wall())
	}
	switch {
	case o.tcrsaKeygen:
		theirs[rowKey] = mean(keys[len(keys)-1].wall())
	case len(deals) > 0:
		theirs[rowKey] = mean(deals.wall())
	}
	theirs[rowWhole] = theirs[rowKey] + theirs[rowSign] + theirs[rowCombine] + theirs[rowVerify]
	printPaper(o, mine, theirs, s.tcrsaArgs != nil, primesOnly, openssl)

	fmt.Printf("undersign's key shares: mean of %d, CPU %.2f s a key; they use all cores. Standard error of that mean: %.0f%%.\n",
		len(keys[0]), mean(keys[0].cpu()), 100/math.Sqrt(2*float64(len(keys[0]))))
	if busy := mean(keys[0].wall()) * float64(runtime.GOMAXPROCS(0)) / mean(keys[0].cpu()); busy > 1.25 {
		fmt.Printf("THE MACHINE WAS BUSY: on an idle one the clock would show little more than %.2f s for undersign's key shares.\n",
			mean(keys[0].wall())/busy)
	}
	if openssl != "" {
		fmt.Printf("%s: mean of %d, CPU %.2f s a key, primes only, which is nearly all of tss-rsa-cpp's time; tss-rsa-cpp itself isn't run here.\n",
			openssl, len(keys[1]), mean(keys[1].cpu()))
	}
	if s.tcrsaArgs != nil && !o.tcrsaKeygen {
		fmt.Println("(d) dealing only, primes given: -tcrsa-keygen measures the search, which takes half an hour or more.")
	}
	fmt.Printf("All but key shares: means of %d draws, one thread, distinct inputs. undersign's combination includes its final\n"+
		"check and takes 3 shares, signing is in constant time; tcrsa and tss-rsa-cpp check nothing there.\n"+
		"Verification is that of crypto/rsa in both measured columns, with its padding and checks of the key.\n"+
		"Published figures are from another machine (2 cores of 2.5 GHz): compare their columns with each other,\n"+
		"and with this run only by order of magnitude.\n", o.rounds)
	return nil
}

// paperOurs measures one signature by all holders.
func (s *setup) paperOurs(draw int, rows *[rows][]cost) (cost, error) {
	digest := s.digest("paper", draw)
	r, err := s.request(digest)
	if err != nil {
		return cost{}, err
	}
	var sigs []*thresholdrsa.SignatureShare
	sign, err := timed(func() error {
		for _, share := range s.shares {
			sig, err := share.Sign(r)
			if err != nil {
				return err
			}
			sigs = append(sigs, sig)
		}
		return nil
	})
	if err != nil {
		return cost{}, err
	}
	var out []byte
	combine, err := timed(func() (err error) {
		out, _, err = s.pub.Combine(r, sigs[:s.o.k]...)
		return err
	})
	if err != nil {
		return cost{}, err
	}
	pub := s.pub.RSA()
	verify, err := timed(func() error { return rsa.VerifyPKCS1v15(pub, crypto.SHA256, digest, out) })
	rows[rowSign] = append(rows[rowSign], sign)
	rows[rowCombine] = append(rows[rowCombine], combine)
	rows[rowVerify] = append(rows[rowVerify], verify)
	return sign, err
}

func (s *setup) paperTCRSA(draw int, rows *[rows][]cost) (cost, error) {
	digest := s.digest("paper tcrsa", draw)
	doc, err := s.tcrsaEncode(digest)
	if err != nil {
		return cost{}, err
	}
	var sigs tcrsa.SigShareList
	sign, err := timed(func() error {
		for _, share := range s.tcrsaShares {
			sig, err := share.Sign(doc, crypto.SHA256, s.tcrsaMeta)
			if err != nil {
				return err
			}
			sigs = append(sigs, sig)
		}
		return nil
	})
	if err != nil {
		return cost{}, err
	}
	var out []byte
	combine, err := timed(func() (err error) {
		out, err = sigs.Join(doc, s.tcrsaMeta)
		return err
	})
	if err != nil {
		return cost{}, err
	}
	verify, err := timed(func() error {
		return rsa.VerifyPKCS1v15(s.tcrsaMeta.PublicKey, crypto.SHA256, digest, out)
	})
	rows[rowSign] = append(rows[rowSign], sign)
	rows[rowCombine] = append(rows[rowCombine], combine)
	rows[rowVerify] = append(rows[rowVerify], verify)
	return sign, err
}

func printPaper(o *options, mine, theirs [rows]float64, haveTCRSA bool, primesOnly float64, openssl string) {
	fmt.Printf("\n%d bits, L = %d, K = %d: seconds (key shares by the clock, the rest CPU)\n", o.bits, o.l, o.k)
	t := newTable(os.Stdout)
	fmt.Fprintln(t, "\tMEASURED\tMEASURED\tMEASURED\tPUBLISHED\tPUBLISHED\ttss-rsa-cpp by\ttcrsa by\t")
	fmt.Fprintln(t, "\tundersign\ttcrsa\tOpenSSL primes\ttss-rsa-cpp\ttcrsa\tundersign\tundersign\t")
	for r := range rows {
		tcrsa, primes := "-", "-"
		if haveTCRSA {
			tcrsa = format(theirs[r])
			if !o.tcrsaKeygen && (r == rowKey || r == rowWhole) {
				tcrsa += " (d)"
			}
		}
		if r == rowKey && openssl != "" {
			primes = format(primesOnly)
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\t%.3g\t%.3g\t\n", rowNames[r], format(mine[r]), tcrsa, primes,
			format(published.safeheron[r]), format(published.tcrsa[r]),
			published.safeheron[r]/mine[r], published.tcrsa[r]/mine[r])
	}
	t.Flush()
	fmt.Println()
}

// format writes seconds with as many digits as the published figures.
func format(seconds float64) string {
	if seconds < 0.1 {
		return fmt.Sprintf("%.4f", seconds)
	}
	return fmt.Sprintf("%.2f", time.Duration(seconds*1e9).Seconds())
}
