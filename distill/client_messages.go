// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package distill

// A SignedProp is a proposal with its aggregator's signature.
type SignedProp struct {
	Prop      Prop
	Signature [64]byte
}

// A SignedHead is a height with the signatures of F+1 validators.
type SignedHead struct {
	Hgt         Hgt
	Certificate Certificate
}

// A SignedRcpt is a validators' receipt for a batch, with the signatures of F+1 of them.
type SignedRcpt struct {
	Rcpt        Rcpt
	Certificate Certificate
}

// A Proposal is what an aggregator shows to a client: that its leaf is in a tree.
type Proposal struct {
	SignedProp
	Nonce    uint64 // of the client's leaf
	Index    uint64 // where the leaf stands
	Siblings [][32]byte
}

// ReductionSize is the length of the signature in a [Reduction], which isn't compressed.
const ReductionSize = 2 * aggregateSize

// A Reduction is a client's signature of a batch.
type Reduction struct {
	ID, Seq   uint64
	Digest    [32]byte // of the [Red] statement
	Signature [ReductionSize]byte
}

// A Receipt shows to a client what became of its message.
type Receipt struct {
	SignedRcpt
	Result   Result
	Index    uint64
	Siblings [][32]byte
}

// A Refusal is an aggregator's answer to what it doesn't take. Nobody has to believe it.
type Refusal struct {
	ID, Nonce  uint64
	Rule       Rule
	RetryAfter int64 // milliseconds, or 0 if trying again is no use here
}

// A Lookup is a client's question to validators: what became of a nonce?
type Lookup struct {
	Challenge           [32]byte
	ID, Nonce, NotAfter uint64
}

// A ClientAction is something that a client wants done: one of [SendSubmission],
// [SendReduction], [SendLookup], [Settled] and [ReportEquivocation].
type ClientAction interface{ clientAction() }

// SendSubmission: send a message to an aggregator.
type SendSubmission struct {
	AggID      uint64
	Submission Submission
}

// SendReduction: send a signature of a batch to an aggregator.
type SendReduction struct {
	AggID     uint64
	Reduction Reduction
}

// SendLookup: ask all validators.
type SendLookup struct{ Lookup Lookup }

// Settled: tell the application what became of a message. It comes once, and once more
// whenever the client is opened again, until [Client.Release] is called.
type Settled struct {
	ID, Nonce uint64
	Outcome   Outcome
}

// ReportEquivocation: an aggregator has signed two different proposals of one number. See
// [NewPropEvidence].
type ReportEquivocation struct{ First, Second SignedProp }

func (SendSubmission) clientAction()     {}
func (SendReduction) clientAction()      {}
func (SendLookup) clientAction()         {}
func (Settled) clientAction()            {}
func (ReportEquivocation) clientAction() {}

// An OutcomeKind says what became of a message in the end.
type OutcomeKind uint8

const (
	OutcomeExecuted    OutcomeKind = iota + 1 // once; Code says how
	OutcomeNotExecuted                        // and never will be: it may be submitted anew
	OutcomeExpired                            // the same, known from F+1 validators after its last height
	OutcomeUnknown                            // too long ago to tell: it may have been executed
)

// String returns the name of k.
func (k OutcomeKind) String() string {
	switch k {
	case OutcomeExecuted:
		return "executed"
	case OutcomeNotExecuted:
		return "not executed"
	case OutcomeExpired:
		return "expired"
	case OutcomeUnknown:
		return "unknown"
	}
	return "invalid"
}

// MayReissue reports whether the payload may be submitted anew, under another nonce,
// without a danger of its being executed twice.
func (k OutcomeKind) MayReissue() bool { return k == OutcomeNotExecuted || k == OutcomeExpired }

// An Outcome is what became of a message in the end.
type Outcome struct {
	Kind    OutcomeKind
	Code    ResultCode // of the execution, or why there was none; 0 if it isn't known
	AppCode uint16     // the application's, of the execution, or 0
	Height  uint64     // of the execution, or 0
}
