// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bytes"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/undersign/undersign/keyfile"
)

// Two processes that change one file would lose what one of them did.
func TestGroupLock(t *testing.T) {
	path := filepath.Join(t.TempDir(), "issuer.age")
	if err := os.WriteFile(path, []byte("anything"), 0o600); err != nil {
		t.Fatal(err)
	}
	unlock, err := lockSecret(path)
	if err != nil {
		t.Fatal(err)
	}
	defer unlock()
	again, err := lockSecret(path)
	if runtime.GOOS == "linux" && err == nil {
		again()
		t.Error("locked twice")
	}
	if _, err := lockSecret("-"); exitCode(err) != ExitUsage {
		t.Errorf("standard input: %v", err)
	}
}

func TestQueryItems(t *testing.T) {
	items := [][]byte{[]byte("first"), {}, bytes.Repeat([]byte{7}, maxQueryItem)}
	data := encodeItems(items)
	got, err := decodeItems(data)
	if err != nil || !slices.EqualFunc(got, items, bytes.Equal) {
		t.Errorf("%v, %q", err, got)
	}
	if got, err := decodeItems(nil); err != nil || len(got) != 0 {
		t.Errorf("of nothing: %v, %q", err, got)
	}
	for n := range len(data) {
		if got, err := decodeItems(data[:n]); err == nil && (len(got) >= len(items) || !bytes.Equal(encodeItems(got), data[:n])) {
			t.Errorf("cut to %d bytes: %d items", n, len(got))
		}
	}
	for name, bad := range map[string][]byte{
		"an item that is too long": encodeItems([][]byte{make([]byte, maxQueryItem+1)}),
		"too many items":           encodeItems(make([][]byte, maxQuery+1)),
		"a length of 2^32-1":       {0xff, 0xff, 0xff, 0xff, 0},
	} {
		if _, err := decodeItems(bad); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// cmdEdKey is the command
//
//	edkey NAME...    make the Ed25519 keys NAME.pem and NAME.pub.pem
func cmdEdKey(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: edkey NAME...")
	}
	for _, name := range args {
		pub, priv, err := ed25519.GenerateKey(rand.Reader)
		ts.Check(err)
		p8, err := x509.MarshalPKCS8PrivateKey(priv)
		ts.Check(err)
		spki, err := x509.MarshalPKIXPublicKey(pub)
		ts.Check(err)
		ts.Check(os.WriteFile(ts.MkAbs(name+".pem"), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: p8}), 0o600))
		ts.Check(os.WriteFile(ts.MkAbs(name+".pub.pem"), pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: spki}), 0o600))
	}
}

// cmdGroupID is the command
//
//	groupid FILE VAR    put the ID of a group key into a variable
func cmdGroupID(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: groupid FILE VAR")
	}
	k, err := keyfile.ParseAs[*keyfile.GroupKey]([]byte(ts.ReadFile(args[0])))
	ts.Check(err)
	ts.Setenv(args[1], fmt.Sprintf("%x", k.Group))
}

// cmdJoined is the command
//
//	joined DIR [FLAG...] -- NAME...    let members join the group in DIR, whose roles
//	                                   have the age keys issuer and opener
func cmdJoined(ts *testscript.TestScript, neg bool, args []string) {
	i := 1
	for i < len(args) && args[i] != "--" {
		i++
	}
	if neg || i >= len(args) {
		ts.Fatalf("usage: joined DIR [FLAG...] -- NAME...")
	}
	dir, flags := args[0], args[1:i]
	cmdGroupID(ts, false, []string{dir + "/group.pub", "JOINED"})
	_, noOpener := os.Stat(ts.MkAbs(dir + "/opener.age"))
	run := func(args ...string) { ts.Check(ts.Exec("undersign", append([]string{"group"}, args...)...)) }
	for _, name := range args[i+1:] {
		f := dir + "/" + name
		run("invite", name, "--issuer", dir+"/issuer.age", "-i", "issuer.key", "--member-key", name+".pub.pem", "-o", f+".challenge")
		run("join", f+".challenge", "--group", dir+"/group.pub", "--id", ts.Getenv("JOINED"), "--key", name+".pem", "--to", name+".txt",
			"--issuer-to", "issuer.txt", "-o", f+".application", "--pending-out", f+".pending")
		issue := []string{"issue", f + ".application", "--issuer", dir + "/issuer.age", "-i", "issuer.key", "-o", f + ".credential", "--record", f + ".record"}
		if noOpener == nil {
			issue = append(issue, "--opener-to", "opener.txt")
		}
		run(issue...)
		run(append([]string{"join", f + ".credential", "--pending", f + ".pending", "-i", name + ".key", "--to", name + ".txt", "-o", f + ".member"}, flags...)...)
		if noOpener == nil {
			run("update", f+".record", "--opener", dir+"/opener.age", "-i", "opener.key", "--member-key", name+".pub.pem")
		}
	}
}

// cmdSameLinked is the command
//
//	samelinked A B C    demand of what convert has printed that A and B have one
//	                    pseudonym, and C another
func cmdSameLinked(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: samelinked A B C")
	}
	nyms := map[string]string{}
	for line := range strings.Lines(ts.ReadFile("stdout")) {
		name, nym, _ := strings.Cut(strings.TrimSpace(line), ": pseudonym ")
		nyms[name] = nym
	}
	a, b, c := nyms[args[0]], nyms[args[1]], nyms[args[2]]
	if len(a) != 16 || a != b || len(c) != 16 || a == c {
		ts.Fatalf("pseudonyms %q, %q, %q", a, b, c)
	}
}

// cmdMisnamed is the command
//
//	misnamed IN NAME OUT    copy an application to the issuer, and claim that it is
//	                        of somebody else
func cmdMisnamed(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: misnamed IN NAME OUT")
	}
	ids, err := keyfile.ParseIdentities(strings.NewReader(ts.ReadFile("issuer.key")), nil)
	ts.Check(err)
	to, err := keyfile.ParseRecipients(strings.NewReader(ts.ReadFile("issuer.txt")), nil)
	ts.Check(err)
	a, err := keyfile.OpenAs[*keyfile.GroupApplication](strings.NewReader(ts.ReadFile(args[0])), ids...)
	ts.Check(err)
	a.Parts[0] = []byte(args[1])
	data, err := seal(a, to)
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[2]), data, 0o600))
}
