// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package keyfile

import (
	"bytes"
	"encoding/base64"
	"errors"
	"io"
	"os"
	"strings"
	"testing"
	"testing/iotest"

	"filippo.io/age"
	"filippo.io/age/armor"
)

var (
	alice = mustIdentity(aliceKey)
	bob   = mustGenerate()
)

func mustIdentity(s string) *age.X25519Identity {
	id, err := age.ParseX25519Identity(s)
	if err != nil {
		panic(err)
	}
	return id
}

func mustGenerate() *age.X25519Identity {
	id, err := age.GenerateX25519Identity()
	if err != nil {
		panic(err)
	}
	return id
}

// scrypt returns the cheapest recipient for a passphrase.
func scrypt(t testing.TB, pass string) *age.ScryptRecipient {
	t.Helper()
	r, err := age.NewScryptRecipient(pass)
	if err != nil {
		t.Fatal(err)
	}
	r.SetWorkFactor(4)
	return r
}

func passphrase(s string) age.Identity {
	return PassphraseIdentity(func() ([]byte, error) { return []byte(s), nil })
}

// encrypt is age and nothing else.
func encrypt(t testing.TB, text string, r ...age.Recipient) []byte {
	t.Helper()
	var b bytes.Buffer
	w, err := age.Encrypt(&b, r...)
	if err != nil {
		t.Fatal(err)
	}
	io.WriteString(w, text)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func armored(t testing.TB, data []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	w := armor.NewWriter(&b)
	w.Write(data)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func dearmored(t testing.TB, data []byte) []byte {
	t.Helper()
	b, err := io.ReadAll(armor.NewReader(bytes.NewReader(data)))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func seal(t testing.TB, v Object, r ...age.Recipient) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := Seal(&b, v, r...); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

const secretBlock = `-----BEGIN UNDERSIGN TEST SECRET-----
AQFzM2NyZXQ=
-----END UNDERSIGN TEST SECRET-----
`

func TestSealOpen(t *testing.T) {
	secret := &fakeSecret{[]byte("s3cret")}
	hybrid, err := age.GenerateHybridIdentity()
	if err != nil {
		t.Fatal(err)
	}
	oldPass, err := age.NewScryptIdentity("correct horse")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		to   []age.Recipient
		ids  []age.Identity
	}{
		{"one", []age.Recipient{alice.Recipient()}, []age.Identity{alice}},
		{"two, by the first", []age.Recipient{alice.Recipient(), bob.Recipient()}, []age.Identity{alice}},
		{"two, by the second", []age.Recipient{alice.Recipient(), bob.Recipient()}, []age.Identity{bob}},
		{"two identities", []age.Recipient{bob.Recipient()}, []age.Identity{alice, bob}},
		{"post-quantum", []age.Recipient{hybrid.Recipient()}, []age.Identity{alice, hybrid}},
		{"passphrase", []age.Recipient{scrypt(t, "correct horse")}, []age.Identity{passphrase("correct horse")}},
		{"age's passphrase", []age.Recipient{scrypt(t, "correct horse")}, []age.Identity{oldPass}},
		{"passphrase and key", []age.Recipient{scrypt(t, "correct horse")}, []age.Identity{alice, passphrase("correct horse")}},
		{"key and passphrase", []age.Recipient{alice.Recipient()}, []age.Identity{passphrase("?"), alice}},
	} {
		file := seal(t, secret, c.to...)
		if !strings.HasPrefix(string(file), armor.Header+"\n") || !strings.HasSuffix(string(file), armor.Footer+"\n") {
			t.Errorf("%s: not armoured:\n%s", c.name, file)
		}
		for _, f := range [][]byte{file, dearmored(t, file), append([]byte("\n \n"), append(file, ' ', '\n')...),
			bytes.ReplaceAll(file, []byte("\n"), []byte("\r\n"))} {
			v, err := Open(iotest.OneByteReader(bytes.NewReader(f)), c.ids...)
			if err != nil {
				t.Errorf("%s: %v", c.name, err)
			} else if got := v.(*fakeSecret); !bytes.Equal(got.data, secret.data) {
				t.Errorf("%s: got %q", c.name, got.data)
			}
		}
		// age alone finds the PEM inside.
		r, err := age.Decrypt(bytes.NewReader(dearmored(t, file)), c.ids...)
		if err != nil {
			t.Fatal(err)
		}
		if text, err := io.ReadAll(r); err != nil || string(text) != secretBlock {
			t.Errorf("%s: %v, inside is\n%s", c.name, err, text)
		}
	}
	v, err := OpenAs[*fakeSecret](bytes.NewReader(seal(t, secret, alice.Recipient())), alice)
	if err != nil || string(v.data) != "s3cret" {
		t.Errorf("OpenAs: %v, %v", v, err)
	}
}

// A large secret crosses age's chunks of 64 KiB.
func TestSealLarge(t *testing.T) {
	for _, n := range []int{48 << 10, 1 << 20} {
		file := seal(t, &fakeSecret{make([]byte, n)}, alice.Recipient())
		v, err := OpenAs[*fakeSecret](bytes.NewReader(file), alice)
		if err != nil || len(v.data) != n {
			t.Errorf("%d bytes: %v", n, err)
		}
	}
}

type brokenRecipient struct{}

func (brokenRecipient) Wrap([]byte) ([]*age.Stanza, error) { return nil, errors.New("token unplugged") }

func TestSealRefuses(t *testing.T) {
	secret := &fakeSecret{[]byte("s3cret")}
	hybrid, err := age.GenerateHybridIdentity()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		v    Object
		to   []age.Recipient
		want string
	}{
		{"public object", &fakePublic{}, []age.Recipient{alice.Recipient()}, "is public"},
		{"no recipients", secret, nil, "no recipients"},
		{"nil", nil, []age.Recipient{alice.Recipient()}, "no file format"},
		{"passphrase and key", secret, []age.Recipient{scrypt(t, "x"), alice.Recipient()}, "incompatible"},
		{"two passphrases", secret, []age.Recipient{scrypt(t, "x"), scrypt(t, "y")}, "can't be mixed"},
		{"post-quantum and classic", secret, []age.Recipient{hybrid.Recipient(), alice.Recipient()}, "can't mix post-quantum"},
		{"broken recipient", secret, []age.Recipient{alice.Recipient(), brokenRecipient{}}, "token unplugged"},
		{"too large", &fakeSecret{make([]byte, MaxSize/8*5)}, []age.Recipient{alice.Recipient()}, "larger than"},
	} {
		var b bytes.Buffer
		err := Seal(&b, c.v, c.to...)
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), "keyfile: ") {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
		if b.Len() != 0 {
			t.Errorf("%s: wrote %d bytes all the same", c.name, b.Len())
		}
	}
	if err := Seal(iotestWriter{}, secret, alice.Recipient()); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("write error: %v", err)
	}
}

