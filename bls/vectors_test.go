// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package bls

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"strings"
	"testing"

	"github.com/undersign/undersign/internal/bls12381"
)

// TestRFC9380 runs the hashes that signatures are made of on the RFC's vectors.
func TestRFC9380(t *testing.T) {
	for _, minSig := range []bool{false, true} {
		u := &suite{minSig: minSig}
		group := "G2"
		if minSig {
			group = "G1"
		}
		var file struct {
			DST     string
			Vectors []struct {
				Msg string
				P   struct{ X, Y string }
			}
		}
		vector(t, "bls/rfc9380/BLS12381"+group+"_XMD_SHA-256_SSWU_RO_.json", &file)
		if len(file.Vectors) != 5 {
			t.Errorf("%d vectors", len(file.Vectors))
		}
		for i, v := range file.Vectors {
			var want []byte
			for _, c := range []string{v.P.X, v.P.Y} {
				c0, c1, two := strings.Cut(c, ",")
				if two {
					want = append(want, unhex(t, c1)...)
				}
				want = append(want, unhex(t, c0)...)
			}
			if got := u.hash([]byte(v.Msg), file.DST).uncompressed(); !bytes.Equal(got, want) {
				t.Errorf("%s vector %d: %x", group, i, got)
			}
		}
	}
}

// TestWycheproof verifies the files of single signatures.
func TestWycheproof(t *testing.T) {
	for name, s := range map[string]Scheme{"basic": Basic, "pop": ProofOfPossession} {
		var file struct {
			TestGroups []struct {
				Ciphersuite string
				PublicKey   struct{ Pk string }
				Tests       []struct {
					TcID             int
					Msg, Sig, Result string
					Comment          string
				}
			}
		}
		vector(t, "bls/wycheproof/bls_sig_g2_"+name+"_verify_test.json", &file)
		n := 0
		for _, g := range file.TestGroups {
			if g.Ciphersuite != s.Ciphersuite() {
				t.Errorf("%s: %s", name, g.Ciphersuite)
			}
			for _, v := range g.Tests {
				n++
				ok := verifyBytes(s, unhex(t, g.PublicKey.Pk), unhex(t, v.Msg), unhex(t, v.Sig))
				if ok != (v.Result == "valid") {
					t.Errorf("%s %d, %s: %v, want %s", name, v.TcID, v.Comment, ok, v.Result)
				}
			}
		}
		if want := map[Scheme]int{Basic: 88, ProofOfPossession: 26}[s]; n != want {
			t.Errorf("%s: %d tests", name, n)
		}
	}
}

func verifyBytes(s Scheme, key, msg, sig []byte) bool {
	k, err := ParsePublicKey(key)
	if err != nil {
		return false
	}
	p, err := ParseSignature(sig)
	return err == nil && s.Verify(k, msg, p) == nil
}

func TestWycheproofAggregate(t *testing.T) {
	var file struct {
		TestGroups []struct {
			Tests []struct {
				TcID              int
				Pubkeys, Messages []string
				Sig, Result       string
				Comment           string
			}
		}
	}
	vector(t, "bls/wycheproof/bls_sig_g2_aggregate_verify_test.json", &file)
	n := 0
	for _, g := range file.TestGroups {
		for _, v := range g.Tests {
			n++
			ok := aggregateVerifyBytes(t, Basic, v.Pubkeys, v.Messages, v.Sig)
			if ok != (v.Result == "valid") {
				t.Errorf("%d, %s: %v, want %s", v.TcID, v.Comment, ok, v.Result)
			}
		}
	}
	if n != 19 {
		t.Errorf("%d tests", n)
	}
}

func parseKeys(t *testing.T, list []string) ([]*PublicKey, bool) {
	keys := make([]*PublicKey, len(list))
	for i, k := range list {
		var err error
		if keys[i], err = ParsePublicKey(unhex(t, k)); err != nil {
			return nil, false
		}
	}
	return keys, true
}

func unhexAll(t *testing.T, list []string) [][]byte {
	out := make([][]byte, len(list))
	for i, s := range list {
		out[i] = unhex(t, s)
	}
	return out
}

func aggregateVerifyBytes(t *testing.T, s Scheme, pks, msgs []string, sig string) bool {
	keys, ok := parseKeys(t, pks)
	p, err := ParseSignature(unhex(t, sig))
	return ok && err == nil && s.AggregateVerify(keys, unhexAll(t, msgs), p) == nil
}

