// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package thresholdrsa

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math/big"
	"strconv"
	"strings"
	"testing"
	"testing/cryptotest"

	"github.com/undersign/undersign/internal/modexp"
)

// leaks returns which of the secrets text shows, in any of the ways that fmt, JSON
// and slog write numbers and bytes.
func leaks(text string, secrets map[string][]byte) (found []string) {
	raw := text
	text = strings.ToLower(text)
	for name, b := range secrets {
		head := b[len(b)-16:] // the low bytes: the high ones may be zero
		if strings.Contains(raw, string(head)) {
			found = append(found, name) // in lower case a character across the cut is another one
		}
		forms := []string{
			hex.EncodeToString(head), fmt.Sprintf("% x", head), fmt.Sprintf("%#v", head)[7:40], strings.Trim(fmt.Sprint(head), "[]"), fmt.Sprintf("%q", head),
			new(big.Int).SetBytes(b).String(),
			strings.ReplaceAll(strings.Trim(fmt.Sprint(head), "[]"), " ", ","), // JSON of an array
		}
		var limb uint64
		for _, x := range b[len(b)-8:] {
			limb = limb<<8 | uint64(x)
		}
		forms = append(forms, strconv.FormatUint(limb, 10), strconv.FormatUint(limb, 16), base64.StdEncoding.EncodeToString(b)[:12], hex.EncodeToString(b)[:16])
		for _, f := range forms {
			if len(f) > 6 && strings.Contains(text, strings.ToLower(f)) {
				found = append(found, name+" as "+f)
			}
		}
	}
	return found
}

// No verb of fmt, no JSON and no log shows a secret.
func TestSecretsArentPrinted(t *testing.T) {
	small(t)
	_, shares := freshSharing(t, "small-a", 2, 3)
	s := shares[0]
	rk, err := s.NewReceiver()
	if err != nil {
		t.Fatal(err)
	}
	// A share with a pending one.
	play := reshare(t, shares, []int{1, 2}, 2, "x", "y")
	play.contribute(nil)
	next, _, err := play.keys[0].Receive(play.parent, play.pr, play.cs, nil)
	if err != nil {
		t.Fatal(err)
	}
	pending := *s
	pending.pending = []*KeyShare{next}
	secrets := map[string][]byte{
		"share": natBig(s.s).Bytes(), "seed": s.seed[:], "identity": s.identity.Seed(), "identity key": s.identity, "decryption key": s.decryption,
		"run key": rk.run, "next key": rk.next, "pending share": natBig(next.s).Bytes(), "pending seed": next.seed[:],
		"newcomer's run key": play.keys[0].run,
	}
	// The control: the same check finds what is printed.
	for _, verb := range []string{"%v", "%x", "%d", "%#v", "%s"} {
		if len(leaks(fmt.Sprintf(verb, s.decryption), secrets)) == 0 {
			t.Errorf("%s of a secret isn't recognised", verb)
		}
	}
	if len(leaks(fmt.Sprint([]uint64(s.s)), secrets)) == 0 {
		t.Error("limbs aren't recognised")
	}
	type holder struct {
		Share *KeyShare
		Value KeyShare
		Key   *ReceiverKey
	}
	for _, x := range []any{
		s, *s, &s, []*KeyShare{s}, []KeyShare{*s}, map[string]*KeyShare{"a": s}, holder{s, *s, rk}, &holder{s, *s, rk}, struct{ S any }{s},
		&pending, pending, next, rk, *rk, []*ReceiverKey{rk}, play.keys, play.keys[0], errors.Join(fmt.Errorf("%v", s)),
	} {
		for _, verb := range []string{"%v", "%+v", "%#v", "%x", "%X", "%s", "%d", "%q", "%o", "%b", "%c", "%t", "%e", "% x", "%#x", "%08.3f", "%z"} {
			text := fmt.Sprintf(verb, x)
			if found := leaks(text, secrets); found != nil {
				t.Errorf("%s of %T shows %v", verb, x, found)
			}
		}
		if found := leaks(fmt.Sprintln(x), secrets); found != nil {
			t.Errorf("Println of %T shows %v", x, found)
		}
		if b, err := json.Marshal(x); err == nil {
			if found := leaks(string(b), secrets); found != nil {
				t.Errorf("JSON of %T shows %v", x, found)
			}
		}
		var log bytes.Buffer
		for _, h := range []slog.Handler{slog.NewTextHandler(&log, nil), slog.NewJSONHandler(&log, nil)} {
			slog.New(h).Info("share", "x", x, slog.Group("g", "x", x))
		}
		if found := leaks(log.String(), secrets); found != nil {
			t.Errorf("slog of %T shows %v", x, found)
		}
	}
	if text := fmt.Sprint(s); !strings.Contains(text, "holder 1") || !strings.Contains(text, fmt.Sprintf("%x", s.key.id[:4])) {
		t.Errorf("a share is printed as %q", text)
	}
	for _, x := range []any{new(KeyShare), (*KeyShare)(nil), new(ReceiverKey), (*ReceiverKey)(nil)} {
		_ = fmt.Sprintf("%v %+v %#v %s %x", x, x, x, x, x) // doesn't panic
	}
}

