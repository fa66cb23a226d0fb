// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"connectrpc.com/connect"
	"github.com/spf13/cobra"

	nodev1 "github.com/undersign/undersign/gen/undersign/node/v1"
	"github.com/undersign/undersign/gen/undersign/node/v1/nodev1connect"
	"github.com/undersign/undersign/internal/audit"
	"github.com/undersign/undersign/internal/nodedir"
	parties "github.com/undersign/undersign/internal/party"
	"github.com/undersign/undersign/internal/rpc"
	"github.com/undersign/undersign/internal/store"
	"github.com/undersign/undersign/internal/threshold"
	"github.com/undersign/undersign/keyfile"
	"github.com/undersign/undersign/node"
)

func newDoctorCmd(e *env) *cobra.Command {
	var dir string
	c := &cobra.Command{
		Use:   "doctor",
		Short: "Look for what is wrong with a node",
		Long: `Look for what is wrong with a node, whether it runs or not: its configuration,
who may read its files, its keys, its store, its audit log, the disk, the
clock, and whether the parties that it knows can be reached.

What is bad keeps the node from its work or its promises; what is a warning may
be meant to be.`,
		Example: "  undersign doctor --dir alice",
		Args:    noArgs,
		RunE: func(c *cobra.Command, args []string) error {
			d := &doctor{e: e, ctx: c.Context(), dir: dir}
			d.examine()
			bad := 0
			for _, f := range d.findings {
				if f.Verdict == "bad" {
					bad++
				}
			}
			result := struct {
				Checks []finding `json:"checks"`
				Bad    int       `json:"bad"`
			}{d.findings, bad}
			if err := e.print(result, func(w io.Writer) {
				for _, f := range d.findings {
					fmt.Fprintf(w, "%-7s  %-13s  %s\n", f.Verdict, f.Check, oneLine(f.Detail))
				}
			}); err != nil {
				return err
			}
			if bad > 0 {
				return failf(ExitError, "mend what is bad, and run \"undersign doctor\" again", "%d checks found something bad", bad)
			}
			return nil
		},
	}
	addDirFlag(c, &dir)
	describe(c, "checks, bad")
	describeExit(c, ExitError, "something is bad, or an error occurred")
	return c
}

// A finding is what one check found.
type finding struct {
	Check   string `json:"check"`
	Verdict string `json:"verdict"` // ok, warning or bad
	Detail  string `json:"detail"`
}

type doctor struct {
	e        *env
	ctx      context.Context
	dir      string
	id       *parties.Identity
	findings []finding
}

func (d *doctor) add(check, verdict, format string, args ...any) {
	d.findings = append(d.findings, finding{check, verdict, fmt.Sprintf(format, args...)})
}

// err adds a finding that is bad if err isn't nil, and returns whether all is well.
func (d *doctor) err(check string, err error, format string, args ...any) bool {
	if err == nil {
		d.add(check, "ok", format, args...)
		return true
	}
	detail := err.Error()
	if hint := hintOf(err); hint != "" {
		detail += ": " + hint
	}
	d.add(check, "bad", "%s", detail)
	return false
}

func (d *doctor) examine() {
	cfg, err := loadNodeConfig(d.dir)
	d.err("configuration", err, "%s", countOf(len(cfg.Rules), "rule"))
	modes := nodedir.CheckModes(d.dir)
	for _, err := range modes {
		d.err("permissions", nodeDirError(d.dir, err), "")
	}
	if len(modes) == 0 {
		d.add("permissions", "ok", "nobody else may read secrets or change anything")
	}
	d.id, err = readNodeIdentity(d.dir)
	if !d.err("identity", err, "%s", d.id) {
		return
	}
	d.unlock()
	if shares, e := threshold.CheckShares(d.dir, cfg.Threshold, d.e.pluginUI()); e != nil || shares > 0 {
		d.err("shares", shareError(e), "%d can be opened", shares)
	}
	for _, r := range cfg.Rules {
		for _, op := range unknownOperations(r.Operations) {
			d.add("configuration", "warning", "a rule names %s, which no service has", op)
		}
	}
	d.auditLog()
	d.disk()
	running := d.process()
	if running == nil && err == nil {
		d.store()
	}
	d.clock()
	d.peers(running)
}

