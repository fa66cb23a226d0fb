// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package party

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"math/big"
	"net"
	"strings"
	"testing"
	"time"
)

func identity(t *testing.T) *Identity {
	t.Helper()
	k, err := GenerateKey()
	if err != nil {
		t.Fatal(err)
	}
	id, err := NewIdentity(k)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// handshake connects two configurations and returns both errors.
func handshake(t *testing.T, client, server *tls.Config) (clientErr, serverErr error) {
	t.Helper()
	a, b := net.Pipe()
	deadline := time.Now().Add(10 * time.Second)
	a.SetDeadline(deadline)
	b.SetDeadline(deadline)
	done := make(chan error)
	go func() {
		conn := tls.Server(b, server)
		err := conn.Handshake()
		if err == nil {
			_, err = conn.Write([]byte("x"))
		}
		b.Close()
		done <- err
	}()
	conn := tls.Client(a, client)
	clientErr = conn.Handshake()
	if clientErr == nil {
		// A server refuses a client after the client has finished.
		_, clientErr = conn.Read(make([]byte, 1))
	}
	a.Close()
	return clientErr, <-done
}

func TestHandshake(t *testing.T) {
	server, client := identity(t), identity(t)
	admitted := ""
	serverTLS := server.ServerTLS(func(fp string) error {
		admitted = fp
		return nil
	})
	if c, s := handshake(t, client.ClientTLS(server.Fingerprint()), serverTLS); c != nil || s != nil {
		t.Fatal(c, s)
	}
	if admitted != client.Fingerprint() {
		t.Errorf("admitted %s, and the client is %s", admitted, client.Fingerprint())
	}
}

func TestHandshakeRefuses(t *testing.T) {
	server, client, other := identity(t), identity(t), identity(t)
	all := func(string) error { return nil }
	bare := func() *tls.Config { return &tls.Config{InsecureSkipVerify: true, MinVersion: tls.VersionTLS13} }

	if c, _ := handshake(t, client.ClientTLS(server.Fingerprint()), other.ServerTLS(all)); !errors.Is(c, ErrUnknown) {
		t.Errorf("another server: %v", c)
	}
	if c, s := handshake(t, client.ClientTLS(server.Fingerprint()), server.ServerTLS(func(string) error { return ErrUnknown })); c == nil || !errors.Is(s, ErrUnknown) {
		t.Errorf("a client that isn't admitted: %v, %v", c, s)
	}
	if _, s := handshake(t, bare(), server.ServerTLS(all)); s == nil {
		t.Error("a client without a certificate")
	}
	old := client.ClientTLS(server.Fingerprint())
	old.MinVersion, old.MaxVersion = tls.VersionTLS12, tls.VersionTLS12
	if _, s := handshake(t, old, server.ServerTLS(all)); s == nil {
		t.Error("a client by TLS 1.2")
	}
	oldServer := server.ServerTLS(all)
	oldServer.MinVersion, oldServer.MaxVersion = tls.VersionTLS12, tls.VersionTLS12
	if c, _ := handshake(t, client.ClientTLS(server.Fingerprint()), oldServer); c == nil {
		t.Error("a server by TLS 1.2")
	}

	// Another's certificate without its key, another kind of key, and two certificates.
	stolen := bare()
	stolen.Certificates = []tls.Certificate{{Certificate: client.certificate.Certificate, PrivateKey: other.key}}
	if _, s := handshake(t, stolen, server.ServerTLS(all)); s == nil {
		t.Error("a certificate without its key")
	}
	ec, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, ec.Public(), ec)
	if err != nil {
		t.Fatal(err)
	}
	p256 := bare()
	p256.Certificates = []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: ec}}
	if _, s := handshake(t, p256, server.ServerTLS(all)); s == nil {
		t.Error("a key of another kind")
	}
	two := bare()
	two.Certificates = []tls.Certificate{{Certificate: [][]byte{client.certificate.Certificate[0], other.certificate.Certificate[0]}, PrivateKey: client.key}}
	if _, s := handshake(t, two, server.ServerTLS(all)); s == nil {
		t.Error("two certificates")
	}
	if _, err := Peer(nil); err == nil {
		t.Error("a peer without a connection")
	}
}

