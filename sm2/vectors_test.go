// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package sm2

import (
	"encoding/json"
	"encoding/pem"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/emmansun/gmsm/sm2"
	"github.com/emmansun/gmsm/smx509"

	"github.com/undersign/undersign/internal/sm2ec"
)

// vectors is a folder of public test vectors that may be beside the repository.
var vectors = filepath.Join("..", "..", "shared", "vectors", "sm2")

// A vector is a signature in one of those files.
type vector struct {
	Name      string
	Curve     string
	PublicKey string `json:"public_key"`
	IssuerKey string `json:"issuer_public_key"`
	ID        *string
	IDHex     string `json:"id_hex"`
	Msg, TBS  *string
	Z         string `json:"za"`
	E, R, S   string
	DER       string
	Fisco     string `json:"fisco_encoding"`
	ERule     string `json:"e_rule"`
	Valid     *bool
}

func readVectors(t *testing.T, file string) []vector {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(vectors, file))
	if err != nil {
		t.Skip("no vectors here")
	}
	var f struct{ Cases []vector }
	if err := json.Unmarshal(data, &f); err != nil {
		t.Fatal(err)
	}
	return f.Cases
}

// trials returns the ways to verify the signature of a vector.
func (v *vector) trials(t *testing.T) (out []trial) {
	encoded := v.PublicKey
	if encoded == "" {
		encoded = v.IssuerKey
	}
	pub, err := ParsePublicKey(unhex(t, encoded))
	if err != nil {
		t.Fatalf("%s: %v", v.Name, err)
	}
	rs := unhex(t, v.R+v.S)
	want := v.Valid == nil || *v.Valid
	var all []Item
	msg := v.Msg
	if msg == nil {
		msg = v.TBS
	}
	digest := unhex(t, v.E)
	if msg != nil && v.ERule == "" {
		uid := NoUID()
		if v.ID != nil {
			uid = NewUID([]byte(*v.ID))
		}
		got, err := Digest(pub, uid, unhex(t, *msg))
		if err != nil || v.E != "" && !slices.Equal(got, digest) {
			t.Errorf("%s: e = %x, want %x (%v)", v.Name, got, digest, err)
		}
		digest = got
		all = append(all, Item{Message: unhex(t, *msg), UID: &uid, Signature: rs, Encoding: Raw64})
	}
	all = append(all, Item{Digest: digest, Signature: rs, Encoding: Raw64})
	if v.DER != "" {
		all = append(all, Item{Digest: digest, Signature: unhex(t, v.DER), Encoding: DER})
	}
	if v.Fisco != "" {
		all = append(all, Item{Digest: digest, Signature: unhex(t, v.Fisco), Encoding: Raw128WithKey})
	}
	for _, it := range all {
		it.PublicKey = pub
		out = append(out, trial{it, v.Name, want})
	}
	return out
}

// TestVectors verifies real signatures, one by one and all in one batch.
func TestVectors(t *testing.T) {
	var all []trial
	for _, file := range []string{"signatures.json", "openssl-generated.json", "certificate-signatures.json"} {
		cases := readVectors(t, file)
		if len(cases) < 10 {
			t.Fatalf("%s: %d cases", file, len(cases))
		}
		for i := range cases {
			if c := cases[i].Curve; c != "" && c != "sm2p256v1" {
				continue // the standard's example on another curve
			}
			all = append(all, cases[i].trials(t)...)
		}
	}
	for i := range all {
		check(t, fill(nil, all[i:i+1]), all[i:i+1])
	}
	everyWay(t, func(t *testing.T, path sm2ec.Path) {
		b := fill(nil, all)
		b.force = path
		check(t, b, all)
	})
	t.Logf("%d ways to verify", len(all))
}

func TestZVectors(t *testing.T) {
	for _, v := range readVectors(t, "za-hash.json") {
		xy := [64]byte(unhex(t, v.PublicKey))
		uid := NewUID(unhex(t, v.IDHex))
		z := zOf(&xy, uid)
		if !slices.Equal(z[:], unhex(t, v.Z)) {
			t.Errorf("%s: Z = %x, want %s", v.Name, z, v.Z)
		}
		e, err := Digest(publicKey(&xy), uid, unhex(t, *v.Msg))
		if err != nil || !slices.Equal(e, unhex(t, v.E)) {
			t.Errorf("%s: e = %x, want %s (%v)", v.Name, e, v.E, err)
		}
	}
}

