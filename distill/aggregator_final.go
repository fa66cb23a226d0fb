// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package distill

import (
	"slices"

	"github.com/undersign/undersign/internal/bls12381"
)

// close ends the collection of reductions: it makes the batch, or gives it up if too many
// are missing.
func (a *Aggregator) close(now int64, r *round, out []AggregatorAction) ([]AggregatorAction, error) {
	out = a.verifyBurst(now, r, out)
	missing := 0
	for _, status := range r.status {
		if status != memberGood {
			missing++
		}
	}
	n := len(r.members)
	tooMany := missing > a.params.MaxStragglers(r.mode, n)
	if last := r.proposedAt + a.limits.MaxWait; tooMany && r.open > 0 && now < last {
		// That so many are to blame is less likely than that everything takes longer than
		// it did, here or on the way. All of them would be in quarantine, and batches
		// small for a long time.
		r.closeAt = min(now+a.waits.wait, last)
		return out, nil
	}
	a.waits.update(&a.limits)
	if tooMany || r.mode == ModeLean && missing == n {
		// Whoever made it fail isn't waited for next time, or it would fail for ever.
		for at, status := range r.status {
			if status == memberOpen {
				a.clients[r.ids[at]].quarantine(now, &a.limits)
			}
		}
		return a.abandon(now, r, out)
	}
	if !a.seal(r) {
		// The reducers' keys cancel out, so that all of them are in collusion: a key
		// that isn't known to them can't be cancelled.
		a.stats.Unsealed++
		for at, status := range r.status {
			if status == memberGood {
				a.clients[r.ids[at]].quarantine(now, &a.limits)
			}
		}
		return a.abandon(now, r, out)
	}
	if err := a.commit(a.finalRecord(r)); err != nil {
		return nil, err
	}
	r.state = roundFinal
	for at, status := range r.status {
		switch status {
		case memberOpen:
			a.clients[r.ids[at]].missed(now, &a.limits)
			a.stats.Stragglers++
		case memberBad, memberSlow:
			a.stats.Stragglers++
		}
	}
	a.stats.Published++
	return a.publish(now, r, out), nil
}

// seal makes and signs the batch of a round, and verifies it as a validator would.
func (a *Aggregator) seal(r *round) bool {
	if a.seals(r) {
		return true
	}
	// The sum of the keys is the identity, or a spare reduction was taken out that was
	// valid only together with others.
	if !r.spare.ok {
		return false
	}
	r.spare.ok = false
	r.status[r.spare.at] = memberBad
	r.sum.Sub(&r.sum, r.spare.sig.Point())
	return a.stragglers(r) <= a.params.MaxStragglers(r.mode, len(r.members)) && a.seals(r)
}

func (a *Aggregator) stragglers(r *round) (n int) {
	for _, status := range r.status {
		if status != memberGood {
			n++
		}
	}
	return n
}

func (a *Aggregator) seals(r *round) bool {
	b := &Batch{
		Net: a.cfg.Network.verifier.net, Dirver: r.view.Version(), AggID: a.cfg.ID, Seq: r.seq,
		ValidUntil: r.validUntil, Mode: r.mode, IDs: r.ids,
		Nonces: make([]uint64, 0, len(r.ids)), NotAfter: make([]uint64, 0, len(r.ids)),
		Payloads: Payloads{Ends: make([]uint32, 0, len(r.ids))},
	}
	sum := new(bls12381.G2).Set(&r.sum)
	for at, e := range r.members {
		b.Nonces = append(b.Nonces, e.nonce)
		b.NotAfter = append(b.NotAfter, e.notAfter)
		good := r.status[at] == memberGood
		if r.mode == ModeLean && !good {
			b.Payloads.Append(e.hash[:])
		} else {
			b.Payloads.Append(e.payload)
		}
		if good {
			continue
		}
		b.Stragglers = append(b.Stragglers, uint32(at))
		switch r.mode {
		case ModeEd25519:
			b.StragglerSigs = append(b.StragglerSigs, e.sig...)
		case ModeFolded:
			var p bls12381.G2
			if err := p.SetUncompressedUnsafe(e.sig); err != nil {
				return false
			}
			sum.Add(sum, &p)
		}
	}
	if hasAggregate(r.mode, b.Len(), len(b.Stragglers)) {
		bls12381.NormalizeG2(sum)
		b.Aggregate = sum.Bytes()
	}
	encoded, err := b.Sign(a.cfg.Key)
	if err != nil {
		return false
	}
	if _, err := a.cfg.Network.verifier.Verify(encoded, r.view); err != nil {
		return false
	}
	r.encoded, r.digest = encoded, BatchDigest(encoded)
	return true
}

// publish hands a batch over, and again after some time if nobody says that it arrived.
func (a *Aggregator) publish(now int64, r *round, out []AggregatorAction) []AggregatorAction {
	r.publishAt = now + a.limits.Retry
	return append(out, Publish{r.seq, r.digest, r.encoded})
}

// abandon gives a batch up. Its number is never used again. Its messages go into another
// one, those whose clients have done their part before the others. What the clients have
// signed stays valid for a while and is harmless: their nonces are executed once.
func (a *Aggregator) abandon(now int64, r *round, out []AggregatorAction) ([]AggregatorAction, error) {
	writes := []Record{{Key: a.batchKey(r.seq)}}
	if r.state == roundHandedOff {
		writes = append(writes, Record{Key: a.handoffKey(r.seq)})
	}
	if err := a.commit(writes...); err != nil {
		return nil, err
	}
	a.stats.Abandoned++
	if r.state != roundCollecting {
		a.stats.Lost++
	}
	a.end(r)
	reduced := func(at int) bool { return r.status[at] == memberGood || r.status[at] == memberPending }
	for at, e := range r.members {
		a.land(e)
		if !reduced(at) {
			a.enqueue(now, a.clients[e.id], false)
		}
	}
	for at, e := range slices.Backward(r.members) {
		if reduced(at) {
			a.enqueue(now, a.clients[e.id], true)
		}
	}
	return out, nil
}

// end takes a round out of those that are in flight.
func (a *Aggregator) end(r *round) {
	i := slices.Index(a.rounds, r)
	a.rounds = slices.Delete(a.rounds, i, i+1)
}
