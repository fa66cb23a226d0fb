// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

// Package frame turns the messages of package distill into those of the schema and back.
// What comes many at a time is in columns, and is taken apart without a copy of each
// item where that can be. Every column's length is checked before anything is made of it.
package frame

import (
	"errors"
	"fmt"

	aggregatev1 "github.com/undersign/undersign/gen/undersign/aggregate/v1"

	"github.com/undersign/undersign/bls"
	"github.com/undersign/undersign/distill"
)

// MaxItems is the number of items in the largest frame.
const MaxItems = 4096

var errColumns = errors.New("frame: columns of different lengths, or too long")

// columns returns an error unless all columns have the same length, which is returned.
func columns(lengths ...int) (int, error) {
	n := lengths[0]
	for _, l := range lengths {
		if l != n || n > MaxItems {
			return 0, errColumns
		}
	}
	return n, nil
}

// Pairs returns the columns of ids and nonces, checked.
func Pairs(ids, nonces []uint64) (int, error) { return columns(len(ids), len(nonces)) }

// AddSubmission appends a submission.
func AddSubmission(f *aggregatev1.Submissions, s *distill.Submission) {
	f.Ids = append(f.Ids, s.ID)
	f.Nonces = append(f.Nonces, s.Nonce)
	f.NotAfter = append(f.NotAfter, s.NotAfter)
	f.Payloads = append(f.Payloads, s.Payload...)
	f.Ends = append(f.Ends, uint32(len(f.Payloads)))
	f.Signatures = append(f.Signatures, s.Signature...)
	f.Sizes = append(f.Sizes, uint32(len(s.Signature)))
}

// Submissions calls each with the submissions of a frame, whose slices are the frame's.
func Submissions(f *aggregatev1.Submissions, each func(*distill.Submission)) error {
	n, err := columns(len(f.GetIds()), len(f.GetNonces()), len(f.GetNotAfter()), len(f.GetEnds()), len(f.GetSizes()))
	if err != nil {
		return err
	}
	from, at := uint64(0), uint64(0)
	for i := range n { // before anything is done with one of them
		end := uint64(f.Ends[i])
		if end < from || end > uint64(len(f.GetPayloads())) || f.Sizes[i] > bls.SignatureSize {
			return errColumns
		}
		from, at = end, at+uint64(f.Sizes[i])
	}
	if from != uint64(len(f.GetPayloads())) || at != uint64(len(f.GetSignatures())) {
		return errColumns
	}
	from, at = 0, 0
	for i := range n {
		end, after := uint64(f.Ends[i]), at+uint64(f.Sizes[i])
		each(&distill.Submission{
			ID: f.Ids[i], Nonce: f.Nonces[i], NotAfter: f.NotAfter[i],
			Payload: f.Payloads[from:end:end], Signature: f.Signatures[at:after:after],
		})
		from, at = end, after
	}
	return nil
}

// AddReduction appends a reduction to those of the same batch.
func AddReduction(f *aggregatev1.Reductions, r *distill.Reduction) {
	if f.Digest == nil {
		f.Seq, f.Digest = r.Seq, append([]byte(nil), r.Digest[:]...)
	}
	f.Ids = append(f.Ids, r.ID)
	f.Signatures = append(f.Signatures, r.Signature[:]...)
}

// Reductions calls each with the reductions of a frame. It gets the same one each time,
// with other content.
func Reductions(f *aggregatev1.Reductions, each func(*distill.Reduction)) error {
	n := len(f.GetIds())
	if n > MaxItems || len(f.GetSignatures()) != n*distill.ReductionSize || len(f.GetDigest()) != 32 {
		return errColumns
	}
	r := distill.Reduction{Seq: f.Seq, Digest: [32]byte(f.Digest)}
	for i := range n {
		r.ID = f.Ids[i]
		copy(r.Signature[:], f.Signatures[i*distill.ReductionSize:])
		each(&r)
	}
	return nil
}

// AddRefusal appends a refusal.
func AddRefusal(f *aggregatev1.Refusals, r *distill.Refusal) {
	f.Ids = append(f.Ids, r.ID)
	f.Nonces = append(f.Nonces, r.Nonce)
	f.Rules = append(f.Rules, uint32(r.Rule))
	f.RetryAfterMs = append(f.RetryAfterMs, uint64(max(r.RetryAfter, 0)))
}

// maxRetry is the longest time that a refusal is believed to ask for.
const maxRetry = 3_600_000

