// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"
)

// Modes of the files that commands write.
const (
	publicFile fs.FileMode = 0o666 // less the umask
	secretFile fs.FileMode = 0o600
)

// A fileSet writes several files, all or none. Each is written and synced
// beside its destination under a temporary name; commit then gives all of them
// their names. A process that is killed leaves no half-written file under a
// final name.
type fileSet struct {
	e      *env
	force  bool
	staged []*stagedFile
}

type stagedFile struct {
	path   string // as the user gave it; - for standard output
	final  string // path, symbolic links followed
	temp   string // where the data waits; empty for standard output, devices and dry runs
	backup string // the file that was replaced, until the whole set is in place
	direct []byte // for standard output and devices
	named  bool   // final holds our data
	lost   bool   // what final held before can't be brought back
}

// newFileSet returns an empty set. With force, files that exist are replaced.
// Always defer abort.
func (e *env) newFileSet(force bool) *fileSet { return &fileSet{e: e, force: force} }

// addForceFlag gives a command that writes files its --force.
func addForceFlag(c *cobra.Command, force *bool) {
	c.Flags().BoolVar(force, "force", false, "replace files that exist")
}

// writeFile writes one file; see fileSet.
func (e *env) writeFile(path string, data []byte, mode fs.FileMode, force bool) error {
	s := e.newFileSet(force)
	defer s.abort()
	if err := s.add(path, data, mode); err != nil {
		return err
	}
	return s.commit()
}

// add stages data for path; - is standard output. The set keeps data until commit.
func (s *fileSet) add(path string, data []byte, mode fs.FileMode) error {
	for _, f := range s.staged {
		if f.path == path || path != "-" && f.final == filepath.Clean(path) {
			return failf(ExitUsage, "", "two outputs are called %s", path)
		}
	}
	if path == "-" {
		if err := s.e.checkStdout(path); err != nil {
			return err
		}
		if _, ok := terminal(s.e.stdout); ok && !isText(data) {
			return failf(ExitUsage, "name a file, or use a pipe", "won't print binary data on a terminal")
		}
		s.staged = append(s.staged, &stagedFile{path: path, direct: data})
		return nil
	}
	f := &stagedFile{path: path, final: filepath.Clean(path)}
	switch fi, err := os.Stat(path); {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return outputError(path, err)
	case fi.IsDir():
		return fmt.Errorf("%s is a directory", path)
	case !fi.Mode().IsRegular():
		// A device or a pipe: it can be written to, and must not be replaced.
		f.direct = data
		s.staged = append(s.staged, f)
		return nil
	case !s.force:
		return existsError(path)
	default:
		if f.final, err = filepath.EvalSymlinks(path); err != nil {
			return outputError(path, err)
		}
	}
	if !s.e.dryRun {
		if err := f.stage(data, mode); err != nil {
			return outputError(path, err)
		}
	}
	s.staged = append(s.staged, f)
	return nil
}

// checkStdout refuses a file on standard output where the JSON object goes there.
func (e *env) checkStdout(path string) error {
	if path == "-" && e.json {
		return failf(ExitUsage, "name a file with -o", "standard output is taken by --json")
	}
	return nil
}

// checkOut refuses an output that add would refuse, before somebody is asked a
// question or something else is stored for it.
func (e *env) checkOut(path string, force bool) error {
	if path == "-" {
		return e.checkStdout(path)
	}
	if fi, err := os.Stat(path); err == nil && fi.Mode().IsRegular() && !force {
		return existsError(path)
	}
	return nil
}

func existsError(path string) error {
	return failf(ExitError, "use --force to replace it", "%s exists already", path)
}

func outputError(path string, err error) error {
	var pe *fs.PathError
	var le *os.LinkError
	if errors.As(err, &pe) {
		err = pe.Err
	} else if errors.As(err, &le) {
		err = le.Err
	}
	return fmt.Errorf("can't write %s: %w", path, err)
}

// siblingName returns a new name in the directory of path.
func siblingName(path, kind string) string {
	dir, base := filepath.Split(path)
	return filepath.Join(dir, "."+base+"."+kind+"-"+rand.Text()[:12])
}

// stage writes data to a temporary file and makes it durable.
func (f *stagedFile) stage(data []byte, mode fs.FileMode) (err error) {
	temp := siblingName(f.final, "undersign-tmp")
	w, err := os.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	f.temp = temp
	defer func() {
		if cerr := w.Close(); err == nil {
			err = cerr
		}
		if err != nil {
			os.Remove(temp)
			f.temp = ""
		}
	}()
	if _, err := w.Write(data); err != nil {
		return err
	}
	return w.Sync()
}

