// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"unicode"
	"unicode/utf8"

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
	names := f.names
	if len(names) == 0 {
		for _, file := range f.to {
			names = append(names, holderName(file))
		}
	}
	if len(names) != len(f.to) {
		return nil, failf(ExitUsage, "", "--names has %d names, and --to %d files", len(names), len(f.to))
	}
	holders, err := namedHolders(names)
	if err != nil {
		return nil, err
	}
	seen := map[string]int{}
	for i, file := range f.to {
		if holders[i].to, err = e.readRecipients(ctx, file); err != nil {
			return nil, err
		}
		// One key for two holders makes one person of them.
		for _, r := range holders[i].to {
			s, ok := r.(fmt.Stringer)
			if !ok {
				continue
			}
			if j, ok := seen[s.String()]; ok && j != i {
				return nil, failf(ExitUsage, "", "%s and %s have the same recipient, %s", names[j], names[i], s)
			}
			seen[s.String()] = i
		}
	}
	return holders, nil
}

// namedHolders returns holders of different names.
func namedHolders(names []string) ([]holder, error) {
	var holders []holder
	seen := map[string]int{} // in lower case: file systems may fold it
	for i, name := range names {
		if err := checkHolderName(name); err != nil {
			return nil, err
		}
		if j, ok := seen[strings.ToLower(name)]; ok {
			return nil, failf(ExitUsage, "give other names with --names", "holders %d and %d are both called %s", j+1, i+1, name)
		}
		seen[strings.ToLower(name)] = i
		holders = append(holders, holder{name: name})
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
	ok := name != "" && name[0] != '.' && name[0] != '-' && len(name) <= 64 && utf8.ValidString(name) &&
		!strings.ContainsFunc(name, func(r rune) bool {
			return !unicode.IsPrint(r) || strings.ContainsRune(`/\:*?"<>|,`, r)
		})
	if !ok {
		return failf(ExitUsage, "give other names with --names", "%q can't be a holder's name", name)
	}
	return nil
}
