// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

// Package relay puts what validators execute into one order, the same for all of them: a
// durable queue that everybody reads from the beginning. [Local] is in the store of a
// node that is the only validator; package nats is for several.
//
// A relay is trusted for the order, and for keeping what it acknowledged. It can't make
// anybody execute what wasn't signed.
package relay

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
)

// A Relay is a queue.
type Relay interface {
	// Publish appends an entry, unless one with its ID is there, and returns when it is
	// durable.
	Publish(ctx context.Context, e Entry) error

	// Read returns entries after a position, in order: at most max of them, and at least
	// one, for which it waits.
	Read(ctx context.Context, after uint64, max int) ([]Entry, error)

	Close() error
}

// MaxEntry is the length of the longest entry.
const MaxEntry = 512 << 10

// An Entry is an item of a queue.
type Entry struct {
	Position uint64 // in the queue, from 1; Publish ignores it
	ID       [32]byte
	Data     []byte
}

// A Kind says what an entry is.
type Kind uint8

const (
	// Tick ends a height. Every validator publishes the tick of the next height when
	// its time has come; as they have the same ID, one of them counts.
	Tick Kind = iota + 1
	// Order puts a batch into the log: see distill.
	Order
	// Change is a change of the directory.
	Change
)

// NewTick returns the entry that ends a height.
func NewTick(height uint64) Entry {
	return newEntry(Tick, binary.BigEndian.AppendUint64(nil, height))
}

// NewOrder returns the entry for a batch, of what says which one. It has the batch's digest as its ID.
func NewOrder(digest [32]byte, order []byte) Entry {
	e := newEntry(Order, order)
	e.ID = digest
	return e
}

// NewChange returns the entry for a change of the directory.
func NewChange(change []byte) Entry { return newEntry(Change, change) }

func newEntry(k Kind, data []byte) Entry {
	e := Entry{Data: append([]byte{byte(k)}, data...)}
	e.ID = sha256.Sum256(e.Data)
	return e
}

// Content returns what the entry is about.
func (e *Entry) Content() (k Kind, data []byte, err error) {
	if len(e.Data) == 0 || e.Data[0] < byte(Tick) || e.Data[0] > byte(Change) {
		return 0, nil, fmt.Errorf("relay: entry %d is of no known kind", e.Position)
	}
	return Kind(e.Data[0]), e.Data[1:], nil
}

// Height returns the height that a tick ends, or an error if the entry isn't a tick.
func (e *Entry) Height() (uint64, error) {
	if len(e.Data) != 9 || Kind(e.Data[0]) != Tick {
		return 0, fmt.Errorf("relay: entry %d isn't a tick", e.Position)
	}
	return binary.BigEndian.Uint64(e.Data[1:]), nil
}

// Check returns an error if the entry can't be published.
func (e *Entry) Check() error {
	if len(e.Data) > MaxEntry {
		return fmt.Errorf("relay: an entry of %d bytes, and %d are allowed", len(e.Data), MaxEntry)
	}
	_, _, err := e.Content()
	return err
}

// ErrClosed is in the errors of a relay that is closed.
var ErrClosed = errors.New("relay: closed")
