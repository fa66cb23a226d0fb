// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"filippo.io/age"
	"github.com/rogpeppe/go-internal/testscript"

	"github.com/undersign/undersign/bls"
	"github.com/undersign/undersign/keyfile"
)

// cmdFor is the command
//
//	for name NAME... -- PROGRAM [ARGS]...    run PROGRAM for each name, which takes
//	                                         the place of NAME in its arguments
func cmdFor(ts *testscript.TestScript, neg bool, args []string) {
	names, command, ok := cutArgs(args)
	if neg || !ok || len(names) < 2 || len(command) == 0 {
		ts.Fatalf("usage: for name NAME... -- PROGRAM [ARGS]...")
	}
	for _, name := range names[1:] {
		var with []string
		for _, arg := range command {
			with = append(with, strings.ReplaceAll(arg, "NAME", name))
		}
		ts.Check(ts.Exec(with[0], with[1:]...))
	}
}

func cutArgs(args []string) (before, after []string, ok bool) {
	for i, arg := range args {
		if arg == "--" {
			return args[:i], args[i+1:], true
		}
	}
	return nil, nil, false
}

// cmdGraft is the command
//
//	graft PROOF1 PROOF2 OUT    write the key of one proof with the proof of another
func cmdGraft(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: graft PROOF1 PROOF2 OUT")
	}
	p1, err := keyfile.ParseAs[*keyfile.BLSProof]([]byte(ts.ReadFile(args[0])))
	ts.Check(err)
	p2, err := keyfile.ParseAs[*keyfile.BLSProof]([]byte(ts.ReadFile(args[1])))
	ts.Check(err)
	p1.Key = p2.Key
	out, err := keyfile.Encode(p1)
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[2]), out, 0o644))
}

// cmdJoin is the command
//
//	join FILE... [--lines] OUT    join words of files on one line, or on lines
func cmdJoin(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: join FILE... [--lines] OUT")
	}
	sep := " "
	var words []string
	for _, arg := range args[:len(args)-1] {
		if arg == "--lines" {
			sep = "\n"
			continue
		}
		words = append(words, strings.TrimSpace(ts.ReadFile(arg)))
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[len(args)-1]), []byte(strings.Join(words, sep)+"\n"), 0o644))
}

func readSig(ts *testscript.TestScript, file string) *bls.Signature {
	s := parseBLSSignature([]byte(ts.ReadFile(file)))
	ts.Check(s.err)
	return s.sig
}

// cmdOffset is the command
//
//	offset SIG1 SIG2 OUT1 OUT2    add a point to one signature, and subtract it from
//	                              the other
func cmdOffset(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 4 {
		ts.Fatalf("usage: offset SIG1 SIG2 OUT1 OUT2")
	}
	s1, s2 := readSig(ts, args[0]), readSig(ts, args[1])
	d, err := bls.Basic.Sign(bls.GenerateKey(), nil)
	ts.Check(err)
	minus := d.Bytes()
	minus[0] ^= 0x20 // the sign of y
	e, err := bls.ParseSignature(minus)
	ts.Check(err)
	for i, terms := range [][2]*bls.Signature{{s1, d}, {s2, e}} {
		sum, err := bls.Aggregate(terms[0], terms[1])
		ts.Check(err)
		ts.Check(os.WriteFile(ts.MkAbs(args[2+i]), blsHex(sum.Bytes()), 0o644))
	}
}

// cmdRogue is the command
//
//	rogue KEY FILE OUTKEY OUTSIG    make a key out of somebody's, so that the two add
//	                                up to a key of ours, and sign FILE for both
func cmdRogue(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 4 {
		ts.Fatalf("usage: rogue KEY FILE OUTKEY OUTSIG")
	}
	victim, err := decodeHex(strings.TrimSpace(ts.ReadFile(args[0])))
	ts.Check(err)
	victim[0] ^= 0x20 // the key's negative
	minus, err := bls.ParsePublicKey(victim)
	ts.Check(err)
	ours := bls.GenerateKey()
	rogue, err := bls.SumKeys([]*bls.ProvenKey{bls.AssumeProvenUnsafe(ours.PublicKey()), bls.AssumeProvenUnsafe(minus)})
	ts.Check(err)
	sig, err := bls.ProofOfPossession.Sign(ours, []byte(ts.ReadFile(args[1])))
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[2]), blsHex(rogue.Bytes()), 0o644))
	ts.Check(os.WriteFile(ts.MkAbs(args[3]), blsHex(sig.Bytes()), 0o644))
}

// cmdSealed is the command
//
//	sealed FILE RECIPIENTS OUT    encrypt FILE with age
func cmdSealed(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: sealed FILE RECIPIENTS OUT")
	}
	to, err := age.ParseRecipients(strings.NewReader(ts.ReadFile(args[1])))
	ts.Check(err)
	out, err := sealText([]byte(ts.ReadFile(args[0])), to)
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[2]), out, 0o644))
}

