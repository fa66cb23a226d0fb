// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/undersign/undersign/distill"
	"github.com/undersign/undersign/internal/aggregate/load"
	"github.com/undersign/undersign/internal/nodedir"
	"github.com/undersign/undersign/keyfile"
)

type aggregateLoadFlags struct {
	dir, at, directory, genesis, mode, seed, state string
	aggregator                                     uint64
	identities, connections, payload, rate         int
	separate                                       bool
	duration, warmup                               time.Duration
}

// A loadState is what a load remembers: the ids of its identities.
type loadState struct {
	Network string   `json:"network"`
	Seed    string   `json:"seed"`
	Spans   []idSpan `json:"spans"`
}

// An idSpan is ids one after the other.
type idSpan struct {
	First uint64 `json:"first"`
	Count uint64 `json:"count"`
}

func (s *loadState) ids() (ids []uint64) {
	for _, x := range s.Spans {
		for i := range x.Count {
			ids = append(ids, x.First+i)
		}
	}
	return ids
}

func (s *loadState) add(ids []uint64) {
	for _, id := range ids {
		if n := len(s.Spans); n > 0 && s.Spans[n-1].First+s.Spans[n-1].Count == id {
			s.Spans[n-1].Count++
		} else {
			s.Spans = append(s.Spans, idSpan{id, 1})
		}
	}
}

// aggregateModes are the modes as flags name them, in the order of the constants.
var aggregateModes = []string{"ed25519", "folded", "lean"}

func parseAggregateMode(c *cobra.Command, name string) (distill.Mode, error) {
	for i, n := range aggregateModes {
		if n == name {
			return distill.Mode(i), nil
		}
	}
	return 0, usagef(c, "--mode %q isn't ed25519, folded or lean", name)
}

func newAggregateLoadCmd(e *env) *cobra.Command {
	var f aggregateLoadFlags
	c := &cobra.Command{
		Use:   "load",
		Short: "Put an aggregator under load",
		Long: `Play thousands of clients of an aggregator, and measure. Each submits a message,
checks that it is in the tree that it is shown, signs, verifies its receipt, and
submits the next one. What counts is messages that were acknowledged, which
means that they are on disk, and that have a receipt.

The clients' keys follow from the seed and from each other, so that signing
costs little; they protect nothing. They are registered the first time, which
takes a millisecond or two each, and their ids are kept in the state file.`,
		Example: `  undersign aggregate load --dir bob --genesis test.genesis --at alice
  undersign aggregate load --dir bob --genesis test.genesis --at alice --identities 100000 --connections 64 --duration 60s`,
		Args: noArgs,
	}
	fl := c.Flags()
	addNodeFlags(c, &f.dir, &f.at)
	fl.StringVar(&f.directory, "directory", "", "register with the node at `URL`, or with this name (default: --at)")
	fl.StringVar(&f.genesis, "genesis", "", "the network's genesis `FILE`")
	fl.Uint64Var(&f.aggregator, "aggregator", 1, "the aggregator's `ID` in the genesis")
	fl.StringVar(&f.mode, "mode", "ed25519", "the aggregator's `MODE`: ed25519 or lean")
	fl.StringVar(&f.seed, "seed", "load", "make keys of `TEXT`")
	fl.StringVar(&f.state, "state", "load.json", "keep the ids of identities in `FILE`")
	fl.IntVar(&f.identities, "identities", 1000, "play `N` clients")
	fl.IntVar(&f.connections, "connections", 16, fmt.Sprintf("in `N` sessions, %d at most without --separate", load.MaxConnections))
	fl.BoolVar(&f.separate, "separate", false, fmt.Sprintf("each session in a TCP connection of its own, %d at most", load.MaxSeparate))
	fl.IntVar(&f.payload, "payload", 32, "`BYTES` of a message, 16 at least")
	fl.IntVar(&f.rate, "rate", 0, "submit `N` messages a second (default: each after the receipt of the one before)")
	fl.DurationVar(&f.duration, "duration", 20*time.Second, "measure for so `LONG`")
	fl.DurationVar(&f.warmup, "warmup", 5*time.Second, "after so `LONG`")
	c.RunE = func(c *cobra.Command, args []string) error {
		mode, err := parseAggregateMode(c, f.mode)
		sessions := load.MaxConnections
		if f.separate {
			sessions = load.MaxSeparate
		}
		switch {
		case err != nil:
			return err
		case mode == distill.ModeFolded:
			return usagef(c, "--mode folded isn't for load: each message takes a signature that can't be made by adding")
		case f.genesis == "":
			return usagef(c, "--genesis is needed")
		case f.identities < 1 || f.identities > 10_000_000:
			return usagef(c, "--identities is from 1 to 10000000, not %d", f.identities)
		case f.connections < 1 || f.connections > sessions:
			return usagef(c, "--connections is from 1 to %d, not %d", sessions, f.connections)
		case f.payload < 16 || f.payload > 64<<10:
			return usagef(c, "--payload is from 16 to 65536, not %d", f.payload)
		case f.duration <= 0 || f.warmup < 0 || f.rate < 0:
			return usagef(c, "--duration, --warmup and --rate aren't negative")
		}
		return e.aggregateLoad(c.Context(), &f, mode)
	}
	return describe(c, "identities, connections, seconds, submitted, acknowledged, receipted, receipted_per_second, refused, throttled, resent, repeated, bad, broken, ack_ms and receipt_ms [p50, p90, p99, max], memory_bytes, left")
}

