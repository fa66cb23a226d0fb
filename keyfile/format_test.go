// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package keyfile

import (
	"bytes"
	"crypto/ecdh"
	"crypto/ed25519"
	"crypto/hkdf"
	"crypto/hpke"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/sha3"
	"crypto/x509"
	"encoding/binary"
	"encoding/pem"
	"math/big"
	"slices"
	"testing"
)

// The tests in this file read the golden files by docs/formats/threshold.md alone,
// with nothing of package thresholdrsa: they test the document.

// A layout reads fields in the document's notation.
type layout struct {
	t *testing.T
	b []byte
}

// body returns the body of a golden file, header read.
func body(t *testing.T, name string) *layout {
	t.Helper()
	block, rest := pem.Decode(readGolden(t, name))
	if block == nil || len(rest) != 0 {
		t.Fatalf("%s isn't PEM", name)
	}
	l := &layout{t, block.Bytes}
	return l.header()
}

func (l *layout) header() *layout {
	l.t.Helper()
	if v, s := l.u8(), l.u8(); v != 1 || s != 1 {
		l.t.Fatalf("version %d, suite %d", v, s)
	}
	return l
}

func (l *layout) fixed(n int) []byte {
	l.t.Helper()
	if n > len(l.b) {
		l.t.Fatalf("%d octets are left, and %d are needed", len(l.b), n)
	}
	b := l.b[:n]
	l.b = l.b[n:]
	return b
}

func (l *layout) u8() int       { l.t.Helper(); return int(l.fixed(1)[0]) }
func (l *layout) u32() int      { l.t.Helper(); return int(binary.BigEndian.Uint32(l.fixed(4))) }
func (l *layout) u64() uint64   { l.t.Helper(); return binary.BigEndian.Uint64(l.fixed(8)) }
func (l *layout) bytes() []byte { l.t.Helper(); return l.fixed(l.u32()) }
func (l *layout) int() *big.Int { l.t.Helper(); return new(big.Int).SetBytes(l.bytes()) }
func (l *layout) num(n int) *big.Int {
	l.t.Helper()
	return new(big.Int).SetBytes(l.fixed(n))
}

func (l *layout) end() {
	l.t.Helper()
	if len(l.b) != 0 {
		l.t.Fatalf("%d octets after the last field", len(l.b))
	}
}

func hash(parts ...any) []byte { h := sha256.Sum256(join(parts...)); return h[:] }

func join(parts ...any) []byte {
	var b []byte
	for _, p := range parts {
		switch p := p.(type) {
		case string:
			b = append(b, p...)
		case []byte:
			b = append(b, p...)
		case int:
			b = append(b, byte(p))
		}
	}
	return b
}

func exp(x, e, n *big.Int) *big.Int { return new(big.Int).Exp(x, e, n) }

func mul(xs ...*big.Int) *big.Int {
	z := big.NewInt(1)
	for _, x := range xs {
		z.Mul(z, x)
	}
	return z
}

func factorial(l int) *big.Int { return new(big.Int).MulRange(1, int64(l)) }

type holder struct{ name, identity, encryption []byte }

type record struct {
	id                           []byte
	n, e, v, gamma, smax, ubound *big.Int
	k, l, form, size             int
	epoch                        uint64
	vi                           []*big.Int
	holders                      []holder
	parent, ceremony             []byte
}

// readRecord is section 2. whole is the body from the version on.
func readRecord(t *testing.T, whole []byte) *record {
	t.Helper()
	l := (&layout{t, whole}).header()
	r := &record{id: hash(whole), n: l.int(), e: big.NewInt(int64(l.u32())), k: l.u8(), l: l.u8(), form: l.u8()}
	r.gamma, r.smax, r.ubound = l.int(), l.int(), l.int()
	root := l.int()
	r.size = (r.n.BitLen() + 7) / 8
	for range r.l {
		r.vi = append(r.vi, l.num(r.size))
	}
	r.epoch = l.u64()
	for range r.l {
		r.holders = append(r.holders, holder{l.bytes(), l.bytes(), l.bytes()})
	}
	r.parent, r.ceremony = l.fixed(32), l.fixed(32)
	l.end()
	if root.Sign() != 0 {
		t.Fatal("root isn't 0")
	}
	u := make([]byte, r.size+16)
	h := sha3.NewSHAKE256()
	h.Write(join("undersign/trsa/v1/v", r.num(r.n)))
	h.Read(u)
	r.v = exp(new(big.Int).SetBytes(u), big.NewInt(2), r.n)
	return r
}

func (r *record) num(x *big.Int) []byte { return x.FillBytes(make([]byte, r.size)) }

