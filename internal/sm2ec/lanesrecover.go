// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package sm2ec

import (
	"math"
	"runtime"
	"sync"
)

// Signs in lanes, of which each is for a group. Only the hash tables in which equal sums
// are found aren't.
const (
	laneGroupChunk = 32 // groups that share inversions, and a multiple of what follows
	laneGroupUnit  = 2 * laneCount
	laneGroupMin   = 64 // items from which on lanes are faster

	// laneKeep is the number of items up to which tables of keys are kept for the sum that follows: 1 KB
	// each.
	laneKeep = 4096

	// Costs in nanoseconds: the doublings of so many groups, and an addition to a set.
	laneGroupCost = 95_000
	laneGrowCost  = 20
)

// laneGroups returns into how many groups n items are cut, and what the parts of the cost that
// depend on it are.
func laneGroups(n int) (count int, cost float64) {
	cost = math.Inf(1)
	least := (n + laneGroupMost - 1) / laneGroupMost
	for c := (least + laneGroupUnit - 1) / laneGroupUnit * laneGroupUnit; ; c += laneGroupUnit {
		doublings := laneGroupCost * float64(c/laneGroupUnit)
		if doublings >= cost {
			return count, cost
		}
		left, right := halves((n + c - 1) / c)
		additions := 2<<(left-1) + 2<<right - 4
		if x := doublings + laneGrowCost*float64(c*additions); x < cost {
			count, cost = c, x
		}
	}
}

// laneGroupMost is the size that no group exceeds.
const laneGroupMost = 14

// solveGroupsLanes is [solveGroups] in lanes, for multiples of laneGroupUnit groups whose sizes
// differ by one at most.
func solveGroupsLanes(groups []group) {
	s := laneWorkers.Get().(*laneWorker)
	defer laneWorkers.Put(s)
	s.solve(groups)
}

func (s *laneRecoverer) solve(groups []group) {
	s.groupSums(groups)
	s.grow(groups)
	s.match(groups)
}

// keptTables is the memory of tables that are kept.
type keptTables struct {
	mu      sync.Mutex
	entries []*[]packedPoint
}

var tableMemory = sync.Pool{New: func() any { return new([]packedPoint) }}

// solve is [solveGroupsLanes], and keeps the tables.
func (k *keptTables) solve(groups []group) {
	s := laneWorkers.Get().(*laneWorker)
	defer laneWorkers.Put(s)
	own, entries := s.entries, tableMemory.Get().(*[]packedPoint)
	s.entries = *entries
	s.solve(groups)
	*entries, s.entries = s.entries, own
	k.mu.Lock()
	defer k.mu.Unlock()
	k.entries = append(k.entries, entries)
}

// release gives the memory to others.
func (k *keptTables) release() {
	for _, e := range k.entries {
		tableMemory.Put(e)
	}
}

// A laneRecoverer is the memory for the recovery of signs.
type laneRecoverer struct {
	laneStraus
	members  []member
	counts   []int // of members
	totals   []Scalar
	size     int         // of the largest group
	pos, neg []lanePoint // points, and their negatives: row after row
	sets     [3][]lanePoint
	right    int // rows of the right set, after which those of the left are
	xs       []block
}

// A member is a key that signed in a group, with its multiplier.
type member struct {
	p            *Affine
	k            Scalar
	group, place int
	lo, hi       int // its items in the group
}

// Points stand in for members and signatures that some groups lack: 2^(8i)·G for the
// place i, from 1, all sums of which differ, and aren't those of small multiples.
func standIn(i int) *packedPoint { return &smallPacked().packed[i<<(smallWidth-1)] }

// standInMultiples are how often G is in what stands for a member.
var standInMultiples = sync.OnceValue(func() (ks [laneGroupMost + 1]Scalar) {
	k := Scalar{1}
	times := func(n int) {
		for range n {
			k.Add(&k, &k)
		}
	}
	for range longDigits { // the digit 1 everywhere
		ks[0].Add(&ks[0], &k)
		times(laneWidth)
	}
	k = ks[0]
	for i := range ks {
		ks[i] = k
		times(smallWidth)
	}
	return ks
})

// padPlace is that of what stands for a signature.
const padPlace = 31

var padMultiple = Scalar{3: 1 << (padPlace*smallWidth - 192)}

