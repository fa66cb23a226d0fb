// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"math/big"

	circl "github.com/cloudflare/circl/tss/rsa"
	"github.com/niclabs/tcrsa"

	"github.com/undersign/undersign/internal/modexp"
	"github.com/undersign/undersign/thresholdrsa"
)

// setup is one key dealt by all peers. tcrsa wants q one bit shorter, so that it
// has a modulus of its own, one bit shorter too.
type setup struct {
	o      *options
	nonce  [16]byte // so that no run repeats the inputs of another
	priv   *rsa.PrivateKey
	pub    *thresholdrsa.PublicKey
	shares []*thresholdrsa.KeyShare
	dealt  *thresholdrsa.Dealing

	circlShares []circl.KeyShare

	tcrsaArgs   *tcrsa.KeyMetaArgs // nil without OpenSSL, which finds its q
	tcrsaShares tcrsa.KeyShareList
	tcrsaMeta   *tcrsa.KeyMeta

	notes []string
}

func newSetup(ctx context.Context, o *options, priv *rsa.PrivateKey, openssl string) (*setup, error) {
	s := &setup{o: o, priv: priv}
	if _, err := rand.Read(s.nonce[:]); err != nil {
		return nil, err
	}
	var err error
	if s.dealt, s.shares, err = thresholdrsa.Deal(priv, o.k, o.l, nil); err != nil {
		return nil, err
	}
	s.pub = s.dealt.PublicKey()
	if s.circlShares, err = circl.Deal(rand.Reader, uint(o.l), uint(o.k), priv, true); err != nil {
		return nil, err
	}
	if openssl == "" {
		s.notes = append(s.notes, "No OpenSSL found: it, and tcrsa, whose shorter prime it finds, are left out.")
		return s, nil
	}
	q, _, err := opensslSafePrime(ctx, o.bits/2-1)
	if err != nil {
		return nil, err
	}
	s.tcrsaArgs = &tcrsa.KeyMetaArgs{P: priv.Primes[0], Q: q}
	if s.tcrsaShares, s.tcrsaMeta, err = s.dealTCRSA(); err != nil {
		return nil, err
	}
	s.notes = append(s.notes, "tcrsa's dealing and all that follows has its primes given: P undersign's, Q OpenSSL's.")
	if o.slow > 0 {
		s.notes = append(s.notes, fmt.Sprintf("circl and tcrsa search alike, a random prime q and then a test of 2q+1; with %d key(s) each, a difference is luck.", o.slow))
	}
	if start, err := opensslStart(ctx); err == nil && o.draws > 0 {
		s.notes = append(s.notes, formatStart(start))
	}
	return s, nil
}

func (s *setup) dealTCRSA() (tcrsa.KeyShareList, *tcrsa.KeyMeta, error) {
	return tcrsa.NewKey(s.o.bits, uint16(s.o.k), uint16(s.o.l), s.tcrsaArgs)
}

// digest returns the digest to sign in a draw of an operation.
func (s *setup) digest(op string, draw int) []byte {
	b := binary.BigEndian.AppendUint64(append(s.nonce[:], op...), uint64(draw))
	d := sha256.Sum256(b)
	return d[:]
}

func (s *setup) request(digest []byte) (*thresholdrsa.Request, error) {
	return thresholdrsa.NewRequest(s.pub, digest, crypto.SHA256)
}

func (s *setup) circlEncode(digest []byte) ([]byte, error) {
	return circl.PKCS1v15Padder{}.Pad(&s.priv.PublicKey, crypto.SHA256, digest)
}

func (s *setup) tcrsaEncode(digest []byte) ([]byte, error) {
	return tcrsa.PrepareDocumentHash(s.tcrsaMeta.PublicKey.Size(), crypto.SHA256, digest)
}

// quorum returns the k holders of a draw, as indices from 0; every draw begins with
// another.
func (s *setup) quorum(draw int) []int {
	set := make([]int, s.o.k)
	for i := range set {
		set[i] = (draw + i) % s.o.l
	}
	return set
}

// operation is a row of the comparison. The first task is what ratios refer to;
// one whose name begins with a "-" isn't compared.
type operation struct {
	title string
	tasks []task
}

// operations lists what is compared. Every task prepares its input outside the
// measured time, and checks what it got.
func (s *setup) operations(rounds int) []operation {
	ops := []operation{
		{"dealing, key given", s.dealTasks(max(2, rounds/4))},
		{"signing a share, with proof", s.signTasks(rounds)},
		{"signing a share, without proof", s.powerTasks(rounds)},
		{"verifying a share", s.verifyTasks(rounds)},
		{"combining, final check included", s.combineTasks(rounds)},
	}
	return ops
}

