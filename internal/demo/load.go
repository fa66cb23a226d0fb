// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package demo

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/undersign/undersign/client"
	"github.com/undersign/undersign/distill"
	"github.com/undersign/undersign/internal/aggregate/load"
)

// loadName is the file that says what a gateway does, in its folder.
const loadName = "load.json"

// A loadConfig says what a gateway does.
type loadConfig struct {
	Genesis     string `json:"genesis"`    // a file
	Aggregator  string `json:"aggregator"` // its address
	Validator   string `json:"validator"`  // its address
	Fingerprint string `json:"fingerprint"`
	Clients     int    `json:"clients"`
}

// enoughName is a file that ends the load, in the gateway's folder.
const enoughName = "enough"

// A loadLine is what a gateway prints: when it has registered its clients, every second,
// and at the end.
type loadLine struct {
	Registered   int    `json:"registered,omitempty"`
	Submitted    uint64 `json:"submitted,omitempty"` // at the end
	Acknowledged uint64 `json:"acknowledged"`        // until now
	Receipted    uint64 `json:"receipted"`           // until now
	Waiting      uint64 `json:"waiting"`             // for a receipt

	// At the end.
	Done     bool   `json:"done,omitempty"`
	Refused  uint64 `json:"refused,omitempty"`
	Resent   uint64 `json:"resent,omitempty"`
	Repeated uint64 `json:"repeated,omitempty"`
	Bad      uint64 `json:"bad,omitempty"`
	Broken   uint64 `json:"broken,omitempty"`
}

// Load is the process of a gateway: it plays clients that submit one message after the
// other, each after the receipt of the one before, until it is enough. It ends when all have
// their receipts, or with ctx.
func Load(ctx context.Context, dir string, out io.Writer) error {
	data, err := os.ReadFile(filepath.Join(dir, loadName))
	if err != nil {
		return err
	}
	var cfg loadConfig
	if err := json.Unmarshal(data, &cfg); err != nil {
		return err
	}
	key, err := client.ReadIdentity(dir)
	if err != nil {
		return err
	}
	if data, err = os.ReadFile(cfg.Genesis); err != nil {
		return err
	}
	genesis := new(distill.Genesis)
	if err := genesis.UnmarshalBinary(data); err != nil {
		return err
	}
	enc := json.NewEncoder(out)
	ids, err := load.Register(ctx, key, genesis, cfg.Fingerprint, cfg.Validator, "demo", 0, cfg.Clients, nil)
	if err != nil {
		return err
	}
	if err := enc.Encode(loadLine{Registered: len(ids)}); err != nil {
		return err
	}
	var line loadLine
	report, err := load.Run(ctx, load.Config{
		Key: key, Genesis: genesis, Aggregator: aggregateID, Address: cfg.Aggregator, Seed: "demo", IDs: ids,
		Connections: 4, Payload: 32, Duration: processTime,
		Enough: func() bool {
			_, err := os.Stat(filepath.Join(dir, enoughName))
			return err == nil
		},
		Progress: func(p load.Progress) {
			line.Acknowledged += p.Acknowledged
			line.Receipted += p.Receipted
			line.Waiting = p.Waiting
			enc.Encode(line) // who doesn't read on ends this process
		},
	})
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return err
	}
	if report.Left > 0 {
		return fmt.Errorf("demo: %d messages without a receipt", report.Left)
	}
	line.Done, line.Submitted, line.Waiting = true, report.Submitted, uint64(report.Left)
	line.Refused, line.Resent, line.Repeated, line.Bad, line.Broken = report.Refused, report.Resent, report.Repeated, report.Bad, report.Broken
	return enc.Encode(line)
}
