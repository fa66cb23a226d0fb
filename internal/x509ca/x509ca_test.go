// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package x509ca

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"encoding/pem"
	"math/big"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

var (
	caKey    = sync.OnceValue(func() *rsa.PrivateKey { return must(rsa.GenerateKey(rand.Reader, 2048)) })
	otherKey = sync.OnceValue(func() *rsa.PrivateKey { return must(rsa.GenerateKey(rand.Reader, 2048)) })
	leafKey  = sync.OnceValue(func() *ecdsa.PrivateKey { return must(ecdsa.GenerateKey(elliptic.P256(), rand.Reader)) })
)

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

var now = time.Now().UTC().Truncate(time.Second)

func profile(subject string) Profile {
	return Profile{
		Algorithm:  x509.SHA256WithRSA,
		RawSubject: must(ParseName(subject)),
		NotBefore:  now,
		NotAfter:   now.AddDate(0, 0, 10),
		MaxPathLen: -1,
	}
}

// finish signs u, after a detour over its bytes as between two machines.
func finish(t *testing.T, u *Unsigned, key *rsa.PrivateKey) []byte {
	t.Helper()
	again, err := Parse(u.TBS(), u.algorithm)
	if err != nil {
		t.Fatal(err)
	}
	if string(again.TBS()) != string(u.TBS()) || string(again.Digest()) != string(u.Digest()) {
		t.Fatal("parsing changed what is to be signed")
	}
	sig, err := key.Sign(rand.Reader, again.Digest(), again.SignerOpts())
	if err != nil {
		t.Fatal(err)
	}
	der, err := again.Assemble(&key.PublicKey, sig)
	if err != nil {
		t.Fatal(err)
	}
	return der
}

func newCA(t *testing.T, change func(*Profile)) *x509.Certificate {
	t.Helper()
	p := profile("CN=Root,O=Example")
	if change != nil {
		change(&p)
	}
	u, err := SelfSigned(&caKey().PublicKey, p)
	if err != nil {
		t.Fatal(err)
	}
	return must(x509.ParseCertificate(finish(t, u, caKey())))
}

func newCSR(t *testing.T, tmpl *x509.CertificateRequest, key crypto.Signer) *x509.CertificateRequest {
	t.Helper()
	der, err := x509.CreateCertificateRequest(rand.Reader, tmpl, key)
	if err != nil {
		t.Fatal(err)
	}
	return must(x509.ParseCertificateRequest(der))
}

func leafCSR(t *testing.T) *x509.CertificateRequest {
	return newCSR(t, &x509.CertificateRequest{Subject: pkix.Name{CommonName: "leaf"}, DNSNames: []string{"leaf.example"}}, leafKey())
}

