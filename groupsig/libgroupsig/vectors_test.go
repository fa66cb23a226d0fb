// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package libgroupsig

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/crypto/blake2s"

	"github.com/undersign/undersign/internal/bls12381"
)

// The tests of this file read real exports of the library, which aren't in this
// repository, and are skipped without them.
const vectors = "../../../shared/vectors/groupsig/libgroupsig"

func readVectors(t *testing.T, name string, v any) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(vectors, name+".json"))
	if errors.Is(err, os.ErrNotExist) {
		t.Skip("the exports aren't here")
	}
	if err == nil {
		err = json.Unmarshal(b, v)
	}
	if err != nil {
		t.Fatal(err)
	}
}

type hexBytes []byte

func (h *hexBytes) UnmarshalJSON(b []byte) error {
	var s string
	if err := json.Unmarshal(b, &s); err != nil {
		return err
	}
	d, err := hex.DecodeString(s)
	*h = d
	return err
}

type blob struct {
	Hex    hexBytes `json:"hex"`
	Base64 string   `json:"base64"`
}

type sample struct {
	ID        string `json:"id"`
	Message   string `json:"message"`
	Scope     string `json:"scope"`
	Part      string `json:"message_part"`
	Signature blob   `json:"signature"`
	Text      string `json:"library_to_string"`
	Verify    bool   `json:"verify"`
	After     bool   `json:"verify_after_import"`
}

type samples struct {
	Scheme      string `json:"scheme"`
	Code        Scheme `json:"scheme_code"`
	GroupKey    blob   `json:"group_key"`
	ManagerKeys []struct {
		Key blob `json:"key"`
	} `json:"manager_keys"`
	Members []struct {
		Key blob `json:"key"`
	} `json:"members"`
	GML        *blob    `json:"gml"`
	Signatures []sample `json:"signatures"`
	Other      []struct {
		Op        string `json:"op"`
		Signature string `json:"signature"`
		MessageOf string `json:"message_of"`
		Result    bool   `json:"result"`
	} `json:"other_verdicts"`
	Batches []struct {
		Signatures []string `json:"signatures"`
		Messages   []string `json:"messages_of"`
		Result     bool     `json:"result"`
	} `json:"verify_batch"`
	Open []struct {
		Signature string `json:"signature"`
		ID        uint64 `json:"gml_id"`
		Verdict   bool   `json:"open_verify"`
		Against1  *bool  `json:"open_verify_against_sig1"`
		Against2  *bool  `json:"open_verify_against_sig2"`
		Against3  *bool  `json:"open_verify_against_sig3"`
		Proof     struct {
			Export *blob `json:"library_export"`
			C      hexBytes
			S      hexBytes
			Tau    hexBytes
		} `json:"proof"`
	} `json:"open"`
	Link *struct {
		Signatures []string `json:"signatures"`
		Text       string   `json:"link_message_part"`
		Verdict    bool     `json:"verify_link"`
		Reversed   bool     `json:"verify_link_reversed_order"`
		Of13       bool     `json:"verify_link_of_sig1_sig3"`
		Proof      struct {
			C      hexBytes
			S      hexBytes
			Export blob `json:"library_export"`
		} `json:"proof"`
	} `json:"link"`
	Forged []struct {
		Message   string `json:"message"`
		Signature blob   `json:"signature"`
		Sound     bool   `json:"a_sound_verifier_says"`
	} `json:"forged_but_accepted"`
}

func (s *samples) signature(t *testing.T, id string) *sample {
	for i := range s.Signatures {
		if s.Signatures[i].ID == id {
			return &s.Signatures[i]
		}
	}
	t.Fatalf("no signature %s", id)
	return nil
}

// verdict is Verify's, and fails the test for errors that aren't about a signature.
func verdict(t *testing.T, k *GroupKey, msg, sig []byte) bool {
	t.Helper()
	res, err := k.Verify(msg, sig)
	switch {
	case err == nil && len(res.Flaws) == 0:
		t.Error("no flaws")
	case err != nil && !errors.Is(err, ErrSignature):
		t.Error(err)
	}
	return err == nil
}

