// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package sm2ec

// minTable is the least width of a table. Below, they save too little. Above costs.maxTable,
// they don't pay within a number of uses that one could hope for.
const minTable = 3

// smallTable is the width up to which tables are kept for as many keys as there is room for.
const smallTable = 5

// tempTables bounds the bytes of tables that are made at a time.
const tempTables = 32 << 20

// plan chooses a path for the items of each signer.
func (v *verifier) plan(signers []*signer) {
	switch v.cfg.Force {
	case Tables:
		byWidth := map[int][]*signer{}
		for _, s := range signers {
			w, _ := v.costs().width(int64(len(s.items)), nil, 1)
			byWidth[w] = append(byWidth[w], s)
		}
		v.addTableJobs(byWidth)
	case Joint, Recovered:
		for _, s := range signers {
			v.toJoint(s, v.cfg.Force == Recovered)
		}
	case Single:
		for _, s := range signers {
			v.single = append(v.single, s.items...)
		}
	default:
		v.planAuto(signers)
	}
}

// planAuto compares what the paths cost for each signer.
func (v *verifier) planAuto(signers []*signer) {
	byWidth := map[int][]*signer{}
	inv := investments{budget: maxInvested * v.singleCost() * float64(len(v.items))}
	var kept tableJob
	var rest []*signer
	var uses []int64
	n := 0
	tables, all := make([]*Table, len(signers)), make([]int64, len(signers))
	v.recurring = 0
	for k, s := range signers {
		tables[k], all[k] = v.cfg.Cache.Use(&s.key, len(s.items))
		if tables[k] != nil || all[k] > int64(len(s.items)) {
			v.recurring++
		}
	}
	for k, s := range signers {
		t, u := tables[k], all[k]
		if t == nil {
			rest, uses = append(rest, s), append(uses, u)
			n += len(s.items)
			continue
		}
		m := int64(len(s.items))
		w, each := v.tableFor(m, u)
		now := v.costs().uses(t.w, m)
		if w > t.w && each*float64(u) < v.costs().uses(t.w, u) && inv.allow(v.costs().table(w)+v.costs().uses(w, m)-now) {
			byWidth[w] = append(byWidth[w], s) // it has outgrown its table
			continue
		}
		kept.signers, kept.tables = append(kept.signers, s), append(kept.tables, t)
	}
	if len(kept.signers) > 0 {
		v.tableJobs = append(v.tableJobs, kept)
	}
	// A weighted sum of all the rest, to begin with.
	var lifted []*signer
	perItem, perSigner := v.jointShares(len(rest), n)
	signs := v.costs().recover(len(rest), n) / float64(max(n, 1))
	for k, s := range rest {
		joint := perSigner
		for _, i := range s.items {
			joint += perItem
			if !v.items[i].Hint.known() {
				joint += signs
			}
		}
		m := int64(len(s.items))
		other := min(joint, v.singleCost()*float64(m))
		// A table is made if it would have paid already.
		w, each := v.tableFor(m, uses[k])
		if each*float64(m) < other && inv.allow(v.costs().table(w)+v.costs().uses(w, m)-other) {
			byWidth[w] = append(byWidth[w], s)
		} else {
			lifted = append(lifted, s)
		}
	}
	v.addTableJobs(byWidth)
	v.planJoint(lifted)
}

// tableFor returns the best width of a table of a key with n items here that has been used
// so many times, these included, and what that costs for each item. It is kept
// and was wanted before, or else is for these items only.
func (v *verifier) tableFor(n, uses int64) (w int, each float64) {
	w, cost := v.costs().width(n, nil, 1)
	each = cost / float64(n)
	if v.cfg.Cache != nil {
		if x, cost := v.costs().width(uses, v.cfg.Cache, max(v.recurring, 1)); cost/float64(uses) <= each {
			w, each = x, cost/float64(uses)
		}
	}
	return w, each
}

// maxInvested is what may be lost on tables in one batch, as a part of the cost of
// the single path.
const maxInvested = 0.2

// investments are tables that the items of a batch don't pay for: earlier ones
// would have. Many keys can come to that point in the same batch, of which most have to
// wait then, so that no batch is much slower than others. But the first one need not, for
// else those who verify one at a time would never get a table.
type investments struct {
	budget, spent float64
	made          bool
}

