// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package client

import (
	"context"
	"crypto"
	"crypto/rsa"
	"errors"
	"io"
	"sync"
	"time"

	"github.com/undersign/undersign/gen/undersign/threshold/v1/thresholdv1connect"

	thresholdv1 "github.com/undersign/undersign/gen/undersign/threshold/v1"
	"github.com/undersign/undersign/internal/rpc"
	"github.com/undersign/undersign/internal/threshold"
	"github.com/undersign/undersign/thresholdrsa"
)

// ErrQuorum is what a [QuorumError] unwraps to.
var ErrQuorum = threshold.ErrQuorum

type (
	// A QuorumError says that too few good shares came together, and why the others
	// didn't.
	QuorumError = threshold.QuorumError
	// A RejectedError says that a person refused the request.
	RejectedError = threshold.RejectedError
	// A Fault says which node gave no good share, and why.
	Fault = threshold.Fault
)

// SignerOptions are a signer's settings. The zero value, and nil, are ready to use.
type SignerOptions struct {
	// Timeout bounds one signature. 0 means 30 seconds.
	Timeout time.Duration
	// Faults, if it isn't nil, is told who gave no good share for a signature that came
	// out all the same.
	Faults func([]Fault)
}

// A Signer is a crypto.Signer whose signatures a quorum of nodes makes. The node that it
// asks only collects: what it returns is verified. It may be used by several goroutines.
type Signer struct {
	node *Node
	rpc  thresholdv1connect.ThresholdServiceClient
	opts SignerOptions
	name string

	mu     sync.Mutex
	record *thresholdrsa.PublicKey
}

// Signer returns a signer for a key. record is of any epoch of it that the nodes know: the
// signer follows the certificates from there.
func (n *Node) Signer(record *thresholdrsa.PublicKey, opts *SignerOptions) *Signer {
	s := &Signer{node: n, rpc: n.threshold(), record: record, name: threshold.KeyName(record)}
	if opts != nil {
		s.opts = *opts
	}
	if s.opts.Timeout <= 0 {
		s.opts.Timeout = 30 * time.Second
	}
	return s
}

func (n *Node) threshold() thresholdv1connect.ThresholdServiceClient {
	return thresholdv1connect.NewThresholdServiceClient(n.peer.HTTP(), n.peer.URL(), n.peer.Options(threshold.MaxMessage)...)
}

// Public returns the *rsa.PublicKey.
func (s *Signer) Public() crypto.PublicKey { return s.Record().RSA() }

// Record returns the key's record, the newest that the signer knows.
func (s *Signer) Record() *thresholdrsa.PublicKey {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.record
}

// Sign returns the quorum's signature of a digest; opts are those of
// [thresholdrsa.NewRequest]. The reader is ignored.
func (s *Signer) Sign(_ io.Reader, digest []byte, opts crypto.SignerOpts) ([]byte, error) {
	ctx, cancel := context.WithTimeout(context.Background(), s.opts.Timeout)
	defer cancel()
	return s.SignContext(ctx, digest, opts)
}

// SignContext is Sign for a caller who may give up.
func (s *Signer) SignContext(ctx context.Context, digest []byte, opts crypto.SignerOpts) ([]byte, error) {
	// While a ceremony ends, some nodes have the new shares and some the old.
	for delay := 50 * time.Millisecond; ; delay = min(2*delay, time.Second) {
		record := s.Record()
		r, err := thresholdrsa.NewRequest(record, digest, opts)
		if err != nil {
			return nil, err
		}
		sig, err := s.sign(ctx, r, record.RSA())
		if !errors.Is(err, threshold.ErrSuperseded) {
			return sig, err
		}
		moved, ferr := s.follow(ctx, record)
		if ferr != nil {
			return nil, ferr
		}
		if moved {
			continue
		}
		select {
		case <-time.After(delay):
		case <-ctx.Done():
			return nil, err
		}
	}
}

func (s *Signer) sign(ctx context.Context, r *thresholdrsa.Request, pub *rsa.PublicKey) ([]byte, error) {
	data, err := r.MarshalBinary()
	if err != nil {
		return nil, err
	}
	resp, err := s.rpc.Sign(ctx, &thresholdv1.SignRequest{Request: data, Key: s.name})
	if err != nil {
		return nil, s.node.decode(err)
	}
	if err := r.Verify(pub, resp.Signature); err != nil {
		return nil, errors.New("client: the node returned a signature that is wrong")
	}
	if s.opts.Faults != nil && len(resp.Faults) > 0 {
		s.opts.Faults(threshold.DecodeFaults(resp.Faults))
	}
	return resp.Signature, nil
}

// decode returns what the error of a call means.
func (n *Node) decode(err error) error { return threshold.DecodeError(rpc.DecodeError(n.self, err)) }

// follow gets the certificates that lead on from a record, and reports whether there are any.
func (s *Signer) follow(ctx context.Context, record *thresholdrsa.PublicKey) (bool, error) {
	id := record.ID()
	resp, err := s.rpc.Key(ctx, &thresholdv1.KeyRequest{RecordId: id[:], Key: s.name})
	if err != nil {
		return false, s.node.decode(err)
	}
	if len(resp.Certificates) == 0 {
		return false, nil
	}
	next, _, err := threshold.Follow(record, resp.Certificates)
	if err != nil {
		return false, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if next.Epoch() > s.record.Epoch() {
		s.record = next
	}
	return true, nil
}
