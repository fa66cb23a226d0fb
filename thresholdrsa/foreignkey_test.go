// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package thresholdrsa

import (
	"bytes"
	"crypto"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
)

// adopt imports a library's dealing: every holder makes a card, and takes its share.
func adopt(t *testing.T, library string) (f *ForeignKey, shares []*KeyShare, keys []*ReceiverKey, docs [][]byte) {
	t.Helper()
	files := foreignLibraries[library]
	f, err := ParseForeignKey(foreignDocs(t, files.public)...)
	if err != nil {
		t.Fatal(err)
	}
	for _, doc := range foreignDocs(t, files.shares) {
		var list []json.RawMessage
		if json.Unmarshal(doc, &list) != nil {
			list = []json.RawMessage{doc}
		}
		for _, d := range list {
			docs = append(docs, d)
		}
	}
	var cards []*Receiver
	for i := range f.NumHolders() {
		k, err := NewReceiver(fmt.Sprintf("adopted-%d", i+1))
		if err != nil {
			t.Fatal(err)
		}
		keys = append(keys, k)
		cards = append(cards, card(t, k))
	}
	for i, doc := range docs {
		p, err := f.Record(cards) // each holder on its own
		if err != nil {
			t.Fatal(err)
		}
		s, err := f.Share(reparse(t, p, new(PublicKey)), keys[i], doc)
		if err != nil {
			t.Fatal(err)
		}
		shares = append(shares, reparse(t, s, new(KeyShare)))
	}
	return f, shares, keys, docs
}

// signMessage makes every holder's share of a PKCS #1 v1.5 request for message.
func signMessage(t *testing.T, shares []*KeyShare, message string, opts crypto.SignerOpts) (*Request, []*SignatureShare) {
	t.Helper()
	digest := sha256.Sum256([]byte(message))
	r, err := NewRequest(shares[0].key, digest[:], opts)
	if err != nil {
		t.Fatal(err)
	}
	var out []*SignatureShare
	for _, s := range shares {
		sig, err := s.Sign(r)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, sig)
	}
	return r, out
}

// Adopted shares sign what the library signed, take part in ceremonies, and the
// modulus that is a bit short does no harm to PSS.
func TestAdopt(t *testing.T) {
	for library, files := range foreignLibraries {
		t.Run(library, func(t *testing.T) {
			_, shares, _, _ := adopt(t, library)
			key := shares[0].key
			if key.n.BitLen() != 2047 {
				t.Fatalf("modulus of %d bits", key.n.BitLen())
			}
			var theirs struct {
				Message   string
				Signature []byte
			}
			if err := json.Unmarshal(foreignFile(t, files.signature), &theirs); err != nil {
				t.Fatal(err)
			}
			check := func(shares []*KeyShare) {
				t.Helper()
				key := shares[0].key
				r, sigs := signMessage(t, shares, theirs.Message, crypto.SHA256)
				sig, bad, err := key.Combine(r, sigs...)
				if err != nil || len(bad) != 0 || !bytes.Equal(sig, theirs.Signature) {
					t.Errorf("epoch %d: %v, %v, signature %x", key.epoch, bad, err, sig)
				}
				r, sigs = signMessage(t, shares, theirs.Message, &rsa.PSSOptions{Hash: crypto.SHA256})
				sig, _, err = key.Combine(r, sigs...)
				if err != nil || rsa.VerifyPSS(key.RSA(), crypto.SHA256, r.digest, sig, nil) != nil {
					t.Errorf("epoch %d: PSS: %v", key.epoch, err)
				}
				for _, s := range sigs {
					if err := key.VerifyShare(r, s); err != nil {
						t.Error(err)
					}
				}
			}
			check(shares)
			first := []int{1, 2, 3}[:key.k]
			shares = refresh(t, shares, first...).finish(nil)
			check(shares)
			check(refresh(t, shares, first...).finish(nil))
		})
	}
}

func TestAdoptRefused(t *testing.T) {
	f, shares, keys, docs := adopt(t, "safeheron")
	p := shares[0].key
	other, _, otherKeys, otherDocs := adopt(t, "tcrsa")
	var list []*Receiver
	for _, k := range otherKeys {
		list = append(list, card(t, k))
	}
	foreign, err := other.Record(list)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		p    *PublicKey
		k    *ReceiverKey
		doc  []byte
		want string
	}{
		{"another holder's card", p, keys[1], docs[0], "the card is another's"},
		{"a stranger's card", p, otherKeys[0], docs[0], "the card is another's"},
		{"another key's record", foreign, otherKeys[0], docs[0], "another key"},
		{"another library's share", p, keys[0], otherDocs[0], ""},
		{"no share", p, keys[0], nil, ""},
		{"shares of two holders", p, keys[0], []byte(fmt.Sprintf("[%s,%s]", docs[0], docs[1])), "2 shares"},
	} {
		if _, err := f.Share(c.p, c.k, c.doc); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	// One digit of the share changed.
	bad := bytes.Clone(docs[0])
	i := bytes.LastIndexByte(bad, '"') - 1
	if bad[i]++; bad[i] == '9'+1 || bad[i] > 'F' && bad[i] < 'a' || bad[i] > 'f' {
		bad[i] = '0'
	}
	if _, err := f.Share(p, keys[0], bad); !errors.Is(err, ErrDealing) {
		t.Errorf("a changed share: %v", err)
	}
	if _, err := f.Record(list[:2]); err == nil {
		t.Error("two cards for three holders")
	}
	if _, err := f.Record([]*Receiver{list[0], list[0], list[1]}); err == nil {
		t.Error("one card twice")
	}
}
