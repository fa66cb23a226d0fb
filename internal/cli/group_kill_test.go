// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/x509"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	mrand "math/rand/v2"
	"os"
	"os/exec"
	"runtime"
	"testing"
	"time"

	"github.com/undersign/undersign/groupsig"
	"github.com/undersign/undersign/keyfile"
)

// TestGroupKill kills members who sign in a sequence. Whatever happens the member's
// file is whole, and ahead of all signatures that are out: two at one place of the
// sequence would betray the member.
func TestGroupKill(t *testing.T) {
	bin, err := exec.LookPath("undersign") // the test binary, by testscript.Main
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	t.Chdir(dir)
	run := func(args ...string) {
		t.Helper()
		if code, _, stderr := runTest(append([]string{"group"}, args...)...); code != 0 {
			t.Fatalf("%s: %s", args, stderr)
		}
	}
	for _, name := range []string{"issuer", "alice"} {
		if err := writeAgeKey(name); err != nil {
			t.Fatal(err)
		}
	}
	writeEdKey(t, "alice")
	if err := os.WriteFile("f", []byte("reading"), 0o600); err != nil {
		t.Fatal(err)
	}
	run("create", "meter", "--scheme", "dl21seq", "--issuer-to", "issuer.txt", "-o", "g")
	e := &env{stdin: nil}
	gk, err := e.readGroup(t.Context(), "g/group.pub")
	if err != nil {
		t.Fatal(err)
	}
	run("invite", "alice", "--issuer", "g/issuer.age", "-i", "issuer.key", "--member-key", "alice.pub.pem")
	run("join", "alice.challenge", "--group", "g/group.pub", "--id", groupID(gk), "--key", "alice.pem", "--to", "alice.txt", "--issuer-to", "issuer.txt")
	run("issue", "alice.application", "--issuer", "g/issuer.age", "-i", "issuer.key")
	run("join", "alice.credential", "--pending", "alice.pending", "-i", "alice.key", "--to", "alice.txt")

	n := 10
	if os.Getenv("UNDERSIGN_LONG") != "" {
		n = 200
	}
	var took time.Duration
	killed, signatures := 0, 0
	for i := range n + 1 {
		name := fmt.Sprintf("sig%d", i)
		cmd := exec.Command(bin, "group", "sign", "f", "--member", "alice.member", "-i", "alice.key", "--scope", name, "-o", name)
		start := time.Now()
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if i > 0 {
			time.Sleep(took/2 + mrand.N(took*3/2))
			cmd.Process.Kill()
		}
		if err := cmd.Wait(); err != nil {
			killed++
		}
		if i == 0 {
			took = time.Since(start)
		}

		switch data, err := os.ReadFile(name); {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			t.Fatal(err)
		default:
			signatures++
			s, err := keyfile.ParseAs[*keyfile.GroupSignature](data)
			if err != nil {
				t.Fatalf("%s isn't whole: %v", name, err)
			}
			if err := gk.Verify([]byte("reading"), s.Parts[2], groupsig.VerifyOptions{Scope: []byte(name)}); err != nil {
				t.Fatal(err)
			}
		}
		err := useSecret(t.Context(), e, secretFlags{identities: []string{"alice.key"}, pass: passphraseFlags{fd: -1}}, "alice.member", (*opener).openMember,
			func(_ *opener, m *groupMember) error {
				sl, ok := groupsig.As[groupsig.SequenceLinker](m.key)
				if next := sl.SequenceIndex(); !ok || next <= uint64(signatures) {
					return fmt.Errorf("%d signatures are out, and the next is number %d", signatures, next)
				}
				return nil
			})
		if err != nil {
			t.Fatal(err)
		}
	}
	if signatures == 0 {
		t.Error("nothing was ever signed")
	}
	t.Logf("%d of %d were killed, %d signatures are out, an undisturbed run took %v", killed, n, signatures, took)
}