func (d *doctor) unlock() {
	f, err := os.Open(filepath.Join(d.dir, nodedir.Unlock))
	if errors.Is(err, os.ErrNotExist) {
		d.add("unlock", "warning", "no %s: secrets have to be opened by other means", nodedir.Unlock)
		return
	}
	if err == nil {
		defer f.Close()
		_, err = keyfile.ParseIdentities(f, &keyfile.Options{PluginUI: d.e.pluginUI(), Passphrase: func() ([]byte, error) { return nil, errors.New("under a passphrase") }})
	}
	d.err("unlock", err, "%s can be read", nodedir.Unlock)
}

func (d *doctor) auditLog() {
	f, err := os.Open(filepath.Join(d.dir, nodedir.Audit))
	if errors.Is(err, os.ErrNotExist) {
		d.add("audit", "ok", "no records yet: the node never ran")
		return
	}
	var report *audit.Report
	if err == nil {
		defer f.Close()
		report, err = audit.Verify(f, d.id.PublicKey(), "", func(*audit.Record) {})
	}
	if err != nil {
		d.err("audit", err, "")
	} else if len(report.Open) > 0 {
		d.add("audit", "warning", "%d records, whole; %d actions have no end: under way, or the node died in them", report.Records, len(report.Open))
	} else {
		d.add("audit", "ok", "%d records, whole", report.Records)
	}
}

// disk looks whether a sync takes as long as one must, and whether there is room.
func (d *doctor) disk() {
	const rounds = 16
	path := filepath.Join(d.dir, nodedir.Snapshots+"doctor")
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, secretFile)
	if err != nil {
		d.err("disk", err, "")
		return
	}
	defer os.Remove(path)
	defer f.Close()
	var took []time.Duration
	for range rounds {
		start := time.Now()
		if _, err = f.Write(make([]byte, 4096)); err == nil {
			err = f.Sync()
		}
		if err != nil {
			d.err("disk", fmt.Errorf("can't write durably: %w", err), "")
			return
		}
		took = append(took, time.Since(start))
	}
	slices.Sort(took)
	median := took[rounds/2]
	kind, free, volatile := fileSystem(d.dir)
	switch {
	case volatile:
		d.add("disk", "warning", "%s is kept in memory: what is written is gone with the machine", kind)
	case median < 20*time.Microsecond:
		d.add("disk", "warning", "a sync takes %v: does anything reach the disk?", median.Round(time.Microsecond))
	case median > 50*time.Millisecond:
		d.add("disk", "warning", "a sync takes %v: the node will be slow", median.Round(time.Millisecond))
	default:
		d.add("disk", "ok", "a sync takes %v", median.Round(time.Microsecond))
	}
	switch {
	case free == 0:
	case free < 256<<20:
		d.add("room", "bad", "%d MiB are free: a full disk ends the node", free>>20)
	case free < 1<<30:
		d.add("room", "warning", "%d MiB are free", free>>20)
	default:
		d.add("room", "ok", "%d GiB are free", free>>30)
	}
}

// process asks the node that runs how it is, and returns it, or nil.
func (d *doctor) process() *liveNode {
	live, err := d.e.liveNode(d.dir)
	if err != nil {
		d.err("process", err, "")
		return nil
	}
	if live == nil {
		d.add("process", "ok", "the node doesn't run")
		d.port()
		return nil
	}
	ctx, cancel := context.WithTimeout(d.ctx, 10*time.Second)
	defer cancel()
	st, err := live.client.Status(ctx, new(nodev1.StatusRequest))
	if !d.err("process", live.callError(err), "it runs, at %s", live.peer.Address()) {
		return live
	}
	for _, s := range st.Services {
		if !s.Ready {
			d.add("process", "bad", "%s isn't ready: %s", s.Name, s.Detail)
		}
	}
	if st.RestoredMs != 0 {
		d.add("process", "warning", "the folder was restored from a backup, %s", timeText(st.RestoredMs))
	}
	return live
}

