// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package keyfile

import (
	"bytes"
	"crypto/rand"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
)

func TestRoundTrip(t *testing.T) {
	for n := range 300 {
		want := make([]byte, n)
		rand.Read(want)
		b, err := Encode(&fakePublic{want}, "a comment", "", "\tnoch einer: ü")
		if err != nil {
			t.Fatal(err)
		}
		got, err := ParseAs[*fakePublic](b)
		if err != nil {
			t.Fatalf("%d bytes: %v\n%s", n, err, b)
		}
		if !bytes.Equal(got.data, want) {
			t.Fatalf("%d bytes: got %x, want %x", n, got.data, want)
		}
	}
}

// TestEncodingPEM compares with encoding/pem in both directions.
func TestEncodingPEM(t *testing.T) {
	for n := range 200 {
		v := &fakePublic{make([]byte, n)}
		rand.Read(v.data)
		body, _ := v.MarshalBinary()
		want := pem.EncodeToMemory(&pem.Block{Type: "UNDERSIGN TEST PUBLIC", Bytes: body})
		got, err := Encode(v)
		if err != nil || !bytes.Equal(got, want) {
			t.Fatalf("Encode: %v\n%s\nencoding/pem:\n%s", err, got, want)
		}
		if b, rest := pem.Decode(got); b == nil || len(rest) != 0 || !bytes.Equal(b.Bytes, body) {
			t.Fatalf("encoding/pem doesn't read\n%s", got)
		}
	}
}

const goodBlock = `-----BEGIN UNDERSIGN TEST PUBLIC-----
AQEAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA
AAAAAAAAAAAAAAAAAAAAAAAAAA==
-----END UNDERSIGN TEST PUBLIC-----
`

