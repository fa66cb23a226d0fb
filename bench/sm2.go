// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	gmsm "github.com/emmansun/gmsm/sm2"

	"github.com/undersign/undersign/internal/sm2stream"
	"github.com/undersign/undersign/sm2"
)

type sm2Options struct {
	sizes []int
	draws int
}

const sm2Usage = `usage: bench sm2 [-max N] [-draws N] [-quick]

Compares batch verification of SM2 signatures with emmansun/gmsm and OpenSSL one by
one: distinct signatures of messages of 200 bytes, in DER, with SM3 and decoding
included, on one core. All take turns within the run; times are minima of processor time.

`

var sm2Sizes = []int{1, 4, 16, 64, 256, 1024, 4096, 16384, 65536}

func parseSM2(args []string) (*sm2Options, error) {
	flags := flag.NewFlagSet("sm2", flag.ContinueOnError)
	most := flags.Int("max", 0, "largest `size` of a batch, up to 65536, which is the default")
	draws := flags.Int("draws", 0, "`draws` of each time (default 7)")
	quick := flags.Bool("quick", false, "batches of up to 1024, and 3 draws")
	flags.Usage = func() {
		fmt.Fprint(flags.Output(), sm2Usage)
		flags.PrintDefaults()
	}
	if err := flags.Parse(args); err != nil {
		return nil, err
	}
	given := make(map[string]bool)
	flags.Visit(func(f *flag.Flag) { given[f.Name] = true })
	if !given["max"] {
		*most = 65536
		if *quick {
			*most = 1024
		}
	}
	if !given["draws"] {
		*draws = 7
		if *quick {
			*draws = 3
		}
	}
	switch {
	case flags.NArg() > 0:
		return nil, fmt.Errorf("sm2: unexpected argument %q", flags.Arg(0))
	case *most < 1 || *most > 65536:
		return nil, errors.New("sm2: -max is from 1 to 65536")
	case *draws < 1:
		return nil, errors.New("sm2: -draws is at least 1")
	}
	o := &sm2Options{draws: *draws}
	for _, n := range sm2Sizes {
		if n <= *most {
			o.sizes = append(o.sizes, n)
		}
	}
	return o, nil
}

// A mix is who signs. Several batches share a cache where signers recur.
type mix struct {
	name    string
	signers int // 0 for all different
}

var sm2Mixes = []mix{{"1 signer", 1}, {"16 signers", 16}, {"64 signers", 64}, {"all signers different", 0}}

// sm2Record is a signature that is to be verified.
type sm2Record struct {
	pub      *ecdsa.PublicKey
	msg, sig []byte
}

const sm2Message = 200

// sm2Uses is how many signatures of a mix are verified before tables are said to be
// there, which grow with their use.
const sm2Uses = 1 << 16

// sm2Pool makes distinct signatures by signers who make the y of R even, so that one
// pool serves with and without hints.
func sm2Pool(ctx context.Context, n, signers int) ([]sm2Record, error) {
	var buf bytes.Buffer
	err := sm2stream.Generate(ctx, &buf, &sm2stream.GenerateOptions{
		Records: int64(n), Signers: signers, Payload: sm2Message, Hinted: true,
		Format: sm2stream.Binary, Seed: []byte(rand.Text()),
	}, nil)
	if err != nil {
		return nil, err
	}
	// docs/formats/sm2-batch.md, section 2: r || s || x || y, hint, length, message.
	data := buf.Bytes()[32:]
	const size = 136 + sm2Message
	keys := map[[64]byte]*ecdsa.PublicKey{}
	var out []sm2Record
	for ; len(data) >= size; data = data[size:] {
		xy := [64]byte(data[64:])
		if keys[xy] == nil {
			if keys[xy], err = sm2.ParsePublicKey(xy[:]); err != nil {
				return nil, err
			}
		}
		r := sm2Record{pub: keys[xy], msg: data[136:size:size]}
		if r.sig, err = sm2.Convert(data[:64], sm2.Raw64, sm2.DER); err != nil {
			return nil, err
		}
		out = append(out, r)
	}
	if len(out) != n {
		return nil, fmt.Errorf("sm2: made %d signatures of %d", len(out), n)
	}
	return out, nil
}

