// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package keyfile

import (
	"context"
	"crypto"
	"crypto/ed25519"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/sha512"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/undersign/undersign/bls"
	"github.com/undersign/undersign/ring"
	"github.com/undersign/undersign/thresholdrsa"
)

var newGolden = flag.Bool("new-golden", false, "write the golden files that don't exist yet")

// goldenWriter writes files that don't exist.
type goldenWriter struct{ t *testing.T }

func (w goldenWriter) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w goldenWriter) file(name string, data []byte) {
	path := filepath.Join("testdata", name)
	if _, err := os.Stat(path); err == nil {
		w.t.Logf("%s exists", path)
		return
	}
	w.must(os.WriteFile(path, data, 0o644))
}

func (w goldenWriter) public(name string, v Object) {
	w.t.Helper()
	b, err := Encode(v, describe(v))
	w.must(err)
	w.file(name+".txt", b)
}

// secret writes a secret both ways.
func (w goldenWriter) secret(name string, v Object) {
	w.t.Helper()
	b, err := EncodeInsecurePlaintext(v, describe(v))
	w.must(err)
	w.file("insecure-"+name+".txt", b)
	w.file(name+".age", seal(w.t, v, alice.Recipient()))
	w.file(name+".age.txt", []byte(describe(v)+"\n"))
}

func describe(v Object) string { return "expect: ok " + Type(v) + " " + Fingerprint(v) }

// writeGolden makes a key and files of all types, which belong together: to start
// afresh, as may be done before v1.0 only, remove all but err-*.
func writeGolden(t *testing.T) {
	w := goldenWriter{t}
	w.group()
	w.bls()
	w.ring()
	w.party()
	priv, err := thresholdrsa.GenerateKey(context.Background(), 2048, nil)
	w.must(err)
	dealing, shares, err := thresholdrsa.Deal(priv, 2, 3, &thresholdrsa.DealOptions{Names: []string{"alice", "bob", "carol"}})
	w.must(err)
	key := dealing.PublicKey()
	w.public("public-key", key)
	w.public("dealing", dealing)
	w.secret("share", shares[0])

	sum256, sum384 := sha256.Sum256([]byte("hello")), sha512.Sum384([]byte("hello"))
	pkcs1, err := thresholdrsa.NewRequest(key, sum256[:], crypto.SHA256)
	w.must(err)
	pss, err := thresholdrsa.NewRequest(key, sum384[:], &rsa.PSSOptions{SaltLength: 20, Hash: crypto.SHA384})
	w.must(err)
	for name, r := range map[string]*thresholdrsa.Request{"pkcs1": pkcs1, "pss": pss} {
		w.public("request-"+name, r)
		s, err := shares[2].Sign(r)
		w.must(err)
		w.public("signature-share-"+name, s)
	}
	w.ceremony(key, shares)
}

// ceremony renews the shares; alice and carol contribute, and bob has a card.
func (w goldenWriter) ceremony(key *thresholdrsa.PublicKey, shares []*thresholdrsa.KeyShare) {
	alice, bob, carol := shares[0], shares[1], shares[2]
	rk, err := bob.NewReceiver()
	w.must(err)
	card, err := rk.Receiver()
	w.must(err)
	proposal, err := thresholdrsa.ProposeRefresh(key, []int{1, 3}, card)
	w.must(err)
	c1, err := alice.Contribute(proposal)
	w.must(err)
	c3, err := carol.Contribute(proposal)
	w.must(err)
	both := []*thresholdrsa.Contribution{c1, c3}
	a1, err := alice.Receive(nil, proposal, both, nil)
	w.must(err)
	a2, err := bob.Receive(rk, proposal, both, nil)
	w.must(err)
	a3, err := carol.Receive(nil, proposal, both, nil)
	w.must(err)
	cert, err := thresholdrsa.Commit(key, proposal, both, []*thresholdrsa.Ack{a1, a2, a3}, nil)
	w.must(err)

	w.secret("receiver-key", rk)
	w.public("receiver", card)
	w.public("proposal", proposal)
	w.public("contribution", c1)
	w.public("acknowledgement", a2)
	w.public("certificate", cert)
	w.public("public-key-epoch-2", cert.PublicKey())
	w.secret("share-pending", alice)

	// In another run carol signs two contributions, and alice refuses it.
	proposal, err = thresholdrsa.ProposeRefresh(key, []int{1, 3})
	w.must(err)
	for i, s := range []*thresholdrsa.KeyShare{alice, carol, carol} {
		both = append(both[:i], nil)
		both[i], err = s.Contribute(proposal)
		w.must(err)
	}
	_, err = alice.Receive(nil, proposal, both, nil)
	e, ok := errors.AsType[*thresholdrsa.CeremonyError](err)
	if !ok || e.Refusal == nil {
		w.t.Fatalf("no refusal: %v", err)
	}
	w.public("refusal", e.Refusal)
	w.secret("share-refused", alice)
}

