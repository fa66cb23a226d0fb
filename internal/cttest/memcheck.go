// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package cttest

import (
	"bytes"
	_ "embed"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"testing"
)

//go:embed memcheck.supp
var suppressions []byte

var summary = regexp.MustCompile(`(?m)^cases=\d+ failed=0$`)

// Memcheck runs the cases of the caller's package under valgrind, with env added
// to the environment. It skips t where valgrind is not installed.
func Memcheck(t *testing.T, env ...string) {
	t.Helper()
	if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" {
		t.Skip("valgrind is used on linux/amd64 only")
	}
	valgrind, err := exec.LookPath("valgrind")
	if err != nil {
		t.Skip("valgrind is not installed")
	}
	dir := t.TempDir()
	supp := filepath.Join(dir, "memcheck.supp")
	if err := os.WriteFile(supp, suppressions, 0o600); err != nil {
		t.Fatal(err)
	}
	bin := filepath.Join(dir, "memcheck.test")
	build := exec.Command("go", "test", "-tags", "valgrind", "-c", "-o", bin, ".")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("go test -tags valgrind -c: %v\n%s", err, out)
	}
	// The collector and preemption look at words of stacks, whatever they hold, and a
	// goroutine that follows the number of processors may begin in the middle of a case.
	cmd := exec.Command(valgrind, "--tool=memcheck", "--error-limit=no", "--leak-check=no",
		"--suppressions="+supp, bin)
	cmd.Env = append(os.Environ(), "GOGC=off", "GODEBUG=asyncpreemptoff=1,updatemaxprocs=0", "GOMAXPROCS=1")
	cmd.Env = append(cmd.Env, env...)
	out, err := cmd.CombinedOutput()
	if err != nil || !summary.Match(out) {
		// What comes before the first case is the start of the runtime.
		if i := bytes.Index(out, []byte(firstCase)); i >= 0 {
			out = out[i:]
		}
		t.Fatalf("valgrind: %v\n%s", err, out)
	}
}
