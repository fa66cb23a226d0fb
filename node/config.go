// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package node

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"path/filepath"
	"strings"
	"time"

	"github.com/undersign/undersign/internal/aggregate"
	"github.com/undersign/undersign/internal/nodedir"
	"github.com/undersign/undersign/internal/party"
	"github.com/undersign/undersign/internal/policy"
	"github.com/undersign/undersign/internal/roster"
	"github.com/undersign/undersign/internal/threshold"
)

// A Config says what a node is like. As a file it is undersign.toml in the node's folder:
// see [Load]. Fields that are zero mean what their comments say.
type Config struct {
	// Dir is the node's folder, which undersign init makes.
	Dir string `toml:"-"`

	// Name is what the node calls itself to those whom it invites. Empty: node.
	Name string `toml:"name"`
	// Listen is where the node waits for other parties, host:port. A port of 0 is one
	// that is free. Empty: 127.0.0.1:7070.
	Listen string `toml:"listen"`
	// Advertise is where others reach the node, if that isn't Listen.
	Advertise string `toml:"advertise"`
	// Metrics is where the node answers /metrics, /healthz and /readyz by plain HTTP. The
	// host must be a loopback address. Empty: nowhere.
	Metrics string `toml:"metrics"`

	Log    Log    `toml:"log"`
	Limits Limits `toml:"limits"`
	Rules  []Rule `toml:"rule"`

	Threshold threshold.Config `toml:"threshold"`
	Aggregate aggregate.Config `toml:"aggregate"`

	// Logger gets what the node has to say. Nil: nobody.
	Logger *slog.Logger `toml:"-"`
	// Level is set to Log.Level when the node starts and when it reloads, if it isn't nil.
	Level *slog.LevelVar `toml:"-"`
}

// A Rule allows calls to parties, which it names by fingerprint or by the names that the
// node has for them. What no rule allows is denied; the first that matches holds.
type Rule = policy.Rule

// Log says how a log looks.
type Log struct {
	Level  slog.Level `toml:"level"`  // debug, info, warn or error
	Format string     `toml:"format"` // text or json; empty: text
}

// Limits bound what callers cost.
type Limits struct {
	Message     int      `toml:"message"`     // bytes of a message; 0: 4 MiB
	Call        Duration `toml:"call"`        // for one call; 0: 30s
	Calls       int      `toml:"calls"`       // of one party at a time; 0: 64
	Connections int      `toml:"connections"` // of all together, a 16th for each party; 0: 1024
	StoreBytes  int64    `toml:"store-bytes"` // size of the store; 0: no limit
	Drain       Duration `toml:"drain"`       // for calls under way when the node ends; 0: 10s
}

// A Duration is a time.Duration that is written as 30s or 5m.
type Duration time.Duration

// UnmarshalText reads a duration.
func (d *Duration) UnmarshalText(text []byte) error {
	v, err := time.ParseDuration(string(text))
	if err != nil {
		return fmt.Errorf("%q isn't a duration such as 30s or 5m", text)
	}
	*d = Duration(v)
	return nil
}

// MarshalText writes the duration.
func (d Duration) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// String returns the duration as it is written.
func (d Duration) String() string { return time.Duration(d).String() }

// DefaultListen is where a node listens that wasn't told.
const DefaultListen = "127.0.0.1:7070"

// complete returns the configuration with defaults in the place of zeros.
func (c Config) complete() Config {
	set(&c.Name, "node")
	set(&c.Listen, DefaultListen)
	set(&c.Log.Format, "text")
	set(&c.Limits.Message, 4<<20)
	set(&c.Limits.Call, Duration(30*time.Second))
	set(&c.Limits.Calls, 64)
	set(&c.Limits.Connections, 1024)
	set(&c.Limits.Drain, Duration(10*time.Second))
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	return c
}

func set[T comparable](v *T, to T) {
	var zero T
	if *v == zero {
		*v = to
	}
}

// Check returns everything that is wrong with a configuration by itself.
func (c Config) Check() error {
	c = c.complete()
	var errs []error
	bad := func(format string, args ...any) { errs = append(errs, fmt.Errorf("node: "+format, args...)) }
	if c.Dir == "" {
		bad("no folder")
	}
	if err := roster.CheckName(c.Name); err != nil {
		bad("name: %w", err)
	}
	if err := checkListen(c.Listen); err != nil {
		bad("listen: %w", err)
	}
	if c.Advertise != "" {
		if err := party.CheckAddress(c.Advertise); err != nil {
			bad("advertise: %w", err)
		}
	}
	if c.Metrics != "" {
		if err := checkListen(c.Metrics); err != nil {
			bad("metrics: %w", err)
		} else if !isLoopback(c.Metrics) {
			bad("metrics: %s isn't a loopback address: whoever reaches it reads it", c.Metrics)
		}
	}
	if c.Log.Format != "text" && c.Log.Format != "json" {
		bad("log: format %q isn't text or json", c.Log.Format)
	}
	for _, l := range []struct {
		name     string
		v        int64
		min, max int64
	}{
		{"message", int64(c.Limits.Message), 64 << 10, 64 << 20},
		{"call", int64(c.Limits.Call), int64(time.Second), int64(time.Hour)},
		{"calls", int64(c.Limits.Calls), 1, 1 << 16},
		{"connections", int64(c.Limits.Connections), 1, 1 << 16},
		{"store-bytes", c.Limits.StoreBytes, 0, 1 << 50},
		{"drain", int64(c.Limits.Drain), int64(time.Millisecond), int64(time.Hour)},
	} {
		if l.v < l.min || l.v > l.max {
			lo, hi := fmt.Sprint(l.min), fmt.Sprint(l.max)
			if l.name == "call" || l.name == "drain" {
				lo, hi = time.Duration(l.min).String(), time.Duration(l.max).String()
			}
			bad("limits: %s is outside %s to %s", l.name, lo, hi)
		}
	}
	if err := c.Aggregate.Check(); err != nil {
		bad("%w", err)
	}
	if err := checkRules(c.Rules); err != nil {
		bad("%w", err)
	}
	return errors.Join(errs...)
}

func checkRules(rules []Rule) error {
	if _, err := policy.New(rules); err != nil {
		return err
	}
	for i, r := range rules {
		for _, p := range r.Parties {
			if p == "*" || strings.HasPrefix(p, "us1") {
				continue
			}
			if err := roster.CheckName(p); err != nil {
				return fmt.Errorf("rule %d: parties: %w", i+1, err)
			}
		}
	}
	return nil
}

// checkListen is party.CheckAddress, but for ports of 0 and hosts that are empty.
func checkListen(address string) error {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return fmt.Errorf("%q isn't a host and a port", address)
	}
	if host == "" {
		host = "0.0.0.0"
	}
	if port == "0" {
		port = "1"
	}
	return party.CheckAddress(net.JoinHostPort(host, port))
}

func isLoopback(address string) bool {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return false
	}
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// AdvertiseFor returns where others reach a node that listens at address, or an error if
// that isn't known.
func (c Config) AdvertiseFor(address string) (string, error) {
	if c.Advertise != "" {
		return c.Advertise, nil
	}
	host, port, err := net.SplitHostPort(address)
	if err == nil {
		if ip := net.ParseIP(host); host != "" && port != "0" && (ip == nil || !ip.IsUnspecified()) {
			return address, nil
		}
	}
	return "", errors.New("node: it isn't known where others reach the node: set advertise in " + filepath.Join(c.Dir, nodedir.Config))
}
