// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package edwards

import (
	"filippo.io/edwards25519"
	"filippo.io/edwards25519/field"
)

const (
	tableWidth = 6
	tableRows  = (254 + tableWidth - 1) / tableWidth
	tableRow   = 1 << (tableWidth - 1)
)

// A Table has multiples of a point: row i holds 2^(6i)·{1, 2, ..., 32}·P. A
// multiplication is 43 additions and no doubling. It has 165 KB, and pays from about 50
// multiplications on. It is immutable.
type Table struct {
	rows [tableRows][tableRow]Affine
}

// NewTableVarTime returns the table of a point.
func NewTableVarTime(q *edwards25519.Point) *Table {
	points := make([]Point, tableRows*tableRow)
	var s scratch
	var base Point
	base.SetLibrary(q)
	for i := range tableRows {
		row := points[i*tableRow:][:tableRow]
		row[0] = base
		for j := 1; j < tableRow; j++ {
			row[j] = row[j-1]
			row[j].addPoint(&base, &s)
		}
		base = row[tableRow-1]
		base.double()
	}
	t := new(Table)
	// One inversion for all, after Montgomery: before[i] is the product of the first i Z.
	before := make([]field.Element, len(points))
	product := *one
	for i := range points {
		before[i] = product
		product.Multiply(&product, &points[i].z)
	}
	product.Invert(&product)
	for i := len(points) - 1; i >= 0; i-- {
		p := &points[i]
		inverse := before[i].Multiply(&before[i], &product)
		product.Multiply(&product, &p.z)
		t.rows[i/tableRow][i%tableRow].Set(p.x.Multiply(&p.x, inverse), p.y.Multiply(&p.y, inverse))
	}
	return t
}

// AddMultVarTime sets p to p + k·P.
func (p *Point) AddMultVarTime(k *edwards25519.Scalar, t *Table) {
	var digits [tableRows]int16
	recode(digits[:], k, tableWidth)
	var s scratch
	for i, d := range digits {
		switch {
		case d > 0:
			p.add(&t.rows[i][d-1], &s)
		case d < 0:
			p.sub(&t.rows[i][-d-1], &s)
		}
	}
}