// An sm2Way is a way to verify n signatures of a pool, from the i-th on.
type sm2Way struct {
	name string
	run  func(i, n int) error
	warm int // signatures that are verified beforehand
	most int // signatures at a time that are enough to measure; 0 is all of a batch
	own  func(i, n int) (time.Duration, error)
}

// ways returns gmsm, OpenSSL if there is a way to it, and ours for a mix.
func sm2Ways(ctx context.Context, m mix, pool []sm2Record, openssl *opensslSM2) []sm2Way {
	at := func(i int) *sm2Record { return &pool[i%len(pool)] }
	out := []sm2Way{{name: "gmsm", most: 256, run: func(i, n int) error {
		for k := range n {
			if r := at(i + k); !gmsm.VerifyASN1WithSM2(r.pub, nil, r.msg, r.sig) {
				return errors.New("a good signature is bad to gmsm")
			}
		}
		return nil
	}}}
	if openssl != nil {
		out = append(out, sm2Way{name: "OpenSSL", most: 64, own: func(i, n int) (time.Duration, error) {
			var items []*sm2Record
			for k := range n {
				items = append(items, at(i+k))
			}
			return openssl.verify(ctx, items)
		}})
	}
	// A batch is used again and again, unless it is to make its tables anew each time.
	batch := func(name string, cache *sm2.Cache, hint sm2.Hint, warm int) sm2Way {
		var b *sm2.Batch
		return sm2Way{name: name, warm: warm, run: func(i, n int) error {
			if b == nil || cache == nil {
				b = sm2.NewBatch(&sm2.Options{Workers: 1, Cache: cache})
			}
			b.Reset()
			for k := range n {
				r := at(i + k)
				b.AddHinted(r.pub, r.msg, r.sig, hint)
			}
			return b.Verify()
		}}
	}
	if m.signers > 0 {
		return append(out,
			batch("first batch", nil, sm2.NoHint, 1),
			batch("first batch, hinted", nil, sm2.HintEven, 1),
			batch("tables there", sm2.NewCache(sm2.DefaultCacheSize), sm2.NoHint, sm2Uses))
	}
	return append(out,
		batch("no hints", sm2.NewCache(0), sm2.NoHint, 1),
		batch("hinted", sm2.NewCache(0), sm2.HintEven, 1))
}

func compareSM2(ctx context.Context, args []string) error {
	o, err := parseSM2(args)
	if err != nil {
		return err
	}
	version := opensslVersion(ctx)
	printMachine(os.Stdout, version)
	openssl, note := newOpenSSLSM2(ctx)
	if openssl != nil {
		defer openssl.close()
	}
	busy := busyness{}
	for _, m := range sm2Mixes {
		signers := m.signers
		most := o.sizes[len(o.sizes)-1]
		pool, err := sm2Pool(ctx, max(most, 2048), signers)
		if err != nil {
			return err
		}
		ways := sm2Ways(ctx, m, pool, openssl)
		rows := make([][]time.Duration, len(o.sizes))
		for row, n := range o.sizes {
			if rows[row], err = measureSM2(ctx, o, m, ways, n, len(pool), &busy); err != nil {
				return fmt.Errorf("%s, %d: %w", m.name, n, err)
			}
		}
		printSM2(os.Stdout, m, ways, o.sizes, rows)
	}
	fmt.Println("\nProcessor time, minima. \"x\" is gmsm's time by that of the batch: above 1, the batch is faster;")
	fmt.Println("\"x OpenSSL\" is OpenSSL's by that of the last column. \"first batch\" builds all tables that it uses;")
	fmt.Printf("\"tables there\" is after %d signatures. Where all signers differ nothing is kept between batches.\n", sm2Uses)
	if note != "" {
		fmt.Println(note)
	}
	busy.print(os.Stdout)
	return nil
}