// group writes files of groups, which are bytes to this package.
func (w goldenWriter) group() {
	f := GroupFile{Scheme: "bbsgs", Group: sha256.Sum256([]byte("group")), Number: 7, Parts: [][]byte{[]byte("first"), {}, []byte("third")}}
	w.public("group-key", &GroupKey{f})
	w.secret("group-issuer", &GroupIssuer{f})
	w.secret("group-opener", &GroupOpener{f})
	w.secret("group-converter", &GroupConverter{f})
	w.secret("group-linker", &GroupLinker{f})
	w.secret("group-member", &GroupMember{f})
	w.secret("group-pending", &GroupPending{f})
	w.public("group-challenge", &GroupChallenge{f})
	w.secret("group-application", &GroupApplication{f})
	w.public("group-credential", &GroupCredential{f})
	w.secret("group-record", &GroupRecord{f})
	w.public("group-signature", &GroupSignature{f})
	w.public("group-opening", &GroupOpening{f})
	w.public("group-revelation", &GroupRevelation{f})
	w.public("group-revocation", &GroupRevocation{f})
	w.secret("group-blinding", &GroupBlinding{f})
	w.public("group-query", &GroupQuery{f})
	w.public("group-answer", &GroupAnswer{f})
	w.public("group-link", &GroupLink{f})
	w.public("group-claim", &GroupClaim{f})
	w.public("group-draft", &GroupDraft{f})
	w.public("group-announcement", &GroupAnnouncement{f})
}

// bls writes keys of one secret for two schemes, and a proof.
func (w goldenWriter) bls() {
	sk, err := bls.KeyGen([]byte("the golden files' own secret key"), nil)
	w.must(err)
	proof, err := bls.ProofOfPossession.PopProve(sk)
	w.must(err)
	w.secret("bls-secret-key", &BLSSecretKey{bls.ProofOfPossession, sk})
	w.public("bls-public-key", &BLSPublicKey{bls.ProofOfPossession, sk.PublicKey()})
	w.public("bls-proof", &BLSProof{bls.ProofOfPossession, sk.PublicKey(), proof})
	w.secret("bls-secret-key-minsig", &BLSSecretKey{bls.MinSigBasic, sk})
	w.public("bls-public-key-minsig", &BLSPublicKey{bls.MinSigBasic, sk.MinSigPublicKey()})
}

// ring writes a key, a ring, and a signature in both layouts.
func (w goldenWriter) ring() {
	var keys []*ring.PublicKey
	var k *ring.PrivateKey
	for range 2 {
		var err error
		k, err = ring.GenerateKey(ring.Ristretto255)
		w.must(err)
		keys = append(keys, k.Public())
	}
	r, err := ring.NewRing(keys...)
	w.must(err)
	sig, err := k.Sign(r, []byte("message"), nil)
	w.must(err)
	wide, err := r.Expand([]byte("message"), sig, nil)
	w.must(err)
	w.secret("ring-private-key", k)
	w.public("ring-public-key", k.Public())
	w.public("ring", r)
	w.public("ring-signature", sig)
	w.public("ring-signature-batch", wide)
}

// party writes the key of a party.
func (w goldenWriter) party() {
	k := &PartyKey{ed25519.NewKeyFromSeed([]byte("the golden files' own party key!"))}
	w.secret("party-key", k)
	w.public("party", k.Party())
}
