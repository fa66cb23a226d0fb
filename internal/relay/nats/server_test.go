// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package nats

import (
	"context"
	"log/slog"
	"os"
	"testing"
	"time"

	"github.com/undersign/undersign/internal/relay/nats/natstest"
)

func TestMain(m *testing.M) {
	natstest.Main()
	os.Exit(m.Run())
}

// A testCluster is servers that the test started.
type testCluster struct{ *natstest.Cluster }

func newCluster(t testing.TB, cfg natstest.Config) *testCluster {
	t.Helper()
	return &testCluster{natstest.New(t, cfg)}
}

// config returns how the cluster is used.
func (c *testCluster) config(t testing.TB) Config {
	cfg := Config{
		Servers: c.URLs("nats"), Nkey: c.User, SystemNkey: c.Sys, Replicas: 1, Logger: slog.New(slog.NewTextHandler(t.Output(), nil)),
	}
	if len(c.Servers) > 1 {
		cfg.Replicas = 3
	}
	return cfg
}

func (c *testCluster) open(t testing.TB) *Relay {
	t.Helper()
	return open(t, c.config(t))
}

func open(t testing.TB, cfg Config) *Relay {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	r, err := Open(ctx, cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return r
}
