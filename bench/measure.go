// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"slices"
	"syscall"
	"time"

	"github.com/undersign/undersign/internal/cputime"
)

// cost is what one operation took.
type cost struct {
	cpu, wall time.Duration
}

// series are the costs of one peer's draws.
type series []cost

func (s series) cpu() []float64 {
	return s.seconds(func(c cost) time.Duration { return c.cpu })
}

func (s series) wall() []float64 {
	return s.seconds(func(c cost) time.Duration { return c.wall })
}

// seconds returns one component, sorted.
func (s series) seconds(f func(cost) time.Duration) []float64 {
	xs := make([]float64, len(s))
	for i, c := range s {
		xs[i] = f(c).Seconds()
	}
	slices.Sort(xs)
	return xs
}

func mean(sorted []float64) float64 {
	sum := 0.0
	for _, x := range sorted {
		sum += x
	}
	return sum / float64(len(sorted))
}

func median(sorted []float64) float64 {
	n := len(sorted)
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}

// timed runs f and takes the CPU time of the whole process, all threads: it is
// disturbed less than the clock where other work shares the machine.
func timed(f func() error) (cost, error) {
	start, cpu := time.Now(), cputime.Process()
	err := f()
	return cost{cputime.Process() - cpu, time.Since(start)}, err
}

func rusageTime(u *syscall.Rusage) time.Duration {
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// task is one peer's version of an operation. It gets the number of the draw,
// from which it makes an input that it hasn't seen before, and returns the cost of
// what is to be measured; draws bounds how often it runs.
type task struct {
	name  string
	draws int
	run   func(draw int) (cost, error)
}

// alternate runs draw after draw of all tasks, each draw beginning with another
// task, so that no task has a quieter machine than the others.
func alternate(ctx context.Context, tasks []task, progress func(done, of int)) ([]series, error) {
	out := make([]series, len(tasks))
	rounds, total, done := 0, 0, 0
	for _, t := range tasks {
		rounds = max(rounds, t.draws)
		total += t.draws
	}
	for draw := range rounds {
		for i := range tasks {
			j := (draw + i) % len(tasks)
			if draw >= tasks[j].draws {
				continue
			}
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			c, err := tasks[j].run(draw)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", tasks[j].name, err)
			}
			out[j] = append(out[j], c)
			done++
			if progress != nil {
				progress(done, total)
			}
		}
	}
	return out, nil
}