func TestSamples(t *testing.T) {
	for _, name := range []string{"bbs04", "ps16", "klap20", "dl21", "dl21seq"} {
		for _, edition := range []string{"", "-ibm"} {
			t.Run(name+edition, func(t *testing.T) { testSamples(t, name, edition) })
		}
	}
}

func testSamples(t *testing.T, name, edition string) {
	var s samples
	readVectors(t, name+edition, &s)
	if s.Code.String() != name {
		t.Errorf("code %d is %s", s.Code, s.Code)
	}
	k, err := ParseGroupKey(s.GroupKey.Hex)
	if err != nil {
		t.Fatal(err)
	}
	if k2, err := ParseGroupKey([]byte(s.GroupKey.Base64)); err != nil || !k2.Equal(k) {
		t.Error("the key in base64:", err)
	}
	if b, err := k.MarshalBinary(); err != nil || !bytes.Equal(b, s.GroupKey.Hex) {
		t.Error("the key changes when it is written again:", err)
	}
	if len(s.Signatures) != 3 || len(s.Other) != 3 {
		t.Fatal("samples are missing")
	}
	for _, x := range s.Signatures {
		if got := verdict(t, k, []byte(x.Message), x.Signature.Hex); got != x.Verify || got != x.After {
			t.Errorf("%s: %v", x.ID, got)
		}
		for _, text := range []string{x.Text, x.Signature.Base64} {
			if !verdict(t, k, []byte(x.Message), []byte(text)) {
				t.Errorf("%s in base64 is refused", x.ID)
			}
		}
		if x.Scope != "" {
			res, err := k.VerifyScoped([]byte(x.Scope), []byte(x.Part), x.Signature.Hex)
			if err != nil || len(res.Pseudonym) != bls12381.G1Size {
				t.Errorf("%s by its parts: %v", x.ID, err)
			}
			if _, err := k.VerifyScoped([]byte(x.Scope+"x"), []byte(x.Part), x.Signature.Hex); !errors.Is(err, ErrSignature) {
				t.Errorf("%s in another scope: %v", x.ID, err)
			}
		}
		for i := 0; i < len(x.Signature.Hex); i += 17 {
			bad := bytes.Clone(x.Signature.Hex)
			bad[i] ^= 1
			sequence := k.Scheme() == DL21SEQ && i >= len(bad)-3*(8+lenSequence)
			if !sequence && verdict(t, k, []byte(x.Message), bad) {
				t.Errorf("%s with another byte %d is valid", x.ID, i)
			}
		}
	}
	for _, o := range s.Other {
		if got := verdict(t, k, []byte(s.signature(t, o.MessageOf).Message), s.signature(t, o.Signature).Signature.Hex); o.Op != "verify" || got != o.Result {
			t.Errorf("%s with the message of %s: %v", o.Signature, o.MessageOf, got)
		}
	}
	if (k.Scheme() == PS16 || k.Scheme() == KLAP20) && len(s.Forged) == 0 {
		t.Error("no forgeries")
	}
	for _, f := range s.Forged {
		if got := verdict(t, k, []byte(f.Message), f.Signature.Hex); got || f.Sound {
			t.Errorf("a forgery is valid: %v", got)
		}
	}
	testBatches(t, &s, k)
	testLink(t, &s, k)
	for _, m := range s.ManagerKeys {
		if _, err := ParseGroupKey(m.Key.Hex); err == nil {
			t.Error("a manager's key is taken for the group's")
		}
	}
	for _, m := range s.Members {
		if _, err := ParseGroupKey(m.Key.Hex); err == nil {
			t.Error("a member's key is taken for the group's")
		}
	}
	if s.GML == nil {
		if _, err := k.ParseMemberList(make([]byte, 8)); err == nil {
			t.Error("a list where there are none")
		}
		return
	}
	l, err := k.ParseMemberList(s.GML.Hex)
	if err != nil {
		t.Fatal(err)
	}
	if len(l.Members) != 2 || l.Members[0].ID != 0 || l.Members[1].ID != 1 || len(l.Repeated) > 0 {
		t.Errorf("members %v", l.Members)
	}
	if want := (Edition)(len(edition) / 4); k.Scheme() != PS16 && (len(l.Editions) != 1 || l.Editions[0] != want) {
		t.Errorf("editions %v", l.Editions)
	}
	if b, err := l.MarshalBinary(); err != nil || !bytes.Equal(b, s.GML.Hex) {
		t.Error("the list changes when it is written again:", err)
	}
	testOpenings(t, &s, k, l, edition)
	for i := range s.GML.Hex {
		if _, err := k.ParseMemberList(s.GML.Hex[:i]); err == nil {
			t.Fatalf("the first %d bytes of the list are one", i)
		}
	}
}

