// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package demo

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

func skipShort(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("starts processes")
	}
}

// pids returns the processes that a demo says it has started.
func pids(t *testing.T, out string) (list []int) {
	t.Helper()
	for _, m := range regexp.MustCompile(`[a-z]+ is (\d+)`).FindAllStringSubmatch(out, -1) {
		pid, err := strconv.Atoi(m[1])
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Contains(list, pid) {
			list = append(list, pid)
		}
	}
	return list
}

// checkEnded fails for each process of a demo that is still there.
func checkEnded(t *testing.T, out string, want int) {
	t.Helper()
	list := pids(t, out)
	if len(list) != want {
		t.Errorf("%d processes, want %d:\n%s", len(list), want, out)
	}
	for _, pid := range list {
		if err := syscall.Kill(pid, 0); err == nil {
			t.Errorf("process %d is still there", pid)
		}
	}
}

func TestThreshold(t *testing.T) {
	t.Parallel()
	skipShort(t)
	dir := t.TempDir()
	file := filepath.Join(t.TempDir(), "a file.txt")
	if err := os.WriteFile(file, []byte("some text"), 0o644); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	d := new(threshold)
	res, err := d.play(context.Background(), Options{Dir: dir, File: file, Out: &out})
	if err != nil {
		t.Fatalf("%v\n%s", err, &out)
	}
	for _, w := range []string{
		"RSA-2048, 3 of 5: us1",
		"   bob: bad share: the proof doesn't hold",
		"refused with exit status 4: 2 good signature shares of the 3 that it takes\n",
		"   carol: no answer: dial tcp 127.0.0.1:",
		"   erin: no answer: dial tcp 127.0.0.1:",
		"file.sig is an ordinary RSA signature of a file.txt, 256 bytes",
		"crypto/rsa and crypto/x509 accept file.sig, file.pss.sig and server.pem",
		"whole: the logs of alice, carol, dave, erin\n",
	} {
		if !strings.Contains(out.String(), w) {
			t.Errorf("the output lacks %q:\n%s", w, &out)
		}
	}
	if strings.Contains(out.String(), "dave: ") || strings.Contains(out.String(), "alice: ") {
		t.Errorf("somebody is blamed who did nothing:\n%s", &out)
	}
	want := []string{"crypto/rsa", "crypto/x509"}
	if _, err := exec.LookPath("openssl"); err == nil {
		if len(res.Verified) != 3 || !strings.Contains(res.Verified[2], "OpenSSL") {
			t.Errorf("verified by %v", res.Verified)
		}
		want = append(want, res.Verified[2:]...)
	}
	if !slices.Equal(res.Verified, want) || len(res.Steps) != 8 {
		t.Errorf("%d steps, verified by %v", len(res.Steps), res.Verified)
	}
	for _, name := range []string{"key/threshold.pub", "key/rsa.pub.pem", "key/ceremony.txt", "key/erin.share", "file.sig", "ca.pem", "server.pem", "bob.log"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			t.Error(err)
		}
	}
	checkEnded(t, out.String(), 6) // erin twice

	// Without OpenSSL the standard library is the judge, and the result says so.
	d.tool = "no-openssl"
	lines, err := d.verify(context.Background())
	if err != nil || !slices.Equal(res.Verified, want[:2]) || lines[len(lines)-1] != "no-openssl isn't here, which would say so too" {
		t.Errorf("without OpenSSL: %q, %v, verified by %v", lines, err, res.Verified)
	}
	// And it does judge.
	if err := os.WriteFile(file, []byte("other text"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := d.verify(context.Background()); err == nil {
		t.Error("signatures of another file are accepted")
	}
}

// A demo in which nobody lies, or nobody is killed, fails, and leaves no process.
func TestThresholdShowsNothing(t *testing.T) {
	skipShort(t)
	for name, tt := range map[string]struct {
		demo *threshold
		want string
		left int
	}{
		"nobody lies":      {&threshold{honest: true}, "sign the file, while bob lies: nobody is named who lies", 5},
		"nobody is killed": {&threshold{spare: true}, "two honest nodes of 3 gave a signature", 5},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var out bytes.Buffer
			_, err := tt.demo.play(context.Background(), Options{Dir: t.TempDir(), Out: &out})
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%v, want %s\n%s", err, tt.want, &out)
			}
			checkEnded(t, out.String(), tt.left)
		})
	}
}

func TestThresholdRefused(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Threshold(ctx, Options{Dir: t.TempDir(), Out: io.Discard}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	if _, err := Threshold(context.Background(), Options{Dir: t.TempDir(), File: "no such file", Out: io.Discard}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
	if _, err := Threshold(context.Background(), Options{Dir: filepath.Join(t.TempDir(), "none"), Out: io.Discard}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no folder: %v", err)
	}
}

// A process of a demo begins none, whatever program it is.
func TestNested(t *testing.T) {
	t.Setenv(childEnv, "1")
	if _, err := Threshold(context.Background(), Options{Dir: t.TempDir(), Out: io.Discard}); !errors.Is(err, errNested) {
		t.Errorf("threshold: %v", err)
	}
	if _, err := Aggregate(context.Background(), Options{Dir: t.TempDir(), Out: io.Discard}); !errors.Is(err, errNested) {
		t.Errorf("aggregate: %v", err)
	}
}