func goldenRecord(t *testing.T) *record {
	block, _ := pem.Decode(readGolden(t, "public-key.txt"))
	return readRecord(t, block.Bytes)
}

func TestFormatDealing(t *testing.T) {
	l := body(t, "dealing.txt")
	r := readRecord(t, l.bytes())
	if r.form != 1 || r.k != 2 || r.l != 3 || r.gamma.Int64() != 1 || r.smax.Cmp(r.n) != 0 || r.epoch != 1 {
		t.Fatalf("%+v", r)
	}
	if string(r.holders[2].name) != "carol" || len(r.holders[2].identity) != 32 || len(r.holders[2].encryption) != 32 {
		t.Errorf("holder 3: %+v", r.holders[2])
	}
	a0, a1 := l.num(r.size), l.num(r.size)
	if exp(a0, r.e, r.n).Cmp(r.v) != 0 {
		t.Error("A_0^e isn't v: the derivation of v?")
	}
	digest := hash("undersign/trsa/v1/trial", r.id)
	request := join(1, 1, r.id, make([]byte, 7), 1, 2, 1, 0, 0, 0, 32, digest, 0, 0, 0, 32, r.salt(t, 1, digest, 32))
	for i := 1; i <= r.l; i++ {
		want := mul(a0, exp(a1, big.NewInt(int64(i)), r.n))
		if exp(r.vi[i-1], factorial(r.l), r.n).Cmp(want.Mod(want, r.n)) != 0 {
			t.Errorf("v_%d doesn't belong to the commitments", i)
		}
		s := readSignatureShare(t, l.bytes())
		if s.index != i || !bytes.Equal(s.request, hash("undersign/trsa/v1/request", request)) {
			t.Errorf("trial share %d is of %d, or for another request", i, s.index)
		}
	}
	l.end()
}

// salt is section 5.
func (r *record) salt(t *testing.T, code int, digest []byte, length int) []byte {
	t.Helper()
	spki, err := x509.MarshalPKIXPublicKey(&rsa.PublicKey{N: r.n, E: int(r.e.Int64())})
	if err != nil {
		t.Fatal(err)
	}
	info := join("undersign/trsa/v1/salt", code, 0, len(digest), digest)
	salt, err := hkdf.Expand(sha256.New, hash(spki), string(info), length)
	if err != nil {
		t.Fatal(err)
	}
	return salt
}

func TestFormatShare(t *testing.T) {
	r := goldenRecord(t)
	l := body(t, "insecure-share-refused.txt")
	if flags, index := l.u8(), l.u8(); flags != 0 || index != 1 || !bytes.Equal(hash(l.bytes()), r.id) {
		t.Fatal("another share")
	}
	s := l.num((r.smax.BitLen() + 7) / 8)
	if exp(r.v, s, r.n).Cmp(r.vi[0]) != 0 {
		t.Error("v^(s_1) isn't v_1")
	}
	l.fixed(32)
	if id := ed25519.NewKeyFromSeed(l.fixed(32)).Public().(ed25519.PublicKey); !id.Equal(ed25519.PublicKey(r.holders[0].identity)) {
		t.Error("another identity")
	}
	if pub := publicX25519(t, l.bytes()); !bytes.Equal(pub, r.holders[0].encryption) {
		t.Error("another encryption key")
	}
	if l.u8() != 1 {
		t.Fatal("not one pending share")
	}
	p := (&layout{t, l.bytes()}).header()
	if flags, index := p.u8(), p.u8(); flags != 1 || index != 1 {
		t.Fatal("the pending share isn't provisional")
	}
	next := readRecord(t, p.bytes())
	s = p.num((next.smax.BitLen() + 7) / 8)
	if exp(next.v, s, r.n).Cmp(next.vi[0]) != 0 || !bytes.Equal(next.parent, r.id) {
		t.Error("v^(s'_1) isn't v'_1")
	}
	p.fixed(32 + 32)
	p.bytes()
	proposal, _ := pem.Decode(readGolden(t, "proposal.txt"))
	if !bytes.Equal(p.fixed(32), hash("undersign/trsa/v1/proposal", proposal.Bytes)) || p.u8() != 0 || p.u8() != 0 {
		t.Error("the pending share is from another run")
	}
	p.end()
	refusal := body(t, "refusal.txt")
	if l.u8() != 1 || !bytes.Equal(l.fixed(32), refusal.fixed(32)) {
		t.Error("another run was refused")
	}
	l.end()
}

