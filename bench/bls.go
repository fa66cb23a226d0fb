// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"time"
)

type blsOptions struct {
	draws int
	most  int // keys of the largest sum
	quick bool
	json  bool
	only  string
}

const blsUsage = `usage: bench bls [-draws N] [-quick] [-only TEXT] [-json]

Compares BLS signatures on BLS12-381 with supranational/blst and cloudflare/circl, on
one core. Every draw has other keys and messages, which all libraries get; they take
turns within the run, and what each returns is checked. Times are of the processor, for
each item, and the ratios are to undersign's: below 1 the other is faster.

`

func parseBLS(args []string) (*blsOptions, error) {
	flags := flag.NewFlagSet("bls", flag.ContinueOnError)
	o := new(blsOptions)
	flags.IntVar(&o.draws, "draws", 0, "`draws` of each time (default 9, or 3 with -quick)")
	flags.BoolVar(&o.quick, "quick", false, "3 draws, and no sums of 65,536 keys")
	flags.StringVar(&o.only, "only", "", "only what has this `text` in its title")
	flags.BoolVar(&o.json, "json", false, "write one JSON object")
	flags.Usage = func() {
		fmt.Fprint(flags.Output(), blsUsage)
		flags.PrintDefaults()
	}
	if err := flags.Parse(args); err != nil {
		return nil, err
	}
	given := make(map[string]bool)
	flags.Visit(func(f *flag.Flag) { given[f.Name] = true })
	o.most = 65536
	if o.quick {
		o.most = 4096
	}
	switch {
	case flags.NArg() > 0:
		return nil, fmt.Errorf("bls: unexpected argument %q", flags.Arg(0))
	case given["draws"] && o.draws < 1:
		return nil, errors.New("bls: -draws is at least 1")
	case given["draws"]:
	case o.quick:
		o.draws = 3
	default:
		o.draws = 9
	}
	return o, nil
}

func compareBLS(ctx context.Context, args []string) error {
	o, err := parseBLS(args)
	if err != nil {
		return err
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	pool, err := newBLSPool(2 * o.most)
	if err != nil {
		return err
	}
	var peers []*blsPeer
	for _, make := range []func(*blsPool) (*blsPeer, error){oursBLS, blstBLS, circlBLS} {
		peer, err := make(pool)
		if err != nil {
			return err
		}
		if peer != nil {
			peers = append(peers, peer)
		}
	}
	report := blsReport{Go: runtime.Version(), Arch: runtime.GOOS + "/" + runtime.GOARCH, CPU: cpuModel(), Peers: map[string]string{}}
	for _, path := range []string{blstPath, circlPath} {
		report.Peers[path] = moduleVersion(path)
	}
	if !o.json {
		printHost(os.Stdout)
		fmt.Printf("peers: %s %s, %s %s\n", blstPath, report.Peers[blstPath], circlPath, report.Peers[circlPath])
		if len(peers) < 3 {
			fmt.Println("Built without cgo: blst is left out.")
		}
	}
	// The keys of several libraries are a large live heap; the collector shouldn't
	// be started by it in the middle of what is measured.
	defer debug.SetGCPercent(debug.SetGCPercent(400))
	for _, op := range pool.operations(o) {
		if !strings.Contains(op.title, o.only) {
			continue
		}
		out, tasks, err := measureBLS(ctx, op, peers, &report.busy)
		if err != nil {
			return fmt.Errorf("%s: %w", op.title, err)
		}
		rows := blsRows(tasks, out)
		report.Operations = append(report.Operations, blsResult{op.title, rows})
		if !o.json {
			printBLS(os.Stdout, op.title, rows)
		}
	}
	if o.json {
		report.CPUSeconds, report.WallSeconds = report.busy.cpu.Seconds(), report.busy.wall.Seconds()
		enc := json.NewEncoder(os.Stdout)
		enc.SetIndent("", "  ")
		return enc.Encode(&report)
	}
	fmt.Print(blsNotes)
	report.busy.print(os.Stdout)
	return nil
}

const (
	blstPath  = "github.com/supranational/blst"
	circlPath = "github.com/cloudflare/circl"
)

const blsNotes = `
undersign and blst sign in constant time; circl says the same of its multiplication. "key parsed" has the
signature's decoding and subgroup check in the time, and not the key's, but circl checks the key each time. blst
and circl have no weighted aggregates, and circl no sums of keys: those are put together from their parts.
Batches have weights of 128 bits in both libraries.
`

// blsReport is what -json writes.
type blsReport struct {
	Go          string            `json:"go"`
	Arch        string            `json:"arch"`
	CPU         string            `json:"cpu"`
	Peers       map[string]string `json:"peers"`
	Operations  []blsResult       `json:"operations"`
	CPUSeconds  float64           `json:"cpu_seconds"`
	WallSeconds float64           `json:"wall_seconds"`

	busy busyness
}

type blsResult struct {
	Title string   `json:"operation"`
	Rows  []blsRow `json:"libraries"`
}

// A blsRow is one library's time. The ratios are to the first row's.
type blsRow struct {
	Name        string  `json:"name"`
	Draws       int     `json:"draws"`
	Min         float64 `json:"min_us"`
	Median      float64 `json:"median_us"`
	RatioMin    float64 `json:"ratio_of_minima"`
	RatioMedian float64 `json:"ratio_of_medians"`
}

// measureBLS lets all libraries that have an operation take turns.
func measureBLS(ctx context.Context, op *blsOp, peers []*blsPeer, busy *busyness) ([]series, []task, error) {
	var tasks []task
	for _, p := range peers {
		for _, way := range p.ways[op.kind] {
			name := p.name
			if way.note != "" {
				name += ", " + way.note
			}
			tasks = append(tasks, task{name, op.draws, func(draw int) (cost, error) {
				in, err := op.input(draw)
				if err != nil {
					return cost{}, err
				}
				run, err := way.prepare(in)
				if err != nil {
					return cost{}, err
				}
				runtime.GC() // of what was prepared
				c, err := timed(run.do)
				if err == nil && run.check != nil {
					err = run.check()
				}
				busy.add(c)
				n := time.Duration(op.per)
				return cost{c.cpu / n, c.wall / n}, err
			}})
		}
	}
	out, err := alternate(ctx, tasks, progress(op.title))
	return out, tasks, err
}

func blsRows(tasks []task, out []series) []blsRow {
	var rows []blsRow
	ours := out[0].cpu()
	for i, s := range out {
		cpu := s.cpu()
		rows = append(rows, blsRow{
			Name: tasks[i].name, Draws: len(cpu), Min: cpu[0] * 1e6, Median: median(cpu) * 1e6,
			RatioMin: cpu[0] / ours[0], RatioMedian: median(cpu) / median(ours),
		})
	}
	return rows
}

func printBLS(w io.Writer, title string, rows []blsRow) {
	fmt.Fprintf(w, "\n%s: CPU us\n", title)
	width := 0
	for _, r := range rows {
		width = max(width, len(r.Name))
	}
	t := newTable(w)
	fmt.Fprintln(t, "\tdraws\tmin\tmedian\tratio of minima\tof medians\t")
	for _, r := range rows {
		fmt.Fprintf(t, "%-*s\t%d\t%.1f\t%.1f\t%.2f\t%.2f\t\n", width, r.Name, r.Draws, r.Min, r.Median, r.RatioMin, r.RatioMedian)
	}
	t.Flush()
}
