// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package bls

import (
	"bytes"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/undersign/undersign/internal/bls12381"
)

// TestSchemes goes through all schemes: what is signed verifies, and nothing else.
func TestSchemes(t *testing.T) {
	sks := numbered(t, 4)
	msgs := messages(4)
	for _, s := range allSchemes {
		keys := publics(s, sks)
		sigs := signAll(t, s, sks, msgs...)
		wantErr(t, s.String(), s.Verify(keys[0], msgs[0], sigs[0]), nil)
		wantErr(t, "another message", s.Verify(keys[0], msgs[1], sigs[0]), ErrSignature)
		wantErr(t, "another key", s.Verify(keys[1], msgs[0], sigs[0]), ErrSignature)
		wantErr(t, "another signature", s.Verify(keys[0], msgs[0], sigs[1]), ErrSignature)
		wantErr(t, "no message", s.Verify(keys[0], nil, sigs[0]), ErrSignature)
		twice := must[*Signature](t)(Aggregate(sigs[0], sigs[0]))
		wantErr(t, "a multiple", s.Verify(keys[0], msgs[0], twice), ErrSignature)
		for _, x := range allSchemes {
			want := ErrSignature
			if suites[x].minSig != suites[s].minSig {
				want = errVariant
			}
			if x != s {
				wantErr(t, s.String()+" by "+x.String(), x.Verify(keys[0], msgs[0], sigs[0]), want)
			}
		}

		sum := must[*Signature](t)(Aggregate(sigs...))
		wantErr(t, s.String(), s.AggregateVerify(keys, msgs, sum), nil)
		wantErr(t, "a key less", s.AggregateVerify(keys[1:], msgs, sum), ErrMessages)
		wantErr(t, "a pair less", s.AggregateVerify(keys[1:], msgs[1:], sum), ErrSignature)
		wantErr(t, "a signature", s.AggregateVerify(keys, msgs, sigs[0]), ErrSignature)
		swapped := slices.Clone(keys)
		swapped[0], swapped[1] = swapped[1], swapped[0]
		wantErr(t, "swapped", s.AggregateVerify(swapped, msgs, sum), ErrSignature)

		// Equal messages, by different keys and by one.
		same := [][]byte{msgs[0], msgs[0], msgs[0], msgs[0]}
		sum = must[*Signature](t)(Aggregate(signAll(t, s, sks, msgs[0])...))
		one := []*PublicKey{keys[0], keys[0]}
		if suites[s].kind == Augmented {
			wantErr(t, "equal messages", s.AggregateVerify(keys, same, sum), nil)
			wantErr(t, "one pair twice", s.AggregateVerify(one, same[:2], twice), nil)
			wantErr(t, "one pair three times", s.AggregateVerify([]*PublicKey{keys[0], keys[0], keys[0]}, same[:3], twice), ErrSignature)
		} else {
			wantErr(t, "equal messages", s.AggregateVerify(keys, same, sum), ErrMessages)
			wantErr(t, "one pair twice", s.AggregateVerify(one, same[:2], twice), ErrMessages)
		}
	}
}

// TestNone has aggregates of nothing.
func TestNone(t *testing.T) {
	for _, s := range allSchemes {
		u := &suites[s]
		identity := &Signature{newPoint(!u.minSig)}
		sig := must[*Signature](t)(s.Sign(numbered(t, 1)[0], nil))
		var want error = ErrMessages
		if u.kind == Augmented {
			want = nil
			wantErr(t, "a signature of none", s.AggregateVerify(nil, nil, sig), ErrSignature)
			wantErr(t, "no signature", s.AggregateVerify(nil, nil, nil), errNoSig)
		}
		wantErr(t, s.String(), s.AggregateVerify(nil, nil, identity), want)
		wantErr(t, "a message of none", s.AggregateVerify(nil, [][]byte{nil}, identity), ErrMessages)

		sk := numbered(t, 1)[0]
		key := s.public(sk)
		wantErr(t, "identity", s.Verify(key, nil, identity), ErrSignature)
		wantErr(t, "identity", s.AggregateVerify([]*PublicKey{key}, [][]byte{nil}, identity), ErrSignature)
		if u.kind == ProofOfPossession {
			wantErr(t, "no keys", s.FastAggregateVerify(nil, nil, identity), ErrKey)
			wantErr(t, "no keys", s.AggregateVerifyProven(nil, nil, identity), ErrMessages)
			_, err := s.PopVerify(key, identity)
			wantErr(t, "identity as proof", err, ErrKey)
		}
	}
	_, err := Aggregate()
	wantErr(t, "Aggregate", err, ErrSignature)
	_, err = AggregateUnchecked(nil)
	wantErr(t, "AggregateUnchecked", err, ErrSignature)
	_, err = SumKeys(nil)
	wantErr(t, "SumKeys", err, ErrKey)
	wantErr(t, "Batch", NewBatch(Basic).Verify(), nil)
}

