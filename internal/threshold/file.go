// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package threshold

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/undersign/undersign/internal/failpoint"
)

// writeFile replaces a file, mode 0600: whoever looks, after a crash too, finds the old
// content or the new.
func writeFile(path string, data []byte) error {
	dir := filepath.Dir(path)
	f, err := os.CreateTemp(dir, "."+filepath.Base(path)+".*")
	if err != nil {
		return fmt.Errorf("threshold: %w", err)
	}
	defer os.Remove(f.Name()) // fails once it was renamed
	_, err = f.Write(data)
	if err == nil {
		err = f.Sync()
	}
	if e := f.Close(); err == nil {
		err = e
	}
	if err == nil {
		err = failpoint.Hit("threshold.file.written")
	}
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err == nil {
		err = failpoint.Hit("threshold.file.renamed")
	}
	if err == nil {
		err = syncDir(dir)
	}
	if err != nil {
		return fmt.Errorf("threshold: %w", err)
	}
	return nil
}

// removeFile removes a file durably. One that isn't there is no error.
func removeFile(path string) error {
	if err := os.Remove(path); err != nil && !os.IsNotExist(err) {
		return fmt.Errorf("threshold: %w", err)
	}
	if err := syncDir(filepath.Dir(path)); err != nil {
		return fmt.Errorf("threshold: %w", err)
	}
	return nil
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}

// makeDir makes a folder for the node alone, unless it is there.
func makeDir(path string) error {
	if err := os.MkdirAll(path, 0o700); err != nil {
		return fmt.Errorf("threshold: %w", err)
	}
	return nil
}