// openssl runs it on the files given, where it is installed.
func openssl(t *testing.T, want string, files map[string][]byte, args ...string) {
	t.Helper()
	if _, err := exec.LookPath("openssl"); err != nil {
		return
	}
	dir := t.TempDir()
	for name, der := range files {
		typ := "CERTIFICATE"
		if strings.HasSuffix(name, ".csr") {
			typ = "CERTIFICATE REQUEST"
		}
		if err := os.WriteFile(filepath.Join(dir, name), pem.EncodeToMemory(&pem.Block{Type: typ, Bytes: der}), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command("openssl", args...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), want) {
		t.Errorf("openssl %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

func TestChain(t *testing.T) {
	for _, a := range algorithms {
		t.Run(a.id.String(), func(t *testing.T) {
			ca := newCA(t, func(p *Profile) { p.Algorithm = a.id })
			p := profile("CN=Leaf")
			p.Algorithm = a.id
			p.Usages = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
			for _, s := range []string{"DNS:example.org", "DNS:*.example.org", "IP:192.0.2.1", "IP:2001:db8::1", "email:ann@example.org", "URI:spiffe://example.org/x"} {
				if err := p.Names.Add(s); err != nil {
					t.Fatal(err)
				}
			}
			u, err := Issue(ca, &caKey().PublicKey, leafCSR(t), p)
			if err != nil {
				t.Fatal(err)
			}
			der := finish(t, u, caKey())
			leaf := must(x509.ParseCertificate(der))
			roots := x509.NewCertPool()
			roots.AddCert(ca)
			for _, host := range []string{"example.org", "www.example.org", "192.0.2.1", "2001:db8::1"} {
				if _, err := leaf.Verify(x509.VerifyOptions{Roots: roots, DNSName: host}); err != nil {
					t.Errorf("%s: %v", host, err)
				}
			}
			if _, err := leaf.Verify(x509.VerifyOptions{Roots: roots, DNSName: "leaf.example"}); err == nil {
				t.Error("the request's own name was copied")
			}
			if string(leaf.AuthorityKeyId) != string(ca.SubjectKeyId) || len(ca.SubjectKeyId) != 20 {
				t.Error("key identifiers don't chain")
			}
			if n := leaf.SerialNumber.BitLen(); n != 159 {
				t.Errorf("serial number of %d bits", n)
			}
			openssl(t, "leaf.pem: OK", map[string][]byte{"ca.pem": ca.Raw, "leaf.pem": der},
				"verify", "-x509_strict", "-purpose", "sslserver", "-CAfile", "ca.pem", "leaf.pem")
		})
	}
}

func TestSubCA(t *testing.T) {
	ca := newCA(t, func(p *Profile) { p.MaxPathLen = 1 })
	csr := newCSR(t, &x509.CertificateRequest{Subject: pkix.Name{CommonName: "sub"}}, otherKey())
	p := profile("CN=Sub")
	p.CA = true
	u, err := Issue(ca, &caKey().PublicKey, csr, p)
	if err != nil {
		t.Fatal(err)
	}
	sub := must(x509.ParseCertificate(finish(t, u, caKey())))
	if !sub.IsCA || !sub.MaxPathLenZero {
		t.Errorf("CA %v, path length %d", sub.IsCA, sub.MaxPathLen)
	}
	u, err = Issue(sub, &otherKey().PublicKey, leafCSR(t), Profile{Algorithm: x509.SHA256WithRSA, NotBefore: now, NotAfter: now.AddDate(0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	leaf := finish(t, u, otherKey())
	if got := NameString(must(x509.ParseCertificate(leaf)).RawSubject); got != "CN=leaf" {
		t.Errorf("subject %q isn't the request's", got)
	}
	openssl(t, "leaf.pem: OK", map[string][]byte{"ca.pem": ca.Raw, "sub.pem": sub.Raw, "leaf.pem": leaf},
		"verify", "-x509_strict", "-CAfile", "ca.pem", "-untrusted", "sub.pem", "leaf.pem")
}

func TestNewRequest(t *testing.T) {
	for _, a := range algorithms {
		p := profile("CN=Signer,C=CH")
		p.Algorithm = a.id
		if err := p.Names.Add("DNS:signer.example"); err != nil {
			t.Fatal(err)
		}
		u, err := NewRequest(&caKey().PublicKey, p)
		if err != nil {
			t.Fatal(err)
		}
		der := finish(t, u, caKey())
		csr := must(x509.ParseCertificateRequest(der))
		if got := NameString(csr.RawSubject); got != "CN=Signer,C=CH" {
			t.Errorf("subject %q", got)
		}
		names, err := RequestNames(csr)
		if err != nil || strings.Join(names.Strings(), " ") != "DNS:signer.example" {
			t.Errorf("names %q, %v", names.Strings(), err)
		}
		openssl(t, "verify OK", map[string][]byte{"a.csr": der}, "req", "-verify", "-noout", "-in", "a.csr")
	}
}

func TestAssembleRefuses(t *testing.T) {
	u, err := SelfSigned(&caKey().PublicKey, profile("CN=Root"))
	if err != nil {
		t.Fatal(err)
	}
	v, err := SelfSigned(&caKey().PublicKey, profile("CN=Root"))
	if err != nil {
		t.Fatal(err)
	}
	good := must(caKey().Sign(rand.Reader, u.Digest(), u.SignerOpts()))
	pss := must(rsa.SignPSS(rand.Reader, caKey(), crypto.SHA256, u.Digest(), nil))
	flipped := append([]byte{}, good...)
	flipped[9] ^= 1
	for name, sig := range map[string][]byte{
		"of another certificate": must(caKey().Sign(rand.Reader, v.Digest(), v.SignerOpts())), // the serial number differs
		"of another key":         must(otherKey().Sign(rand.Reader, u.Digest(), u.SignerOpts())),
		"in another padding":     pss,
		"changed":                flipped,
		"cut":                    good[1:],
		"empty":                  nil,
	} {
		if _, err := u.Assemble(&caKey().PublicKey, sig); err == nil {
			t.Errorf("a signature %s is accepted", name)
		}
	}
	if _, err := u.Assemble(&otherKey().PublicKey, good); err == nil {
		t.Error("another signer is accepted")
	}

	// A request proves possession of the key that is in it.
	r, err := NewRequest(&otherKey().PublicKey, profile("CN=x"))
	if err != nil {
		t.Fatal(err)
	}
	sig := must(caKey().Sign(rand.Reader, r.Digest(), r.SignerOpts()))
	if _, err := r.Assemble(&caKey().PublicKey, sig); err == nil {
		t.Error("a request for another key is accepted")
	}
}

func TestParseRefuses(t *testing.T) {
	u, err := SelfSigned(&caKey().PublicKey, profile("CN=Root"))
	if err != nil {
		t.Fatal(err)
	}
	tbs := u.TBS()
	for name, tbs := range map[string][]byte{
		"empty": nil, "text": []byte("hello"), "cut": tbs[:len(tbs)-1], "trailing": append(append([]byte{}, tbs...), 0),
		"empty sequence": {0x30, 0}, "an integer": {0x30, 3, 2, 1, 0}, "not DER": {0x30, 0x80, 0, 0}, "long length": {0x30, 0x84, 0xff, 0xff, 0xff, 0xff},
	} {
		if _, err := Parse(tbs, x509.SHA256WithRSA); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	for _, alg := range []x509.SignatureAlgorithm{x509.SHA512WithRSA, x509.SHA256WithRSAPSS, x509.SHA1WithRSA, x509.PureEd25519, 0} {
		if _, err := Parse(tbs, alg); err == nil {
			t.Errorf("parsed for %v, which isn't its algorithm", alg)
		}
	}
	if _, err := Algorithm(crypto.SHA1, false); err == nil {
		t.Error("SHA-1 is accepted")
	}
}

func TestIssueRefuses(t *testing.T) {
	ca := newCA(t, nil)
	leaf := func() *x509.CertificateRequest { return leafCSR(t) }
	signature := leaf()
	signature.Signature = append([]byte{}, signature.Signature...)
	signature.Signature[len(signature.Signature)-1] ^= 1
	edit := func(change func(*x509.Certificate)) *x509.Certificate {
		c := *ca
		change(&c)
		return &c
	}
	own := newCSR(t, &x509.CertificateRequest{Subject: pkix.Name{CommonName: "x"}}, caKey())
	_, edKey, _ := ed25519.GenerateKey(rand.Reader)
	ed := newCSR(t, &x509.CertificateRequest{Subject: pkix.Name{CommonName: "ed"}}, edKey)
	nameless := newCSR(t, &x509.CertificateRequest{}, leafKey())
	p224 := newCSR(t, &x509.CertificateRequest{Subject: pkix.Name{CommonName: "x"}}, must(ecdsa.GenerateKey(elliptic.P224(), rand.Reader)))

	for _, tt := range []struct {
		name   string
		ca     *x509.Certificate
		csr    *x509.CertificateRequest
		change func(*Profile)
		want   string
	}{
		{"good", ca, leaf(), nil, ""},
		{"Ed25519", ca, ed, nil, ""},
		{"other CA key", edit(func(c *x509.Certificate) { c.PublicKey = &otherKey().PublicKey }), leaf(), nil, "another key"},
		{"not a CA", edit(func(c *x509.Certificate) { c.IsCA = false }), leaf(), nil, "isn't one of a CA"},
		{"no constraints", edit(func(c *x509.Certificate) { c.BasicConstraintsValid = false }), leaf(), nil, "isn't one of a CA"},
		{"key usage", edit(func(c *x509.Certificate) { c.KeyUsage = x509.KeyUsageCRLSign }), leaf(), nil, "doesn't allow"},
		{"path length 0", edit(func(c *x509.Certificate) { c.MaxPathLen, c.MaxPathLenZero = 0, true }), leaf(), func(p *Profile) { p.CA = true }, "path length"},
		{"path length 1", edit(func(c *x509.Certificate) { c.MaxPathLen = 1 }), leaf(), func(p *Profile) { p.CA, p.MaxPathLen = true, 1 }, "path length"},
		{"too early", ca, leaf(), func(p *Profile) { p.NotBefore = now.Add(-time.Second) }, "isn't valid before"},
		{"too late", ca, leaf(), func(p *Profile) { p.NotAfter = ca.NotAfter.Add(time.Second) }, "expires before"},
		{"no validity", ca, leaf(), func(p *Profile) { p.NotAfter = p.NotBefore }, "ends before it begins"},
		{"bad request", ca, signature, nil, "own signature is wrong"},
		{"own key", ca, own, nil, "CA's own key"},
		{"own name", ca, leaf(), func(p *Profile) { p.RawSubject = ca.RawSubject }, "CA's own name"},
		{"small curve", ca, p224, nil, "224 bits"},
		{"nameless", ca, nameless, func(p *Profile) { p.RawSubject = nil }, "neither a subject"},
		{"nameless CA", ca, nameless, func(p *Profile) { p.RawSubject, p.CA, p.Names.DNS = nil, true, []string{"a.b"} }, "neither a subject"},
		{"bad name", ca, leaf(), func(p *Profile) { p.Names.DNS = []string{"a b"} }, "isn't a DNS name"},
		{"SHA-1", ca, leaf(), func(p *Profile) { p.Algorithm = x509.SHA1WithRSA }, "SHA"},
		{"other algorithm", ca, leaf(), func(p *Profile) { p.Algorithm = x509.PureEd25519 }, "type"},
	} {
		p := profile("CN=Leaf")
		if tt.change != nil {
			tt.change(&p)
		}
		_, err := Issue(tt.ca, &caKey().PublicKey, tt.csr, p)
		if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
			t.Errorf("%s: got %v, want %q", tt.name, err, tt.want)
		}
	}
	for _, pub := range []any{&rsa.PublicKey{N: big.NewInt(1 << 40), E: 3}, nil, &rsa.PublicKey{N: new(big.Int).Lsh(big.NewInt(1), 2047), E: 2}} {
		if checkSubjectKey(pub) == nil {
			t.Errorf("key %v is accepted", pub)
		}
	}
	if _, err := SelfSigned(&caKey().PublicKey, Profile{Algorithm: x509.SHA256WithRSA, NotAfter: now}); err == nil {
		t.Error("a CA without a name")
	}
	if _, err := NewRequest(&caKey().PublicKey, Profile{Algorithm: x509.SHA256WithRSA}); err == nil {
		t.Error("a request without a name")
	}
}

// TestNamesOnly issues without a subject; the names are critical then.
func TestNamesOnly(t *testing.T) {
	ca := newCA(t, nil)
	p := profile("CN=x")
	p.RawSubject = nil
	if err := p.Names.Add("DNS:only.example"); err != nil {
		t.Fatal(err)
	}
	u, err := Issue(ca, &caKey().PublicKey, newCSR(t, &x509.CertificateRequest{}, leafKey()), p)
	if err != nil {
		t.Fatal(err)
	}
	der := finish(t, u, caKey())
	openssl(t, "leaf.pem: OK", map[string][]byte{"ca.pem": ca.Raw, "leaf.pem": der},
		"verify", "-x509_strict", "-verify_hostname", "only.example", "-CAfile", "ca.pem", "leaf.pem")
}

func TestParseName(t *testing.T) {
	for _, tt := range []struct{ in, want string }{
		{"CN=Root", "CN=Root"},
		{"cn = Root , O = Example", "CN=Root,O=Example"},
		{`CN=Root\, the first,O=A\+B,C=CH`, `CN=Root\, the first,O=A\+B,C=CH`},
		{`CN=a\ `, `CN=a\ `},
		{"CN=Zürich,L=Zürich,ST=ZH,STREET=1,OU=2,SERIALNUMBER=3", "CN=Zürich,L=Zürich,ST=ZH,STREET=1,OU=2,SERIALNUMBER=3"},
		{"CN=a=b", "CN=a=b"},
		{`CN=\41\e2\80\ae`, `CN=A\E2\80\AE`},
	} {
		der, err := ParseName(tt.in)
		if err != nil {
			t.Errorf("%q: %v", tt.in, err)
			continue
		}
		if got := NameString(der); got != tt.want {
			t.Errorf("%q: got %q, want %q", tt.in, got, tt.want)
		}
	}
	for _, in := range []string{
		"", "CN", "CN=", "=x", "CN=x,", ",CN=x", "CN=x,,O=y", "XX=y", "/CN=x/O=y", "CN=x+O=y", "CN=#0102", `CN=x\`, `CN=\4`, `CN=\4g`, `CN=\0A`, `CN=\FF`,
		`CN="x"`, "CN=a;b", "CN=a\nb", "CN=a\xff", "C=ch", "C=CHE", "C=C1", "CN=" + strings.Repeat("x", 65), "CN=a\u0085",
	} {
		if der, err := ParseName(in); err == nil {
			t.Errorf("%q: accepted as %q", in, NameString(der))
		}
	}
	if got := NameString([]byte("junk")); got != "(malformed)" {
		t.Errorf("junk is %q", got)
	}
}

// A name made elsewhere can't pass for something else where it is shown.
func TestHostileNames(t *testing.T) {
	name := must(asn1.Marshal(pkix.RDNSequence{{{Type: asn1.ObjectIdentifier{2, 5, 4, 3}, Value: "a\nissuer  CN=b\x1b[8m\u202ec\\"}}}))
	if got := NameString(name); got != `CN=a\0Aissuer  CN=b\1B[8m\E2\80\AEc\\` {
		t.Errorf("written as %s", got)
	}
	csr := newCSR(t, &x509.CertificateRequest{RawSubject: name, DNSNames: []string{"a\nb"}, EmailAddresses: []string{"a@b\r"}}, leafKey())
	if _, err := RequestNames(csr); err == nil {
		t.Error("names of two lines are copied")
	}
	u, err := Parse(csr.RawTBSCertificateRequest, x509.SHA256WithRSA)
	if err != nil {
		t.Fatal(err)
	}
	n, _ := u.Names()
	if got := strings.Join(n.Strings(), " "); got != `DNS:a\0Ab email:a@b\0D` {
		t.Errorf("written as %s", got)
	}
}

// TestOtherAttributes looks for what crypto/x509 passes over in a request.
func TestOtherAttributes(t *testing.T) {
	u, err := NewRequest(&otherKey().PublicKey, profile("CN=x"))
	if err != nil {
		t.Fatal(err)
	}
	if oids := u.OtherAttributes(); len(oids) != 0 {
		t.Errorf("attributes of our own request: %v", oids)
	}
	type attribute struct {
		OID    asn1.ObjectIdentifier
		Values []asn1.RawValue `asn1:"set"`
	}
	sequence := asn1.RawValue{Tag: asn1.TagSequence, IsCompound: true}
	password := attribute{asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 9, 7}, []asn1.RawValue{{Tag: asn1.TagUTF8String, Bytes: []byte("secret")}}}
	extensions := attribute{oidExtensionRequest, []asn1.RawValue{sequence}}
	for _, tt := range []struct {
		attributes []attribute
		want       string
	}{
		{nil, ""},
		{[]attribute{extensions}, ""},
		{[]attribute{extensions, password}, "1.2.840.113549.1.9.7"},
		{[]attribute{extensions, extensions}, "1.2.840.113549.1.9.14"},
		{[]attribute{{oidExtensionRequest, []asn1.RawValue{sequence, sequence}}}, "1.2.840.113549.1.9.14"},
		{[]attribute{{oidExtensionRequest, nil}}, "1.2.840.113549.1.9.14"},
	} {
		tbs := must(asn1.Marshal(struct {
			Version    int
			Subject    asn1.RawValue
			SPKI       asn1.RawValue
			Attributes []attribute `asn1:"tag:0"`
		}{0, asn1.RawValue{FullBytes: u.Request().RawSubject}, asn1.RawValue{FullBytes: u.Request().RawSubjectPublicKeyInfo}, tt.attributes}))
		v, err := Parse(tbs, x509.SHA256WithRSA)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(v.OtherAttributes(), " "); got != tt.want {
			t.Errorf("%v: got %q", tt.attributes, got)
		}
	}
}

func TestNames(t *testing.T) {
	var n Names
	for _, s := range []string{
		"", "x", "DNS:", "DNS:a b", "DNS:-a", "DNS:a-", "DNS:a..b", "DNS:.a", "DNS:a.*", "DNS:*.*.a", "DNS:zürich", "DNS:" + strings.Repeat("a", 64),
		"DNS:" + strings.Repeat("a.", 127), "IP:", "IP:1.2.3", "IP:1.2.3.4/8", "email:", "email:x", "email:Ann <ann@example.org>",
		"email:ann@zürich", "URI:", "URI:/relative", "URI:https:", "URI: x", "URI:http://a b/", "RID:1.2",
	} {
		if err := n.Add(s); err == nil {
			t.Errorf("%q: accepted", s)
		}
	}
	if n.count() != 0 {
		t.Errorf("names of refused ones: %q", n.Strings())
	}
	for range 2 { // the second time adds nothing
		for _, s := range []string{"dns:a.b", "DNS:*.a.b", "ip:1.2.3.4", "IP:::1", "email:a@b.c", "uri:urn:x:y"} {
			if err := n.Add(s); err != nil {
				t.Errorf("%q: %v", s, err)
			}
		}
	}
	if got := strings.Join(n.Strings(), " "); got != "DNS:a.b DNS:*.a.b IP:1.2.3.4 IP:::1 email:a@b.c URI:urn:x:y" {
		t.Errorf("got %q", got)
	}
}

// TestRequestNames doesn't lose names of other kinds.
func TestRequestNames(t *testing.T) {
	dns := asn1.RawValue{Class: asn1.ClassContextSpecific, Tag: 2, Bytes: []byte("a.example")}
	rid := asn1.RawValue{Class: asn1.ClassContextSpecific, Tag: 8, Bytes: []byte{0x2a, 3}}
	bad := asn1.RawValue{Class: asn1.ClassContextSpecific, Tag: 2, Bytes: []byte("a b")}
	for _, tt := range []struct {
		names []asn1.RawValue
		ok    bool
	}{{[]asn1.RawValue{dns}, true}, {[]asn1.RawValue{dns, rid}, false}, {[]asn1.RawValue{rid}, false}, {[]asn1.RawValue{bad}, false}, {nil, true}} {
		san := must(asn1.Marshal(tt.names))
		csr := newCSR(t, &x509.CertificateRequest{ExtraExtensions: []pkix.Extension{{Id: asn1.ObjectIdentifier{2, 5, 29, 17}, Value: san}}}, leafKey())
		if _, err := RequestNames(csr); (err == nil) != tt.ok {
			t.Errorf("%d names: %v", len(tt.names), err)
		}
		u, err := Parse(csr.RawTBSCertificateRequest, x509.SHA256WithRSA)
		if err != nil {
			t.Fatal(err)
		}
		known := 0
		for _, n := range tt.names {
			if n.Tag == 2 {
				known++
			}
		}
		if n, others := u.Names(); n.count() != known || others != len(tt.names)-known {
			t.Errorf("%d names: shown as %q and %d more", len(tt.names), n.Strings(), others)
		}
	}
	if n, err := RequestNames(newCSR(t, &x509.CertificateRequest{}, leafKey())); err != nil || n.count() != 0 {
		t.Errorf("no names: %q, %v", n.Strings(), err)
	}
}

func FuzzParse(f *testing.F) {
	u, err := SelfSigned(placeholder, profile("CN=Root"))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(u.TBS())
	r, err := NewRequest(placeholder, profile("CN=Root"))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(r.TBS())
	f.Fuzz(func(t *testing.T, tbs []byte) {
		u, err := Parse(tbs, x509.SHA256WithRSA)
		if err != nil {
			return
		}
		if string(u.TBS()) != string(tbs) || (u.Certificate() == nil) == (u.Request() == nil) {
			t.Fatal("parsed as something else")
		}
		u.Names()
		if slices.Contains(u.OtherAttributes(), "(malformed)") {
			t.Fatal("attributes that crypto/x509 takes and OtherAttributes doesn't")
		}
		if _, err := u.Assemble(placeholder, make([]byte, 256)); err == nil {
			t.Fatal("a signature of zeros is accepted")
		}
	})
}

func FuzzParseName(f *testing.F) {
	f.Add(`CN=Root\, the first,O=A\+B,C=CH`)
	f.Fuzz(func(t *testing.T, s string) {
		der, err := ParseName(s)
		if err != nil {
			return
		}
		again, err := ParseName(NameString(der))
		if err != nil || string(again) != string(der) {
			t.Fatalf("%q is written as %q: %v", s, NameString(der), err)
		}
	})
}