func (e *env) readGenesis(ctx context.Context, file string) (*distill.Genesis, error) {
	data, err := e.readInput(ctx, file, maxObject)
	if err != nil {
		return nil, err
	}
	g := new(distill.Genesis)
	if err := g.UnmarshalBinary(data); err != nil {
		return nil, failf(ExitError, "give the file that \"undersign aggregate genesis\" has written", "%s: %w", inputName(file), err)
	}
	return g, nil
}

func (e *env) aggregateLoad(ctx context.Context, f *aggregateLoadFlags, mode distill.Mode) error {
	id, err := readNodeIdentity(f.dir)
	if err != nil {
		return err
	}
	genesis, err := e.readGenesis(ctx, f.genesis)
	if err != nil {
		return err
	}
	address, _, err := e.nodeAddress(ctx, f.dir, f.at)
	if err != nil {
		return err
	}
	key := &keyfile.PartyKey{Key: id.SigningKey()}
	st, err := readLoadState(f.state, genesis, f.seed)
	if err != nil {
		return err
	}
	p := e.startProgress()
	defer p.done()
	if have := len(st.ids()); have < f.identities {
		directory := f.directory
		if directory == "" {
			directory = f.at
		}
		address, fingerprint, err := e.nodeAddress(ctx, f.dir, directory)
		if err != nil {
			return err
		}
		ids, err := load.Register(ctx, key, genesis, fingerprint, address, f.seed, have, f.identities, func(done int) {
			p.update("registered %d of %d", done, f.identities)
		})
		st.add(ids)
		if len(ids) > 0 {
			if err := writeLoadState(f.state, st); err != nil {
				return err
			}
		}
		if err != nil {
			return nodeCallError(id, err)
		}
	}
	report, err := load.Run(ctx, load.Config{
		Key: key, Genesis: genesis, Aggregator: f.aggregator, Address: address, Mode: mode, Seed: f.seed,
		IDs: st.ids()[:f.identities], Connections: f.connections, Separate: f.separate, Payload: f.payload, Rate: f.rate,
		Warmup: f.warmup, Duration: f.duration,
		Progress: func(x load.Progress) {
			p.update("%d acknowledged, %d receipted a second, %d waiting", x.Acknowledged, x.Receipted, x.Waiting)
		},
	})
	if err != nil {
		return err
	}
	p.done()
	return e.print(report, func(w io.Writer) {
		fmt.Fprintf(w, "%.0f messages a second, of %d clients in %d sessions: acknowledged as durable, and receipted.\n", report.PerSecond, report.Identities, report.Connections)
		fmt.Fprintf(w, "acknowledged after  %s\n", percentilesText(report.Ack))
		fmt.Fprintf(w, "receipted after     %s\n", percentilesText(report.Receipt))
		fmt.Fprintf(w, "submitted %d, acknowledged %d, receipted %d, refused %d, resent %d, bad %d\n", report.Submitted, report.Acknowledged, report.Receipted, report.Refused, report.Resent, report.Bad)
		if report.Left > 0 || report.Broken > 0 {
			fmt.Fprintf(w, "%d messages were left without a receipt, and sessions broke %d times.\n", report.Left, report.Broken)
		}
		fmt.Fprintf(w, "memory of the load: %d MiB\n", report.Memory>>20)
	})
}

func percentilesText(p load.Percentiles) string {
	return fmt.Sprintf("%.0f ms (half), %.0f ms (90%%), %.0f ms (99%%), %.0f ms (all)", p.P50, p.P90, p.P99, p.Max)
}

func readLoadState(file string, g *distill.Genesis, seed string) (*loadState, error) {
	st := &loadState{Network: fmt.Sprintf("%x", g.ID()), Seed: seed}
	data, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return st, nil
	}
	var old loadState
	if err == nil {
		err = json.Unmarshal(data, &old)
	}
	if err != nil {
		return nil, err
	}
	if old.Network != st.Network || old.Seed != seed {
		return nil, failf(ExitError, "take another file with --state", "%s is about another network or seed", file)
	}
	return &old, nil
}

func writeLoadState(file string, st *loadState) error {
	data, err := json.Marshal(st)
	if err != nil {
		return err
	}
	return nodedir.Replace(file, append(data, '\n'), 0o600)
}
