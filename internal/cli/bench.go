// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import "github.com/spf13/cobra"

func newBenchCmd(e *env) *cobra.Command {
	c := newGroupCmd(e, "bench", "Measure what signatures by many cost", `
Measure what signatures by many cost, on this machine.`,
		newBenchChiaCmd(e),
		newBenchSurveyCmd(e),
	)
	c.Example = `  undersign bench chia
  undersign bench chia --in mainnet-spend-bundles.json
  undersign bench survey`
	return c
}
