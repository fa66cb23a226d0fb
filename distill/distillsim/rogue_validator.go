// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package distillsim

import (
	"math"

	"github.com/undersign/undersign/distill"
)

// A rogueValidator does what an honest one does and says something else. At most f are.
type rogueValidator struct {
	habits  int
	n       int
	largest bool // names the largest number there is, so that nothing would be left
}

// The habits of rogue validators.
const (
	lieHeads   = 1 << iota // other heads, and heights to come
	lieRcpts               // forks
	lieAnswers             // lookups, and numbers of batches
	garbage                // invalid signatures
	silent                 // says nothing that is true

	allValidatorHabits = 1<<iota - 1
)

func (r *rogueValidator) has(habit int) bool { return r.habits&habit != 0 }

// heads returns the lies about a head.
func (r *rogueValidator) heads(s *sim, h distill.Hgt) []distill.Hgt {
	if !r.has(lieHeads) || r.n > 6 {
		return nil
	}
	r.n++
	fork, future := h, h
	fork.LogHash[0] ^= 1
	future.Height += 1000 // everything in flight would be past its last height
	return []distill.Hgt{fork, future}
}

// rcpt returns a receipt of a fork in which nothing was accepted.
func (r *rogueValidator) rcpt(x distill.Rcpt, results []distill.Result) (distill.Rcpt, []distill.Result, bool) {
	if !r.has(lieRcpts) || r.n > 6 {
		return x, nil, false
	}
	r.n++
	var other []distill.Result
	for _, y := range results {
		other = append(other, distill.Result{Code: distill.ResultSkipped, ID: y.ID, Nonce: y.Nonce, PayloadHash: y.PayloadHash})
	}
	x.ResultRoot = distill.ResultRoot(other)
	return x, other, true
}

// look makes a lie of an answer.
func (r *rogueValidator) look(k *distill.Look) bool {
	if !r.has(lieAnswers) {
		return false
	}
	k.LastNonce = r.number(k.LastNonce)
	executed := k.Code == distill.LookExecuted
	k.Code, k.FirstCode, k.AppCode, k.ExecHeight, k.PayloadHash = distill.LookNotExecuted, 0, 0, 0, [32]byte{}
	k.Height = max(k.Height, k.NotAfter+1)
	if !executed && r.n%2 == 0 {
		k.Code, k.FirstCode, k.ExecHeight = distill.LookExecuted, distill.ResultOK, k.Height
		k.PayloadHash[0] = byte(r.n)
	}
	return true
}

// number makes a lie of the last number of somebody: a very small, or the largest there is.
func (r *rogueValidator) number(n uint64) uint64 {
	r.n++
	switch {
	case r.largest:
		return math.MaxUint64
	case r.n%2 == 0:
		return 0
	}
	return n
}

// spoil makes a signature invalid.
func (r *rogueValidator) spoil(share *distill.Share) *distill.Share {
	if share == nil {
		return nil
	}
	r.n++
	bad := *share
	if r.n%2 == 0 {
		bad.Signature[50] ^= 1 // no point of the group
	} else {
		bad.Signature[0] ^= 0x20 // the opposite point
	}
	return &bad
}
