// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package nats

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/undersign/undersign/internal/relay"
	"github.com/undersign/undersign/internal/relay/nats/natstest"
)

func long() bool { return os.Getenv("UNDERSIGN_LONG") != "" }

func TestConfigCheck(t *testing.T) {
	good := Config{Servers: []string{"tls://example.org:4222"}, SystemNkey: "x"}
	if err := good.Check(); err != nil {
		t.Error(err)
	}
	for _, tt := range []struct {
		change func(*Config)
		say    string
	}{
		{func(c *Config) { c.Servers = nil }, "no servers"},
		{func(c *Config) { c.Servers = []string{"nats://example.org:4222"} }, "loopback"},
		{func(c *Config) { c.Servers = []string{"example.org:4222"} }, "isn't like"},
		{func(c *Config) { c.Servers = []string{"tls://example.org"} }, "isn't like"},
		{func(c *Config) { c.Servers = []string{"ws://127.0.0.1:1"} }, "isn't like"},
		{func(c *Config) { c.Servers = []string{"tls://h:1/x"} }, "isn't like"},
		{func(c *Config) { c.Servers = []string{"tls://me:secret@h:1"} }, "secrets"},
		{func(c *Config) { c.Servers = []string{"tls://h:1", "nats://127.0.0.1:1"} }, "all by tls"},
		{func(c *Config) { c.Stream = "a.b" }, "stream"},
		{func(c *Config) { c.Stream = strings.Repeat("a", 33) }, "stream"},
		{func(c *Config) { c.Stream = ">" }, "stream"},
		{func(c *Config) { c.Replicas = 2 }, "replicas"},
		{func(c *Config) { c.Replicas = -1 }, "replicas"},
		{func(c *Config) { c.Nkey, c.Credentials = "a", "b" }, "either"},
		{func(c *Config) { c.SystemCredentials = "b" }, "either"},
		{func(c *Config) { c.Key = "a" }, "go together"},
		{func(c *Config) { c.SystemNkey = "" }, "can't be asked"},
	} {
		c := good
		tt.change(&c)
		err := c.Check()
		if err == nil || !strings.Contains(err.Error(), tt.say) || strings.Contains(err.Error(), "secret@") {
			t.Errorf("%q: %v", tt.say, err)
		}
		if _, err := Open(t.Context(), c); err == nil {
			t.Errorf("%q: opened", tt.say)
		}
	}
}

// wantUnsafe opens what must be refused, and at once.
func wantUnsafe(t *testing.T, what string, cfg Config, say string) {
	t.Helper()
	start := time.Now()
	r, err := Open(limit(t, 60*time.Second), cfg)
	if err == nil {
		r.Close()
		t.Errorf("%s: opened", what)
		return
	}
	if !errors.Is(err, ErrUnsafe) || !strings.Contains(err.Error(), say) {
		t.Errorf("%s: %v", what, err)
	}
	if d := time.Since(start); d > 45*time.Second {
		t.Errorf("%s: refused after %v", what, d)
	}
}

func TestRefusesServers(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ what, jetstream, global, say string }{
		{"the default interval", "strict: false", "", "sync_interval"},
		{"a short interval", "sync_interval: 1s", "", "sync_interval"},
		{"small payloads", "", "max_payload: 65536", "max_payload"},
	} {
		c := newCluster(t, natstest.Config{N: 1, JetStream: tt.jetstream, Global: tt.global})
		cfg := c.config(t)
		wantUnsafe(t, tt.what, cfg, tt.say)
		_, js := admin(t, c)
		if _, err := js.Stream(t.Context(), "undersign"); !errors.Is(err, jetstream.ErrStreamNotFound) {
			t.Errorf("%s: a stream was made: %v", tt.what, err)
		}
		cfg.InsecureAssumeSyncAlways, cfg.SystemNkey = true, ""
		r, err := Open(limit(t, 60*time.Second), cfg)
		if (err == nil) != (tt.global == "") {
			t.Errorf("%s, and it is assumed: %v", tt.what, err)
		}
		if err == nil {
			r.Close()
		}
	}
}

