// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/undersign/undersign/internal/freeport"
)

// maxWalk is how many commands it may take from an empty folder to a result.
const maxWalk = 9

// docCommands returns the commands in a section of a page, as they are written there.
func docCommands(t *testing.T, page, heading string) (commands []string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("../..", page))
	if err != nil {
		t.Fatal(err)
	}
	_, section, ok := strings.Cut(string(text), "\n## "+heading+"\n")
	if !ok {
		t.Fatalf("%s has no section %q", page, heading)
	}
	section, _, _ = strings.Cut(section, "\n## ")
	section = regexp.MustCompile(`\\\n +`).ReplaceAllString(section, "")
	for line := range strings.Lines(section) {
		if c, ok := strings.CutPrefix(line, "    "); ok {
			commands = append(commands, strings.TrimSpace(c))
		}
	}
	return commands
}

// TestWalks does what a new user does: the commands of the pages on services, as they are
// written there, each in a folder that is empty but for the file. Ports are others.
func TestWalks(t *testing.T) {
	readme := docCommands(t, "README.md", "As a service")
	for _, tt := range []struct{ page, file, result string }{
		{"docs/threshold-service.md", "release.txt", "Verified OK"},
		{"docs/aggregate-service.md", "vote.txt", "1 of the 1 validators of test have signed"},
	} {
		t.Run(tt.file, func(t *testing.T) {
			commands := docCommands(t, tt.page, "Nine commands")
			if len(commands) == 0 || len(commands) > maxWalk {
				t.Errorf("%s: %d commands, want up to %d", tt.page, len(commands), maxWalk)
			}
			for _, c := range commands {
				if !slices.Contains(readme, c) {
					t.Errorf("README.md hasn't %q of %s", c, tt.page)
				}
			}
			out := walkDocs(t, commands, tt.file)
			if !strings.Contains(out, tt.result) {
				t.Errorf("the last command printed %q, want %q", out, tt.result)
			}
		})
	}
}

// walkDocs runs commands, and returns what the last one printed.
func walkDocs(t *testing.T, commands []string, file string) (last string) {
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("no shell")
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, file), []byte(file+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	run := func(line string) string {
		cmd := exec.Command(sh, "-c", line)
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v\n%s", line, err, out)
		}
		return string(out)
	}
	ports := map[string]string{}
	addresses := regexp.MustCompile(`127\.0\.0\.1:\d+`)
	for _, c := range commands {
		line := addresses.ReplaceAllStringFunc(c, func(a string) string {
			if ports[a] == "" {
				free, err := freeport.Address()
				if err != nil {
					t.Fatal(err)
				}
				ports[a] = free
			}
			return ports[a]
		})
		// A key of half the size takes a tenth of the time.
		line = strings.Replace(line, "threshold keygen ", "threshold keygen --bits 2048 ", 1)
		name, _, _ := strings.Cut(line, " ")
		if _, err := exec.LookPath(name); err != nil && name != "undersign" {
			t.Skipf("no %s: %s", name, c)
		}
		if serve, ok := strings.CutSuffix(line, " &"); ok {
			startServe(t, dir, strings.Fields(serve))
			run(strings.Replace(serve, "serve", "status --wait 20s", 1))
			continue
		}
		last = run(line)
	}
	return last
}

// startServe runs a node until the test ends, and looks at how it ends.
func startServe(t *testing.T, dir string, args []string) {
	t.Helper()
	var log bytes.Buffer
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, &log, &log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Signal(syscall.SIGTERM)
		if err := cmd.Wait(); err != nil {
			t.Errorf("%s: %v\n%s", strings.Join(args, " "), err, &log)
		}
	})
}