type iotestWriter struct{}

func (iotestWriter) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }

func TestOpenRefuses(t *testing.T) {
	secret := &fakeSecret{[]byte("s3cret")}
	toAlice := seal(t, secret, alice.Recipient())
	toPass := seal(t, secret, scrypt(t, "correct horse"))
	insecure, err := EncodeInsecurePlaintext(secret)
	if err != nil {
		t.Fatal(err)
	}
	a, b := []age.Identity{alice}, []age.Identity{bob}
	wrongPass, err := age.NewScryptIdentity("wrong")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		in   []byte
		ids  []age.Identity
		is   error
		want string
	}{
		{"another recipient", toAlice, b, ErrNoIdentity, "no identity matches"},
		{"another recipient, binary", dearmored(t, toAlice), b, ErrNoIdentity, "no identity matches"},
		{"no identity", toAlice, nil, ErrNoIdentity, "none given"},
		{"key for passphrase", toPass, a, ErrNoIdentity, "it takes a passphrase"},
		{"passphrase for key", toAlice, []age.Identity{passphrase("x")}, ErrNoIdentity, "it takes a key"},
		{"wrong passphrase", toPass, []age.Identity{passphrase("wrong")}, ErrPassphrase, "wrong passphrase"},
		{"wrong passphrase, age's", toPass, []age.Identity{wrongPass}, ErrPassphrase, "wrong passphrase"},
		{"wrong passphrase and a key", toPass, []age.Identity{alice, passphrase("wrong")}, ErrPassphrase, "wrong passphrase"},
		{"empty passphrase", toPass, []age.Identity{passphrase("")}, nil, "empty"},
		{"no passphrase", toPass, []age.Identity{PassphraseIdentity(func() ([]byte, error) { return nil, io.ErrClosedPipe })}, io.ErrClosedPipe, "passphrase"},

		{"empty", nil, a, ErrNotEncrypted, "empty"},
		{"text", []byte("hello\n"), a, ErrNotEncrypted, ""},
		{"secret in plain text", []byte(secretBlock), a, ErrNotEncrypted, "found UNDERSIGN TEST SECRET in plain text"},
		{"labelled secret in plain text", insecure, a, ErrNotEncrypted, "found UNDERSIGN INSECURE PLAINTEXT TEST SECRET"},
		{"public object", []byte(goodBlock), a, ErrNotEncrypted, "found UNDERSIGN TEST PUBLIC"},
		{"public object with comments", []byte("hello\n" + goodBlock), a, ErrNotEncrypted, "found UNDERSIGN TEST PUBLIC"},
		{"text before the armour", append([]byte("hello\n"), toAlice...), a, ErrNotEncrypted, "AGE ENCRYPTED FILE"},
		{"identity file", []byte(aliceKey), a, ErrNotEncrypted, ""},
		{"age of the future", []byte("age-encryption.org/v2\n-> X25519 x\n"), a, nil, "age"},
		{"intro alone", []byte("age-encryption.org/v1\n"), a, nil, "age"},
		{"armour header alone", []byte(armor.Header + "\n"), a, nil, "age"},
		{"text after the armour", append(bytes.Clone(toAlice), "hello\n"...), a, nil, "trailing data"},
		{"armour twice", append(bytes.Clone(toAlice), toAlice...), a, nil, "trailing data"},
		{"bytes after the file", append(dearmored(t, toAlice), 0), a, nil, "damaged"},
	} {
		v, err := Open(bytes.NewReader(c.in), c.ids...)
		if err == nil || v != nil || c.is != nil && !errors.Is(err, c.is) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got (%v, %v), want %v: %s", c.name, v, err, c.is, c.want)
			continue
		}
		if !strings.HasPrefix(err.Error(), "keyfile: ") || strings.Contains(err.Error(), "SECRET-KEY") {
			t.Errorf("%s: %v", c.name, err)
		}
		for _, s := range []error{ErrNoIdentity, ErrPassphrase, ErrNotEncrypted} {
			if s != c.is && errors.Is(err, s) {
				t.Errorf("%s: is also %v", c.name, s)
			}
		}
	}
	if _, err := Open(iotest.ErrReader(io.ErrClosedPipe), alice); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("read error: %v", err)
	}
}