func publicX25519(t *testing.T, priv []byte) []byte {
	t.Helper()
	k, err := ecdh.X25519().NewPrivateKey(priv)
	if err != nil {
		t.Fatal(err)
	}
	return k.PublicKey().Bytes()
}

type signatureShare struct {
	key, request []byte
	epoch        uint64
	index        int
	x, c, z      []byte
}

// readSignatureShare is section 6.
func readSignatureShare(t *testing.T, whole []byte) signatureShare {
	t.Helper()
	l := (&layout{t, whole}).header()
	var s signatureShare
	s.key, s.epoch, s.request, s.index = l.fixed(32), l.u64(), l.fixed(32), l.u8()
	s.x, s.c, s.z = l.bytes(), l.fixed(32), l.bytes()
	l.end()
	return s
}

func TestFormatSignature(t *testing.T) {
	r := goldenRecord(t)
	l := body(t, "request-pss.txt")
	if !bytes.Equal(l.fixed(32), r.id) || l.u64() != 1 || l.u8() != 2 || l.u8() != 2 {
		t.Fatal("another request")
	}
	digest := l.bytes()
	if !bytes.Equal(l.bytes(), r.salt(t, 2, digest, 20)) {
		t.Error("the salt isn't the derived one")
	}
	l.end()

	l = body(t, "request-pkcs1.txt")
	if !bytes.Equal(l.fixed(32), r.id) || l.u64() != 1 || l.u8() != 1 || l.u8() != 1 {
		t.Fatal("another request")
	}
	digest = l.bytes()
	if len(digest) != 32 || len(l.bytes()) != 0 {
		t.Error("digest or salt of another length")
	}
	l.end()
	em := join(0, 1, bytes.Repeat([]byte{0xff}, r.size-54), 0,
		"\x30\x31\x30\x0d\x06\x09\x60\x86\x48\x01\x65\x03\x04\x02\x01\x05\x00\x04\x20", digest)
	x := new(big.Int).SetBytes(em)

	block, _ := pem.Decode(readGolden(t, "signature-share-pkcs1.txt"))
	request, _ := pem.Decode(readGolden(t, "request-pkcs1.txt"))
	s := readSignatureShare(t, block.Bytes)
	if !bytes.Equal(s.key, r.id) || s.epoch != 1 || s.index != 3 || !bytes.Equal(s.request, hash("undersign/trsa/v1/request", request.Bytes)) {
		t.Fatalf("another signature share: %+v", s)
	}
	xi, c, z := new(big.Int).SetBytes(s.x), new(big.Int).SetBytes(s.c), new(big.Int).SetBytes(s.z)
	b := r.smax.BitLen()
	if len(s.x) != r.size || xi.Cmp(new(big.Int).Rsh(r.n, 1)) > 0 || len(s.z) != (b+513+7)/8 || z.BitLen() > b+513 {
		t.Error("numbers out of range")
	}
	vi, xi2 := r.vi[s.index-1], exp(xi, big.NewInt(2), r.n)
	minus := func(y *big.Int) *big.Int { return exp(new(big.Int).ModInverse(y, r.n), c, r.n) }
	vp := mul(exp(r.v, z, r.n), minus(vi))
	xp := mul(exp(x, new(big.Int).Lsh(z, 2), r.n), minus(xi2))
	want := hash("undersign/trsa/v1/share-proof", 1, r.id, s.index, r.num(r.n), r.num(r.v), r.num(vi), r.num(x), r.num(xi2),
		r.num(vp.Mod(vp, r.n)), r.num(xp.Mod(xp, r.n)))
	if !bytes.Equal(s.c, want) {
		t.Error("the proof doesn't hold")
	}
}

type receiver struct{ name, identity, run, next, sig []byte }

func (l *layout) receiver() receiver {
	return receiver{l.bytes(), l.bytes(), l.bytes(), l.bytes(), l.bytes()}
}

func TestFormatReceiver(t *testing.T) {
	l := body(t, "receiver.txt")
	signed := join("undersign/trsa/v1/receiver", l.b[:len(l.b)-4-64])
	r := l.receiver()
	l.end()
	if !ed25519.Verify(r.identity, signed, r.sig) {
		t.Error("the signature is wrong")
	}
	l = body(t, "insecure-receiver-key.txt")
	name, seed, run, next := l.bytes(), l.fixed(32), l.fixed(32), l.fixed(32)
	proposal, _ := pem.Decode(readGolden(t, "proposal.txt"))
	if !bytes.Equal(name, r.name) || !bytes.Equal(publicX25519(t, run), r.run) || !bytes.Equal(publicX25519(t, next), r.next) ||
		!ed25519.NewKeyFromSeed(seed).Public().(ed25519.PublicKey).Equal(ed25519.PublicKey(r.identity)) ||
		!bytes.Equal(l.fixed(32), hash("undersign/trsa/v1/proposal", proposal.Bytes)) {
		t.Error("the receiver key is another's")
	}
	// A holder's share remembers what it acknowledged, and not its receiver key.
	if record, flags := l.fixed(32), l.u8(); !bytes.Equal(record, make([]byte, 32)) || flags != 0 {
		t.Error("the receiver key remembers an answer")
	}
	l.end()
}