// TestEthereum runs the cases of the consensus layer, which has the scheme
// ProofOfPossession and knows all keys to be proven.
func TestEthereum(t *testing.T) {
	var file struct {
		Cases []struct {
			Handler, Name string
			Input, Output json.RawMessage
		}
	}
	vector(t, "bls/ethereum/bls12-381-tests.json", &file)
	count := map[string]int{}
	for _, v := range file.Cases {
		var in struct {
			Privkey, Message, Pubkey, Signature string
			Pubkeys, Messages, Signatures       []string
		}
		var list []string
		if json.Unmarshal(v.Input, &in) != nil && json.Unmarshal(v.Input, &list) != nil {
			t.Fatal(v.Name)
		}
		var want string // an encoding, true, false or null
		if json.Unmarshal(v.Output, &want) != nil || want == "" {
			want = string(v.Output)
		}
		verdict := func(ok bool) string {
			if ok {
				return "true"
			}
			return "false"
		}
		encoded := func(b []byte, err error) string {
			if err != nil {
				return "null"
			}
			return "0x" + hex.EncodeToString(b)
		}
		fast := func() bool {
			keys, ok := parseKeys(t, in.Pubkeys)
			sig, err := ParseSignature(unhex(t, in.Signature))
			if !ok || err != nil {
				return false
			}
			if len(keys) == 0 && v.Handler == "eth_fast_aggregate_verify" {
				return sig.IsIdentity() // the consensus layer's own rule
			}
			return ProofOfPossession.FastAggregateVerify(provenOf(keys), unhex(t, in.Message), sig) == nil
		}
		var got string
		switch v.Handler {
		case "sign":
			sk, err := ParseSecretKey(unhex(t, in.Privkey))
			var sig *Signature
			if err == nil {
				sig, err = ProofOfPossession.Sign(sk, unhex(t, in.Message))
			}
			got = encoded(sig.Bytes(), err)
		case "verify":
			got = verdict(verifyBytes(ProofOfPossession, unhex(t, in.Pubkey), unhex(t, in.Message), unhex(t, in.Signature)))
		case "aggregate":
			sigs := make([]*Signature, len(list))
			for i, s := range list {
				sigs[i] = must[*Signature](t)(ParseSignature(unhex(t, s)))
			}
			sum, err := Aggregate(sigs...)
			got = encoded(sum.Bytes(), err)
		case "aggregate_verify":
			keys, ok := parseKeys(t, in.Pubkeys)
			sig, err := ParseSignature(unhex(t, in.Signature))
			got = verdict(ok && err == nil &&
				ProofOfPossession.AggregateVerifyProven(provenOf(keys), unhexAll(t, in.Messages), sig) == nil)
		case "fast_aggregate_verify", "eth_fast_aggregate_verify":
			got = verdict(fast())
		case "batch_verify":
			b := NewBatch(ProofOfPossession)
			for i := range in.Pubkeys {
				key, _ := ParsePublicKey(unhex(t, in.Pubkeys[i]))
				sig, _ := ParseSignature(unhex(t, in.Signatures[i]))
				b.Add(key, unhex(t, in.Messages[i]), sig)
			}
			got = verdict(b.Verify() == nil)
		case "eth_aggregate_pubkeys":
			keys, ok := parseKeys(t, list)
			sum, err := SumKeys(provenOf(keys))
			if !ok {
				err = ErrKey
			}
			got = encoded(sum.Bytes(), err)
		case "deserialization_G1":
			_, err := ParsePublicKey(unhex(t, in.Pubkey))
			// The identity is an encoding of a point, and not of a key.
			got = verdict(err == nil || strings.HasPrefix(in.Pubkey, "c0") && want == "true" && strings.Contains(err.Error(), "identity"))
		case "deserialization_G2":
			_, err := ParseSignature(unhex(t, in.Signature))
			got = verdict(err == nil)
		case "hash_to_G2":
			continue // see internal/bls12381
		default:
			t.Errorf("unknown handler %s", v.Handler)
		}
		count[v.Handler]++
		if got != want {
			t.Errorf("%s %s: %s, want %s", v.Handler, v.Name, got, want)
		}
	}
	if len(count) != 10 || count["verify"] == 0 || count["deserialization_G1"]+count["deserialization_G2"] != 34 {
		t.Errorf("%v", count)
	}
}

