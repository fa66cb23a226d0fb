// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package nats

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"os"
	"strings"
	"time"

	client "github.com/nats-io/nats.go"
)

// Bounds of how many heights stay. Validators write down where they are every 64 heights.
const (
	minKeep = 256
	maxKeep = 1 << 40
)

// A Config says where the queue is. Fields that are zero mean what their comments say.
type Config struct {
	// Servers are addresses such as tls://host:4222, of all servers of the cluster. By
	// nats://host:4222 what is sent isn't encrypted, and the host must be a loopback
	// address. Nothing but these is connected to, whatever servers say about others.
	Servers []string `toml:"servers"`
	// Stream is the name of the queue, and the first part of its subject. Empty: undersign.
	Stream string `toml:"stream"`
	// Replicas is how many servers keep each entry: 1, 3 or 5. 0: 3.
	Replicas int `toml:"replicas"`

	// Credentials or Nkey is a file with the user's credentials, or the seed of its key.
	Credentials string `toml:"credentials"`
	Nkey        string `toml:"nkey"`
	// SystemCredentials or SystemNkey is the same of a user of the system account, who
	// may ask servers how they write. Without it that isn't known, and they are refused.
	SystemCredentials string `toml:"system-credentials"`
	SystemNkey        string `toml:"system-nkey"`

	// CA is a file with the certificates that servers are verified with. Empty: those of
	// the system. Certificate and Key are shown to servers that want one.
	CA          string `toml:"ca"`
	Certificate string `toml:"certificate"`
	Key         string `toml:"key"`

	// KeepHeights is for how many heights entries, and the batches that they name, stay after
	// all validators have passed them: a validator that is put back from a backup may be as
	// many behind. 0: 172,800, a day of ticks of half a second.
	KeepHeights int `toml:"keep-heights"`
	// Prune has this validator remove from the stream what is older. Its user has to be
	// allowed to, and can then remove anything: one validator is enough, or two.
	Prune bool `toml:"prune"`

	// InsecureAssumeSyncAlways says that all servers have sync_interval "always" in their
	// configurations, and that nobody need ask them. If it isn't so, then entries that
	// were acknowledged are lost when machines lose power.
	InsecureAssumeSyncAlways bool `toml:"insecure-assume-sync-always"`

	// Logger gets what there is to say. Nil: nobody.
	Logger *slog.Logger `toml:"-"`
}

func (c Config) complete() Config {
	if c.Stream == "" {
		c.Stream = "undersign"
	}
	if c.Replicas == 0 {
		c.Replicas = 3
	}
	if c.KeepHeights == 0 {
		c.KeepHeights = 172_800
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	return c
}

// Keep returns for how many heights entries and batches stay.
func (c Config) Keep() uint64 { return uint64(c.complete().KeepHeights) }

// subject is where entries are published.
func (c *Config) subject() string { return c.Stream + ".entry" }

// Check returns everything that is wrong with the configuration by itself.
func (c Config) Check() error {
	c = c.complete()
	var errs []error
	bad := func(format string, args ...any) { errs = append(errs, fmt.Errorf("nats: "+format, args...)) }
	if len(c.Servers) == 0 {
		bad("no servers")
	}
	for i, s := range c.Servers {
		if err := checkServer(s); err != nil {
			bad("server %d: %w", i+1, err)
		} else if (strings.HasPrefix(s, "tls:")) != strings.HasPrefix(c.Servers[0], "tls:") {
			bad("server %d: either all by tls:// or none", i+1)
		}
	}
	if len(c.Stream) > 32 || strings.Trim(c.Stream, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_") != "" {
		bad("stream: %q isn't letters, digits, - and _, up to 32", c.Stream)
	}
	if c.Replicas != 1 && c.Replicas != 3 && c.Replicas != 5 {
		bad("replicas: %d isn't 1, 3 or 5", c.Replicas)
	}
	if c.KeepHeights < minKeep || c.KeepHeights > maxKeep {
		bad("keep-heights is outside %d to %d", minKeep, maxKeep)
	}
	if c.Credentials != "" && c.Nkey != "" {
		bad("either credentials or nkey")
	}
	if c.SystemCredentials != "" && c.SystemNkey != "" {
		bad("either system-credentials or system-nkey")
	}
	if (c.Certificate == "") != (c.Key == "") {
		bad("certificate and key go together")
	}
	if !c.InsecureAssumeSyncAlways && c.SystemCredentials == "" && c.SystemNkey == "" {
		bad("servers can't be asked how they write: set system-credentials or system-nkey")
	}
	return errors.Join(errs...)
}

func checkServer(s string) error {
	u, err := url.Parse(s)
	if err != nil || u.Scheme != "nats" && u.Scheme != "tls" || u.Hostname() == "" || u.Port() == "" ||
		u.Path != "" || u.RawQuery != "" || u.Fragment != "" {
		return errors.New("it isn't like tls://host:4222") // and may have a secret in it
	}
	if u.User != nil {
		return errors.New("secrets don't belong into addresses: use credentials or nkey")
	}
	ip := net.ParseIP(u.Hostname())
	if u.Scheme == "nats" && u.Hostname() != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return fmt.Errorf("%s isn't a loopback address: use tls://", u.Hostname())
	}
	return nil
}

// options returns the options of connections as the user of the queue, or of the system
// account.
func (c *Config) options(system bool) ([]client.Option, error) {
	log := c.Logger
	o := []client.Option{
		client.Name("undersign"),
		client.ErrorHandler(func(_ *client.Conn, _ *client.Subscription, err error) {
			log.Warn("the queue's server complains", "error", err)
		}),
		client.IgnoreDiscoveredServers(),
		client.Timeout(3 * time.Second),
		client.PingInterval(5 * time.Second), // a server that is gone without a word is left after two
		client.MaxPingsOutstanding(2),
		client.ReconnectBufSize(-1), // what couldn't be sent is known at once
	}
	if strings.HasPrefix(c.Servers[0], "tls:") {
		config, err := c.tls()
		if err != nil {
			return nil, err
		}
		o = append(o, client.Secure(config))
	}
	credentials, nkey := c.Credentials, c.Nkey
	if system {
		credentials, nkey = c.SystemCredentials, c.SystemNkey
	}
	switch {
	case credentials != "":
		o = append(o, client.UserCredentials(credentials))
	case nkey != "":
		option, err := client.NkeyOptionFromSeed(nkey)
		if err != nil {
			return nil, fmt.Errorf("nats: %s isn't the seed of a user: %w", nkey, err)
		}
		o = append(o, option)
	}
	return o, nil
}

func (c *Config) tls() (*tls.Config, error) {
	config := &tls.Config{MinVersion: tls.VersionTLS13}
	if c.CA != "" {
		pem, err := os.ReadFile(c.CA)
		if err != nil {
			return nil, fmt.Errorf("nats: ca: %w", err)
		}
		config.RootCAs = x509.NewCertPool()
		if !config.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("nats: ca: %s has no certificates", c.CA)
		}
	}
	if c.Certificate != "" {
		certificate, key := c.Certificate, c.Key
		// Read for each connection: certificates are renewed.
		config.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
			pair, err := tls.LoadX509KeyPair(certificate, key)
			if err != nil {
				return nil, fmt.Errorf("nats: certificate and key: %w", err)
			}
			return &pair, nil
		}
		if _, err := config.GetClientCertificate(nil); err != nil {
			return nil, err
		}
	}
	return config, nil
}
