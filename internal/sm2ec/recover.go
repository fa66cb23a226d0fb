// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package sm2ec

// A signature tells the x of its point R, not the sign of y. Signs of several
// signatures can be found together, for if all are valid then
//
//	Σ ±R = (Σ s)G + Σ tP
//
// for the right signs, and with those of one half moved to the other side both
// sides can be listed and compared (Horowitz, Sahni 1974). There are no weights, so
// a solution proves nothing: it gives hints, for a check that does.

const (
	groupSize  = 12 // signatures whose signs are found together
	groupChunk = 20 // groups that share inversions

	recoverWidth = 5 // of the digits of t
)

// A group is some signatures whose signs are sought.
type group struct {
	items  []*Item
	points []Affine   // their points; with the right signs once found
	odd    []oddTable // of keys by item, if they are kept
	failed bool       // no signs were found
	left   []Affine   // R₀ ± R₁ ± … ± Rₐ₋₁
	right  []Affine   // L ∓ Rₐ ∓ …
}

// recoverSigns sets the signs of points, which have the x of the items, so that
// they are right if the items are valid, and ok to whether it found such signs.
// A false ok means that an item nearby is invalid, or crafted. Items of the same
// signer should be together.
//
// It may return odd multiples of the items' keys, for what comes next, with a function that
// is to be called when they aren't used any more.
func recoverSigns(points []Affine, ok []bool, items []*Item, workers int) (odd []oddTable, release func()) {
	n := len(items)
	count, chunk, solve := (n+groupSize-1)/groupSize, groupChunk, solveGroups
	if current.lanes && n >= laneGroupMin {
		count, _ = laneGroups(n)
		chunk, solve = laneGroupChunk, solveGroupsLanes
		if n <= laneKeep {
			odd = make([]oddTable, n)
			var kept keptTables
			solve, release = kept.solve, kept.release
		}
	}
	groups := make([]group, count)
	for i := range groups {
		lo, hi := n*i/count, n*(i+1)/count
		groups[i] = group{items: items[lo:hi], points: points[lo:hi]}
		if odd != nil {
			groups[i].odd = odd[lo:hi]
		}
	}
	chunks(count, chunk, workers, func(lo, hi int) {
		solve(groups[lo:hi])
	})
	at := 0
	for i := range groups {
		for range groups[i].items {
			ok[at] = !groups[i].failed
			at++
		}
	}
	return odd, release
}

// solveGroups finds the signs of some groups.
func solveGroups(groups []group) {
	sums := make([]Jacobian, len(groups))
	groupSums(sums, groups)
	for i := range groups {
		if sums[i].IsInfinity() {
			// No affine formulas: crafted.
			groups[i].failed = true
			sums[i] = generator.Jacobian()
		}
	}
	ls := make([]Affine, len(groups))
	Normalize(ls, sums)
	var g setGrower
	for i := range groups {
		a := groups[i].cut()
		groups[i].left = append(make([]Affine, 0, 1<<(a-1)), groups[i].points[0])
		groups[i].right = append(make([]Affine, 0, 1<<(len(groups[i].items)-a)), ls[i])
	}
	for k := 1; k < groupSize; k++ {
		g.start()
		for i := range groups {
			gr := &groups[i]
			a := gr.cut()
			if k < a {
				g.add(&gr.left, &gr.points[k], false, &gr.failed)
			}
			if a+k-1 < len(gr.items) {
				g.add(&gr.right, &gr.points[a+k-1], true, &gr.failed)
			}
		}
		g.grow()
	}
	for i := range groups {
		groups[i].match()
	}
}

// cut is the number of signatures on the left.
func (gr *group) cut() int {
	left, _ := halves(len(gr.items))
	return left
}

// halves cuts a group of so many signatures. The sums on the left count up to the sign, so that
// it has one more.
func halves(n int) (left, right int) {
	left = min((n+2)/2, n)
	return left, n - left
}

// match looks for equal or opposite sums on both sides, and sets the signs.
func (gr *group) match() {
	if gr.failed {
		return
	}
	for i := range gr.right {
		x := gr.right[i].X[0]
		for k := range gr.left {
			if gr.left[k].X[0] == x && gr.left[k].X == gr.right[i].X {
				gr.setSigns(gr.cut(), k, i, gr.left[k].Y != gr.right[i].Y)
				return
			}
		}
	}
	gr.failed = true
}