// TestGroupMakeKill kills the issuer of a static group while it makes keys. Whatever
// happens its file is whole, who has a key is in it, and the key can be made again.
func TestGroupMakeKill(t *testing.T) {
	bin, err := exec.LookPath("undersign")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	for _, name := range []string{"issuer", "opener", "alice"} {
		if err := writeAgeKey(name); err != nil {
			t.Fatal(err)
		}
	}
	writeEdKey(t, "registrar")
	if code, _, stderr := runTest("group", "create", "staff", "--scheme", "bbs04", "--with", "static",
		"--issuer-to", "issuer.txt", "--opener-to", "opener.txt", "-o", "g"); code != 0 {
		t.Fatal(stderr)
	}
	e := &env{stdin: nil}
	flags := func(key string) secretFlags {
		return secretFlags{identities: []string{key}, pass: passphraseFlags{fd: -1}}
	}
	issue := func(name string, more ...string) []string {
		return append([]string{"group", "issue", "--name", name, "--to", "alice.txt", "--issuer", "g/issuer.age", "-i", "issuer.key",
			"--opener-to", "opener.txt"}, more...)
	}
	n := 8
	if os.Getenv("UNDERSIGN_LONG") != "" {
		n = 200
	}
	var took time.Duration
	lost := 0
	for i := range n + 1 {
		name := fmt.Sprintf("m%d", i)
		cmd := exec.Command(bin, issue(name, "--key", "registrar.pem")...)
		start := time.Now()
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if i > 0 {
			time.Sleep(took/2 + mrand.N(took*3/4))
			cmd.Process.Kill()
		}
		cmd.Wait()
		if i == 0 {
			took = time.Since(start)
		}
		registered := false
		err := useSecret(t.Context(), e, flags("issuer.key"), "g/issuer.age", (*opener).openIssuer, func(_ *opener, is *groupIssuer) error {
			registered = is.register.Member(name) != nil
			return nil
		})
		if err != nil {
			t.Fatalf("the issuer's file isn't whole: %v", err)
		}
		_, err = os.Stat(name + ".member")
		out := err == nil
		again := issue(name, "--again", "-o", name+".again", "--record", name+".record2")
		switch code, _, stderr := runTest(again...); {
		case out && !registered:
			t.Fatalf("%s has a key, and isn't registered", name)
		case (code == 0) != registered:
			t.Fatalf("registered is %v, and making the key again gives %s", registered, stderr)
		case !registered:
			continue
		case !out:
			lost++
			continue
		}
		var keys [2]string
		for j, file := range []string{name + ".member", name + ".again"} {
			if fi, err := os.Stat(file); err != nil || fi.Mode().Perm()&0o077 != 0 && runtime.GOOS != "windows" {
				t.Fatalf("%s: %v, %v", file, fi.Mode(), err)
			}
			err := useSecret(t.Context(), e, flags("alice.key"), file, (*opener).openMember, func(_ *opener, m *groupMember) error {
				keys[j] = string(m.file().Parts[1])
				return nil
			})
			if err != nil {
				t.Fatalf("%s isn't whole: %v", file, err)
			}
		}
		if keys[0] != keys[1] {
			t.Fatal("another key the second time")
		}
	}
	t.Logf("%d of %d keys were lost and made again, an undisturbed run took %v", lost, n, took)
}

// writeEdKey writes NAME.pem and NAME.pub.pem.
func writeEdKey(t *testing.T, name string) {
	t.Helper()
	pub, priv, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	p8, err := x509.MarshalPKCS8PrivateKey(priv)
	if err != nil {
		t.Fatal(err)
	}
	spki, err := x509.MarshalPKIXPublicKey(pub)
	if err != nil {
		t.Fatal(err)
	}
	for file, b := range map[string]*pem.Block{name + ".pem": {Type: "PRIVATE KEY", Bytes: p8}, name + ".pub.pem": {Type: "PUBLIC KEY", Bytes: spki}} {
		if err := os.WriteFile(file, pem.EncodeToMemory(b), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// A state holds from its first second to its last one.
func TestInForce(t *testing.T) {
	s := testState{issued: 1000, expires: 2000}
	for at, want := range map[int64]int{999: ExitRefused, 1000: ExitOK, 1500: ExitOK, 2000: ExitOK, 2001: ExitRefused} {
		err := inForce("list", s, time.Unix(at, 0))
		if exitCode(err) != want {
			t.Errorf("at %d: %v", at, err)
		}
		if want != ExitOK && hintOf(err) == "" {
			t.Errorf("at %d: no hint", at)
		}
	}
}

type testState struct{ issued, expires int64 }

func (s testState) Number() uint64                 { return 1 }
func (s testState) Issued() int64                  { return s.issued }
func (s testState) Expires() int64                 { return s.expires }
func (s testState) MarshalBinary() ([]byte, error) { return nil, nil }

// Uses are numbered from 1, and those of other limits are others.
func TestLimitedUse(t *testing.T) {
	c := newGroupSignCmd(&env{})
	seen := map[string]string{}
	for _, use := range []string{"1/1", "1/2", "2/2", "1/65536", "65536/65536"} {
		s, err := limitedUse(c, []byte("scope"), use)
		if err != nil {
			t.Fatal(err)
		}
		if other, ok := seen[hex.EncodeToString(s)]; ok {
			t.Errorf("%s and %s are one", use, other)
		}
		seen[hex.EncodeToString(s)] = use
	}
	for _, use := range []string{"", "1", "/", "1/", "/1", "0/1", "-1/2", "1/-2", "1/65537", "1/2/3", "a/b", "18446744073709551617/2", "2/1", "1/0"} {
		if _, err := limitedUse(c, []byte("scope"), use); err == nil {
			t.Errorf("%q: no error", use)
		}
	}
	if _, err := limitedUse(c, nil, "1/2"); exitCode(err) != ExitUsage {
		t.Errorf("without scopes: %v", err)
	}
}
