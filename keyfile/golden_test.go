// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package keyfile

import (
	"bytes"
	"crypto"
	"crypto/rsa"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/undersign/undersign/thresholdrsa"
)

// goldenFiles returns the files of testdata by name.
func goldenFiles(t testing.TB) map[string][]byte {
	t.Helper()
	names, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(names) == 0 {
		t.Fatalf("no testdata: %v", err)
	}
	files := make(map[string][]byte)
	for _, name := range names {
		files[filepath.Base(name)] = readGolden(t, filepath.Base(name))
	}
	return files
}

func readGolden(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// expectation is the line "expect: ..." among the comments.
func expectation(t testing.TB, name string, data []byte) string {
	t.Helper()
	for line := range strings.Lines(string(data)) {
		if strings.HasPrefix(line, "expect: ") {
			return strings.TrimSpace(line)
		}
	}
	t.Fatalf("%s: no expect: line", name)
	return ""
}

// TestGolden pins the formats: what these files say they must say for ever. A file
// may be added and never changed.
func TestGolden(t *testing.T) {
	if *newGolden {
		writeGolden(t)
	}
	outcome := func(v Object, err error) string {
		if err != nil {
			return "expect: error " + err.Error()
		}
		return describe(v)
	}
	seen := map[string]bool{}
	for name, data := range goldenFiles(t) {
		want := expectation(t, name, data)
		if file, ok := strings.CutSuffix(name, ".age.txt"); ok {
			v, err := Open(bytes.NewReader(readGolden(t, file+".age")), alice)
			if got := outcome(v, err); got != want {
				t.Errorf("%s: %s, want %s", name, got, want)
			}
			continue
		}
		read := Parse
		if strings.HasPrefix(name, "insecure-") {
			read = ParseInsecurePlaintext
		}
		v, err := read(data)
		if got := outcome(v, err); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
		if err != nil {
			continue
		}
		seen[Type(v)] = true
		write := Encode
		if IsSecret(v) {
			write = EncodeInsecurePlaintext
		}
		block, err := write(v)
		if err != nil || !bytes.HasSuffix(data, append([]byte{'\n'}, block...)) {
			t.Errorf("%s: %v, and it's written as\n%s", name, err, block)
		}
	}
	for _, k := range kinds {
		if !strings.HasPrefix(k.label, "TEST ") && !seen[k.label] {
			t.Errorf("no golden file of type %s", k.label)
		}
	}
}

func golden[T Object](t *testing.T, name string) T {
	t.Helper()
	v, err := ParseAs[T](readGolden(t, name))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// TestGoldenMeaning checks that the golden files still belong together: the hashes
// inside are pinned too.
func TestGoldenMeaning(t *testing.T) {
	key := golden[*thresholdrsa.PublicKey](t, "public-key.txt")
	dealing := golden[*thresholdrsa.Dealing](t, "dealing.txt")
	share, err := OpenAs[*thresholdrsa.KeyShare](bytes.NewReader(readGolden(t, "share.age")), alice)
	if err != nil {
		t.Fatal(err)
	}
	if !dealing.PublicKey().Equal(key) || !share.PublicKey().Equal(key) {
		t.Error("the dealing or the share is of another key")
	}
	if err := share.CheckDealing(dealing); err != nil {
		t.Error(err)
	}
	for _, name := range []string{"pkcs1", "pss"} {
		r := golden[*thresholdrsa.Request](t, "request-"+name+".txt")
		s1 := golden[*thresholdrsa.SignatureShare](t, "signature-share-"+name+".txt")
		s2, err := share.Sign(r)
		if err != nil {
			t.Fatal(err)
		}
		if err := key.VerifyShare(r, s1); err != nil {
			t.Error(err)
		}
		sig, bad, err := key.Combine(r, s1, s2)
		if err != nil || len(bad) != 0 {
			t.Fatal(err, bad)
		}
		if err := r.Verify(key.RSA(), sig); err != nil {
			t.Error(err)
		}
		if name == "pss" { // the derived salt
			again, err := thresholdrsa.NewRequest(key, r.Digest(), &rsa.PSSOptions{SaltLength: 20, Hash: crypto.SHA384})
			if err != nil || !again.Equal(r) {
				t.Errorf("%v, or another salt", err)
			}
		}
	}
}

// TestGoldenCeremony does the same for a ceremony's files.
func TestGoldenCeremony(t *testing.T) {
	key := golden[*thresholdrsa.PublicKey](t, "public-key.txt")
	next := golden[*thresholdrsa.PublicKey](t, "public-key-epoch-2.txt")
	cert := golden[*thresholdrsa.Certificate](t, "certificate.txt")
	proposal := golden[*thresholdrsa.Proposal](t, "proposal.txt")
	contribution := golden[*thresholdrsa.Contribution](t, "contribution.txt")
	ack := golden[*thresholdrsa.Ack](t, "acknowledgement.txt")
	refusal := golden[*thresholdrsa.Refusal](t, "refusal.txt")
	receiver := golden[*thresholdrsa.Receiver](t, "receiver.txt")

	got, err := cert.Verify(key, nil)
	if err != nil || !got.Equal(next) {
		t.Errorf("certificate: %v", err)
	}
	if !cert.Proposal().Equal(proposal) || contribution.ProposalID() != proposal.ID() || ack.Record() != next.ID() {
		t.Error("the proposal, the contribution or the acknowledgement is of another run")
	}
	if !proposal.Receivers()[1].Equal(receiver) {
		t.Error("another receiver's card is in the proposal")
	}
	if refusal.Index() != 1 || refusal.Contributor() != 3 {
		t.Errorf("the refusal is by %d of %d", refusal.Index(), refusal.Contributor())
	}
	rk, err := OpenAs[*thresholdrsa.ReceiverKey](bytes.NewReader(readGolden(t, "receiver-key.age")), alice)
	if err != nil {
		t.Fatal(err)
	}
	if card, err := rk.Receiver(); err != nil || !card.Equal(receiver) {
		t.Errorf("receiver key: %v", err)
	}
	share, err := OpenAs[*thresholdrsa.KeyShare](bytes.NewReader(readGolden(t, "share-pending.age")), alice)
	if err != nil {
		t.Fatal(err)
	}
	renewed, err := share.Finish(cert, key, nil)
	if err != nil || !renewed.PublicKey().Equal(next) {
		t.Fatalf("finish: %v", err)
	}
	if err := renewed.Check(); err != nil {
		t.Error(err)
	}
}