// TestOpenInside has age files with the wrong thing inside.
func TestOpenInside(t *testing.T) {
	insecure := strings.ReplaceAll(secretBlock, "UNDERSIGN ", "UNDERSIGN INSECURE PLAINTEXT ")
	for _, c := range []struct {
		name, text string
		want       string
	}{
		{"nothing", "", "keyfile: inside the age file: line 1: end of file, a BEGIN line expected"},
		{"text", "hello\n", "keyfile: inside the age file: line 2: end of file, a BEGIN line expected"},
		{"two secrets", secretBlock + secretBlock, "keyfile: inside the age file: line 4: a second block"},
		{"cut", secretBlock[:60], "keyfile: inside the age file: line 3: the END line doesn't match the BEGIN line"},
		{"header", strings.Replace(secretBlock, "AQFz", "A: b\nAQFz", 1), "keyfile: inside the age file: line 2: headers aren't allowed"},
		{"public object", goodBlock, "keyfile: expected a secret, found TEST PUBLIC"},
		{"labelled as plain text", insecure, "keyfile: expected a secret, found INSECURE PLAINTEXT TEST SECRET"},
		{"unknown type", strings.ReplaceAll(secretBlock, "TEST", "STRANGE"), "keyfile: expected a secret, found STRANGE SECRET"},
		{"private key", strings.ReplaceAll(secretBlock, "UNDERSIGN TEST SECRET", "PRIVATE KEY"), "keyfile: expected a secret, found PRIVATE KEY"},
		{"identity", aliceKey, "keyfile: inside the age file: line 2: end of file, a BEGIN line expected"},
		{"bad body", strings.Replace(secretBlock, "AQFz", "AgFz", 1), "keyfile: TEST SECRET: fake: unknown version or suite"},
		{"age file", string(armored(t, encrypt(t, secretBlock, alice.Recipient()))), "keyfile: expected a secret, found AGE ENCRYPTED FILE"},
	} {
		v, err := Open(bytes.NewReader(encrypt(t, c.text, alice.Recipient())), alice)
		if err == nil || v != nil || err.Error() != c.want {
			t.Errorf("%s: got (%v, %v), want %s", c.name, v, err, c.want)
		}
	}
	file := encrypt(t, secretBlock, alice.Recipient())
	if _, err := OpenAs[*fakePublic](bytes.NewReader(file), alice); err == nil {
		t.Error("OpenAs of a public type")
	}
	kinds = append(kinds, entry[otherSecret]("TEST OTHER SECRET", true))
	defer func() { kinds = kinds[:len(kinds)-1] }()
	_, err := OpenAs[*otherSecret](bytes.NewReader(file), alice)
	if e, ok := errors.AsType[*TypeError](err); !ok || e.Want != "TEST OTHER SECRET" || e.Got != "TEST SECRET" {
		t.Errorf("another secret: %v", err)
	}
}

