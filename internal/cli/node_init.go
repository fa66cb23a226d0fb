// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/undersign/undersign/internal/nodedir"
	"github.com/undersign/undersign/internal/roster"
	"github.com/undersign/undersign/node"
)

func newInitCmd(e *env) *cobra.Command {
	var dir, name, listen, advertise, metrics string
	c := &cobra.Command{
		Use:   "init",
		Short: "Make the folder of a node",
		Long: `Make the folder of a node: its key, by which others know it, a key that opens
its secrets, and undersign.toml, which says what it is like.

Others encrypt secrets for the node, such as shares of keys, to the age
recipient in recipient.txt. Both keys lie in the folder as they are: it must be
readable by the node alone.`,
		Example: `  undersign init --dir alice --name alice --listen 127.0.0.1:7071
  undersign init --dir /var/lib/undersign --listen 0.0.0.0:7070 --advertise sign.example.org:7070`,
		Args: noArgs,
		RunE: func(c *cobra.Command, args []string) error {
			if name == "" {
				name = defaultNodeName(dir)
			}
			cfg := node.Config{Dir: dir, Name: name, Listen: listen, Advertise: advertise, Metrics: metrics}
			if err := cfg.Check(); err != nil {
				return usagef(c, "%w", err)
			}
			if e.dryRun {
				e.notef("would make %s", dir)
				return nil
			}
			id, err := nodedir.Create(dir, []byte(configText(cfg)))
			if errors.Is(err, fs.ErrExist) {
				return withHint(err, "a node's files aren't replaced: take another folder with --dir")
			}
			if err != nil {
				return err
			}
			recipient, err := os.ReadFile(filepath.Join(dir, nodedir.Recipient))
			if err != nil {
				return err
			}
			result := struct {
				Dir         string `json:"dir"`
				Name        string `json:"name"`
				Fingerprint string `json:"fingerprint"`
				Recipient   string `json:"recipient"`
				Listen      string `json:"listen"`
			}{dir, name, id.Fingerprint(), strings.TrimSpace(string(recipient)), listen}
			return e.print(result, func(w io.Writer) {
				fmt.Fprintf(w, "Made the node %s in %s, which will listen on %s.\n", name, dir, listen)
				fmt.Fprintf(w, "fingerprint  %s\nrecipient    %s\n", result.Fingerprint, result.Recipient)
			})
		},
	}
	addDirFlag(c, &dir)
	c.Flags().StringVar(&name, "name", "", "what the node calls itself, a `NAME` (default: that of the folder)")
	c.Flags().StringVar(&listen, "listen", node.DefaultListen, "wait for others at `HOST:PORT`; a port of 0 is one that is free")
	c.Flags().StringVar(&advertise, "advertise", "", "others reach the node at `HOST:PORT`, if that isn't --listen")
	c.Flags().StringVar(&metrics, "metrics", "", "answer /metrics, /healthz and /readyz at the loopback address `HOST:PORT`")
	return describe(c, "dir, name, fingerprint, recipient, listen")
}

// defaultNodeName returns the folder's name, if a node can be called that.
func defaultNodeName(dir string) string {
	if abs, err := filepath.Abs(dir); err == nil && roster.CheckName(filepath.Base(abs)) == nil {
		return filepath.Base(abs)
	}
	return "node"
}

// configText returns the file of a new node's configuration, with what else it could say.
func configText(cfg node.Config) string {
	optional := func(name, value, example string) string {
		if value == "" {
			return fmt.Sprintf("# %s = %q", name, example)
		}
		return fmt.Sprintf("%s = %q", name, value)
	}
	host, port, _ := net.SplitHostPort(cfg.Listen)
	if port == "0" {
		port = "7070"
	}
	if host == "" || host == "0.0.0.0" || host == "::" {
		host = "sign.example.org"
	}
	return fmt.Sprintf(`# A node of undersign. "undersign serve --check" reads this file and says what is
# wrong with it; a node that runs reads it again on SIGHUP.

name = %q
listen = %q
# Where others reach the node, if that isn't where it listens.
%s
# Metrics, health and readiness, by plain HTTP on this machine only.
%s

[log]
level = "info" # debug, info, warn or error
format = "text" # or json

# [limits]
# message = 4194304 # bytes
# call = "30s"
# calls = 64 # of one party at a time
# connections = 1024
# store-bytes = 0 # no limit
# drain = "10s"

# Who may do what. What no rule allows is denied. Parties are named as in
# "undersign invite --name", or by fingerprint; an operation may end with .*
#
# [[rule]]
# parties = ["bob"]
# operations = ["node.status"]
# rate = "10/s"
`, cfg.Name, cfg.Listen, optional("advertise", cfg.Advertise, net.JoinHostPort(host, port)), optional("metrics", cfg.Metrics, "127.0.0.1:9090"))
}
