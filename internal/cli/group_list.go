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
					if err := r.addStates(is.gk, is.announced, is.list); err != nil {
						return groupFileError(issuer, err)
					}
					return e.printGroup(r, true)
				})
			}
			return useSecret(c.Context(), e, secret, openerFile, (*opener).openGroupOpener, func(_ *opener, op *groupOpener) error {
				r := newGroupListResult(op.gk, op.register)
				if err := r.addStates(op.gk, nil, op.list); err != nil {
					return groupFileError(openerFile, err)
				}
				return e.printGroup(r, true)
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
	return describe(c, "scheme, label, features, group (ID), signature_bytes, warning (of static groups), epoch, states, members [name, revoked]; with --state:\n  "+stateFields)
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
	Warning  string            `json:"warning,omitempty"`
	Epoch    uint64            `json:"epoch,omitempty"`
	States   []stateResult     `json:"states,omitempty"` // that the role signed last
	Members  []groupMemberInfo `json:"members,omitempty"`
}

func newGroupListResult(gk groupsig.GroupKey, register *groupsig.Register) groupListResult {
	r := groupListResult{
		Scheme: gk.Scheme().Name(), Label: gk.Label(), Features: gk.Features().String(),
		Group: groupID(gk), Size: gk.SignatureSize(), Warning: staticWarning(gk.Features()),
	}
	if register != nil {
		for rec, live := range register.All() {
			r.Members = append(r.Members, groupMemberInfo{rec.Member, !live})
		}
	}
	return r
}

// addStates adds the last announcement and the last list, as far as there are any.
func (r *groupListResult) addStates(gk groupsig.GroupKey, announced, list []byte) error {
	if len(announced) > 0 {
		a, err := parseAnnouncement(gk, announced)
		if err != nil {
			return err
		}
		r.States = append(r.States, newStateResult(gk, a))
	}
	if len(list) > 0 {
		l, err := parseList(gk, list)
		if err != nil {
			return err
		}
		r.States = append(r.States, newStateResult(gk, l))
	}
	return nil
}

func (e *env) printGroup(r groupListResult, members bool) error {
	return e.print(r, func(w io.Writer) {
		fs := []field{{"group", r.Label}, {"scheme", r.Scheme}, {"features", r.Features}, {"ID", r.Group}, {"signature", fmt.Sprintf("%d bytes", r.Size)}}
		if r.Warning != "" {
			fs = append(fs, field{"warning", r.Warning})
		}
		if r.Epoch > 0 {
			fs = append(fs, field{"epoch", fmt.Sprint(r.Epoch)})
		}
		for _, s := range r.States {
			fs = append(fs, field{s.Kind, s.text()})
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
