// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package distill

// An AggregatorAction is something that an aggregator wants done: one of [SendAck],
// [SendRefusal], [SendProposals], [RequestSignature], [Publish], [SendReceipts],
// [ReportConflict] and [ReportReduction].
type AggregatorAction interface{ aggregatorAction() }

// SendAck: tell a client that its message is durable here.
type SendAck struct{ ID, Nonce uint64 }

// SendRefusal: tell a client that its message isn't taken, or was dropped.
type SendRefusal struct{ Refusal Refusal }

// SendProposals: send proposals to the clients of a batch. They are made one by one when
// they are asked for, at any later time, and from several goroutines if need be.
type SendProposals struct {
	round *round
	at    []uint32 // positions of leaves
}

// RequestSignature: ask a client for its Ed25519 signature of a message, in [ModeLean].
type RequestSignature struct{ ID, Nonce uint64 }

// Publish: hand a batch to the validators, and call [Aggregator.HandedOff] when they have
// it. It comes again until then, with the same bytes.
type Publish struct {
	Seq     uint64
	Digest  [32]byte // the same batch has the same, so that it can be recognised
	Encoded []byte
}

// SendReceipts: send receipts to the clients of a batch. They are made when they are
// asked for, like proposals.
type SendReceipts struct {
	delivered *delivered
	at        []uint32
}

// ReportConflict: a client has signed two messages with one nonce. See [NewSubEvidence].
type ReportConflict struct {
	Dirver        uint64 // the version of the directory by which the second was verified
	First, Second Submission
}

// ReportReduction: a client's signature of a batch isn't valid. It is no evidence, for it
// isn't known who sent it but by the channel it came through.
type ReportReduction struct{ ID, Seq uint64 }

func (SendAck) aggregatorAction()          {}
func (SendRefusal) aggregatorAction()      {}
func (SendProposals) aggregatorAction()    {}
func (RequestSignature) aggregatorAction() {}
func (Publish) aggregatorAction()          {}
func (SendReceipts) aggregatorAction()     {}
func (ReportConflict) aggregatorAction()   {}
func (ReportReduction) aggregatorAction()  {}

// Seq returns the number of the batch.
func (s SendProposals) Seq() uint64 { return s.round.seq }

// Len returns the number of proposals.
func (s SendProposals) Len() int { return len(s.at) }

// ID returns whom a proposal is for, without making it.
func (s SendProposals) ID(i int) uint64 { return s.round.ids[s.at[i]] }

// At returns a proposal and whom it is for. It panics unless i is from 0 to Len()-1.
func (s SendProposals) At(i int) (id uint64, p Proposal) {
	at := int(s.at[i])
	return s.round.ids[at], Proposal{
		SignedProp: s.round.prop, Nonce: s.round.members[at].nonce,
		Index: uint64(at), Siblings: s.round.tree.Proof(at),
	}
}

// Len returns the number of receipts.
func (s SendReceipts) Len() int { return len(s.at) }

// ID returns whom a receipt is for, without making it.
func (s SendReceipts) ID(i int) uint64 { return s.delivered.results[s.at[i]].ID }

// Seq returns the number of the batch.
func (s SendReceipts) Seq() uint64 { return s.delivered.seq }

// At returns a receipt, whose result says whom it is for. It panics unless i is from 0 to
// Len()-1.
func (s SendReceipts) At(i int) Receipt { return s.delivered.receipt(int(s.at[i])) }

// AggregatorStats are counters, from the time the aggregator was opened on.
type AggregatorStats struct {
	Submitted  uint64 // messages that came
	Admitted   uint64 // messages that were acknowledged as new
	Repeated   uint64 // messages that were known already
	Refused    uint64 // messages that weren't taken
	Throttled  uint64 // those of Refused that may come again later
	Conflicts  uint64 // pairs of messages with one nonce
	Dropped    uint64 // admitted messages that expired here
	Proposed   uint64 // batches
	Published  uint64 // batches
	Delivered  uint64 // batches
	Abandoned  uint64 // batches
	Lost       uint64 // those of Abandoned that were handed off, or might have been
	Unsealed   uint64 // those of Abandoned that an aggregate couldn't be made for
	Reductions uint64 // valid ones
	Bad        uint64 // invalid ones
	Late       uint64 // reductions for batches that were closed
	Stragglers uint64 // in published batches
	Bursts     uint64 // joint verifications of reductions
	Sifted     uint64 // bursts that had bad ones in them
	Pairings   uint64 // evaluations to find those
	Receipts   uint64 // results of delivered batches
	Forgotten  uint64 // batches whose receipts had to make room before they expired

	// As it is now, and not counters.
	Waiting     int // messages in no batch
	WaitingSize int // bytes of messages, in batches or not
	Rounds      int // batches from proposal to receipt
	Slow        int // clients in quarantine that have messages
	Wait        int64
}