// A reshareRun is section 8 for the golden proposal: a reshare of a modular key.
type reshareRun struct {
	id           []byte
	contributors []int
	receivers    []receiver
	lambda       []*big.Int // Delta' lambda_i
	bound        func(at, j int) *big.Int
}

func goldenRun(t *testing.T, r *record) *reshareRun {
	t.Helper()
	block, _ := pem.Decode(readGolden(t, "proposal.txt"))
	l := (&layout{t, block.Bytes}).header()
	run := &reshareRun{id: hash("undersign/trsa/v1/proposal", block.Bytes)}
	if l.u8() != 2 || !bytes.Equal(l.fixed(32), r.id) || l.u64() != 1 {
		t.Fatal("another proposal")
	}
	l.fixed(32)
	if l.u8() != 2 {
		t.Fatal("another threshold")
	}
	for range l.u8() {
		run.contributors = append(run.contributors, l.u8())
	}
	for range l.u8() {
		run.receivers = append(run.receivers, l.receiver())
	}
	l.end()
	if !slices.Equal(run.contributors, []int{1, 3}) || len(run.receivers) != 3 {
		t.Fatal("another proposal")
	}
	// Delta = Delta' = 3! = 6: lambda_1 = 6*3/(3-1) = 9, lambda_3 = 6*1/(1-3) = -3.
	run.lambda = []*big.Int{big.NewInt(6 * 9), big.NewInt(-6 * 3)}
	offset := []*big.Int{new(big.Int), mul(big.NewInt(6*3), r.smax)}
	beta := 144 + mul(big.NewInt(2*2*6*9), r.smax).BitLen()
	run.bound = func(at, j int) *big.Int {
		g := new(big.Int).Lsh(big.NewInt(int64(j)), uint(beta))
		if run.lambda[at].Sign() > 0 {
			g.Add(g, mul(run.lambda[at], r.smax))
		}
		return g.Add(g, mul(offset[at], big.NewInt(int64(j))))
	}
	return run
}

