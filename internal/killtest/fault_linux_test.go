// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package killtest

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/undersign/undersign/internal/nodedir"
)

// A fault is what happens to the disk of a process.
type fault struct {
	name string // of the process
	kind string // fsync, short or full
	file string // that the process can't write
	says string // in the error that it ends with
}

const wal = nodedir.Store + "-wal"

// The first ones are of every kind, and of every role.
var faults = []fault{
	{roleAggregator, "fsync", wal, "disk I/O error"},
	{roleCoordinator, "short", nodedir.Audit, "file too large"},
	{roleValidator, "full", "", ""},
	{"alice", "fsync", nodedir.Audit, "input/output error"},
	{roleGateway, "short", wal, ""},

	{roleValidator, "fsync", wal, "disk I/O error"},
	{roleValidator, "short", wal, ""},
	{roleAggregator, "short", wal, ""},
	{roleAggregator, "full", "", ""},
	{"alice", "fsync", wal, "disk I/O error"},
	{"alice", "full", "", ""},
	{roleCoordinator, "fsync", nodedir.Audit, "input/output error"},
	{roleGateway, "fsync", wal, "disk I/O error"},
}

// Disks fail while all roles run under load: an fsync, a write that takes a part only, and
// a disk that is full. Whoever has that disk ends by itself, and says why; nothing that was
// acknowledged is lost, and nothing is done twice.
func TestFaults(t *testing.T) {
	long := begin(t)
	list, times := faults[:5], 1
	if long {
		list, times = faults, 5
	}
	disk := t.TempDir()
	for _, name := range []string{roleValidator, roleAggregator, "alice"} {
		if !mountDisk(t, filepath.Join(disk, name), 32<<20) {
			list = slices.DeleteFunc(slices.Clone(list), func(f fault) bool { return f.kind == "full" })
			break
		}
	}
	c := newCampaign(t, plan{dir: func(name string) string { return filepath.Join(disk, name, "node") }})
	for range times {
		for _, f := range list {
			c.suffer(f)
			if t.Failed() {
				t.Fatalf("after %+v", f)
			}
		}
	}
	c.finish()
	c.report()
	t.Logf("%d faults", times*len(list))
}

// suffer lets a disk fail, waits for the end of whoever has it, and starts that again.
func (c *campaign) suffer(f fault) {
	t := c.t
	t.Helper()
	p := c.running[f.name]
	dir := c.gatewayDir
	if m := c.members[f.name]; m != nil {
		dir = m.dir
	}
	free := func() {}
	switch f.kind {
	case "fsync":
		p.tell("syscall fsync " + f.file)
	case "short":
		fi, err := os.Stat(filepath.Join(dir, f.file))
		if err == nil {
			err = limitFiles(p.cmd.Process.Pid, fi.Size()+100)
		}
		if err != nil {
			t.Fatal(err)
		}
	case "full":
		free = fillDisk(t, filepath.Dir(dir))
	}
	use := func(p *process) {
		if f.name == "alice" { // the coordinator may ask others
			go c.use(p, f.name, 0)
		}
	}
	use(p)
	select {
	case <-p.ended:
	case <-time.After(15 * time.Second):
		t.Fatalf("%+v: it goes on: %s", f, p.log())
	}
	if p.err == nil || !strings.Contains(p.log(), f.says) || p.cmd.ProcessState.ExitCode() != 1 {
		t.Errorf("%+v: it ended with %v: %s", f, p.err, p.log())
	}
	again := func() *process {
		if m := c.members[f.name]; m != nil {
			c.checkAudit(m)
			return c.start(f.name)
		}
		return c.startGateway(false)
	}
	if f.kind == "full" {
		// It doesn't start while the disk is full, or if it does it ends.
		p := again()
		use(p)
		select {
		case <-p.ended:
		case <-time.After(15 * time.Second):
			t.Errorf("%+v: it runs on a full disk", f)
			p.kill()
		}
		free()
	}
	c.running[f.name] = again()
	c.running[f.name].awaitReady()
	c.awaitProgress()
}
