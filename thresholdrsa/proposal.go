// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package thresholdrsa

import (
	"bytes"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"math/big"
	"slices"

	"github.com/undersign/undersign/internal/wire"
)

// A Kind of ceremony.
type Kind uint8

const (
	// Refresh adds a sharing of zero: new shares for the same holders.
	Refresh Kind = 1
	// Reshare shares the shares of K holders: other holders, another threshold, or both.
	Reshare Kind = 2
)

func (k Kind) String() string {
	switch k {
	case Refresh:
		return "refresh"
	case Reshare:
		return "reshare"
	}
	return fmt.Sprintf("ceremony %d", uint8(k))
}

// A Proposal fixes one run of a ceremony: which record it succeeds, who
// contributes, who receives, and the new threshold. Contributors sign it with
// their contributions.
type Proposal struct {
	kind         Kind
	parent       [32]byte
	epoch        uint64 // the parent's
	run          [32]byte
	k            int
	contributors []int // ascending indices in the parent
	receivers    []*Receiver
}

// ProposeRefresh proposes new shares for the same holders and threshold. In
// integer form K or more holders contribute; a key in modular form is reshared
// instead, by exactly K. cards are the fresh keys of holders; a holder without
// one gets its share under the key that the record announces.
func ProposeRefresh(p *PublicKey, contributors []int, cards ...*Receiver) (*Proposal, error) {
	pr := &Proposal{kind: Refresh, k: p.k}
	if p.form == FormModular {
		pr.kind = Reshare
	}
	for i, h := range p.holders {
		r := &Receiver{name: h.Name, identity: h.Identity, run: h.Encryption}
		for _, c := range cards {
			if bytes.Equal(c.identity, h.Identity) {
				r = c
			}
		}
		if len(r.run) == 0 {
			return nil, &CeremonyError{Role: "receiver", Index: i + 1, Name: h.Name, Reason: "the record has no key to seal its share to: its card is needed"}
		}
		pr.receivers = append(pr.receivers, r)
	}
	for _, c := range cards {
		if !slices.Contains(pr.receivers, c) {
			return nil, fmt.Errorf("thresholdrsa: proposal: the card of %q is nobody's of this key, or there are two of it", c.name)
		}
	}
	return pr.finish(p, contributors)
}

// ProposeReshare proposes shares with threshold k for the receivers, who may be
// holders or others; their order gives the new indices. Exactly K holders
// contribute.
func ProposeReshare(p *PublicKey, contributors []int, k int, receivers []*Receiver) (*Proposal, error) {
	pr := &Proposal{kind: Reshare, k: k, receivers: slices.Clone(receivers)}
	return pr.finish(p, contributors)
}

func (pr *Proposal) finish(p *PublicKey, contributors []int) (*Proposal, error) {
	pr.parent, pr.epoch = p.id, p.epoch
	pr.contributors = slices.Sorted(slices.Values(contributors))
	rand.Read(pr.run[:])
	if _, err := pr.plan(p); err != nil {
		return nil, err
	}
	return pr, nil
}

// Kind returns the kind of ceremony.
func (pr *Proposal) Kind() Kind { return pr.kind }

// Parent returns the ID of the record that the ceremony succeeds.
func (pr *Proposal) Parent() [32]byte { return pr.parent }

// Epoch returns the number of the sharing that the ceremony succeeds.
func (pr *Proposal) Epoch() uint64 { return pr.epoch }

// Check checks the proposal against the record that it is to succeed. Every step of
// a ceremony does that; Check is for looking at a proposal before one takes part.
func (pr *Proposal) Check(parent *PublicKey) error {
	_, err := pr.plan(parent)
	return err
}

// Threshold returns the new K.
func (pr *Proposal) Threshold() int { return pr.k }

// Contributors returns the indices of those who contribute.
func (pr *Proposal) Contributors() []int { return slices.Clone(pr.contributors) }

// Receivers returns the cards of those who get shares, in the order of their new indices.
func (pr *Proposal) Receivers() []*Receiver { return slices.Clone(pr.receivers) }

