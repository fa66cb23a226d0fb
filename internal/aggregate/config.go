// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package aggregate

import (
	"errors"
	"fmt"
	"time"

	"github.com/undersign/undersign/distill"
	"github.com/undersign/undersign/internal/relay"
	"github.com/undersign/undersign/internal/relay/nats"
)

// Config is the service's part of the configuration. A node has it if it names a genesis,
// and has the roles whose tables are there.
type Config struct {
	// Genesis is a file in the node's folder, which undersign aggregate genesis makes.
	Genesis string `toml:"genesis"`
	// Validators are the parties that run the network's validators, in the order of the
	// genesis. "self" is the node.
	Validators []string `toml:"validators"`

	Aggregator *AggregatorConfig `toml:"aggregator"`
	Validator  *ValidatorConfig  `toml:"validator"`
	Directory  *DirectoryConfig  `toml:"directory"`
	// NATS is the queue that several validators share.
	NATS *nats.Config `toml:"nats"`

	// Relay is the queue, if it isn't that of NATS or, for one validator, the node's own.
	Relay relay.Relay `toml:"-"`
	// App is what a validator executes messages with. Nil: all are accepted.
	App distill.App `toml:"-"`
}

// An AggregatorConfig makes the node an aggregator, by its own key. Sizes and times that
// are zero have the defaults of package distill.
type AggregatorConfig struct {
	ID   uint64 `toml:"id"`
	Mode string `toml:"mode"` // ed25519, folded or lean; empty: ed25519

	BatchLeaves  int `toml:"batch-leaves"`
	BatchBytes   int `toml:"batch-bytes"`
	BatchAgeMS   int `toml:"batch-age-ms"`
	InFlight     int `toml:"in-flight"`
	MinWaitMS    int `toml:"min-wait-ms"`
	MaxWaitMS    int `toml:"max-wait-ms"`
	PoolMessages int `toml:"pool-messages"`
	PoolBytes    int `toml:"pool-bytes"`
	ReceiptBytes int `toml:"receipt-bytes"`
	Rate         int `toml:"rate"`
	Sessions     int `toml:"sessions"` // at a time; 0: 1,024
}

// A ValidatorConfig makes the node a validator.
type ValidatorConfig struct {
	// Key is an age file with the BLS key, which the node's own identity opens. A name
	// that isn't absolute is in the node's folder. Empty: validator.key.
	Key string `toml:"key"`
	// TickMS is how long a height takes. 0 means 500.
	TickMS int `toml:"tick-ms"`
	// Exclude are positions of validators that aren't waited for before batches are
	// deleted.
	Exclude []int `toml:"exclude"`
}

// A DirectoryConfig lets a validator take changes of the directory.
type DirectoryConfig struct {
	// Queue is how many changes may wait. 0 means 16,384.
	Queue int `toml:"queue"`
}

var modeNames = map[string]int{"": 0, "ed25519": 0, "folded": 1, "lean": 2}

// Check returns everything that is wrong with a configuration by itself.
func (c *Config) Check() error {
	var errs []error
	bad := func(format string, args ...any) { errs = append(errs, fmt.Errorf("aggregate: "+format, args...)) }
	if c.Genesis == "" {
		if c.Aggregator != nil || c.Validator != nil || c.Directory != nil || len(c.Validators) > 0 {
			bad("no genesis")
		}
		return errors.Join(errs...)
	}
	if c.Aggregator == nil && c.Validator == nil {
		bad("neither an aggregator nor a validator")
	}
	if c.Directory != nil && c.Validator == nil {
		bad("the directory needs a validator")
	}
	if len(c.Validators) == 0 {
		bad("validators aren't named")
	}
	positive := func(name string, v, most int) {
		if v < 0 || v > most {
			bad("%s is outside 0 to %d", name, most)
		}
	}
	if a := c.Aggregator; a != nil {
		if _, ok := modeNames[a.Mode]; !ok {
			bad("mode %q isn't ed25519, folded or lean", a.Mode)
		}
		positive("batch-leaves", a.BatchLeaves, 1<<20)
		positive("batch-bytes", a.BatchBytes, 1<<30)
		positive("batch-age-ms", a.BatchAgeMS, 600_000)
		positive("in-flight", a.InFlight, 64)
		positive("min-wait-ms", a.MinWaitMS, 600_000)
		positive("max-wait-ms", a.MaxWaitMS, 600_000)
		positive("pool-messages", a.PoolMessages, 1<<26)
		positive("pool-bytes", a.PoolBytes, 1<<40)
		positive("receipt-bytes", a.ReceiptBytes, 1<<40)
		positive("rate", a.Rate, 1_000_000)
		positive("sessions", a.Sessions, 1<<16)
	}
	if v := c.Validator; v != nil {
		positive("tick-ms", v.TickMS, 60_000)
	}
	if c.NATS != nil {
		if c.Validator == nil {
			bad("only validators read the queue")
		}
		if err := c.NATS.Check(); err != nil {
			bad("%w", err)
		}
	}
	if d := c.Directory; d != nil {
		positive("queue", d.Queue, 1<<20)
	}
	return errors.Join(errs...)
}

// CheckFiles returns what is wrong with the files that the configuration names, of those that
// are needed to reach the queue.
func (c *Config) CheckFiles(dir string) error {
	if c.NATS == nil {
		return nil
	}
	_, err := c.NATS.In(dir)
	return err
}

func (v *ValidatorConfig) tick() time.Duration {
	if v.TickMS == 0 {
		return 500 * time.Millisecond
	}
	return time.Duration(v.TickMS) * time.Millisecond
}