func TestParseAccepts(t *testing.T) {
	const full = "AQEAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\n"
	for name, s := range map[string]string{
		"plain":             goodBlock,
		"CRLF":              strings.ReplaceAll(goodBlock, "\n", "\r\n"),
		"no last line feed": strings.TrimSuffix(goodBlock, "\n"),
		"white space after": goodBlock + "\n \t\r\n\n",
		"comments":          "Some text: with a colon\n\n# -- and -- dashes ----\n\t\n" + goodBlock,
		"full last line":    strings.Replace(goodBlock, "AAAAAAAAAAAAAAAAAAAAAAAAAA==\n", "", 1),
		"two full lines":    strings.Replace(goodBlock, "AAAAAAAAAAAAAAAAAAAAAAAAAA==\n", strings.Repeat("A", 64)+"\n", 1),
		"padded full line":  strings.Replace(goodBlock, full+"AAAAAAAAAAAAAAAAAAAAAAAAAA==\n", strings.TrimSuffix(full, "AA\n")+"A=\n", 1),
	} {
		v, err := Parse([]byte(s))
		if err != nil {
			t.Errorf("%s: %v\n%s", name, err, s)
			continue
		}
		// What was read is written in one way only.
		a, err := Encode(v)
		if err != nil {
			t.Fatal(err)
		}
		w, err := Parse(a)
		if err != nil {
			t.Fatal(err)
		}
		if b, _ := Encode(w); !bytes.Equal(a, b) {
			t.Errorf("%s: two encodings", name)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	const (
		begin = "-----BEGIN UNDERSIGN TEST PUBLIC-----\n"
		end   = "-----END UNDERSIGN TEST PUBLIC-----\n"
	)
	full := strings.Repeat("AQEA", 16) + "\n"
	for _, c := range []struct {
		name, in string
		line     int
		want     string
	}{
		{"empty", "", 1, "end of file"},
		{"only text", "hello\nworld\n", 3, "end of file"},
		{"only white space", "\n\n", 3, "end of file"},
		{"only END", end, 1, "a BEGIN line expected"},
		{"cut after BEGIN", begin, 2, "end of file, an END line expected"},
		{"cut in BEGIN", "-----BEGIN UNDERSIGN TEST PUB", 1, "five dashes"},
		{"cut in base64", begin + full, 3, "an END line expected"},
		{"cut in END", begin + "AQEA\n-----END UNDERSIGN TEST PUBL", 3, "doesn't match"},
		{"no base64", begin + end, 2, "empty block"},
		{"text after", goodBlock + "\nx\n", 6, "text after the END line"},
		{"NUL after", goodBlock + "\x00", 5, "text after the END line"},
		{"text after END on its line", strings.TrimSuffix(goodBlock, "\n") + " x", 4, "doesn't match"},
		{"white space after END on its line", strings.TrimSuffix(goodBlock, "\n") + " \n", 4, "doesn't match"},
		{"two blocks", goodBlock + goodBlock, 5, "a second block"},
		{"two blocks with text between", goodBlock + "x\n" + goodBlock, 5, "text after"},
		{"BEGIN twice", begin + goodBlock, 2, "doesn't match"},
		{"END of another type", begin + "AQEA\n-----END UNDERSIGN TEST OTHER-----\n", 3, "doesn't match"},
		{"END in lower case", begin + "AQEA\n" + strings.ToLower(end), 3, "doesn't match"},
		{"END with four dashes", begin + "AQEA\n-----END UNDERSIGN TEST PUBLIC----\n", 3, "doesn't match"},
		{"label in lower case", strings.ReplaceAll(goodBlock, "PUBLIC", "public"), 1, "upper-case"},
		{"begin in lower case", strings.Replace(goodBlock, "BEGIN", "begin", 1), 1, "a BEGIN line expected"},
		{"label with two spaces", strings.ReplaceAll(goodBlock, " TEST", "  TEST"), 1, "single spaces"},
		{"label ends in a space", strings.ReplaceAll(goodBlock, "PUBLIC", "PUBLIC "), 1, "single spaces"},
		{"empty label", "-----BEGIN -----\nAQEA\n-----END -----\n", 1, "single spaces"},
		{"NUL in label", strings.ReplaceAll(goodBlock, "TEST", "TE\x00T"), 1, "upper-case"},
		{"hyphen in label", strings.ReplaceAll(goodBlock, "TEST", "TE-T"), 1, "upper-case"},
		{"long label", strings.ReplaceAll(goodBlock, "TEST", strings.Repeat("T", 1<<16)), 1, "label too long"},
		{"six dashes", "-" + goodBlock, 1, "a BEGIN line expected"},
		{"six dashes after", strings.Replace(goodBlock, "PUBLIC-----", "PUBLIC------", 1), 1, "upper-case"},
		{"space before BEGIN", " " + goodBlock, 1, "five dashes inside a line of text"},
		{"byte order mark", "\uFEFF" + goodBlock, 1, "byte order mark"},
		{"byte order mark in text", "\uFEFFhello\n" + goodBlock, 1, "byte order mark"},
		{"space after BEGIN", strings.Replace(goodBlock, "PUBLIC-----", "PUBLIC----- ", 1), 1, "white space after the BEGIN"},
		{"NUL in text", "a\x00b\n" + goodBlock, 1, "control character"},
		{"escape in text", "a\n\x1b[2Jb\n" + goodBlock, 2, "control character"},
		{"lone CR in text", "a\rb\n" + goodBlock, 1, "control character"},
		{"C1 control in text", "a\u009bb\n" + goodBlock, 1, "control character"},
		{"not UTF-8", "a\xffb\n" + goodBlock, 1, "UTF-8"},
		{"header", begin + "Proc-Type: 4,ENCRYPTED\n\nAQEA\n" + end, 2, "headers"},
		{"empty line first", begin + "\nAQEA\n" + end, 2, "empty line"},
		{"empty line last", begin + "AQEA\n\n" + end, 3, "empty line"},
		{"comment inside", begin + "# AQEA\n" + end, 2, "isn't base64"},
		{"short line first", begin + "AQEA\n" + full + end, 2, "short base64 line"},
		{"63 characters", begin + full[1:] + full + end, 2, "multiple of four"},
		{"60 characters", begin + full[4:] + full + end, 2, "short base64 line"},
		{"65 characters", begin + "A" + full + end, 2, "longer than 64"},
		{"68 characters", begin + "AQEA" + full + end, 2, "longer than 64"},
		{"76 characters, as MIME", begin + strings.Repeat("AQEA", 19) + "\n" + end, 2, "longer than 64"},
		{"one long line", begin + strings.Repeat("AQEA", 1<<16) + "\n" + end, 2, "longer than 64"},
		{"length 1", begin + full + "A\n" + end, 3, "multiple of four"},
		{"padding missing", begin + full + "AQ\n" + end, 3, "multiple of four"},
		{"padding in the middle", begin + full + "AQ==AQEA\n" + end, 3, "isn't base64"},
		{"line after padding", begin + full[:60] + "AQ==\nAQEA\n" + end, 2, "short base64 line"},
		{"three padding characters", begin + full + "A===\n" + end, 3, "isn't base64"},
		{"only padding", begin + full + "====\n" + end, 3, "isn't base64"},
		{"padding bits, two characters", begin + "AQEB\nAR==\n" + end, 2, "short base64 line"},
		{"padding bits of one byte", begin + full + "AR==\n" + end, 3, "canonical"},
		{"padding bits of two bytes", begin + full + "AQF=\n" + end, 3, "canonical"},
		{"URL alphabet", begin + full + "AQ-_\n" + end, 3, "isn't base64"},
		{"space in base64", begin + full + "AQ EAA==\n" + end, 3, "isn't base64"},
		{"space at a line's end", begin + full + "AQEA \n" + end, 3, "isn't base64"},
		{"tab before base64", begin + "\tAQEA\n" + end, 2, "isn't base64"},
		{"NUL in base64", begin + "AQE\x00\n" + end, 2, "isn't base64"},
		{"CR in base64", begin + "AQEA\rAQE=\n" + end, 2, "isn't base64"},
		{"CR CR LF", begin + "AQEA\r\r\n" + end, 2, "isn't base64"},
		{"not ASCII in base64", begin + "AQE\xc1\n" + end, 2, "isn't base64"},
	} {
		v, err := Parse([]byte(c.in))
		e, ok := errors.AsType[*SyntaxError](err)
		if !ok || v != nil {
			t.Errorf("%s: got (%v, %v), want a SyntaxError", c.name, v, err)
			continue
		}
		if e.Line != c.line || !strings.Contains(e.Reason, c.want) {
			t.Errorf("%s: %v, want line %d: %s", c.name, err, c.line, c.want)
		}
		if !strings.HasPrefix(err.Error(), fmt.Sprintf("keyfile: line %d: ", c.line)) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// Nothing cut off, and nothing changed in one bit, is taken for the original.
func TestParseMutations(t *testing.T) {
	good := []byte(goodBlock)
	for i := range len(good) - 1 {
		if _, err := Parse(good[:i]); err == nil {
			t.Errorf("accepted the first %d bytes", i)
		}
	}
	want, err := ParseAs[*fakePublic](good)
	if err != nil {
		t.Fatal(err)
	}
	for i := range good {
		for bit := range 8 {
			bad := bytes.Clone(good)
			bad[i] ^= 1 << bit
			if v, err := ParseAs[*fakePublic](bad); err == nil && bytes.Equal(v.data, want.data) && !whiteSpace(bad[i]) {
				t.Errorf("accepted bit %d of byte %d (%q) flipped", bit, i, bad[i])
			}
		}
	}
}

func whiteSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

func TestTypes(t *testing.T) {
	cert := "-----BEGIN CERTIFICATE-----\nAQEA\n-----END CERTIFICATE-----\n"
	label := func(l string) string {
		return strings.ReplaceAll(goodBlock, "TEST PUBLIC", l)
	}
	anyType := func(b []byte) error { _, err := Parse(b); return err }
	pub := func(b []byte) error { _, err := ParseAs[*fakePublic](b); return err }
	plain := func(b []byte) error { _, err := ParseInsecurePlaintext(b); return err }
	for _, c := range []struct {
		name      string
		parse     func([]byte) error
		in        string
		want, got string
	}{
		{"unknown", anyType, label("TEST STRANGE"), "", "TEST STRANGE"},
		{"unknown, not the expected", pub, label("TEST STRANGE"), "TEST PUBLIC", "TEST STRANGE"},
		{"prefix of a type", pub, label("TEST"), "TEST PUBLIC", "TEST"},
		{"other", pub, label("TEST OTHER"), "TEST PUBLIC", "TEST OTHER"},
		{"secret", pub, label("TEST SECRET"), "TEST PUBLIC", "TEST SECRET"},
		{"insecure secret", pub, label("INSECURE PLAINTEXT TEST SECRET"), "TEST PUBLIC", "INSECURE PLAINTEXT TEST SECRET"},
		{"insecure public", anyType, label("INSECURE PLAINTEXT TEST PUBLIC"), "a public object", "INSECURE PLAINTEXT TEST PUBLIC"},
		{"certificate", anyType, cert, "a public object", "CERTIFICATE"},
		{"certificate, not the expected", pub, cert, "TEST PUBLIC", "CERTIFICATE"},
		{"foreign type with our name", anyType, strings.ReplaceAll(goodBlock, "UNDERSIGN ", ""), "a public object", "TEST PUBLIC"},
		{"name run together", anyType, strings.ReplaceAll(goodBlock, "UNDERSIGN ", "UNDERSIGN"), "a public object", "UNDERSIGNTEST PUBLIC"},
		{"name alone", anyType, strings.ReplaceAll(goodBlock, " TEST PUBLIC", ""), "a public object", "UNDERSIGN"},
		{"armoured age file", anyType, "-----BEGIN AGE ENCRYPTED FILE-----\nAAAA\n-----END AGE ENCRYPTED FILE-----\n", "a public object", "AGE ENCRYPTED FILE"},
		{"age file", pub, "age-encryption.org/v1\n-> X25519 x\n", "TEST PUBLIC", "AGE ENCRYPTED FILE"},
		{"public as plain text secret", plain, goodBlock, "a secret", "TEST PUBLIC"},
		{"labelled public as plain text secret", plain, label("INSECURE PLAINTEXT TEST PUBLIC"), "a secret", "INSECURE PLAINTEXT TEST PUBLIC"},
		{"age file as plain text secret", plain, "age-encryption.org/v1\n", "a secret", "AGE ENCRYPTED FILE"},
	} {
		e, ok := errors.AsType[*TypeError](c.parse([]byte(c.in)))
		if !ok {
			t.Errorf("%s: %v, want a TypeError", c.name, c.parse([]byte(c.in)))
		} else if e.Want != c.want || e.Got != c.got {
			t.Errorf("%s: %+v, want {%s %s}", c.name, *e, c.want, c.got)
		} else if c.want != "" && e.Error() != "keyfile: expected "+c.want+", found "+c.got {
			t.Errorf("%s: %v", c.name, e)
		}
	}
}

func TestSecretsStaySealed(t *testing.T) {
	secret := &fakeSecret{[]byte("s3cret")}
	_, err := Encode(secret)
	if e, ok := errors.AsType[*SecretError](err); !ok || e.Type != "TEST SECRET" {
		t.Errorf("Encode: %v", err)
	}
	if _, err := EncodeInsecurePlaintext(&fakePublic{}); err == nil {
		t.Error("EncodeInsecurePlaintext took a public object")
	}

	text, err := EncodeInsecurePlaintext(secret, "careful")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(text), "-----BEGIN UNDERSIGN INSECURE PLAINTEXT TEST SECRET-----") {
		t.Errorf("label doesn't warn:\n%s", text)
	}
	v, err := ParseInsecurePlaintext(text)
	if err != nil || !bytes.Equal(v.(*fakeSecret).data, secret.data) {
		t.Errorf("ParseInsecurePlaintext: %v, %v", v, err)
	}

	// What age -d prints has another label, and isn't a file of its own.
	bare := strings.ReplaceAll(string(text), "INSECURE PLAINTEXT ", "")
	for name, err := range map[string]error{
		"Parse, labelled":              second(Parse(text)),
		"Parse, bare":                  second(Parse([]byte(bare))),
		"ParseAs":                      second(ParseAs[*fakeSecret](text)),
		"ParseInsecurePlaintext, bare": second(ParseInsecurePlaintext([]byte(bare))),
	} {
		if e, ok := errors.AsType[*SecretError](err); !ok || e.Type != "TEST SECRET" {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func second[T any](_ T, err error) error { return err }

func TestEncodeRefuses(t *testing.T) {
	for _, c := range []string{"a\nb", "a\rb", "\x00", "\x1b[2J", "-----BEGIN X-----", "a-----b", "\xff", "\uFEFF", "\u0085"} {
		if b, err := Encode(&fakePublic{}, c); err == nil {
			t.Errorf("accepted comment %q:\n%s", c, b)
		}
	}
	if _, err := Encode(&fakePublic{make([]byte, MaxSize/4*3)}); err == nil {
		t.Error("encoded more than Parse reads")
	}
	if _, err := Encode(nil); err == nil {
		t.Error("encoded nil")
	}
	if _, err := Encode(foreign{}); err == nil {
		t.Error("encoded a type without a format")
	}
	if Type(foreign{}) != "" || Fingerprint(foreign{}) != "" || IsSecret(foreign{}) {
		t.Error("a type without a format has one")
	}
	if _, err := Encode(empty{}); err == nil {
		t.Error("encoded a type without a format")
	}
	if _, err := ParseAs[Object]([]byte(goodBlock)); err == nil {
		t.Error("ParseAs[Object] has no type to expect")
	}
	if _, err := ParseAs[foreign]([]byte(goodBlock)); err == nil {
		t.Error("ParseAs of a type without a format")
	}
}

type foreign struct{}

func (foreign) MarshalBinary() ([]byte, error) { return []byte{1}, nil }

type empty struct{}

func (empty) MarshalBinary() ([]byte, error) { return nil, nil }

func TestParseGiant(t *testing.T) {
	big := bytes.Repeat([]byte{'\n'}, MaxSize+1)
	copy(big, goodBlock)
	if _, err := Parse(big); err == nil || !strings.Contains(err.Error(), "larger than 64 MiB") {
		t.Errorf("got %v", err)
	}
	if _, err := Parse(big[:MaxSize]); err != nil {
		t.Errorf("of the largest size: %v", err)
	}
}

// The label alone doesn't make Parse allocate.
func TestParseAllocation(t *testing.T) {
	in := []byte("-----BEGIN UNDERSIGN TEST STRANGE-----\n" + strings.Repeat(strings.Repeat("A", 64)+"\n", 1<<14))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range 10 {
		Parse(in)
	}
	runtime.ReadMemStats(&after)
	if n := after.TotalAlloc - before.TotalAlloc; n > 10*4096 {
		t.Errorf("%d bytes allocated in ten calls", n)
	}
}

func TestMarshalErrors(t *testing.T) {
	bad := "-----BEGIN UNDERSIGN TEST PUBLIC-----\nAgEA\n-----END UNDERSIGN TEST PUBLIC-----\n"
	if _, err := Parse([]byte(bad)); err == nil || !strings.HasPrefix(err.Error(), "keyfile: TEST PUBLIC: ") {
		t.Errorf("unknown version: %v", err)
	}
}

// TestTable checks what the decoder relies on, and that no label is taken twice.
func TestTable(t *testing.T) {
	var labels []string
	for _, k := range kinds {
		d := decoder{rest: []byte(beginStart + labelPrefix + k.label + dashes)}
		if l, err := d.begin(); err != nil || l != labelPrefix+k.label {
			t.Errorf("label %q: %v", k.label, err)
		}
		d = decoder{rest: []byte(beginStart + labelPrefix + insecurePrefix + k.label + dashes)}
		if _, err := d.begin(); k.secret && err != nil {
			t.Errorf("label %q: %v", insecurePrefix+k.label, err)
		}
		if strings.HasPrefix(k.label, insecurePrefix) || slices.Contains(labels, k.label) {
			t.Errorf("label %q", k.label)
		}
		labels = append(labels, k.label)
		v := k.new()
		if Type(v) != k.label || IsSecret(v) != k.secret {
			t.Errorf("label %q isn't found by its type", k.label)
		}
		if err := v.UnmarshalBinary(nil); err == nil {
			t.Errorf("%s: unmarshalled nothing", k.label)
		}
	}
}

func TestBase64(t *testing.T) {
	strict := base64.StdEncoding.Strict()
	for n := range 50 {
		b := make([]byte, n)
		rand.Read(b)
		text := appendBase64(nil, b)
		if string(text) != strict.EncodeToString(b) || len(text) != base64Len(n) {
			t.Fatalf("%x: %s", b, text)
		}
	}
	// All pairs of characters in every place of a quantum.
	for i := range 1 << 16 {
		a, b := byte(i>>8), byte(i)
		if a == '\n' || a == '\r' || b == '\n' || b == '\r' {
			continue // encoding/base64 skips these, and a line has none
		}
		for _, s := range []string{"AB%c%c", "%c%cAB", "A%c%cA", "A%c%c=", "%c%c==", "AAAA%c%cA=", "A%cB%c", "%cAB%c"} {
			in := fmt.Appendf(nil, s, 0, 0)
			first := true
			for j, c := range in {
				if c == 0 {
					in[j] = b
					if first {
						in[j], first = a, false
					}
				}
			}
			checkBase64(t, in)
		}
	}
}

func checkBase64(t *testing.T, in []byte) {
	want, err := base64.StdEncoding.Strict().DecodeString(string(in))
	got, why := decodeBase64Line(nil, in)
	if (err == nil) != (why == "") {
		t.Fatalf("%q: %q, encoding/base64: %v", in, why, err)
	}
	if err == nil && !bytes.Equal(got, want) {
		t.Fatalf("%q: %x, encoding/base64: %x", in, got, want)
	}
}