// The library's batches are valid if all signatures are.
func testBatches(t *testing.T, s *samples, k *GroupKey) {
	if (len(s.Batches) > 0) != (k.Scheme() == KLAP20) {
		t.Errorf("%d batches", len(s.Batches))
	}
	for i, b := range s.Batches {
		all := true
		for j, id := range b.Signatures {
			of := id
			if b.Messages != nil {
				of = b.Messages[j]
			}
			all = verdict(t, k, []byte(s.signature(t, of).Message), s.signature(t, id).Signature.Hex) && all
		}
		if all != b.Result {
			t.Errorf("batch %d: %v", i, all)
		}
	}
}

func testLink(t *testing.T, s *samples, k *GroupKey) {
	if (s.Link != nil) != k.Scheme().HasScopes() {
		t.Error("no link")
	}
	if s.Link == nil {
		return
	}
	set := func(ids ...string) (out []Signed) {
		for _, id := range ids {
			x := s.signature(t, id)
			out = append(out, Signed{[]byte(x.Message), x.Signature.Hex})
		}
		return out
	}
	linked := func(set []Signed, proof []byte) bool {
		err := k.VerifyLink(set, []byte(s.Link.Text), proof)
		if err != nil && !errors.Is(err, ErrProof) {
			t.Error(err)
		}
		return err == nil
	}
	l := s.Link
	proof := append([]byte{byte(k.Scheme()), 32, 0, 0, 0}, l.Proof.S...)
	proof = append(append(proof, 32, 0, 0, 0), l.Proof.C...)
	if linked(set(l.Signatures...), proof) != l.Verdict || linked(set(l.Signatures[1], l.Signatures[0]), proof) != l.Reversed || linked(set("sig1", "sig3"), proof) != l.Of13 {
		t.Error("a link has another verdict")
	}
	export := l.Proof.Export.Hex
	if linked(set(l.Signatures...), export) != l.Verdict || linked(set("sig1", "sig3"), export) != l.Of13 {
		t.Error("an exported link has another verdict")
	}
	twice := append(l.Signatures, l.Signatures[0])
	if linked(set(twice...), proof) || linked(set(twice...), export) {
		t.Error("a link of one signature twice")
	}
}

func testOpenings(t *testing.T, s *samples, k *GroupKey, l *MemberList, edition string) {
	if len(s.Open) != 3 {
		t.Error("no openings")
	}
	for _, o := range s.Open {
		proof := append([]byte{byte(KLAP20), 32, 0, 0, 0}, o.Proof.C...)
		proof = append(append(proof, 96, 0, 0, 0), o.Proof.S...)
		proof = append(append(proof, 576&0xff, 576>>8, 0, 0), o.Proof.Tau...)
		if o.Proof.Export != nil {
			proof = o.Proof.Export.Hex
		}
		x := s.signature(t, o.Signature)
		opening, err := k.VerifyOpening([]byte(x.Message), x.Signature.Hex, proof)
		if k.Scheme() == BBS04 { // which has no proofs
			if err == nil || o.Verdict {
				t.Error("a proof of an opening")
			}
			continue
		}
		if (err == nil) != o.Verdict {
			t.Errorf("opening of %s: %v", o.Signature, err)
			continue
		}
		id, ok := opening.Member(l)
		if named := k.Scheme() == PS16 || edition == ""; ok != named || named && id != o.ID {
			t.Errorf("opening of %s names %d, %v", o.Signature, id, ok)
		}
		for other, want := range map[string]*bool{"sig1": o.Against1, "sig2": o.Against2, "sig3": o.Against3} {
			if want == nil {
				continue
			}
			x := s.signature(t, other)
			if _, err := k.VerifyOpening([]byte(x.Message), x.Signature.Hex, proof); (err == nil) != *want || err != nil && !errors.Is(err, ErrProof) {
				t.Errorf("opening of %s for %s: %v", o.Signature, other, err)
			}
		}
		for i := range proof {
			bad := bytes.Clone(proof)
			if bad[i] ^= 1; i%29 == 0 {
				if _, err := k.VerifyOpening([]byte(x.Message), x.Signature.Hex, bad); !errors.Is(err, ErrProof) {
					t.Errorf("opening of %s with another byte %d: %v", o.Signature, i, err)
				}
			}
		}
	}
}

