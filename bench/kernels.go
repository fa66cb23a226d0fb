// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"crypto/rand"
	"errors"
	"flag"
	"fmt"
	"math"
	"math/big"
	"os"
	"runtime"
	"sync"
	"time"

	"github.com/undersign/undersign/internal/modexp"
	"github.com/undersign/undersign/internal/safeprime"
	"github.com/undersign/undersign/thresholdrsa"
)

const kernelsUsage = `usage: bench kernels [-rounds N] [-draws N] [-long N]

Measures what the vector kernels are for: modular powers in constant time, one by one,
four and eight at once, and eight on all cores; signing shares of a 4096-bit key, and
safe primes beside OpenSSL's generator. UNDERSIGN_MODEXP=eight, adx or generic takes
kernels away.

`

func kernels(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("kernels", flag.ContinueOnError)
	rounds := flags.Int("rounds", 20, "`draws` of powers and signatures")
	draws := flags.Int("draws", 100, "safe `primes` of 1024 bits by undersign and OpenSSL each; 0 leaves them out")
	long := flags.Int("long", 0, "safe `primes` of 2048 bits by undersign and OpenSSL each")
	flags.Usage = func() {
		fmt.Fprint(flags.Output(), kernelsUsage)
		flags.PrintDefaults()
	}
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() > 0 || *rounds < 1 || *draws < 0 || *long < 0 {
		return errors.New("kernels: counts are whole numbers, and there are no other arguments")
	}
	openssl := opensslVersion(ctx)
	printMachine(os.Stdout, openssl)
	if !modexp.HaveLanes(2048) {
		fmt.Println("this processor has no AVX-512 IFMA, or it is switched off: what follows is one by one")
	}
	var ops []operation
	for _, bits := range []int{1024, 2048, 3072, 4096} {
		op, err := compareExp(bits, *rounds)
		if err != nil {
			return err
		}
		ops = append(ops, op)
	}
	sign, err := compareSign(ctx, *rounds)
	if err != nil {
		return err
	}
	for _, op := range append(ops, sign) {
		out, err := alternate(ctx, op.tasks, progress(op.title))
		if err != nil {
			return err
		}
		printOperation(os.Stdout, op, out)
	}
	if err := compareSafePrimes(ctx, 1024, *draws, openssl); err != nil {
		return err
	}
	return compareSafePrimes(ctx, 2048, *long, openssl)
}

// compareExp takes powers with secret exponents as long as the modulus.
func compareExp(bits, rounds int) (operation, error) {
	random := func() (*big.Int, error) {
		return rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), uint(bits)))
	}
	n, err := random()
	if err != nil {
		return operation{}, err
	}
	n.SetBit(n, 0, 1).SetBit(n, bits-1, 1)
	mod, err := modexp.NewModulus(n)
	if err != nil {
		return operation{}, err
	}
	run := func(count, cores int) func(int) (cost, error) {
		return func(int) (cost, error) {
			var xs, zs []*modexp.Element
			var ms []*modexp.Modulus
			var es []modexp.Nat
			var want []*big.Int
			for range count {
				x, err1 := random()
				e, err2 := random()
				if err := errors.Join(err1, err2); err != nil {
					return cost{}, err
				}
				x.Mod(x, n)
				xm, err := mod.SetBig(x)
				if err != nil {
					return cost{}, err
				}
				en := modexp.NewNat(bits)
				if err := en.SetBytes(e.Bytes()); err != nil {
					return cost{}, err
				}
				xs, zs, ms, es = append(xs, xm), append(zs, mod.NewElement()), append(ms, mod), append(es, en)
				want = append(want, e.Exp(x, e, n))
			}
			c, err := timed(func() error {
				if cores == 1 {
					modexp.ExpLanes(zs, xs, ms, es, bits)
					return nil
				}
				var wg sync.WaitGroup
				end := 0
				for _, n := range mod.Split(count, cores) {
					i, j := end, end+n
					end = j
					wg.Go(func() { modexp.ExpLanes(zs[i:j], xs[i:j], ms[i:j], es[i:j], bits) })
				}
				wg.Wait()
				return nil
			})
			for i := range want {
				if mod.BigVarTime(zs[i]).Cmp(want[i]) != 0 {
					return cost{}, errors.New("wrong power")
				}
			}
			return cost{c.cpu / time.Duration(count), c.wall / time.Duration(count)}, err
		}
	}
	tasks := []task{{"eight at once", rounds, run(modexp.Lanes, 1)}}
	if cores := runtime.GOMAXPROCS(0); cores > 1 {
		tasks = append(tasks, task{fmt.Sprintf("eight on %d cores", cores), rounds, run(modexp.Lanes, cores)})
	}
	return operation{fmt.Sprintf("powers in constant time, %d bits, each", bits), append(tasks, []task{
		{"four", rounds, run(4, 1)},
		{"one by one", rounds, run(1, 1)},
		{"math/big, not constant time", rounds, func(int) (cost, error) {
			x, err1 := random()
			e, err2 := random()
			if err := errors.Join(err1, err2); err != nil {
				return cost{}, err
			}
			return timed(func() error {
				x.Exp(x, e, n)
				return nil
			})
		}},
	}...)}, nil
}

