// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package thresholdrsa

import (
	"bytes"
	"encoding"
	"math/big"
	"testing"

	"github.com/undersign/undersign/internal/modexp"
)

// corpus returns one object of every type, from sharings of toy keys and of a small
// one, and a refresh of each form.
func corpus(f *testing.F) (objects []encoding.BinaryMarshaler) {
	f.Helper()
	small(f)
	priv := privateKey(f, "small-a", 65537)
	for _, deal := range []func() (*Dealing, []*KeyShare, error){
		func() (*Dealing, []*KeyShare, error) { return Deal(priv, 2, 3, nil) },
		func() (*Dealing, []*KeyShare, error) { return Import(priv, 2, 2, nil) },
	} {
		d, shares, err := deal()
		check := func(err error) {
			if err != nil {
				f.Fatal(err)
			}
		}
		check(err)
		r := request(f, d.key, "fuzz")
		objects = append(objects, d, d.key, r, sign(f, r, shares[0]), shares[0])
		rk, err := shares[0].NewReceiver()
		check(err)
		card, err := rk.Receiver()
		check(err)
		pr, err := ProposeRefresh(d.key, []int{1, 2}, card)
		check(err)
		var cs []*Contribution
		for _, s := range shares[:2] {
			c, err := s.Contribute(pr)
			check(err)
			cs = append(cs, c)
			objects = append(objects, c)
		}
		var acks []*Ack
		for i, s := range shares {
			key := rk
			if i > 0 {
				key = nil
			}
			ack, err := s.Receive(key, pr, cs, nil)
			check(err)
			acks = append(acks, ack)
		}
		cert, err := Commit(d.key, pr, cs, acks, nil)
		check(err)
		pl, err := pr.plan(d.key)
		check(err)
		_, refused, err := ceremonyRefusal(pl, pr, cs, shares)
		check(err)
		objects = append(objects, rk, card, pr, acks[0], cert, refused, shares[0], shares[0].pending[0])
	}
	return objects
}

// ceremonyRefusal makes a refusal by receiver 2 of a contribution that was spoilt
// after it was signed and signed again.
func ceremonyRefusal(pl *plan, pr *Proposal, cs []*Contribution, shares []*KeyShare) (*Contribution, *Refusal, error) {
	bad := *cs[0]
	bad.parts = append([]part(nil), bad.parts...)
	bad.parts[1].hash[0] ^= 1
	p := &play{shares: shares}
	p.resign(&bad)
	s := *shares[1]
	s.pending, s.refused = nil, nil
	_, err := s.Receive(nil, pr, []*Contribution{&bad, cs[1]}, nil)
	if ce, ok := err.(*CeremonyError); ok && ce.Refusal != nil {
		return &bad, ce.Refusal, nil
	}
	return nil, nil, err
}

type codec interface {
	encoding.BinaryMarshaler
	encoding.BinaryUnmarshaler
}

// fuzzCodec checks that decoding never panics, and that what is decoded encodes to
// the same bytes.
func fuzzCodec[T any, P interface {
	*T
	codec
}](f *testing.F, use func(P)) {
	for _, x := range corpus(f) {
		if _, ok := x.(P); ok {
			b, err := x.MarshalBinary()
			if err != nil {
				f.Fatal(err)
			}
			if err := P(new(T)).UnmarshalBinary(b); err != nil {
				f.Fatalf("%T: %v", x, err)
			}
			f.Add(b)
			f.Add(b[:len(b)/2])
		}
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		x := P(new(T))
		if x.UnmarshalBinary(b) != nil {
			return
		}
		c, err := x.MarshalBinary()
		if err != nil || !bytes.Equal(b, c) {
			t.Fatalf("%x encodes to %x: %v", b, c, err)
		}
		if use != nil {
			use(x)
		}
	})
}

func FuzzPublicKey(f *testing.F) {
	fuzzCodec(f, func(p *PublicKey) {
		p.Equal(p)
		p.Holders()
		p.RSA()
	})
}

// What Verify does with changed transcripts is TestChangedBytes's.
func FuzzDealing(f *testing.F) { fuzzCodec(f, func(d *Dealing) { d.Equal(d) }) }

func FuzzRequest(f *testing.F) {
	small(f)
	d, _, err := Deal(privateKey(f, "small-b", 65537), 2, 3, nil)
	if err != nil {
		f.Fatal(err)
	}
	fuzzCodec(f, func(r *Request) {
		r.keyID, r.epoch = d.key.id, d.key.epoch // a request for this key
		if x, err := r.representative(d.key); err == nil && (x.Sign() <= 0 || x.Cmp(d.key.n) >= 0) {
			f.Fatal("out of range")
		}
		r.Verify(d.key.RSA(), make([]byte, 96))
	})
}

func FuzzSignatureShare(f *testing.F) {
	small(f)
	d, shares, err := Deal(privateKey(f, "small-b", 65537), 2, 3, nil)
	if err != nil {
		f.Fatal(err)
	}
	r := request(f, d.key, "fuzz")
	own := sign(f, r, shares[0])
	fuzzCodec(f, func(s *SignatureShare) {
		s.keyID, s.epoch, s.requestID = d.key.id, d.key.epoch, own.requestID
		if d.key.VerifyShare(r, s) == nil {
			f.Fatal("somebody else's share verifies")
		}
	})
}

func FuzzKeyShare(f *testing.F) {
	fuzzCodec(f, func(s *KeyShare) {
		_ = s.String()
		s.Equal(s)
		s.Pending()
		s.Wipe()
	})
}