func TestWipe(t *testing.T) {
	small(t)
	_, shares := freshSharing(t, "small-a", 2, 3)
	s := shares[0]
	r := request(t, s.key, "wipe")
	play := refreshOf(t, shares)
	rk := play.keys[0]
	if _, err := s.Receive(rk, play.pr, play.cs, nil); err != nil {
		t.Fatal(err)
	}
	next := s.pending[0]
	limbs, seed, id, dec := s.s, &s.seed, s.identity, s.decryption
	nextLimbs, nextSeed, nextID := next.s, &next.seed, next.identity
	s.Wipe()
	zero := func(what string, b []byte) {
		t.Helper()
		if len(b) == 0 || len(bytes.Trim(b, "\x00")) != 0 {
			t.Errorf("%s isn't zero", what)
		}
	}
	if natBig(limbs).Sign() != 0 || natBig(nextLimbs).Sign() != 0 {
		t.Error("the share isn't zero")
	}
	zero("seed", seed[:])
	zero("identity", id)
	zero("decryption key", dec)
	zero("pending seed", nextSeed[:])
	zero("pending identity", nextID)
	if _, err := s.Sign(r); err == nil {
		t.Error("a wiped share signs")
	}
	if _, err := s.MarshalBinary(); err == nil {
		t.Error("a wiped share is encoded")
	}
	if s.Check() == nil || s.Equal(s) || s.Equal(shares[1]) || shares[1].Equal(s) {
		t.Error("a wiped share passes for one")
	}
	if _, err := s.NewReceiver(); err == nil {
		t.Error("a wiped share receives")
	}
	if _, err := s.Contribute(play.pr); err == nil {
		t.Error("a wiped share contributes")
	}
	if _, err := s.Receive(rk, play.pr, play.cs, nil); err == nil {
		t.Error("a wiped share receives")
	}
	s.Wipe() // again
	run, nextKey, rid := rk.run, rk.next, rk.identity
	rk.Wipe()
	zero("run key", run)
	zero("next key", nextKey)
	zero("receiver's identity", rid)
	if _, err := rk.MarshalBinary(); err == nil {
		t.Error("a wiped receiver key is encoded")
	}
	if _, err := rk.Receiver(); err == nil {
		t.Error("a wiped receiver key has a card")
	}
	priv := privateKey(t, "small-a", 65537)
	d, p, q, dp := priv.D.Bits(), priv.Primes[0].Bits(), priv.Primes[1].Bits(), priv.Precomputed.Dp
	Erase(priv)
	for _, x := range [][]big.Word{d, p, q} {
		for _, w := range x {
			if w != 0 {
				t.Error("a private key survives Erase")
			}
		}
	}
	if dp != nil && dp.Sign() != 0 || priv.Primes != nil || priv.D.Sign() != 0 {
		t.Error("a private key survives Erase")
	}
}

// refreshOf starts a refresh by the first K holders of shares.
func refreshOf(t *testing.T, shares []*KeyShare) *play {
	t.Helper()
	var set []int
	for i := range shares[0].key.k {
		set = append(set, i+1)
	}
	return refresh(t, shares, set...).contribute(nil)
}

