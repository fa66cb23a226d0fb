// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package sm2paper

import "github.com/undersign/undersign/internal/sm2ec"

// addProduct adds xy modulo n to z. Multiplications modulo n aren't counted, as in
// the paper.
func addProduct(z, x, y *sm2ec.Scalar) {
	var t sm2ec.Scalar
	t.Mul(x, y)
	z.Add(z, &t)
}
