// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package sm2ec

// A Verdict says whether a signature is valid, and if it isn't, why.
type Verdict uint8

const (
	Unchecked   Verdict = iota
	Valid               // as VerifySingle defines it
	BadKey              // the key isn't a point of the curve
	BadRange            // r, s or r + s is zero
	NoPoint             // no point has an x with e + x = r
	BadEquation         // sG + tP isn't such a point
)

// A Result is what is known of an item after verification.
type Result struct {
	Verdict Verdict
	// Hint is the hint of a valid signature: of the kind of the item's if that has
	// one, right or wrong, or else by parity. Config.Single leaves it open.
	Hint Hint
}

// A Path is a way to verify items.
type Path uint8

const (
	Auto      Path = iota // the fastest, by the planner
	Tables                // sums of table entries
	Joint                 // a weighted sum of all, of which hints give the signs
	Recovered             // the same, with signs recovered
	Single                // one by one
)

func (p Path) String() string {
	return [...]string{"auto", "tables", "joint", "recovered", "single"}[p]
}

// A Config says how a batch is verified.
type Config struct {
	// Seed is 32 random bytes, which nobody knew before the items were fixed.
	Seed [32]byte

	// Cache keeps tables of recurring keys between batches. It may be nil.
	Cache *Cache

	// Workers is the number of goroutines; zero stands for one.
	Workers int

	// Single, if it isn't nil, is a faster equal of [VerifySingles] for the single
	// path.
	Single func(ok []bool, items []*Item)

	// Signers, if it isn't zero, says that all keys are on the curve, and that items have
	// numbers of them, below it: the same where keys are the same, and different ones
	// otherwise.
	Signers int

	// Force makes all items take one path, as far as it's open to them: Joint and
	// Recovered aren't to items with two possible x.
	Force Path
}

// Stats counts items by what decided on them.
type Stats struct {
	Tables, Joint, Recovered, Single int
	Confirmed                        int // of Joint and Recovered, singly after a sum that wasn't zero
	Sums                             int // evaluated to locate bad items
}

// Verify returns the verdicts on items: those of [VerifySingle], whatever the path.
// Wrong hints cost time, and change no verdict.
func Verify(items []Item, cfg *Config) ([]Result, Stats) {
	v := verifier{cfg: cfg, workers: max(1, cfg.Workers), items: items, results: make([]Result, len(items))}
	v.plan(v.screen())
	for _, job := range v.tableJobs {
		v.viaTables(job)
	}
	v.viaJoint()
	v.viaSingle()
	return v.results, v.stats
}

// maxJoint bounds the items of one weighted sum, and so memory. Larger ones would be a
// few percent faster.
const maxJoint = 1 << 14

// A verifier is a batch at work. Items are meant by their indices.
type verifier struct {
	cfg     *Config
	workers int
	items   []Item
	results []Result
	stats   Stats
	ids     []uint32 // numbers of the items' keys
	keys    int      // and how many they are

	recurring int // keys that occurred in earlier batches

	tableJobs []tableJob
	hinted    []int      // for the weighted sum
	unhinted  []int      // the same, after recovery of signs
	odd       []oddTable // that the recovery left, by item, or nil
	single    []int
	release   func()
}

// A tableJob is the items of signers with tables of one width.
type tableJob struct {
	signers []*signer
	width   int
	tables  []*Table // or nil if they are to be built
}

// A signer is a key with its items.
type signer struct {
	key   Affine
	items []int
}

// screen settles items that are invalid without arithmetic, and returns the others by signer.
func (v *verifier) screen() []*signer {
	v.number()
	order := v.bySigner(nil, len(v.items))
	signers := make([]signer, 0, min(v.keys, len(v.items)))
	var good []*signer
	for len(order) > 0 {
		id := v.ids[order[0]]
		n := 1
		for n < len(order) && v.ids[order[n]] == id {
			n++
		}
		items := order[:n:n]
		order = order[n:]
		key := v.items[items[0]].P
		if v.cfg.Signers == 0 && !key.IsOnCurve() {
			v.settle(items, BadKey)
			continue
		}
		kept := items[:0]
		for _, i := range items {
			if _, ok := v.items[i].T(); ok {
				kept = append(kept, i)
			} else {
				v.results[i].Verdict = BadRange
			}
		}
		if len(kept) > 0 {
			signers = append(signers, signer{key, kept})
			good = append(good, &signers[len(signers)-1])
		}
	}
	return good
}

