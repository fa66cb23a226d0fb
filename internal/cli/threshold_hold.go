// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/spf13/cobra"

	"github.com/undersign/undersign/internal/threshold"
	"github.com/undersign/undersign/keyfile"
)

func newThresholdHoldCmd(e *env) *cobra.Command {
	var dir, name string
	c := &cobra.Command{
		Use:   "hold SHARE --name NAME",
		Short: "Give a node its share of a key",
		Long: `Put a share into a node's folder, under the name that the node is to give the
key. The share must be encrypted to the node: to the recipient in recipient.txt,
or to what undersign.toml names under [threshold]. A node that runs finds it
when it starts the next time.

With a threshold public key instead of a share the node coordinates: it signs
nothing itself.`,
		Example: `  undersign threshold hold key/alice.share --name code --dir alice
  undersign threshold hold key/threshold.pub --name code --dir front`,
		Args: nargs(1, 1, "a share or a threshold public key"),
		RunE: func(c *cobra.Command, args []string) error {
			cfg, err := loadNodeConfig(dir)
			if err != nil {
				return err
			}
			data, err := e.readInput(c.Context(), args[0], maxObject)
			if err != nil {
				return err
			}
			if e.dryRun {
				e.notef("would put %s into %s", inputName(args[0]), dir)
				return nil
			}
			p, err := threshold.Hold(dir, cfg.Threshold, name, data, e.pluginUI())
			switch {
			case errors.Is(err, keyfile.ErrNoIdentity), errors.Is(err, keyfile.ErrPassphrase):
				return withHint(fileError(args[0], err), "have it encrypted to the recipient in %s/recipient.txt", dir)
			case errors.Is(err, fs.ErrExist):
				return withHint(err, "choose another --name")
			case err != nil:
				return fileError(args[0], err)
			}
			result := struct {
				Name        string `json:"name"`
				Key         string `json:"key"`
				Fingerprint string `json:"fingerprint"`
			}{name, threshold.KeyName(p), keyfile.Fingerprint(p)}
			return e.print(result, func(w io.Writer) {
				fmt.Fprintf(w, "The node in %s holds %s, which rules call %s.\n", dir, result.Name, result.Key)
			})
		},
	}
	addDirFlag(c, &dir)
	c.Flags().StringVar(&name, "name", "", "what the node is to call the key, `NAME`")
	c.MarkFlagRequired("name")
	return describe(c, "name, key, fingerprint")
}
