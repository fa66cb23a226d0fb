// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package nats

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nkeys"

	"github.com/undersign/undersign/internal/relay"
	"github.com/undersign/undersign/internal/relay/nats/natstest"
)

func write(t testing.TB, file string, data []byte, mode os.FileMode) string {
	t.Helper()
	if err := os.WriteFile(file, data, mode); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(file, mode); err != nil {
		t.Fatal(err)
	}
	return file
}

// An authority makes certificates for a test.
type authority struct {
	t    testing.TB
	dir  string
	cert *x509.Certificate
	key  ed25519.PrivateKey
	file string
}

func newAuthority(t testing.TB, dir string) *authority {
	t.Helper()
	a := &authority{t: t, dir: dir}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test"}, NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	var public ed25519.PublicKey
	public, a.key, _ = ed25519.GenerateKey(rand.Reader)
	der, err := x509.CreateCertificate(rand.Reader, template, template, public, a.key)
	if err != nil {
		t.Fatal(err)
	}
	if a.cert, err = x509.ParseCertificate(der); err != nil {
		t.Fatal(err)
	}
	a.file = write(t, filepath.Join(dir, "ca.pem"), pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o644)
	return a
}

// issue returns the files of a certificate for an address.
func (a *authority) issue(name, address string) (cert, key string) {
	a.t.Helper()
	public, private, _ := ed25519.GenerateKey(rand.Reader)
	der, err := x509.CreateCertificate(rand.Reader, &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: name}, NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.ParseIP(address)}, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}, a.cert, public, a.key)
	if err != nil {
		a.t.Fatal(err)
	}
	pkcs8, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		a.t.Fatal(err)
	}
	cert = write(a.t, filepath.Join(a.dir, name+".pem"), pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o644)
	key = write(a.t, filepath.Join(a.dir, name+".key"), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: pkcs8}), 0o600)
	return cert, key
}

func TestFiles(t *testing.T) {
	dir := t.TempDir()
	a := newAuthority(t, dir)
	a.issue("node", "127.0.0.1")
	a.issue("other", "127.0.0.1")
	natstest.NewKey(t, dir, "user")
	natstest.NewKey(t, dir, "sys")
	good := Config{Servers: []string{"tls://h:1"}, Nkey: "user", SystemNkey: "sys", CA: "ca.pem", Certificate: "node.pem", Key: "node.key"}
	c, err := good.In(dir)
	if err != nil {
		t.Fatal(err)
	}
	if want := filepath.Join(dir, "user"); c.Nkey != want || good.Nkey != "user" {
		t.Errorf("%q, want %q", c.Nkey, want)
	}
	if c2, err := c.In("elsewhere"); err != nil || c2.Key != c.Key {
		t.Errorf("names that are absolute: %v", err)
	}
	write(t, filepath.Join(dir, "garbage"), []byte("nothing"), 0o600)
	write(t, filepath.Join(dir, "large"), make([]byte, 1<<20+1), 0o600)
	account, _ := nkeys.CreateAccount()
	seed, _ := account.Seed()
	write(t, filepath.Join(dir, "account"), seed, 0o600)
	for _, file := range []string{"user", "node.key"} {
		data, err := os.ReadFile(filepath.Join(dir, file))
		if err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(dir, file+".group"), data, 0o640)
		write(t, filepath.Join(dir, file+".world"), data, 0o604)
	}
	ca, _ := os.ReadFile(a.file)
	write(t, filepath.Join(dir, "ca.world"), ca, 0o666)
	for _, tt := range []struct {
		change func(*Config)
		say    []string
	}{
		{func(c *Config) { c.Nkey = "absent" }, []string{"nkey: ", "absent: no such file"}},
		{func(c *Config) { c.Nkey = "." }, []string{"nkey: ", "regular"}},
		{func(c *Config) { c.Nkey = "user.group" }, []string{"nkey: ", "user.group", "(mode 0640)", "chmod 600"}},
		{func(c *Config) { c.SystemNkey = "user.world" }, []string{"system-nkey: ", "(mode 0604)"}},
		{func(c *Config) { c.Nkey = "garbage" }, []string{"nkey: ", "garbage: it isn't the seed"}},
		{func(c *Config) { c.Nkey = "account" }, []string{"nkey: ", "account: it isn't the seed"}},
		{func(c *Config) { c.Nkey = "large" }, []string{"nkey: ", "larger"}},
		{func(c *Config) { c.Nkey, c.Credentials = "", "garbage" }, []string{"credentials: ", "garbage: it has no user's token"}},
		{func(c *Config) { c.SystemNkey, c.SystemCredentials = "", "absent" }, []string{"system-credentials: ", "no such file"}},
		{func(c *Config) { c.CA = "garbage" }, []string{"ca: ", "no certificates"}},
		{func(c *Config) { c.CA = "ca.world" }, []string{"ca: ", "chmod go-w"}},
		{func(c *Config) { c.Key = "node.key.group" }, []string{"key: ", "(mode 0640)"}},
		{func(c *Config) { c.Key = "other.key" }, []string{"key: ", "other.key", "match"}},
		{func(c *Config) { c.Certificate = "absent.pem" }, []string{"certificate: ", "absent.pem: no such file"}},
		{func(c *Config) { c.Nkey, c.CA = "absent", "garbage" }, []string{"nkey: ", "ca: "}}, // all of them
	} {
		c := good
		tt.change(&c)
		_, err := c.In(dir)
		if err == nil {
			t.Errorf("%q: no error", tt.say)
			continue
		}
		for _, s := range tt.say {
			if !strings.Contains(err.Error(), s) {
				t.Errorf("%q isn't in %q", s, err)
			}
		}
		if strings.Contains(err.Error(), "SU") {
			t.Errorf("a seed is in %q", err)
		}
	}
}

