// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"encoding/hex"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/undersign/undersign/client"
	"github.com/undersign/undersign/distill"
)

func newAggregateGetCmd(e *env) *cobra.Command {
	var dir string
	c := &cobra.Command{
		Use:   "get NONCE",
		Short: "Ask validators what became of a message",
		Long: `Ask the network's validators what became of a message of the client that is
registered in a folder, and believe what so many of them say that one of them
is honest.`,
		Example: `  undersign aggregate get 1 --dir carol`,
		Args:    nargs(1, 1, "a nonce"),
		RunE: func(c *cobra.Command, args []string) (err error) {
			nonce, err := strconv.ParseUint(args[0], 10, 64)
			if err != nil || nonce == 0 {
				return usagef(c, "%q isn't a number from 1 on", args[0])
			}
			d, err := e.clientDir(dir)
			if err != nil {
				return err
			}
			defer d.closeInto(&err)
			ctx, cancel := context.WithTimeout(c.Context(), aggregateTime)
			defer cancel()
			look, err := client.Lookup(ctx, d.gateway(), d.reg.ID, nonce, math.MaxUint64)
			if err != nil {
				return nodeCallError(d.id, err)
			}
			r := struct {
				outcomeResult
				PayloadHash string `json:"payload_hash,omitempty"`
				At          uint64 `json:"at_height"`
			}{outcomeResult{ID: look.ID, Nonce: look.Nonce, Outcome: strings.ToLower(strings.ReplaceAll(look.Code.String(), "_", " ")), AppCode: look.AppCode, Height: look.ExecHeight}, "", look.Height}
			if look.Code == distill.LookExecuted {
				r.Code, r.PayloadHash = look.FirstCode.String(), hex.EncodeToString(look.PayloadHash[:])
			}
			return e.print(r, func(w io.Writer) { fmt.Fprintln(w, r.outcomeResult) })
		},
	}
	c.Flags().StringVar(&dir, "dir", ".", "the client's folder `DIR`")
	describe(c, "id, nonce, outcome, code, app_code, height, payload_hash, at_height", ExitRefused)
	describeExit(c, ExitRefused, "no rule of the validators allows it")
	return c
}
