// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	nodev1 "github.com/undersign/undersign/gen/undersign/node/v1"
	parties "github.com/undersign/undersign/internal/party"
	"github.com/undersign/undersign/internal/roster"
)

func newInviteCmd(e *env) *cobra.Command {
	var dir, name, address, qr string
	var valid time.Duration
	var allow []string
	c := &cobra.Command{
		Use:   "invite --name NAME",
		Short: "Make an invitation for another party",
		Long: `Make an invitation: one line that somebody gives to "undersign join", after
which the two know each other. It is good for one party, and whoever has it
first can use it: send it by a way that others don't read.

The party will be called NAME here, in undersign.toml and in results. What it
may do is what rules say; --allow adds them to undersign.toml.`,
		Example: `  undersign invite --name bob
  undersign invite --dir alice --name bob --allow threshold.sign --allow 'node.status@1/s'
  undersign invite --name phone --for 10m --qr -`,
		Args: noArgs,
		RunE: func(c *cobra.Command, args []string) error {
			if err := roster.CheckName(name); err != nil {
				return usagef(c, "--name: %w", err)
			}
			if address != "" {
				if err := parties.CheckAddress(address); err != nil {
					return usagef(c, "--address: %w", err)
				}
			}
			if valid < time.Second || valid > 365*24*time.Hour {
				return usagef(c, "--for %v: want from a second to a year", valid)
			}
			if err := e.checkQR(qr); err != nil {
				return err
			}
			rules, err := allowText(name, allow)
			if err != nil {
				return err
			}
			if e.dryRun {
				e.notef("would invite %s", name)
				return nil
			}
			result := struct {
				Name    string `json:"name"`
				Token   string `json:"token"`
				Expires string `json:"expires"`
			}{Name: name}
			var expires time.Time
			if result.Token, expires, err = e.invite(c, dir, name, address, valid); err != nil {
				if strings.Contains(err.Error(), roster.ErrName.Error()) {
					err = withHint(err, "give the party another --name, or forget who has it, or the invitation that is out for it: \"undersign party remove %s\"", name)
				}
				return err
			}
			e.warnUnknownOperations(allow)
			result.Expires = expires.UTC().Format(time.RFC3339)
			if err := e.allow(c.Context(), dir, rules); err != nil {
				return withdrawHint(fmt.Errorf("the invitation is made, but not the rules: %w", err), name)
			}
			set := e.newFileSet(true)
			defer set.abort()
			if err := addQR(set, qr, "the invitation", []byte(result.Token)); err != nil {
				return withdrawHint(err, name)
			}
			if err := set.commit(); err != nil {
				return withdrawHint(err, name)
			}
			e.notef("whoever joins with it until %s will be %s", result.Expires, name)
			return e.print(result, func(w io.Writer) { fmt.Fprintln(w, result.Token) })
		},
	}
	addDirFlag(c, &dir)
	c.Flags().StringVar(&name, "name", "", "what the party is called here, a `NAME`")
	c.Flags().StringVar(&address, "address", "", "where the party reaches this node, `HOST:PORT` (default: as undersign.toml says)")
	c.Flags().DurationVar(&valid, "for", 24*time.Hour, "how long it can be used, a `DURATION`")
	addAllowFlag(c, &allow)
	addQRFlag(c, &qr, "invitation")
	c.MarkFlagRequired("name")
	return describe(c, "name, token, expires")
}

// withdrawHint says what to do with an invitation that is made and wasn't shown.
func withdrawHint(err error, name string) error {
	return withHint(err, "begin anew: \"undersign party remove %s\" withdraws the invitation that nobody has", name)
}

// invite makes an invitation, in the node that runs or in its folder.
func (e *env) invite(c *cobra.Command, dir, name, address string, valid time.Duration) (token string, expires time.Time, err error) {
	live, err := e.liveNode(dir)
	if err != nil {
		return "", expires, err
	}
	if live != nil {
		defer live.close()
		resp, err := live.client.Invite(c.Context(), &nodev1.InviteRequest{Name: name, Address: address, ValidSeconds: uint64(valid / time.Second)})
		if err != nil {
			return "", expires, live.callError(err)
		}
		return resp.Token, time.UnixMilli(resp.ExpiresMs), nil
	}
	n, err := e.idleNode(dir)
	if err != nil {
		return "", expires, err
	}
	defer n.closeInto(&err)
	if address == "" {
		listen := n.cfg.Listen
		if address, err = n.cfg.AdvertiseFor(listen); err != nil {
			return "", expires, withHint(err, "or say it with --address")
		}
	}
	inv, err := parties.NewInvitation(address, n.id.Fingerprint())
	if err != nil {
		return "", expires, err
	}
	if expires, err = n.roster.Invite(inv, name, valid); err != nil {
		return "", expires, err
	}
	err = n.record("node.invite", "", "for "+name)
	return inv.Token(), expires, err
}
