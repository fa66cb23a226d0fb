// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package node

import (
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/undersign/undersign/internal/nodedir"
)

func load(t testing.TB, text string) (Config, error) {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, nodedir.Config), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return Load(dir)
}

func TestLoad(t *testing.T) {
	c, err := load(t, `
name = "alice"
listen = "[::1]:0"
metrics = "localhost:9090"
[log]
level = "debug"
format = "json"
[limits]
call = "5m"
calls = 3
[[rule]]
parties = ["bob", "*"]
operations = ["threshold.*"]
keys = ["*"]
rate = "10/s"
approve = true
`)
	if err != nil {
		t.Fatal(err)
	}
	if c.Name != "alice" || c.Log.Level != slog.LevelDebug || c.Limits.Call != Duration(5*time.Minute) || len(c.Rules) != 1 || !c.Rules[0].Approve {
		t.Errorf("%+v", c)
	}
	if c, err := load(t, ""); err != nil || c.complete().Listen != DefaultListen {
		t.Errorf("an empty file: %+v, %v", c, err)
	}
}

func TestLoadRefuses(t *testing.T) {
	for _, tt := range []struct {
		text string
		line int
		say  string
	}{
		{"x = 1", 1, "no such key: x"},
		{"name = \"a\"\n[limits]\n\ncolour = 1", 4, "no such key: limits.colour"},
		{"[nothing]\na = 1", 1, "no such key: nothing"},
		{"[[rule]]\nparties = [\"a\"]\noperations = [\"a.b\"]\nparty = \"a\"", 4, "no such key: rule.party"},
		{"Name = \"a\"", 1, "no such key: Name"},
		{"NAME = \"a\"", 1, "no such key"},
		{"name = \"a\"\nname = \"b\"", 2, "name"},
		{"name = 1", 1, "name"},
		{"\n\nname =", 3, ""},
		{"[limits]\ncall = \"5\"", 2, "isn't a duration"},
		{"[log]\nlevel = \"loud\"", 2, "loud"},
		{"name = \"a b\"", 0, "isn't a name"},
		{"listen = \"7070\"", 0, "isn't a host and a port"},
		{"listen = \"h:99999\"", 0, "isn't a port"},
		{"advertise = \"h:0\"", 0, "advertise"},
		{"metrics = \"0.0.0.0:9090\"", 0, "loopback"},
		{"metrics = \":9090\"", 0, "loopback"},
		{"[log]\nformat = \"xml\"", 0, "xml"},
		{"[limits]\nmessage = 1", 0, "message is outside"},
		{"[limits]\nmessage = -1", 0, "message is outside"},
		{"[limits]\ncall = \"1ns\"", 0, "call is outside 1s to 1h"},
		{"[limits]\nconnections = 1000000", 0, "connections is outside"},
		{"[[rule]]\noperations = [\"a.b\"]", 0, "no parties"},
		{"[[rule]]\nparties = [\"a\"]", 0, "no operations"},
		{"[[rule]]\nparties = [\"a\"]\noperations = [\"a.b\"]\nrate = \"fast\"", 0, "rate"},
		{"[[rule]]\nparties = [\"a b\"]\noperations = [\"a.b\"]", 0, "pattern"},
		{"[[rule]]\nparties = [\"-\"]\noperations = [\"a.b\"]", 0, "isn't a name"},
		{strings.Repeat("#", maxConfig+1), 0, "larger"},
		{"\xff", 0, ""},
	} {
		_, err := load(t, tt.text)
		var ce *ConfigError
		if !errors.As(err, &ce) {
			t.Errorf("%.60q: %v", tt.text, err)
			continue
		}
		if tt.line != 0 && ce.Line != tt.line || !strings.Contains(err.Error(), tt.say) {
			t.Errorf("%.60q: line %d: %v", tt.text, ce.Line, err)
		}
		if strings.Contains(strings.TrimPrefix(err.Error(), "node: "), "node: ") || strings.Contains(err.Error(), ": toml: ") {
			t.Errorf("%v", err)
		}
	}
	if _, err := Load(t.TempDir()); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
	if err := (Config{}).Check(); err == nil {
		t.Error("no folder")
	}
}

func TestAdvertiseFor(t *testing.T) {
	for _, tt := range []struct{ advertise, listen, want string }{
		{"", "127.0.0.1:7070", "127.0.0.1:7070"},
		{"h:1", "0.0.0.0:7070", "h:1"},
		{"", "example.org:1", "example.org:1"},
		{"", "0.0.0.0:7070", ""},
		{"", "[::]:7070", ""},
		{"", ":7070", ""},
		{"", "127.0.0.1:0", ""},
		{"", "x", ""},
	} {
		got, err := Config{Advertise: tt.advertise}.AdvertiseFor(tt.listen)
		if got != tt.want || (err != nil) != (tt.want == "") {
			t.Errorf("%+v: %q, %v", tt, got, err)
		}
	}
}

func TestChanges(t *testing.T) {
	a := Config{Name: "a", Dir: "x"}.complete()
	b := a
	if got := changes(a, b); got != nil {
		t.Errorf("%v", got)
	}
	b.Dir, b.Rules, b.Log.Level, b.Limits.Calls = "y", []Rule{{}}, slog.LevelDebug, 1
	if got := changes(a, b); got != nil {
		t.Errorf("%v", got)
	}
	b.Listen, b.Limits.Connections, b.Log.Format = "h:2", 7, "json"
	got := changes(a, b)
	slices.Sort(got)
	if !slices.Equal(got, []string{"limits.connections", "listen", "log.format"}) {
		t.Errorf("%v", got)
	}
}

func FuzzLoad(f *testing.F) {
	f.Add("name = \"a\"\n[[rule]]\nparties = [\"*\"]\noperations = [\"a.b\"]\n")
	f.Add("[limits]\ncall = \"1s\"\n")
	f.Fuzz(func(t *testing.T, text string) {
		c, err := parse("x", text)
		if err == nil {
			c.Dir = "x"
			c.Check()
		}
	})
}
