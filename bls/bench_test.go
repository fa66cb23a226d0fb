// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package bls

import (
	"encoding/binary"
	"fmt"
	"testing"

	"github.com/undersign/undersign/internal/bls12381"
)

// progression returns n secret keys a, a+1, ... without deriving each, with their public
// keys: for large lists.
func progression(n int) ([]*SecretKey, []*PublicKey) {
	sks, keys := make([]*SecretKey, n), make([]*PublicKey, n)
	one := new(bls12381.Scalar).SetOne()
	k := new(bls12381.Scalar).SetHash([]byte("progression"), []byte("test"))
	p := new(bls12381.G1).ScalarBaseMult(k)
	points := make([]*bls12381.G1, n)
	for i := range n {
		sks[i] = newSecretKey()
		sks[i].k.Set(k)
		points[i] = new(bls12381.G1).Set(p)
		keys[i] = &PublicKey{point{one: points[i]}}
		k.Add(k, one)
		p.Add(p, bls12381.G1Generator())
	}
	bls12381.NormalizeG1(points...)
	return sks, keys
}

func BenchmarkSign(b *testing.B) {
	sk := numbered(b, 1)[0]
	sk.PublicKey()
	for _, s := range []Scheme{Basic, Augmented, MinSigBasic} {
		b.Run(s.String(), func(b *testing.B) {
			for b.Loop() {
				s.Sign(sk, []byte("message"))
			}
		})
	}
}

func BenchmarkVerify(b *testing.B) {
	sk := numbered(b, 1)[0]
	for _, s := range []Scheme{Basic, MinSigBasic} {
		sig := must[*Signature](b)(s.Sign(sk, []byte("message")))
		b.Run(s.String(), func(b *testing.B) {
			for b.Loop() {
				if s.Verify(s.public(sk), []byte("message"), sig) != nil {
					b.Fatal()
				}
			}
		})
	}
}

// BenchmarkAggregateVerify has n different messages by as many keys, and by one.
func BenchmarkAggregateVerify(b *testing.B) {
	for _, n := range []int{37, 100, 890} {
		for _, signers := range []int{n, 1} {
			b.Run(fmt.Sprintf("n=%d/keys=%d", n, signers), func(b *testing.B) {
				sks, keys := progression(signers)
				msgs := messages(n)
				var list []*PublicKey
				var sigs []*Signature
				for i := range n {
					list = append(list, keys[i%signers])
					sigs = append(sigs, must[*Signature](b)(Augmented.Sign(sks[i%signers], msgs[i])))
				}
				sum := must[*Signature](b)(Aggregate(sigs...))
				for b.Loop() {
					if Augmented.AggregateVerify(list, msgs, sum) != nil {
						b.Fatal()
					}
				}
			})
		}
	}
}

// BenchmarkChia verifies the largest real block and spend bundle.
func BenchmarkChia(b *testing.B) {
	for _, name := range []string{"mainnet-spend-bundles.json", "testnet10-blocks.json"} {
		var large aggregate
		for _, a := range chia(b, name) {
			if len(a.keys) > len(large.keys) {
				large = a
			}
		}
		b.Run(fmt.Sprintf("%s/n=%d", name[:9], len(large.keys)), func(b *testing.B) {
			for b.Loop() {
				if Augmented.AggregateVerify(large.keys, large.msgs, large.sig) != nil {
					b.Fatal()
				}
			}
		})
	}
}