// What can't be verified soundly is refused, with the reason.
func TestUnsupportedSamples(t *testing.T) {
	for name, word := range map[string]string{"kty04": "bases", "cpy06": "joined", "gl19": "pseudonyms", "gl19-ibm": "pseudonyms"} {
		var s samples
		readVectors(t, name, &s)
		if _, err := ParseGroupKey(s.GroupKey.Hex); !errors.Is(err, ErrUnsupported) || !strings.Contains(err.Error(), word) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestEncodings(t *testing.T) {
	var v struct {
		G1 []struct {
			Name       string
			Mcl, Zcash hexBytes
		}
		G2 []struct {
			Name       string
			Mcl, Zcash hexBytes
		}
		GT []struct {
			Name   string
			Mcl    hexBytes
			Be     hexBytes `json:"big_endian_c1_first"`
			Accept *bool    `json:"strict_decoder_should_accept"`
		}
		Fr []struct {
			Mcl hexBytes
			Be  hexBytes `json:"big_endian"`
		}
		G1Decode []decoding `json:"g1_decode"`
		G2Decode []decoding `json:"g2_decode"`
		FrDecode []decoding `json:"fr_decode"`
	}
	readVectors(t, "encoding", &v)
	for _, x := range v.G1 {
		p := bls12381.NewG1()
		if err := p.SetBytesOrIdentity(x.Zcash); err != nil || !bytes.Equal(appendG1(nil, p), x.Mcl) {
			t.Errorf("G1 %s is written as %x: %v", x.Name, appendG1(nil, p), err)
		}
		switch q, err := decodeG1(x.Mcl); {
		case p.IsIdentity() && !errors.Is(err, errIdentity):
			t.Error("the identity of G1:", err)
		case !p.IsIdentity() && (err != nil || !q.Equal(p)):
			t.Errorf("G1 %s: %v", x.Name, err)
		}
	}
	for _, x := range v.G2 {
		p := bls12381.NewG2()
		if err := p.SetBytesOrIdentity(x.Zcash); err != nil || !bytes.Equal(appendG2(nil, p), x.Mcl) {
			t.Errorf("G2 %s is written as %x: %v", x.Name, appendG2(nil, p), err)
		}
		switch q, err := decodeG2(x.Mcl); {
		case p.IsIdentity() && !errors.Is(err, errIdentity):
			t.Error("the identity of G2:", err)
		case !p.IsIdentity() && (err != nil || !q.Equal(p)):
			t.Errorf("G2 %s: %v", x.Name, err)
		}
	}
	elements := 0
	for _, x := range v.GT {
		z := new(bls12381.GT)
		q, err := decodeGT(x.Mcl)
		if z.SetBytes(x.Be) != nil {
			if err == nil {
				t.Errorf("GT %s is an element", x.Name)
			}
			continue
		}
		elements++
		if err != nil || !q.Equal(z) || !bytes.Equal(appendGT(nil, z), x.Mcl) {
			t.Errorf("GT %s: %v", x.Name, err)
		}
	}
	if elements < 3 {
		t.Errorf("only %d elements of GT", elements)
	}
	for _, x := range v.Fr {
		k, err := decodeScalar(x.Mcl)
		if err != nil || !bytes.Equal(k.Bytes(), x.Be) || !bytes.Equal(appendScalar(nil, k), x.Mcl) {
			t.Errorf("scalar %x: %v", x.Be, err)
		}
	}
	for _, x := range v.G1Decode {
		_, err := decodeG1(x.Bytes)
		x.check(t, "G1", err)
	}
	for _, x := range v.G2Decode {
		_, err := decodeG2(x.Bytes)
		x.check(t, "G2", err)
	}
	for _, x := range v.FrDecode {
		_, err := decodeScalar(x.Bytes)
		x.Strict = x.Accepted
		x.check(t, "scalar", err)
	}
}

type decoding struct {
	Name     string
	Bytes    hexBytes
	Strict   bool `json:"strict_decoder_should_accept"`
	Accepted bool
	Identity bool `json:"is_identity"`
}

// check compares a verdict with the one for a strict decoder; ours has no identity.
func (d *decoding) check(t *testing.T, group string, err error) {
	t.Helper()
	if (err == nil) != (d.Strict && !d.Identity) {
		t.Errorf("%s %s: %v", group, d.Name, err)
	}
}

func TestHashes(t *testing.T) {
	type known struct {
		Input  hexBytes `json:"input_hex"`
		Digest hexBytes
		Mcl    hexBytes
		Be     hexBytes `json:"scalar_be"`
		FpBe   hexBytes `json:"fp_be"`
		Zcash  hexBytes
		Text   string `json:"input"`
	}
	var v struct {
		Frh []known `json:"fr_from_hash"`
		HB  []known `json:"blake2s_then_fr_from_hash"`
		HS  []known `json:"sha1_then_fr_from_hash"`
		Fph []known `json:"fp_from_hash"`
		Raw []known `json:"hash_to_g1_raw"`
		H1  []known `json:"hash_to_g1_of_blake2s"`
	}
	readVectors(t, "encoding", &v)
	scalars := func(name string, list []known, hash func([]byte) *bls12381.Scalar) {
		if len(list) < 3 {
			t.Errorf("%s: only %d known answers", name, len(list))
		}
		for _, x := range list {
			if k := hash(x.Input); !bytes.Equal(k.Bytes(), x.Be) || !bytes.Equal(appendScalar(nil, k), x.Mcl) {
				t.Errorf("%s of %x", name, x.Input)
			}
		}
	}
	scalars("frh", v.Frh, scalarFromHash)
	scalars("HB", v.HB, func(b []byte) *bls12381.Scalar { return hashBLAKE(b) })
	scalars("HS", v.HS, func(b []byte) *bls12381.Scalar { return hashSHA1(b) })
	for _, x := range v.Fph {
		if got := fieldFromHash([]byte(x.Text)).FillBytes(make([]byte, 48)); !bytes.Equal(got, x.FpBe) {
			t.Errorf("fph of %q is %x", x.Text, got)
		}
	}
	for _, x := range v.Raw {
		if p := mapToG1(fieldFromHash(x.Input)); !bytes.Equal(p.Bytes(), x.Zcash) || !bytes.Equal(appendG1(nil, p), x.Mcl) {
			t.Errorf("raw hash of %q", x.Text)
		}
	}
	for _, x := range v.H1 {
		d := blake2s.Sum256(x.Input)
		if p := hashToG1(x.Input); !bytes.Equal(d[:], x.Digest) || !bytes.Equal(p.Bytes(), x.Zcash) {
			t.Errorf("hash of %q", x.Text)
		}
	}
	if len(v.Fph) < 3 || len(v.Raw) < 8 || len(v.H1) < 2 {
		t.Error("known answers are missing")
	}
}

func TestMapFailsWithoutAPoint(t *testing.T) {
	root := new(big.Int).ModSqrt(new(big.Int).Sub(fieldP, big.NewInt(5)), fieldP)
	for _, v := range []*big.Int{new(big.Int), root, new(big.Int).Sub(fieldP, root)} {
		if mapToG1(v) != nil {
			t.Errorf("a point for %v", v)
		}
	}
	if mapToG1(big.NewInt(1)) == nil || !mapToG1(big.NewInt(1)).InSubgroupVarTime() {
		t.Error("no point of the subgroup for 1")
	}
}
