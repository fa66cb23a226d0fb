// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
)

// print writes the result of a command on standard output: v as one JSON
// object on one line with --json, what text writes otherwise. A command calls
// it at most once. Text that comes from a file should go through printable.
func (e *env) print(v any, text func(w io.Writer)) error {
	e.clearProgress()
	var buf bytes.Buffer
	if e.json {
		enc := json.NewEncoder(&buf)
		enc.SetEscapeHTML(false)
		if err := enc.Encode(v); err != nil {
			return err
		}
		if b := buf.Bytes(); b[0] != '{' {
			return fmt.Errorf("result of type %T isn't a JSON object", v)
		}
	} else {
		text(&buf)
		if _, ok := terminal(e.stdout); ok { // names of files may come from others too
			s := printable(buf.String())
			buf.Reset()
			buf.WriteString(s)
		}
	}
	// All at once, so that what fails in the middle prints nothing.
	bw := bufio.NewWriter(e.stdout)
	bw.Write(buf.Bytes())
	if err := bw.Flush(); err != nil {
		return fmt.Errorf("can't write standard output: %w", err)
	}
	return nil
}
