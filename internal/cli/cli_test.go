// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/spf13/cobra"
)

// TestMain makes two programs of the test binary: undersign, and undersign-test,
// which has a few more commands that use the helpers of this package.
func TestMain(m *testing.M) {
	testscript.Main(fixtureM{m}, map[string]func(){
		"undersign": func() { os.Exit(Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) },
		"undersign-test": func() {
			e := &env{stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr}
			root := newRootCmd(e)
			root.AddCommand(testCommands(e)...)
			ctx, stop := notifyContext()
			defer stop()
			os.Exit(run(ctx, e, root, os.Args[1:]))
		},
	})
}

// TestScripts runs the files in testdata/script, which are the specification of
// the command line. Beside testscript's own commands there is
//
//	status N PROGRAM [ARGS]...    run PROGRAM and demand exit status N
//
// those of fixture_test.go: dealt, agekey, foreign and tamper; and those of
// sm2_test.go: samelines; and those of group_test.go: edkey, groupid, joined,
// misnamed and samelinked; qr_test.go's pngsize; and those of aggregate_test.go:
// for, graft, join, offset, rogue and sealed.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(env *testscript.Env) error {
			// Under the race detector a program sleeps for a second at its end.
			env.Setenv("GORACE", "atexit_sleep_ms=0")
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"status":  cmdStatus,
			"dealt":   cmdDealt,
			"agekey":  cmdAgeKey,
			"foreign": cmdForeign,
			"tamper":  cmdTamper,

			"samelines": cmdSameLines,

			"edkey":   cmdEdKey,
			"groupid": cmdGroupID,
			"joined":  cmdJoined,

			"misnamed":   cmdMisnamed,
			"samelinked": cmdSameLinked,
			"pngsize":    cmdPNGSize,

			"for":    cmdFor,
			"graft":  cmdGraft,
			"join":   cmdJoin,
			"offset": cmdOffset,
			"rogue":  cmdRogue,
			"sealed": cmdSealed,
		},
	})
}

func cmdStatus(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: status N PROGRAM [ARGS]...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	err = ts.Exec(args[1], args[2:]...)
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		got = exit.ExitCode()
	} else if err != nil {
		ts.Fatalf("%v", err)
	}
	if got != want {
		ts.Fatalf("exit status is %d, want %d", got, want)
	}
}

// testCommands are commands that exist in tests only.
func testCommands(e *env) []*cobra.Command {
	var pass passphraseFlags
	var confirm, force bool
	prompt := &cobra.Command{
		Use: "prompt",
		RunE: func(c *cobra.Command, args []string) error {
			p, err := e.passphrase(c.Context(), pass, "the test", confirm)
			if err != nil {
				return err
			}
			return e.print(struct{ Length int }{len(p)}, func(w io.Writer) { fmt.Fprintf(w, "%d bytes\n", len(p)) })
		},
	}
	addPassphraseFlags(prompt, &pass)
	prompt.Flags().BoolVar(&confirm, "confirm", false, "")

	ask := &cobra.Command{
		Use: "ask",
		RunE: func(c *cobra.Command, args []string) error {
			if err := e.confirm(c.Context(), "Go on?"); err != nil {
				return err
			}
			e.notef("going on")
			e.warnf("there is no way back")
			return nil
		},
	}

	// write writes its standard input to all files named; with a last argument
	// of KILL it dies by a signal before they get their names.
	write := &cobra.Command{
		Use: "write",
		RunE: func(c *cobra.Command, args []string) error {
			data, err := e.readInput(c.Context(), "-", 1000)
			if err != nil {
				return err
			}
			s := e.newFileSet(force)
			defer s.abort()
			for _, a := range args {
				if a == "KILL" {
					syscall.Kill(os.Getpid(), syscall.SIGKILL)
					select {}
				}
				if err := s.add(a, data, secretFile); err != nil {
					return err
				}
			}
			return s.commit()
		},
	}
	addForceFlag(write, &force)

	wait := &cobra.Command{
		Use: "wait",
		RunE: func(c *cobra.Command, args []string) error {
			fmt.Fprintln(e.stdout, "waiting")
			<-c.Context().Done()
			return fmt.Errorf("waiting: %w", c.Context().Err())
		},
	}
	read := &cobra.Command{
		Use: "read",
		RunE: func(c *cobra.Command, args []string) error {
			for _, a := range args {
				if _, err := e.readInput(c.Context(), a, maxObject); err != nil {
					return err
				}
			}
			return nil
		},
	}
	cmds := []*cobra.Command{prompt, ask, write, wait, read}
	for _, c := range cmds {
		describe(c, "none")
	}
	return cmds
}

// runTest runs a command line in this process.
func runTest(args ...string) (code int, stdout, stderr string) {
	var out, errb bytes.Buffer
	code = Main(args, strings.NewReader(""), &out, &errb)
	return code, out.String(), errb.String()
}