func FuzzReceiver(f *testing.F)     { fuzzCodec(f, func(r *Receiver) { r.Name() }) }
func FuzzReceiverKey(f *testing.F)  { fuzzCodec(f, func(k *ReceiverKey) { k.Receiver() }) }
func FuzzAck(f *testing.F)          { fuzzCodec(f, func(a *Ack) { a.Index() }) }
func FuzzContribution(f *testing.F) { fuzzCeremony[Contribution](f) }
func FuzzRefusal(f *testing.F)      { fuzzCeremony[Refusal](f) }
func FuzzProposal(f *testing.F)     { fuzzCeremony[Proposal](f) }
func FuzzCertificate(f *testing.F)  { fuzzCeremony[Certificate](f) }

// fuzzCeremony puts what was decoded to use in a ceremony of another key: it is
// refused, and doesn't panic.
func fuzzCeremony[T any, P interface {
	*T
	codec
}](f *testing.F) {
	small(f)
	d, shares, err := Import(privateKey(f, "small-b", 65537), 2, 3, nil)
	if err != nil {
		f.Fatal(err)
	}
	pr, err := ProposeRefresh(d.key, []int{1, 2})
	if err != nil {
		f.Fatal(err)
	}
	c1, err := shares[0].Contribute(pr)
	if err != nil {
		f.Fatal(err)
	}
	id := pr.ID()
	fuzzCodec(f, func(x P) {
		switch x := any(x).(type) {
		case *Contribution:
			x.proposal = id
			if x.index == 1 || x.index == 2 { // its contributor signs it after all
				p := &play{shares: shares}
				p.resign(x)
			}
			if _, err := pr.Successor(d.key, []*Contribution{c1, x}); err == nil && x.index != 2 {
				f.Fatal("a contribution of nobody is taken")
			}
		case *Refusal:
			x.Judge(d.key, pr, c1)
		case *Proposal:
			x.parent, x.epoch = d.key.id, d.key.epoch
			if x.plan(d.key); len(x.receivers) < 6 {
				shares[0].Contribute(x)
			}
		case *Certificate:
			if _, err := x.Verify(d.key, nil); err == nil {
				f.Fatal("a foreign certificate holds")
			}
		}
	})
}

// FuzzCombine changes the shares of a quorum: with K good ones among them there is
// a right signature, and without them there is none.
func FuzzCombine(f *testing.F) {
	small(f)
	d, shares, err := Deal(privateKey(f, "small-a", 65537), 2, 4, nil)
	if err != nil {
		f.Fatal(err)
	}
	p := d.key
	r := request(f, p, "fuzz")
	good := signAll(f, r, shares)
	var encoded [][]byte
	for _, s := range good {
		encoded = append(encoded, s.encode())
	}
	f.Add([]byte{0, 0, 0}, uint8(0b0011))
	f.Add([]byte{3, 74, 1, 3, 75, 2}, uint8(0b1100))
	f.Add([]byte{1, 80, 255, 2, 255, 7, 0, 200, 9}, uint8(0b1111))
	x, err := r.representative(p)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, changes []byte, with uint8) {
		// Four shares are changed by (which, offset, xor); good ones of with come behind.
		var bad [4][]byte
		for i := range bad {
			bad[i] = bytes.Clone(encoded[i])
		}
		for ; len(changes) >= 3; changes = changes[3:] {
			b := bad[changes[0]&3]
			b[(int(changes[0])>>2+int(changes[1])*2)%len(b)] ^= changes[2]
		}
		var all []*SignatureShare
		for _, b := range bad {
			s := new(SignatureShare)
			if s.UnmarshalBinary(b) == nil {
				all = append(all, s)
			}
		}
		holders := 0
		for i := range good {
			if with>>i&1 == 1 {
				all = append(all, good[i])
				holders++
			}
		}
		sig, named, err := p.Combine(r, all...)
		if err == nil {
			y := new(big.Int).SetBytes(sig)
			if len(sig) != p.size() || y.Exp(y, big.NewInt(int64(p.e)), p.n).Cmp(x) != 0 {
				t.Fatalf("a wrong signature: %x", sig)
			}
		} else if holders >= p.k || sig != nil {
			t.Fatalf("with %d good shares: %v, named %v", holders, err, named)
		}
		if len(named) > len(all) {
			t.Fatalf("%d named of %d", len(named), len(all))
		}
	})
}

// FuzzEval compares the polynomials over the integers with math/big.
func FuzzEval(f *testing.F) {
	f.Add([]byte{1, 2, 3}, []byte{4, 5}, []byte{6}, uint8(255))
	f.Add(bytes.Repeat([]byte{255}, 40), bytes.Repeat([]byte{255}, 40), bytes.Repeat([]byte{255}, 40), uint8(255))
	f.Fuzz(func(t *testing.T, a, b, c []byte, x uint8) {
		want := new(big.Int)
		var coeffs []modexp.Nat
		for _, k := range [][]byte{c, b, a} {
			k = k[:min(len(k), 100)]
			want.Mul(want, big.NewInt(int64(x))).Add(want, new(big.Int).SetBytes(k))
			coeffs = append([]modexp.Nat{natOf(new(big.Int).SetBytes(k), 8*len(k)+64)}, coeffs...)
		}
		if got := natBig(evalNat(coeffs, int(x), max(want.BitLen(), 64))); got.Cmp(want) != 0 {
			t.Errorf("%v, want %v", got, want)
		}
	})
}