// TestTLS is of servers that want certificates of clients too.
func TestTLS(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	a := newAuthority(t, dir)
	cert, key := a.issue("server", "127.0.0.1")
	c := newCluster(t, natstest.Config{N: 1, Global: fmt.Sprintf("tls { cert_file: %q, key_file: %q, ca_file: %q, verify: true }", cert, key, a.file)})
	cfg := c.config(t)
	cfg.Servers, cfg.CA = c.URLs("tls"), a.file
	cfg.Certificate, cfg.Key = a.issue("node", "127.0.0.1")
	r := open(t, cfg)
	publishAll(t, r, ticks(0, 3)...)
	readAll(t, r, 0, 3, 10)

	other := newAuthority(t, t.TempDir())
	otherCert, otherKey := other.issue("node", "127.0.0.1")
	for _, tt := range []struct {
		what   string
		change func(*Config)
	}{
		{"another authority", func(c *Config) { c.CA = other.file }},
		{"the system's authorities", func(c *Config) { c.CA = "" }},
		{"no certificate", func(c *Config) { c.Certificate, c.Key = "", "" }},
		{"another authority's certificate", func(c *Config) { c.Certificate, c.Key = otherCert, otherKey }},
		{"no TLS", func(c *Config) { c.Servers = withoutTLS(c.Servers) }},
		{"another name", func(c *Config) { c.Servers = []string{strings.Replace(c.Servers[0], "127.0.0.1", "localhost", 1)} }},
	} {
		cfg := cfg
		tt.change(&cfg)
		if r, err := Open(limit(t, time.Second), cfg); err == nil {
			r.Close()
			t.Errorf("%s: opened", tt.what)
		} else {
			t.Logf("%s: %v", tt.what, err)
		}
	}
}

// withoutTLS returns addresses without TLS.
func withoutTLS(servers []string) (list []string) {
	for _, s := range servers {
		list = append(list, strings.Replace(s, "tls:", "nats:", 1))
	}
	return list
}

