// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import "github.com/spf13/cobra"

func newSM2Cmd(e *env) *cobra.Command {
	c := newGroupCmd(e, "sm2", "Verify SM2 signatures in bulk", `
SM2 signatures (GB/T 32918.2), many at a time.`,
		// One line a command, in the order in which help lists them.
		newSM2PaperTableCmd(e),
	)
	c.Example = `  undersign sm2 paper-table
  undersign sm2 paper-table --randomizer 128`
	return c
}
