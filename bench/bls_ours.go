// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"errors"

	"github.com/undersign/undersign/bls"
	"github.com/undersign/undersign/internal/bls12381"
)

// oursBLS returns undersign's ways.
func oursBLS(pool *blsPool) (*blsPeer, error) {
	p := &blsPeer{name: "undersign"}
	keys := make([]*bls.PublicKey, len(pool.raw))
	proven := make([]*bls.ProvenKey, len(pool.raw))
	var list bls.Keys
	for i, raw := range pool.raw {
		var err error
		if keys[i], err = bls.ParseUncompressedPublicKey(raw); err != nil {
			return nil, err
		}
		proven[i] = bls.AssumeProvenUnsafe(keys[i])
	}
	if err := list.Add(proven...); err != nil {
		return nil, err
	}
	keysAt := func(in *blsInput) (out []*bls.PublicKey) {
		for _, i := range in.at {
			out = append(out, keys[i])
		}
		return out
	}
	oursSign(p, pool)
	oursVerify(p, pool, keysAt)
	oursPoints(p, pool)

	p.add(blsAggregate, "", func(in *blsInput) (blsRun, error) {
		keys := keysAt(in)
		return blsRun{do: func() error {
			sig, err := bls.ParseSignature(in.sigs[0])
			if err != nil {
				return err
			}
			return bls.Basic.AggregateVerify(keys, in.msgs, sig)
		}}, nil
	})
	p.ways[blsAggregateOneKey] = p.ways[blsAggregate]
	p.add(blsFast, "of a list", func(in *blsInput) (blsRun, error) {
		return blsRun{do: func() error {
			sig, err := bls.ParseSignature(in.sigs[0])
			if err != nil {
				return err
			}
			sum, err := list.Sum(in.at)
			if err != nil {
				return err
			}
			return bls.ProofOfPossession.Verify(sum.PublicKey(), in.msgs[0], sig)
		}}, nil
	})
	p.add(blsFast, "of keys", func(in *blsInput) (blsRun, error) {
		var keys []*bls.ProvenKey
		for _, i := range in.at {
			keys = append(keys, proven[i])
		}
		return blsRun{do: func() error {
			sig, err := bls.ParseSignature(in.sigs[0])
			if err != nil {
				return err
			}
			return bls.ProofOfPossession.FastAggregateVerify(keys, in.msgs[0], sig)
		}}, nil
	})
	p.add(blsSum, "", func(in *blsInput) (blsRun, error) {
		var sum *bls.ProvenKey
		return blsRun{func() (err error) {
			sum, err = list.Sum(in.at)
			return err
		}, func() error {
			if !bytes.Equal(sum.Bytes(), in.want) {
				return errors.New("a wrong sum")
			}
			return nil
		}}, nil
	})
	p.add(blsBDN, "", func(in *blsInput) (blsRun, error) {
		keys := keysAt(in)
		return blsRun{do: func() error {
			sig, err := bls.ParseSignature(in.sigs[0])
			if err != nil {
				return err
			}
			return bls.Basic.BDNVerify(keys, [32]byte(in.msgs[0]), sig)
		}}, nil
	})
	return p, nil
}

func oursSign(p *blsPeer, pool *blsPool) {
	sign := func(s bls.Scheme) func(in *blsInput) (blsRun, error) {
		return func(in *blsInput) (blsRun, error) {
			var sks []*bls.SecretKey
			for _, i := range in.at {
				sk, err := pool.secret(i)
				if err != nil {
					return blsRun{}, err
				}
				sks = append(sks, sk)
			}
			var got [][]byte
			return blsRun{func() error {
				for i, sk := range sks {
					sig, err := s.Sign(sk, in.msgs[i])
					if err != nil {
						return err
					}
					got = append(got, sig.Bytes())
				}
				return nil
			}, same(&got, &in.sigs)}, nil
		}
	}
	p.add(blsSign, "", sign(bls.Basic))
	p.add(blsSignMin, "", sign(bls.MinSigBasic))
}