func (s *setup) dealTasks(rounds int) []task {
	tasks := []task{{"undersign, verifiable", rounds, func(int) (cost, error) {
		return timed(func() error {
			_, _, err := thresholdrsa.Deal(s.priv, s.o.k, s.o.l, nil)
			return err
		})
	}}}
	if s.tcrsaArgs != nil {
		tasks = append(tasks, task{"tcrsa, no check possible", rounds, func(int) (cost, error) {
			return timed(func() error {
				_, _, err := s.dealTCRSA()
				return err
			})
		}})
	}
	return append(tasks,
		task{"- circl, no verification keys", rounds, func(int) (cost, error) {
			return timed(func() error {
				_, err := circl.Deal(rand.Reader, uint(s.o.l), uint(s.o.k), s.priv, true)
				return err
			})
		}},
		task{"- a holder's check (undersign)", rounds, func(draw int) (cost, error) {
			return timed(func() error { return s.shares[draw%s.o.l].CheckDealing(s.dealt) })
		}})
}

func (s *setup) signTasks(rounds int) []task {
	sign := func(fresh bool) func(int) (cost, error) {
		return func(draw int) (cost, error) {
			r, err := s.request(s.digest(fmt.Sprint("sign", fresh), draw))
			if err != nil {
				return cost{}, err
			}
			share := s.shares[draw%s.o.l]
			if fresh {
				data, err := share.MarshalBinary()
				if err != nil {
					return cost{}, err
				}
				share = new(thresholdrsa.KeyShare)
				if err := share.UnmarshalBinary(data); err != nil {
					return cost{}, err
				}
			}
			var sig *thresholdrsa.SignatureShare
			c, err := timed(func() (err error) {
				sig, err = share.Sign(r)
				return err
			})
			if err != nil {
				return cost{}, err
			}
			return c, s.pub.VerifyShare(r, sig)
		}
	}
	tasks := []task{{"undersign, constant time", rounds, sign(false)}}
	if s.tcrsaArgs != nil {
		tasks = append(tasks, task{"tcrsa", rounds, func(draw int) (cost, error) {
			doc, err := s.tcrsaEncode(s.digest("tcrsa sign", draw))
			if err != nil {
				return cost{}, err
			}
			var sig *tcrsa.SigShare
			c, err := timed(func() (err error) {
				sig, err = s.tcrsaShares[draw%s.o.l].Sign(doc, crypto.SHA256, s.tcrsaMeta)
				return err
			})
			if err != nil {
				return cost{}, err
			}
			return c, sig.Verify(doc, s.tcrsaMeta)
		}})
	}
	return append(tasks, task{"- undersign, the first after loading", max(2, rounds/4), sign(true)})
}

// powerTasks compare x^(2 s_i) alone: circl signs that way, and undersign has no
// such operation, so its arithmetic does the same power.
func (s *setup) powerTasks(rounds int) []task {
	return []task{
		{"undersign's power, constant time", rounds, func(draw int) (cost, error) {
			mod, err := modexp.NewModulus(s.priv.N)
			if err != nil {
				return cost{}, err
			}
			x, err := rand.Int(rand.Reader, s.priv.N)
			if err != nil {
				return cost{}, err
			}
			e, err := rand.Int(rand.Reader, s.priv.N)
			if err != nil {
				return cost{}, err
			}
			e.Lsh(e, 1)
			base, err := mod.SetBig(x)
			if err != nil {
				return cost{}, err
			}
			secret := modexp.NewNat(s.o.bits + 1)
			if err := secret.SetBytes(e.Bytes()); err != nil {
				return cost{}, err
			}
			z := mod.NewElement()
			c, err := timed(func() error {
				mod.ExpBits(z, base, secret, s.o.bits+1)
				return nil
			})
			if err != nil {
				return cost{}, err
			}
			if mod.BigVarTime(z).Cmp(new(big.Int).Exp(x, e, s.priv.N)) != 0 {
				return cost{}, errors.New("wrong power")
			}
			return c, nil
		}},
		{"circl, blinded", rounds, s.circlSign(true)},
		{"circl, variable time", rounds, s.circlSign(false)},
	}
}

func (s *setup) circlSign(blind bool) func(int) (cost, error) {
	return func(draw int) (cost, error) {
		doc, err := s.circlEncode(s.digest(fmt.Sprint("circl sign", blind), draw))
		if err != nil {
			return cost{}, err
		}
		share := &s.circlShares[draw%s.o.l]
		return timed(func() error {
			if blind {
				_, err = share.Sign(rand.Reader, &s.priv.PublicKey, doc, false)
			} else {
				_, err = share.Sign(nil, &s.priv.PublicKey, doc, false)
			}
			return err
		})
	}
}

