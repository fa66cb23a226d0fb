// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	thresholdv1 "github.com/undersign/undersign/gen/undersign/threshold/v1"
	"github.com/undersign/undersign/thresholdrsa"
)

// signFileTime is how long sign-file goes on without --timeout.
const signFileTime = 30 * time.Second

// A pendingResult is a request that waits for a person.
type pendingResult struct {
	ID      string `json:"id"`
	Key     string `json:"key"`
	Party   string `json:"party"`
	Name    string `json:"name,omitempty"`
	Padding string `json:"padding"`
	Hash    string `json:"hash"`
	Digest  string `json:"digest"`
	Asked   string `json:"asked"`
	Expires string `json:"expires"`
}

const pendingJSON = "id, key, party, name, padding, hash, digest, asked, expires"

func newPendingResult(i *thresholdv1.PendingItem) (pendingResult, error) {
	r := new(thresholdrsa.Request)
	if err := r.UnmarshalBinary(i.GetRequest()); err != nil {
		return pendingResult{}, err
	}
	return pendingResult{
		ID: i.Id, Key: i.Key, Party: i.Party, Name: i.PartyName, Padding: paddingText(r), Hash: hashName(r.Hash()),
		Digest: fmt.Sprintf("%x", r.Digest()), Asked: timeText(i.AskedMs), Expires: timeText(i.ExpiresMs),
	}, nil
}

func (p pendingResult) fields() []field {
	from := p.Party
	if p.Name != "" {
		from = p.Name + " (" + p.Party + ")"
	}
	return []field{
		{"request", p.ID}, {"key", p.Key}, {"from", from}, {p.Hash, p.Digest}, {"padding", p.Padding},
		{"asked", p.Asked}, {"expires", p.Expires},
	}
}

func newThresholdPendingCmd(e *env) *cobra.Command {
	var dir string
	c := &cobra.Command{
		Use:   "pending",
		Short: "List the requests that wait for a person",
		Long: `List the requests that wait for a person to approve them at the node in a
folder, because its rule for them says approve = true. What is signed is a
digest: ask whoever wants it signed for the file, and compare.`,
		Example: "  undersign threshold pending --dir alice",
		Args:    noArgs,
		RunE: func(c *cobra.Command, args []string) error {
			n, err := e.thresholdNode(dir)
			if err != nil {
				return err
			}
			defer n.close()
			resp, err := n.Pending(c.Context(), &thresholdv1.PendingRequest{})
			if err != nil {
				return n.callError(err)
			}
			result := struct {
				Pending []pendingResult `json:"pending"`
			}{[]pendingResult{}}
			for _, i := range resp.Items {
				p, err := newPendingResult(i)
				if err != nil {
					return err
				}
				result.Pending = append(result.Pending, p)
			}
			return e.print(result, func(w io.Writer) {
				for i, p := range result.Pending {
					if i > 0 {
						fmt.Fprintln(w)
					}
					writeFields(w, p.fields())
				}
			})
		},
	}
	addDirFlag(c, &dir)
	return describe(c, "pending ["+pendingJSON+"]")
}

func newThresholdApproveCmd(e *env) *cobra.Command {
	var dir string
	c := &cobra.Command{
		Use:   "approve REQUEST",
		Short: "Let a request that waits be signed",
		Long: `Approve a request that waits at the node in a folder, by its ID or the start of
it. Its share is made when the request is asked for again, which those who wait
do by themselves.`,
		Example: "  undersign threshold approve 3fa29c11 --dir alice",
		Args:    nargs(1, 1, "the ID of a request"),
		RunE: func(c *cobra.Command, args []string) error {
			return e.decideRequest(c, dir, args[0], "Approved", func(n *thresholdNode) (*thresholdv1.PendingItem, error) {
				resp, err := n.Approve(c.Context(), &thresholdv1.ApproveRequest{Id: args[0]})
				return resp.GetItem(), err
			})
		},
	}
	addDirFlag(c, &dir)
	return describe(c, pendingJSON)
}

func newThresholdRejectCmd(e *env) *cobra.Command {
	var dir, reason string
	c := &cobra.Command{
		Use:   "reject REQUEST",
		Short: "Refuse a request that waits",
		Long: `Refuse a request that waits at the node in a folder, by its ID or the start of
it. It stays refused until it would have expired. The reason is sent to whoever
asks.`,
		Example: "  undersign threshold reject 3fa29c11 --reason \"not before Monday\" --dir alice",
		Args:    nargs(1, 1, "the ID of a request"),
		RunE: func(c *cobra.Command, args []string) error {
			return e.decideRequest(c, dir, args[0], "Rejected", func(n *thresholdNode) (*thresholdv1.PendingItem, error) {
				resp, err := n.Reject(c.Context(), &thresholdv1.RejectRequest{Id: args[0], Reason: reason})
				return resp.GetItem(), err
			})
		},
	}
	c.Flags().StringVar(&reason, "reason", "", "why, as `TEXT`")
	addDirFlag(c, &dir)
	return describe(c, pendingJSON)
}

func (e *env) decideRequest(c *cobra.Command, dir, id, word string, call func(*thresholdNode) (*thresholdv1.PendingItem, error)) error {
	n, err := e.thresholdNode(dir)
	if err != nil {
		return err
	}
	defer n.close()
	if e.dryRun {
		e.notef("would decide about %s", id)
		return nil
	}
	item, err := call(n)
	if err != nil {
		return withHint(n.callError(err), "\"undersign threshold pending\" lists what waits")
	}
	p, err := newPendingResult(item)
	if err != nil {
		return err
	}
	return e.print(p, func(w io.Writer) {
		fmt.Fprintf(w, "%s:\n", word)
		writeFields(w, p.fields())
	})
}
