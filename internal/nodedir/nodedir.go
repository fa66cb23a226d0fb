// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

// Package nodedir is the folder that a node lives in: what its files are called, who may
// read them, and which process has it.
package nodedir

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"filippo.io/age"

	"github.com/undersign/undersign/internal/party"
	"github.com/undersign/undersign/keyfile"
)

// Names of the files.
const (
	Config    = "undersign.toml" // written by people
	Identity  = "identity.pem"   // the node's key
	Store     = "store.db"       // and store.db-wal, store.db-shm while it is open
	Audit     = "audit.jsonl"
	LockName  = "node.lock"
	Unlock    = "unlock.txt"    // an age identity, which opens the secrets of services
	Recipient = "recipient.txt" // its recipient, to which others encrypt them
	Snapshots = ".snapshot-"    // begins the names of copies of the store
)

// Create makes a folder for a node: a new identity, a key that opens secrets, and a
// configuration. The folder may exist, if none of these is in it.
func Create(dir string, config []byte) (*party.Identity, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("nodedir: %w", err)
	}
	for _, name := range []string{Identity, Config, Unlock, Recipient, Store, Audit} {
		if _, err := os.Lstat(filepath.Join(dir, name)); err == nil {
			return nil, fmt.Errorf("nodedir: %s: %w", filepath.Join(dir, name), fs.ErrExist)
		}
	}
	if err := os.Chmod(dir, 0o700); err != nil {
		return nil, fmt.Errorf("nodedir: %w", err)
	}
	key, err := party.GenerateKey()
	if err != nil {
		return nil, err
	}
	defer key.Wipe()
	identity, err := keyfile.EncodeInsecurePlaintext(key, "The key of a node. It must be readable by the node alone.")
	if err != nil {
		return nil, err
	}
	defer clear(identity)
	unlock, err := age.GenerateX25519Identity()
	if err != nil {
		return nil, fmt.Errorf("nodedir: %w", err)
	}
	recipient := unlock.Recipient().String()
	secret := fmt.Appendf(nil, "# Opens the secrets of this node.\n# public key: %s\n%s\n", recipient, unlock)
	defer clear(secret)
	var made []string
	// The identity comes last: a folder with one is complete.
	for _, f := range []struct {
		name string
		data []byte
		mode fs.FileMode
	}{
		{Unlock, secret, 0o600},
		{Recipient, []byte(recipient + "\n"), 0o644},
		{Config, config, 0o600},
		{Identity, identity, 0o600},
	} {
		path := filepath.Join(dir, f.name)
		if err := WriteNew(path, f.data, f.mode); err != nil {
			// Half a folder would be in the way of another try.
			for _, p := range append(made, path) {
				os.Remove(p)
			}
			return nil, err
		}
		made = append(made, path)
	}
	if err := SyncDir(dir); err != nil {
		return nil, err
	}
	return ReadIdentity(dir)
}

// WriteNew writes a file that mustn't exist, durably.
func WriteNew(path string, data []byte, mode fs.FileMode) (err error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return fmt.Errorf("nodedir: %w", err)
	}
	if _, err = f.Write(data); err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("nodedir: %w", err)
	}
	return nil
}

// Replace gives a file other content, at once and durably.
func Replace(path string, data []byte, mode fs.FileMode) error {
	temp := path + ".new"
	if err := os.Remove(temp); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("nodedir: %w", err)
	}
	if err := WriteNew(temp, data, mode); err != nil {
		return err
	}
	if err := os.Rename(temp, path); err != nil {
		return fmt.Errorf("nodedir: %w", err)
	}
	return SyncDir(filepath.Dir(path))
}

// SyncDir makes the names in a folder durable.
func SyncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return fmt.Errorf("nodedir: %w", err)
	}
	err = d.Sync()
	if cerr := d.Close(); err == nil {
		err = cerr
	}
	if err != nil && runtime.GOOS != "windows" {
		return fmt.Errorf("nodedir: %w", err)
	}
	return nil
}