// measureSM2 returns the time for one signature by each way in batches of n.
func measureSM2(ctx context.Context, o *sm2Options, m mix, ways []sm2Way, n, pool int, busy *busyness) ([]time.Duration, error) {
	best := make([]time.Duration, len(ways))
	var tasks []task
	for w, way := range ways {
		size, times := n, 1
		if way.most > 0 {
			size = min(way.most, pool)
		} else {
			times = 1 + 256/n // so many that the clock isn't too coarse
		}
		tasks = append(tasks, task{way.name, o.draws, func(draw int) (cost, error) {
			first := draw * 257 * n
			if way.own != nil {
				own, err := way.own(first, size)
				best[w] = least(best[w], own/time.Duration(size))
				return cost{own, own}, err
			}
			if draw == 0 && way.most == 0 {
				for k := range max(times, way.warm/n) {
					if err := way.run(first+k*n, n); err != nil {
						return cost{}, err
					}
				}
			}
			c, err := timed(func() error {
				for k := range times {
					if err := way.run(first+k*n, size); err != nil {
						return err
					}
				}
				return nil
			})
			best[w] = least(best[w], c.cpu/time.Duration(size*times))
			busy.add(c)
			return c, err
		}})
	}
	_, err := alternate(ctx, tasks, progress(fmt.Sprintf("%s, batches of %d", m.name, n)))
	return best, err
}

func least(a, b time.Duration) time.Duration {
	if a == 0 {
		return b
	}
	return min(a, b)
}

func printSM2(w io.Writer, m mix, ways []sm2Way, sizes []int, rows [][]time.Duration) {
	fmt.Fprintf(w, "\n%s: us a signature\n", m.name)
	t := newTable(w)
	fmt.Fprint(t, "batches of\t")
	for i, way := range ways {
		fmt.Fprintf(t, "%s\t", way.name)
		if way.most == 0 && i > 0 {
			fmt.Fprint(t, "x\t")
		}
	}
	hasOpenSSL := ways[1].own != nil
	if hasOpenSSL {
		fmt.Fprint(t, "x OpenSSL\t")
	}
	fmt.Fprintln(t)
	for row, n := range sizes {
		fmt.Fprintf(t, "%d\t", n)
		times := rows[row]
		for i, way := range ways {
			fmt.Fprintf(t, "%.2f\t", times[i].Seconds()*1e6)
			if way.most == 0 && i > 0 {
				fmt.Fprintf(t, "%.2f\t", times[0].Seconds()/times[i].Seconds())
			}
		}
		if hasOpenSSL {
			fmt.Fprintf(t, "%.1f\t", times[1].Seconds()/times[len(times)-1].Seconds())
		}
		fmt.Fprintln(t)
	}
	t.Flush()
}

// busyness compares the clock with processor time.
type busyness struct{ cpu, wall time.Duration }

func (b *busyness) add(c cost) {
	b.cpu += c.cpu
	b.wall += c.wall
}

func (b *busyness) print(w io.Writer) {
	// The collector of garbage makes processor time the larger one on an idle machine.
	if b.cpu > 0 && float64(b.wall) > 1.1*float64(b.cpu) {
		fmt.Fprintf(w, "THE MACHINE WAS BUSY: what took %.1f s of processor time took %.1f s by the clock. Caches were shared, too: measure again.\n",
			b.cpu.Seconds(), b.wall.Seconds())
	}
	if load, err := os.ReadFile("/proc/loadavg"); err == nil {
		field, _, _ := strings.Cut(string(load), " ")
		if x, err := strconv.ParseFloat(field, 64); err == nil && x > float64(runtime.NumCPU()) {
			fmt.Fprintf(w, "THE MACHINE IS BUSY: a load of %s on %d processors.\n", field, runtime.NumCPU())
		}
	}
}

// appendSM2 writes a record as csrc/sm2verify.c reads it.
func appendSM2(b []byte, fields ...[]byte) []byte {
	for _, f := range fields {
		b = binary.BigEndian.AppendUint16(b, uint16(len(f)))
		b = append(b, f...)
	}
	return slices.Clip(b)
}
