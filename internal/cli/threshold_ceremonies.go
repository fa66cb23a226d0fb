// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bytes"
	"context"
	"encoding/hex"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	thresholdv1 "github.com/undersign/undersign/gen/undersign/threshold/v1"
	"github.com/undersign/undersign/internal/threshold"
	"github.com/undersign/undersign/keyfile"
)

func newCeremonyCmd(e *env) *cobra.Command {
	c := newGroupCmd(e, "ceremony", "Renew or hand on shares that nodes hold", `
New shares of the same key, for the same nodes (a refresh) or for others (a
reshare), without stopping: the old shares sign until the new ones are certain.

One node leads. "start" makes a plan and sends it to all; "join" agrees to it at
a node; "finish" does the rest as soon as all have joined, and can be run again
at any time. What each node agrees to is the plan with all its receivers: who
leads can't put others in their place.

"undersign threshold refresh" and "reshare" do the same by files.`,
		newCeremonyStartCmd(e),
		newCeremonyJoinCmd(e),
		newCeremonyFinishCmd(e),
		newCeremonyListCmd(e),
	)
	c.Example = `  undersign threshold ceremony start --key code --dir alice
  undersign threshold ceremony join 3fa29c11 --dir bob
  undersign threshold ceremony finish 3fa29c11 --dir alice`
	return c
}

type participantResult struct {
	Name     string `json:"name"`
	Party    string `json:"party"`
	OldIndex uint32 `json:"old_index"`
	NewIndex uint32 `json:"new_index"`
	State    string `json:"state,omitempty"`
	Problem  string `json:"problem,omitempty"`
}

type nodeCeremony struct {
	ID           string              `json:"id"`
	Key          string              `json:"key"`
	Fingerprint  string              `json:"fingerprint"`
	Epoch        uint64              `json:"epoch"`
	Threshold    int                 `json:"threshold"`
	Leader       string              `json:"leader"`
	Started      string              `json:"started"`
	Joined       bool                `json:"joined"`
	Done         bool                `json:"done"`
	Successor    string              `json:"successor,omitempty"`
	Participants []participantResult `json:"participants"`
}

const ceremonyJSON = "id, key, fingerprint, epoch, threshold, leader, started, joined, done, successor, participants [name, party, old_index, new_index, state, problem]"

func newNodeCeremony(st *thresholdv1.CeremonyStatus) (r nodeCeremony, err error) {
	p := new(threshold.Plan)
	if err := p.UnmarshalBinary(st.GetPlan()); err != nil {
		return r, err
	}
	r = nodeCeremony{
		ID: st.Id, Key: threshold.KeyName(p.Parent), Fingerprint: keyfile.Fingerprint(p.Parent), Epoch: p.Parent.Epoch(),
		Threshold: p.Threshold, Leader: p.Leader, Started: timeText(p.Made.UnixMilli()), Joined: st.Joined,
		Done: len(st.Successor) > 0, Successor: hex.EncodeToString(st.Successor), Participants: []participantResult{},
	}
	for i, n := range p.Nodes {
		x := participantResult{Name: n.Name, Party: n.Party, OldIndex: uint32(n.Old), NewIndex: uint32(n.New)}
		if i < len(st.Participants) {
			x.State, x.Problem = st.Participants[i].State, st.Participants[i].Problem
		}
		r.Participants = append(r.Participants, x)
	}
	return r, nil
}

func (r *nodeCeremony) text(w io.Writer) {
	fmt.Fprintf(w, "ceremony %s for %s, epoch %d: new shares with threshold %d\n", r.ID[:16], r.Key, r.Epoch, r.Threshold)
	for _, p := range r.Participants {
		what := fmt.Sprintf("keeps no share (had %d)", p.OldIndex)
		switch {
		case p.NewIndex != 0 && p.OldIndex != 0:
			what = fmt.Sprintf("share %d for share %d", p.NewIndex, p.OldIndex)
		case p.NewIndex != 0:
			what = fmt.Sprintf("share %d, as a newcomer", p.NewIndex)
		}
		fmt.Fprintf(w, "  %-12s %s  %s", printable(p.Name), p.Party, what)
		if p.State != "" {
			fmt.Fprintf(w, ": %s", p.State)
		}
		if p.Problem != "" {
			fmt.Fprintf(w, " (%s)", printable(p.Problem))
		}
		fmt.Fprintln(w)
	}
	if r.Done {
		fmt.Fprintf(w, "the new shares are certain, record %s\n", r.Successor[:16])
	}
}

func (e *env) printCeremony(st *thresholdv1.CeremonyStatus) (nodeCeremony, error) {
	r, err := newNodeCeremony(st)
	if err != nil {
		return r, err
	}
	return r, e.print(r, r.text)
}