// number gives the keys of items numbers, unless they have them.
func (v *verifier) number() {
	v.ids = make([]uint32, len(v.items))
	if v.keys = v.cfg.Signers; v.keys > 0 {
		for i := range v.items {
			v.ids[i] = v.items[i].Signer
		}
		return
	}
	index := make(map[Affine]uint32)
	for i := range v.items {
		id, ok := index[v.items[i].P]
		if !ok {
			id = uint32(len(index))
			index[v.items[i].P] = id
		}
		v.ids[i] = id
	}
	v.keys = len(index)
}

// bySigner returns a permutation of n items, of all if which is nil, that brings those of a
// signer together, in their order.
func (v *verifier) bySigner(which []int, n int) []int {
	id := func(k int) uint32 {
		if which != nil {
			k = which[k]
		}
		return v.ids[k]
	}
	next := make([]int32, v.keys+1)
	for k := range n {
		next[id(k)+1]++
	}
	for i := range v.keys {
		next[i+1] += next[i]
	}
	order := make([]int, n)
	for k := range n {
		at := &next[id(k)]
		order[*at] = k
		*at++
	}
	return order
}

func (v *verifier) settle(items []int, verdict Verdict) {
	for _, i := range items {
		v.results[i].Verdict = verdict
	}
}

// pointers returns the items with these indices.
func (v *verifier) pointers(items []int) []*Item {
	ps := make([]*Item, len(items))
	for k, i := range items {
		ps[k] = &v.items[i]
	}
	return ps
}

// viaTables decides on items by sums of table entries. Items for which they
// don't work go to the single path.
func (v *verifier) viaTables(job tableJob) {
	if job.tables == nil {
		job.tables = v.buildTables(job)
	}
	n := 0
	for _, s := range job.signers {
		n += len(s.items)
	}
	items, terms := make([]int, 0, n), make([]Term, 0, n)
	for k, s := range job.signers {
		for _, i := range s.items {
			t, _ := v.items[i].T()
			items = append(items, i)
			terms = append(terms, Term{S: v.items[i].S, T: t, Table: job.tables[k]})
		}
	}
	g := GeneratorTable(len(items))
	flagged := make([]bool, len(items))
	chunks(len(items), 512, v.workers, func(lo, hi int) {
		sums := make([]Jacobian, hi-lo)
		SumTables(sums, flagged[lo:hi], g, terms[lo:hi])
		done := make([]int, 0, hi-lo)
		for k := lo; k < hi; k++ {
			if !flagged[k] {
				sums[len(done)] = sums[k-lo]
				done = append(done, items[k])
			}
		}
		v.judge(done, sums[:len(done)])
	})
	for k, i := range items {
		if flagged[k] {
			v.single = append(v.single, i)
		} else {
			v.stats.Tables++
		}
	}
}

// judge decides on items, given their sG + tP.
func (v *verifier) judge(ids []int, sums []Jacobian) {
	valid := make([]int, 0, len(ids))
	n := 0
	for k, i := range ids {
		if v.items[i].XMatches(&sums[k]) {
			valid = append(valid, i)
			sums[n] = sums[k]
			n++
		} else {
			v.results[i] = Result{Verdict: BadEquation}
		}
	}
	points := make([]Affine, n)
	normalizeSome(points, sums[:n])
	for k, i := range valid {
		v.accept(i, &points[k].Y)
	}
}

// accept notes that an item is valid, and the hint for its y.
func (v *verifier) accept(i int, y *Element) {
	h := v.items[i].Hint
	switch {
	case !h.known():
		h = parity(y)
	case !h.matches(y):
		h = h.opposite()
	}
	v.results[i] = Result{Valid, h}
}

// buildTables returns the tables of a job, and keeps them.
func (v *verifier) buildTables(job tableJob) []*Table {
	tables := make([]*Table, len(job.signers))
	keys := make([]Affine, len(job.signers))
	for k, s := range job.signers {
		keys[k] = s.key
	}
	chunks(len(keys), tableChunk, v.workers, func(lo, hi int) {
		copy(tables[lo:hi], NewTables(keys[lo:hi], job.width))
	})
	for k := range keys {
		v.cfg.Cache.Put(&keys[k], tables[k])
	}
	return tables
}

// viaJoint decides on items by weighted sums.
func (v *verifier) viaJoint() {
	hinted, points := v.lift(v.hinted)
	v.hinted = hinted
	unhinted, more := v.lift(v.unhinted)
	unhinted, more = v.recover(unhinted, more)
	v.unhinted = unhinted

	all, points := append(hinted, unhinted...), append(points, more...)
	items := v.pointers(all)
	order := v.bySigner(all, len(all))
	for n := len(order); n > 0; n = len(order) {
		// Pieces of the same size, none above the bound.
		size := n
		if n > maxJoint {
			size = (n + (n+maxJoint-1)/maxJoint - 1) / ((n + maxJoint - 1) / maxJoint)
		}
		ids, its, pts := make([]int, size), make([]*Item, size), make([]Affine, size)
		for k, o := range order[:size] {
			ids[k], its[k], pts[k] = all[o], items[o], points[o]
		}
		v.decide(ids, its, pts)
		order = order[size:]
	}
	if v.release != nil {
		v.release()
	}
	v.stats.Joint += len(hinted)
	v.stats.Recovered += len(unhinted)
}

