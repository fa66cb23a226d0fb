// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package sm2ec

// Mul sets z = xy.
func (z *Element) Mul(x, y *Element) { mulGeneric(z, x, y) }

// Sqr sets z = x².
func (z *Element) Sqr(x *Element) { sqrGeneric(z, x) }

func available() []tier { return []tier{genericTier} }

func use(t *tier) { current = t }