func TestVariants(t *testing.T) {
	sk := numbered(t, 1)[0]
	in2 := must[*Signature](t)(Basic.Sign(sk, nil))
	in1 := must[*Signature](t)(MinSigBasic.Sign(sk, nil))
	_, err := Aggregate(in2, in1)
	wantErr(t, "Aggregate", err, errVariant)
	_, err = SumKeys([]*ProvenKey{AssumeProvenUnsafe(sk.PublicKey()), AssumeProvenUnsafe(sk.MinSigPublicKey())})
	wantErr(t, "SumKeys", err, errVariant)
	wantErr(t, "Keys", new(Keys).Add(AssumeProvenUnsafe(sk.MinSigPublicKey())), errVariant)
	wantErr(t, "key", Basic.Verify(sk.MinSigPublicKey(), nil, in2), errVariant)
	wantErr(t, "signature", Basic.Verify(sk.PublicKey(), nil, in1), errVariant)
	wantErr(t, "aggregate", MinSigBasic.AggregateVerify([]*PublicKey{sk.PublicKey()}, [][]byte{nil}, in1), errVariant)
	_, err = Basic.PopProve(sk)
	wantErr(t, "PopProve", err, ErrKey)
	_, err = Augmented.PopVerify(sk.PublicKey(), in2)
	wantErr(t, "PopVerify", err, ErrKey)
	wantErr(t, "FastAggregateVerify", Basic.FastAggregateVerify(provens(Basic, numbered(t, 1)), nil, in2), ErrKey)
	wantErr(t, "AggregateVerifyProven", Augmented.AggregateVerifyProven(provens(Basic, numbered(t, 1)), [][]byte{nil}, in2), ErrKey)
	if sk.PublicKey().Equal(sk.MinSigPublicKey()) || in1.Equal(in2) {
		t.Error("equal across groups")
	}
}

