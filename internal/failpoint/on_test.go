// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

//go:build failpoints

package failpoint

import (
	"os"
	"os/exec"
	"syscall"
	"testing"
)

func TestSet(t *testing.T) {
	defer Set("")
	Set("a=error@2,b=error,c,d=")
	for i, want := range []bool{false, true, false} {
		if err := Hit("a"); (err != nil) != want {
			t.Errorf("time %d: %v", i+1, err)
		}
	}
	for range 2 {
		if Hit("b") == nil {
			t.Error("b at every time")
		}
	}
	if err := Hit("c"); err != nil {
		t.Errorf("a place without an action: %v", err)
	}
	Set("a=error")
	if Hit("a") == nil || Hit("b") != nil {
		t.Error("what held before goes on")
	}
}

func TestKill(t *testing.T) {
	const env = "UNDERSIGN_FAILPOINT_TEST"
	if os.Getenv(env) != "" {
		Hit("here")
		os.Exit(0)
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestKill$")
	cmd.Env = append(os.Environ(), env+"=1", "UNDERSIGN_FAILPOINT=here=kill")
	if err := cmd.Run(); err == nil {
		t.Fatal("it lives")
	}
	if s, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); !ok || s.Signal() != syscall.SIGKILL {
		t.Errorf("it ended by %v", cmd.ProcessState)
	}
}