type otherSecret struct{ fakeSecret }

// TestOpenDamaged cuts a file everywhere, and changes every byte.
func TestOpenDamaged(t *testing.T) {
	file := dearmored(t, seal(t, &fakeSecret{[]byte("s3cret")}, alice.Recipient()))
	for i := range file {
		if v, err := Open(bytes.NewReader(file[:i]), alice); err == nil {
			t.Errorf("opened the first %d of %d bytes: %v", i, len(file), v)
		}
		bad := bytes.Clone(file)
		bad[i] ^= 1
		if v, err := Open(bytes.NewReader(bad), alice); err == nil {
			t.Errorf("opened with byte %d changed: %v", i, v)
		}
	}
	text := armored(t, file)
	for i := range len(text) - 1 { // without the last line feed it's whole
		if v, err := Open(bytes.NewReader(text[:i]), alice); err == nil {
			t.Errorf("opened the first %d of %d characters: %v", i, len(text), v)
		}
	}

	// The MAC of the header is the last line of it.
	i := bytes.Index(file, []byte("\n--- ")) + len("\n--- ")
	mac, err := base64.RawStdEncoding.DecodeString(string(file[i : i+43]))
	if err != nil {
		t.Fatal(err)
	}
	mac[7] ^= 0x10
	copy(file[i:], base64.RawStdEncoding.EncodeToString(mac))
	if _, err := Open(bytes.NewReader(file), alice); err == nil || !strings.Contains(err.Error(), "MAC") {
		t.Errorf("wrong MAC: %v", err)
	}
}

func TestOpenGiant(t *testing.T) {
	zeros := io.LimitReader(zeroReader{}, 1<<40)
	r := io.MultiReader(strings.NewReader("age-encryption.org/v1\n"), zeros)
	if _, err := Open(r, alice); err == nil || !strings.Contains(err.Error(), "larger than 64 MiB") {
		t.Errorf("got %v", err)
	}
}

type zeroReader struct{}

func (zeroReader) Read(p []byte) (int, error) { clear(p); return len(p), nil }

// TestWiped lets a secret type see its buffer again after the call.
func TestWiped(t *testing.T) {
	kinds = append(kinds, entry[spySecret]("TEST SPY", true))
	defer func() { kinds = kinds[:len(kinds)-1] }()
	spy := &spySecret{}
	file := seal(t, spy, alice.Recipient())
	if !bytes.Equal(spy.buf, make([]byte, 4)) {
		t.Errorf("Seal left %x", spy.buf)
	}
	v, err := OpenAs[*spySecret](bytes.NewReader(file), alice)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(v.buf, make([]byte, 4)) {
		t.Errorf("Open left %x", v.buf)
	}
	if Fingerprint(spy); !bytes.Equal(spy.buf, make([]byte, 4)) {
		t.Errorf("Fingerprint left %x", spy.buf)
	}
	// A passphrase too.
	pass := []byte("correct horse")
	file = seal(t, spy, scrypt(t, "correct horse"))
	if _, err := Open(bytes.NewReader(file), PassphraseIdentity(func() ([]byte, error) { return pass, nil })); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(pass, make([]byte, len(pass))) {
		t.Errorf("Open left the passphrase %q", pass)
	}
}

type spySecret struct{ buf []byte }

func (s *spySecret) MarshalBinary() ([]byte, error) {
	s.buf = []byte{1, 1, 0xaa, 0xbb}
	return s.buf, nil
}

func (s *spySecret) UnmarshalBinary(b []byte) error {
	if len(b) != 4 {
		return os.ErrInvalid
	}
	s.buf = b // not allowed, but this is a spy
	return nil
}
