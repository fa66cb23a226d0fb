// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package sm2

import (
	"runtime"

	"github.com/undersign/undersign/internal/sm2ec"
)

// Options say how a [Batch] reads and verifies. The zero value, or nil, stands for the defaults.
type Options struct {
	// Encoding is that of signatures, DER by default.
	Encoding Encoding

	// UID is the signer's ID, 1234567812345678 by default.
	UID UID

	// Cache keeps tables of keys that recur. It may be shared with other
	// batches, at the same time. If it is nil the batch has one of its own, with
	// DefaultCacheSize bytes.
	Cache *Cache

	// Workers is how many goroutines Verify may use, by default one for each
	// processor that Go uses. None outlives the call.
	Workers int
}

func (o *Options) workers() int {
	if o.Workers > 0 {
		return o.Workers
	}
	return runtime.GOMAXPROCS(0)
}

// DefaultCacheSize is the budget of a batch's own cache, in bytes.
const DefaultCacheSize = 64 << 20

// A Cache keeps tables of keys that recur, within a budget of memory. Those that
// weren't used for longest go first. Its methods, and batches that share
// it, may run at the same time.
//
// Tables that a batch is just using, and one of the generator of about 5 MB, aren't
// counted.
type Cache struct{ tables *sm2ec.Cache }

// NewCache returns a cache for at most that many bytes. With zero it keeps
// nothing, and tables are built anew by each batch that has a use for them.
func NewCache(bytes int64) *Cache {
	return &Cache{sm2ec.NewCache(max(bytes, 0))}
}

// Size returns how many bytes are in use.
func (c *Cache) Size() int64 { return c.tables.Size() }

// Len returns the number of keys with tables.
func (c *Cache) Len() int { return c.tables.Len() }