// Quorum returns how many acknowledgements commit the ceremony: K' honest ones are
// among them if L' >= 2K'-1, and two records of one parent can't both get so many.
func (pr *Proposal) Quorum() int { return quorum(pr.k, len(pr.receivers)) }

// quorum returns Q = min(L', max(2K'-1, floor((L'+K'-1)/2)+1)): any two sets of Q have
// more than the K'-1 in common who may acknowledge everything.
func quorum(k, l int) int { return min(l, max(2*k-1, (l+k-1)/2+1)) }

// ID returns the hash of the proposal.
func (pr *Proposal) ID() [32]byte {
	return sha256.Sum256(append([]byte("undersign/trsa/v1/proposal"), pr.encode()...))
}

// Equal reports whether x is the same proposal.
func (pr *Proposal) Equal(x *Proposal) bool { return x != nil && bytes.Equal(pr.encode(), x.encode()) }

// receiverOf returns the index under which an identity receives, or 0.
func (pr *Proposal) receiverOf(identity ed25519.PublicKey) int {
	for j, r := range pr.receivers {
		if bytes.Equal(r.identity, identity) {
			return j + 1
		}
	}
	return 0
}

// A plan is what everybody computes alike from a parent record and a proposal:
// the sizes of the secrets, and the parameters of the new record.
type plan struct {
	pr     *Proposal
	id     [32]byte
	parent *PublicKey
	beta   int        // coefficients are uniform in [0, 2^beta), above an offset
	lambda []*big.Int // reshare: Delta' lambda_i of contributor i
	offset []*big.Int // reshare: O_i
	next   PublicKey  // without v_i and ceremony
}

// plan checks a proposal against the parent record.
func (pr *Proposal) plan(p *PublicKey) (*plan, error) {
	if pr.parent != p.id || pr.epoch != p.epoch {
		return nil, &KeyError{"proposal", pr.parent, p.id, pr.epoch, p.epoch}
	}
	pl, err := pr.newPlan(p)
	if err != nil {
		return nil, fmt.Errorf("thresholdrsa: proposal: %w", err)
	}
	return pl, nil
}

func (pr *Proposal) newPlan(p *PublicKey) (*plan, error) {
	l := len(pr.receivers)
	if p.k < 2 || pr.k < 2 {
		return nil, errors.New("a ceremony needs a threshold of 2 or more before and after it")
	}
	if l < 1 || l > MaxHolders || pr.k > l {
		return nil, fmt.Errorf("threshold %d of %d holders", pr.k, l)
	}
	if p.e <= l {
		return nil, fmt.Errorf("%d holders, and the public exponent %d must be above that", l, p.e)
	}
	for i, c := range pr.contributors {
		if c < 1 || c > p.l || i > 0 && pr.contributors[i-1] >= c {
			return nil, fmt.Errorf("contributors %v aren't different holders from 1 to %d in order", pr.contributors, p.l)
		}
	}
	pl := &plan{pr: pr, id: pr.ID(), parent: p}
	next := PublicKey{
		n: p.n, e: p.e, k: pr.k, l: l, form: FormInteger, root: p.root, v: p.v, epoch: p.epoch + 1, parent: p.id,
	}
	for _, r := range pr.receivers {
		if err := r.check(true); err != nil {
			return nil, err
		}
		next.holders = append(next.holders, Holder{r.name, r.identity, r.next})
		if len(r.sig) == 0 && !slices.ContainsFunc(p.holders, func(h Holder) bool {
			return h.Name == r.name && bytes.Equal(h.Identity, r.identity) && bytes.Equal(h.Encryption, r.run)
		}) {
			return nil, fmt.Errorf("the keys of %q are neither signed nor those of the record", r.name)
		}
	}
	if err := checkHolders(next.holders); err != nil {
		return nil, err
	}
	switch pr.kind {
	case Refresh:
		if p.form != FormInteger {
			return nil, errors.New("a key in modular form is refreshed by a reshare")
		}
		if len(pr.contributors) < p.k {
			return nil, fmt.Errorf("%d contributors: a refresh needs %d, so that one is honest", len(pr.contributors), p.k)
		}
		if pr.k != p.k || l != p.l {
			return nil, errors.New("a refresh keeps the threshold and the holders")
		}
		for i, h := range p.holders {
			if next.holders[i].Name != h.Name || !bytes.Equal(next.holders[i].Identity, h.Identity) {
				return nil, fmt.Errorf("a refresh keeps the holders, and holder %d isn't %q", i+1, h.Name)
			}
		}
		pl.refresh(&next)
	case Reshare:
		if len(pr.contributors) != p.k {
			return nil, fmt.Errorf("%d contributors: exactly %d reshare this key", len(pr.contributors), p.k)
		}
		pl.reshare(&next)
	default:
		return nil, fmt.Errorf("unknown %v", pr.kind)
	}
	if !toys() && next.smax.BitLen() > 2*p.n.BitLen() {
		return nil, fmt.Errorf("the new shares would have %d bits, and at most %d are handled", next.smax.BitLen(), 2*p.n.BitLen())
	}
	pl.next = next
	return pl, nil
}

