// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"filippo.io/age"
	"filippo.io/age/armor"

	"github.com/undersign/undersign/keyfile"
	"github.com/undersign/undersign/thresholdrsa"
)

// testSecret returns a secret that is quickly made.
func testSecret(t *testing.T) *thresholdrsa.ReceiverKey {
	k, err := thresholdrsa.NewReceiver("alice")
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func bufferedEnv(t *testing.T) (*env, *bytes.Buffer) {
	var stderr bytes.Buffer
	return &env{stdin: strings.NewReader(""), stdout: new(bytes.Buffer), stderr: &stderr}, &stderr
}

func writeTestFile(t *testing.T, path string, data []byte) string {
	t.Helper()
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func mustSeal(t *testing.T, v keyfile.Object, to ...age.Recipient) []byte {
	t.Helper()
	data, err := seal(v, to)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func scrypt(t *testing.T, pass string) age.Recipient {
	r, err := age.NewScryptRecipient(pass)
	if err != nil {
		t.Fatal(err)
	}
	r.SetWorkFactor(10)
	return r
}

// TestWriteBack writes secrets back for the same reader: whoever opened the file
// opens the new one too, and nobody else does.
func TestWriteBack(t *testing.T) {
	dir := t.TempDir()
	alice, _ := age.GenerateX25519Identity()
	bob, _ := age.GenerateX25519Identity()
	hybrid, err := age.GenerateHybridIdentity()
	if err != nil {
		t.Fatal(err)
	}
	ids := map[string]string{}
	for name, id := range map[string]string{"alice": alice.String(), "bob": bob.String(), "hybrid": hybrid.String()} {
		ids[name] = writeTestFile(t, filepath.Join(dir, name+".key"), []byte(id+"\n"))
	}
	pass := writeTestFile(t, filepath.Join(dir, "pass"), []byte("correct horse\n"))
	secret, other := testSecret(t), testSecret(t)
	plaintext, err := keyfile.EncodeInsecurePlaintext(secret)
	if err != nil {
		t.Fatal(err)
	}
	none := passphraseFlags{fd: -1}

	for _, tt := range []struct {
		name   string
		data   []byte
		flags  secretFlags
		others bool // of identities that mustn't open the new file
	}{
		{"X25519", mustSeal(t, secret, alice.Recipient()), secretFlags{identities: []string{ids["bob"], ids["alice"]}, pass: none}, true},
		{"hybrid", mustSeal(t, secret, hybrid.Recipient()), secretFlags{identities: []string{ids["bob"], ids["hybrid"]}, pass: none}, true},
		{"passphrase", mustSeal(t, secret, scrypt(t, "correct horse")), secretFlags{identities: []string{ids["bob"]}, pass: passphraseFlags{file: pass, fd: -1}}, true},
		{"plaintext", plaintext, secretFlags{plaintext: true, pass: none}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			e, stderr := bufferedEnv(t)
			path := writeTestFile(t, filepath.Join(t.TempDir(), "secret"), tt.data)
			o, err := e.newOpener(t.Context(), tt.flags)
			if err != nil {
				t.Fatal(err)
			}
			defer o.wipe()
			got, file, err := openSecret[*thresholdrsa.ReceiverKey](o, path)
			if err != nil {
				t.Fatal(err)
			}
			if !got.Equal(secret) {
				t.Fatal("another secret came out")
			}
			if err := file.writable(e, nil); err != nil {
				t.Fatal(err)
			}
			if err := file.replace(e, other); err != nil {
				t.Fatal(err)
			}
			if fi, err := os.Stat(path); err != nil || fi.Mode().Perm() != 0o600 {
				t.Errorf("mode of the new file: %v, %v", fi.Mode(), err)
			}
			got, _, err = openSecret[*thresholdrsa.ReceiverKey](o, path)
			if err != nil {
				t.Fatal(err)
			}
			if !got.Equal(other) {
				t.Error("the new file doesn't hold the new secret")
			}
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := keyfile.Open(bytes.NewReader(data), bob); tt.others && !errors.Is(err, keyfile.ErrNoIdentity) {
				t.Errorf("an identity that didn't open the old file opens the new one: %v", err)
			}
			if stderr.Len() > 0 {
				t.Errorf("unexpected: %s", stderr)
			}
			if left, _ := filepath.Glob(filepath.Join(filepath.Dir(path), ".*")); len(left) > 0 {
				t.Errorf("left behind: %q", left)
			}
		})
	}
}

// TestWriteBackRefused has files of which it isn't known for whom to write them.
func TestWriteBackRefused(t *testing.T) {
	dir := t.TempDir()
	alice, _ := age.GenerateX25519Identity()
	bob, _ := age.GenerateX25519Identity()
	secret := testSecret(t)
	id := []byte(alice.String() + "\n")
	pass := writeTestFile(t, filepath.Join(dir, "pass"), []byte("correct horse\n"))

	// An identity file under a passphrase: what is in it isn't at hand.
	var enc bytes.Buffer
	a := armor.NewWriter(&enc)
	w, err := age.Encrypt(a, scrypt(t, "correct horse"))
	if err != nil {
		t.Fatal(err)
	}
	w.Write(id)
	if err := errors.Join(w.Close(), a.Close()); err != nil {
		t.Fatal(err)
	}
	encrypted := writeTestFile(t, filepath.Join(dir, "alice.key.age"), enc.Bytes())
	path := writeTestFile(t, filepath.Join(dir, "secret"), mustSeal(t, secret, alice.Recipient()))

	e, _ := bufferedEnv(t)
	o, err := e.newOpener(t.Context(), secretFlags{identities: []string{encrypted}, pass: passphraseFlags{file: pass, fd: -1}})
	if err != nil {
		t.Fatal(err)
	}
	defer o.wipe()
	_, file, err := openSecret[*thresholdrsa.ReceiverKey](o, path)
	if err != nil {
		t.Fatal(err)
	}
	if err := file.writable(e, nil); err == nil || !strings.Contains(hintOf(err), "--to") {
		t.Errorf("encrypted identity file: %v", err)
	}
	if err := file.replace(e, secret); err == nil {
		t.Error("replaced for nobody")
	}
	if err := file.writable(e, []age.Recipient{bob.Recipient()}); err != nil {
		t.Errorf("with --to: %v", err)
	}
	if err := file.replace(e, secret); err != nil {
		t.Error(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := keyfile.Open(bytes.NewReader(data), bob); err != nil {
		t.Errorf("written back for --to: %v", err)
	}

	// Two recipients: the other one can't be kept, and that is said.
	both := writeTestFile(t, filepath.Join(dir, "both"), mustSeal(t, secret, alice.Recipient(), bob.Recipient()))
	key := writeTestFile(t, filepath.Join(dir, "alice.key"), id)
	e, stderr := bufferedEnv(t)
	if o, err = e.newOpener(t.Context(), secretFlags{identities: []string{key}, pass: passphraseFlags{fd: -1}}); err != nil {
		t.Fatal(err)
	}
	if _, file, err = openSecret[*thresholdrsa.ReceiverKey](o, both); err != nil {
		t.Fatal(err)
	}
	if err := file.writable(e, nil); err != nil || !strings.Contains(stderr.String(), "encrypted to 1 more") {
		t.Errorf("two recipients: %v, %s", err, stderr)
	}

	// Standard input.
	e, _ = bufferedEnv(t)
	e.stdin = bytes.NewReader(data)
	if o, err = e.newOpener(t.Context(), secretFlags{identities: []string{key}, pass: passphraseFlags{fd: -1}}); err != nil {
		t.Fatal(err)
	}
	e.stdin = bytes.NewReader(mustSeal(t, secret, alice.Recipient()))
	if _, file, err = openSecret[*thresholdrsa.ReceiverKey](o, "-"); err != nil {
		t.Fatal(err)
	}
	if err := file.writable(e, nil); exitCode(err) != ExitUsage {
		t.Errorf("standard input: %v", err)
	}
}

func TestOpenSecretErrors(t *testing.T) {
	dir := t.TempDir()
	alice, _ := age.GenerateX25519Identity()
	secret := testSecret(t)
	card, err := secret.Receiver()
	if err != nil {
		t.Fatal(err)
	}
	public, err := keyfile.Encode(card)
	if err != nil {
		t.Fatal(err)
	}
	plaintext, err := keyfile.EncodeInsecurePlaintext(secret)
	if err != nil {
		t.Fatal(err)
	}
	sealed := mustSeal(t, secret, alice.Recipient())
	key := writeTestFile(t, filepath.Join(dir, "alice.key"), []byte(alice.String()+"\n"))
	pass := writeTestFile(t, filepath.Join(dir, "pass"), []byte("wrong\n"))

	for _, tt := range []struct {
		name, want, hint string
		data             []byte
		mode             fs.FileMode
		plaintext        bool
	}{
		{"public", "not an age file", "beside the card", public, 0o600, true},
		{"empty", "not an age file", "beside the card", nil, 0o600, false},
		{"truncated", "", "", sealed[:len(sealed)-100], 0o600, false},
		{"wrong passphrase", "wrong passphrase", "", mustSeal(t, secret, scrypt(t, "right")), 0o600, false},
		{"plaintext", "isn't encrypted", "--insecure-plaintext", plaintext, 0o600, false},
		{"open to others", "others may read it", "chmod 600", plaintext, 0o640, true},
		{"damaged plaintext", "keyfile: ", "", append(plaintext[:len(plaintext)-40:len(plaintext)-40], "\n"...), 0o600, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			e, _ := bufferedEnv(t)
			path := writeTestFile(t, filepath.Join(t.TempDir(), "secret"), tt.data)
			if err := os.Chmod(path, tt.mode); err != nil {
				t.Fatal(err)
			}
			o, err := e.newOpener(t.Context(), secretFlags{
				identities: []string{key}, plaintext: tt.plaintext, pass: passphraseFlags{file: pass, fd: -1},
			})
			if err != nil {
				t.Fatal(err)
			}
			_, _, err = openSecret[*thresholdrsa.ReceiverKey](o, path)
			if err == nil || !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), path) {
				t.Errorf("error is %v, want %q and the file's name", err, tt.want)
			}
			if !strings.Contains(hintOf(err), tt.hint) {
				t.Errorf("hint is %q, want %q", hintOf(err), tt.hint)
			}
			if _, _, err := openSecret[*thresholdrsa.KeyShare](o, path); err == nil {
				t.Error("opens as a share")
			}
		})
	}

	// The right file, the wrong type; in plain text too.
	e, _ := bufferedEnv(t)
	o, err := e.newOpener(t.Context(), secretFlags{identities: []string{key}, plaintext: true, pass: passphraseFlags{fd: -1}})
	if err != nil {
		t.Fatal(err)
	}
	for _, data := range [][]byte{sealed, plaintext} {
		path := writeTestFile(t, filepath.Join(t.TempDir(), "secret"), data)
		_, _, err = openSecret[*thresholdrsa.KeyShare](o, path)
		var te *keyfile.TypeError
		if !errors.As(err, &te) || te.Want != "THRESHOLD RSA SHARE" || te.Got != "RECEIVER KEY" {
			t.Errorf("another type: %v", err)
		}
	}
}