// compareSign signs shares of a key of 4096 bits, with their proofs.
func compareSign(ctx context.Context, rounds int) (operation, error) {
	priv, err := thresholdrsa.GenerateKey(ctx, 4096, nil)
	if err != nil {
		return operation{}, err
	}
	o := &options{bits: 4096, k: 3, l: 5}
	s := &setup{o: o, priv: priv}
	if s.dealt, s.shares, err = thresholdrsa.Deal(priv, o.k, o.l, nil); err != nil {
		return operation{}, err
	}
	s.pub = s.dealt.PublicKey()
	run := func(count, cores int) func(int) (cost, error) {
		return func(draw int) (cost, error) {
			defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(cores))
			var rs []*thresholdrsa.Request
			for i := range count {
				r, err := s.request(s.digest(fmt.Sprint("kernels ", count, " ", i), draw))
				if err != nil {
					return cost{}, err
				}
				rs = append(rs, r)
			}
			var sigs []*thresholdrsa.SignatureShare
			c, err := timed(func() (err error) {
				sigs, err = s.shares[0].SignBatch(rs)
				return err
			})
			if err != nil {
				return cost{}, err
			}
			c.cpu /= time.Duration(count)
			c.wall /= time.Duration(count)
			return c, s.pub.VerifyShare(rs[0], sigs[0])
		}
	}
	if _, err := run(1, 1)(-1); err != nil { // what is computed once for a key
		return operation{}, err
	}
	tasks := []task{{"eight at once", rounds, run(8, 1)}}
	if cores := runtime.GOMAXPROCS(0); cores > 1 {
		tasks = append(tasks, task{fmt.Sprintf("eight on %d cores", cores), rounds, run(8, cores)})
	}
	return operation{"signing a share of 4096 bits with its proof, each", append(tasks, []task{
		{"four", rounds, run(4, 1)},
		{"one by one", rounds, run(1, 1)},
	}...)}, nil
}

// compareSafePrimes compares means, and what they would be at the mean number of
// candidates: the number of a search is geometrically distributed.
func compareSafePrimes(ctx context.Context, bits, draws int, openssl string) error {
	if draws == 0 {
		return nil
	}
	var tested, expected uint64
	tasks := []task{{"undersign", draws, func(int) (cost, error) {
		return timed(func() error {
			var last safeprime.Progress
			_, err := safeprime.Find(ctx, bits, 1, func(p safeprime.Progress) { last = p })
			tested += last.Candidates
			expected += last.Expected
			return err
		})
	}}}
	if openssl != "" {
		tasks = append(tasks, task{openssl, draws, func(int) (cost, error) {
			_, cpu, err := opensslSafePrime(ctx, bits)
			return cost{cpu: cpu}, err
		}})
	}
	out, err := alternate(ctx, tasks, progress(fmt.Sprintf("safe primes of %d bits", bits)))
	if err != nil {
		return err
	}
	ours := mean(out[0].cpu())
	level := ours * float64(expected) / float64(tested)
	fmt.Printf("\na safe prime of %d bits: CPU ms, means of %d draws\n", bits, draws)
	fmt.Printf("  undersign        %8.1f, %8.1f at the mean number of candidates: %.1f µs for each of %d\n", ours*1e3, level*1e3,
		ours*float64(draws)/float64(tested)*1e6, tested)
	if openssl != "" {
		theirs := mean(out[1].cpu())
		fmt.Printf("  %-16s %8.1f: %.1f times as much, +- %.0f%%, or %.1f at the mean\n", openssl, theirs*1e3, theirs/ours,
			100*math.Sqrt(2/float64(draws)), theirs/level)
	}
	return nil
}
