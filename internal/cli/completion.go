// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import "github.com/spf13/cobra"

func newCompletionCmd(e *env) *cobra.Command {
	c := &cobra.Command{
		Use:   "completion bash|zsh|fish|powershell",
		Short: "Print a completion script for a shell",
		Long: `Print a script that completes undersign's commands and flags in a shell.

For bash, which needs the bash-completion package, source it from ~/.bashrc; for
zsh, put it into a directory of $fpath under the name _undersign.`,
		Example: `  source <(undersign completion bash)
  undersign completion zsh > "${fpath[1]}/_undersign"
  undersign completion fish > ~/.config/fish/completions/undersign.fish`,
		Args:      cobra.MatchAll(nargs(1, 1, "the name of a shell"), cobra.OnlyValidArgs),
		ValidArgs: []string{"bash", "zsh", "fish", "powershell"},
		RunE: func(c *cobra.Command, args []string) error {
			root := c.Root()
			switch args[0] {
			case "bash":
				return root.GenBashCompletionV2(e.stdout, true)
			case "zsh":
				return root.GenZshCompletion(e.stdout)
			case "fish":
				return root.GenFishCompletion(e.stdout, true)
			default:
				return root.GenPowerShellCompletionWithDesc(e.stdout)
			}
		},
	}
	return describe(c, "")
}
