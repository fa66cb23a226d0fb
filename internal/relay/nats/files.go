// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package nats

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	client "github.com/nats-io/nats.go"
)

// A setting is a file that a configuration names.
type setting struct {
	name   string
	file   *string
	secret bool // and mustn't be read by others
	read   func(file string) error
}

func (c *Config) settings() []setting {
	return []setting{
		{"credentials", &c.Credentials, true, checkCredentials},
		{"nkey", &c.Nkey, true, checkNkey},
		{"system-credentials", &c.SystemCredentials, true, checkCredentials},
		{"system-nkey", &c.SystemNkey, true, checkNkey},
		{"ca", &c.CA, false, checkCertificates},
		{"certificate", &c.Certificate, false, func(string) error { return nil }},
		{"key", &c.Key, true, func(file string) error {
			_, err := tls.LoadX509KeyPair(c.Certificate, file)
			return err
		}},
	}
}

// In returns the configuration with its files in a folder, if their names aren't absolute.
// It looks at each: one that isn't what it should be, or that others may read or change, is
// an error that names the setting and the file.
func (c Config) In(dir string) (Config, error) {
	for _, s := range c.settings() {
		if *s.file != "" && !filepath.IsAbs(*s.file) {
			*s.file = filepath.Join(dir, *s.file)
		}
	}
	var errs []error
	for _, s := range c.settings() {
		if *s.file == "" {
			continue
		}
		err := checkMode(*s.file, s.secret)
		if err == nil {
			err = s.read(*s.file)
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("nats: %s: %s: %w", s.name, *s.file, plain(err)))
		}
	}
	return c, errors.Join(errs...)
}

// plain leaves out what a message would have twice.
func plain(err error) error {
	var path *os.PathError
	if errors.As(err, &path) {
		return path.Err
	}
	return err
}

func checkMode(file string, secret bool) error {
	fi, err := os.Stat(file)
	if err != nil {
		return err
	}
	if !fi.Mode().IsRegular() {
		return errors.New("it isn't a regular file")
	}
	if fi.Size() > 1<<20 {
		return errors.New("it is larger than 1 MiB")
	}
	mode := fi.Mode().Perm()
	switch {
	case runtime.GOOS == "windows":
	case secret && mode&0o077 != 0:
		return fmt.Errorf("others may read or change it (mode %04o): chmod 600", mode)
	case mode&0o022 != 0:
		return fmt.Errorf("others may change it (mode %04o): chmod go-w", mode)
	}
	return nil
}

func checkNkey(file string) error {
	_, err := client.NkeyOptionFromSeed(file)
	if err != nil {
		return errors.New("it isn't the seed of a user's key")
	}
	return nil
}

func checkCredentials(file string) error {
	var o client.Options
	if err := client.UserCredentials(file)(&o); err != nil {
		return err
	}
	if token, err := o.UserJWT(); err != nil || strings.Count(token, ".") != 2 {
		return errors.New("it has no user's token")
	}
	if _, err := o.SignatureCB([]byte("nonce")); err != nil {
		return errors.New("it has no user's seed")
	}
	return nil
}

func checkCertificates(file string) error {
	data, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	if !x509.NewCertPool().AppendCertsFromPEM(data) {
		return errors.New("it has no certificates")
	}
	return nil
}
