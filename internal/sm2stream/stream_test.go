// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package sm2stream

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/undersign/undersign/sm2"
)

// generate returns a file and the numbers of its bad records.
func generate(t testing.TB, o GenerateOptions) (data []byte, bad []int64) {
	t.Helper()
	var buf bytes.Buffer
	err := Generate(t.Context(), &buf, &o, func(m Made) error {
		bad = append(bad, m.Number())
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if int64(len(bad)) != o.Bad {
		t.Fatalf("%d bad records, want %d", len(bad), o.Bad)
	}
	return buf.Bytes(), bad
}

// verify returns what Verify has to say of a file.
func verify(t testing.TB, data []byte, o *Options) (*Summary, []Bad) {
	t.Helper()
	var bad []Bad
	sum, err := Verify(t.Context(), bytes.NewReader(data), o, func(b Bad) error {
		bad = append(bad, b)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if sum.Bad != int64(len(bad)) {
		t.Errorf("the summary counts %d bad, and there are %d", sum.Bad, len(bad))
	}
	return sum, bad
}

func numbers(bad []Bad) (out []int64) {
	for _, b := range bad {
		out = append(out, b.Line+b.Record)
	}
	return out
}

// Exactly the bad records are found, in every kind of file.
func TestVerify(t *testing.T) {
	for _, o := range []GenerateOptions{
		{Records: 0},
		{Records: 1},
		{Records: 1, Bad: 1},
		{Records: 3000, Signers: 1, Payload: 200, Bad: 21},
		{Records: 3000, Signers: 16, Payload: 200, Bad: 21, Once: 0.3},
		{Records: 600, Payload: 20, Bad: 7},
		{Records: 1500, Payload: 20, Bad: 7, Hinted: true},
		{Records: 500, Signers: 3, Payload: 0, Bad: 7},
		{Records: 500, Signers: 3, Payload: 10, Bad: 500},
		{Records: 1200, Signers: 5, Digests: true, Bad: 9},
		{Records: 300, Signers: 5, Payload: 5000, Bad: 9},
		{Records: 300, Signers: 5, ID: "none", Payload: 9, Bad: 7},
		{Records: 300, Signers: 5, ID: "empty", Payload: 9, Bad: 7},
		{Records: 300, Signers: 5, ID: "default", Payload: 9, Bad: 7},
		{Records: 300, Signers: 5, ID: `al"ice`, Payload: 9, Bad: 7},
		{Records: 300, Signers: 5, Encoding: sm2.Raw64, Payload: 9, Bad: 7},
		{Records: 300, Signers: 5, Encoding: sm2.SKF128, Payload: 9, Bad: 7},
		{Records: 300, Signers: 5, Encoding: sm2.Raw128WithKey, Payload: 9, Bad: 7},
	} {
		for _, format := range []Format{JSONLines, Binary} {
			o.Format, o.Seed = format, []byte(fmt.Sprint(rand.Uint64()))
			t.Run(fmt.Sprintf("%v/%d/%d/%s", format, o.Records, o.Signers, o.ID), func(t *testing.T) {
				data, want := generate(t, o)
				for _, workers := range []int{1, 3} {
					sum, bad := verify(t, data, &Options{Workers: workers, Sample: 200})
					if sum.Items != o.Records || sum.Format != format.String() || sum.Bytes+headerOf(data) != int64(len(data)) {
						t.Errorf("%+v of %d bytes", sum, len(data))
					}
					if got := numbers(bad); !slices.Equal(got, want) {
						t.Errorf("seed %s: bad are %v, want %v", o.Seed, got, want)
					}
					if sum.Sample.Verdicts != "equal" || o.Records > 0 && o.Bad < o.Records && sum.Sample.Items == 0 {
						t.Errorf("sample %+v", sum.Sample)
					}
				}
			})
		}
	}
}

// headerOf returns the bytes before the records.
func headerOf(data []byte) int64 {
	if !bytes.HasPrefix(data, []byte(magic)) {
		return 0
	}
	h, err := readHeader(bytes.NewReader(data))
	if err != nil {
		return -1
	}
	return int64(headerSize + len(h.id))
}

// A seed fixes the file, however many goroutines make it; another one gives another.
func TestSeed(t *testing.T) {
	for _, format := range []Format{JSONLines, Binary} {
		o := GenerateOptions{Records: 2500, Signers: 7, Once: 0.1, Bad: 9, Payload: 12, Format: format, Seed: []byte("a"), Hinted: true}
		o.Workers = 1
		a, badA := generate(t, o)
		o.Workers = 5
		b, badB := generate(t, o)
		if !bytes.Equal(a, b) || !slices.Equal(badA, badB) {
			t.Errorf("%v: not reproducible", format)
		}
		o.Seed = []byte("b")
		if c, badC := generate(t, o); bytes.Equal(a, c) || slices.Equal(badA, badC) {
			t.Errorf("%v: the seed has no effect", format)
		}
	}
}

func TestGenerateRefuses(t *testing.T) {
	for i, o := range []GenerateOptions{
		{Records: -1},
		{Records: 1, Bad: 2},
		{Records: 1, Bad: -1},
		{Records: 1, Signers: -1},
		{Records: 1, Signers: maxRecurring + 1},
		{Records: 1, Once: 1.5},
		{Records: 1, Once: -0.5},
		{Records: 1, Payload: -1},
		{Records: 1, Payload: MaxPayload + 1},
		{Records: 1, Digests: true, ID: "alice"},
		{Records: 1, ID: "hex:0"},
		{Records: 1, ID: strings.Repeat("x", maxID+1)},
		{Records: 1, Format: 3},
		{Records: 1, Format: Binary, Kinds: []Kind{KindBroken}},
	} {
		if err := Generate(t.Context(), io.Discard, &o, nil); err == nil {
			t.Errorf("%d: no error", i)
		}
	}
	stop := errors.New("stop")
	o := GenerateOptions{Records: 5000, Signers: 1, Bad: 5000}
	if err := Generate(t.Context(), io.Discard, &o, func(Made) error { return stop }); err != stop {
		t.Errorf("%v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := Generate(ctx, io.Discard, &o, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

// What can't be read is reported with its line, and the rest is verified.
func TestMalformed(t *testing.T) {
	good, _ := generate(t, GenerateOptions{Records: 2, Signers: 1, Payload: 4})
	lines := bytes.SplitAfter(good, []byte("\n"))
	one := string(bytes.TrimSpace(lines[0]))
	if !strings.Contains(one, `,"signature":"`) {
		t.Fatal(one)
	}
	replace := func(old, new string) string {
		if !strings.Contains(one, old) {
			t.Fatalf("%s lacks %s", one, old)
		}
		return strings.Replace(one, old, new, 1)
	}
	for _, tt := range []struct{ line, detail string }{
		{"x", "not a JSON object"},
		{"[]", "not a JSON object"},
		{`"text"`, "not a JSON object"},
		{"null", "not a JSON object"},
		{"{", "not JSON"},
		{"{}", "no signature"},
		{one[:len(one)-1], "not JSON"},
		{one[:len(one)/2], "not JSON"},
		{one + one, "more than one JSON value"},
		{one + " x", "more than one JSON value"},
		{replace("{", `{"key":"04",`), `two fields "key"`},
		{replace("{", `{"k\u0065y":"04",`), `two fields "key"`},
		{replace("{", `{"digest":"",`), "neither a message nor a digest, or both"},
		{replace(`"message"`, `"massage"`), "neither a message nor a digest, or both"},
		{replace(`"message"`, `"Message"`), "neither a message nor a digest, or both"},
		{replace(`"message"`, `"digest"`), "a digest of 4 bytes: SM3 has 32"},
		{replace(`"key"`, `"kay"`), "no key"},
		{replace(`"signature"`, `"sig"`), "no signature"},
		{replace(`"key":"04`, `"key":"0`), "key isn't hexadecimal, and has no prefix (base64:, text:)"},
		{replace(`"key":"04`, `"key":"zz`), "key isn't hexadecimal, and has no prefix (base64:, text:)"},
		{replace(`"message":"`, `"message":"base64:%`), "message isn't base64"},
		{replace(`"message":"`, `"message":"base64:AA\n==","x":"`), "message isn't base64"},
		{replace(`"message":"`, `"message":"base64:AB==","x":"`), "message isn't base64"},
		{replace(`"message":"`, `"message":17,"x":"`), `field "message" isn't a string`},
		{replace(`"message":"`, `"message":null,"x":"`), `field "message" isn't a string`},
		{replace("{", `{"encoding":"DER",`), `encoding "DER" isn't der, raw, skf or raw-key`},
		{replace("{", `{"hint":"yes",`), `hint "yes" isn't none, even, odd, low or high`},
		{replace("{", `{"id":"",`), "id: sm2stream: no ID: it is called empty, or default"},
		{replace("{", `{"id":"hex:1",`), `id: sm2stream: the ID "hex:1" isn't hexadecimal`},
		{replace("{", "{\"id\":\"\xff\","), "not UTF-8"},
		{replace("{", "{\"x\":\"\x01\","), "not JSON"},
		{replace("{", `{"x":[{},`), "not JSON"},
		{strings.Repeat("x", MaxLine), "longer than 4194304 bytes"},
		{"{" + strings.Repeat(" ", 3*MaxLine) + one[1:], "longer than 4194304 bytes"},
	} {
		data := string(lines[0]) + "\n" + tt.line + "\n" + string(lines[1])
		sum, bad := verify(t, []byte(data), nil)
		want := []Bad{{Line: 3, Reason: Malformed, Detail: tt.detail}}
		if !slices.Equal(bad, want) || sum.Items != 3 || sum.Malformed != 1 || sum.Bytes != int64(len(data)) {
			t.Errorf("%.150q: %+v, %+v", tt.line, bad, sum)
		}
	}
}

// The other way round: unusual lines that say the same, and bad ones with the
// reason that the batch has.
func TestLines(t *testing.T) {
	good, _ := generate(t, GenerateOptions{Records: 1, Signers: 1, Payload: 4})
	one := string(bytes.TrimSpace(good))
	replace := func(old, new string) string { return strings.Replace(one, old, new, 1) }
	for _, tt := range []struct{ line, reason string }{
		{one, ""},
		{" \t" + replace(",", " ,\t") + "\r", ""},
		{replace("{", `{"comment":{"key":["a",1,null]},"n":1.5e3,`), ""},
		{replace("{", `{"\u006bay":"","k":"\"",`), ""},
		{replace("{", `{"名":"é",`), ""},
		{replace(`"key"`, `"k\u0065y"`), ""},
		{replace(`"message":"`, `"message":"hex:`), ""},
		{strings.ToUpper(one[:0]) + replace(`"key":"04`, `"key":"`), ""}, // x || y
		{replace("{", `{"encoding":"der","hint":"none","id":"1234567812345678",`), ""},
		{replace("{", `{"hint":"odd",`), ""},
		{replace("{", `{"hint":"high",`), ""},
		{replace("{", `{"id":"default",`), ""},
		{replace("{", `{"id":"empty",`), "x"},
		{replace("{", `{"id":"none",`), "x"},
		{replace("{", `{"encoding":"raw",`), "encoding"},
		{replace("{", `{"encoding":"raw-key",`), "encoding"},
		{replace(`"key":"04`, `"key":"05`), "key"},
		{replace(`"key":"04`, `"key":"`+strings.Repeat("00", 300)+`04`), "key"},
		{replace(`"key":"04`, `"key":"","x":"`), "key"},
		{replace(`"signature":"30`, `"signature":"31`), "encoding"},
		{replace(`"signature":"30`, `"signature":"","x":"`), "encoding"},
		{replace(`"message":"`, `"message":"","x":"`), "x"},
	} {
		_, bad := verify(t, []byte(tt.line), nil)
		switch {
		case tt.reason == "" && len(bad) == 0:
		case tt.reason == "x" && len(bad) == 1 && (bad[0].Reason == "equation" || bad[0].Reason == "no such point"):
		case len(bad) == 1 && bad[0].Reason == tt.reason:
		default:
			t.Errorf("%s: %+v, want %q", tt.line, bad, tt.reason)
		}
	}
}

// A signature that brings its key doesn't override one that is given.
func TestForeignKey(t *testing.T) {
	data, _ := generate(t, GenerateOptions{Records: 2, Payload: 4, Encoding: sm2.Raw128WithKey})
	line := string(data[:bytes.IndexByte(data, '\n')])
	key := line[len(`{"key":"`):][:130]
	for _, tt := range []struct{ line, reason string }{
		{line, ""},
		{strings.Replace(line, `"key":"`+key+`",`, "", 1), ""},
		{strings.Replace(line, key, "", 1), "key"},
		{strings.Replace(line, key, "04"+strings.Repeat("01", 64), 1), "key"},
		{strings.Replace(line, key, string(data[bytes.LastIndex(data, []byte(`{"key":"`))+8:][:130]), 1), "key"},
	} {
		sum, bad := verify(t, []byte(tt.line), &Options{Sample: 10})
		if (len(bad) == 0) != (tt.reason == "") || len(bad) == 1 && bad[0].Reason != tt.reason {
			t.Errorf("%s: %+v, want %q", tt.line, bad, tt.reason)
		}
		if sum.Sample.Items != 1 {
			t.Errorf("%+v", sum.Sample)
		}
	}
}

func TestOptions(t *testing.T) {
	data, _ := generate(t, GenerateOptions{Records: 10, Signers: 2, Payload: 4, ID: "bob", Format: Binary})
	if _, bad := verify(t, data, &Options{UID: sm2.NoUID()}); len(bad) > 0 { // the file says
		t.Errorf("%v", bad)
	}
	clear(data[16:20])
	data[10] = idUnsaid
	data = slices.Delete(data, headerSize, headerSize+3)
	if _, bad := verify(t, data, &Options{UID: sm2.NewUID([]byte("bob"))}); len(bad) > 0 {
		t.Errorf("%v", bad)
	}
	if _, bad := verify(t, data, nil); len(bad) != 10 {
		t.Errorf("%v", bad)
	}
	data, _ = generate(t, GenerateOptions{Records: 3000, Signers: 2, Payload: 4, Encoding: sm2.Raw64})
	data = bytes.ReplaceAll(data, []byte(`,"encoding":"raw"`), nil)
	var last Progress
	sum, bad := verify(t, data, &Options{Encoding: sm2.Raw64, CacheBytes: -1, Progress: func(p Progress) { last = p }})
	if len(bad) > 0 || sum.TableBytes != 0 || sum.Keys != 0 {
		t.Errorf("%+v, %v", sum, bad)
	}
	if (last != Progress{int64(len(data)), 3000, 0}) {
		t.Errorf("progress %+v", last)
	}
	if sum, _ := verify(t, data, &Options{Encoding: sm2.Raw64, CacheBytes: 1 << 20}); sum.TableBytes > 1<<20 || sum.Keys == 0 {
		t.Errorf("%+v", sum)
	}
	if _, bad := verify(t, data, nil); len(bad) != 3000 {
		t.Errorf("%d bad", len(bad))
	}
}

func TestStops(t *testing.T) {
	data, _ := generate(t, GenerateOptions{Records: 9000, Signers: 2, Payload: 4, Bad: 9000})
	stop := errors.New("stop")
	calls := 0
	_, err := Verify(t.Context(), bytes.NewReader(data), nil, func(Bad) error { calls++; return stop })
	if err != stop || calls != 1 {
		t.Errorf("%v after %d calls", err, calls)
	}
	never := func(Bad) error { return nil }
	if _, err := Verify(t.Context(), io.MultiReader(bytes.NewReader(data), &failing{stop}), nil, never); err != stop {
		t.Errorf("%v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	_, err = Verify(ctx, bytes.NewReader(data), nil, func(Bad) error { cancel(); return nil })
	if !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

type failing struct{ err error }

func (f *failing) Read([]byte) (int, error) { return 0, f.err }

func TestParseID(t *testing.T) {
	for in, want := range map[string]sm2.UID{
		"default":          {},
		"1234567812345678": {},
		"empty":            sm2.NewUID(nil),
		"text:":            sm2.NewUID(nil),
		"hex:":             sm2.NewUID(nil),
		"none":             sm2.NoUID(),
		"text:none":        sm2.NewUID([]byte("none")),
		"hex:6e6F":         sm2.NewUID([]byte("no")),
		"alice":            sm2.NewUID([]byte("alice")),
		"Default":          sm2.NewUID([]byte("Default")),
	} {
		if got, err := ParseID(in); err != nil || got != want {
			t.Errorf("%q: %v, %v", in, got, err)
		}
	}
	for _, in := range []string{"", "hex:0", "hex:0g", "hex: 00", strings.Repeat("a", 8192), "text:" + strings.Repeat("a", 8192)} {
		if _, err := ParseID(in); err == nil {
			t.Errorf("%.20q: no error", in)
		}
	}
}

// The fast way to read a line and the general one agree wherever the fast one
// has an opinion.
func FuzzLine(f *testing.F) {
	data, _ := generate(f, GenerateOptions{Records: 3, Signers: 1, Payload: 4, Hinted: true, ID: `a\"`})
	for line := range bytes.Lines(data) {
		f.Add(line)
	}
	for _, s := range []string{`{}`, `{"key":""}`, `{"key":"","key":""}`, `{"key":"a",}`, `{"a":"b" , "key" : "c"} `, `{"key":"\u0041"}`, `{"id":"é"}`, "{\"id\":\"\x7f\"}", `{"key":1}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		var fast, slow fields
		if fast.parseFast(line) {
			if err := slow.parseAny(line); err != nil {
				t.Fatalf("fast only: %v", err)
			}
			for i := range fast {
				if !bytes.Equal(fast[i], slow[i]) || (fast[i] == nil) != (slow[i] == nil) {
					t.Errorf("%s: %q and %q", fieldNames[i], fast[i], slow[i])
				}
			}
		}
		newParser(&Options{}, header{}).line(line)
	})
}
