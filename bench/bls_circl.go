// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"errors"

	"github.com/cloudflare/circl/ecc/bls12381"
	circl "github.com/cloudflare/circl/sign/bls"

	"github.com/undersign/undersign/bls"
)

var errCirclRefused = errors.New("circl refuses what is good")

// circlBLS returns circl's ways: of its scheme Basic, or put together from its points
// and pairings where it has no such operation.
func circlBLS(pool *blsPool) (*blsPeer, error) {
	p := &blsPeer{name: "circl"}
	circlSign(p, pool)
	circlVerify(p, pool)
	circlPoints(p, pool)
	return p, circlSums(p, pool)
}

func circlSign(p *blsPeer, pool *blsPool) {
	p.add(blsSign, "", circlSigner[circl.G1](pool))
	p.add(blsSignMin, "", circlSigner[circl.G2](pool))
}

func circlSigner[K circl.KeyGroup](pool *blsPool) func(in *blsInput) (blsRun, error) {
	return func(in *blsInput) (blsRun, error) {
		sks, err := circlSecrets[K](pool, in)
		var got [][]byte
		return blsRun{func() error {
			for i, sk := range sks {
				got = append(got, circl.Sign(sk, in.msgs[i]))
			}
			return nil
		}, same(&got, &in.sigs)}, err
	}
}

func circlSecrets[K circl.KeyGroup](pool *blsPool, in *blsInput) ([]*circl.PrivateKey[K], error) {
	sks := make([]*circl.PrivateKey[K], len(in.at))
	for i, at := range in.at {
		sks[i] = new(circl.PrivateKey[K])
		if err := sks[i].UnmarshalBinary(pool.secrets[at].Bytes()); err != nil {
			return nil, err
		}
	}
	return sks, nil
}

func circlKeys[K circl.KeyGroup](pool *blsPool, in *blsInput) ([]*circl.PublicKey[K], error) {
	sks, err := circlSecrets[K](pool, in)
	if err != nil {
		return nil, err
	}
	keys := make([]*circl.PublicKey[K], len(sks))
	for i, sk := range sks {
		keys[i] = sk.PublicKey()
	}
	return keys, nil
}

func circlVerify(p *blsPeer, pool *blsPool) {
	p.add(blsVerifyKeyParsed, "checks the key", circlVerifier[circl.G1](pool))
	p.add(blsVerifyMin, "checks the key", circlVerifier[circl.G2](pool))
	p.add(blsAggregate, "checks the keys", func(in *blsInput) (blsRun, error) {
		keys, err := circlKeys[circl.G1](pool, in)
		return blsRun{do: func() error {
			if !circl.VerifyAggregate(keys, in.msgs, in.sigs[0]) {
				return errCirclRefused
			}
			return nil
		}}, err
	})
	p.ways[blsAggregateOneKey] = p.ways[blsAggregate]
}

func circlVerifier[K circl.KeyGroup](pool *blsPool) func(in *blsInput) (blsRun, error) {
	return func(in *blsInput) (blsRun, error) {
		keys, err := circlKeys[K](pool, in)
		return blsRun{do: func() error {
			for i, k := range keys {
				if !circl.Verify(k, in.msgs[i], in.sigs[i]) {
					return errCirclRefused
				}
			}
			return nil
		}}, err
	}
}

func circlPoints(p *blsPeer, pool *blsPool) {
	p.add(blsHashG2, "", func(in *blsInput) (blsRun, error) {
		return blsRun{do: func() error {
			for _, m := range in.msgs {
				new(bls12381.G2).Hash(m, []byte(bls.Basic.Ciphersuite()))
			}
			return nil
		}}, nil
	})
	p.add(blsHashG1, "", func(in *blsInput) (blsRun, error) {
		return blsRun{do: func() error {
			for _, m := range in.msgs {
				new(bls12381.G1).Hash(m, []byte(bls.MinSigBasic.Ciphersuite()))
			}
			return nil
		}}, nil
	})
	p.add(blsDecodeKey, "", func(in *blsInput) (blsRun, error) {
		encoded, err := pool.compressed(in)
		return blsRun{do: func() error {
			for _, b := range encoded {
				if err := new(bls12381.G1).SetBytes(b); err != nil {
					return err
				}
			}
			return nil
		}}, err
	})
	p.add(blsDecodeSig, "", func(in *blsInput) (blsRun, error) {
		return blsRun{do: func() error {
			for _, b := range in.sigs {
				if err := new(bls12381.G2).SetBytes(b); err != nil {
					return err
				}
			}
			return nil
		}}, nil
	})
}

// circlSums adds points one by one. Its pool is added up as well, because decoding
// so many keys would take long.
func circlSums(p *blsPeer, pool *blsPool) error {
	points := make([]bls12381.G1, len(pool.raw))
	var k bls12381.Scalar
	k.SetBytes(pool.first.Bytes())
	points[0].ScalarMult(&k, bls12381.G1Generator())
	for i := range points[1:] {
		points[i+1].Add(&points[i], bls12381.G1Generator())
	}
	if last := len(points) - 1; !bytes.Equal(points[last].Bytes(), pool.raw[last]) {
		return errors.New("circl's keys differ")
	}
	sum := func(in *blsInput) *bls12381.G1 {
		s := new(bls12381.G1)
		s.SetIdentity()
		for _, at := range in.at {
			s.Add(s, &points[at])
		}
		return s
	}
	p.add(blsSum, "one by one", func(in *blsInput) (blsRun, error) {
		var got []byte
		return blsRun{func() error {
			got = sum(in).BytesCompressed()
			return nil
		}, func() error {
			if !bytes.Equal(got, in.want) {
				return errors.New("a wrong sum")
			}
			return nil
		}}, nil
	})
	p.add(blsFast, "from its parts", func(in *blsInput) (blsRun, error) {
		return blsRun{do: func() error {
			var sig, h bls12381.G2
			if err := sig.SetBytes(in.sigs[0]); err != nil {
				return err
			}
			h.Hash(in.msgs[0], []byte(bls.ProofOfPossession.Ciphersuite()))
			e := bls12381.ProdPairFrac([]*bls12381.G1{sum(in), bls12381.G1Generator()}, []*bls12381.G2{&h, &sig}, []int{1, -1})
			if !e.IsIdentity() {
				return errCirclRefused
			}
			return nil
		}}, nil
	})
	return nil
}