// ErrNone is in the error about a folder that no node lives in.
var ErrNone = errors.New("nodedir: not the folder of a node")

// ReadIdentity reads the node's key, which nobody else may be able to.
func ReadIdentity(dir string) (*party.Identity, error) {
	path := filepath.Join(dir, Identity)
	fi, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w: %s has no %s", ErrNone, dir, Identity)
	}
	if err != nil {
		return nil, fmt.Errorf("nodedir: %w", err)
	}
	if !private(fi) {
		return nil, &ModeError{path, fi.Mode().Perm(), 0o600}
	}
	if fi.Size() > 64<<10 {
		return nil, fmt.Errorf("nodedir: %s is too large for a key", path)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("nodedir: %w", err)
	}
	defer clear(data)
	v, err := keyfile.ParseInsecurePlaintext(data)
	if err != nil {
		return nil, fmt.Errorf("nodedir: %s: %w", path, err)
	}
	key, ok := v.(*keyfile.PartyKey)
	if !ok {
		return nil, fmt.Errorf("nodedir: %s: %w", path, &keyfile.TypeError{Want: keyfile.Type(key), Got: keyfile.Type(v)})
	}
	return party.NewIdentity(key)
}

// A ModeError says that others may read or change what is the node's.
type ModeError struct {
	Path string
	Mode fs.FileMode
	Mend fs.FileMode
}

func (e *ModeError) Error() string {
	return fmt.Sprintf("nodedir: others may read or change %s (mode %04o)", e.Path, e.Mode)
}

func private(fi fs.FileInfo) bool {
	return runtime.GOOS == "windows" || fi.Mode().Perm()&0o077 == 0
}

// CheckModes returns an error for each file that others may read or change, and for the
// folder.
func CheckModes(dir string) (problems []error) {
	fi, err := os.Stat(dir)
	if err != nil {
		return []error{fmt.Errorf("nodedir: %w", err)}
	}
	if !private(fi) {
		problems = append(problems, &ModeError{dir, fi.Mode().Perm(), 0o700})
	}
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			problems = append(problems, fmt.Errorf("nodedir: %w", err))
			return nil
		}
		if d.IsDir() || filepath.Base(path) == Recipient {
			return nil
		}
		fi, err := d.Info()
		if err == nil && fi.Mode().IsRegular() && runtime.GOOS != "windows" && fi.Mode().Perm()&0o022 != 0 {
			problems = append(problems, &ModeError{path, fi.Mode().Perm(), fi.Mode().Perm() &^ 0o022})
		} else if err == nil && slices.Contains([]string{Identity, Unlock, Store}, filepath.Base(path)) && !private(fi) {
			problems = append(problems, &ModeError{path, fi.Mode().Perm(), 0o600})
		}
		return nil
	})
	return append(problems, nonNil(err)...)
}

func nonNil(err error) []error {
	if err == nil {
		return nil
	}
	return []error{err}
}

// AppendConfig adds lines to the end of the configuration.
func AppendConfig(dir string, text []byte) error {
	path := filepath.Join(dir, Config)
	data, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("nodedir: %w", err)
	}
	fi, err := os.Stat(path)
	if err != nil {
		return fmt.Errorf("nodedir: %w", err)
	}
	if len(data) > 0 && !bytes.HasSuffix(data, []byte("\n")) {
		data = append(data, '\n')
	}
	return Replace(path, append(data, text...), fi.Mode().Perm())
}

// RemoveSnapshots deletes copies of the store that a backup has left, which didn't come to
// its end.
func RemoveSnapshots(dir string) error {
	entries, err := os.ReadDir(dir)
	for _, entry := range entries {
		if strings.HasPrefix(entry.Name(), Snapshots) {
			err = errors.Join(err, os.Remove(filepath.Join(dir, entry.Name())))
		}
	}
	if err != nil {
		return fmt.Errorf("nodedir: %w", err)
	}
	return nil
}
