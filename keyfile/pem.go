// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package keyfile

import (
	"bytes"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	dashes     = "-----"
	beginStart = "-----BEGIN "
	endStart   = "-----END "
	lineLen    = 64 // RFC 7468, section 2: base64 lines of exactly 64 characters
)

// encodePEM returns the block UNDERSIGN label, comments above it. The result is
// allocated at once, so that a secret body leaves no copies behind.
func encodePEM(label string, body []byte, comments []string) ([]byte, error) {
	if len(body) == 0 {
		return nil, fmt.Errorf("keyfile: %s: empty encoding", label)
	}
	size := base64Len(len(body)) // and the line feeds, and the three other parts
	size += (size + lineLen - 1) / lineLen
	size += len(beginStart) + len(endStart) + 2*(len(labelPrefix)+len(label)+len(dashes)+1)
	for _, c := range comments {
		if why := commentFault([]byte(c)); why != "" {
			return nil, fmt.Errorf("keyfile: comment: %s", why)
		}
		size += len(c) + 1
	}
	if size > MaxSize {
		return nil, tooLarge()
	}

	out := make([]byte, 0, size)
	for _, c := range comments {
		out = append(append(out, c...), '\n')
	}
	out = append(out, beginStart+labelPrefix+label+dashes+"\n"...)
	for len(body) > 0 {
		n := min(len(body), lineLen/4*3)
		out = append(appendBase64(out, body[:n]), '\n')
		body = body[n:]
	}
	return append(out, endStart+labelPrefix+label+dashes+"\n"...), nil
}

// A decoder reads one PEM block line by line: begin, then body.
type decoder struct {
	rest []byte // what follows the current line
	line []byte // the current line, without its end
	n    int    // its number, from 1
}

// next moves on to the next line, which ends in LF, CRLF or the end of the file.
func (d *decoder) next() bool {
	if len(d.rest) == 0 {
		return false
	}
	d.n++
	line, rest, ended := bytes.Cut(d.rest, []byte{'\n'})
	if ended {
		line = bytes.TrimSuffix(line, []byte{'\r'})
	}
	d.line, d.rest = line, rest
	return true
}

func (d *decoder) fail(format string, args ...any) error {
	return &SyntaxError{Line: d.n, Reason: fmt.Sprintf(format, args...)}
}

// truncated reports that the file ended too early, on the line after the last.
func (d *decoder) truncated(missing string) error {
	return &SyntaxError{Line: d.n + 1, Reason: "end of file, " + missing + " expected"}
}

// begin skips the comments and reads the BEGIN line, whose label it returns.
func (d *decoder) begin() (string, error) {
	for d.next() {
		if bytes.HasPrefix(d.line, []byte(dashes)) {
			return d.label()
		}
		if why := commentFault(d.line); why != "" {
			return "", d.fail("%s", why)
		}
	}
	return "", d.truncated("a BEGIN line")
}

// label takes the BEGIN line apart.
func (d *decoder) label() (string, error) {
	s, ok := strings.CutPrefix(string(d.line), beginStart)
	if !ok {
		return "", d.fail("a BEGIN line expected")
	}
	s, ok = strings.CutSuffix(s, dashes)
	if !ok {
		if strings.TrimRightFunc(s, unicode.IsSpace) != s {
			return "", d.fail("white space after the BEGIN line")
		}
		return "", d.fail("the BEGIN line doesn't end in five dashes")
	}
	if len(s) > lineLen+len(labelPrefix)+len(insecurePrefix) {
		return "", d.fail("label too long")
	}
	for _, word := range strings.Split(s, " ") {
		if word == "" {
			return "", d.fail("label isn't words with single spaces between")
		}
		for i := range len(word) {
			if c := word[i]; (c < 'A' || c > 'Z') && (c < '0' || c > '9') {
				return "", d.fail("label has a character other than upper-case letters, digits and spaces")
			}
		}
	}
	return s, nil
}

// body reads the base64 lines and the END line, and insists on nothing but white
// space after that. The caller should clear what it gets.
func (d *decoder) body(label string) (out []byte, err error) {
	// Every line but the last has 64 characters: no more than this, and no regrowth.
	out = make([]byte, 0, len(d.rest)/4*3)
	defer func() {
		if err != nil {
			clear(out)
			out = nil
		}
	}()

	for short := false; ; {
		if !d.next() {
			return out, d.truncated("an END line")
		}
		if bytes.HasPrefix(d.line, []byte(dashes)) {
			break
		}
		switch {
		case len(d.line) == 0:
			return out, d.fail("empty line in the block")
		case short:
			// The line before was not the last one after all.
			d.n--
			return out, d.fail("short base64 line before the last")
		case bytes.IndexByte(d.line, ':') >= 0:
			return out, d.fail("headers aren't allowed")
		case len(d.line) > lineLen:
			return out, d.fail("base64 line longer than %d characters", lineLen)
		}
		short = len(d.line) < lineLen
		var why string
		if out, why = decodeBase64Line(out, d.line); why != "" {
			return out, d.fail("%s", why)
		}
		// Padding ends the text, on a full line too.
		short = short || d.line[len(d.line)-1] == '='
	}

	if string(d.line) != endStart+label+dashes {
		return out, d.fail("the END line doesn't match the BEGIN line")
	}
	if len(out) == 0 {
		return out, d.fail("empty block")
	}
	after := bytes.TrimLeft(d.rest, " \t\r\n")
	if len(after) == 0 {
		return out, nil
	}
	d.n += 1 + bytes.Count(d.rest[:len(d.rest)-len(after)], []byte{'\n'})
	if bytes.HasPrefix(after, []byte(beginStart)) {
		return out, d.fail("a second block")
	}
	return out, d.fail("text after the END line")
}

// commentFault says why a line can't stand above a block, or nothing if it can.
func commentFault(line []byte) string {
	dashed := bytes.Contains(line, []byte(dashes))
	for len(line) > 0 {
		r, n := utf8.DecodeRune(line)
		switch {
		case r == utf8.RuneError && n == 1:
			return "text isn't UTF-8"
		case r == '\uFEFF':
			return "byte order mark"
		case r != '\t' && unicode.IsControl(r):
			return "control character in the text"
		}
		line = line[n:]
	}
	if dashed {
		return "five dashes inside a line of text"
	}
	return ""
}