// join sets s.members to those of groups, and s.totals to the multipliers of G, which has the first of
// the rows. It returns how many there are.
func (s *laneRecoverer) join(groups []group) (rows int) {
	s.members, s.size = s.members[:0], 0
	s.counts, s.totals = grow(s.counts, len(groups)), grow(s.totals, len(groups))
	rows = 2
	for i := range groups {
		items := groups[i].items
		s.size = max(s.size, len(items))
		var total Scalar
		place := 1
		for at := 0; at < len(items); {
			mb := member{p: &items[at].P, group: i, place: place, lo: at}
			for ; at < len(items) && items[at].P == *mb.p; at++ {
				t, _ := items[at].T()
				mb.k.Add(&mb.k, &t)
				total.Add(&total, &items[at].S)
			}
			if mb.hi = at; !mb.k.IsZero() {
				s.members = append(s.members, mb)
				place++
			}
		}
		s.totals[i], s.counts[i] = total, place
		rows = max(rows, place)
	}
	ks := standInMultiples()
	for i := range groups {
		k := &s.totals[i]
		for place := s.counts[i]; place < rows; place++ {
			k.Sub(k, &ks[place])
		}
		if len(groups[i].items) < s.size {
			k.Add(k, &padMultiple)
		}
	}
	return rows
}

// groupSums sets s.points to (Σ s)G + Σ tP of the groups.
func (s *laneRecoverer) groupSums(groups []group) {
	lanes := len(groups)
	n := lanes / laneCount
	rows := s.join(groups)
	s.digitSums(groups, rows)
	s.acc, s.scratch = growAligned(s.acc, n), growAligned(s.scratch, 1)
	for pair := 0; pair < n; pair += 2 {
		acc := (*[2]laneJacobian)(s.acc[pair:])
		for d := longDigits - 1; d >= 0; d-- {
			of := (*[2]lanePoint)(s.sums[d*n+pair:])
			if d == longDigits-1 {
				for i := range acc {
					acc[i] = laneJacobian{of[i].X, of[i].Y, oneBlock}
				}
				continue
			}
			laneDouble(acc, &s.scratch[0], laneWidth)
			laneAddMixed(acc, of, &s.scratch[0])
		}
	}
	one := oneBlock.lane(0)
	for g := range groups {
		if z := &s.acc[g/laneCount].Z; isZero(z, g%laneCount) {
			groups[g].failed = true
			z.setLane(g%laneCount, &one)
		}
	}
	s.points = growAligned(s.points, n)
	s.norm.normalize(s.points, s.acc)
}

// digitSums sets s.sums to the sums of multiples that members want for their digits: a row of
// groups for each digit.
func (s *laneRecoverer) digitSums(groups []group, rows int) {
	lanes := len(groups)
	blocks := blocksFor(len(s.members))
	s.bad = grow(s.bad, blocks*laneCount)
	clear(s.bad)
	s.refs = s.refs[:0]
	s.oddMultiples(blocks, func(j int) *Affine { return s.members[min(j, len(s.members)-1)].p })

	row := longDigits * lanes
	s.refs = grow(s.refs, rows*row)
	var places [longDigits]pointRef
	g := oddTable{&smallPacked().packed[0], 1}
	for i := range groups {
		k := &s.totals[i]
		if k.IsZero() {
			groups[i].failed = true
			*k = Scalar{1}
		}
		turn := k.oddPlaces(places[:], laneWidth)
		for d, r := range places {
			s.refs[d*lanes+i] = g.ref(r) | r&1 ^ turn
		}
		for place := s.counts[i]; place < rows; place++ {
			for d := range longDigits {
				s.refs[place*row+d*lanes+i] = refTo(standIn(place), 0)
			}
		}
	}
	for i := range s.members {
		mb := &s.members[i]
		if s.bad[i] {
			groups[mb.group].failed = true
		}
		turn := mb.k.oddPlaces(places[:], laneWidth)
		odd := s.oddTable(i)
		if gr := &groups[mb.group]; gr.odd != nil && !s.bad[i] {
			for k := mb.lo; k < mb.hi; k++ {
				gr.odd[k] = odd
			}
		}
		to := s.refs[mb.place*row+mb.group:]
		for d, r := range places {
			to[d*lanes] = odd.ref(r) | r&1 ^ turn
		}
	}
	s.tree(row/laneCount, rows, func(j int) { groups[j%lanes].failed = true })
	runtime.KeepAlive(s)
}