func (s *setup) verifyTasks(rounds int) []task {
	tasks := []task{{"undersign", rounds, func(draw int) (cost, error) {
		r, err := s.request(s.digest("verify", draw))
		if err != nil {
			return cost{}, err
		}
		sig, err := s.shares[draw%s.o.l].Sign(r)
		if err != nil {
			return cost{}, err
		}
		return timed(func() error { return s.pub.VerifyShare(r, sig) })
	}}}
	if s.tcrsaArgs != nil {
		tasks = append(tasks, task{"tcrsa", rounds, func(draw int) (cost, error) {
			doc, err := s.tcrsaEncode(s.digest("tcrsa verify", draw))
			if err != nil {
				return cost{}, err
			}
			sig, err := s.tcrsaShares[draw%s.o.l].Sign(doc, crypto.SHA256, s.tcrsaMeta)
			if err != nil {
				return cost{}, err
			}
			return timed(func() error { return sig.Verify(doc, s.tcrsaMeta) })
		}})
	}
	return tasks
}

func (s *setup) combineTasks(rounds int) []task {
	tasks := []task{{"undersign", rounds, func(draw int) (cost, error) {
		digest := s.digest("combine", draw)
		r, sigs, err := s.signQuorum(digest, s.quorum(draw))
		if err != nil {
			return cost{}, err
		}
		var out []byte
		c, err := timed(func() (err error) {
			out, _, err = s.pub.Combine(r, sigs...)
			return err
		})
		if err != nil {
			return cost{}, err
		}
		return c, rsa.VerifyPKCS1v15(&s.priv.PublicKey, crypto.SHA256, digest, out)
	}}}
	if s.tcrsaArgs != nil {
		tasks = append(tasks,
			task{"tcrsa, crypto/rsa checks", rounds, s.tcrsaCombine(true)},
			task{"tcrsa, unchecked", rounds, s.tcrsaCombine(false)})
	}
	return append(tasks, task{"circl", rounds, func(draw int) (cost, error) {
		digest := s.digest("circl combine", draw)
		doc, err := s.circlEncode(digest)
		if err != nil {
			return cost{}, err
		}
		var sigs []circl.SignShare
		for _, i := range s.quorum(draw) {
			sig, err := s.circlShares[i].Sign(nil, &s.priv.PublicKey, doc, false)
			if err != nil {
				return cost{}, err
			}
			sigs = append(sigs, sig)
		}
		var out []byte
		c, err := timed(func() (err error) {
			out, err = circl.CombineSignShares(&s.priv.PublicKey, uint(s.o.l), uint(s.o.k), sigs, doc)
			return err
		})
		if err != nil {
			return cost{}, err
		}
		return c, rsa.VerifyPKCS1v15(&s.priv.PublicKey, crypto.SHA256, digest, out)
	}})
}

// signQuorum makes a request and the shares of some holders.
func (s *setup) signQuorum(digest []byte, set []int) (*thresholdrsa.Request, []*thresholdrsa.SignatureShare, error) {
	r, err := s.request(digest)
	if err != nil {
		return nil, nil, err
	}
	var sigs []*thresholdrsa.SignatureShare
	for _, i := range set {
		sig, err := s.shares[i].Sign(r)
		if err != nil {
			return nil, nil, err
		}
		sigs = append(sigs, sig)
	}
	return r, sigs, nil
}

func (s *setup) tcrsaCombine(check bool) func(int) (cost, error) {
	return func(draw int) (cost, error) {
		digest := s.digest(fmt.Sprint("tcrsa combine", check), draw)
		doc, err := s.tcrsaEncode(digest)
		if err != nil {
			return cost{}, err
		}
		var sigs tcrsa.SigShareList
		for _, i := range s.quorum(draw) {
			sig, err := s.tcrsaShares[i].Sign(doc, crypto.SHA256, s.tcrsaMeta)
			if err != nil {
				return cost{}, err
			}
			sigs = append(sigs, sig)
		}
		verify := func(sig []byte) error {
			return rsa.VerifyPKCS1v15(s.tcrsaMeta.PublicKey, crypto.SHA256, digest, sig)
		}
		var out []byte
		c, err := timed(func() (err error) {
			if out, err = sigs.Join(doc, s.tcrsaMeta); err != nil || !check {
				return err
			}
			return verify(out)
		})
		if err != nil {
			return cost{}, err
		}
		return c, verify(out)
	}
}
