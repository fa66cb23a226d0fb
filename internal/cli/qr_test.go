// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"image/png"
	"os"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"rsc.io/qr"
)

// Half blocks give back the modules that they were drawn from.
func TestQRText(t *testing.T) {
	for _, text := range []string{"a", strings.Repeat("undersign ", 50), strings.Repeat("x", maxQR)} {
		code, err := qr.Encode(text, qr.L)
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(strings.TrimSuffix(qrText(code), "\n"), "\n")
		if len(lines) != (code.Size+2*quiet+1)/2 {
			t.Fatalf("%d lines for %d modules", len(lines), code.Size)
		}
		for y := range code.Size {
			line := []rune(lines[(y+quiet)/2])
			if len(line) != code.Size+2*quiet {
				t.Fatalf("line %d has %d characters for %d modules", y/2, len(line), code.Size)
			}
			for x := range code.Size {
				half := "█▀"
				if (y+quiet)%2 == 1 {
					half = "█▄"
				}
				if light := strings.ContainsRune(half, line[x+quiet]); light == code.Black(x, y) {
					t.Fatalf("module %d, %d of %d is wrong", x, y, code.Size)
				}
			}
		}
	}
}

func TestAddQR(t *testing.T) {
	e := &env{}
	set := e.newFileSet(false)
	defer set.abort()
	dir := t.TempDir()
	for _, c := range []struct {
		file string
		text []byte
		code int
	}{
		{"", make([]byte, 1<<20), ExitOK}, // none is wanted
		{dir + "/fits.png", []byte(strings.Repeat("x", maxQR)), ExitOK},
		{dir + "/FITS.PNG", []byte("x"), ExitOK},
		{dir + "/long.png", []byte(strings.Repeat("x", maxQR+1)), ExitError},
		{dir + "/binary.png", []byte{0, 1, 2}, ExitError},
		{dir + "/x", []byte("x"), ExitUsage},
	} {
		if err := addQR(set, c.file, "text", c.text); exitCode(err) != c.code {
			t.Errorf("%q: %v", c.file, err)
		}
	}
}

// cmdPNGSize is the command
//
//	pngsize FILE    demand a PNG image that is as large as QR codes are
func cmdPNGSize(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: pngsize FILE")
	}
	f, err := os.Open(ts.MkAbs(args[0]))
	ts.Check(err)
	defer f.Close()
	c, err := png.DecodeConfig(f)
	ts.Check(err)
	if c.Width != c.Height || c.Width < 8*(21+2*quiet) {
		ts.Fatalf("%d by %d", c.Width, c.Height)
	}
}