func provenOf(keys []*PublicKey) []*ProvenKey {
	out := make([]*ProvenKey, len(keys))
	for i, k := range keys {
		out[i] = AssumeProvenUnsafe(k)
	}
	return out
}

func TestEIP2333(t *testing.T) {
	var file struct {
		Cases []struct {
			Rule   string `json:"salt_rule"`
			Seed   string
			Master string `json:"master_sk"`
			Index  uint32 `json:"child_index"`
			Child  string `json:"child_sk"`
		}
	}
	vector(t, "bls/eip2333.json", &file)
	if len(file.Cases) != 8 {
		t.Errorf("%d cases", len(file.Cases))
	}
	for i, v := range file.Cases {
		d := map[string]Derivation{"hashed": EIP2333, "raw": Chia}[v.Rule]
		master := must[*SecretKey](t)(d.Master(unhex(t, v.Seed)))
		child := must[*SecretKey](t)(d.Path(master, v.Index))
		if hex.EncodeToString(master.k.Bytes()) != v.Master || hex.EncodeToString(child.k.Bytes()) != v.Child {
			t.Errorf("case %d: other keys", i)
		}
		other := must[*SecretKey](t)((1 - d).Master(unhex(t, v.Seed)))
		if other.Equal(master) {
			t.Errorf("case %d: the salt makes no difference", i)
		}
	}
}

func TestChiaSchemes(t *testing.T) {
	type key struct {
		Seed, SK, PK string
		SKAny        string `json:"sk_any"`
	}
	var file struct {
		Signatures []struct {
			Name, Scheme string
			Keys         []key
			Parts        []struct {
				Key      int
				Msg, Sig string
			}
			Aggregate string
		}
		KeyGen []key
		Derive struct {
			Parent     string   `json:"parent_sk"`
			Unhardened []string `json:"unhardened_children"`
			Hardened   []string `json:"hardened_children"`
		}
		SKToPK []key    `json:"sk_to_pk"`
		Bad    []string `json:"invalid_pk_encodings"`
	}
	vector(t, "bls/chia-schemes.json", &file)
	secret := func(k key) *SecretKey {
		if k.SK != "" {
			return must[*SecretKey](t)(ParseSecretKey(unhex(t, k.SK)))
		}
		return must[*SecretKey](t)(Chia.Master(unhex(t, k.Seed)))
	}
	if len(file.Signatures) != 8 || len(file.KeyGen) != 3 || len(file.SKToPK) != 5 || len(file.Bad) != 8 {
		t.Error("cases are missing")
	}
	for _, v := range file.Signatures {
		var keys []*SecretKey
		for _, k := range v.Keys {
			keys = append(keys, secret(k))
			if k.Seed != "" && k.SK != "" && !keys[len(keys)-1].Equal(must[*SecretKey](t)(Chia.Master(unhex(t, k.Seed)))) {
				t.Errorf("%s: another key from the seed", v.Name)
			}
			if pk := keys[len(keys)-1].PublicKey().String(); k.PK != "" && pk != k.PK {
				t.Errorf("%s: public key %s", v.Name, pk)
			}
		}
		s := map[string]Scheme{"basic": Basic, "augmented": Augmented, "pop": ProofOfPossession, "pop_prove": ProofOfPossession}[v.Scheme]
		var sigs []*Signature
		var pks []*PublicKey
		var msgs [][]byte
		for i, p := range v.Parts {
			sk, msg := keys[p.Key], unhex(t, p.Msg)
			var sig *Signature
			if v.Scheme == "pop_prove" {
				sig = must[*Signature](t)(s.PopProve(sk))
				if _, err := s.PopVerify(sk.PublicKey(), sig); err != nil {
					t.Error(err)
				}
			} else {
				sig = must[*Signature](t)(s.Sign(sk, msg))
				if err := s.Verify(sk.PublicKey(), msg, sig); err != nil {
					t.Error(err)
				}
			}
			if p.Sig != "" && sig.String() != p.Sig {
				t.Errorf("%s: signature %d is %v", v.Name, i, sig)
			}
			sigs, pks, msgs = append(sigs, sig), append(pks, sk.PublicKey()), append(msgs, msg)
		}
		if v.Aggregate == "" {
			continue
		}
		sum := must[*Signature](t)(Aggregate(sigs...))
		if sum.String() != v.Aggregate {
			t.Errorf("%s: aggregate %v", v.Name, sum)
		}
		err := s.AggregateVerify(pks, msgs, sum)
		switch {
		case v.Name == "py_ecc cross-check, basic":
			wantErr(t, v.Name, err, ErrMessages)
		case v.Scheme == "pop": // one message
			wantErr(t, v.Name, err, ErrMessages)
			wantErr(t, v.Name, s.FastAggregateVerify(provenOf(pks), msgs[0], sum), nil)
			wantErr(t, v.Name, s.AggregateVerifyProven(provenOf(pks), msgs, sum), nil)
		default:
			wantErr(t, v.Name, err, nil)
		}
	}
	for _, k := range file.KeyGen {
		if sk := must[*SecretKey](t)(Chia.Master(unhex(t, k.Seed))); hex.EncodeToString(sk.k.Bytes()) != k.SK {
			t.Error("KeyGen makes another key")
		}
	}
	for _, k := range file.SKToPK {
		if pk := secret(k).PublicKey().String(); pk != k.PK {
			t.Errorf("public key %s", pk)
		}
	}
	for _, s := range file.Bad {
		if _, err := ParsePublicKey(unhex(t, s)); err == nil {
			t.Errorf("%s was accepted", s)
		}
	}
	parent := secret(key{SK: file.Derive.Parent})
	for i, want := range file.Derive.Unhardened {
		child := must[*SecretKey](t)(parent.UnhardenedChild(uint32(i)))
		if hex.EncodeToString(child.k.Bytes()) != want {
			t.Errorf("unhardened child %d differs", i)
		}
		if pk := must[*PublicKey](t)(parent.PublicKey().UnhardenedChild(uint32(i))); !pk.Equal(child.PublicKey()) {
			t.Errorf("unhardened child %d has another public key", i)
		}
	}
	for i, want := range file.Derive.Hardened {
		child := must[*SecretKey](t)(Chia.Child(parent, uint32(i)))
		if hex.EncodeToString(child.k.Bytes()) != want {
			t.Errorf("hardened child %d differs", i)
		}
	}
}

