// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package distill

// sign returns the validator's signature of a statement, or nil if it only follows.
// Nothing is signed that isn't durable: a statement about the log is a function of
// the log, so that after a crash, or from a restored copy, the same is signed again.
func (v *Validator) sign(s Statement) (*Share, error) {
	if v.key == nil {
		return nil, nil
	}
	return SignStatement(v.key, v.index, s)
}

func (v *Validator) receipt(r *LogRecord) (*RcptShare, error) {
	share, err := v.sign(r.Rcpt)
	if err != nil {
		return nil, err
	}
	return &RcptShare{r.Kind, r.Rcpt, share}, nil
}

// SignHead returns the head of the log, signed.
func (v *Validator) SignHead() (Hgt, *Share, error) {
	if v.broken != nil {
		return Hgt{}, nil, v.broken
	}
	h := Hgt{v.committee.net, v.head.Height, v.head.Batches, v.head.LogHash, v.head.Dirver}
	share, err := v.sign(h)
	return h, share, err
}

// Receipts returns the receipts for a height again, with the records of the log.
func (v *Validator) Receipts(height uint64) ([]LogRecord, []*RcptShare, error) {
	if v.broken != nil {
		return nil, nil, v.broken
	}
	if height > v.head.Height {
		return nil, nil, reject(RuleHeight)
	}
	log, err := v.store.Tick(height)
	if err != nil {
		return nil, nil, err
	}
	receipts := make([]*RcptShare, len(log))
	for i := range log {
		if receipts[i], err = v.receipt(&log[i]); err != nil {
			return nil, nil, err
		}
	}
	return log, receipts, nil
}

// Sync returns the log's records with changes of the directory after a version, as many
// as fit into max bytes, but at least one if there is any. Who applies them in turn, each
// at the height of its receipt, has the same directory.
func (v *Validator) Sync(since uint64, max int) ([]LogRecord, error) {
	if since > v.head.Dirver {
		return nil, reject(RuleDirectoryNew)
	}
	return v.store.Changes(since, max)
}

// Lookup answers a client's question. That a nonce wasn't executed stays true after its
// last height, for nonces and heights only grow.
func (v *Validator) Lookup(q Lookup) (*SignedLook, error) {
	if v.broken != nil {
		return nil, v.broken
	}
	c, ok := v.Client(q.ID)
	if !ok {
		return nil, reject(RuleUnknownID)
	}
	k := Look{
		Net: v.committee.net, Challenge: q.Challenge, Height: v.head.Height,
		ID: q.ID, Nonce: q.Nonce, NotAfter: q.NotAfter, LastNonce: c.LastNonce, Code: LookNotExecuted,
	}
	if state := c.nonce(q.Nonce); state != nonceNew {
		e, ok, err := v.kept(v.head.Height, q.ID, q.Nonce)
		switch {
		case err != nil:
			return nil, err
		case ok:
			k.Code, k.FirstCode, k.AppCode, k.ExecHeight, k.PayloadHash = LookExecuted, e.Code, e.AppCode, e.Height, e.PayloadHash
		case state == nonceUsed || !v.params.kept(q.NotAfter, v.head.Height):
			k.Code = LookUnknown
		}
	}
	share, err := v.sign(k)
	if err != nil {
		return nil, err
	}
	s := &SignedLook{Look: k}
	if share != nil {
		s.Share = *share
	}
	return s, nil
}

// SetWitnessFrom sets the first height at which the validator witnesses batches: see
// [ValidatorConfig]. It is for who learns of it only after the validator was opened.
func (v *Validator) SetWitnessFrom(height uint64) { v.from = height }

// Witness verifies an encoded batch as if it were the next in the log, stores it, and
// returns the validator's signature of having done so. Of each number it witnesses one
// batch only.
func (v *Validator) Witness(data []byte) (Wit, *Share, error) {
	if v.head.Height+1 < v.from {
		return Wit{}, nil, reject(RuleWitnessEmbargo)
	}
	if err := v.Place(data); err != nil {
		return Wit{}, nil, err
	}
	c, err := v.Check(data)
	if err != nil {
		return Wit{}, nil, err
	}
	return v.WitnessChecked(c)
}

// WitnessChecked is [Validator.Witness] of a batch that [Validator.Check] has verified.
func (v *Validator) WitnessChecked(c *Checked) (Wit, *Share, error) {
	switch {
	case c.by != v:
		return Wit{}, nil, reject(RuleStatement)
	case v.head.Height+1 < v.from:
		return Wit{}, nil, reject(RuleWitnessEmbargo)
	}
	if err := v.Place(c.data); err != nil {
		return Wit{}, nil, err
	}
	b := c.verified
	w := Wit{b.Net, b.AggID, b.Seq, b.Digest}
	chosen, ok, err := v.store.Witness(b.AggID, b.Seq)
	switch {
	case err != nil:
		return Wit{}, nil, err
	case ok && chosen != b.Digest:
		return Wit{}, nil, reject(RuleWitnessed)
	case !ok:
		if err := v.store.CommitWitness(b.AggID, b.Seq, b.Digest, c.data); err != nil {
			return Wit{}, nil, err
		}
	}
	share, err := v.sign(w)
	return w, share, err
}
