// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package bls12381

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// vector reads a file of published vectors, which lie beside the repository.
func vector(t *testing.T, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("../../../shared/vectors/bls", name))
	if err != nil {
		t.Skip("no vectors here")
	}
	return b
}

func vectorJSON(t *testing.T, name string, v any) {
	t.Helper()
	if err := json.Unmarshal(vector(t, name), v); err != nil {
		t.Fatal(err)
	}
}

func unhex(t testing.TB, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.TrimPrefix(s, "0x"))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestExpandMessageVectors(t *testing.T) {
	for _, name := range []string{"expand_message_xmd_SHA256_38.json", "expand_message_xmd_SHA256_256.json"} {
		var file struct {
			DST   string
			Tests []struct {
				Len     string `json:"len_in_bytes"`
				Msg     string
				Uniform string `json:"uniform_bytes"`
			}
		}
		vectorJSON(t, "rfc9380/"+name, &file)
		if len(file.Tests) != 10 {
			t.Errorf("%s: %d tests", name, len(file.Tests))
		}
		for i, v := range file.Tests {
			n, err := strconv.ParseInt(v.Len, 0, 32)
			if err != nil {
				t.Fatal(err)
			}
			if got := ExpandMessageXMD([]byte(v.Msg), []byte(file.DST), int(n)); hex.EncodeToString(got) != v.Uniform {
				t.Errorf("%s: test %d: %x", name, i, got)
			}
		}
	}
}

// point is a point of RFC 9380's files, the coordinates in hexadecimal and those of
// Fp2 separated by a comma.
type point struct{ X, Y string }

// uncompressed returns the encoding of p: of Fp2, the coefficient of u comes first.
func (p point) uncompressed(t *testing.T) []byte {
	var b []byte
	for _, c := range []string{p.X, p.Y} {
		parts := strings.Split(c, ",")
		for i := len(parts) - 1; i >= 0; i-- {
			b = append(b, unhex(t, parts[i])...)
		}
	}
	return b
}

func TestHashVectors(t *testing.T) {
	for _, group := range []string{"G1", "G2"} {
		var file struct {
			DST     string
			Vectors []struct {
				Msg string
				P   point
			}
		}
		vectorJSON(t, "rfc9380/BLS12381"+group+"_XMD_SHA-256_SSWU_RO_.json", &file)
		if len(file.Vectors) != 5 {
			t.Errorf("%s: %d vectors", group, len(file.Vectors))
		}
		for i, v := range file.Vectors {
			var got []byte
			if group == "G1" {
				got = new(G1).HashVarTime([]byte(v.Msg), []byte(file.DST)).UncompressedBytes()
			} else {
				got = new(G2).HashVarTime([]byte(v.Msg), []byte(file.DST)).UncompressedBytes()
			}
			if !bytes.Equal(got, v.P.uncompressed(t)) {
				t.Errorf("%s: vector %d: %x", group, i, got)
			}
		}
	}
}

func TestHashWycheproof(t *testing.T) {
	var file struct {
		TestGroups []struct {
			DST   string
			Tests []struct {
				TcID          int `json:"tcId"`
				Msg, Expected string
				Result        string
			}
		}
	}
	vectorJSON(t, "wycheproof/bls_hash_to_g2_test.json", &file)
	n := 0
	for _, g := range file.TestGroups {
		for _, v := range g.Tests {
			n++
			got := new(G2).HashVarTime(unhex(t, v.Msg), []byte(g.DST)).Bytes()
			if (hex.EncodeToString(got) == v.Expected) != (v.Result == "valid") {
				t.Errorf("test %d: %x", v.TcID, got)
			}
		}
	}
	if n != 34 {
		t.Errorf("%d tests", n)
	}
}

// TestDecodeVectors has zkcrypto's multiples of the generators, from 0 to 999.
func TestDecodeVectors(t *testing.T) {
	g1 := vector(t, "zkcrypto/g1_compressed_valid_test_vectors.dat")
	g1u := vector(t, "zkcrypto/g1_uncompressed_valid_test_vectors.dat")
	g2 := vector(t, "zkcrypto/g2_compressed_valid_test_vectors.dat")
	g2u := vector(t, "zkcrypto/g2_uncompressed_valid_test_vectors.dat")
	if len(g1) != 1000*G1Size || len(g1u) != 1000*G1SizeUncompressed || len(g2) != 1000*G2Size || len(g2u) != 1000*G2SizeUncompressed {
		t.Fatal("unexpected sizes")
	}
	p, q := NewG1(), NewG2()
	for i := range 1000 {
		e, eu := g1[i*G1Size:(i+1)*G1Size], g1u[i*G1SizeUncompressed:(i+1)*G1SizeUncompressed]
		f, fu := g2[i*G2Size:(i+1)*G2Size], g2u[i*G2SizeUncompressed:(i+1)*G2SizeUncompressed]
		if !bytes.Equal(p.Bytes(), e) || !bytes.Equal(p.UncompressedBytes(), eu) ||
			!bytes.Equal(q.Bytes(), f) || !bytes.Equal(q.UncompressedBytes(), fu) {
			t.Fatalf("multiple %d encodes differently", i)
		}
		var a, au G1
		var b, bu G2
		if i == 0 {
			if a.SetBytes(e) == nil || au.SetUncompressed(eu) == nil || b.SetBytes(f) == nil || bu.SetUncompressed(fu) == nil {
				t.Error("the identity was accepted")
			}
			if a.SetBytesOrIdentity(e) != nil || b.SetBytesOrIdentity(f) != nil || !a.IsIdentity() || !b.IsIdentity() {
				t.Error("the identity was refused")
			}
		} else {
			if a.SetBytes(e) != nil || au.SetUncompressed(eu) != nil || !a.Equal(p) || !au.Equal(p) {
				t.Fatalf("multiple %d in G1", i)
			}
			if b.SetBytes(f) != nil || bu.SetUncompressed(fu) != nil || !b.Equal(q) || !bu.Equal(q) {
				t.Fatalf("multiple %d in G2", i)
			}
		}
		p.Add(p, G1Generator())
		q.Add(q, G2Generator())
	}
}

func TestDecodeEthereum(t *testing.T) {
	var file struct {
		Cases []struct {
			Handler, Name string
			Input, Output json.RawMessage
		}
	}
	vectorJSON(t, "ethereum/bls12-381-tests.json", &file)
	n := 0
	for _, v := range file.Cases {
		if !strings.HasPrefix(v.Handler, "deserialization_") {
			continue
		}
		n++
		var in struct{ Pubkey, Signature string }
		if err := json.Unmarshal(v.Input, &in); err != nil {
			t.Fatal(err)
		}
		var err error
		if v.Handler == "deserialization_G1" {
			err = new(G1).SetBytesOrIdentity(unhex(t, in.Pubkey))
		} else {
			err = new(G2).SetBytesOrIdentity(unhex(t, in.Signature))
		}
		if (err == nil) != (string(v.Output) == "true") {
			t.Errorf("%s %s: %v", v.Handler, v.Name, err)
		}
	}
	if n != 34 {
		t.Errorf("%d cases", n)
	}
}