// grow sets s.sets[0] to the right and left sums of groups.
func (s *laneRecoverer) grow(groups []group) {
	lanes := len(groups)
	n := lanes / laneCount
	s.packed, s.refs = growAligned(s.packed, s.size*lanes), grow(s.refs, s.size*lanes)
	pad := standIn(padPlace).affine()
	for i := range groups {
		for k := range s.size {
			p := &pad
			if k < len(groups[i].points) {
				p = &groups[i].points[k]
			}
			to := &s.packed[k*lanes+i]
			copy(to[:4], p.X[:])
			copy(to[4:], p.Y[:])
			s.refs[k*lanes+i] = refTo(to, 0)
		}
	}
	s.pos, s.neg = growAligned(s.pos, s.size*n), growAligned(s.neg, s.size*n)
	gather(s.pos, s.refs)
	for i := range s.refs {
		s.refs[i] |= 1
	}
	gather(s.neg, s.refs)
	runtime.KeepAlive(s)
	for _, ps := range [][]lanePoint{s.pos, s.neg} {
		mulLanes(blocksIn(ps), blocksIn(ps), []block{toLanes})
	}

	left, right := halves(s.size)
	rows := 1<<(left-1) + 1<<right
	for i := range s.sets {
		s.sets[i] = growAligned(s.sets[i], rows*n)
	}
	row := func(ps []lanePoint, i, rows int) []lanePoint { return ps[i*n:][:rows*n] }
	now, next, terms := s.sets[0], s.sets[1], s.sets[2]
	copy(row(now, 0, 1), s.points)
	copy(row(now, 1, 1), row(s.pos, 0, 1))
	nr, nl := 1, 1
	for k := 1; k < left; k++ {
		at := 0
		// double appends a set twice, and what is to be added to it.
		double := func(set []lanePoint, first, second []lanePoint) {
			for _, q := range [][]lanePoint{first, second} {
				at += copy(next[at:], set)
				for to := terms[at-len(set) : at]; len(to) > 0; {
					to = to[copy(to, q):]
				}
			}
		}
		from := 0 // where additions begin
		or, ol := row(now, 0, nr), row(now, nr, nl)
		if k <= right {
			i := left + k - 1
			double(or, row(s.neg, i, 1), row(s.pos, i, 1))
			nr *= 2
		} else {
			at = copy(next, or)
			from = at
		}
		double(ol, row(s.pos, k, 1), row(s.neg, k, 1))
		nl *= 2
		if s.laneAdder.add(next[from:at], terms[from:at], noPoints) {
			for i, z := range s.zero {
				for j := range laneCount {
					if z>>j&1 == 1 {
						groups[i%n*laneCount+j].failed = true
					}
				}
			}
		}
		now, next = next, now
	}
	s.right = nr
	s.sets[0], s.sets[1] = now, next
}

// match looks for equal x on both sides, and sets the signs of groups where there are some.
func (s *laneRecoverer) match(groups []group) {
	n := len(groups) / laneCount
	left, right := halves(s.size)
	all := s.sets[0]
	rows := len(all) / n
	s.xs = growAligned(s.xs, len(all))
	mulColumns(len(all), column{s.xs, 1}, column{blocksIn(all), 2}, column{[]block{outOfLanes}, 0})

	// A hash table of the left side: places plus one, by the lowest bits of x.
	const slots = 4 << (laneGroupMost / 2)
	var table [slots]uint16
	xs := make([]Element, rows)
	for g := range groups {
		gr := &groups[g]
		if gr.failed {
			continue
		}
		for r := range xs {
			xs[r].fromLane(&s.xs[r*n+g/laneCount], g%laneCount)
		}
		clear(table[:])
		lefts := xs[s.right:]
		for k := range lefts {
			h := lefts[k][0] % slots
			for table[h] != 0 {
				h = (h + 1) % slots
			}
			table[h] = uint16(k + 1)
		}
		// What stands for a signature isn't subtracted.
		rights := xs[:s.right]
		if len(gr.points) < s.size && right > 0 {
			rights = rights[:s.right/2]
		}
		gr.failed = true
		for i := range rights {
			k := -1
			for h := rights[i][0] % slots; table[h] != 0; h = (h + 1) % slots {
				if lefts[table[h]-1] == rights[i] {
					k = int(table[h] - 1)
					break
				}
			}
			if k >= 0 {
				flip := s.y(s.right+k, n, g) != s.y(i, n, g)
				gr.setSigns(left, k, i, flip)
				gr.failed = false
				break
			}
		}
	}
}

// y returns the y of a sum.
func (s *laneRecoverer) y(row, n, group int) (e Element) {
	out := outOfLanes.lane(0)
	l := s.sets[0][row*n+group/laneCount].Y.lane(group % laneCount)
	l = product(&l, &out).carried()
	w := l.words()
	e.canonical(&w)
	return e
}
