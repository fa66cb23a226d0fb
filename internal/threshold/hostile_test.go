// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package threshold_test

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"connectrpc.com/connect"

	"github.com/undersign/undersign/client"
	thresholdv1 "github.com/undersign/undersign/gen/undersign/threshold/v1"
	"github.com/undersign/undersign/gen/undersign/threshold/v1/thresholdv1connect"
	"github.com/undersign/undersign/internal/threshold"
	"github.com/undersign/undersign/thresholdrsa"
)

// A rogue is in the place of a node, with its key.
type rogue struct {
	thresholdv1connect.UnimplementedThresholdServiceHandler
	share atomic.Pointer[shareFunc]
}

type shareFunc func(context.Context, *thresholdv1.ShareRequest) (*thresholdv1.ShareResponse, error)

func (r *rogue) Share(ctx context.Context, req *thresholdv1.ShareRequest) (*thresholdv1.ShareResponse, error) {
	return (*r.share.Load())(ctx, req)
}

func (r *rogue) set(f shareFunc) { r.share.Store(&f) }

// replace stops node i and puts a rogue in its place.
func (c *cluster) replace(i int, share shareFunc) *rogue {
	c.t.Helper()
	n := c.nodes[i]
	if err := n.stop(); err != nil {
		c.t.Fatal(err)
	}
	r := new(rogue)
	r.set(share)
	serveAt(c.t, n.id, n.Addr().String(), r)
	return r
}

// answer makes a rogue's answer from the request that it gets.
func (c *cluster) answer(make func(*thresholdrsa.Request) (*thresholdrsa.SignatureShare, error)) shareFunc {
	return func(_ context.Context, req *thresholdv1.ShareRequest) (*thresholdv1.ShareResponse, error) {
		r := new(thresholdrsa.Request)
		if err := r.UnmarshalBinary(req.Request); err != nil {
			return nil, err
		}
		s, err := make(r)
		if err != nil {
			return nil, err
		}
		data, err := s.MarshalBinary()
		return &thresholdv1.ShareResponse{Share: data}, err
	}
}

