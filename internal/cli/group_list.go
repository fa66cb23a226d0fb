// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/undersign/undersign/groupsig"
)

func newGroupListCmd(e *env) *cobra.Command {
	var secret secretFlags
	var issuer, openerFile, group, state string
	c := &cobra.Command{
		Use:   "list --issuer FILE|--opener FILE|--group FILE",
		Short: "List the members, or show a group",
		Long: `List the members that the issuer or the opener knows; or show what a group is.
With --group and --state, show a list of who is revoked, or an announcement.`,
		Example: `  undersign group list --issuer council/issuer.age -i issuer.key
  undersign group list --group council/group.pub`,
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if group != "" {
				gk, err := e.readGroup(c.Context(), group)
				if err != nil {
					return err
				}
				if state != "" {
					return e.printState(c, gk, state)
				}
				return e.printGroup(newGroupListResult(gk, nil), false)
			}
			if issuer != "" {
				return useSecret(c.Context(), e, secret, issuer, (*opener).openIssuer, func(_ *opener, is *groupIssuer) error {
					r := newGroupListResult(is.gk, is.register)
					r.Epoch = is.epoch()
					return e.printGroup(r, true)
				})
			}
			return useSecret(c.Context(), e, secret, openerFile, (*opener).openGroupOpener, func(_ *opener, op *groupOpener) error {
				return e.printGroup(newGroupListResult(op.gk, op.register), true)
			})
		},
	}
	fl := c.Flags()
	fl.StringVar(&issuer, "issuer", "", "the issuer's `FILE`")
	fl.StringVar(&openerFile, "opener", "", "the opener's `FILE`")
	addGroupFlag(c, &group)
	fl.StringVar(&state, "state", "", "show the list of who is revoked, or the announcement, `FILE`")
	c.MarkFlagsOneRequired("issuer", "opener", "group")
	c.MarkFlagsMutuallyExclusive("issuer", "opener", "group")
	addSecretFlags(c, &secret)
	return describe(c, "scheme, label, features, group (ID), signature_bytes, epoch, members [name, revoked]; with --state:\n  "+stateFields)
}

type groupMemberInfo struct {
	Name    string `json:"name"`
	Revoked bool   `json:"revoked"`
}

type groupListResult struct {
	Scheme   string            `json:"scheme"`
	Label    string            `json:"label"`
	Features string            `json:"features"`
	Group    string            `json:"group"`
	Size     int               `json:"signature_bytes"`
	Epoch    uint64            `json:"epoch,omitempty"`
	Members  []groupMemberInfo `json:"members,omitempty"`
}

func newGroupListResult(gk groupsig.GroupKey, register *groupsig.Register) groupListResult {
	r := groupListResult{
		Scheme: gk.Scheme().Name(), Label: gk.Label(), Features: gk.Features().String(),
		Group: groupID(gk), Size: gk.SignatureSize(),
	}
	if register != nil {
		for rec, live := range register.All() {
			r.Members = append(r.Members, groupMemberInfo{rec.Member, !live})
		}
	}
	return r
}

func (e *env) printGroup(r groupListResult, members bool) error {
	return e.print(r, func(w io.Writer) {
		fs := []field{{"group", r.Label}, {"scheme", r.Scheme}, {"features", r.Features}, {"ID", r.Group}, {"signature", fmt.Sprintf("%d bytes", r.Size)}}
		if r.Epoch > 0 {
			fs = append(fs, field{"epoch", fmt.Sprint(r.Epoch)})
		}
		for _, m := range r.Members {
			name := oneLine(m.Name)
			if m.Revoked {
				name += " (revoked)"
			}
			fs = append(fs, field{"member", name})
		}
		writeFields(w, fs)
		if members && len(r.Members) == 0 {
			fmt.Fprintln(w, "no members yet")
		}
	})
}
