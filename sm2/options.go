// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package sm2

import (
	"crypto/ecdsa"
	"runtime"

	"github.com/undersign/undersign/internal/sm2ec"
)

// Options say how a [Batch] reads and verifies. The zero value, or nil, stands for the defaults.
type Options struct {
	// Encoding is that of signatures, DER by default.
	Encoding Encoding

	// UID is the signer's ID, 1234567812345678 by default.
	UID UID

	// Hint is that of items that come without one: HintEven, if all who sign use
	// SignHinted.
	Hint Hint

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

// Add makes tables of keys that are known to recur, such as those of certificate
// authorities, so that the first batch has them. If any isn't a key, none is added.
func (c *Cache) Add(pubs ...*ecdsa.PublicKey) error {
	points := make([]sm2ec.Affine, len(pubs))
	for i, pub := range pubs {
		if xy, ok := keyBytes(pub); !ok || !point(&points[i], &xy) {
			return ErrKey
		}
	}
	width := addedWidth
	for width > 2 && !c.tables.Room(sm2ec.TableSize(width)) {
		width--
	}
	for i := range points {
		c.tables.Put(&points[i], sm2ec.NewTable(&points[i], width))
	}
	return nil
}

// addedWidth is the width of the windows of tables that are made beforehand, 262 kB
// each. They are replaced by larger ones when they are used enough.
const addedWidth = 8

// Size returns how many bytes are in use.
func (c *Cache) Size() int64 { return c.tables.Size() }

// Len returns the number of keys with tables.
func (c *Cache) Len() int { return c.tables.Len() }
