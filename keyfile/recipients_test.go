// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package keyfile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"

	"filippo.io/age"
	"filippo.io/age/plugin"
)

var silentUI = &plugin.ClientUI{}

func TestParseRecipients(t *testing.T) {
	hybrid, err := age.GenerateHybridIdentity()
	if err != nil {
		t.Fatal(err)
	}
	file := fmt.Sprintf("# alice\r\n\n%s\n#%s\n%s", alice.Recipient(), bob.Recipient(), hybrid.Recipient())
	got, err := ParseRecipients(iotest.HalfReader(strings.NewReader(file)), nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != 2 || fmt.Sprint(got[0]) != alice.Recipient().String() || fmt.Sprint(got[1]) != hybrid.Recipient().String() {
		t.Errorf("got %v", got)
	}

	file = plugin.EncodeRecipient("undersigntest", []byte("x"))
	got, err = ParseRecipients(strings.NewReader(file), &Options{PluginUI: silentUI})
	if err != nil {
		t.Fatal(err)
	}
	if r, ok := got[0].(*plugin.Recipient); !ok || r.Name() != "undersigntest" {
		t.Errorf("got %T", got[0])
	}
}

func TestParseRecipientsRefuses(t *testing.T) {
	good := alice.Recipient().String() + "\n"
	plug := plugin.EncodeRecipient("undersigntest", []byte("x"))
	for _, c := range []struct {
		name, in string
		line     int
		want     string
		hint     bool
	}{
		{"empty", "", 1, "end of file", false},
		{"only comments", "# public key: " + good + "\n", 3, "end of file", false},
		{"identity", good + aliceKey + "\n", 2, "a secret key", true},
		{"identity file", "# created: today\n# public key: " + good + aliceKey + "\n", 3, "a secret key", true},
		{"identity in lower case", strings.ToLower(aliceKey), 1, "a secret key", true},
		{"identity with a space before it", " " + aliceKey, 1, "a secret key", true},
		{"broken identity", aliceKey[:30], 1, "a secret key", true},
		{"post-quantum identity", "AGE-SECRET-KEY-PQ-1QQQ", 1, "a secret key", true},
		{"plugin identity", plugin.EncodeIdentity("undersigntest", nil), 1, "a secret key", true},
		{"private key", "-----BEGIN PRIVATE KEY-----\n", 1, "a secret key", true},
		{"SSH private key", "-----BEGIN OPENSSH PRIVATE KEY-----\n", 1, "a secret key", true},
		{"SSH key", "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIHsKLqeplhpW+uObz5dvMgjz1OxfM/XXUB+VHtZ6isGN alice", 1, "SSH", true},
		{"undersign file", goodBlock, 1, "PEM", false},
		{"encrypted file", string(seal(t, &fakeSecret{}, alice.Recipient())), 1, "an age file", false},
		{"plugin without UI", good + plug, 2, "plugin", false},
		{"name", good + "\nalice\n", 3, "not an age recipient", false},
		{"github", "github:alice", 1, "not an age recipient", false},
		{"checksum", good[:20] + "q" + good[21:], 1, "malformed", true},
		{"cut", good[:50], 1, "malformed", true},
		{"upper case", strings.ToUpper(good), 1, "not an age recipient", false},
		{"space before", " " + good, 1, "not an age recipient", false},
		{"space after", strings.TrimSpace(good) + " \n", 1, "malformed", true},
		{"two on a line", strings.TrimSpace(good) + " " + good, 1, "malformed", true},
		{"comment on a line", strings.TrimSpace(good) + " # alice\n", 1, "malformed", true},
		{"NUL", good + "\x00\n", 2, "a character", false},
		{"not ASCII", good + "ä\n", 2, "a character", false},
		{"byte order mark", "\uFEFF" + good, 1, "a character", false},
		{"long line", good + "age1" + strings.Repeat("q", maxAgeLine), 2, "too long", false},
	} {
		got, err := ParseRecipients(strings.NewReader(c.in), nil)
		checkLine(t, c.name, got == nil, err, c.line, c.want, c.hint)
	}
	if _, err := ParseRecipients(strings.NewReader(plug[:20]), &Options{PluginUI: silentUI}); err == nil {
		t.Error("cut plugin recipient")
	}
	if _, err := ParseRecipients(strings.NewReader(strings.Repeat(good, maxAgeFile/len(good)+1)), nil); err == nil {
		t.Error("giant file")
	}
	if _, err := ParseRecipients(iotest.ErrReader(io.ErrClosedPipe), nil); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("read error: %v", err)
	}
}