func TestBothGroups(t *testing.T) {
	var file struct {
		Cases []struct {
			Name, Msg, Signature, Pop string
			PublicKey                 string   `json:"public_key"`
			PublicKeys                []string `json:"public_keys"`
			Messages                  []string
		}
	}
	vector(t, "bls/both-groups-e2e.json", &file)
	n := 0
	for _, v := range file.Cases {
		if strings.HasPrefix(v.Name, "schnorr") {
			continue
		}
		n++
		s, pop := Basic, ProofOfPossession
		if strings.HasSuffix(v.Name, "pk_g2") {
			s, pop = MinSigBasic, MinSigProofOfPossession
		}
		u := &suites[s]
		var sig Signature
		if err := sig.UnmarshalBinary(unhex(t, v.Signature)); err != nil {
			t.Fatal(err)
		}
		var keys []*PublicKey
		for _, k := range append(v.PublicKeys, v.PublicKey) {
			if k != "" {
				key := new(PublicKey)
				if err := key.UnmarshalBinary(unhex(t, k)); err != nil {
					t.Fatal(err)
				}
				keys = append(keys, key)
			}
		}
		msg := unhex(t, v.Msg)
		switch {
		case strings.HasPrefix(v.Name, "sign"):
			wantErr(t, v.Name, s.Verify(keys[0], msg, &sig), nil)
			// Its proof is a signature of the key, under the tag of signatures.
			var proof Signature
			if err := proof.UnmarshalBinary(unhex(t, v.Pop)); err != nil {
				t.Fatal(err)
			}
			wantErr(t, v.Name, pop.Verify(keys[0], keys[0].Bytes(), &proof), nil)
			_, err := pop.PopVerify(keys[0], &proof)
			wantErr(t, v.Name, err, ErrKey)
		case strings.HasPrefix(v.Name, "aggregate_one_key"):
			var many []*PublicKey
			for range v.Messages {
				many = append(many, keys[0])
			}
			wantErr(t, v.Name, s.AggregateVerify(many, unhexAll(t, v.Messages), &sig), nil)
		case strings.HasPrefix(v.Name, "fast"):
			sum := must[*ProvenKey](t)(SumKeys(provenOf(keys)))
			wantErr(t, v.Name, s.Verify(sum.PublicKey(), msg, &sig), nil)
		case strings.HasPrefix(v.Name, "weighted"):
			h := sha256.New()
			var points []point
			for _, k := range keys {
				h.Write(k.Bytes())
				points = append(points, k.p)
			}
			w := h.Sum(nil)[:16]
			for i := range 8 { // it is little-endian
				w[i], w[15-i] = w[15-i], w[i]
			}
			ks := make([]bls12381.Scalar, len(keys))
			ks[0].SetWide(w)
			for i := range ks[1:] {
				ks[i+1].Mul(&ks[i], &ks[0])
			}
			sum := &PublicKey{weightedSum(ks, points)}
			wantErr(t, v.Name, u.verify(sum, msg, &sig), nil)
		default:
			t.Errorf("unknown case %s", v.Name)
		}
	}
	if n != 6 {
		t.Errorf("%d cases", n)
	}
}

