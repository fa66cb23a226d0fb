// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	nodev1 "github.com/undersign/undersign/gen/undersign/node/v1"
	parties "github.com/undersign/undersign/internal/party"
	"github.com/undersign/undersign/internal/roster"
	"github.com/undersign/undersign/internal/service"
)

// maxToken is the length of the longest file with an invitation.
const maxToken = 4096

func newJoinCmd(e *env) *cobra.Command {
	var dir, name, address string
	var allow []string
	c := &cobra.Command{
		Use:   "join TOKEN",
		Short: "Join another node by its invitation",
		Long: `Join another node by an invitation that it made. Afterwards each knows the
other's key, and where the other listens.

TOKEN is the invitation, or - for standard input, where other users of this
machine can't see it.

What the other node may do here is what rules say; --allow adds them to
undersign.toml.`,
		Example: `  undersign join --dir bob undersign://SECRET@127.0.0.1:7071/us1...
  undersign join --dir bob --name alice --allow threshold.sign - < invitation.txt`,
		Args: nargs(1, 1, "an invitation, or - to read it from standard input"),
		RunE: func(c *cobra.Command, args []string) (err error) {
			token := args[0]
			if token == "-" {
				data, err := e.readInput(c.Context(), "-", maxToken)
				if err != nil {
					return err
				}
				token = strings.TrimSpace(string(data))
			}
			inv, err := parties.ParseInvitation(token)
			if err != nil {
				return usagef(c, "%w", err)
			}
			if name != "" {
				if err := roster.CheckName(name); err != nil {
					return usagef(c, "--name: %w", err)
				}
			}
			if address != "" && address != "none" {
				if err := parties.CheckAddress(address); err != nil {
					return usagef(c, "--address: %w", err)
				}
			}
			if _, err := allowText("x", allow); err != nil {
				return err
			}
			if e.dryRun {
				e.notef("would join %s", inv.Fingerprint)
				return nil
			}
			p, yours, err := e.join(c, dir, token, name, address)
			if err != nil {
				return err
			}
			rules, err := allowText(p.Name, allow)
			if err == nil {
				err = e.allow(c.Context(), dir, rules)
			}
			if err != nil {
				return fmt.Errorf("the node has joined, but the rules aren't made: %w", err)
			}
			e.warnUnknownOperations(allow)
			result := struct {
				partyResult
				YourName string `json:"your_name"`
			}{newPartyResult(p), yours}
			return e.print(result, func(w io.Writer) {
				fmt.Fprintf(w, "Joined %s (%s), which calls this node %s.\n", p.Name, p.Fingerprint, yours)
			})
		},
	}
	addDirFlag(c, &dir)
	c.Flags().StringVar(&name, "name", "", "what the other is called here, a `NAME` (default: what it calls itself)")
	c.Flags().StringVar(&address, "address", "", "where the other reaches this node, `HOST:PORT`, or none if it doesn't (default: as undersign.toml says)")
	addAllowFlag(c, &allow)
	return describe(c, "name, fingerprint, address, joined, your_name")
}

// join uses an invitation, by the node that runs or in its folder.
func (e *env) join(c *cobra.Command, dir, token, name, address string) (p *nodev1.Party, yours string, err error) {
	live, err := e.liveNode(dir)
	if err != nil {
		return nil, "", err
	}
	if live != nil {
		defer live.close()
		resp, err := live.client.Accept(c.Context(), &nodev1.AcceptRequest{Token: token, Name: name, Address: address})
		if err != nil {
			return nil, "", joinError(live.callError(err))
		}
		return resp.Party, resp.YourName, nil
	}
	n, err := e.idleNode(dir)
	if err != nil {
		return nil, "", err
	}
	defer n.closeInto(&err)
	switch address {
	case "none":
		address = ""
	case "":
		if address, err = n.cfg.AdvertiseFor(n.cfg.Listen); err != nil {
			e.warnf("the other won't know where this node listens: set advertise in undersign.toml, or give --address")
		}
	}
	m, yours, err := service.Join(c.Context(), n.id, n.roster, n.cfg.Rules, token, name, address)
	if err != nil {
		return nil, "", joinError(err)
	}
	if err := n.record("node.accept", m.Fingerprint, "joined "+m.Name); err != nil {
		return nil, "", err
	}
	return &nodev1.Party{Fingerprint: m.Fingerprint, Name: m.Name, Address: m.Address, JoinedMs: m.Joined.UnixMilli()}, yours, nil
}

func joinError(err error) error {
	s := err.Error()
	switch {
	case strings.Contains(s, roster.ErrInvitation.Error()):
		return withHint(err, "ask for a new one: \"undersign invite\" at the other node")
	case strings.Contains(s, roster.ErrName.Error()):
		return withHint(err, "give it another name with --name")
	case strings.Contains(s, "doesn't let this one in"):
		return withHint(err, "the invitation is used up or has expired: ask for a new one, \"undersign invite\" at the other node")
	case strings.Contains(s, "not a party that is known"):
		return withHint(err, "another node listens there than the one that made the invitation: ask for a new one, and where that node is")
	case strings.Contains(s, "unavailable"):
		return withHint(err, "look whether the other node runs, and can be reached from here at this address; \"undersign invite --address\" gives another")
	}
	return err
}