// allow reports whether a table is made that costs so much more than the
// batch's own items save by it.
func (v *investments) allow(loss float64) bool {
	if loss <= 0 {
		return true
	}
	if v.made && v.spent+loss > v.budget {
		return false
	}
	v.made = true
	v.spent += loss
	return true
}

// jointShares splits the cost of a weighted sum.
func (v *verifier) jointShares(signers, n int) (perItem, perSigner float64) {
	if n == 0 {
		return 0, 0
	}
	all := v.costs().joint(signers, n)
	perSigner = min(v.costs().signer, all/float64(signers+n))
	return v.costs().lift + (all-perSigner*float64(signers))/float64(n), perSigner
}

func (v *verifier) costs() *costs { return costsFor(len(v.items)) }

// singleCost is what an item by itself costs here.
func (v *verifier) singleCost() float64 {
	if v.cfg.Single != nil {
		return 0.8 * v.costs().single
	}
	n := max(len(v.items), 1)
	return v.costs().singles(n) / float64(n)
}

// worth is how much of the cost of the single path a weighted sum may take. When an item
// is bad, that is on top of the cost of the single path, which a hostile sender can bring
// about: with maxExtra it stays within 0.4 of it where the single path costs as much as the
// ordinary verifier, and within 1.05 where it is so much faster.
func (v *verifier) worth() float64 {
	if v.cfg.Single != nil {
		return 0.32
	}
	return 0.8
}

// worthUnhinted is worth where signs are recovered. In lanes a bad item seldom gets past
// the recovery, which leaves only its neighbours to the single path.
func (v *verifier) worthUnhinted() float64 {
	if current.lanes && v.cfg.Single == nil {
		return 0.97
	}
	return v.worth()
}

// maxExtra is what may be spent to locate bad items, as a part of the cost of the single path.
func (v *verifier) maxExtra() float64 {
	if v.cfg.Single != nil {
		return 0.05
	}
	return 0.25
}

// planJoint sends the items of these signers into the weighted sum if that pays:
// all, or else those with hints.
func (v *verifier) planJoint(signers []*signer) {
	var hinted, unhinted, both int // items
	var ofHinted, ofUnhinted int   // signers
	for _, s := range signers {
		h := 0
		for _, i := range s.items {
			if v.items[i].Hint.known() {
				h++
			}
		}
		hinted, unhinted = hinted+h, unhinted+len(s.items)-h
		if h > 0 {
			ofHinted++
		}
		if h < len(s.items) {
			ofUnhinted++
		}
	}
	single, each := v.worth()*v.singleCost(), v.worthUnhinted()*v.singleCost()
	both = hinted + unhinted
	with := float64(both)*v.costs().lift + v.costs().joint(len(signers), both) + v.costs().recover(ofUnhinted, unhinted)
	without := float64(hinted)*v.costs().lift + v.costs().joint(ofHinted, hinted)
	takeUnhinted := unhinted > 0 && with-min(without, single*float64(hinted)) < each*float64(unhinted)
	takeHinted := takeUnhinted || without < single*float64(hinted)
	for _, s := range signers {
		for _, i := range s.items {
			switch known := v.items[i].Hint.known(); {
			case known && takeHinted:
				v.hinted = append(v.hinted, i)
			case !known && takeUnhinted:
				v.unhinted = append(v.unhinted, i)
			default:
				v.single = append(v.single, i)
			}
		}
	}
}

// toJoint sends a signer's items into the weighted sum, and those without a
// hint, or all, through the recovery of signs.
func (v *verifier) toJoint(s *signer, all bool) {
	for _, i := range s.items {
		if v.items[i].Hint.known() && !all {
			v.hinted = append(v.hinted, i)
		} else if all {
			v.unhinted = append(v.unhinted, i)
		} else {
			v.single = append(v.single, i)
		}
	}
}

// addTableJobs makes jobs of signers whose tables are to be made, with a bounded
// number of bytes each.
func (v *verifier) addTableJobs(byWidth map[int][]*signer) {
	for w := minTable; w <= maxWidth; w++ {
		signers := byWidth[w]
		for len(signers) > 0 {
			n := min(len(signers), max(1, int(tempTables/TableSize(w))))
			v.tableJobs = append(v.tableJobs, tableJob{signers: signers[:n], width: w})
			signers = signers[n:]
		}
	}
}
