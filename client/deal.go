// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package client

import (
	"context"
	"crypto/rand"
	"errors"
	"slices"
	"time"

	thresholdv1 "github.com/undersign/undersign/gen/undersign/threshold/v1"
	"github.com/undersign/undersign/internal/threshold"
	"github.com/undersign/undersign/thresholdrsa"
)

// A Transcript is a dealer's signed statement of what it has dealt.
type Transcript = threshold.Transcript

// A DealRequest says what key a dealer is to make.
type DealRequest struct {
	Bits      int
	Threshold int
	Holders   []DealHolder
	// Progress, if it isn't nil, is told now and then how many candidates for a prime
	// were tested, and how many are expected on average.
	Progress func(candidates, expected uint64)
}

// A DealHolder is somebody who gets a share, as an age file for the recipients.
type DealHolder struct {
	Name       string
	Recipients []string
}

// A Deal is what a dealer has made. The shares are sealed: only their holders open them,
// and should check them with thresholdrsa's CheckDealing.
type Deal struct {
	Dealing    *thresholdrsa.Dealing
	Shares     [][]byte // age files, in the order of the holders
	Transcript *Transcript
}

// dealPause is what lies between two questions how far a deal is.
const dealPause = 200 * time.Millisecond

// Deal has the node, which must be a dealer, make a key, and checks all of what it sends
// that can be checked without the shares.
func (n *Node) Deal(ctx context.Context, r *DealRequest) (*Deal, error) {
	req := &thresholdv1.DealRequest{Id: make([]byte, 16), Bits: uint32(r.Bits), Threshold: uint32(r.Threshold)}
	rand.Read(req.Id)
	for _, h := range r.Holders {
		req.Holders = append(req.Holders, &thresholdv1.DealHolder{Name: h.Name, Recipients: h.Recipients})
	}
	c := n.threshold()
	if _, err := c.Deal(ctx, req); err != nil {
		return nil, n.decode(err)
	}
	for {
		asked := time.Now()
		resp, err := c.Dealt(ctx, &thresholdv1.DealtRequest{Id: req.Id, WaitMs: 1000})
		if err != nil {
			return nil, n.decode(err)
		}
		if resp.Done {
			return n.readDeal(r, resp)
		}
		if r.Progress != nil {
			r.Progress(resp.Candidates, resp.Expected)
		}
		// A dealer that doesn't wait, though it is asked to, isn't asked without end.
		select {
		case <-time.After(time.Until(asked.Add(dealPause))):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

func (n *Node) readDeal(r *DealRequest, resp *thresholdv1.DealtResponse) (*Deal, error) {
	d := &Deal{Dealing: new(thresholdrsa.Dealing), Shares: resp.Shares, Transcript: new(Transcript)}
	if err := d.Dealing.UnmarshalBinary(resp.Dealing); err != nil {
		return nil, err
	}
	if err := d.Dealing.Verify(); err != nil {
		return nil, err
	}
	if err := d.Transcript.UnmarshalBinary(resp.Transcript); err != nil {
		return nil, err
	}
	t := d.Transcript
	if err := t.Verify(n.Fingerprint(), d.Dealing); err != nil {
		return nil, err
	}
	same := slices.EqualFunc(t.Holders, r.Holders, func(a threshold.TranscriptHolder, b DealHolder) bool {
		return a.Name == b.Name && slices.Equal(a.Recipients, b.Recipients)
	})
	if !same || t.Bits != r.Bits || t.Threshold != r.Threshold || t.Party != n.self || len(d.Shares) != len(r.Holders) {
		return nil, errors.New("client: the dealer has dealt something else than was asked for")
	}
	for i, s := range d.Shares {
		if err := t.VerifyShare(i+1, s); err != nil {
			return nil, err
		}
	}
	return d, nil
}
