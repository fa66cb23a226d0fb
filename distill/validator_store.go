// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package distill

// A Store is what a validator must not forget. All that a tick changes is given to
// Commit, which makes it durable as a whole, or not at all, before it returns: the
// validator signs nothing about a tick before. The other methods return what was
// committed.
type Store interface {
	// Head returns the end of the log, the zero value if nothing was committed.
	Head() (LogHead, error)

	// Aggregators returns the latest state of each aggregator that has one.
	Aggregators() ([]AggregatorState, error)

	// Clients calls yield with the latest state of each client that has one.
	Clients(yield func(id uint64, c ClientState) error) error

	// Rows calls yield with all rows of the directory in the order of the commits, in
	// pieces that are whole.
	Rows(yield func(rows []byte) error) error

	// Execution returns the execution of a nonce, or false if none is kept.
	Execution(id, nonce uint64) (Execution, bool, error)

	// Tick returns the records of the log of a height, in order.
	Tick(height uint64) ([]LogRecord, error)

	// Changes returns the records of the log that made the versions of the directory
	// after since, as many as fit into max bytes of data, but at least one if there
	// is any.
	Changes(since uint64, max int) ([]LogRecord, error)

	// Witness returns the digest that was witnessed for a number, or false.
	Witness(aggID, seq uint64) (digest [32]byte, ok bool, err error)

	// Commit makes a tick durable. After an error nobody knows whether it is.
	Commit(*Commit) error

	// CommitWitness makes the choice of a batch durable, with the batch.
	CommitWitness(aggID, seq uint64, digest [32]byte, encoded []byte) error
}

// A LogHead is the end of a log.
type LogHead struct {
	Height  uint64
	Batches uint64 // in the log so far
	LogHash [32]byte
	Dirver  uint64
}

// A ClientState is what was executed for a client: the largest nonce, and those of the
// 64 up to it, the bit i being set for LastNonce-i.
type ClientState struct {
	LastNonce, Window uint64
}

// An AggregatorState is what an aggregator has published: the largest number of a batch,
// and those of [Params.SeqWindow] up to it.
type AggregatorState struct {
	ID      uint64
	Any     bool // a batch was published
	LastSeq uint64
	Window  []uint64 // a ring of bits: that of seq is seq modulo 64*len(Window)
	Strikes uint64   // bad batches
	Until   uint64   // the last height of its suspension
}

// An Execution is a message that was executed.
type Execution struct {
	NotAfter    uint64
	PayloadHash [32]byte
	Code        ResultCode // ResultOK or ResultAppReject
	AppCode     uint16
	Height      uint64
}

// A RecordKind is what a record of the log is about.
type RecordKind uint8

const (
	RecordBatch     RecordKind = iota + 1 // a batch that was executed
	RecordDirectory                       // a change of the directory
	RecordStrike                          // a bad batch, which suspends its aggregator
)

// A LogRecord is an entry of the log that had an effect.
type LogRecord struct {
	Kind RecordKind
	Rcpt Rcpt
	Data []byte // the entry

	Results  []Result // of a batch, of each leaf
	NotAfter []uint64 // of each leaf

	Version uint64 // of the directory, that the entry made
}

// A Commit is what a tick changes.
type Commit struct {
	Head LogHead // the new one

	// Log is the records of the tick. Each of its results whose code says that it was
	// executed is an [Execution] from then on.
	Log []LogRecord

	Aggregators []AggregatorState // changed
	ClientIDs   []uint64          // of clients whose states changed, ascending
	Clients     []ClientState     // their states
	Rows        []byte            // of the directory, to be appended

	// Executions with NotAfter below PruneBefore aren't asked for any more. They, and
	// witnesses of numbers behind the windows, may be deleted now or later.
	PruneBefore uint64
}
