// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

//go:build cgo

package main

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"slices"

	"github.com/supranational/blst/bindings/go"

	"github.com/undersign/undersign/bls"
)

// The domain separation tags that all libraries use here.
var (
	dstBasic  = []byte(bls.Basic.Ciphersuite())
	dstMinSig = []byte(bls.MinSigBasic.Ciphersuite())
	dstProven = []byte(bls.ProofOfPossession.Ciphersuite())
	dstProof  = bytes.Replace([]byte(bls.ProofOfPossession.Ciphersuite()), []byte("_SIG_"), []byte("_POP_"), 1)
)

var errBLST = errors.New("blst refuses an encoding")

// blstBLS returns blst's ways.
func blstBLS(pool *blsPool) (*blsPeer, error) {
	blst.SetMaxProcs(1)
	p := &blsPeer{name: "blst"}
	keys := make([]blst.P1Affine, len(pool.raw))
	for i, raw := range pool.raw {
		if keys[i].Deserialize(raw) == nil {
			return nil, errBLST
		}
	}
	blstSign(p, pool)
	blstVerify(p, pool, keys)
	blstPoints(p, pool)
	blstSums(p, keys)
	return p, nil
}

func blstSecrets(pool *blsPool, in *blsInput) (sks []*blst.SecretKey, err error) {
	for _, i := range in.at {
		sk := new(blst.SecretKey).Deserialize(pool.secrets[i].Bytes())
		if sk == nil {
			return nil, errBLST
		}
		sks = append(sks, sk)
	}
	return sks, nil
}

func blstSign(p *blsPeer, pool *blsPool) {
	p.add(blsSign, "", func(in *blsInput) (blsRun, error) {
		sks, err := blstSecrets(pool, in)
		var got [][]byte
		return blsRun{func() error {
			for i, sk := range sks {
				got = append(got, new(blst.P2Affine).Sign(sk, in.msgs[i], dstBasic).Compress())
			}
			return nil
		}, same(&got, &in.sigs)}, err
	})
	p.add(blsSignMin, "", func(in *blsInput) (blsRun, error) {
		sks, err := blstSecrets(pool, in)
		var got [][]byte
		return blsRun{func() error {
			for i, sk := range sks {
				got = append(got, new(blst.P1Affine).Sign(sk, in.msgs[i], dstMinSig).Compress())
			}
			return nil
		}, same(&got, &in.sigs)}, err
	})
}

func blstVerify(p *blsPeer, pool *blsPool, keys []blst.P1Affine) {
	// one verifies signatures one by one, each decoded and checked in the measured time.
	one := func(dst []byte) func(in *blsInput) (blsRun, error) {
		return func(in *blsInput) (blsRun, error) {
			return blsRun{do: func() error {
				for i, k := range in.at {
					sig := new(blst.P2Affine).Uncompress(in.sigs[i])
					if sig == nil || !sig.Verify(true, &keys[k], false, in.msgs[i], dst) {
						return errBLSRefused
					}
				}
				return nil
			}}, nil
		}
	}
	many := func(dst []byte) func(in *blsInput) (blsRun, error) {
		return func(in *blsInput) (blsRun, error) {
			pks := blstKeysAt(keys, in)
			return blsRun{do: func() error {
				sigs, err := blstSigs(in)
				if err != nil {
					return err
				}
				weight := func(s *blst.Scalar) {
					var b [32]byte
					rand.Read(b[:])
					s.FromBEndian(b[:])
				}
				if !new(blst.P2Affine).MultipleAggregateVerify(sigs, true, pks, false, in.msgs, dst, weight, 128) {
					return errBLSRefused
				}
				return nil
			}}, nil
		}
	}
	p.add(blsVerifyKeyParsed, "", one(dstBasic))
	p.add(blsPopOne, "", one(dstProof))
	p.add(blsBatch, "", many(dstBasic))
	p.add(blsPopMany, "", many(dstProof))
	p.add(blsVerifyParsed, "", func(in *blsInput) (blsRun, error) {
		sigs, err := blstSigs(in)
		return blsRun{do: func() error {
			for i, k := range in.at {
				if !sigs[i].Verify(false, &keys[k], false, in.msgs[i], dstBasic) {
					return errBLSRefused
				}
			}
			return nil
		}}, err
	})
	p.add(blsVerifyMin, "", func(in *blsInput) (blsRun, error) {
		sks, err := blstSecrets(pool, in)
		var pks []*blst.P2Affine
		for _, sk := range sks {
			pks = append(pks, new(blst.P2Affine).From(sk))
		}
		return blsRun{do: func() error {
			for i, k := range pks {
				sig := new(blst.P1Affine).Uncompress(in.sigs[i])
				if sig == nil || !sig.Verify(true, k, false, in.msgs[i], dstMinSig) {
					return errBLSRefused
				}
			}
			return nil
		}}, err
	})
	p.add(blsAggregate, "", func(in *blsInput) (blsRun, error) {
		pks := blstKeysAt(keys, in)
		return blsRun{do: func() error {
			sig := new(blst.P2Affine).Uncompress(in.sigs[0])
			if sig == nil || !sig.AggregateVerify(true, pks, false, in.msgs, dstBasic) {
				return errBLSRefused
			}
			return nil
		}}, nil
	})
	p.ways[blsAggregateOneKey] = p.ways[blsAggregate]
}