// Refusals calls each with the refusals of a frame.
func Refusals(f *aggregatev1.Refusals, each func(*distill.Refusal)) error {
	n, err := columns(len(f.GetIds()), len(f.GetNonces()), len(f.GetRules()), len(f.GetRetryAfterMs()))
	if err != nil {
		return err
	}
	for i := range n {
		if f.Rules[i] > 255 {
			return fmt.Errorf("frame: no rule has the number %d", f.Rules[i])
		}
		each(&distill.Refusal{
			ID: f.Ids[i], Nonce: f.Nonces[i], Rule: distill.Rule(f.Rules[i]), RetryAfter: int64(min(f.RetryAfterMs[i], maxRetry)),
		})
	}
	return nil
}

// AddProposal appends a proposal to those of the same batch.
func AddProposal(f *aggregatev1.Proposals, id uint64, p *distill.Proposal) {
	if f.Prop == nil {
		f.Prop, f.Signature = p.Prop.Bytes(), append([]byte(nil), p.Signature[:]...)
	}
	f.Ids = append(f.Ids, id)
	f.Nonces = append(f.Nonces, p.Nonce)
	f.Indices = append(f.Indices, p.Index)
	for i := range p.Siblings {
		f.Siblings = append(f.Siblings, p.Siblings[i][:]...)
	}
}

// Proposals calls each with the proposals of a frame.
func Proposals(f *aggregatev1.Proposals, each func(id uint64, p *distill.Proposal)) error {
	n, err := columns(len(f.GetIds()), len(f.GetNonces()), len(f.GetIndices()))
	if err != nil {
		return err
	}
	var signed distill.SignedProp
	if err := signed.Prop.UnmarshalBinary(f.GetProp()); err != nil {
		return err
	}
	if len(f.GetSignature()) != len(signed.Signature) {
		return errColumns
	}
	copy(signed.Signature[:], f.Signature)
	depth := distill.Depth(signed.Prop.N)
	siblings, err := hashes(f.GetSiblings(), n, depth)
	if err != nil {
		return err
	}
	for i := range n {
		each(f.Ids[i], &distill.Proposal{
			SignedProp: signed, Nonce: f.Nonces[i], Index: f.Indices[i],
			Siblings: siblings[i*depth : (i+1)*depth : (i+1)*depth],
		})
	}
	return nil
}

// hashes returns a column of n times depth hashes.
func hashes(b []byte, n, depth int) ([][32]byte, error) {
	if len(b) != 32*n*depth {
		return nil, errColumns
	}
	list := make([][32]byte, n*depth)
	for i := range list {
		copy(list[i][:], b[32*i:])
	}
	return list, nil
}

// AddReceipt appends a receipt to those of the same batch.
func AddReceipt(f *aggregatev1.Receipts, r *distill.Receipt) {
	if f.Rcpt == nil {
		f.Rcpt, f.Certificate = r.Rcpt.Bytes(), NewCertificate(&r.Certificate)
	}
	f.Indices = append(f.Indices, r.Index)
	block := r.Result.Block()
	f.Results = append(f.Results, block[:]...)
	for i := range r.Siblings {
		f.Siblings = append(f.Siblings, r.Siblings[i][:]...)
	}
}

// Receipts calls each with the receipts of a frame.
func Receipts(f *aggregatev1.Receipts, each func(*distill.Receipt)) error {
	n := len(f.GetIndices())
	if n > MaxItems || len(f.GetResults()) != distill.LeafSize*n {
		return errColumns
	}
	var signed distill.SignedRcpt
	if err := signed.Rcpt.UnmarshalBinary(f.GetRcpt()); err != nil {
		return err
	}
	cert, err := Certificate(f.GetCertificate())
	if err != nil {
		return err
	}
	signed.Certificate = *cert
	results, err := Results(f.GetResults())
	if err != nil {
		return err
	}
	depth := distill.Depth(signed.Rcpt.N)
	siblings, err := hashes(f.GetSiblings(), n, depth)
	if err != nil {
		return err
	}
	for i := range n {
		each(&distill.Receipt{
			SignedRcpt: signed, Result: results[i], Index: f.Indices[i],
			Siblings: siblings[i*depth : (i+1)*depth : (i+1)*depth],
		})
	}
	return nil
}

// ResultBytes returns results as a column.
func ResultBytes(results []distill.Result) []byte {
	b := make([]byte, 0, distill.LeafSize*len(results))
	for i := range results {
		block := results[i].Block()
		b = append(b, block[:]...)
	}
	return b
}

