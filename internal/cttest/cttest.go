// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

// Package cttest checks that code is constant time in its secrets, by running
// it under valgrind's memcheck: memory that holds a secret is marked undefined,
// and memcheck then reports each branch and each address that depends on it. It
// sees the machine code that runs, assembly included, but only the paths taken.
//
// A package hands its cases to Main, and has one test that starts the run:
//
//	func TestMain(m *testing.M) { cttest.Main(m, memcheck) }
//
//	func TestConstantTime(t *testing.T) { cttest.Memcheck(t) }
//
//	func memcheck(c *cttest.Checker) {
//		k := ...
//		cttest.Secret(k)
//		c.Clean("mul", func() { mul(z, k) })
//		cttest.Public(z)
//		...
//	}
//
// The Go runtime describes its stacks and its heap to valgrind if built with the
// tag valgrind (linux on amd64; the requests below are for that alone). Without
// the tag, Secret and Public do nothing.
package cttest

import (
	"fmt"
	"os"
	"runtime"
	"testing"
	"unsafe"
)

// Secret marks the elements of s as undefined. What is computed from them is
// undefined in turn.
func Secret[S ~[]E, E byte | uint32 | uint64 | ~uint](s S) { mark(makeUndefined, s) }

// Public marks the elements of s as defined: for a result that is published.
func Public[S ~[]E, E byte | uint32 | uint64 | ~uint](s S) { mark(makeDefined, s) }

func mark[S ~[]E, E any](code uintptr, s S) {
	if len(s) > 0 {
		request(code, uintptr(unsafe.Pointer(&s[0])), uintptr(len(s))*unsafe.Sizeof(s[0]))
	}
}

// running reports whether the program runs under valgrind.
func running() bool { return request(runningOnValgrind, 0, 0) != 0 }

// A goroutine on another stack of the heap would confuse valgrind, which takes
// near stacks for one. The main thread's stack is far from them, and all cases
// stay on the main goroutine.
func init() {
	if running() {
		runtime.LockOSThread()
	}
}

// Main is what TestMain calls. It runs the tests as usual, but the cases alone
// if [Memcheck] started the program. It exits.
func Main(m *testing.M, cases func(*Checker)) {
	if !running() {
		os.Exit(m.Run())
	}
	c := &Checker{}
	fmt.Println(firstCase)
	c.Leaks("control", control)
	cases(c)
	fmt.Printf("cases=%d failed=%d\n", c.count, c.failed)
	if c.failed != 0 {
		os.Exit(1)
	}
	os.Exit(0)
}

// firstCase is printed before the first case.
const firstCase = "memcheck: first case"

// control is a leak of both kinds.
func control() {
	secret, table := []uint64{1, 2}, make([]uint64, 4)
	Secret(secret)
	if secret[0] == 1 {
		table[secret[1]]++
	}
}

// A Checker runs cases.
type Checker struct{ count, failed int }

// Clean runs f and reports a failure if memcheck reports anything meanwhile.
func (c *Checker) Clean(name string, f func()) {
	n := errorsIn(f)
	c.note(n == 0, name, n)
}

// Leaks runs f and reports a failure if memcheck reports nothing: the control
// that shows that a leak would be seen.
func (c *Checker) Leaks(name string, f func()) {
	n := errorsIn(f)
	c.note(n != 0, name, n)
}

// Check reports a failure if ok is false, for the results of cases.
func (c *Checker) Check(name string, ok bool) { c.note(ok, name, 0) }

func (c *Checker) note(ok bool, name string, errors uint64) {
	c.count++
	verdict := "ok"
	if !ok {
		c.failed++
		verdict = "FAIL"
	}
	fmt.Printf("%s %s: %d reports\n", verdict, name, errors)
}

func errorsIn(f func()) uint64 {
	before := request(countErrors, 0, 0)
	f()
	return uint64(request(countErrors, 0, 0) - before)
}

// Client requests, from valgrind.h and memcheck.h.
const (
	runningOnValgrind = 0x1001
	countErrors       = 0x1201
	makeUndefined     = 'M'<<24 | 'C'<<16 | 1
	makeDefined       = 'M'<<24 | 'C'<<16 | 2
)