// checkLine checks a SyntaxError that must not repeat any secret.
func checkLine(t *testing.T, name string, isNil bool, err error, line int, want string, hint bool) {
	t.Helper()
	e, ok := errors.AsType[*SyntaxError](err)
	if !ok || !isNil {
		t.Errorf("%s: %v, want a SyntaxError and nothing else", name, err)
		return
	}
	if e.Line != line || !strings.Contains(e.Reason, want) || (e.Hint != "") != hint {
		t.Errorf("%s: %v (hint %q), want line %d: %s (hint: %t)", name, err, e.Hint, line, want, hint)
	}
	if text := strings.ToUpper(err.Error() + e.Hint); strings.Contains(text, "KEY-1") || strings.Contains(text, aliceKey[20:]) {
		t.Errorf("%s: repeats the file: %v", name, err)
	}
}

func TestParseIdentities(t *testing.T) {
	hybrid, err := age.GenerateHybridIdentity()
	if err != nil {
		t.Fatal(err)
	}
	file := "# public key: " + alice.Recipient().String() + "\n" + aliceKey + "\r\n\n" + hybrid.String()
	got, err := ParseIdentities(strings.NewReader(file), nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != 2 || fmt.Sprint(got[0]) != aliceKey || fmt.Sprint(got[1]) != hybrid.String() {
		t.Error("got something else")
	}
}

func TestParseIdentitiesRefuses(t *testing.T) {
	good := aliceKey + "\n"
	plug := plugin.EncodeIdentity("undersigntest", []byte("x"))
	for _, c := range []struct {
		name, in string
		line     int
		want     string
		hint     bool
	}{
		{"empty", "", 1, "end of file", false},
		{"only comments", "# " + good, 2, "end of file", false},
		{"recipient", good + alice.Recipient().String(), 2, "a recipient", true},
		{"SSH private key", "-----BEGIN OPENSSH PRIVATE KEY-----\n", 1, "SSH", true},
		{"private key", "-----BEGIN PRIVATE KEY-----\n", 1, "PEM", false},
		{"undersign file", secretBlock, 1, "PEM", false},
		{"plugin without UI", good + plug, 2, "plugin", false},
		{"checksum", good[:30] + "Q" + good[31:], 1, "malformed", true},
		{"cut", good[:50], 1, "malformed", true},
		{"cut post-quantum", "AGE-SECRET-KEY-PQ-1QQQ", 1, "malformed", true},
		{"lower case", strings.ToLower(good), 1, "not an age identity", false},
		{"space before", " " + good, 1, "not an age identity", false},
		{"space after", aliceKey + " \n", 1, "malformed", true},
		{"passphrase", "correct horse", 1, "not an age identity", false},
		{"NUL", good + "\x00\n", 2, "a character", false},
		{"UTF-16", "\xff\xfeA\x00G\x00E\x00", 1, "a character", false},
		{"long line", strings.Repeat("A", maxAgeLine+1), 1, "too long", false},
		{"encrypted, and no way to ask", string(encrypt(t, good, scrypt(t, "x"))), 1, "encrypted identity file", false},
		{"armoured, and no way to ask", string(armored(t, encrypt(t, good, scrypt(t, "x")))), 1, "encrypted identity file", false},
	} {
		got, err := ParseIdentities(strings.NewReader(c.in), nil)
		checkLine(t, c.name, got == nil, err, c.line, c.want, c.hint)
	}
	if _, err := ParseIdentities(strings.NewReader(strings.Repeat("\n", maxAgeFile+1)), nil); err == nil {
		t.Error("giant file")
	}
	if _, err := ParseIdentities(iotest.ErrReader(io.ErrClosedPipe), nil); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("read error: %v", err)
	}
}