// A thousand proofs of one share of one message: a thousand nonces, so that no two
// of them give the share away.
func TestNoncesDiffer(t *testing.T) {
	small(t)
	_, shares := sharing(t, "small-a", 2, 3)
	s := shares[0]
	r := request(t, s.key, "nonces")
	x, err := r.representative(s.key)
	if err != nil {
		t.Fatal(err)
	}
	challenges, values, responses := map[[32]byte]bool{}, map[string]bool{}, map[string]bool{}
	for range 1000 {
		sig := sign(t, r, s)
		challenges[sig.c], values[string(sig.x)], responses[string(sig.z)] = true, true, true
	}
	if len(challenges) != 1000 || len(responses) != 1000 || len(values) != 1 {
		t.Errorf("%d challenges, %d responses, %d values", len(challenges), len(responses), len(values))
	}
	// All bits are used: none is the same in all of 200 nonces.
	or, and := new(big.Int), new(big.Int).Sub(new(big.Int).Lsh(one, uint(s.key.nonceBits())), one)
	for range 200 {
		n := natBig(s.nonce(x))
		or.Or(or, n)
		and.And(and, n)
	}
	if or.BitLen() != s.key.nonceBits() || and.Sign() != 0 || new(big.Int).Add(or, one).BitLen() != s.key.nonceBits()+1 {
		t.Errorf("fixed bits in the nonces: or of %d bits, and %x", or.BitLen(), and)
	}
}

// With a generator that repeats itself (a copied machine, a broken generator) two
// challenges never meet one nonce: everything that goes into a challenge goes into
// the nonce.
func TestNoncesWithFrozenRandom(t *testing.T) {
	small(t)
	d, shares := sharing(t, "small-a", 2, 3)
	again, againShares := freshSharing(t, "small-a", 2, 3)
	represent := func(p *PublicKey, message string) *big.Int {
		x, err := request(t, p, message).representative(p)
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
	x, y := represent(d.key, "x"), represent(d.key, "y")
	// The same seed in another holder's hands, in another record's, and another's.
	twin, reborn, seedless := *shares[1], *againShares[0], *shares[0]
	twin.seed, reborn.seed, seedless.seed = shares[0].seed, shares[0].seed, [32]byte{}
	if reborn.key != again.key {
		t.Fatal("the record is another's")
	}
	frozen := func(s *KeyShare, x *big.Int) modexp.Nat {
		cryptotest.SetGlobalRandom(t, 1)
		return s.nonce(x)
	}
	base := natBig(frozen(shares[0], x))
	if natBig(frozen(shares[0], x)).Cmp(base) != 0 {
		t.Fatal("the generator isn't frozen")
	}
	for name, r := range map[string]modexp.Nat{
		"another message": frozen(shares[0], y), "another holder": frozen(&twin, x), "another record": frozen(&reborn, x), "another seed": frozen(&seedless, x),
		"the negative": frozen(shares[0], neg(x, d.key.n)),
	} {
		if natBig(r).Cmp(base) == 0 {
			t.Errorf("%s: the same nonce", name)
		}
	}
	// The whole signature: frozen, the same request gives the same proof, which tells
	// nothing new; another gives another nonce.
	r1, r2 := request(t, d.key, "x"), request(t, d.key, "y")
	proof := func(r *Request) *SignatureShare {
		cryptotest.SetGlobalRandom(t, 1)
		return sign(t, r, shares[0])
	}
	a, b, c := proof(r1), proof(r1), proof(r2)
	if !a.Equal(b) {
		t.Error("frozen, the proofs of one request differ")
	}
	// From z - z' = (c - c') s + (r - r') the share would follow if r = r'.
	dz := new(big.Int).Sub(new(big.Int).SetBytes(a.z), new(big.Int).SetBytes(c.z))
	dc := new(big.Int).Sub(new(big.Int).SetBytes(a.c[:]), new(big.Int).SetBytes(c.c[:]))
	if q, rem := dz.QuoRem(dz, dc, new(big.Int)); rem.Sign() == 0 || q.CmpAbs(natBig(shares[0].s)) == 0 {
		t.Error("two proofs give the share away")
	}
	// The control, with one nonce for two challenges: they do.
	z1, z2 := shares[0].respond(natOf(base, d.key.nonceBits()), a.c), shares[0].respond(natOf(base, d.key.nonceBits()), c.c)
	dz.Sub(new(big.Int).SetBytes(z1), new(big.Int).SetBytes(z2))
	if q := dz.Quo(dz, dc); q.Cmp(natBig(shares[0].s)) != 0 {
		t.Error("the control fails")
	}
}

// A signer never hands out its seed by way of a hash that others can ask for.
func TestSeedsDiffer(t *testing.T) {
	small(t)
	_, shares := sharing(t, "small-a", 3, 5)
	seen := map[[32]byte]bool{{}: true}
	for _, s := range shares {
		for _, x := range [][32]byte{s.seed, [32]byte(s.decryption), [32]byte(s.identity.Seed()), sha256.Sum256(s.seed[:])} {
			if seen[x] {
				t.Errorf("holder %d: a secret twice", s.index)
			}
			seen[x] = true
		}
	}
}
