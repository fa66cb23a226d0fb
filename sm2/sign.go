// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package sm2

import (
	"crypto/rand"
	"errors"

	"github.com/emmansun/gmsm/sm2"
)

// maxTries bounds the tries of SignHinted. As many fail with probability 2⁻¹²⁸.
const maxTries = 128

// SignHinted signs a message, by the options' ID and in their encoding, so that the
// signature has [HintEven]. It is a plain SM2 signature that every verifier
// accepts. Who knows that the signer works like this needs no stored hints.
//
// It has gmsm sign until y(R) is even, which takes two tries on average. To change
// the sign of R in a signature there is, as n - k in place of k would, is cheaper
// and takes arithmetic with the key: the new s is -s - 2rd/(1+d). But then
// two signatures with the same r exist for a moment, and together they give
// away d. Here, no code but gmsm's sees a secret, every try has its own nonce,
// and what is thrown away, or how often, depends on nothing but nonces that
// aren't used. The result is distributed as if k had been drawn among those with an even y.
//
// Most of the time goes into finding y(R) from public values, and all in all it is about
// eight times that of gmsm's signature. With a cache in the options the key has a
// table before long, and it is about four times.
func SignHinted(priv *sm2.PrivateKey, msg []byte, opts *Options) ([]byte, error) {
	if opts == nil {
		opts = &Options{}
	}
	if priv == nil || priv.D == nil {
		return nil, errors.New("sm2: no private key")
	}
	xy, ok := keyBytes(&priv.PublicKey)
	if !ok {
		return nil, ErrKey
	}
	digest, err := Digest(&priv.PublicKey, opts.UID, msg)
	if err != nil {
		return nil, err
	}
	for range maxTries {
		sig, err := priv.Sign(rand.Reader, digest, nil)
		if err != nil {
			return nil, err
		}
		// This also catches a public key that isn't that of the private one, and
		// a computation that went wrong.
		hint, err := findHint(&priv.PublicKey, digest, sig, opts.Cache)
		if err != nil {
			return nil, errors.New("sm2: the signature that was made isn't valid by the public key")
		}
		if hint != HintEven {
			continue
		}
		z, _, _ := DER.parse(sig)
		return opts.Encoding.format(&z, &xy)
	}
	return nil, errors.New("sm2: no signature with an even y")
}