func TestInvitation(t *testing.T) {
	id := identity(t)
	for _, address := range []string{"127.0.0.1:7070", "[::1]:7070", "node.example.org:1", "localhost:65535"} {
		inv, err := NewInvitation(address, id.Fingerprint())
		if err != nil {
			t.Fatal(err)
		}
		got, err := ParseInvitation(" " + inv.Token() + "\n")
		if err != nil || *got != *inv {
			t.Errorf("%s: %v, %v", inv.Token(), got, err)
		}
		hash := SecretHash(inv.Secret[:])
		if !MatchSecret(inv.Secret[:], hash) {
			t.Error("the secret doesn't match its hash")
		}
		for _, s := range []string{fmt.Sprint(inv), fmt.Sprintf("%v %+v %#v %s", *inv, *inv, *inv, *inv)} {
			if strings.Contains(s, inv.Token()[12:38]) {
				t.Error("the secret is printed")
			}
		}
		wrong := bytes.Clone(inv.Secret[:])
		wrong[15] ^= 1
		if MatchSecret(wrong, hash) || MatchSecret(nil, hash) || MatchSecret(append(wrong, 0), hash) {
			t.Error("another secret matches")
		}
	}
}

func TestParseInvitationRefuses(t *testing.T) {
	fp := identity(t).Fingerprint()
	const secret = "aaaaaaaaaaaaaaaaaaaaaaaaaa"
	if _, err := ParseInvitation("undersign://" + secret + "@host:1/" + fp); err != nil {
		t.Fatal(err)
	}
	for _, s := range []string{
		"", "undersign://", fp,
		"https://" + secret + "@host:1/" + fp,
		"UNDERSIGN://" + secret + "@host:1/" + fp,
		"undersign://host:1/" + fp,
		"undersign://" + secret[1:] + "@host:1/" + fp,
		"undersign://" + secret + "a@host:1/" + fp,
		"undersign://" + strings.ToUpper(secret) + "@host:1/" + fp,
		"undersign://" + secret[:25] + "b@host:1/" + fp, // bits left over
		"undersign://" + secret[:25] + "1@host:1/" + fp,
		"undersign://" + secret + ":pw@host:1/" + fp,
		"undersign://" + secret + "@host/" + fp,
		"undersign://" + secret + "@:1/" + fp,
		"undersign://" + secret + "@host:0/" + fp,
		"undersign://" + secret + "@host:01/" + fp,
		"undersign://" + secret + "@host:65536/" + fp,
		"undersign://" + secret + "@ho_st:1/" + fp,
		"undersign://" + secret + "@host:1/" + fp[:len(fp)-1],
		"undersign://" + secret + "@host:1/" + strings.ToUpper(fp),
		"undersign://" + secret + "@host:1//" + fp,
		"undersign://" + secret + "@host:1/" + fp + "/",
		"undersign://" + secret + "@host:1/" + fp + "?",
		"undersign://" + secret + "@host:1/" + fp + "#x",
	} {
		if inv, err := ParseInvitation(s); err == nil {
			t.Errorf("%q is read as %v", s, inv)
		}
	}
}

func TestPrintsNoSecret(t *testing.T) {
	k, err := GenerateKey()
	if err != nil {
		t.Fatal(err)
	}
	id, err := NewIdentity(k)
	if err != nil {
		t.Fatal(err)
	}
	out := fmt.Sprintf("%v %+v %#v %s %v %+v %#v", *id, *id, *id, id, *k, *k, *k)
	if strings.Contains(out, fmt.Sprint([]byte(k.Key[:8]))[1:20]) || strings.Contains(out, fmt.Sprintf("%x", k.Key[:8])) || strings.Contains(out, fmt.Sprintf("%#v", []byte(k.Key[:8]))[7:30]) {
		t.Error("the key is printed")
	}
	k.Key = nil
	if _, err := NewIdentity(k); err == nil {
		t.Error("an identity without a key")
	}
}

func FuzzParseInvitation(f *testing.F) {
	f.Add("undersign://aaaaaaaaaaaaaaaaaaaaaaaaaa@host:1/us1qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqfpsdfw")
	f.Fuzz(func(t *testing.T, s string) {
		if inv, err := ParseInvitation(s); err == nil && inv.Token() != strings.TrimSpace(s) {
			t.Errorf("%q is written %q", s, inv.Token())
		}
	})
}
