// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/undersign/undersign/internal/nodedir"
	"github.com/undersign/undersign/internal/roster"
	"github.com/undersign/undersign/internal/threshold"
	"github.com/undersign/undersign/keyfile"
	"github.com/undersign/undersign/node"
)

func newServeCmd(e *env) *cobra.Command {
	var dir string
	var check bool
	c := &cobra.Command{
		Use:   "serve",
		Short: "Run a node",
		Long: `Run the node in a folder until it is interrupted or terminated. Calls under way
are finished first, and what was acknowledged is on disk.

SIGHUP makes it read undersign.toml again: rules, the level of the log and the
limits of calls change at once, the rest with the next start. A file that is
wrong changes nothing. Logs go to standard error.

With --check nothing runs: the configuration and the folder are looked at, also
while the node runs. With --timeout the node ends by itself.`,
		Example: `  undersign serve --dir alice
  undersign serve --dir /var/lib/undersign --check`,
		Args: noArgs,
		RunE: func(c *cobra.Command, args []string) error {
			if check || e.dryRun {
				return e.checkNode(dir)
			}
			return e.serve(c.Context(), dir)
		},
	}
	addDirFlag(c, &dir)
	c.Flags().BoolVar(&check, "check", false, "look at the configuration, and don't run")
	return describe(c, "address, fingerprint, metrics; with --check: dir, fingerprint, rules, shares, unknown, unknown_operations")
}

// serve runs a node until ctx ends.
func (e *env) serve(ctx context.Context, dir string) error {
	cfg, err := loadNodeConfig(dir)
	if err != nil {
		return err
	}
	cfg.Level = new(slog.LevelVar)
	var level slog.Leveler = cfg.Level
	if e.quiet {
		level = slog.LevelError
	}
	cfg.Logger = e.nodeLogger(cfg.Log.Format, level)
	n, err := node.New(cfg)
	if errors.Is(err, nodedir.ErrRunning) {
		return withHint(err, "\"undersign status --dir %s\" asks it how it is", dir)
	}
	if err != nil {
		return serveError(dir, nodeDirError(dir, err))
	}
	hup := make(chan os.Signal, 1)
	signal.Notify(hup, syscall.SIGHUP)
	defer signal.Stop(hup)
	done := make(chan error, 1)
	go func() { done <- n.Run(ctx) }()
	var printed error
	ready := n.Ready()
	ending := ctx.Done()
	for {
		select {
		case <-ready:
			ready = nil
			notifySystemd("READY=1")
			printed = e.print(serveResult(n), func(w io.Writer) {
				fmt.Fprintf(w, "Serving at %s as %s.\n", n.Addr(), n.Fingerprint())
			})
		case <-hup:
			notifySystemd(reloadingState())
			if _, err := n.Reload(); err != nil {
				cfg.Logger.Error("the configuration isn't changed", "error", err)
			}
			notifySystemd("READY=1")
		case <-ending:
			ending = nil
			notifySystemd("STOPPING=1")
		case err := <-done:
			return errors.Join(serveError(dir, err), printed)
		}
	}
}

func serveResult(n *node.Node) any {
	r := struct {
		Address     string `json:"address"`
		Fingerprint string `json:"fingerprint"`
		Metrics     string `json:"metrics,omitempty"`
	}{n.Addr().String(), n.Fingerprint(), ""}
	if a := n.MetricsAddr(); a != nil {
		r.Metrics = a.String()
	}
	return r
}

// checkNode looks at a node's folder, and changes nothing.
func (e *env) checkNode(dir string) error {
	cfg, err := loadNodeConfig(dir)
	if err != nil {
		return err
	}
	id, err := readNodeIdentity(dir)
	if err != nil {
		return err
	}
	for _, err := range nodedir.CheckModes(dir) {
		return nodeDirError(dir, err)
	}
	if err := cfg.Aggregate.CheckFiles(dir); err != nil {
		return err
	}
	shares, err := threshold.CheckShares(dir, cfg.Threshold, e.pluginUI())
	if err != nil {
		return shareError(err)
	}
	if a := cfg.Aggregate; a.Validator != nil && len(a.Validators) > 1 && a.NATS == nil { // as serve will find
		return serveError(dir, errors.New("aggregate: several validators need a queue that they share"))
	}
	result := struct {
		Dir               string   `json:"dir"`
		Fingerprint       string   `json:"fingerprint"`
		Rules             int      `json:"rules"`
		Shares            int      `json:"shares"`
		Unknown           []string `json:"unknown"`
		UnknownOperations []string `json:"unknown_operations"`
	}{dir, id.Fingerprint(), len(cfg.Rules), shares, []string{}, []string{}}
	for _, r := range cfg.Rules {
		for _, op := range unknownOperations(r.Operations) {
			if !slices.Contains(result.UnknownOperations, op) {
				result.UnknownOperations = append(result.UnknownOperations, op)
			}
		}
	}
	// Who is known is in the store, which a node that runs has open.
	if _, err := os.Stat(filepath.Join(dir, nodedir.Store)); err == nil {
		list, err := e.parties(context.Background(), dir)
		if err != nil {
			return err
		}
		for _, r := range cfg.Rules {
			for _, name := range r.Parties {
				known := name == "*" || roster.CheckName(name) != nil // a fingerprint
				for _, p := range list {
					known = known || p.Name == name
				}
				if !known && !slices.Contains(result.Unknown, name) {
					result.Unknown = append(result.Unknown, name)
				}
			}
		}
	}
	return e.print(result, func(w io.Writer) {
		fmt.Fprintf(w, "%s is in order: %s.\n", filepath.Join(dir, nodedir.Config), countOf(result.Rules, "rule"))
		if shares > 0 {
			fmt.Fprintf(w, "Shares that can be opened: %d\n", shares)
		}
		if len(result.UnknownOperations) > 0 {
			fmt.Fprintf(w, "Rules name operations that no service has: %s\n", strings.Join(result.UnknownOperations, ", "))
		}
		if len(result.Unknown) > 0 {
			fmt.Fprintf(w, "Rules name parties that haven't joined: %s\n", strings.Join(result.Unknown, ", "))
		}
	})
}

// serveError adds hints to errors about what a node needs to run.
func serveError(dir string, err error) error {
	if errors.Is(err, syscall.EADDRINUSE) {
		return withHint(err, "another process listens there: stop it, or change listen or metrics in %s", filepath.Join(dir, nodedir.Config))
	}
	if err != nil && strings.Contains(err.Error(), "need a queue that they share") {
		return withHint(err, "add [aggregate.nats] to %s", filepath.Join(dir, nodedir.Config))
	}
	return shareError(err)
}

// shareError adds a hint to the error about a share that the node can't open.
func shareError(err error) error {
	if errors.Is(err, keyfile.ErrNoIdentity) || errors.Is(err, keyfile.ErrPassphrase) {
		return withHint(err, "look at unlock and passphrase-file below [threshold] in %s: left out, %s opens shares", nodedir.Config, nodedir.Unlock)
	}
	return err
}