// TestAliases overwrites keys that were handed out: a proven key must stay what was proven.
func TestAliases(t *testing.T) {
	sks := numbered(t, 2)
	other := sks[1].PublicKey().Bytes()
	proof := must[*Signature](t)(ProofOfPossession.PopProve(sks[0]))
	key := sks[0].PublicKey()
	proven := must[*ProvenKey](t)(ProofOfPossession.PopVerify(key, proof))
	want := key.Bytes()
	for _, k := range []*PublicKey{key, proven.PublicKey(), sks[0].PublicKey(), sks[0].MinSigPublicKey()} {
		if err := k.UnmarshalBinary(other); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(proven.Bytes(), want) || !bytes.Equal(sks[0].PublicKey().Bytes(), want) || len(sks[0].MinSigPublicKey().Bytes()) != MinSigPublicKeySize {
		t.Error("a key was overwritten")
	}
}

func TestPop(t *testing.T) {
	sks := numbered(t, 6)
	for _, s := range []Scheme{ProofOfPossession, MinSigProofOfPossession} {
		keys := publics(s, sks)
		var proofs []*Signature
		for i, sk := range sks {
			proofs = append(proofs, must[*Signature](t)(s.PopProve(sk)))
			p := must[*ProvenKey](t)(s.PopVerify(keys[i], proofs[i]))
			if !p.PublicKey().Equal(keys[i]) {
				t.Error("another key is proven")
			}
		}
		_, err := s.PopVerify(keys[0], proofs[1])
		wantErr(t, "another's proof", err, ErrKey)
		sig := must[*Signature](t)(s.Sign(sks[0], keys[0].Bytes()))
		_, err = s.PopVerify(keys[0], sig)
		wantErr(t, "a signature of the key", err, ErrKey)
		wantErr(t, "a proof as signature", s.Verify(keys[0], keys[0].Bytes(), proofs[0]), ErrSignature)

		proven := must[[]*ProvenKey](t)(s.PopVerifyBatch(keys, proofs))
		for i, p := range proven {
			if !p.PublicKey().Equal(keys[i]) {
				t.Errorf("key %d", i)
			}
		}
		bad := slices.Clone(proofs)
		bad[0], bad[2], bad[3] = sig, nil, proofs[4]
		list := slices.Clone(keys)
		list[5] = nil
		proven, err = s.PopVerifyBatch(list, bad)
		var be *BatchError
		if !errors.As(err, &be) || !slices.Equal(be.Bad, []int{0, 2, 3, 5}) || !errors.Is(err, ErrKey) || be.Len != 6 {
			t.Errorf("%v", err)
		}
		for i, p := range proven {
			if (p == nil) != slices.Contains(be.Bad, i) {
				t.Errorf("key %d: %v", i, p)
			}
		}
		_, err = s.PopVerifyBatch(keys, proofs[1:])
		wantErr(t, "a proof less", err, ErrKey)
		if p, err := s.PopVerifyBatch(nil, nil); err != nil || len(p) != 0 {
			t.Error("none")
		}
	}
}

// TestRogueKey is the attack that proofs and weights are against: a key chosen so that
// the sum with a victim's is the attacker's own.
func TestRogueKey(t *testing.T) {
	sks := numbered(t, 2)
	victim, attacker := sks[0].PublicKey(), sks[1]
	rogue := &PublicKey{newPoint(false)}
	rogue.p.one.Sub(attacker.PublicKey().p.one, victim.p.one)
	digest := [32]byte{1, 2, 3}
	forged := must[*Signature](t)(ProofOfPossession.Sign(attacker, digest[:]))
	keys := []*PublicKey{victim, rogue}

	// It works on keys that are taken for proven,
	wantErr(t, "unproven", ProofOfPossession.FastAggregateVerify(provenOf(keys), digest[:], forged), nil)
	// and on nothing else.
	proof := must[*Signature](t)(ProofOfPossession.PopProve(attacker))
	_, err := ProofOfPossession.PopVerify(rogue, proof)
	wantErr(t, "proof", err, ErrKey)
	msgs := [][]byte{digest[:], digest[:]}
	wantErr(t, "POP", ProofOfPossession.AggregateVerify(keys, msgs, forged), ErrMessages)
	wantErr(t, "POP", ProofOfPossession.BDNVerify(keys, digest, forged), ErrSignature)
	inBasic := must[*Signature](t)(Basic.Sign(attacker, digest[:]))
	wantErr(t, "Basic", Basic.AggregateVerify(keys, msgs, inBasic), ErrMessages)
	for _, msg := range [][]byte{digest[:], append(victim.Bytes(), digest[:]...)} {
		inAug := must[*Signature](t)(Augmented.Sign(attacker, msg))
		wantErr(t, "Augmented", Augmented.AggregateVerify(keys, msgs, inAug), ErrSignature)
	}
	b := NewBatch(ProofOfPossession)
	b.AddAggregate(keys, msgs, forged)
	b.AddBDN(keys, digest, forged)
	b.Add(rogue, digest[:], forged)
	var be *BatchError
	if !errors.As(b.Verify(), &be) || len(be.Bad) != 3 {
		t.Errorf("%v", be)
	}
}

// TestOppositeKeys has keys that cancel: both proven, and nobody's signature is theirs.
func TestOppositeKeys(t *testing.T) {
	for _, s := range []Scheme{ProofOfPossession, MinSigProofOfPossession} {
		sk := numbered(t, 1)[0]
		minus := newSecretKey()
		minus.k.Neg(&sk.k)
		var keys []*ProvenKey
		for _, k := range []*SecretKey{sk, minus} {
			proof := must[*Signature](t)(s.PopProve(k))
			keys = append(keys, must[*ProvenKey](t)(s.PopVerify(s.public(k), proof)))
		}
		identity := &Signature{newPoint(!suites[s].minSig)}
		_, err := SumKeys(keys)
		wantErr(t, "SumKeys", err, errKeyIdentity)
		wantErr(t, "FastAggregateVerify", s.FastAggregateVerify(keys, nil, identity), ErrKey)
		wantErr(t, "AggregateVerifyProven", s.AggregateVerifyProven(keys, [][]byte{nil, nil}, identity), ErrSignature)
		// Weights tell them apart.
		plus, neg := must[*Signature](t)(s.Sign(sk, make([]byte, 32))), must[*Signature](t)(s.Sign(minus, make([]byte, 32)))
		pks := publicOf(keys)
		sum := must[*Signature](t)(s.BDNAggregate(pks, [32]byte{}, []*Signature{plus, neg}))
		wantErr(t, "BDN", s.BDNVerify(pks, [32]byte{}, sum), nil)
		wantErr(t, "BDN", s.BDNVerify(pks, [32]byte{}, identity), ErrSignature)
		// With a third, the sum is that one's.
		third := numbered(t, 2)[1]
		sig := must[*Signature](t)(s.Sign(third, nil))
		wantErr(t, "three", s.FastAggregateVerify(append(keys, AssumeProvenUnsafe(s.public(third))), nil, sig), nil)
	}
}

func TestFastAggregate(t *testing.T) {
	sks := numbered(t, 20)
	msg := []byte("one for all")
	for _, s := range []Scheme{ProofOfPossession, MinSigProofOfPossession} {
		keys := provens(s, sks)
		sigs := signAll(t, s, sks, msg)
		sum := must[*Signature](t)(Aggregate(sigs...))
		wantErr(t, s.String(), s.FastAggregateVerify(keys, msg, sum), nil)
		wantErr(t, "another message", s.FastAggregateVerify(keys, nil, sum), ErrSignature)
		wantErr(t, "a key less", s.FastAggregateVerify(keys[1:], msg, sum), ErrSignature)
		wantErr(t, "a key twice", s.FastAggregateVerify(append(keys, keys[0]), msg, sum), ErrSignature)
		less := must[*Signature](t)(Aggregate(sigs[1:]...))
		wantErr(t, "a signature less", s.FastAggregateVerify(keys, msg, less), ErrSignature)
		twice := must[*Signature](t)(Aggregate(append(sigs, sigs[0])...))
		wantErr(t, "a key and a signature twice", s.FastAggregateVerify(append(keys, keys[0]), msg, twice), nil)
	}
}

// TestKeys compares sums in the list with sums of what is picked from it.
func TestKeys(t *testing.T) {
	sks := numbered(t, 40)
	keys := provens(Basic, sks)
	minus := &ProvenKey{PublicKey{newPoint(false)}}
	minus.k.p.one.Neg(keys[3].k.p.one)
	keys = append(keys, keys[0], keys[0], minus) // 40, 41, 42
	var l Keys
	if err := errors.Join(l.Add(keys[:17]...), l.Add(), l.Add(keys[17:]...)); err != nil {
		t.Fatal(err)
	}
	if l.Len() != 43 || !l.At(42).Equal(minus) {
		t.Fatal("not the list")
	}
	r := rand.New(rand.NewPCG(1, 2))
	sets := [][]int{{0}, {0, 40}, {0, 40, 41}, {1, 3, 42}, {42}}
	for range 60 {
		n := 1 + r.IntN(42)
		set := r.Perm(43)[:n]
		slices.Sort(set)
		sets = append(sets, set)
	}
	for _, set := range sets {
		var picked []*ProvenKey
		for _, i := range set {
			picked = append(picked, keys[i])
		}
		got, err := l.Sum(set)
		want, wantErr := SumKeys(picked)
		if (err == nil) != (wantErr == nil) || err == nil && !bytes.Equal(got.Bytes(), want.Bytes()) {
			t.Errorf("%v: %v, %v; want %v, %v", set, got, err, want, wantErr)
		}
	}
	for _, set := range [][]int{nil, {-1}, {43}, {0, 0}, {1, 0}, {0, 1, 1}, {3, 42}, {0, math.MaxInt}} {
		_, err := l.Sum(set)
		wantErr(t, "Sum", err, ErrKey)
	}
	_, err := new(Keys).Sum([]int{0})
	wantErr(t, "empty", err, ErrKey)
	// All of a list whose total is the identity.
	var two Keys
	if err := two.Add(keys[3], minus); err != nil {
		t.Fatal(err)
	}
	_, err = two.Sum([]int{0, 1})
	wantErr(t, "identity", err, errKeyIdentity)
	// A list isn't changed by an Add that fails.
	wantErr(t, "Add", two.Add(keys[0], nil), errNoKey)
	if two.Len() != 2 {
		t.Error("half an Add")
	}
}

func TestBDN(t *testing.T) {
	sks := numbered(t, 9)
	digest, other := [32]byte{7}, [32]byte{8}
	for _, s := range []Scheme{Basic, ProofOfPossession, MinSigBasic} {
		keys := publics(s, sks)
		sigs := signAll(t, s, sks, digest[:])
		sum := must[*Signature](t)(s.BDNAggregate(keys[:8], digest, sigs[:8]))
		wantErr(t, s.String(), s.BDNVerify(keys[:8], digest, sum), nil)
		reversed := slices.Clone(keys[:8])
		slices.Reverse(reversed)
		wantErr(t, "another order", s.BDNVerify(reversed, digest, sum), nil)
		wantErr(t, "a key less", s.BDNVerify(keys[:7], digest, sum), ErrSignature)
		wantErr(t, "a key more", s.BDNVerify(keys, digest, sum), ErrSignature)
		wantErr(t, "another key", s.BDNVerify(keys[1:], digest, sum), ErrSignature)
		wantErr(t, "another digest", s.BDNVerify(keys[:8], other, sum), ErrSignature)
		wantErr(t, "a key twice", s.BDNVerify(append(keys[:8:8], keys[0]), digest, sum), ErrKey)
		wantErr(t, "no keys", s.BDNVerify(nil, digest, sum), ErrKey)
		wantErr(t, "no key", s.BDNVerify([]*PublicKey{nil}, digest, sum), errNoKey)
		plain := must[*Signature](t)(Aggregate(sigs[:8]...))
		wantErr(t, "without weights", s.BDNVerify(keys[:8], digest, plain), ErrSignature)
		swapped := slices.Clone(sigs[:8])
		swapped[0], swapped[1] = swapped[1], swapped[0]
		bad := must[*Signature](t)(s.BDNAggregate(keys[:8], digest, swapped))
		wantErr(t, "swapped", s.BDNVerify(keys[:8], digest, bad), ErrSignature)
		_, err := s.BDNAggregate(keys[:8], digest, sigs)
		wantErr(t, "a signature more", err, ErrSignature)
		_, err = s.BDNAggregate([]*PublicKey{keys[0], keys[0]}, digest, sigs[:2])
		wantErr(t, "a key twice", err, ErrKey)
		_, err = s.BDNAggregate(keys[:1], digest, []*Signature{nil})
		wantErr(t, "no signature", err, errNoSig)
		// Even one key has a weight.
		wantErr(t, "one", s.BDNVerify(keys[:1], digest, sigs[0]), ErrSignature)
		one := must[*Signature](t)(s.BDNAggregate(keys[:1], digest, sigs[:1]))
		wantErr(t, "one", s.BDNVerify(keys[:1], digest, one), nil)
	}
	wantErr(t, "augmented", Augmented.BDNVerify(publics(Augmented, sks), digest, signAll(t, Augmented, sks[:1], nil)[0]), ErrMessages)
}

// TestBDNCoefficients pins the coefficients of two keys, computed by the formula.
func TestBDNCoefficients(t *testing.T) {
	keys := publics(Basic, numbered(t, 2))
	digest := [32]byte{9}
	_, as, err := suites[Basic].bdn(keys, &digest)
	if err != nil {
		t.Fatal(err)
	}
	a, b := keys[0].Bytes(), keys[1].Bytes()
	if bytes.Compare(a, b) > 0 {
		a, b = b, a
	}
	th := hashed(slices.Concat([]byte("dist/bdn/v1\x00\x00\x00\x00\x00"), a, b, digest[:]))
	for i, k := range keys {
		c := hashed(append(slices.Clone(th), k.Bytes()...))[:16]
		c[15] |= 1
		if !as[i].Equal(new(bls12381.Scalar).SetWide(c)) {
			t.Errorf("coefficient %d", i)
		}
	}
}

func TestUncheckedSignatures(t *testing.T) {
	sks := numbered(t, 5)
	msg := []byte("m")
	sigs := signAll(t, ProofOfPossession, sks, msg)
	var list []*UncheckedSignature
	for _, s := range sigs {
		list = append(list, must[*UncheckedSignature](t)(ParseUncheckedSignature(s.UncompressedBytes())))
	}
	sum := must[*Signature](t)(AggregateUnchecked(list))
	if !sum.Equal(must[*Signature](t)(Aggregate(sigs...))) {
		t.Error("another sum")
	}
	wantErr(t, "sum", ProofOfPossession.FastAggregateVerify(provens(Basic, sks), msg, sum), nil)
	p, q := outside(t)
	_, err := AggregateUnchecked([]*UncheckedSignature{p})
	wantErr(t, "outside", err, ErrSignature)
	_, err = AggregateUnchecked(append(list, q))
	wantErr(t, "one outside", err, ErrSignature)
	// Two that cancel are let pass, and do no harm.
	both := must[*Signature](t)(AggregateUnchecked(append(list, p, q)))
	if !both.Equal(sum) {
		t.Error("another sum")
	}
	if s := must[*Signature](t)(AggregateUnchecked([]*UncheckedSignature{p, q})); !s.IsIdentity() {
		t.Error("not the identity")
	}
	for _, b := range [][]byte{nil, sigs[0].Bytes(), make([]byte, 192)} {
		_, err := ParseUncheckedSignature(b)
		wantErr(t, "encoding", err, ErrSignature)
	}
}

// TestGrouping compares aggregates with repeated keys and messages with the product of
// one pairing for each pair.
func TestGrouping(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	sks, msgs := numbered(t, 5), messages(5)
	good, rounds := 0, 60
	if testing.Short() {
		rounds = 15
	}
	for range rounds {
		s := []Scheme{ProofOfPossession, MinSigProofOfPossession, Augmented, MinSigAugmented}[r.IntN(4)]
		u := &suites[s]
		nk, nm := 1+r.IntN(5), 1+r.IntN(5)
		var keys []*PublicKey
		var list [][]byte
		var sigs []*Signature
		for range 1 + r.IntN(7) {
			sk, m := sks[r.IntN(nk)], msgs[r.IntN(nm)]
			keys, list = append(keys, s.public(sk)), append(list, m)
			sigs = append(sigs, must[*Signature](t)(s.Sign(sk, m)))
		}
		// Change a key, a message or a signature of some: it may stay valid.
		i := r.IntN(len(keys))
		switch r.IntN(5) {
		case 0:
			keys[i] = s.public(sks[r.IntN(nk)])
		case 1:
			list[i] = msgs[r.IntN(nm)]
		case 2:
			j := r.IntN(len(keys))
			list[i], list[j] = list[j], list[i]
		}
		sum := must[*Signature](t)(Aggregate(sigs...))
		var pairs []bls12381.Pair
		for i, k := range keys {
			pairs = append(pairs, pair(k.p, u.hash(u.text(k.p, list[i]), u.dst)))
		}
		want := bls12381.PairingCheckVarTime(append(pairs, pairGenerator(sum.p))...)
		var err error
		if u.kind == Augmented {
			err = s.AggregateVerify(keys, list, sum)
		} else {
			err = s.AggregateVerifyProven(provenOf(keys), list, sum)
		}
		if (err == nil) != want {
			t.Errorf("%v with %d keys and %d messages: %v, want %v", s, nk, nm, err, want)
		}
		if want {
			good++
		}
	}
	if good < rounds/4 || good == rounds {
		t.Errorf("%d of %d are good", good, rounds)
	}
}
