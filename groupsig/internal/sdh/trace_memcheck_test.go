// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package sdh

import (
	"github.com/undersign/undersign/groupsig/internal/sigma"
	"github.com/undersign/undersign/internal/bls12381"
	"github.com/undersign/undersign/internal/cttest"
)

// memcheckClaim registers and claims with a member's secret and nonce that are undefined.
func memcheckClaim(c *cttest.Checker, g *group, m *MemberKey, s Signed) {
	x, err := g.gk.newClaims(claimOp, []Signed{s}, nil)
	if err != nil {
		panic(err)
	}
	bases := []*bls12381.GT{g.gk.base(x.t[0])}
	k := make([]bls12381.Scalar, 1)
	secretScalar(&k[0], "nonce")
	c.Clean("claim: commitment", func() { x.commit(bases, &k[0]) })
	b := x.t[0].r.Bytes()
	tainted(c, b)
	if err := x.t[0].r.SetBytes(b); err != nil {
		panic(err)
	}
	var responses []bls12381.Scalar
	c.Clean("claim: response", func() { responses = sigma.Respond(x.challenge(g.gk), k, m.y) })
	tainted(c, responses[0].Bytes())
	var z bls12381.GT
	c.Clean("registration", func() { z.CombExp(&m.y[0], g.gk.consts[CPY06.Trace.Const].combP2()) })
	tainted(c, z.Bytes())
}
