// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package audit

import (
	"errors"
	"io"
	"testing"
)

// A cached is a file as systems have it: writes go to a cache, and Sync brings to the disk
// what was written since the last one. After a Sync that failed the cache passes for
// written, though it isn't.
type cached struct {
	cache, disk []byte
	dirty       []bool // of the cache's bytes
	at          int64
	fail        bool
}

func (c *cached) Read(p []byte) (int, error) {
	if c.at >= int64(len(c.cache)) {
		return 0, io.EOF
	}
	n := copy(p, c.cache[c.at:])
	c.at += int64(n)
	return n, nil
}

func (c *cached) Write(p []byte) (int, error) {
	for _, b := range p {
		if c.at == int64(len(c.cache)) {
			c.cache, c.dirty = append(c.cache, 0), append(c.dirty, false)
		}
		c.cache[c.at], c.dirty[c.at] = b, true
		c.at++
	}
	return len(p), nil
}

func (c *cached) Seek(offset int64, _ int) (int64, error) {
	c.at = offset
	return offset, nil
}

func (c *cached) Truncate(size int64) error {
	c.cache, c.dirty = c.cache[:size], c.dirty[:size]
	return nil
}

var errDisk = errors.New("input/output error")

func (c *cached) Sync() error {
	disk := make([]byte, len(c.cache))
	copy(disk, c.disk)
	for i, dirty := range c.dirty {
		if dirty && !c.fail {
			disk[i] = c.cache[i]
		}
		c.dirty[i] = false
	}
	c.disk = disk
	if c.fail {
		return errDisk
	}
	return nil
}

func (c *cached) Close() error { return nil }

// What was written before an fsync that failed is on the disk before anything is written
// after it, so that a loss of power later doesn't leave a hole in the chain.
func TestFailedSyncThenPowerLoss(t *testing.T) {
	f := new(cached)
	l := open(t, f, Options{})
	if err := l.Event(entry, OK); err != nil {
		t.Fatal(err)
	}
	f.fail = true
	if err := l.Event(entry, OK); !errors.Is(err, errDisk) {
		t.Fatal(err)
	}
	f.fail = false
	l = open(t, f, Options{}) // another process, which sees what the cache has
	if err := l.Event(Entry{Operation: "after"}, OK); err != nil {
		t.Fatal(err)
	}
	r, err := check(f.disk, "")
	if err != nil {
		t.Fatalf("after a loss of power: %v", err)
	}
	if r.Records != 4 {
		t.Errorf("%d records", r.Records)
	}
}

// The log's owner is told once that the log has failed, by whichever call it was.
func TestFailedTold(t *testing.T) {
	for name, set := range map[string]func(*memory){
		"write":       func(m *memory) { m.writeErr = errDisk },
		"short write": func(m *memory) { m.writeErr, m.short = errDisk, 20 },
		"sync":        func(m *memory) { m.syncErr = errDisk },
	} {
		var told []error
		f := new(memory)
		l := open(t, f, Options{Failed: func(err error) { told = append(told, err) }})
		a, err := l.Begin(entry)
		if err != nil || len(told) > 0 {
			t.Fatal(err, told)
		}
		set(f)
		a.End(OK, "")
		l.Begin(entry)
		l.Event(entry, OK)
		l.Close()
		if len(told) != 1 || !errors.Is(told[0], errDisk) {
			t.Errorf("%s: told %v", name, told)
		}
	}
	l := open(t, new(memory), Options{Failed: func(err error) { t.Errorf("told %v of a log that was closed", err) }})
	l.Close()
	if err := l.Event(entry, OK); err == nil {
		t.Error("a closed log takes an event")
	}
}