// readCertificates returns the certificates below a folder, by file.
func readCertificates(t *testing.T) map[string][]*smx509.Certificate {
	t.Helper()
	files, _ := filepath.Glob(filepath.Join(vectors, "certs", "*", "*.pem"))
	if len(files) == 0 {
		t.Skip("no vectors here")
	}
	out := map[string][]*smx509.Certificate{}
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for {
			var block *pem.Block
			if block, data = pem.Decode(data); block == nil {
				break
			}
			if block.Type != "CERTIFICATE" {
				continue
			}
			cert, err := smx509.ParseCertificate(block.Bytes)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			dir := filepath.Base(filepath.Dir(name))
			out[dir] = append(out[dir], cert)
		}
	}
	return out
}

// TestCertificates verifies every certificate whose issuer is in the same folder,
// with the IDs that the folders' description states, and then by other issuers.
func TestCertificates(t *testing.T) {
	type pair struct {
		cert, issuer *smx509.Certificate
		uid          *UID
		good         bool
	}
	none, empty := NoUID(), NewUID(nil)
	uids := map[string]*UID{"tongsuo-noza": &none, "gmsm-smx509": &empty}
	var pairs []pair
	good := 0
	for dir, certs := range readCertificates(t) {
		uid := uids[dir]
		for i, c := range certs {
			for _, issuer := range certs {
				if slices.Equal(c.RawIssuer, issuer.RawSubject) && issuer.IsCA {
					pairs = append(pairs, pair{c, issuer, uid, true})
					good++
				}
			}
			other := certs[(i+1)%len(certs)]
			if !slices.Equal(c.RawIssuer, other.RawSubject) {
				pairs = append(pairs, pair{c, other, uid, false})
			}
		}
	}
	everyWay(t, func(t *testing.T, path sm2ec.Path) {
		b := NewBatch(nil)
		b.force = path
		var want []int
		for i, p := range pairs {
			b.AddCertificate(p.cert, p.issuer, p.uid)
			gmsm := p.cert.CheckSignatureFrom(p.issuer) == nil
			if p.uid == nil && p.good != gmsm {
				t.Errorf("%v by %v: good is %v, and %v to gmsm", p.cert.Subject, p.issuer.Subject, p.good, gmsm)
			}
			if !p.good {
				want = append(want, i)
			}
		}
		if got := badOf(t, b.Verify()); !slices.Equal(got, want) {
			t.Errorf("bad %v, want %v", got, want)
		}
	})
	if good < 120 {
		t.Errorf("only %d certificates with issuers", good)
	}
	t.Logf("%d pairs, %d good", len(pairs), good)
}

// TestCertificateAlgorithm refuses a certificate that says it is signed otherwise.
func TestCertificateAlgorithm(t *testing.T) {
	s := newSource(t)
	priv := s.key()
	tbs := []byte("to be signed")
	sig, err := priv.Sign(s, tbs, sm2.DefaultSM2SignerOpts)
	if err != nil {
		t.Fatal(err)
	}
	issuer := &smx509.Certificate{PublicKey: &priv.PublicKey}
	cert := &smx509.Certificate{RawTBSCertificate: tbs, Signature: sig, SignatureAlgorithm: smx509.SM2WithSM3}
	other := *cert
	other.SignatureAlgorithm = smx509.ECDSAWithSHA256
	b := NewBatch(&Options{UID: NewUID([]byte("not for certificates")), Encoding: Raw64})
	b.AddCertificate(cert, issuer, nil)
	b.AddCertificate(&other, issuer, nil)
	b.AddCertificate(cert, &smx509.Certificate{}, nil)
	b.AddCertificate(cert, nil, nil)
	uid := NewUID(nil)
	b.AddCertificate(cert, issuer, &uid)
	if bad := badOf(t, b.Verify()); !slices.Equal(bad, []int{1, 2, 3, 4}) {
		t.Errorf("bad: %v", bad)
	}
}
