// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package libgroupsig

import (
	"errors"
	"fmt"
	"unicode/utf8"
)

// splitMessage takes scope and text from the message that DL21 is given, which is JSON:
// an object with the strings "scope" and "message". The signature covers these two, and
// nothing else of it. So nothing else may be there, and neither one twice, of which the
// library takes the first and most readers the last. Of escapes the library knows those
// of one letter; with others, and with an empty string, it signs and verifies nothing.
func splitMessage(msg []byte) (scope, text []byte, err error) {
	j := jsonReader{b: msg}
	parts := map[string][]byte{}
	j.want('{')
	for j.err == nil {
		name := string(j.text())
		j.want(':')
		value := j.text()
		if j.err != nil {
			break
		}
		if name != "scope" && name != "message" {
			j.fail("it has %q, which no signature covers", name)
		}
		if _, ok := parts[name]; ok {
			j.fail("it has %q twice", name)
		}
		if len(value) == 0 {
			j.fail("%q is empty", name)
		}
		parts[name] = value
		if !j.next(',') {
			break
		}
	}
	j.want('}')
	if j.space(); len(j.b) > 0 {
		j.fail("something follows the object")
	}
	for _, name := range []string{"scope", "message"} {
		if parts[name] == nil {
			j.fail("it has no %q", name)
		}
	}
	if j.err != nil {
		return nil, nil, j.err
	}
	return parts["scope"], parts["message"], nil
}

type jsonReader struct {
	b   []byte
	err error
}

func (j *jsonReader) fail(format string, args ...any) {
	if j.err == nil {
		j.err = fmt.Errorf(format, args...)
	}
}

func (j *jsonReader) space() {
	for len(j.b) > 0 && (j.b[0] == ' ' || j.b[0] == '\t' || j.b[0] == '\r' || j.b[0] == '\n') {
		j.b = j.b[1:]
	}
}

// next takes a character, if it comes next.
func (j *jsonReader) next(c byte) bool {
	j.space()
	if j.err != nil || len(j.b) == 0 || j.b[0] != c {
		return false
	}
	j.b = j.b[1:]
	return true
}

func (j *jsonReader) want(c byte) {
	if !j.next(c) {
		j.fail("it isn't an object of strings: no %q where one should be", c)
	}
}

var (
	errEscape   = errors.New("a string has an escape that the library doesn't know")
	errControl  = errors.New("a string has control characters, or isn't UTF-8")
	errUnclosed = errors.New("a string doesn't end")
)

var escapes = map[byte]byte{'"': '"', '\\': '\\', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

// text takes a string, and undoes its escapes.
func (j *jsonReader) text() []byte {
	j.want('"')
	if j.err != nil {
		return nil
	}
	var s []byte
	for i := 0; i < len(j.b); i++ {
		switch c := j.b[i]; {
		case c == '"':
			j.b = j.b[i+1:]
			if !utf8.Valid(s) {
				j.fail("%w", errControl)
			}
			return s
		case c < ' ':
			j.fail("%w", errControl)
			return nil
		case c == '\\':
			i++
			if i == len(j.b) {
				break
			}
			e, ok := escapes[j.b[i]]
			if !ok {
				j.fail("%w", errEscape)
				return nil
			}
			s = append(s, e)
		default:
			s = append(s, c)
		}
	}
	j.fail("%w", errUnclosed)
	return nil
}