// commit puts all files in their places, and prints what goes to standard
// output last. When one can't be placed, those before it are taken back.
func (s *fileSet) commit() error {
	for _, f := range s.staged {
		if f.temp == "" {
			continue
		}
		if err := f.place(s.force); err != nil {
			return err
		}
	}
	for _, f := range s.staged {
		if f.direct == nil {
			if s.e.dryRun {
				s.e.notef("would write %s", f.path)
			}
			continue
		}
		if err := s.writeDirect(f); err != nil {
			return err
		}
	}
	for _, dir := range s.dirs() {
		syncDir(dir)
	}
	for _, f := range s.staged {
		if f.backup != "" {
			os.Remove(f.backup)
		}
	}
	s.staged = nil
	return nil
}

// place gives the staged file its name.
func (f *stagedFile) place(force bool) error {
	if force {
		// Keep the old file under another name until all of the set is placed.
		backup := siblingName(f.final, "undersign-old")
		err := os.Link(f.final, backup)
		if err == nil {
			f.backup = backup
		}
		f.lost = err != nil && !errors.Is(err, fs.ErrNotExist)
		if err := os.Rename(f.temp, f.final); err != nil {
			return outputError(f.path, err)
		}
		f.temp, f.named = "", true
		return nil
	}
	// A link, unlike a rename, fails when the name was taken in the meantime.
	err := os.Link(f.temp, f.final)
	if errors.Is(err, fs.ErrExist) {
		return existsError(f.path)
	}
	if err == nil {
		f.named = true
		if os.Remove(f.temp) == nil {
			f.temp = ""
		}
		return nil
	}
	// No hard links here: reserve the name, then rename over it.
	w, err := os.OpenFile(f.final, os.O_WRONLY|os.O_CREATE|os.O_EXCL, secretFile)
	if errors.Is(err, fs.ErrExist) {
		return existsError(f.path)
	}
	if err != nil {
		return outputError(f.path, err)
	}
	f.named = true
	w.Close()
	if err := os.Rename(f.temp, f.final); err != nil {
		return outputError(f.path, err)
	}
	f.temp = ""
	return nil
}

func (s *fileSet) writeDirect(f *stagedFile) error {
	if f.path == "-" {
		s.e.clearProgress()
		if _, err := s.e.stdout.Write(f.direct); err != nil {
			return fmt.Errorf("can't write standard output: %w", err)
		}
		return nil
	}
	if s.e.dryRun {
		s.e.notef("would write %s", f.path)
		return nil
	}
	w, err := os.OpenFile(f.path, os.O_WRONLY, 0)
	if err != nil {
		return outputError(f.path, err)
	}
	if _, err := w.Write(f.direct); err != nil {
		w.Close()
		return outputError(f.path, err)
	}
	return w.Close()
}

// abort removes what was staged, and takes back what a failed commit placed.
// After a commit that succeeded it does nothing.
func (s *fileSet) abort() {
	for _, f := range slices.Backward(s.staged) {
		switch {
		case f.backup != "":
			// Also when it wasn't replaced yet: the backup is the same file then.
			os.Rename(f.backup, f.final)
			os.Remove(f.backup) // a rename between two links of one file does nothing
		case f.named && !f.lost:
			os.Remove(f.final)
		}
		if f.temp != "" {
			os.Remove(f.temp)
		}
	}
	s.staged = nil
}

// dirs returns the directories that files were placed in, each once.
func (s *fileSet) dirs() []string {
	var dirs []string
	for _, f := range s.staged {
		if f.named {
			dirs = append(dirs, filepath.Dir(f.final))
		}
	}
	slices.Sort(dirs)
	return slices.Compact(dirs)
}

// syncDir makes the names in dir durable. Not every system can; the files
// themselves were synced before.
func syncDir(dir string) {
	if d, err := os.Open(dir); err == nil {
		d.Sync()
		d.Close()
	}
}

// isText reports whether data can be shown on a terminal.
func isText(data []byte) bool {
	return utf8.Valid(data) && !strings.ContainsFunc(string(data), func(r rune) bool {
		return r < 0x20 && r != '\n' && r != '\t' && r != '\r' || r == 0x7f
	})
}
