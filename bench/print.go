// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"math"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"text/tabwriter"
)

func printHost(w io.Writer) {
	fmt.Fprintf(w, "%s %s/%s, GOMAXPROCS=%d", runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.GOMAXPROCS(0))
	if model := cpuModel(); model != "" {
		fmt.Fprintf(w, ", %s", model)
	}
	if load, err := os.ReadFile("/proc/loadavg"); err == nil {
		fmt.Fprintf(w, ", load average %.14s", load)
	}
	fmt.Fprintln(w)
}

func printMachine(w io.Writer, openssl string) {
	printHost(w)
	peers := []string{}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, d := range info.Deps {
			if d.Path == "github.com/cloudflare/circl" || d.Path == "github.com/niclabs/tcrsa" || d.Path == "github.com/emmansun/gmsm" {
				peers = append(peers, d.Path+" "+d.Version)
			}
		}
	}
	if openssl == "" {
		openssl = "no OpenSSL"
	}
	fmt.Fprintf(w, "peers: %s\n", strings.Join(append(peers, openssl), ", "))
}

func cpuModel() string {
	data, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(data)) {
		if name, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// progress writes a counter to a terminal, and nothing to a file.
func progress(what string) func(done, of int) {
	if info, err := os.Stderr.Stat(); err != nil || info.Mode()&os.ModeCharDevice == 0 {
		return nil
	}
	return func(done, of int) {
		fmt.Fprintf(os.Stderr, "\r\x1b[K%s: %d of %d", what, done, of)
		if done == of {
			fmt.Fprint(os.Stderr, "\r\x1b[K")
		}
	}
}

// newTable aligns to the right; labels pads the first column to the left.
func newTable(w io.Writer) *tabwriter.Writer {
	return tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
}

func labels(tasks []task) []string {
	width := 0
	for _, t := range tasks {
		width = max(width, len(t.name))
	}
	names := make([]string, len(tasks))
	for i, t := range tasks {
		names[i] = fmt.Sprintf("%-*s", width, t.name)
	}
	return names
}

// printKeygen compares means: the times are geometrically distributed, so that
// minima say nothing, and the error of a ratio is that of both means.
func printKeygen(w io.Writer, bits int, tasks []task, out []series) {
	fmt.Fprintf(w, "\nkey generation: CPU seconds a key, two safe primes of %d bits\n", bits/2)
	t := newTable(w)
	fmt.Fprintln(t, "\tkeys\tmean\tmedian\tmin\twall, mean\tratio of means\t")
	ours, names := mean(out[0].cpu()), labels(tasks)
	for i, s := range out {
		cpu := s.cpu()
		ratio := mean(cpu) / ours
		// The standard deviation of such a time equals its mean, and a key needs two.
		err := ratio * math.Sqrt(1/(2*float64(len(s)))+1/(2*float64(len(out[0]))))
		fmt.Fprintf(t, "%s\t%d\t%.3g\t%.3g\t%.3g\t%.3g\t", names[i], len(s), mean(cpu), median(cpu), cpu[0], mean(s.wall()))
		if i == 0 {
			fmt.Fprintln(t, "1\t")
		} else {
			fmt.Fprintf(t, "%.3g +- %.2g\t\n", ratio, err)
		}
	}
	t.Flush()
}

func printOperation(w io.Writer, op operation, out []series) {
	fmt.Fprintf(w, "\n%s: CPU ms\n", op.title)
	t := newTable(w)
	fmt.Fprintln(t, "\tdraws\tmin\tmedian\tratio of minima\tof medians\tclock, min\t")
	ours, names := out[0].cpu(), labels(op.tasks)
	for i, s := range out {
		cpu := s.cpu()
		fmt.Fprintf(t, "%s\t%d\t%.3f\t%.3f\t", names[i], len(s), cpu[0]*1e3, median(cpu)*1e3)
		switch {
		case i == 0:
			fmt.Fprint(t, "1\t1\t")
		case strings.HasPrefix(op.tasks[i].name, "-"):
			fmt.Fprint(t, "\t\t")
		default:
			fmt.Fprintf(t, "%.2f\t%.2f\t", cpu[0]/ours[0], median(cpu)/median(ours))
		}
		fmt.Fprintf(t, "%.3f\t\n", s.wall()[0]*1e3)
	}
	t.Flush()
}
