// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package cputime

import (
	"runtime"
	"testing"
	"time"
)

// spin works until a clock has advanced by d, or gives up.
func spin(t *testing.T, clock func() time.Duration, d time.Duration) {
	t.Helper()
	start := clock()
	for end := time.Now().Add(20 * time.Second); clock()-start < d; {
		if time.Now().After(end) {
			t.Errorf("after 20 s of work the processor time is %v", clock()-start)
			return
		}
	}
}

func TestAdvances(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	before := Process()
	spin(t, Thread, 20*time.Millisecond)
	if runtime.GOOS == "linux" && Process()-before < 15*time.Millisecond {
		t.Errorf("a thread worked for 20 ms, and the process for %v", Process()-before)
	}
	spin(t, Process, 20*time.Millisecond)
}

// Sleep costs time, and no processor's.
func TestSleep(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("threads have no time of their own here")
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	const long = 200 * time.Millisecond
	before := Thread()
	time.Sleep(long)
	if took := Thread() - before; took > long/2 {
		t.Errorf("sleeping for %v took %v of processor time", long, took)
	}
}

// What other threads do isn't the thread's.
func TestOtherThreads(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("threads have no time of their own here")
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	mine := Thread()
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		spin(t, Thread, 50*time.Millisecond)
	}()
	<-done
	if took := Thread() - mine; took > 25*time.Millisecond {
		t.Errorf("waiting for another thread took %v", took)
	}
}
