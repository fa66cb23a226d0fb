// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"rsc.io/qr"
)

// maxQR is what a QR code holds at its lowest level of correction (ISO/IEC 18004, table
// 7: version 40-L, bytes).
const maxQR = 2953

func addQRFlag(c *cobra.Command, file *string, what string) {
	c.Flags().StringVar(file, "qr", "", "show the "+what+" as a QR code too, in the PNG `FILE`, or - for the terminal")
}

// checkQR refuses a name that addQR would refuse, before something is stored for the code.
func (e *env) checkQR(file string) error {
	switch {
	case file == "":
		return nil
	case file != "-" && !strings.HasSuffix(strings.ToLower(file), ".png"):
		return failf(ExitUsage, "call it NAME.png, or give - for the terminal", "--qr %s: not the name of a PNG file", file)
	}
	return e.checkOut(file, true)
}

// addQR adds the QR code of a text file to a set, if one is wanted. Who scans it has the
// text to put into a file.
func addQR(set *fileSet, file, of string, text []byte) error {
	if file == "" {
		return nil
	}
	if err := set.e.checkQR(file); err != nil {
		return err
	}
	if !isText(text) {
		return failf(ExitError, "", "%s isn't text, and can't be a QR code", of)
	}
	if len(text) > maxQR {
		return failf(ExitError, "leave out --qr, and send the file itself",
			"%s has %d bytes, and a QR code holds %d at most", of, len(text), maxQR)
	}
	code, err := qr.Encode(string(text), qr.M)
	if err != nil {
		code, err = qr.Encode(string(text), qr.L)
	}
	if err != nil {
		return fmt.Errorf("%s: as a QR code: %w", of, err)
	}
	if file == "-" {
		return set.add(file, []byte(qrText(code)), publicFile)
	}
	return set.add(file, code.PNG(), publicFile)
}

// quiet is the margin of a QR code, in modules.
const quiet = 4

// qrText draws a code with two modules a character. Light modules are drawn, as most
// terminals are dark.
func qrText(code *qr.Code) string {
	light := func(x, y int) bool { return !code.Black(x, y) } // light beyond the edges too
	var b strings.Builder
	for y := -quiet; y < code.Size+quiet; y += 2 {
		for x := -quiet; x < code.Size+quiet; x++ {
			switch upper, lower := light(x, y), y+1 < code.Size+quiet && light(x, y+1); {
			case upper && lower:
				b.WriteRune('█')
			case upper:
				b.WriteRune('▀')
			case lower:
				b.WriteRune('▄')
			default:
				b.WriteByte(' ')
			}
		}
		b.WriteByte('\n')
	}
	return b.String()
}