// lift returns the points of items, and leaves out those that need none: items
// without a point are invalid, and those with two x are for the single path.
func (v *verifier) lift(ids []int) ([]int, []Affine) {
	var kept []int
	for _, i := range ids {
		if v.items[i].smallX() {
			v.single = append(v.single, i)
		} else {
			kept = append(kept, i)
		}
	}
	points, ok := make([]Affine, len(kept)), make([]bool, len(kept))
	items := v.pointers(kept)
	chunks(len(kept), 128, v.workers, func(lo, hi int) {
		lift(points[lo:hi], ok[lo:hi], items[lo:hi])
	})
	n := 0
	for k, i := range kept {
		if !ok[k] {
			v.results[i].Verdict = NoPoint
			continue
		}
		kept[n], points[n] = i, points[k]
		n++
	}
	return kept[:n], points[:n]
}

// recover sets the signs of points. Items for which there were none go to the single path.
func (v *verifier) recover(ids []int, points []Affine) ([]int, []Affine) {
	items := v.pointers(ids)
	order := v.bySigner(ids, len(ids))
	byKey, pts, ok := make([]*Item, len(ids)), make([]Affine, len(ids)), make([]bool, len(ids))
	for k, o := range order {
		byKey[k], pts[k] = items[o], points[o]
	}
	odd, release := recoverSigns(pts, ok, byKey, v.workers)
	v.release = release
	if odd != nil {
		v.odd = make([]oddTable, len(v.items))
		for k, o := range order {
			v.odd[ids[o]] = odd[k]
		}
	}
	kept := make([]int, 0, len(ids))
	n := 0
	for k, o := range order {
		if ok[k] {
			kept = append(kept, ids[o])
			pts[n] = pts[k]
			n++
		} else {
			v.single = append(v.single, ids[o])
		}
	}
	return kept, pts[:n]
}

// decide decides on items that were lifted to points, and are ordered by signer.
func (v *verifier) decide(ids []int, items []*Item, points []Affine) {
	for k, i := range ids {
		v.accept(i, &points[k].Y)
	}
	j := newJoint(items, points, &v.cfg.Seed, v.workers)
	if v.odd != nil {
		j.odd = make([]oddTable, len(ids))
		for k, i := range ids {
			j.odd[k] = v.odd[i]
		}
	}
	res := j.verify(v.maxExtra(), func(suspects []int) (bad []int) {
		back := make([]int, len(suspects))
		for k, s := range suspects {
			back[k] = ids[s]
		}
		v.confirm(back, len(ids))
		for k, s := range suspects {
			if v.results[back[k]].Verdict != Valid {
				bad = append(bad, s)
			}
		}
		return bad
	})
	v.stats.Confirmed += res.Confirmed
	v.stats.Sums += res.Sums
}

// confirm decides on suspects of n items. If there are few, it sees to it that hints come
// out, for a wrong one may be all there is.
func (v *verifier) confirm(ids []int, n int) {
	if len(ids) <= n/8 || v.cfg.Single == nil {
		v.singly(ids)
	} else {
		v.outside(ids)
	}
}

// viaSingle decides on the items that are left.
func (v *verifier) viaSingle() {
	v.stats.Single = len(v.single)
	if v.cfg.Single == nil {
		v.singly(v.single)
	} else {
		v.outside(v.single)
	}
}

// outside decides on items by Config.Single.
func (v *verifier) outside(ids []int) {
	items, ok := v.pointers(ids), make([]bool, len(ids))
	chunks(len(items), 16, v.workers, func(lo, hi int) {
		v.cfg.Single(ok[lo:hi], items[lo:hi])
	})
	for k, i := range ids {
		v.results[i] = Result{Verdict: BadEquation}
		if ok[k] {
			v.results[i].Verdict = Valid
		}
	}
}

// singly decides on items one by one.
func (v *verifier) singly(ids []int) {
	items := v.pointers(ids)
	chunks(len(ids), current.combineChunk, v.workers, func(lo, hi int) {
		sums := make([]Jacobian, hi-lo)
		current.combine(sums, items[lo:hi])
		v.judge(ids[lo:hi], sums)
	})
}
