// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package threshold

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"filippo.io/age"
	"filippo.io/age/plugin"

	"github.com/undersign/undersign/keyfile"
	"github.com/undersign/undersign/thresholdrsa"
)

// CheckName returns an error unless nodes can call a key that.
func CheckName(name string) error { return checkKeyFileName(name) }

// Hold puts a share file, or the file of a public key that is to be coordinated only, into
// a node's folder under a name, once it is certain that the node can open it. The node
// finds it when it starts.
func Hold(dir string, c Config, name string, file []byte, ui *plugin.ClientUI) (*thresholdrsa.PublicKey, error) {
	if err := checkKeyFileName(name); err != nil {
		return nil, err
	}
	path := filepath.Join(dir, keysDir, name+keySuffix)
	p, err := keyfile.ParseAs[*thresholdrsa.PublicKey](file)
	if err != nil {
		path = filepath.Join(dir, sharesDir, name+shareSuffix)
		if p, err = openHeld(dir, c, file, ui); err != nil {
			return nil, err
		}
	}
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("threshold: %s: %w", path, os.ErrExist)
	}
	if err := makeDir(filepath.Dir(path)); err != nil {
		return nil, err
	}
	return p, writeFile(path, file)
}

func openHeld(dir string, c Config, file []byte, ui *plugin.ClientUI) (*thresholdrsa.PublicKey, error) {
	o := Options{Config: c, Dir: dir, PluginUI: ui}
	l, err := o.lock()
	if err != nil {
		return nil, err
	}
	defer l.wipe()
	ids := l.identities
	if l.pass != nil {
		ids = append(ids[:len(ids):len(ids)], age.Identity(keyfile.PassphraseIdentity(l.passphrase)))
	}
	share, err := keyfile.OpenAs[*thresholdrsa.KeyShare](bytes.NewReader(file), ids...)
	if err != nil {
		return nil, err
	}
	defer share.Wipe()
	return share.PublicKey(), share.Check()
}

// CheckShares opens the shares in a node's folder, as the node does when it starts, and
// returns how many there are.
func CheckShares(dir string, c Config, ui *plugin.ClientUI) (n int, err error) {
	files, err := list(filepath.Join(dir, sharesDir), shareSuffix)
	if err != nil {
		return 0, err
	}
	for _, path := range files {
		data, err := os.ReadFile(path)
		if err != nil {
			return n, fmt.Errorf("threshold: %w", err)
		}
		if _, err := openHeld(dir, c, data, ui); err != nil {
			return n, fmt.Errorf("threshold: %s: %w", path, err)
		}
		n++
	}
	return n, nil
}