func TestDecodeSecretHex(t *testing.T) {
	for c := range 256 {
		want, err := hex.DecodeString("0" + string([]byte{byte(c)}))
		got := make([]byte, 1)
		ok := decodeSecretHex(got, []byte{'0', byte(c)})
		if ok != (err == nil) || ok && !bytes.Equal(got, want) {
			t.Errorf("%#x: %x, %v", c, got, ok)
		}
		if ok2 := decodeSecretHex(got, []byte{byte(c), 'f'}); ok2 != ok {
			t.Errorf("%#x in front: %v", c, ok2)
		}
	}
	if decodeSecretHex(make([]byte, 1), []byte("000")) || !decodeSecretHex(nil, nil) {
		t.Error("lengths aren't checked")
	}
}

// FuzzAggregateInput reads keys and signatures as strangers may write them. What is
// accepted has one encoding.
func FuzzAggregateInput(f *testing.F) {
	sk, err := bls.KeyGen(bytes.Repeat([]byte{7}, 32), nil)
	if err != nil {
		f.Fatal(err)
	}
	proof, err := bls.ProofOfPossession.PopProve(sk)
	if err != nil {
		f.Fatal(err)
	}
	f.Add([]byte(sk.PublicKey().String() + " 0x" + proof.String() + "\n# a comment\n\n" + sk.MinSigPublicKey().String()))
	f.Add(proof.Bytes())
	f.Add([]byte("0x" + proof.String() + "\n"))
	f.Add([]byte("c0"))
	f.Add([]byte("0x0x"))
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, l := range hexLines(data) {
			k, err := parseBLSWords(l.words)
			if err != nil {
				continue
			}
			if got := k.key.String(); !strings.EqualFold(got, strings.TrimPrefix(l.words[0], "0x")) {
				t.Errorf("%q was read as %s", l.words[0], got)
			}
			if (k.proof != nil) != (len(l.words) == 2) {
				t.Errorf("%q: proof %v", l.words, k.proof)
			}
		}
		s := parseBLSSignature(data)
		if (s.sig == nil) == (s.err == nil) {
			t.Fatalf("%v, %v", s.sig, s.err)
		}
		if s.sig == nil {
			return
		}
		text := strings.TrimPrefix(string(bytes.TrimSpace(data)), "0x")
		if !bytes.Equal(s.sig.Bytes(), data) && !strings.EqualFold(s.sig.String(), text) {
			t.Errorf("%q was read as %s", data, s.sig)
		}
	})
}

// vectors reads published vectors, which lie beside the repository.
func vectors(t *testing.T, name string, v any) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("../../../shared/vectors", name))
	if err != nil {
		t.Skip("no vectors here")
	}
	if err := json.Unmarshal(data, v); err != nil {
		t.Fatal(err)
	}
}

