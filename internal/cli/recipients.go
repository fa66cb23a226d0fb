// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"filippo.io/age"
	"github.com/spf13/cobra"

	"github.com/undersign/undersign/keyfile"
)

// holderFlags name those who get secrets.
type holderFlags struct {
	to    []string
	names []string
}

func addHolderFlags(c *cobra.Command, f *holderFlags) {
	c.Flags().StringSliceVar(&f.to, "to", nil, "age recipients `FILE,...`, one a holder, in the order of the indices")
	c.Flags().StringSliceVar(&f.names, "names", nil, "`NAME,...` of the holders (default: the names of the files)")
}

// A holder is somebody who gets a secret.
type holder struct {
	name string
	to   []age.Recipient
}

// readHolders reads the recipients files. A holder is called as its file is,
// without the extension, unless names are given.
func (e *env) readHolders(ctx context.Context, f holderFlags) ([]holder, error) {
	if len(f.names) > 0 && len(f.names) != len(f.to) {
		return nil, failf(ExitUsage, "", "--names has %d names, and --to %d files", len(f.names), len(f.to))
	}
	var holders []holder
	index := map[string]int{} // by lower-case name: file systems may fold case
	keys := map[string]int{}
	for i, file := range f.to {
		h := holder{name: holderName(file)}
		if len(f.names) > 0 {
			h.name = f.names[i]
		}
		if err := checkHolderName(h.name); err != nil {
			return nil, err
		}
		if j, ok := index[strings.ToLower(h.name)]; ok {
			return nil, failf(ExitUsage, "give other names with --names", "holders %d and %d are both called %s", j+1, i+1, h.name)
		}
		index[strings.ToLower(h.name)] = i
		var err error
		if h.to, err = e.readRecipients(ctx, file); err != nil {
			return nil, err
		}
		// One key for two holders makes one person of them.
		for _, r := range h.to {
			s, ok := r.(fmt.Stringer)
			if !ok {
				continue
			}
			if j, ok := keys[s.String()]; ok && j != i {
				return nil, failf(ExitUsage, "", "holders %d and %d have the same recipient, %s", j+1, i+1, s)
			}
			keys[s.String()] = i
		}
		holders = append(holders, h)
	}
	return holders, nil
}

// readRecipients reads one age recipients file.
func (e *env) readRecipients(ctx context.Context, file string) ([]age.Recipient, error) {
	r, err := e.openInput(ctx, file)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	to, err := keyfile.ParseRecipients(r, &keyfile.Options{PluginUI: e.pluginUI()})
	if err != nil {
		return nil, fileError(file, err)
	}
	return to, nil
}

// holderName returns what a holder is called who is known by a file only.
func holderName(file string) string {
	base := filepath.Base(file)
	if name := strings.TrimSuffix(base, filepath.Ext(base)); name != "" {
		return name
	}
	return base
}

// checkHolderName refuses names that can't be part of a file name everywhere.
// thresholdrsa has rules of its own on top.
func checkHolderName(name string) error {
	ok := name != "" && name[0] != '.' && name[0] != '-' && len(name) <= 64 &&
		!strings.ContainsFunc(name, func(r rune) bool {
			return r < 0x20 || r == 0x7f || strings.ContainsRune(`/\:*?"<>|,`, r)
		})
	if !ok {
		return failf(ExitUsage, "give other names with --names", "%q can't be a holder's name", name)
	}
	return nil
}