func newCeremonyStartCmd(e *env) *cobra.Command {
	var dir string
	var req thresholdv1.StartCeremonyRequest
	var k int
	c := &cobra.Command{
		Use:   "start --key NAME",
		Short: "Plan a ceremony, and ask all nodes to join",
		Long: `Plan new shares of a key and send the plan to all nodes that take part. The node
in a folder leads, and joins by that.

Without --receivers the nodes that hold shares now get new ones, and join by
themselves where the rule for threshold.ceremony doesn't say approve = true.
With --receivers those nodes get the shares, in that order, and a person has to
join at each, old and new: to contribute is to hand the key to them.

K holders contribute, the first unless --by names them.`,
		Example: `  undersign threshold ceremony start --key code --dir alice
  undersign threshold ceremony start --key code -k 2 --receivers bob,dave,erin --dir alice`,
		Args: noArgs,
		RunE: func(c *cobra.Command, args []string) error {
			if c.Flags().Changed("threshold") && (k < 2 || k > 255) {
				return usagef(c, "-k must be from 2 to 255")
			}
			req.Threshold = uint32(k)
			n, err := e.thresholdNode(dir)
			if err != nil {
				return err
			}
			defer n.close()
			if e.dryRun {
				e.notef("would start a ceremony")
				return nil
			}
			resp, err := n.StartCeremony(c.Context(), &req)
			if err != nil {
				return withCeremonyHint(n.callError(err))
			}
			r, err := e.printCeremony(resp.Ceremony)
			if err == nil && !r.Done {
				e.notef("once all have joined: undersign threshold ceremony finish %s --dir %s", r.ID[:16], dir)
			}
			return err
		},
	}
	fl := c.Flags()
	fl.StringVar(&req.Key, "key", "", "the key's `NAME` at the node, or rsa-...")
	c.MarkFlagRequired("key")
	fl.IntVarP(&k, "threshold", "k", 0, "new threshold `K` (default: the old one)")
	fl.StringSliceVar(&req.Receivers, "receivers", nil, "nodes `NAME,...` that get shares (default: those that hold them)")
	fl.StringSliceVar(&req.Contributors, "by", nil, "nodes `NAME,...` that contribute")
	addDirFlag(c, &dir)
	return describe(c, ceremonyJSON, ExitQuorum)
}

// withCeremonyHint adds what to do about an error of a node that was told to start, join or
// finish a ceremony.
func withCeremonyHint(err error) error {
	for text, hint := range map[string]string{
		"no node is called":        "\"undersign party list\" names the nodes that it knows; one more has to join it first",
		"needs a name at":          "say what it is to be called here with --name NAME",
		"have an ID that begins":   "\"undersign threshold ceremony list\" lists them",
		"no node that answers hol": "look whether it runs: all who hold a share take part, or name who gets them with --receivers",
	} {
		if strings.Contains(err.Error(), text) {
			return withHint(err, "%s", hint)
		}
	}
	return err
}

// ceremony returns the ceremony at a node with an ID, of which the start is enough.
func (n *thresholdNode) ceremony(ctx context.Context, id string) (*thresholdv1.CeremonyStatus, error) {
	resp, err := n.Ceremonies(ctx, &thresholdv1.CeremoniesRequest{})
	if err != nil {
		return nil, n.callError(err)
	}
	var found []*thresholdv1.CeremonyStatus
	for _, st := range resp.Ceremonies {
		if len(id) >= 4 && strings.HasPrefix(st.Id, id) {
			found = append(found, st)
		}
	}
	if len(found) != 1 {
		return nil, failf(ExitError, "\"undersign threshold ceremony list\" lists them", "%d ceremonies have an ID that begins with %q", len(found), id)
	}
	return found[0], nil
}

func newCeremonyJoinCmd(e *env) *cobra.Command {
	var dir, name string
	c := &cobra.Command{
		Use:   "join CEREMONY",
		Short: "Agree to a ceremony's plan at a node",
		Long: `Agree to a plan that another node has sent, by its ID or the start of it. It is
shown first, and on a terminal it has to be confirmed. Look at who gets shares:
each receiver should tell you the fingerprint of their node, by a channel that
you trust, and it should be the one that is shown.

A node that holds no share yet needs a --name for the key. The fingerprint that
is shown is then the key's that it trusts from here on.`,
		Example: `  undersign threshold ceremony join 3fa29c11 --dir bob
  undersign threshold ceremony join 3fa29c11 --name code --dir dave`,
		Args: nargs(1, 1, "the ID of a ceremony"),
		RunE: func(c *cobra.Command, args []string) error {
			n, err := e.thresholdNode(dir)
			if err != nil {
				return err
			}
			defer n.close()
			st, err := n.ceremony(c.Context(), args[0])
			if err != nil {
				return err
			}
			r, err := newNodeCeremony(st)
			if err != nil {
				return err
			}
			if _, ok := terminal(e.stdin); ok && !e.yes {
				var b bytes.Buffer
				fmt.Fprintf(&b, "key          %s\n", r.Fingerprint)
				r.text(&b)
				e.clearProgress()
				fmt.Fprintf(e.stderr, "%s\n", b.Bytes())
				if err := e.confirm(c.Context(), "Hand the key to these receivers?"); err != nil {
					return err
				}
			}
			if e.dryRun {
				e.notef("would join %s", r.ID[:16])
				return nil
			}
			resp, err := n.JoinCeremony(c.Context(), &thresholdv1.JoinCeremonyRequest{Id: st.Id, Name: name})
			if err != nil {
				return withCeremonyHint(n.callError(err))
			}
			_, err = e.printCeremony(resp.Ceremony)
			return err
		},
	}
	c.Flags().StringVar(&name, "name", "", "what a node without a share is to call the key, `NAME`")
	addDirFlag(c, &dir)
	return describe(c, ceremonyJSON)
}