// token returns a signed token of NATS.
func token(t testing.TB, signer nkeys.KeyPair, subject string, nats map[string]any) string {
	t.Helper()
	issuer, err := signer.PublicKey()
	if err != nil {
		t.Fatal(err)
	}
	nats["version"] = 2
	claims, err := json.Marshal(map[string]any{"jti": rand.Text(), "iat": time.Now().Unix(), "iss": issuer, "name": "test", "sub": subject, "nats": nats})
	if err != nil {
		t.Fatal(err)
	}
	text := base64.RawURLEncoding.EncodeToString([]byte(`{"typ":"JWT","alg":"ed25519-nkey"}`)) + "." + base64.RawURLEncoding.EncodeToString(claims)
	sig, err := signer.Sign([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return text + "." + base64.RawURLEncoding.EncodeToString(sig)
}

// TestCredentials is of servers that know an operator, who knows accounts, who know users.
func TestCredentials(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	pair := func(k nkeys.KeyPair, err error) (nkeys.KeyPair, string) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		public, err := k.PublicKey()
		if err != nil {
			t.Fatal(err)
		}
		return k, public
	}
	operator, operatorKey := pair(nkeys.CreateOperator())
	account, accountKey := pair(nkeys.CreateAccount())
	system, systemKey := pair(nkeys.CreateAccount())
	limits := map[string]any{"subs": -1, "data": -1, "payload": -1, "imports": -1, "exports": -1, "wildcards": true, "conn": -1, "leaf": -1}
	queue := map[string]any{"mem_storage": -1, "disk_storage": -1, "streams": -1, "consumer": -1}
	for k, v := range limits {
		queue[k] = v
	}
	user := func(name string, signer nkeys.KeyPair, publish ...string) string {
		k, public := pair(nkeys.CreateUser())
		jwt := token(t, signer, public, map[string]any{
			"type": "user", "subs": -1, "data": -1, "payload": -1,
			"pub": map[string]any{"allow": publish}, "sub": map[string]any{"allow": []string{"_INBOX.>"}},
		})
		seed, err := k.Seed()
		if err != nil {
			t.Fatal(err)
		}
		text := fmt.Sprintf("-----BEGIN NATS USER JWT-----\n%s\n------END NATS USER JWT------\n\n-----BEGIN USER NKEY SEED-----\n%s\n------END USER NKEY SEED------\n", jwt, seed)
		return write(t, filepath.Join(dir, name), []byte(text), 0o600)
	}
	c := newCluster(t, natstest.Config{N: 1, Accounts: fmt.Sprintf("operator: %s\nresolver: MEMORY\nsystem_account: %s\nresolver_preload { %s: %s, %s: %s }\n",
		token(t, operator, operatorKey, map[string]any{"type": "operator", "system_account": systemKey}), systemKey,
		accountKey, token(t, operator, accountKey, map[string]any{"type": "account", "limits": queue}),
		systemKey, token(t, operator, systemKey, map[string]any{"type": "account", "limits": limits}))})
	cfg := c.config(t)
	cfg.Nkey, cfg.SystemNkey = "", ""
	cfg.Credentials = user("user.creds", account, "undersign.entry", "$JS.API.STREAM.INFO.undersign", "$JS.API.STREAM.CREATE.undersign",
		"$JS.API.CONSUMER.CREATE.undersign.>", "$JS.API.CONSUMER.MSG.NEXT.undersign.>")
	cfg.SystemCredentials = user("sys.creds", system, "$SYS.REQ.SERVER.PING.JSZ")
	cfg, err := cfg.In(dir)
	if err != nil {
		t.Fatal(err)
	}
	r := open(t, cfg)
	publishAll(t, r, relay.NewTick(1))
	readAll(t, r, 0, 1, 10)

	unknown, _ := natstest.NewKey(t, dir, "unknown")
	strangers, _ := pair(nkeys.CreateAccount())
	for what, change := range map[string]func(*Config){
		"a stranger's": func(c *Config) { c.Credentials = user("x.creds", strangers, "undersign.entry") },
		"of the wrong account": func(c *Config) {
			c.SystemCredentials = user("y.creds", account, "$SYS.REQ.SERVER.PING.JSZ")
		},
		"an nkey where tokens are wanted": func(c *Config) { c.Credentials, c.Nkey = "", unknown },
	} {
		cfg := cfg
		change(&cfg)
		if r, err := Open(limit(t, 3*time.Second), cfg); err == nil {
			r.Close()
			t.Errorf("%s: opened", what)
		}
	}
}