func TestMinSigVectors(t *testing.T) {
	type sum struct {
		Signature string
		PublicKey string `json:"public_key"`
	}
	var file struct {
		DST, Msg string
		Keys     []struct{ Seed, SK, PK, Sig string }
		Two      sum `json:"aggregate_first_two"`
		Four     sum `json:"aggregate_all_four"`
	}
	vector(t, "bls/min-sig.json", &file)
	u := &suite{minSig: true, dst: file.DST}
	msg := unhex(t, file.Msg)
	var sigs []*Signature
	var keys []*ProvenKey
	for i, k := range file.Keys {
		sk := must[*SecretKey](t)(KeyGen(unhex(t, k.Seed), nil))
		if hex.EncodeToString(sk.k.Bytes()) != k.SK {
			t.Errorf("key %d differs", i)
		}
		sig := must[*Signature](t)(u.sign(sk, msg))
		if sig.String() != k.Sig || sk.MinSigPublicKey().String() != k.PK {
			t.Errorf("key %d: signature %v by %v", i, sig, sk.MinSigPublicKey())
		}
		wantErr(t, "signature", u.verify(sk.MinSigPublicKey(), msg, sig), nil)
		wantErr(t, "another tag", MinSigBasic.Verify(sk.MinSigPublicKey(), msg, sig), ErrSignature)
		sigs, keys = append(sigs, sig), append(keys, AssumeProvenUnsafe(sk.MinSigPublicKey()))
	}
	for n, want := range map[int]sum{2: file.Two, 4: file.Four} {
		sig := must[*Signature](t)(Aggregate(sigs[:n]...))
		key := must[*ProvenKey](t)(SumKeys(keys[:n]))
		if sig.String() != want.Signature || key.String() != want.PublicKey {
			t.Errorf("aggregate of %d: %v by %v", n, sig, key)
		}
		wantErr(t, "aggregate", u.verify(key.PublicKey(), msg, sig), nil)
	}
}

func TestDrand(t *testing.T) {
	var file struct {
		Cases []struct {
			Network, DST, Signature string
			PublicKey               string `json:"public_key"`
			Previous                string `json:"previous_signature"`
			Group                   string `json:"signature_group"`
			Round                   uint64
		}
	}
	vector(t, "bls/drand-beacons.json", &file)
	if len(file.Cases) != 10 {
		t.Errorf("%d cases", len(file.Cases))
	}
	standard := 0
	for _, v := range file.Cases {
		s := Basic
		if v.Group == "G1" {
			s = MinSigBasic
		}
		key, sig := new(PublicKey), new(Signature)
		if err := key.UnmarshalBinary(unhex(t, v.PublicKey)); err != nil {
			t.Fatal(err)
		}
		if err := sig.UnmarshalBinary(unhex(t, v.Signature)); err != nil {
			t.Fatal(err)
		}
		digest := sha256.Sum256(binary.BigEndian.AppendUint64(unhex(t, v.Previous), v.Round))
		if v.DST == s.Ciphersuite() {
			standard++
			wantErr(t, v.Network, s.Verify(key, digest[:], sig), nil)
		} else { // drand once hashed to G1 under the tag of G2
			u := &suite{minSig: true, dst: v.DST}
			wantErr(t, v.Network, u.verify(key, digest[:], sig), nil)
			wantErr(t, v.Network, s.Verify(key, digest[:], sig), ErrSignature)
		}
		digest[0] ^= 1
		wantErr(t, v.Network, s.Verify(key, digest[:], sig), ErrSignature)
	}
	if standard != 8 {
		t.Errorf("%d under the standard tag", standard)
	}
}