func TestStatuses(t *testing.T) {
	for _, tt := range []struct {
		args string
		want int
	}{
		{"version", ExitOK},
		{"version --json", ExitOK},
		{"version --timeout 1m", ExitOK},
		{"--version", ExitOK},
		{"help", ExitOK},
		{"help completion", ExitOK},
		{"--help", ExitOK},
		{"completion bash", ExitOK},
		{"completion zsh", ExitOK},
		{"completion fish", ExitOK},
		{"completion powershell", ExitOK},
		{"", ExitUsage},
		{"nonsense", ExitUsage},
		{"nonsense --flag", ExitUsage},
		{"help nonsense", ExitUsage},
		{"version extra", ExitUsage},
		{"version --nonsense", ExitUsage},
		{"version --timeout x", ExitUsage},
		{"version --timeout=-1s", ExitUsage},
		{"completion", ExitUsage},
		{"completion bash zsh", ExitUsage},
		{"completion tcsh", ExitUsage},
		{"completion bash --json", ExitUsage},
		{"man", ExitUsage},
		{"man --dir /dev/null/x", ExitError},
	} {
		code, stdout, stderr := runTest(strings.Fields(tt.args)...)
		if code != tt.want {
			t.Errorf("undersign %s: exit status %d, want %d; stderr: %s", tt.args, code, tt.want, stderr)
		}
		switch {
		case tt.want == ExitOK && stderr != "":
			t.Errorf("undersign %s: unexpected message: %s", tt.args, stderr)
		case tt.want != ExitOK && stdout != "":
			t.Errorf("undersign %s: fails, but prints a result: %s", tt.args, stdout)
		case tt.want == ExitUsage && !strings.Contains(stderr, "hint"):
			t.Errorf("undersign %s: usage error without a hint: %s", tt.args, stderr)
		}
	}
}

func TestErrorJSON(t *testing.T) {
	code, _, stderr := runTest("man", "--json", "--dir", "/dev/null/x")
	var got struct {
		Error string
		Exit  int
	}
	if err := json.Unmarshal([]byte(stderr), &got); err != nil {
		t.Fatalf("error isn't one JSON object: %v: %s", err, stderr)
	}
	if got.Exit != code || got.Error == "" {
		t.Errorf("got %+v with exit status %d", got, code)
	}
}

// TestInterrupt interrupts a process that waits for a context, and one that
// waits for standard input.
func TestInterrupt(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ name, ready string }{{"wait", "waiting\n"}, {"read -", ""}} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			args := strings.Fields(tt.name)
			cmd := exec.Command(exe, "-test.run=^TestInterruptChild$")
			cmd.Env = append(os.Environ(), "UNDERSIGN_TEST_CHILD="+strings.Join(args, " "))
			var stderr bytes.Buffer
			cmd.Stderr = &stderr
			stdout, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			stdin, err := cmd.StdinPipe() // never written to, nor closed
			if err != nil {
				t.Fatal(err)
			}
			defer stdin.Close()
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			if _, err := io.ReadFull(stdout, make([]byte, len("child\n"+tt.ready))); err != nil {
				t.Fatal(err)
			}
			time.Sleep(50 * time.Millisecond) // until it is in the read
			cmd.Process.Signal(os.Interrupt)
			err = cmd.Wait()
			if code := cmd.ProcessState.ExitCode(); code != ExitInterrupted {
				t.Errorf("exit status %d (%v), want %d", code, err, ExitInterrupted)
			}
			if want := "undersign: error: interrupted\n"; stderr.String() != want {
				t.Errorf("stderr is %q, want %q", stderr.String(), want)
			}
		})
	}
}

// TestInterruptChild is the process of TestInterrupt.
func TestInterruptChild(t *testing.T) {
	args, ok := os.LookupEnv("UNDERSIGN_TEST_CHILD")
	if !ok {
		t.Skip("runs as a child of TestInterrupt")
	}
	ctx, stop := notifyContext()
	defer stop()
	fmt.Println("child")
	e := &env{stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr}
	root := newRootCmd(e)
	root.AddCommand(testCommands(e)...)
	os.Exit(run(ctx, e, root, strings.Fields(args)))
}

func TestTimeout(t *testing.T) {
	var out, errb bytes.Buffer
	e := &env{stdin: strings.NewReader(""), stdout: &out, stderr: &errb}
	root := newRootCmd(e)
	root.AddCommand(testCommands(e)...)
	code := run(t.Context(), e, root, []string{"wait", "--timeout", "10ms"})
	if code != ExitError || !strings.Contains(errb.String(), "timed out after 10ms") {
		t.Errorf("exit status %d, stderr %q", code, errb.String())
	}
}