func TestRefusesUsers(t *testing.T) {
	t.Parallel()
	c := newCluster(t, natstest.Config{N: 1})
	cfg := c.config(t)
	cfg.SystemNkey = cfg.Nkey // not one of the system account
	wantUnsafe(t, "another user", cfg, "no server says")

	stranger, _ := natstest.NewKey(t, t.TempDir(), "x")
	garbage := filepath.Join(t.TempDir(), "x")
	if err := os.WriteFile(garbage, []byte("nothing"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, change := range []func(*Config){
		func(c *Config) { c.SystemNkey = stranger },
		func(c *Config) { c.Nkey = stranger },
		func(c *Config) { c.Nkey = garbage },
		func(c *Config) { c.SystemNkey = garbage },
		func(c *Config) { c.Nkey = "/nonexistent" },
	} {
		cfg := c.config(t)
		change(&cfg)
		start := time.Now()
		if r, err := Open(limit(t, 60*time.Second), cfg); err == nil {
			r.Close()
			t.Errorf("opened as a stranger")
		} else if d := time.Since(start); d > 45*time.Second {
			t.Errorf("refused after %v: %v", d, err)
		}
	}
}

func TestRefusesStreams(t *testing.T) {
	t.Parallel()
	c := newCluster(t, natstest.Config{N: 1})
	_, js := admin(t, c)
	wanted := (&Relay{cfg: c.config(t).complete()}).wanted()
	for _, tt := range []struct {
		change func(*jetstream.StreamConfig)
		say    string
	}{
		{func(c *jetstream.StreamConfig) { c.Storage = jetstream.MemoryStorage }, "memory"},
		{func(c *jetstream.StreamConfig) { c.PersistMode = jetstream.AsyncPersistMode }, "persist_mode"},
		{func(c *jetstream.StreamConfig) { c.NoAck = true }, "acknowledge"},
		{func(c *jetstream.StreamConfig) { c.Retention = jetstream.InterestPolicy }, "retention"},
		{func(c *jetstream.StreamConfig) { c.Retention = jetstream.WorkQueuePolicy }, "retention"},
		{func(c *jetstream.StreamConfig) { c.MaxAge = time.Hour }, "max_age"},
		{func(c *jetstream.StreamConfig) { c.MaxMsgsPerSubject = 10 }, "max_msgs_per_subject"},
		{func(c *jetstream.StreamConfig) { c.MaxMsgs, c.Discard = 10, jetstream.DiscardOld }, "discard"},
		{func(c *jetstream.StreamConfig) { c.MaxBytes, c.Discard = 1<<20, jetstream.DiscardOld }, "discard"},
		{func(c *jetstream.StreamConfig) { c.MaxMsgSize = 100 }, "max_msg_size"},
		{func(c *jetstream.StreamConfig) { c.AllowMsgTTL = true }, "end"},
		{func(c *jetstream.StreamConfig) { c.AllowRollup = true }, "replace"},
		{func(c *jetstream.StreamConfig) { c.DenyDelete = false }, "deleted"},
		{func(c *jetstream.StreamConfig) { c.Duplicates = time.Minute }, "duplicate_window"},
		{func(c *jetstream.StreamConfig) {
			c.Subjects, c.Sources = nil, []*jetstream.StreamSource{{Name: "other"}}
		}, "other streams"},
		{func(c *jetstream.StreamConfig) {
			c.SubjectTransform = &jetstream.SubjectTransformConfig{Source: "undersign.entry", Destination: "x"}
		}, "transforms"},
		{func(c *jetstream.StreamConfig) { c.FirstSeq = 100 }, "begins"},
		{func(c *jetstream.StreamConfig) { c.Subjects = []string{"undersign.*"} }, "subjects"},
		{func(c *jetstream.StreamConfig) { c.Subjects = []string{"undersign.entry", "more"} }, "subjects"},
	} {
		cfg := wanted
		tt.change(&cfg)
		if _, err := js.CreateStream(t.Context(), cfg); err != nil {
			t.Fatalf("%s: %v", tt.say, err)
		}
		wantUnsafe(t, tt.say, c.config(t), tt.say)
		if err := js.DeleteStream(t.Context(), cfg.Name); err != nil {
			t.Fatal(err)
		}
	}

	// One with another number of replicas.
	c.open(t).Close()
	cfg := c.config(t)
	cfg.Replicas = 3
	wantUnsafe(t, "replicas", cfg, "1 replicas, and not 3")

	// One that is changed while it is used; and changed back.
	r := c.open(t)
	publishAll(t, r, relay.NewTick(1))
	cfg2 := r.wanted()
	cfg2.MaxAge = time.Hour
	if _, err := js.UpdateStream(t.Context(), cfg2); err != nil {
		t.Fatal(err)
	}
	r.lookAgain()
	if err := r.Publish(t.Context(), relay.NewTick(2)); !errors.Is(err, ErrUnsafe) {
		t.Errorf("published: %v", err)
	}
	if _, err := js.UpdateStream(t.Context(), r.wanted()); err != nil {
		t.Fatal(err)
	}
	r.lookAgain()
	publishAll(t, r, relay.NewTick(2))
}

// TestFull says that a stream that is full doesn't take more, and loses nothing.
func TestFull(t *testing.T) {
	t.Parallel()
	c := newCluster(t, natstest.Config{N: 1})
	_, js := admin(t, c)
	cfg := (&Relay{cfg: c.config(t).complete()}).wanted()
	cfg.MaxMsgs = 3
	if _, err := js.CreateStream(t.Context(), cfg); err != nil {
		t.Fatal(err)
	}
	r := c.open(t)
	publishAll(t, r, ticks(0, 3)...)
	if err := r.Publish(limit(t, time.Second), relay.NewTick(3)); err == nil {
		t.Error("published to a full stream")
	}
	readAll(t, r, 0, 3, 10)
}

func TestParseState(t *testing.T) {
	for text, want := range map[string]bool{
		`{"server":{"name":"a"},"data":{"config":{"sync_always":true}}}`:                 true,
		`{"server":{"name":"a"},"data":{"config":{}}}`:                                   false,
		`{"server":{"name":"a"},"data":{"config":{"sync_interval":1}}}`:                  false,
		`{"server":{"name":"a"},"data":{"disabled":true,"config":{"sync_always":true}}}`: false,
		`{"server":{"name":""},"data":{"config":{"sync_always":true}}}`:                  false,
		`{"server":{"name":"a"}}`:                                                        false,
		`{"server":{"name":"a"},"data":{"config":{"sync_always":"yes"}}}`:                false,
		`[]`: false, ``: false,
	} {
		if s, ok := parseState([]byte(text)); (ok && s.sync) != want {
			t.Errorf("%s: %+v, %v", text, s, ok)
		}
	}
}