func newCeremonyFinishCmd(e *env) *cobra.Command {
	var dir string
	var wait time.Duration
	c := &cobra.Command{
		Use:   "finish CEREMONY",
		Short: "Go on with a ceremony until it is done",
		Long: `Collect what a ceremony needs at the node that leads it, and hand out the
certificate that ends it. If nodes haven't joined yet, or are away, it says so:
run it again. Once the new shares are certain, nodes that were away get them
by running it again too.`,
		Example: "  undersign threshold ceremony finish 3fa29c11 --wait 1h --dir alice",
		Args:    nargs(1, 1, "the ID of a ceremony"),
		RunE: func(c *cobra.Command, args []string) error {
			n, err := e.thresholdNode(dir)
			if err != nil {
				return err
			}
			defer n.close()
			if e.dryRun {
				e.notef("would finish %s", args[0])
				return nil
			}
			return e.finishCeremony(c.Context(), n, args[0], wait)
		},
	}
	c.Flags().DurationVar(&wait, "wait", 0, "wait for this `DURATION` until all have joined")
	addDirFlag(c, &dir)
	describe(c, ceremonyJSON, ExitQuorum)
	describeExit(c, ExitQuorum, "nodes are missing, and the old shares still hold")
	return c
}

func (e *env) finishCeremony(ctx context.Context, n *thresholdNode, id string, wait time.Duration) error {
	deadline := time.Now().Add(wait)
	for {
		resp, err := n.FinishCeremony(ctx, &thresholdv1.FinishCeremonyRequest{Id: id})
		if err != nil {
			return withCeremonyHint(n.callError(err))
		}
		r, err := newNodeCeremony(resp.Ceremony)
		if err != nil {
			return err
		}
		var missing, waiting, problems []string
		for _, p := range r.Participants {
			if p.State == "waiting" {
				waiting = append(waiting, p.Name)
			}
			if p.State != "finished" {
				missing = append(missing, p.Name)
			}
			if p.Problem != "" {
				problems = append(problems, p.Name+": "+p.Problem)
			}
		}
		if time.Now().Before(deadline) && len(missing) > 0 {
			select {
			case <-time.After(time.Second):
				continue
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		if !r.Done {
			hint := "run this again once they answer"
			text := "the ceremony isn't done, and the old shares hold: " + strings.Join(missing, ", ") + " to come"
			if len(waiting) > 0 { // nothing happens before they have joined
				hint = "have them run \"undersign threshold ceremony join " + r.ID[:16] + "\", and run this again"
				text = "the ceremony isn't done, and the old shares hold: " + strings.Join(waiting, ", ") + " yet to join"
			}
			if len(problems) > 0 {
				text += " (" + strings.Join(problems, "; ") + ")"
			}
			return failf(ExitQuorum, hint, "%s", text)
		}
		if len(missing) > 0 {
			e.warnf("%s will get the new shares when this is run again", strings.Join(missing, ", "))
		}
		return e.print(r, r.text)
	}
}

func newCeremonyListCmd(e *env) *cobra.Command {
	var dir string
	c := &cobra.Command{
		Use:     "list",
		Short:   "List the ceremonies that a node knows of",
		Long:    "List the ceremonies that the node in a folder leads or was asked to join, the\nnewest first.",
		Example: "  undersign threshold ceremony list --dir bob",
		Args:    noArgs,
		RunE: func(c *cobra.Command, args []string) error {
			n, err := e.thresholdNode(dir)
			if err != nil {
				return err
			}
			defer n.close()
			resp, err := n.Ceremonies(c.Context(), &thresholdv1.CeremoniesRequest{})
			if err != nil {
				return n.callError(err)
			}
			result := struct {
				Ceremonies []nodeCeremony `json:"ceremonies"`
			}{[]nodeCeremony{}}
			for _, st := range resp.Ceremonies {
				r, err := newNodeCeremony(st)
				if err != nil {
					return err
				}
				result.Ceremonies = append(result.Ceremonies, r)
			}
			return e.print(result, func(w io.Writer) {
				for _, r := range result.Ceremonies {
					r.text(w)
				}
			})
		},
	}
	addDirFlag(c, &dir)
	return describe(c, "ceremonies ["+ceremonyJSON+"]")
}