// Results reads a column of results.
func Results(b []byte) ([]distill.Result, error) {
	if len(b)%distill.LeafSize != 0 {
		return nil, errColumns
	}
	results := make([]distill.Result, 0, len(b)/distill.LeafSize)
	for ; len(b) > 0; b = b[distill.LeafSize:] {
		r, err := distill.ParseResult(b[:distill.LeafSize])
		if err != nil {
			return nil, err
		}
		results = append(results, r)
	}
	return results, nil
}

// NewCertificate returns a certificate as it travels.
func NewCertificate(c *distill.Certificate) *aggregatev1.Certificate {
	return &aggregatev1.Certificate{Bitmap: c.Bitmap, Signature: append([]byte(nil), c.Signature[:]...)}
}

// Certificate reads a certificate, which isn't verified.
func Certificate(c *aggregatev1.Certificate) (*distill.Certificate, error) {
	if len(c.GetSignature()) != bls.SignatureSize || len(c.GetBitmap()) > 128 {
		return nil, errors.New("frame: not a certificate")
	}
	return &distill.Certificate{Bitmap: c.Bitmap, Signature: [bls.SignatureSize]byte(c.Signature)}, nil
}

// NewShare returns a share as it travels, or nil if there is none.
func NewShare(s *distill.Share) *aggregatev1.Share {
	if s == nil {
		return nil
	}
	return &aggregatev1.Share{Validator: s.Validator, Signature: append([]byte(nil), s.Signature[:]...)}
}

// Share reads a share, which isn't verified.
func Share(s *aggregatev1.Share) (*distill.Share, error) {
	if len(s.GetSignature()) != bls.SignatureSize {
		return nil, errors.New("frame: not a share")
	}
	return &distill.Share{Validator: s.Validator, Signature: [bls.SignatureSize]byte(s.Signature)}, nil
}

// NewHead returns a certified head as it travels, or nil if there is none.
func NewHead(h *distill.SignedHead) *aggregatev1.Head {
	if h == nil {
		return nil
	}
	return &aggregatev1.Head{Hgt: h.Hgt.Bytes(), Certificate: NewCertificate(&h.Certificate)}
}

// Head reads a certified head, which isn't verified.
func Head(h *aggregatev1.Head) (*distill.SignedHead, error) {
	cert, err := Certificate(h.GetCertificate())
	if err != nil {
		return nil, err
	}
	s := &distill.SignedHead{Certificate: *cert}
	if err := s.Hgt.UnmarshalBinary(h.GetHgt()); err != nil {
		return nil, err
	}
	return s, nil
}

// NewLook returns a validator's answer as it travels.
func NewLook(l *distill.SignedLook) *aggregatev1.Look {
	return &aggregatev1.Look{Look: l.Look.Bytes(), Share: NewShare(&l.Share)}
}

// Look reads a validator's answer, which isn't verified.
func Look(l *aggregatev1.Look) (*distill.SignedLook, error) {
	share, err := Share(l.GetShare())
	if err != nil {
		return nil, err
	}
	s := &distill.SignedLook{Share: *share}
	if err := s.Look.UnmarshalBinary(l.GetLook()); err != nil {
		return nil, err
	}
	return s, nil
}

// AddQuestion appends a question to validators.
func AddQuestion(f *aggregatev1.LookupRequest, q *distill.Lookup) {
	f.Challenges = append(f.Challenges, append([]byte(nil), q.Challenge[:]...))
	f.Ids = append(f.Ids, q.ID)
	f.Nonces = append(f.Nonces, q.Nonce)
	f.NotAfter = append(f.NotAfter, q.NotAfter)
}

// Questions returns the questions of a request.
func Questions(f *aggregatev1.LookupRequest) ([]distill.Lookup, error) {
	n, err := columns(len(f.GetIds()), len(f.GetNonces()), len(f.GetNotAfter()), len(f.GetChallenges()))
	if err != nil {
		return nil, err
	}
	list := make([]distill.Lookup, n)
	for i := range list {
		if len(f.Challenges[i]) != 32 {
			return nil, errColumns
		}
		list[i] = distill.Lookup{Challenge: [32]byte(f.Challenges[i]), ID: f.Ids[i], Nonce: f.Nonces[i], NotAfter: f.NotAfter[i]}
	}
	return list, nil
}
