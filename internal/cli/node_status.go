// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	nodev1 "github.com/undersign/undersign/gen/undersign/node/v1"
)

type statusResult struct {
	Fingerprint  string          `json:"fingerprint"`
	Name         string          `json:"name"`
	Address      string          `json:"address"`
	URL          string          `json:"url,omitempty"` // for others' --at
	Version      string          `json:"version"`
	Started      string          `json:"started"`
	Ready        bool            `json:"ready"`
	Services     []serviceResult `json:"services"`
	Parties      uint64          `json:"parties"`
	Invitations  uint64          `json:"invitations"`
	AuditRecords uint64          `json:"audit_records"`
	AuditHead    string          `json:"audit_head"`
	StoreBytes   uint64          `json:"store_bytes"`
	Restored     string          `json:"restored,omitempty"`
}

type serviceResult struct {
	Name   string `json:"name"`
	Ready  bool   `json:"ready"`
	Detail string `json:"detail,omitempty"`
}

func newStatusCmd(e *env) *cobra.Command {
	var dir string
	var wait time.Duration
	c := &cobra.Command{
		Use:   "status",
		Short: "Ask a node how it is",
		Long: `Ask the node that runs in a folder how it is, by its own key: for commands on
the node's own machine nothing else is needed. The URL is what other parties
give to --at.`,
		Example: `  undersign status --dir alice
  undersign status --dir alice --wait 10s --json`,
		Args: noArgs,
		RunE: func(c *cobra.Command, args []string) error {
			resp, err := e.status(c.Context(), dir, wait)
			if err != nil {
				return err
			}
			r := statusResult{
				Fingerprint: resp.Fingerprint, Name: resp.Name, Address: resp.Address, Version: resp.Version,
				Started: timeText(resp.StartedMs), Ready: resp.Ready, Services: []serviceResult{},
				Parties: resp.Parties, Invitations: resp.Invitations,
				AuditRecords: resp.AuditRecords, AuditHead: resp.AuditHead, StoreBytes: resp.StoreBytes,
				Restored: timeText(resp.RestoredMs),
			}
			if cfg, err := loadNodeConfig(dir); err == nil {
				if address, err := cfg.AdvertiseFor(resp.Address); err == nil {
					r.URL = "undersign://" + address + "/" + resp.Fingerprint
				}
			}
			for _, s := range resp.Services {
				r.Services = append(r.Services, serviceResult{s.Name, s.Ready, s.Detail})
			}
			return e.print(r, func(w io.Writer) { r.text(w) })
		},
	}
	addDirFlag(c, &dir)
	c.Flags().DurationVar(&wait, "wait", 0, "wait for this `DURATION` until it is ready")
	return describe(c, "fingerprint, name, address, url, version, started, ready, services, parties, invitations, audit_records, audit_head, store_bytes, restored")
}

// status asks the node in a folder, and waits until it is ready if wait isn't 0.
func (e *env) status(ctx context.Context, dir string, wait time.Duration) (*nodev1.StatusResponse, error) {
	deadline := time.Now().Add(wait)
	for {
		resp, err := e.statusOnce(ctx, dir)
		if err == nil && (resp.Ready || wait == 0) || time.Now().After(deadline) {
			return resp, err
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(50 * time.Millisecond):
		}
	}
}

func (e *env) statusOnce(ctx context.Context, dir string) (*nodev1.StatusResponse, error) {
	n, err := e.mustLive(dir)
	if err != nil {
		return nil, err
	}
	defer n.close()
	resp, err := n.client.Status(ctx, new(nodev1.StatusRequest))
	if err != nil {
		return nil, n.callError(err)
	}
	return resp, nil
}

func (r *statusResult) text(w io.Writer) {
	state := "ready"
	if !r.Ready {
		state = "not ready"
	}
	fmt.Fprintf(w, "%s is %s, at %s since %s\n", r.Name, state, r.Address, r.Started)
	if r.URL != "" {
		fmt.Fprintf(w, "url          %s\n", r.URL)
	}
	fmt.Fprintf(w, "fingerprint  %s\nversion      %s\nparties      %d, and %s\n", r.Fingerprint, r.Version, r.Parties, countOf(int(r.Invitations), "invitation"))
	fmt.Fprintf(w, "audit        %s, to %s\nstore        %d bytes\n", countOf(int(r.AuditRecords), "record"), r.AuditHead, r.StoreBytes)
	if r.Restored != "" {
		fmt.Fprintf(w, "restored     from a backup, %s\n", r.Restored)
	}
	for _, s := range r.Services {
		state := "ready"
		if !s.Ready {
			state = "not ready: " + s.Detail
		} else if s.Detail != "" {
			state += ": " + s.Detail
		}
		fmt.Fprintf(w, "%-12s %s\n", s.Name, state)
	}
}

