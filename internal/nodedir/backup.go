// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package nodedir

import (
	"archive/tar"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// A Manifest is the first file of a backup, backup.json.
type Manifest struct {
	Version     int       `json:"version"`
	Fingerprint string    `json:"fingerprint"` // of the node
	Made        time.Time `json:"made"`
}

const (
	manifestName    = "backup.json"
	manifestVersion = 1
	maxManifest     = 64 << 10
	maxFiles        = 10000
)

// Pack writes the backup of a folder as a tar archive: its manifest, the copy of the store
// at snapshot, and all files that services keep. Files that change meanwhile are only
// appended to, and are taken as long as they were at the beginning.
func Pack(w io.Writer, dir, snapshot string, m Manifest) error {
	m.Version = manifestVersion
	tw := tar.NewWriter(w)
	text, err := json.Marshal(m)
	if err != nil {
		return fmt.Errorf("nodedir: %w", err)
	}
	text = append(text, '\n')
	err = tw.WriteHeader(&tar.Header{Name: manifestName, Mode: 0o600, Size: int64(len(text)), ModTime: m.Made})
	if err == nil {
		_, err = tw.Write(text)
	}
	if err == nil {
		err = packFile(tw, snapshot, Store)
	}
	if err != nil {
		return fmt.Errorf("nodedir: backup: %w", err)
	}
	err = filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(dir, p)
		if err != nil || d.IsDir() || leftOut(filepath.ToSlash(name)) {
			return err
		}
		if !d.Type().IsRegular() {
			return fmt.Errorf("%s is neither a file nor a folder", p)
		}
		return packFile(tw, p, filepath.ToSlash(name))
	})
	if err == nil {
		err = tw.Close()
	}
	if err != nil {
		return fmt.Errorf("nodedir: backup: %w", err)
	}
	return nil
}

// leftOut reports whether a file isn't part of a backup.
func leftOut(name string) bool {
	base := path.Base(name)
	return slices.Contains([]string{LockName, Store, Store + "-wal", Store + "-shm", Store + "-journal", manifestName}, name) ||
		strings.HasPrefix(base, ".") || strings.HasSuffix(base, ".new")
}

func packFile(tw *tar.Writer, from, name string) error {
	f, err := os.Open(from)
	if err != nil {
		return err
	}
	defer f.Close()
	fi, err := f.Stat()
	if err != nil {
		return err
	}
	if err := tw.WriteHeader(&tar.Header{Name: name, Mode: int64(fi.Mode().Perm()), Size: fi.Size(), ModTime: fi.ModTime()}); err != nil {
		return err
	}
	_, err = io.CopyN(tw, f, fi.Size())
	return err
}

// Unpack writes what is in a backup into an empty folder.
func Unpack(r io.Reader, dir string) (m Manifest, err error) {
	tr := tar.NewReader(r)
	h, err := tr.Next()
	if err != nil {
		return m, fmt.Errorf("nodedir: the backup is damaged, or isn't one of a node: %w", err)
	}
	if h.Name != manifestName || h.Size > maxManifest {
		return m, errors.New("nodedir: not the backup of a node")
	}
	text, err := io.ReadAll(tr)
	if err == nil {
		err = json.Unmarshal(text, &m)
	}
	if err != nil {
		return m, fmt.Errorf("nodedir: restore: %w", err)
	}
	if m.Version != manifestVersion {
		return m, fmt.Errorf("nodedir: a backup of version %d, which this version of undersign doesn't know", m.Version)
	}
	dirs := map[string]bool{dir: true}
	for n := 0; ; n++ {
		h, err := tr.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return m, fmt.Errorf("nodedir: restore: %w", err)
		}
		if n >= maxFiles || h.Typeflag != tar.TypeReg || !filepath.IsLocal(filepath.FromSlash(h.Name)) || h.Mode&^0o777 != 0 {
			return m, fmt.Errorf("nodedir: restore: %q isn't a file that a backup has", h.Name)
		}
		p := filepath.Join(dir, filepath.FromSlash(h.Name))
		if err := os.MkdirAll(filepath.Dir(p), 0o700); err != nil {
			return m, fmt.Errorf("nodedir: restore: %w", err)
		}
		if err := unpackFile(p, tr, fs.FileMode(h.Mode)); err != nil {
			return m, fmt.Errorf("nodedir: restore: %w", err)
		}
		dirs[filepath.Dir(p)] = true
	}
	for d := range dirs {
		if err := SyncDir(d); err != nil {
			return m, err
		}
	}
	for _, name := range []string{Identity, Config, Store, Audit} {
		if _, err := os.Lstat(filepath.Join(dir, name)); err != nil {
			return m, fmt.Errorf("nodedir: the backup has no %s", name)
		}
	}
	return m, nil
}

func unpackFile(p string, r io.Reader, mode fs.FileMode) (err error) {
	f, err := os.OpenFile(p, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	if _, err = io.Copy(f, r); err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}
