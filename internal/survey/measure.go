// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package survey

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/undersign/undersign/internal/bls12381"
	"github.com/undersign/undersign/internal/cputime"
	"github.com/undersign/undersign/internal/opcount"
)

// A Row is what was found out about a scheme in one form.
type Row struct {
	Scheme    string `json:"scheme"`
	Features  string `json:"features"`
	Legacy    bool   `json:"legacy,omitempty"` // of package legacy
	Sign      Work   `json:"sign"`
	Verify    Work   `json:"verify"`
	Signature Size   `json:"signature"`
	GroupKey  Size   `json:"group_key"`
	// Sizes of encoded secret keys, in bytes; 0 for who isn't there.
	IssuerKey int `json:"issuer_key_bytes,omitempty"`
	OpenerKey int `json:"opener_key_bytes,omitempty"`
	MemberKey int `json:"member_key_bytes"`
	// Times are minima of processor time, in milliseconds.
	SetupMS  float64 `json:"setup_ms"`
	JoinMS   float64 `json:"join_ms"`
	SignMS   float64 `json:"sign_ms"`
	VerifyMS float64 `json:"verify_ms"`

	Survey *Published `json:"survey,omitempty"`
}

// Work is how many operations were done.
type Work struct {
	MulG1    int `json:"g1"`
	MulG2    int `json:"g2"`
	ExpGT    int `json:"gt"`
	ExpZn    int `json:"zn"`
	Pairings int `json:"pairings"`
	Products int `json:"pairing_products"` // which have one final exponentiation each
	Hashes   int `json:"hashes"`           // to G1 or G2

	text string
}

// String lists the operations, as in "3 e + 2 G1".
func (w Work) String() string { return w.text }

func workOf(c opcount.Counts) Work {
	w := Work{
		MulG1: c[opcount.MulG1], MulG2: c[opcount.MulG2], ExpGT: c[opcount.ExpGT], ExpZn: c[opcount.ExpZn],
		Pairings: c[opcount.Pairing], Products: c[opcount.FinalExp], Hashes: c[opcount.HashG1] + c[opcount.HashG2],
	}
	w.text = c.Format(opcount.Pairing, opcount.MulG1, opcount.MulG2, opcount.ExpGT, opcount.ExpZn, opcount.HashG1, opcount.HashG2)
	return w
}

// Size is of what a signature or a key has, and of its encoding. The difference is what
// isn't an element: versions, features, labels, epochs, challenges that are digests.
type Size struct {
	G1       int    `json:"g1"`
	G2       int    `json:"g2"`
	GT       int    `json:"gt"`
	Scalars  int    `json:"scalars"`
	Zn       int    `json:"zn"`
	Integers int    `json:"integers"`
	Computed int    `json:"computed_bytes"`
	Encoded  int    `json:"encoded_bytes"`
	text     string // elements
}

// String lists the elements, as in "3 G1 + 2 Zr".
func (s Size) String() string { return s.text }

func sizeOf(c opcount.Counts, encoded int) Size {
	return Size{
		G1: c[opcount.DecodeG1], G2: c[opcount.DecodeG2], GT: c[opcount.DecodeGT], Scalars: c[opcount.DecodeScalar],
		Zn: c[opcount.DecodeZn], Integers: c[opcount.DecodeInt], Computed: c[opcount.DecodedBytes], Encoded: encoded,
		text: strings.ReplaceAll(c.Format(opcount.DecodeG1, opcount.DecodeG2, opcount.DecodeGT, opcount.DecodeScalar,
			opcount.DecodeZn, opcount.DecodeInt), "decode ", ""),
	}
}

// A Survey says what to measure.
type Survey struct {
	Schemes  []string // nil for all
	Draws    int      // of each time; joins and setups have fewer
	Progress func(done, total int, what string)
}

// Names returns the names of all schemes that can be measured.
func Names() []string {
	var out []string
	for _, s := range subjects() {
		if !slices.Contains(out, s.name) {
			out = append(out, s.name)
		}
	}
	return out
}

// Run counts and measures. Nothing else should run in the process meanwhile.
func (s *Survey) Run(ctx context.Context) ([]Row, error) {
	var rows []Row
	list := slices.DeleteFunc(subjects(), func(x subject) bool {
		return s.Schemes != nil && !slices.Contains(s.Schemes, x.name)
	})
	for i, x := range list {
		if s.Progress != nil {
			s.Progress(i, len(list), x.name)
		}
		r, err := x.measure(ctx, s.Draws)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil {
			return nil, fmt.Errorf("survey: %s with %s: %w", x.name, x.features, err)
		}
		rows = append(rows, *r)
	}
	return rows, nil
}

// maxSlow is how often what takes long is measured.
const maxSlow = 3

// measure fills a row. Operations are counted of a second signature and verification: the
// first make tables that stay.
func (x *subject) measure(ctx context.Context, draws int) (*Row, error) {
	r := &Row{Scheme: x.name, Features: x.features, Legacy: x.legacy, Survey: PublishedOf(x.name)}
	var g instance
	slow, setups := min(draws, maxSlow), min(draws, maxSlow)
	if x.legacy {
		setups = 1
	}
	var err error
	if r.SetupMS, err = fastest(ctx, setups, func(int) (err error) {
		g, err = x.new(ctx)
		return err
	}); err != nil {
		return nil, err
	}
	if r.JoinMS, err = fastest(ctx, slow, func(i int) error { return g.join(fmt.Sprint("member ", i)) }); err != nil {
		return nil, err
	}
	msg := []byte("the message that all schemes sign")
	sig, err := g.sign(msg)
	if err == nil {
		err = g.verify(msg, sig)
	}
	if err != nil {
		return nil, err
	}
	r.Sign = workOf(opcount.Count(func() { sig, err = g.sign(msg) }))
	if err != nil {
		return nil, err
	}
	r.Verify = workOf(opcount.Count(func() { err = g.verify(msg, sig) }))
	if err != nil {
		return nil, err
	}
	r.Signature = sizeOf(opcount.Count(func() { err = g.decode(msg, sig) }), len(sig))
	if err != nil {
		return nil, err
	}
	key, err := g.groupKey()
	if err != nil {
		return nil, err
	}
	r.GroupKey = sizeOf(opcount.Count(func() { err = g.parseGroupKey(key) }), len(key))
	if err != nil {
		return nil, err
	}
	if r.IssuerKey, r.OpenerKey, r.MemberKey, err = g.secrets(); err != nil {
		return nil, err
	}
	if r.SignMS, err = fastest(ctx, draws, func(int) error { _, err := g.sign(msg); return err }); err != nil {
		return nil, err
	}
	r.VerifyMS, err = fastest(ctx, draws, func(int) error { return g.verify(msg, sig) })
	return r, err
}

// fastest returns the least processor time of some runs, in milliseconds.
func fastest(ctx context.Context, draws int, f func(i int) error) (float64, error) {
	best := time.Duration(-1)
	for i := range draws {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		start := cputime.Process()
		if err := f(i); err != nil {
			return 0, err
		}
		if d := cputime.Process() - start; best < 0 || d < best {
			best = d
		}
	}
	return float64(best.Microseconds()) / 1000, nil
}

// PairingMS is what one pairing takes, to compare machines by.
func PairingMS(ctx context.Context, draws int) (float64, error) {
	p, q := bls12381.G1Generator(), bls12381.G2Generator()
	return fastest(ctx, draws, func(int) error {
		new(bls12381.GT).PairVarTime(p, q)
		return nil
	})
}