// setSigns sets the signs for sum k of a signatures on the left and i on the right, whose bits tell
// where the second choice was made. The sums are opposite if flip is true.
func (gr *group) setSigns(a, k, i int, flip bool) {
	for m := range gr.points {
		neg := flip
		switch {
		case m >= a:
			neg = i>>(m-a)&1 == 1
		case m > 0:
			neg = (k>>(m-1)&1 == 1) != flip
		}
		if neg {
			gr.points[m].Y.Neg(&gr.points[m].Y)
		}
	}
}

// groupSums sets sums[i] to (Σ s)G + Σ tP of groups[i]. Windows of all groups are added
// up by affine formulas, and put together by doubling.
func groupSums(sums []Jacobian, groups []group) {
	const half = 1 << (recoverWidth - 1)
	m := windows(recoverWidth)
	type member struct {
		digits [(256 + recoverWidth - 1) / recoverWidth]int32
		neg    bool
	}
	var points []Affine
	var members []member
	ends := make([]int, len(groups)) // of the members of a group
	total := make([]Scalar, len(groups))
	for i := range groups {
		items := groups[i].items
		for at := 0; at < len(items); {
			p := &items[at].P
			var k Scalar
			for ; at < len(items) && items[at].P == *p; at++ {
				t, _ := items[at].T()
				k.Add(&k, &t)
				total[i].Add(&total[i], &items[at].S)
			}
			if !k.IsZero() {
				var mb member
				mb.neg = k.oddDigits(mb.digits[:], recoverWidth)
				points, members = append(points, *p), append(members, mb)
			}
		}
		ends[i] = len(members)
	}
	tables := oddMultiples(points, half)
	parts := make([]Affine, 0, m*len(groups))
	var l listSummer
	l.start(bucketChunk)
	from := 0
	for _, to := range ends {
		for j := range m {
			for k := from; k < to; k++ {
				d := members[k].digits[j]
				l.add(&tables[half*k+int(max(d, -d)>>1)], (d < 0) != members[k].neg)
			}
			l.end(to - from)
		}
		from = to
		if len(l.points) >= bucketChunk {
			parts = append(parts, l.sum()...)
			l.start(bucketChunk)
		}
	}
	parts = append(parts, l.sum()...)
	g := GeneratorTable(len(groups))
	for i := range groups {
		var acc Jacobian
		for j := m - 1; j >= 0; j-- {
			acc.doubleN(recoverWidth)
			if p := &parts[m*i+j]; !p.isInfinity() {
				acc.AddAffine(&acc, p)
			}
		}
		acc.addMultiple(g, &total[i])
		sums[i] = acc
	}
}

// A setGrower replaces sets of points S by those of S + Q and of S - Q, all sets with one
// inversion.
type setGrower struct {
	jobs []growJob
	dens []Element
	pre  []Element
}

type growJob struct {
	set    *[]Affine
	q      *Affine
	minus  bool // S - Q come first
	failed *bool
}

func (g *setGrower) start() { g.jobs = g.jobs[:0] }

func (g *setGrower) add(set *[]Affine, q *Affine, minus bool, failed *bool) {
	g.jobs = append(g.jobs, growJob{set, q, minus, failed})
}

// grow does what was added. Where a point and Q have the same x, the set is no good
// and its group fails.
func (g *setGrower) grow() {
	n := 0
	for i := range g.jobs {
		n += len(*g.jobs[i].set)
	}
	if n == 0 {
		return
	}
	g.dens, g.pre = grow(g.dens, n), grow(g.pre, n)
	acc := feOne
	at := 0
	for i := range g.jobs {
		job := &g.jobs[i]
		for k := range *job.set {
			d := &g.dens[at]
			d.Sub(&job.q.X, &(*job.set)[k].X)
			if d.IsZero() {
				*job.failed = true
				*d = feOne
			}
			g.pre[at] = acc
			acc.Mul(&acc, d)
			at++
		}
	}
	acc.Inv(&acc)
	for i := len(g.jobs) - 1; i >= 0; i-- {
		job := &g.jobs[i]
		old := len(*job.set)
		set := append(*job.set, *job.set...)
		var minus Affine
		minus.Neg(job.q)
		first, second := job.q, &minus
		if job.minus {
			first, second = second, first
		}
		for k := old - 1; k >= 0; k-- {
			at--
			var inv Element
			inv.Mul(&acc, &g.pre[at])
			acc.Mul(&acc, &g.dens[at])
			s := set[k]
			addInv(&set[k], &s, first, &inv)
			addInv(&set[old+k], &s, second, &inv)
		}
		*job.set = set
	}
}