// BenchmarkFastAggregateVerify has n keys and one message, with the keys in a list.
func BenchmarkFastAggregateVerify(b *testing.B) {
	const s = ProofOfPossession
	msg := []byte("message")
	for _, n := range []int{37, 890, 4096, 65536} {
		b.Run(fmt.Sprintf("n=%d", n), func(b *testing.B) {
			sks, keys := progression(n)
			var l Keys
			all := make([]int, 0, n)
			total := newSecretKey()
			for i, sk := range sks {
				total.k.Add(&total.k, &sk.k)
				if i%4 != 0 { // half would be the worst case
					all = append(all, i)
				} else {
					total.k.Sub(&total.k, &sk.k)
				}
			}
			if err := l.Add(provenOf(keys)...); err != nil {
				b.Fatal(err)
			}
			sig := must[*Signature](b)(s.Sign(total, msg))
			for b.Loop() {
				sum, err := l.Sum(all)
				if err != nil || s.Verify(sum.PublicKey(), msg, sig) != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkKeysSum(b *testing.B) {
	for _, n := range []int{4096, 65536} {
		b.Run(fmt.Sprintf("n=%d", n), func(b *testing.B) {
			_, keys := progression(2 * n)
			var l Keys
			if err := l.Add(provenOf(keys)...); err != nil {
				b.Fatal(err)
			}
			half := make([]int, n)
			for i := range half {
				half[i] = 2 * i
			}
			for b.Loop() {
				l.Sum(half)
			}
		})
	}
}

func BenchmarkBDNVerify(b *testing.B) {
	digest := [32]byte{1}
	for _, n := range []int{37, 890} {
		b.Run(fmt.Sprintf("n=%d", n), func(b *testing.B) {
			sks, keys := progression(n)
			_, as, _ := suites[Basic].bdn(keys, &digest)
			total := newSecretKey()
			for i, sk := range sks {
				total.k.MulAdd(&sk.k, &as[i], &total.k)
			}
			sig := must[*Signature](b)(Basic.Sign(total, digest[:]))
			for b.Loop() {
				if Basic.BDNVerify(keys, digest, sig) != nil {
					b.Fatal()
				}
			}
		})
	}
}

// BenchmarkBatch has n keys and messages, none bad and one.
func BenchmarkBatch(b *testing.B) {
	for _, n := range []int{10, 100, 1000} {
		sks, keys := progression(n)
		for _, bad := range []int{0, 1} {
			for _, same := range []string{"different", "same"} {
				b.Run(fmt.Sprintf("n=%d/messages=%s/bad=%d", n, same, bad), func(b *testing.B) {
					msgs := messages(n)
					batch := NewBatch(Basic)
					for i, sk := range sks {
						msg := msgs[i]
						if same == "same" {
							msg = msgs[0]
						}
						sig := must[*Signature](b)(Basic.Sign(sk, msg))
						if i < bad {
							sig = must[*Signature](b)(Basic.Sign(sk, nil))
						}
						batch.Add(keys[i], msg, sig)
					}
					for b.Loop() {
						batch.eq.hashes = nil
						if (batch.Verify() == nil) != (bad == 0) {
							b.Fatal()
						}
					}
					b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*n), "µs/item")
				})
			}
		}
	}
}

func BenchmarkPop(b *testing.B) {
	const s, n = ProofOfPossession, 100
	sks, keys := progression(n)
	var proofs []*Signature
	for _, sk := range sks {
		proofs = append(proofs, must[*Signature](b)(s.PopProve(sk)))
	}
	b.Run("single", func(b *testing.B) {
		for b.Loop() {
			s.PopVerify(keys[0], proofs[0])
		}
	})
	b.Run("batch", func(b *testing.B) {
		for b.Loop() {
			if _, err := s.PopVerifyBatch(keys, proofs); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*n), "µs/item")
	})
}

func BenchmarkDerive(b *testing.B) {
	sk := numbered(b, 1)[0]
	seed := binary.BigEndian.AppendUint64(make([]byte, 24), 1)
	b.Run("Master", func(b *testing.B) {
		for b.Loop() {
			EIP2333.Master(seed)
		}
	})
	b.Run("Child", func(b *testing.B) {
		for b.Loop() {
			EIP2333.Child(sk, 1)
		}
	})
}

func BenchmarkParse(b *testing.B) {
	sk := numbered(b, 1)[0]
	key, sig := sk.PublicKey().Bytes(), must[*Signature](b)(Basic.Sign(sk, nil))
	b.Run("PublicKey", func(b *testing.B) {
		for b.Loop() {
			ParsePublicKey(key)
		}
	})
	compressed, uncompressed := sig.Bytes(), sig.UncompressedBytes()
	b.Run("Signature", func(b *testing.B) {
		for b.Loop() {
			ParseSignature(compressed)
		}
	})
	b.Run("Unchecked", func(b *testing.B) {
		for b.Loop() {
			ParseUncheckedSignature(uncompressed)
		}
	})
}