func (d *doctor) store() {
	path := filepath.Join(d.dir, nodedir.Store)
	if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) {
		d.add("store", "ok", "none yet: the node never ran")
		return
	}
	lock, err := nodedir.Acquire(d.dir)
	if err != nil {
		d.err("store", nodeDirError(d.dir, err), "")
		return
	}
	defer lock.Close()
	s, err := store.Open(path, store.Options{})
	if err == nil {
		err = errors.Join(s.Check(), s.Close())
	}
	d.err("store", err, "whole")
}

// clock looks whether the clock can be right: nothing here was written in the future.
func (d *doctor) clock() {
	now := time.Now()
	newest, name := time.Time{}, ""
	for _, n := range []string{nodedir.Config, nodedir.Audit, nodedir.Store} {
		if fi, err := os.Stat(filepath.Join(d.dir, n)); err == nil && fi.ModTime().After(newest) {
			newest, name = fi.ModTime(), n
		}
	}
	if newest.After(now.Add(time.Minute)) {
		d.add("clock", "bad", "%s was written at %s, and the clock says %s", name, newest.UTC().Format(time.RFC3339), now.UTC().Format(time.RFC3339))
		return
	}
	d.add("clock", "ok", "%s", now.UTC().Format(time.RFC3339))
}

// port looks whether the node, which doesn't run, could listen.
func (d *doctor) port() {
	cfg, err := node.Load(d.dir)
	if err != nil {
		return // said before
	}
	l, err := net.Listen("tcp", cfg.Listen)
	if err != nil {
		d.add("port", "bad", "the node can't listen: %v", err)
		return
	}
	l.Close()
}

// peers calls everybody whom the node knows. What they answer doesn't matter.
func (d *doctor) peers(live *liveNode) {
	if live != nil {
		defer live.close()
	}
	list, err := d.e.parties(d.ctx, d.dir)
	if err != nil {
		d.err("peers", err, "")
		return
	}
	for _, p := range list {
		if p.Address == "" {
			d.add("peers", "ok", "%s has no address", p.Name)
			continue
		}
		took, skew, err := d.call(p)
		switch {
		case err != nil:
			d.add("peers", "warning", "%s at %s: %v", p.Name, p.Address, err)
		case skew > time.Minute || skew < -time.Minute:
			d.add("clock", "warning", "%s has another time: %v away", p.Name, skew.Round(time.Second))
		default:
			d.add("peers", "ok", "%s at %s answers in %v", p.Name, p.Address, took.Round(time.Millisecond))
		}
	}
}

// call asks a party how it is, which it may refuse.
func (d *doctor) call(p *nodev1.Party) (took, skew time.Duration, err error) {
	ctx, cancel := context.WithTimeout(d.ctx, 5*time.Second)
	defer cancel()
	peer := rpc.NewPeer(d.id, p.Fingerprint, p.Address)
	defer peer.Close()
	start := time.Now()
	st, err := nodev1connect.NewNodeServiceClient(peer.HTTP(), peer.URL(), peer.Options(0)...).Status(ctx, new(nodev1.StatusRequest))
	took = time.Since(start)
	switch connect.CodeOf(err) {
	case connect.CodePermissionDenied, connect.CodeResourceExhausted:
		return took, 0, nil
	}
	if err != nil && ctx.Err() == nil && peer.PublicKey() != nil && !connect.IsWireError(err) {
		return took, 0, errors.New("it is there, and doesn't let this node in: it has forgotten it, or knows it by an older key")
	}
	if err != nil {
		var coded *connect.Error
		if errors.As(err, &coded) {
			err = errors.New(strings.TrimSpace(coded.Message()))
		}
		return took, 0, err
	}
	return took, time.UnixMilli(st.NowMs).Sub(start.Add(took / 2)), nil
}