// refresh sets the parameters of
//
//	g_k(X) = sum_{t=1}^{K-1} b_{k,t} X^t, b_{k,t} uniform in [0, 2^beta), beta = 144 + BitLen(4 U Delta K)
//	s'_i = s_i + sum_k g_k(i), Smax' = Smax + |R| 2^beta sum_{t=1}^{K-1} L^t
//
// Gamma and U stay: sum_i lambda_i g_k(i) = Delta g_k(0) = 0 for every quorum.
func (pl *plan) refresh(next *PublicKey) {
	p := pl.parent
	next.gamma, next.ubound = p.gamma, p.ubound
	x := new(big.Int).Mul(p.ubound, factorial(p.l))
	pl.beta = hidingBits + x.Mul(x, big.NewInt(int64(4*p.k))).BitLen()
	sum := pl.random(p.l)
	next.smax = sum.Mul(sum, big.NewInt(int64(len(pl.pr.contributors))))
	next.smax.Add(next.smax, p.smax)
}

// reshare sets the parameters of, with Delta' = L'!, lambda_i for the contributors
// and lmax the largest |lambda_i|,
//
//	g_i(X) = c_i + sum_{t=1}^{K'-1} b_{i,t} X^t, c_i = Delta' lambda_i s_i
//	b_{i,1} uniform in [O_i, O_i + 2^beta), the others in [0, 2^beta)
//	O_i = Delta' |lambda_i| Smax if lambda_i < 0, else 0: no value is negative
//	beta = 144 + BitLen(K K' Delta' lmax M)
//	M = Smax (modular) or 2 U Delta binom(L-1, K-1) (integer): how far one share can move while K-1 stay
//	s'_j = sum_i g_i(j), Smax' = sum_i G_i(L'), Gamma' = Delta'^2 Gamma
//	U' = Delta^2 U (integer) or K lmax Smax (modular)
//
// since sum lambda'_j s'_j = Delta' f'(0) = Delta'^2 sum lambda_i s_i = Delta'^2 Gamma d.
// The factor Delta' in c_i hides s_i mod j.
func (pl *plan) reshare(next *PublicKey) {
	p := pl.parent
	delta, delta2 := factorial(p.l), factorial(next.l)
	lmax := new(big.Int)
	for _, lambda := range lagrange(pl.pr.contributors, p.l) {
		if lambda.CmpAbs(lmax) > 0 {
			lmax.Abs(lambda)
		}
		c, o := new(big.Int).Mul(lambda, delta2), new(big.Int)
		if c.Sign() < 0 {
			o.Mul(o.Abs(c), p.smax)
		}
		pl.lambda, pl.offset = append(pl.lambda, c), append(pl.offset, o)
	}
	m := new(big.Int).Set(p.smax)
	if p.form == FormInteger {
		m.Binomial(int64(p.l-1), int64(p.k-1))
		m.Lsh(m.Mul(m, delta), 1)
		m.Mul(m, p.ubound)
		next.ubound = new(big.Int).Mul(delta, delta)
		next.ubound.Mul(next.ubound, p.ubound)
	} else {
		next.ubound = new(big.Int).Mul(big.NewInt(int64(p.k)), lmax)
		next.ubound.Mul(next.ubound, p.smax)
	}
	m.Mul(m, lmax).Mul(m, delta2)
	pl.beta = hidingBits + m.Mul(m, big.NewInt(int64(p.k*next.k))).BitLen()
	next.gamma = new(big.Int).Mul(delta2, delta2)
	next.gamma.Mul(next.gamma, p.gamma)
	next.smax = new(big.Int)
	for c := range pl.pr.contributors {
		next.smax.Add(next.smax, pl.bound(c, next.l))
	}
}

