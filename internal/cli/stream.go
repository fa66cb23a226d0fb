// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bufio"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// A streamFile is an output that doesn't fit into memory. Otherwise it is like a
// file of a fileSet: it gets its name when all is there, and standard output and
// devices are written at once.
type streamFile struct {
	*bufio.Writer
	set  *fileSet
	file *os.File // nil for standard output, and for dry runs
	name string
}

// createStream begins an output. Always defer abort.
func (e *env) createStream(path string, mode fs.FileMode, force bool) (*streamFile, error) {
	s := &streamFile{set: e.newFileSet(force), name: path}
	if err := s.set.add(path, []byte{}, mode); err != nil {
		return nil, err
	}
	staged := s.set.staged[0]
	var w io.Writer
	var err error
	switch {
	case path == "-":
		w = e.stdout
	case e.dryRun:
		w = io.Discard
	case staged.temp != "":
		s.file, err = os.OpenFile(staged.temp, os.O_WRONLY, 0)
		w = s.file
	default:
		s.file, err = os.OpenFile(path, os.O_WRONLY, 0)
		w = s.file
	}
	if err != nil {
		s.set.abort()
		return nil, outputError(path, err)
	}
	s.Writer = bufio.NewWriterSize(w, 1<<16)
	return s, nil
}

// commit makes the output durable and gives it its name.
func (s *streamFile) commit() error {
	err := s.Flush()
	if err != nil && s.file == nil {
		return fmt.Errorf("can't write standard output: %w", err)
	}
	if s.file != nil {
		if s.set.staged[0].temp != "" && err == nil {
			err = s.file.Sync()
		}
		if cerr := s.file.Close(); err == nil {
			err = cerr
		}
		s.file = nil
	}
	if err != nil {
		return outputError(s.name, err)
	}
	return s.set.commit()
}

// abort removes what was written, unless it was committed.
func (s *streamFile) abort() {
	if s.file != nil {
		s.file.Close()
	}
	s.set.abort()
}
