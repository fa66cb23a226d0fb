// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bytes"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"filippo.io/age"

	"github.com/undersign/undersign/keyfile"
	"github.com/undersign/undersign/thresholdrsa"
)

// TestKill kills sign and deal at random moments. What then has the name of an
// output is whole.
func TestKill(t *testing.T) {
	bin, err := exec.LookPath("undersign") // the test binary, by testscript.Main
	if err != nil {
		t.Fatal(err)
	}
	dir, err := fixtureDir()
	if err != nil {
		t.Fatal(err)
	}
	in := func(name string) string { return filepath.Join(dir, name) }
	runOK := func(args ...string) {
		t.Helper()
		if code, _, stderr := runTest(args...); code != 0 {
			t.Fatal(stderr)
		}
	}
	runOK("threshold", "request", in("plain.jwk"), "--key", in("key/threshold.pub"), "-o", in("r.req"))
	idText, err := os.ReadFile(in("alice.key"))
	if err != nil {
		t.Fatal(err)
	}
	ids, err := keyfile.ParseIdentities(bytes.NewReader(idText), nil)
	if err != nil {
		t.Fatal(err)
	}

	t.Run("sign", func(t *testing.T) {
		killLoop(t, bin, ids, func(out string) []string {
			return []string{"threshold", "sign", in("r.req"), "--share", in("key/alice.share"), "-i", in("alice.key"), "-o", filepath.Join(out, "share")}
		})
	})
	t.Run("deal", func(t *testing.T) {
		killLoop(t, bin, ids, func(out string) []string {
			return []string{"threshold", "import", in("plain.pem"), "-k", "2", "--to", in("alice.txt") + "," + in("bob.txt"), "-o", out}
		})
	})
	t.Run("deal over", func(t *testing.T) { // files that exist
		killLoop(t, bin, ids, func(out string) []string {
			if err := os.CopyFS(out, os.DirFS(in("key"))); err != nil {
				t.Fatal(err)
			}
			return []string{"threshold", "import", in("plain.pem"), "-k", "2", "--to", in("alice.txt") + "," + in("bob.txt"), "-o", out, "--force"}
		})
	})
}

func killLoop(t *testing.T, bin string, ids []age.Identity, args func(out string) []string) {
	n := 10
	if os.Getenv("UNDERSIGN_LONG") != "" {
		n = 200
	}
	run := func(delay time.Duration) (killed bool) {
		out := filepath.Join(t.TempDir(), "out")
		if err := os.Mkdir(out, 0o777); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(bin, args(out)...)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if delay > 0 {
			time.Sleep(delay)
			cmd.Process.Kill()
		}
		err := cmd.Wait()
		if delay == 0 && err != nil {
			t.Fatalf("undisturbed: %v", err)
		}
		checkWhole(t, out, ids, delay == 0)
		return err != nil
	}
	start := time.Now()
	run(0)
	took := time.Since(start)
	killed := 0
	for range n {
		// Most of what can go wrong is near the end.
		delay := took/2 + rand.N(took*3/4)
		if rand.N(4) == 0 {
			delay = 1 + rand.N(took)
		}
		if run(delay) {
			killed++
		}
	}
	t.Logf("%d of %d were killed, an undisturbed run took %v", killed, n, took)
}

// checkWhole checks every file in dir that has the name of an output.
func checkWhole(t *testing.T, dir string, ids []age.Identity, finished bool) {
	t.Helper()
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for _, f := range files {
		if strings.HasPrefix(f.Name(), ".") {
			if finished {
				t.Errorf("%s is left behind", f.Name())
			}
			continue // a temporary file: whole or not, it has no output's name
		}
		seen++
		path := filepath.Join(dir, f.Name())
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		switch {
		case f.Name() == "alice.share":
			_, err = keyfile.OpenAs[*thresholdrsa.KeyShare](bytes.NewReader(data), ids...)
		case strings.HasSuffix(f.Name(), ".share"):
			// Somebody else's: whole if age reads the header, and the armour ends.
			if !bytes.HasSuffix(data, []byte("-----END AGE ENCRYPTED FILE-----\n")) {
				err = io.ErrUnexpectedEOF
			}
		case f.Name() == rsaKeyName:
			_, _, err = (&env{}).readRSAKey(t.Context(), path)
		default:
			_, err = keyfile.Parse(data)
		}
		if err != nil {
			t.Errorf("%s: %v", f.Name(), err)
		}
	}
	if finished && seen == 0 {
		t.Error("nothing was written")
	}
}