// random returns 2^beta sum_{t=1}^{K'-1} j^t, above all that the random
// coefficients add up to at j.
func (pl *plan) random(j int) *big.Int {
	sum := powerSum(j, 1, pl.pr.k-1)
	return sum.Lsh(sum, uint(pl.beta))
}

// bound returns what the c-th contributor's value for receiver j is below:
// G_i(j) = max(0, Delta' lambda_i) Smax + O_i j + 2^beta sum_{t=1}^{K'-1} j^t,
// or the last summand alone in a refresh.
func (pl *plan) bound(c, j int) *big.Int {
	g := pl.random(j)
	if pl.pr.kind == Reshare {
		if pl.lambda[c].Sign() > 0 {
			g.Add(g, new(big.Int).Mul(pl.lambda[c], pl.parent.smax))
		}
		g.Add(g, new(big.Int).Mul(pl.offset[c], big.NewInt(int64(j))))
	}
	return g
}

func (pr *Proposal) encode() []byte {
	var e wire.Encoder
	e.U8(version)
	e.U8(suite)
	e.U8(uint8(pr.kind))
	e.Fixed(pr.parent[:])
	e.U64(pr.epoch)
	e.Fixed(pr.run[:])
	e.U8(uint8(pr.k))
	e.U8(uint8(len(pr.contributors)))
	for _, c := range pr.contributors {
		e.U8(uint8(c))
	}
	e.U8(uint8(len(pr.receivers)))
	for _, r := range pr.receivers {
		r.put(&e)
	}
	return e.Data()
}

// MarshalBinary returns the canonical encoding. The error is always nil.
func (pr *Proposal) MarshalBinary() ([]byte, error) { return pr.encode(), nil }

// UnmarshalBinary decodes a proposal. It is checked against the parent record
// where it is used.
func (pr *Proposal) UnmarshalBinary(data []byte) error {
	d := wire.NewDecoder(data)
	d.Header(version, suite)
	q := Proposal{kind: Kind(d.U8("kind"))}
	d.Read("parent", q.parent[:])
	q.epoch = d.U64("epoch")
	d.Read("run", q.run[:])
	q.k = int(d.U8("threshold"))
	for range d.U8("contributors") {
		q.contributors = append(q.contributors, int(d.U8("contributor")))
	}
	for range d.U8("receivers") {
		q.receivers = append(q.receivers, getReceiver(d))
	}
	if err := d.Finish(); err != nil {
		return fmt.Errorf("thresholdrsa: proposal: %w", err)
	}
	*pr = q
	return nil
}

// A CeremonyError says whose message stops a ceremony, and why.
type CeremonyError struct {
	Role    string // "contributor" or "receiver"
	Index   int
	Name    string
	Reason  string
	Refusal *Refusal // to be published, where a receiver refuses a contribution

	signed bool     // the party signed what is wrong
	digest [32]byte // of the contribution that is wrong
}

func (e *CeremonyError) Error() string {
	return fmt.Sprintf("thresholdrsa: ceremony: %s %d (%s): %s", e.Role, e.Index, e.Name, e.Reason)
}