func TestFormatCeremony(t *testing.T) {
	r := goldenRecord(t)
	run := goldenRun(t, r)

	// 9.1
	l := body(t, "contribution.txt")
	whole := l.b
	if !bytes.Equal(l.fixed(32), run.id) || l.u8() != 1 || l.u8() != 1 {
		t.Fatal("another contribution")
	}
	c1 := new(big.Int).SetBytes(l.bytes())
	if l.u8() != 3 {
		t.Fatal("not three parts")
	}
	var hashes, sealed [3][]byte
	for i := range 3 {
		hashes[i], sealed[i] = l.fixed(32), l.bytes()
	}
	digest := hash("undersign/trsa/v1/contribution", whole[:len(whole)-64])
	sig := l.fixed(64)
	l.end()
	if !ed25519.Verify(r.holders[0].identity, join("undersign/trsa/v1/contributor", run.id, 1, digest), sig) {
		t.Error("the contribution's signature is wrong")
	}
	key := body(t, "insecure-receiver-key.txt") // bob's, receiver 2
	key.bytes()
	key.fixed(32)
	dh, err := ecdh.X25519().NewPrivateKey(key.fixed(32))
	if err != nil {
		t.Fatal(err)
	}
	priv, err := hpke.NewDHKEMPrivateKey(dh)
	if err != nil {
		t.Fatal(err)
	}
	opening, err := hpke.Open(priv, hpke.HKDFSHA256(), hpke.ChaCha20Poly1305(), join("undersign/trsa/v1/part", run.id, 1, 2), sealed[1])
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(hashes[1], hash("undersign/trsa/v1/opening", run.id, 1, 2, opening)) {
		t.Error("the part's hash is wrong")
	}
	g := new(big.Int).SetBytes(opening[:len(opening)-32])
	if bound := run.bound(0, 2); len(opening)-32 != (bound.BitLen()+7)/8 || g.Cmp(bound) >= 0 {
		t.Error("g_1(2) is out of range")
	}
	want := mul(exp(r.vi[0], run.lambda[0], r.n), exp(c1, big.NewInt(2), r.n))
	if exp(r.v, g, r.n).Cmp(want.Mod(want, r.n)) != 0 {
		t.Error("g_1(2) doesn't belong to the commitments")
	}

	// 9.4, and the new record of section 8
	l = body(t, "certificate.txt")
	proposal, _ := pem.Decode(readGolden(t, "proposal.txt"))
	if !bytes.Equal(l.bytes(), proposal.Bytes) || l.u8() != 2 {
		t.Fatal("another proposal")
	}
	ceremony := join("undersign/trsa/v1/ceremony", run.id)
	for i, c := range run.contributors {
		d, sig := l.fixed(32), l.fixed(64)
		if i == 0 && !bytes.Equal(d, digest) {
			t.Error("another contribution")
		}
		if !ed25519.Verify(r.holders[c-1].identity, join("undersign/trsa/v1/contributor", run.id, c, d), sig) {
			t.Error("a contribution's signature is wrong")
		}
		ceremony = join(ceremony, d)
	}
	next := readRecord(t, l.bytes())
	smax := new(big.Int).Add(run.bound(0, 3), run.bound(1, 3))
	if next.form != 2 || next.k != 2 || next.l != 3 || next.epoch != 2 || !bytes.Equal(next.parent, r.id) ||
		next.gamma.Int64() != 36 || next.smax.Cmp(smax) != 0 || next.ubound.Cmp(mul(big.NewInt(2*9), r.smax)) != 0 ||
		!bytes.Equal(next.ceremony, hash(ceremony)) {
		t.Errorf("the new record isn't what the document says: %+v", next)
	}
	for i, h := range next.holders {
		if p := run.receivers[i]; !bytes.Equal(h.name, p.name) || !bytes.Equal(h.identity, p.identity) || !bytes.Equal(h.encryption, p.next) {
			t.Errorf("holder %d is another", i+1)
		}
	}
	if l.u8() != 3 {
		t.Fatal("not three acknowledgements")
	}
	ack, _ := pem.Decode(readGolden(t, "acknowledgement.txt"))
	for i := 1; i <= 3; i++ {
		b := l.bytes()
		if i == 2 && !bytes.Equal(b, ack.Bytes) {
			t.Error("another acknowledgement")
		}
		a := (&layout{t, b}).header()
		if p, n, j := a.fixed(32), a.fixed(32), a.u8(); !bytes.Equal(p, run.id) || !bytes.Equal(n, next.id) || j != i {
			t.Errorf("acknowledgement %d is another", i)
		}
		if !ed25519.Verify(run.receivers[i-1].identity, join("undersign/trsa/v1/ack", run.id, next.id, i), a.fixed(64)) {
			t.Errorf("acknowledgement %d: the signature is wrong", i)
		}
		a.end()
	}
	l.end()

	// 9.2
	l = body(t, "refusal.txt")
	signed := join("undersign/trsa/v1/refusal", l.b[:len(l.b)-64])
	l.fixed(32)
	if j, i := l.u8(), l.u8(); j != 1 || i != 3 {
		t.Errorf("refusal by %d of %d", j, i)
	}
	l.fixed(32)
	l.bytes()
	l.bytes()
	if !ed25519.Verify(r.holders[0].identity, signed, l.fixed(64)) {
		t.Error("the refusal's signature is wrong")
	}
	l.end()
}

// TestGoldenDamaged changes what all bodies have in common, and cuts them.
func TestGoldenDamaged(t *testing.T) {
	for name, data := range goldenFiles(t) {
		block, _ := pem.Decode(data)
		if block == nil || bytes.HasPrefix([]byte(name), []byte("err-")) {
			continue
		}
		read := Parse
		if bytes.HasPrefix([]byte(name), []byte("insecure-")) {
			read = ParseInsecurePlaintext
		}
		refused := func(what string, b []byte) {
			t.Helper()
			text := pem.EncodeToMemory(&pem.Block{Type: block.Type, Bytes: b})
			if _, err := read(text); err == nil {
				t.Errorf("%s: accepted %s", name, what)
			}
		}
		good := block.Bytes
		if _, err := read(pem.EncodeToMemory(&pem.Block{Type: block.Type, Bytes: good})); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for i := 0; i < len(good); i += 1 + len(good)/200 {
			refused("a part", good[:i])
		}
		refused("all but the last octet", good[:len(good)-1])
		refused("an octet more", append(bytes.Clone(good), 0))
		for i, what := range []string{"another version", "another suite"} {
			for _, v := range []byte{0, 2, 255} {
				bad := bytes.Clone(good)
				bad[i] = v
				refused(what, bad)
			}
		}
	}
}