func oursVerify(p *blsPeer, pool *blsPool, keysAt func(in *blsInput) []*bls.PublicKey) {
	p.add(blsVerifyKeyParsed, "", func(in *blsInput) (blsRun, error) {
		keys := keysAt(in)
		return blsRun{do: func() error {
			for i, k := range keys {
				sig, err := bls.ParseSignature(in.sigs[i])
				if err != nil {
					return err
				}
				if err := bls.Basic.Verify(k, in.msgs[i], sig); err != nil {
					return err
				}
			}
			return nil
		}}, nil
	})
	p.add(blsVerifyMin, "", func(in *blsInput) (blsRun, error) {
		var keys []*bls.PublicKey
		for _, i := range in.at {
			sk, err := pool.secret(i)
			if err != nil {
				return blsRun{}, err
			}
			keys = append(keys, sk.MinSigPublicKey())
		}
		return blsRun{do: func() error {
			for i, k := range keys {
				sig, err := bls.ParseMinSigSignature(in.sigs[i])
				if err != nil {
					return err
				}
				if err := bls.MinSigBasic.Verify(k, in.msgs[i], sig); err != nil {
					return err
				}
			}
			return nil
		}}, nil
	})
	p.add(blsVerifyParsed, "", func(in *blsInput) (blsRun, error) {
		keys := keysAt(in)
		sigs, err := oursSigs(in)
		return blsRun{do: func() error {
			for i, k := range keys {
				if err := bls.Basic.Verify(k, in.msgs[i], sigs[i]); err != nil {
					return err
				}
			}
			return nil
		}}, err
	})
	p.add(blsBatch, "", func(in *blsInput) (blsRun, error) {
		keys := keysAt(in)
		return blsRun{do: func() error {
			b := bls.NewBatch(bls.Basic)
			for i, k := range keys {
				sig, err := bls.ParseSignature(in.sigs[i])
				if err != nil {
					return err
				}
				b.Add(k, in.msgs[i], sig)
			}
			return b.Verify()
		}}, nil
	})
	p.add(blsPopOne, "", func(in *blsInput) (blsRun, error) {
		keys := keysAt(in)
		return blsRun{do: func() error {
			for i, k := range keys {
				proof, err := bls.ParseSignature(in.sigs[i])
				if err != nil {
					return err
				}
				if _, err := bls.ProofOfPossession.PopVerify(k, proof); err != nil {
					return err
				}
			}
			return nil
		}}, nil
	})
	p.add(blsPopMany, "", func(in *blsInput) (blsRun, error) {
		keys := keysAt(in)
		return blsRun{do: func() error {
			proofs, err := oursSigs(in)
			if err != nil {
				return err
			}
			_, err = bls.ProofOfPossession.PopVerifyBatch(keys, proofs)
			return err
		}}, nil
	})
}

func oursSigs(in *blsInput) (sigs []*bls.Signature, err error) {
	for _, b := range in.sigs {
		sig, err := bls.ParseSignature(b)
		if err != nil {
			return nil, err
		}
		sigs = append(sigs, sig)
	}
	return sigs, nil
}

func oursPoints(p *blsPeer, pool *blsPool) {
	p.add(blsHashG2, "", func(in *blsInput) (blsRun, error) {
		return blsRun{do: func() error {
			for _, m := range in.msgs {
				new(bls12381.G2).HashVarTime(m, []byte(bls.Basic.Ciphersuite()))
			}
			return nil
		}}, nil
	})
	p.add(blsHashG1, "", func(in *blsInput) (blsRun, error) {
		return blsRun{do: func() error {
			for _, m := range in.msgs {
				new(bls12381.G1).HashVarTime(m, []byte(bls.MinSigBasic.Ciphersuite()))
			}
			return nil
		}}, nil
	})
	p.add(blsDecodeKey, "", func(in *blsInput) (blsRun, error) {
		keys, err := pool.compressed(in)
		return blsRun{do: func() error {
			for _, b := range keys {
				if _, err := bls.ParsePublicKey(b); err != nil {
					return err
				}
			}
			return nil
		}}, err
	})
	p.add(blsDecodeSig, "", func(in *blsInput) (blsRun, error) {
		return blsRun{do: func() error {
			_, err := oursSigs(in)
			return err
		}}, nil
	})
	p.add(blsReceived, "", func(in *blsInput) (blsRun, error) {
		var sum *bls.Signature
		return blsRun{func() error {
			sigs := make([]*bls.UncheckedSignature, len(in.sigs))
			for i, b := range in.sigs {
				var err error
				if sigs[i], err = bls.ParseUncheckedSignature(b); err != nil {
					return err
				}
			}
			var err error
			sum, err = bls.AggregateUnchecked(sigs)
			return err
		}, func() error {
			if !bytes.Equal(sum.Bytes(), in.want) {
				return errors.New("a wrong sum")
			}
			return nil
		}}, nil
	})
}

// compressed returns the encodings of an input's keys.
func (p *blsPool) compressed(in *blsInput) (keys [][]byte, err error) {
	for _, i := range in.at {
		var q bls12381.G1
		if err := q.SetUncompressed(p.raw[i]); err != nil {
			return nil, err
		}
		keys = append(keys, q.Bytes())
	}
	return keys, nil
}