func hang(ctx context.Context, _ *thresholdv1.ShareRequest) (*thresholdv1.ShareResponse, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

// lie returns a wrong share, with a proof that can't be right.
func (c *cluster) lie(i int) shareFunc { return c.spoil(i, func(data []byte) { data[128] ^= 1 }) }

// wrongProof returns the right share with a proof that is wrong.
func (c *cluster) wrongProof(i int) shareFunc {
	return c.spoil(i, func(data []byte) { data[len(data)-1] ^= 1 })
}

// spoil returns a share of which something was changed.
func (c *cluster) spoil(i int, change func(data []byte)) shareFunc {
	return c.answer(func(r *thresholdrsa.Request) (*thresholdrsa.SignatureShare, error) {
		s, err := c.shares[i].Sign(r)
		if err != nil {
			return nil, err
		}
		data, err := s.MarshalBinary()
		if err != nil {
			return nil, err
		}
		change(data)
		bad := new(thresholdrsa.SignatureShare)
		return bad, bad.UnmarshalBinary(data)
	})
}

func named(faults []client.Fault, name string) *client.Fault {
	i := slices.IndexFunc(faults, func(f client.Fault) bool { return f.Name == name })
	if i < 0 {
		return nil
	}
	return &faults[i]
}

// A signature comes out with two nodes dead and one that lies, and says whose share was
// wrong. K = 2 of 5 is one more than it takes, K = 3 of 6 exactly as many.
func TestTwoDeadOneLying(t *testing.T) {
	t.Parallel()
	for _, kl := range [][2]int{{2, 5}, {3, 6}} {
		c := newCluster(t, kl[0], kl[1], nil)
		u := c.newUser(c.nodes[0])
		last := kl[1] - 1
		c.replace(1, c.lie(1)) // early in the order, so that it is asked
		for _, dead := range []int{2, last} {
			if err := c.nodes[dead].stop(); err != nil {
				t.Fatal(err)
			}
		}
		start := time.Now()
		if err := u.sign(t, "m"); err != nil {
			t.Fatalf("%d of %d: %v", kl[0], kl[1], err)
		}
		t.Logf("%d of %d, two dead, one lying: %v", kl[0], kl[1], time.Since(start))
		bob := named(u.faults, "bob")
		if bob == nil || bob.Kind != threshold.Bad || bob.Index != 2 || bob.Holder != "bob" || bob.Party != c.nodes[1].Fingerprint() {
			t.Errorf("%d of %d: the liar isn't named: %v", kl[0], kl[1], u.faults)
		}
		for _, f := range u.faults {
			if f.Kind == threshold.Bad && f.Name != "bob" {
				t.Errorf("%d of %d: %v is blamed", kl[0], kl[1], f)
			}
		}
		// One more, and it is too few.
		if kl[0] == 3 {
			if err := c.nodes[3].stop(); err != nil {
				t.Fatal(err)
			}
			var q *client.QuorumError
			if err := u.sign(t, "n"); !errors.As(err, &q) || q.Have != 2 || q.Need != 3 {
				t.Errorf("three dead, one lying: %v", err)
			}
		}
	}
}

// Every wrong answer is named as such, and none stops a signature or gets into one.
func TestWrongAnswers(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 2, 3, nil)
	u := c.newUser(c.nodes[0])
	_, shares, err := thresholdrsa.Deal(testKey(t), 2, 3, &thresholdrsa.DealOptions{Names: holderNames[:3]})
	if err != nil {
		t.Fatal(err)
	}
	var replay []byte
	bobs := c.replace(1, hang)
	carols := c.replace(2, hang)
	honest := c.answer(func(r *thresholdrsa.Request) (*thresholdrsa.SignatureShare, error) { return c.shares[2].Sign(r) })
	for _, tt := range []struct {
		what   string
		answer shareFunc
		kind   threshold.FaultKind
	}{
		{"a wrong share", c.lie(1), threshold.Bad},
		{"the right share with a wrong proof", c.wrongProof(1), 0},
		{"a share of another sharing of the key", c.answer(func(r *thresholdrsa.Request) (*thresholdrsa.SignatureShare, error) {
			q, err := thresholdrsa.NewRequest(shares[1].PublicKey(), r.Digest(), r.Hash())
			if err != nil {
				return nil, err
			}
			return shares[1].Sign(q)
		}), threshold.Bad},
		{"a share for another request", c.answer(func(r *thresholdrsa.Request) (*thresholdrsa.SignatureShare, error) {
			q, _ := request(t, c.key, "something else")
			return c.shares[1].Sign(q)
		}), threshold.Bad},
		{"no share", func(context.Context, *thresholdv1.ShareRequest) (*thresholdv1.ShareResponse, error) {
			return &thresholdv1.ShareResponse{}, nil
		}, threshold.Failed},
		{"rubbish", func(context.Context, *thresholdv1.ShareRequest) (*thresholdv1.ShareResponse, error) {
			return &thresholdv1.ShareResponse{Share: bytes.Repeat([]byte{7}, 1000)}, nil
		}, threshold.Bad},
		{"much rubbish", func(context.Context, *thresholdv1.ShareRequest) (*thresholdv1.ShareResponse, error) {
			return &thresholdv1.ShareResponse{Share: make([]byte, 80<<10)}, nil
		}, threshold.Failed},
		{"denied", func(context.Context, *thresholdv1.ShareRequest) (*thresholdv1.ShareResponse, error) {
			return nil, connect.NewError(connect.CodePermissionDenied, errors.New("no\x1b[31m"))
		}, threshold.Denied},
		{"a long story", func(context.Context, *thresholdv1.ShareRequest) (*thresholdv1.ShareResponse, error) {
			return nil, connect.NewError(connect.CodePermissionDenied, errors.New(strings.Repeat("x", 5000)))
		}, threshold.Denied},
		{"later epoch, without certificates", func(context.Context, *thresholdv1.ShareRequest) (*thresholdv1.ShareResponse, error) {
			e := connect.NewError(connect.CodeFailedPrecondition, errors.New("later"))
			d, err := connect.NewErrorDetail(&thresholdv1.Superseded{})
			if err != nil {
				return nil, err
			}
			e.AddDetail(d)
			return nil, e
		}, threshold.Absent},
		{"the answer of the time before", func(_ context.Context, req *thresholdv1.ShareRequest) (*thresholdv1.ShareResponse, error) {
			if replay == nil {
				r := new(thresholdrsa.Request)
				if err := r.UnmarshalBinary(req.Request); err != nil {
					return nil, err
				}
				s, err := c.shares[1].Sign(r)
				if err != nil {
					return nil, err
				}
				if replay, err = s.MarshalBinary(); err != nil {
					return nil, err
				}
			}
			return &thresholdv1.ShareResponse{Share: replay}, nil
		}, 0},
		{"a replay", func(context.Context, *thresholdv1.ShareRequest) (*thresholdv1.ShareResponse, error) {
			return &thresholdv1.ShareResponse{Share: replay}, nil
		}, threshold.Bad},
		{"another node's share", c.answer(func(r *thresholdrsa.Request) (*thresholdrsa.SignatureShare, error) {
			return c.shares[0].Sign(r) // it counts once
		}), threshold.Failed},
	} {
		// Carol answers once bob has.
		asked := make(chan struct{})
		var once sync.Once
		bobs.set(func(ctx context.Context, req *thresholdv1.ShareRequest) (*thresholdv1.ShareResponse, error) {
			defer once.Do(func() { time.AfterFunc(150*time.Millisecond, func() { close(asked) }) })
			return tt.answer(ctx, req)
		})
		carols.set(func(ctx context.Context, req *thresholdv1.ShareRequest) (*thresholdv1.ShareResponse, error) {
			select {
			case <-asked:
			case <-ctx.Done():
			}
			return honest(ctx, req)
		})
		if err := u.sign(t, tt.what); err != nil {
			t.Errorf("%s: %v", tt.what, err)
			continue
		}
		bob := named(u.faults, "bob")
		switch {
		case tt.kind == 0 || tt.kind == threshold.Absent:
			if bob != nil {
				t.Errorf("%s: %v", tt.what, bob)
			}
		case bob == nil || bob.Kind != tt.kind || len(bob.Reason) > 400:
			t.Errorf("%s: %v", tt.what, bob)
		}
	}
}