func blstKeysAt(keys []blst.P1Affine, in *blsInput) (out []*blst.P1Affine) {
	for _, i := range in.at {
		out = append(out, &keys[i])
	}
	return out
}

func blstSigs(in *blsInput) (sigs []*blst.P2Affine, err error) {
	for _, b := range in.sigs {
		sig := new(blst.P2Affine).Uncompress(b)
		if sig == nil {
			return nil, errBLST
		}
		sigs = append(sigs, sig)
	}
	return sigs, nil
}

func blstPoints(p *blsPeer, pool *blsPool) {
	p.add(blsHashG2, "", func(in *blsInput) (blsRun, error) {
		return blsRun{do: func() error {
			for _, m := range in.msgs {
				blst.HashToG2(m, dstBasic)
			}
			return nil
		}}, nil
	})
	p.add(blsHashG1, "", func(in *blsInput) (blsRun, error) {
		return blsRun{do: func() error {
			for _, m := range in.msgs {
				blst.HashToG1(m, dstMinSig)
			}
			return nil
		}}, nil
	})
	p.add(blsDecodeKey, "", func(in *blsInput) (blsRun, error) {
		encoded, err := pool.compressed(in)
		return blsRun{do: func() error {
			for _, b := range encoded {
				if k := new(blst.P1Affine).Uncompress(b); k == nil || !k.KeyValidate() {
					return errBLST
				}
			}
			return nil
		}}, err
	})
	p.add(blsDecodeSig, "", func(in *blsInput) (blsRun, error) {
		return blsRun{do: func() error {
			for _, b := range in.sigs {
				if s := new(blst.P2Affine).Uncompress(b); s == nil || !s.SigValidate(false) {
					return errBLST
				}
			}
			return nil
		}}, nil
	})
	p.add(blsReceived, "", func(in *blsInput) (blsRun, error) {
		var sum *blst.P2Affine
		return blsRun{func() error {
			sigs := make(blst.P2Affines, len(in.sigs))
			for i, b := range in.sigs {
				if sigs[i].Deserialize(b) == nil {
					return errBLST
				}
			}
			if sum = sigs.Add().ToAffine(); !sum.InG2() {
				return errBLST
			}
			return nil
		}, func() error {
			if !bytes.Equal(sum.Compress(), in.want) {
				return errors.New("a wrong sum")
			}
			return nil
		}}, nil
	})
}

func blstSums(p *blsPeer, keys []blst.P1Affine) {
	pick := func(in *blsInput) blst.P1Affines {
		picked := make(blst.P1Affines, len(in.at))
		for i, at := range in.at {
			picked[i] = keys[at]
		}
		return picked
	}
	p.add(blsSum, "", func(in *blsInput) (blsRun, error) {
		var sum *blst.P1Affine
		return blsRun{func() error {
			sum = pick(in).Add().ToAffine()
			return nil
		}, func() error {
			if !bytes.Equal(sum.Compress(), in.want) {
				return errors.New("a wrong sum")
			}
			return nil
		}}, nil
	})
	p.add(blsFast, "of keys", func(in *blsInput) (blsRun, error) {
		pks := blstKeysAt(keys, in)
		return blsRun{do: func() error {
			sig := new(blst.P2Affine).Uncompress(in.sigs[0])
			if sig == nil || !sig.FastAggregateVerify(true, pks, in.msgs[0], dstProven) {
				return errBLSRefused
			}
			return nil
		}}, nil
	})
	p.add(blsFast, "of a list, with its vectorised sum", func(in *blsInput) (blsRun, error) {
		return blsRun{do: func() error {
			sig := new(blst.P2Affine).Uncompress(in.sigs[0])
			if sig == nil || !sig.Verify(true, pick(in).Add().ToAffine(), false, in.msgs[0], dstProven) {
				return errBLSRefused
			}
			return nil
		}}, nil
	})
	p.add(blsBDN, "from its parts", func(in *blsInput) (blsRun, error) {
		return blsRun{do: func() error {
			sig := new(blst.P2Affine).Uncompress(in.sigs[0])
			picked := pick(in)
			encoded := make([][]byte, len(picked))
			for i := range picked {
				encoded[i] = picked[i].Compress()
			}
			sum := picked.Mult(bdnWeights(encoded, in.msgs[0]), 128).ToAffine()
			if sig == nil || !sig.Verify(true, sum, false, in.msgs[0], dstBasic) {
				return errBLSRefused
			}
			return nil
		}}, nil
	})
}

// bdnWeights returns the coefficients of a weighted aggregate as package bls defines
// them, 16 octets each, the least significant one first.
func bdnWeights(keys [][]byte, digest []byte) []byte {
	h := sha256.New()
	tag := [16]byte{}
	copy(tag[:], "dist/bdn/v1")
	h.Write(tag[:])
	for _, k := range slices.SortedFunc(slices.Values(keys), bytes.Compare) {
		h.Write(k)
	}
	h.Write(digest)
	t := h.Sum(nil)
	var out []byte
	for _, k := range keys {
		a := sha256.Sum256(append(t[:len(t):len(t)], k...))
		a[15] |= 1
		slices.Reverse(a[:16])
		out = append(out, a[:16]...)
	}
	return out
}
