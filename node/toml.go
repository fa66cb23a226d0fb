// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package node

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/BurntSushi/toml"

	"github.com/undersign/undersign/internal/nodedir"
)

// maxConfig is the size of the largest configuration file.
const maxConfig = 1 << 20

// A ConfigError says where a configuration file is wrong.
type ConfigError struct {
	File string
	Line int // from 1, or 0 if that isn't known
	Err  error
}

func (e *ConfigError) Error() string {
	if e.Line == 0 {
		return fmt.Sprintf("node: %s: %v", e.File, e.Err)
	}
	return fmt.Sprintf("node: %s: line %d: %v", e.File, e.Line, e.Err)
}

// Unwrap returns what is wrong.
func (e *ConfigError) Unwrap() error { return e.Err }

// Load reads the configuration in a node's folder. Keys that aren't known are errors.
func Load(dir string) (Config, error) {
	path := filepath.Join(dir, nodedir.Config)
	f, err := os.Open(path)
	if err != nil {
		return Config{}, fmt.Errorf("node: %w", err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxConfig+1))
	if err != nil {
		return Config{}, fmt.Errorf("node: %w", err)
	}
	if len(data) > maxConfig {
		return Config{}, &ConfigError{path, 0, errors.New("larger than 1 MiB")}
	}
	c, err := parse(path, string(data))
	if err != nil {
		return Config{}, err
	}
	c.Dir = dir
	if err := c.Check(); err != nil {
		return Config{}, &ConfigError{path, 0, trim(err)}
	}
	return c, nil
}

// trim leaves the package's name out of an error that gets it anyhow.
func trim(err error) error {
	return errors.New(strings.ReplaceAll(strings.TrimPrefix(err.Error(), "node: "), "\nnode: ", "; "))
}

func parse(path, text string) (c Config, err error) {
	md, err := toml.Decode(text, &c)
	var pe toml.ParseError
	if errors.As(err, &pe) {
		msg := pe.Message
		if msg == "" {
			_, msg, _ = strings.Cut(pe.Error(), ": ")
		}
		return c, &ConfigError{path, pe.Position.Line, errors.New(msg)}
	}
	if err != nil {
		// Values of the wrong type have their place in the text alone.
		msg, line := strings.TrimPrefix(err.Error(), "toml: "), 0
		if _, serr := fmt.Sscanf(msg, "line %d (last key", &line); serr == nil {
			_, msg, _ = strings.Cut(msg, "last key ")
			msg = strings.Replace(msg, ")", "", 1)
		}
		return c, &ConfigError{path, line, errors.New(msg)}
	}
	if unknown := md.Undecoded(); len(unknown) > 0 {
		return c, &ConfigError{path, lineOf(text, unknown[0]), fmt.Errorf("no such key: %s", unknown[0])}
	}
	// The decoder takes a key for a field's name in any case. A file has one form only.
	for _, key := range md.Keys() {
		if s := key.String(); s != strings.ToLower(s) {
			return c, &ConfigError{path, lineOf(text, key), fmt.Errorf("no such key: %s", key)}
		}
	}
	return c, nil
}

// lineOf returns the line that a key is on, as far as a simple look can tell, or 0.
func lineOf(text string, key toml.Key) int {
	table, last := strings.Join(key[:len(key)-1], "."), key[len(key)-1]
	section := ""
	for i, line := range strings.Split(text, "\n") {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "[") {
			section = strings.Join(strings.Fields(strings.Trim(strings.SplitN(line, "#", 2)[0], "[] \t")), "")
			if section == key.String() {
				return i + 1
			}
			continue
		}
		name, _, ok := strings.Cut(line, "=")
		if !ok {
			continue
		}
		name = strings.Trim(strings.TrimSpace(name), `"'`)
		if section == table && name == last || section == "" && name == key.String() {
			return i + 1
		}
	}
	return 0
}