// Nodes that hang don't hold up the others, and one that is slow is waited for if it is
// needed.
func TestSilentAndSlow(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 2, 4, nil)
	u := c.newUser(c.nodes[0])
	c.replace(1, hang)
	c.replace(2, hang)
	start := time.Now()
	if err := u.sign(t, "m"); err != nil {
		t.Fatal(err)
	}
	if d := time.Since(start); d > 9*time.Second {
		t.Errorf("it took %v", d)
	}
	good := c.answer(func(r *thresholdrsa.Request) (*thresholdrsa.SignatureShare, error) { return c.shares[3].Sign(r) })
	daves := c.replace(3, func(ctx context.Context, req *thresholdv1.ShareRequest) (*thresholdv1.ShareResponse, error) {
		select {
		case <-time.After(1500 * time.Millisecond):
		case <-ctx.Done():
		}
		return good(ctx, req)
	})
	if err := u.sign(t, "n"); err != nil {
		t.Errorf("a slow node: %v", err)
	}
	// With nobody else it ends when the time is over, and says who is silent.
	daves.set(hang)
	slow := u.node.Signer(c.key, &client.SignerOptions{Timeout: 2 * time.Second})
	u.signer = slow
	err := u.sign(t, "o")
	var q *client.QuorumError
	if !errors.As(err, &q) {
		t.Fatalf("%v", err)
	}
	for _, name := range []string{"bob", "carol", "dave"} {
		if f := named(q.Faults, name); f == nil || f.Kind != threshold.Silent {
			t.Errorf("%s: %v", name, f)
		}
	}
}