func TestEncryptedIdentities(t *testing.T) {
	file := encrypt(t, "# mine\n"+aliceKey+"\n", scrypt(t, "correct horse"))
	toAlice := seal(t, &fakeSecret{[]byte("s3cret")}, alice.Recipient())
	for _, f := range [][]byte{file, armored(t, file)} {
		asked, pass := 0, "wrong"
		opts := &Options{Passphrase: func() ([]byte, error) { asked++; return []byte(pass), nil }}
		ids, err := ParseIdentities(bytes.NewReader(f), opts)
		if err != nil {
			t.Fatal(err)
		}
		if asked != 0 {
			t.Error("asked before there was need")
		}
		if _, err := Open(bytes.NewReader(toAlice), ids...); !errors.Is(err, ErrPassphrase) || !strings.Contains(err.Error(), "identity file") {
			t.Errorf("wrong passphrase: %v", err)
		}
		pass = "correct horse"
		for range 2 {
			if _, err := Open(bytes.NewReader(toAlice), ids...); err != nil {
				t.Errorf("right passphrase: %v", err)
			}
		}
		if asked != 2 {
			t.Errorf("asked %d times, want 2", asked)
		}
		if _, err := Open(bytes.NewReader(seal(t, &fakeSecret{}, bob.Recipient())), ids...); !errors.Is(err, ErrNoIdentity) {
			t.Errorf("another recipient: %v", err)
		}
	}

	opts := &Options{Passphrase: func() ([]byte, error) { return []byte("correct horse"), nil }}
	for _, c := range []struct {
		name string
		file []byte
		want string
	}{
		{"encrypted to a key", encrypt(t, aliceKey, alice.Recipient()), "identity file: it isn't encrypted with a passphrase"},
		{"cut", file[:len(file)-1], "identity file: keyfile: age file is damaged"},
		{"nothing inside", encrypt(t, "", scrypt(t, "correct horse")), "inside the age file: line 1: end of file"},
		{"recipient inside", encrypt(t, alice.Recipient().String(), scrypt(t, "correct horse")), "inside the age file: line 1: a recipient"},
		{"age file inside", encrypt(t, string(file), scrypt(t, "correct horse")), "inside the age file: line 1: not an age identity"},
	} {
		ids, err := ParseIdentities(bytes.NewReader(c.file), opts)
		if err != nil {
			t.Fatal(err)
		}
		_, err = Open(bytes.NewReader(toAlice), ids...)
		if err == nil || !strings.Contains(err.Error(), c.want) || errors.Is(err, ErrNoIdentity) {
			t.Errorf("%s: %v, want %s", c.name, err, c.want)
		}
	}
}

// TestPlugin runs this very test binary as an age plugin.
func TestPlugin(t *testing.T) {
	if runtime.GOOS == "windows" || runtime.GOOS == "js" || runtime.GOOS == "wasip1" {
		t.Skip("needs symbolic links and programs")
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	opts := &Options{PluginUI: silentUI}
	recipients, err := ParseRecipients(strings.NewReader(plugin.EncodeRecipient("undersigntest", []byte("x"))), opts)
	if err != nil {
		t.Fatal(err)
	}
	identities, err := ParseIdentities(strings.NewReader(plugin.EncodeIdentity("undersigntest", []byte("x"))), opts)
	if err != nil {
		t.Fatal(err)
	}

	t.Setenv("PATH", dir)
	err = Seal(io.Discard, &fakeSecret{}, recipients...)
	if e, ok := errors.AsType[*plugin.NotFoundError](err); !ok || e.Name != "undersigntest" {
		t.Errorf("no such plugin: %v", err)
	}
	if err := os.Symlink(exe, filepath.Join(dir, testPlugin)); err != nil {
		t.Skip(err)
	}
	file := seal(t, &fakeSecret{[]byte("s3cret")}, recipients...)
	v, err := OpenAs[*fakeSecret](bytes.NewReader(file), identities...)
	if err != nil || string(v.data) != "s3cret" {
		t.Errorf("by plugin: %v, %v", v, err)
	}
	if _, err := Open(bytes.NewReader(file), alice); err != nil {
		t.Errorf("by the key the plugin holds: %v", err)
	}
	if _, err := Open(bytes.NewReader(seal(t, &fakeSecret{}, bob.Recipient())), identities...); !errors.Is(err, ErrNoIdentity) {
		t.Errorf("another recipient: %v", err)
	}
}
