// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package distill

import "github.com/undersign/undersign/bls"

// A KeyedProposal is what the owner of a key is shown: the root, and where its leaf is.
type KeyedProposal struct {
	Prop     Prop
	Index    uint64
	Siblings [][32]byte
}

// A KeyedClient is what the owner of a key knows when it is shown proposals.
type KeyedClient struct {
	Net    NetworkID
	Params Params
	Head   uint64 // height of the newest block that it knows
}

// Check verifies that a proposal has the owner's leaf in its tree, which it computes from
// its own key, payload and expiry, and is for now. It returns the digest that the owner
// is asked to sign. An aggregator's signature of the Prop isn't looked at: nothing rests
// on it but evidence against the aggregator.
func (c *KeyedClient) Check(p *KeyedProposal, key *KeyBytes, payload []byte, notAfter uint64) (digest [32]byte, err error) {
	switch q := &p.Prop; {
	case q.Net != c.Net:
		return digest, reject(RuleNetwork)
	case q.Dirver != 0:
		return digest, reject(RuleKeyedVersion)
	case q.N == 0:
		return digest, reject(RuleEmpty)
	case q.N > c.Params.MaxLeaves:
		return digest, reject(RuleLeaves)
	case q.ValidUntil < c.Head:
		return digest, reject(RuleKeyedExpired)
	case q.ValidUntil > notAfter || notAfter-q.ValidUntil > c.Params.MaxAhead:
		return digest, reject(RuleNotAfter)
	}
	leaf := KeyedLeaf{notAfter, KeyedPayloadHash(key, payload)}
	if err := VerifyProof(p.Prop.Root, p.Prop.N, p.Index, leaf.Hash(), p.Siblings); err != nil {
		return digest, err
	}
	return p.Prop.Red().Digest(), nil
}

// Sign does [KeyedClient.Check] and signs the digest.
func (c *KeyedClient) Sign(sk *bls.SecretKey, p *KeyedProposal, payload []byte, notAfter uint64) (*bls.Signature, error) {
	pk := sk.PublicKey()
	if pk == nil {
		return nil, reject(RuleKeyedKey)
	}
	d, err := c.Check(p, (*KeyBytes)(pk.Bytes()), payload, notAfter)
	if err != nil {
		return nil, err
	}
	return bls.ProofOfPossession.Sign(sk, d[:])
}
