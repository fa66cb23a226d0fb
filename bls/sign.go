// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package bls

// Sign returns the signature of msg, which is the same each time.
func (s Scheme) Sign(sk *SecretKey, msg []byte) (*Signature, error) {
	u, err := s.suite()
	if err != nil {
		return nil, err
	}
	return u.sign(sk, msg)
}

func (u *suite) sign(sk *SecretKey, msg []byte) (*Signature, error) {
	if sk.empty() {
		return nil, errNoKey
	}
	if u.kind == Augmented {
		msg = u.text(sk.public(u).p, msg)
	}
	return &Signature{secretMult(&sk.k, u.hash(msg, u.dst))}, nil
}

// Verify verifies a signature of msg by key.
func (s Scheme) Verify(key *PublicKey, msg []byte, sig *Signature) error {
	u, err := s.suite()
	if err != nil {
		return err
	}
	return u.verify(key, msg, sig)
}

func (u *suite) verify(key *PublicKey, msg []byte, sig *Signature) error {
	k, err := u.key(key)
	if err != nil {
		return err
	}
	return u.check(k, u.text(k, msg), u.dst, sig)
}

// check is the draft's CoreVerify with the key and the hash of text under dst.
func (u *suite) check(key point, text []byte, dst string, sig *Signature) error {
	p, err := u.signed(sig)
	if err != nil {
		return err
	}
	var e equation
	e.add(u, key, dst, text)
	if !e.holds(p) {
		return errEquation
	}
	return nil
}

// signed returns the point of a signature that isn't the identity.
func (u *suite) signed(sig *Signature) (point, error) {
	p, err := u.sig(sig)
	if err == nil && p.isIdentity() {
		err = errSigIdentity
	}
	return p, err
}

// AggregateVerify verifies the aggregate of the signatures of msgs[i] by keys[i]. The
// keys need no proof, so that messages must differ, even with [ProofOfPossession]: see
// [Scheme.AggregateVerifyProven].
//
// With [Augmented] they needn't differ, and as in Chia the identity is the aggregate of
// no signatures. With all other schemes an aggregate of none is an error.
func (s Scheme) AggregateVerify(keys []*PublicKey, msgs [][]byte, sig *Signature) error {
	u, err := s.suite()
	if err != nil {
		return err
	}
	return u.aggregateVerify(keys, msgs, sig, u.kind != Augmented)
}

// AggregateVerifyProven is [Scheme.AggregateVerify] for [ProofOfPossession], where
// several may have signed one message.
func (s Scheme) AggregateVerifyProven(keys []*ProvenKey, msgs [][]byte, sig *Signature) error {
	u, err := s.popSuite()
	if err != nil {
		return err
	}
	return u.aggregateVerify(publicOf(keys), msgs, sig, false)
}

func publicOf(proven []*ProvenKey) []*PublicKey {
	keys := make([]*PublicKey, len(proven))
	for i, k := range proven {
		keys[i] = k.PublicKey()
	}
	return keys
}

func (u *suite) aggregateVerify(keys []*PublicKey, msgs [][]byte, sig *Signature, distinct bool) error {
	var e equation
	if err := e.addAll(u, keys, msgs, distinct); err != nil {
		return err
	}
	if len(e.terms) == 0 {
		p, err := u.sig(sig)
		if err == nil && !p.isIdentity() {
			err = errEquation
		}
		return err
	}
	p, err := u.signed(sig)
	if err != nil {
		return err
	}
	if !e.holds(p) {
		return errEquation
	}
	return nil
}

// FastAggregateVerify verifies the aggregate of the signatures of one message by all
// keys. It costs one addition a key, and one verification. Use [SumKeys] or [Keys] if
// the sum is needed more than once, and [Scheme.Verify] with it.
func (s Scheme) FastAggregateVerify(keys []*ProvenKey, msg []byte, sig *Signature) error {
	u, err := s.popSuite()
	if err != nil {
		return err
	}
	sum, err := SumKeys(keys)
	if err != nil {
		return err
	}
	return u.verify(&sum.k, msg, sig)
}