// file writes a file for a command.
func tempFile(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestEthereumVectors gives Ethereum's vectors to the command.
func TestEthereumVectors(t *testing.T) {
	var all struct {
		Cases []struct {
			Handler, Name string
			Input, Output json.RawMessage
		}
	}
	vectors(t, "bls/ethereum/bls12-381-tests.json", &all)
	ran := map[string]int{}
	for _, v := range all.Cases {
		var in struct {
			Pubkey, Message, Signature string
			Pubkeys, Messages          []string
			Signatures                 []string
			Privkey                    string
		}
		var sigs []string
		var err error
		if v.Handler == "aggregate" {
			err = json.Unmarshal(v.Input, &sigs)
		} else if strings.Contains(v.Handler, "verify") || v.Handler == "sign" {
			err = json.Unmarshal(v.Input, &in)
		} else {
			continue
		}
		if err != nil {
			t.Fatal(v.Name, err)
		}
		args := []string{"aggregate", "verify", "--scheme", "pop"}
		add := func(flag string, values ...string) {
			for _, x := range values {
				args = append(args, flag, x)
			}
		}
		var good bool
		var want string
		if v.Handler == "sign" || v.Handler == "aggregate" {
			json.Unmarshal(v.Output, &want)
		} else if err := json.Unmarshal(v.Output, &good); err != nil {
			t.Fatal(v.Name, err)
		}
		switch v.Handler {
		case "verify":
			add("--key-hex", in.Pubkey)
			add("--message-hex", in.Message)
			add("--sig-hex", in.Signature)
		case "aggregate_verify":
			add("--key-hex", in.Pubkeys...)
			add("--message-hex", in.Messages...)
			add("--sig-hex", in.Signature)
		case "fast_aggregate_verify":
			add("--key-hex", in.Pubkeys...)
			add("--message-hex", in.Message)
			add("--sig-hex", in.Signature)
			args = append(args, "--insecure-proven")
		case "batch_verify":
			add("--key-hex", in.Pubkeys...)
			add("--message-hex", in.Messages...)
			add("--sig-hex", in.Signatures...)
		case "sign":
			dir := t.TempDir()
			code, _, _ := runTest("aggregate", "keygen", "-q", "-o", dir+"/k", "--insecure-plaintext", "--import", tempFile(t, "secret", in.Privkey))
			if code == 0 {
				args = []string{"aggregate", "sign", "--key", dir + "/k", "--insecure-plaintext", "--message-hex", in.Message}
			}
			ran[v.Handler]++
			_, out, _ := runTest(args...)
			if want = strings.TrimPrefix(want, "0x"); strings.TrimSpace(out) != want {
				t.Errorf("%s: %s, want %s", v.Name, out, want)
			}
			continue
		case "aggregate":
			args = []string{"aggregate", "combine", "-q", "-o", "-"}
			for _, s := range sigs {
				args = append(args, tempFile(t, "sig", s))
			}
			ran[v.Handler]++
			_, out, _ := runTest(args...)
			if want = strings.TrimPrefix(want, "0x"); strings.TrimSpace(out) != want {
				t.Errorf("%s: %s, want %s", v.Name, out, want)
			}
			continue
		default:
			continue // eth_fast_aggregate_verify has a rule of its own
		}
		ran[v.Handler]++
		code, _, stderr := runTest(args...)
		if (code == 0) != good {
			t.Errorf("%s: status %d, want valid %v: %s", v.Name, code, good, stderr)
		}
		if !good && code != ExitInvalid && code != ExitError && code != ExitUsage {
			t.Errorf("%s: status %d: %s", v.Name, code, stderr)
		}
	}
	for handler, want := range map[string]int{"verify": 29, "sign": 10, "aggregate": 6, "aggregate_verify": 5, "fast_aggregate_verify": 12, "batch_verify": 4} {
		if ran[handler] != want {
			t.Errorf("%d of %s, want %d", ran[handler], handler, want)
		}
	}
}

// TestChiaBundles verifies real spend bundles and blocks of Chia by the command, and
// spoils each.
func TestChiaBundles(t *testing.T) {
	for _, name := range []string{"chia/mainnet-spend-bundles.json", "chia/testnet10-blocks.json"} {
		var all struct {
			Cases []struct {
				Signature string `json:"aggregated_signature"`
				Pairs     []struct{ Pk, Msg string }
			}
		}
		vectors(t, name, &all)
		if len(all.Cases) == 0 {
			t.Fatal("no cases")
		}
		for i, v := range all.Cases {
			var keys, msgs strings.Builder
			for _, p := range v.Pairs {
				keys.WriteString(p.Pk + "\n")
				msgs.WriteString("0x" + p.Msg + "\n")
			}
			args := []string{"aggregate", "verify", "--scheme", "augmented", "--sig-hex", v.Signature}
			if len(v.Pairs) > 0 {
				args = append(args, "--key", tempFile(t, "keys", keys.String()), "--messages", tempFile(t, "messages", msgs.String()))
			}
			if code, _, stderr := runTest(args...); code != 0 {
				t.Errorf("%s, case %d: status %d: %s", name, i, code, stderr)
			}
			if len(v.Pairs) > 0 && i < 8 {
				spoilt := tempFile(t, "messages", strings.Replace(msgs.String(), "0x", "0x00", 1))
				if code, _, _ := runTest(append(args, "--messages", spoilt)...); code != ExitInvalid {
					t.Errorf("%s, case %d: status %d for another message", name, i, code)
				}
			}
		}
	}
}

// TestChiaSchemes makes Chia's published signatures by the command.
func TestChiaSchemes(t *testing.T) {
	var all struct {
		Signatures []struct {
			Name, Scheme string
			Keys         []struct{ Seed, Sk, Pk string }
			Parts        []struct {
				Key      int
				Msg, Sig string
			}
		}
	}
	vectors(t, "bls/chia-schemes.json", &all)
	made := 0
	for _, v := range all.Signatures {
		for _, p := range v.Parts {
			k := v.Keys[p.Key]
			dir := t.TempDir()
			args := []string{"aggregate", "keygen", "-q", "--hex", "-o", dir + "/k", "--insecure-plaintext"}
			if v.Scheme == "pop_prove" {
				args = append(args, "--scheme", "pop")
			} else {
				args = append(args, "--scheme", v.Scheme)
			}
			if k.Sk != "" {
				args = append(args, "--import", tempFile(t, "secret", k.Sk))
			} else {
				args = append(args, "--seed-file", tempFile(t, "seed", k.Seed), "--derivation", "chia")
			}
			if code, _, stderr := runTest(args...); code != 0 {
				t.Fatalf("%s: %s", v.Name, stderr)
			}
			args = []string{"aggregate", "sign", "--key", dir + "/k", "--insecure-plaintext", "--message-hex", p.Msg}
			if v.Scheme == "pop_prove" {
				args = []string{"aggregate", "prove", "--key", dir + "/k", "--insecure-plaintext", "--hex", "-o", "-"}
			}
			code, out, stderr := runTest(args...)
			if p.Sig == "" {
				continue
			}
			made++
			if code != 0 || strings.TrimSpace(out) != p.Sig {
				t.Errorf("%s: %s %s, want %s", v.Name, out, stderr, p.Sig)
			}
		}
	}
	if made < 5 {
		t.Errorf("%d signatures compared", made)
	}
}
