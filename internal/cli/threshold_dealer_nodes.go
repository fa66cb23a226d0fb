// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/undersign/undersign/internal/nodedir"
	"github.com/undersign/undersign/internal/roster"
	"github.com/undersign/undersign/internal/threshold"
)

// holderOperations are what nodes that hold shares of one key must allow each other, so
// that any of them can coordinate and ceremonies work.
var holderOperations = []string{"threshold.share", "threshold.key", "threshold.ceremony"}

// A dealtNode is a node on this machine that is to hold a share.
type dealtNode struct {
	*idleNode
	dir     string
	address string
}

// openDealtNodes takes the folders of nodes, and looks for all that could be in the way of
// a share there: the key isn't made twice.
func (e *env) openDealtNodes(dirs []string, key string) (nodes []*dealtNode, err error) {
	defer func() {
		if err != nil {
			closeDealtNodes(nodes)
		}
	}()
	if err := threshold.CheckName(key); err != nil {
		return nil, failf(ExitUsage, "name the key with --name", "%w", err)
	}
	for _, dir := range dirs {
		idle, err := e.idleNode(dir)
		if err != nil {
			return nodes, err
		}
		n := &dealtNode{idleNode: idle, dir: dir}
		nodes = append(nodes, n)
		if n.cfg.Threshold.Unlock != "" || n.cfg.Threshold.PassphraseFile != "" {
			return nodes, withHint(fmt.Errorf("the node in %s opens shares by what its configuration names, and not by unlock.txt", dir),
				"give its recipient with --to, and it the share with \"undersign threshold hold\"")
		}
		if n.address, err = n.cfg.AdvertiseFor(n.cfg.Listen); err != nil {
			return nodes, err
		}
		if path := n.sharePath(key); exists(path) {
			return nodes, withHint(fmt.Errorf("%s exists already", path), "name this key otherwise with --name")
		}
	}
	for _, n := range nodes {
		for _, other := range nodes {
			if other == n {
				continue
			}
			if n.cfg.Name == other.cfg.Name {
				return nodes, withHint(fmt.Errorf("the nodes in %s and %s are both called %s", n.dir, other.dir, n.cfg.Name),
					"give one of them another name in its %s", nodedir.Config)
			}
			if m, ok := n.roster.Find(other.cfg.Name); ok && m.Fingerprint != other.id.Fingerprint() {
				return nodes, withHint(fmt.Errorf("the node in %s knows another party as %s", n.dir, other.cfg.Name),
					"give the node in %s another name in %s", other.dir, filepath.Join(other.dir, nodedir.Config))
			}
		}
	}
	return nodes, nil
}

func closeDealtNodes(nodes []*dealtNode) (err error) {
	for _, n := range nodes {
		err = errors.Join(err, n.close())
	}
	return err
}

func (n *dealtNode) sharePath(key string) string {
	return filepath.Join(n.dir, "shares", key+shareSuffix)
}

// dealtNames are what the nodes call themselves.
func dealtNames(nodes []*dealtNode) (names []string) {
	for _, n := range nodes {
		names = append(names, n.cfg.Name)
	}
	return names
}

// place gives each node its share, which it moves there, and has the nodes know each other
// and allow what holders of a key need.
func (d *dealer) place(holders []dealtHolder) error {
	if d.e.dryRun {
		return nil
	}
	name := ""
	for i, n := range d.nodes {
		data, err := os.ReadFile(holders[i].File)
		if err != nil {
			return err
		}
		p, err := threshold.Hold(n.dir, n.cfg.Threshold, d.flags.name, data, nil)
		if err != nil {
			return withHint(err, "the shares are in %s: give each to its node with \"undersign threshold hold\"", d.flags.out)
		}
		name = threshold.KeyName(p)
	}
	for _, n := range d.nodes {
		if err := n.introduce(d.nodes, name); err != nil {
			return withHint(fmt.Errorf("the node in %s has its share, and isn't set up further: %w", n.dir, err),
				"have the nodes join each other with \"undersign invite\" and \"undersign join\"")
		}
	}
	// The nodes have them now. What lies about longer than it must is found.
	for i, n := range d.nodes {
		if err := os.Remove(holders[i].File); err != nil {
			return err
		}
		holders[i].File = n.sharePath(d.flags.name)
	}
	return nil
}

// introduce has a node know the others, and allow them what is about one key.
func (n *dealtNode) introduce(all []*dealtNode, key string) error {
	var names []string
	for _, other := range all {
		if other == n {
			continue
		}
		m, ok := n.roster.Lookup(other.id.Fingerprint())
		if !ok {
			m = roster.Member{Name: other.cfg.Name, Key: other.id.PublicKey(), Address: other.address}
			if err := n.roster.Add(m); err != nil {
				return err
			}
			if err := n.record("node.accept", other.id.Fingerprint(), "introduced "+m.Name); err != nil {
				return err
			}
		}
		names = append(names, fmt.Sprintf("%q", m.Name))
	}
	return nodedir.AppendConfig(n.dir, fmt.Appendf(nil, "\n[[rule]]\nparties = [%s]\noperations = [%s]\nkeys = [%q]\n",
		strings.Join(names, ", "), `"`+strings.Join(holderOperations, `", "`)+`"`, key))
}

// addDealtNodeFlags are those of a dealing to nodes on this machine.
func addDealtNodeFlags(c *cobra.Command, f *dealerFlags) {
	c.Flags().StringArrayVar(&f.nodes, "node", nil, "deal to the node in `DIR`, on this machine: it holds the share, and the\nnodes know each other (repeatable, instead of --to)")
	c.Flags().StringVar(&f.name, "name", "", "what nodes are to call the key, `NAME` (default: that of the directory\nof -o); goes with --node")
	c.MarkFlagsMutuallyExclusive("node", "to")
	c.MarkFlagsMutuallyExclusive("node", "names")
}

// keyNameOf is what nodes call a key, unless they are told.
func keyNameOf(f dealerFlags) string {
	if f.name != "" {
		return f.name
	}
	if abs, err := filepath.Abs(f.out); err == nil {
		return filepath.Base(abs)
	}
	return filepath.Base(f.out)
}