func newPartyCmd(e *env) *cobra.Command {
	c := newGroupCmd(e, "party", "List and forget parties, or give a node a new key", `
A node knows parties by their keys, since "undersign invite" and "undersign
join". One that is forgotten can't do anything any more, whatever rules say.`,
		newPartyListCmd(e),
		newPartyRemoveCmd(e),
		newPartyRenewCmd(e),
	)
	c.Example = `  undersign party list --dir alice
  undersign party remove bob --dir alice
  undersign party renew --dir alice`
	return c
}

func newPartyListCmd(e *env) *cobra.Command {
	var dir string
	c := &cobra.Command{
		Use:   "list",
		Short: "List the parties that a node knows",
		Long: `List the parties that a node knows: what it calls them, their keys, and where
they listen.`,
		Example: "  undersign party list --dir alice",
		Args:    noArgs,
		RunE: func(c *cobra.Command, args []string) error {
			list, err := e.parties(c.Context(), dir)
			if err != nil {
				return err
			}
			result := struct {
				Parties []partyResult `json:"parties"`
			}{[]partyResult{}}
			for _, p := range list {
				result.Parties = append(result.Parties, newPartyResult(p))
			}
			return e.print(result, func(w io.Writer) {
				for _, p := range result.Parties {
					fmt.Fprintf(w, "%-16s %s  %s\n", p.Name, p.Fingerprint, p.Address)
				}
			})
		},
	}
	addDirFlag(c, &dir)
	return describe(c, "parties")
}

func newPartyRemoveCmd(e *env) *cobra.Command {
	var dir string
	c := &cobra.Command{
		Use:   "remove PARTY",
		Short: "Forget a party",
		Long: `Forget a party, by its name or its fingerprint: its calls are denied from now
on. An invitation that is out for that name holds no more.

Rules that name it stay in undersign.toml, and would hold for another party of
that name: delete them too.`,
		Example: "  undersign party remove bob --dir alice",
		Args:    nargs(1, 1, "a party's name or fingerprint"),
		RunE: func(c *cobra.Command, args []string) error {
			if err := e.confirm(c.Context(), fmt.Sprintf("Forget %s?", args[0])); err != nil {
				return err
			}
			if e.dryRun {
				e.notef("would forget %s", args[0])
				return nil
			}
			p, err := e.removeParty(c.Context(), dir, args[0])
			if err != nil {
				return err
			}
			r := newPartyResult(p)
			return e.print(r, func(w io.Writer) {
				if r.Fingerprint == "" {
					fmt.Fprintf(w, "Withdrew the invitation for %s.\n", r.Name)
					return
				}
				fmt.Fprintf(w, "Forgot %s (%s).\n", r.Name, r.Fingerprint)
			})
		},
	}
	addDirFlag(c, &dir)
	return describe(c, "name, fingerprint, address, joined")
}

func (e *env) removeParty(ctx context.Context, dir, name string) (p *nodev1.Party, err error) {
	live, err := e.liveNode(dir)
	if err != nil {
		return nil, err
	}
	if live != nil {
		defer live.close()
		resp, err := live.client.Remove(ctx, &nodev1.RemoveRequest{Party: name})
		if err != nil {
			return nil, withHint(live.callError(err), "\"undersign party list\" names them")
		}
		return resp.Party, nil
	}
	n, err := e.idleNode(dir)
	if err != nil {
		return nil, err
	}
	defer n.closeInto(&err)
	m, err := n.roster.Remove(name)
	if err != nil {
		return nil, withHint(err, "\"undersign party list\" names them")
	}
	if m.Fingerprint == "" {
		err = n.record("node.remove", "", "withdrew the invitation for "+m.Name)
		return &nodev1.Party{Name: m.Name}, err
	}
	err = n.record("node.remove", m.Fingerprint, "removed "+m.Name)
	return &nodev1.Party{Fingerprint: m.Fingerprint, Name: m.Name, Address: m.Address, JoinedMs: m.Joined.UnixMilli()}, err
}
