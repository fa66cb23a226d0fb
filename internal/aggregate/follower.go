// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package aggregate

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"sync"

	"github.com/undersign/undersign/distill"
	aggregatev1 "github.com/undersign/undersign/gen/undersign/aggregate/v1"
	"github.com/undersign/undersign/internal/store"
)

// A directory is where an aggregator finds keys.
type directory interface {
	// at returns a version that is here.
	at(version uint64) (distill.View, error)
	// view returns the version, or a later one, and gets it if need be.
	view(ctx context.Context, version uint64) (distill.View, error)
	// latest returns the newest version that is here.
	latest() (distill.View, error)
}

// localDirectory is that of a validator on the same node.
type localDirectory struct{ v *validator }

func (d localDirectory) at(version uint64) (distill.View, error) {
	return d.v.v.Directory().At(version)
}

func (d localDirectory) latest() (distill.View, error) {
	return d.at(d.v.v.Directory().Version())
}

func (d localDirectory) view(_ context.Context, version uint64) (distill.View, error) {
	return d.at(version) // heads of others may be ahead: then the next one will do
}

// A follower is a copy of the directory, of changes that F+1 validators agree about. It
// is kept on disk as rows, which load a thousand times faster than changes are verified.
type follower struct {
	a       *aggregator
	journal *store.Journal

	mu  sync.Mutex // held while changes are made
	dir *distill.Directory
}

func openFollower(a *aggregator) (*follower, error) {
	dir, err := distill.NewDirectory(a.s.genesis)
	if err != nil {
		return nil, err
	}
	f := &follower{a: a, journal: a.s.host.Store.Journal("directory"), dir: dir}
	for r, err := range f.journal.Records(nil) {
		if err == nil {
			err = dir.Load(r.Value)
		}
		if err != nil {
			return nil, fmt.Errorf("aggregate: the copy of the directory: %w", err)
		}
	}
	return f, nil
}

func (f *follower) at(version uint64) (distill.View, error) { return f.dir.At(version) }

func (f *follower) latest() (distill.View, error) { return f.dir.At(f.dir.Version()) }

func (f *follower) view(ctx context.Context, version uint64) (distill.View, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for f.dir.Version() < version {
		if err := f.advance(ctx); err != nil {
			return nil, err
		}
	}
	return f.dir.At(version)
}

// A fact is what a validator says about a version.
type fact struct {
	version, height uint64
	entry           [32]byte
}

// advance makes the next versions, as far as F+1 validators agree.
func (f *follower) advance(ctx context.Context) error {
	since, quorum := f.dir.Version(), f.a.s.genesis.Quorum()
	votes := make(map[fact]int)
	entries := make(map[fact][]byte)
	agreed := func(version uint64) (fact, bool) {
		for x, n := range votes {
			if x.version == version && n >= quorum {
				return x, true
			}
		}
		return fact{}, false
	}
	err := f.a.askUntil(ctx, func(ctx context.Context, r *remote) (any, error) {
		resp, err := r.sync(ctx, since)
		if err == nil && len(resp.GetRecords()) == 0 {
			err = errors.New("it has no newer version")
		}
		return resp, err
	}, func(v any) bool {
		said := make(map[fact]bool) // a validator has one voice
		for _, r := range v.(*aggregatev1.SyncResponse).GetRecords() {
			x := fact{r.GetVersion(), r.GetHeight(), sha256.Sum256(r.GetEntry())}
			if !said[x] {
				said[x] = true
				votes[x]++
				entries[x] = r.GetEntry()
			}
		}
		_, ok := agreed(since + 1)
		return ok
	})
	if err != nil {
		return err
	}
	for {
		next, ok := agreed(f.dir.Version() + 1)
		if !ok {
			break
		}
		r, err := f.dir.Apply(next.height, entries[next])
		if err == nil && r.Version != next.version {
			err = errors.New("aggregate: a change made another version")
		}
		if err != nil {
			return err
		}
		if err := f.journal.Commit([]distill.Record{{Key: binary.BigEndian.AppendUint64(nil, r.Version), Value: r.Rows}}); err != nil {
			f.a.s.host.Fail(err)
			return err
		}
	}
	return nil
}
