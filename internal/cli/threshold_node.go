// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/undersign/undersign/client"
	thresholdv1 "github.com/undersign/undersign/gen/undersign/threshold/v1"
	"github.com/undersign/undersign/gen/undersign/threshold/v1/thresholdv1connect"
	parties "github.com/undersign/undersign/internal/party"
	"github.com/undersign/undersign/internal/rpc"
	"github.com/undersign/undersign/internal/threshold"
	"github.com/undersign/undersign/keyfile"
	"github.com/undersign/undersign/thresholdrsa"
)

// A thresholdNode is a node's threshold service, as a command calls it.
type thresholdNode struct {
	thresholdv1connect.ThresholdServiceClient
	*liveNode
}

// thresholdNode returns the service of the node that runs in a folder.
func (e *env) thresholdNode(dir string) (*thresholdNode, error) {
	n, err := e.mustLive(dir)
	if err != nil {
		return nil, err
	}
	return &thresholdNode{newThresholdClient(n.peer), n}, nil
}

func newThresholdClient(p *rpc.Peer) thresholdv1connect.ThresholdServiceClient {
	return thresholdv1connect.NewThresholdServiceClient(p.HTTP(), p.URL(), p.Options(threshold.MaxMessage)...)
}

func (n *thresholdNode) callError(err error) error { return thresholdCallError(n.id, err) }

// thresholdCallError says in the words of the command line what a call's error is.
func thresholdCallError(id *parties.Identity, err error) error {
	if err == nil {
		return nil
	}
	return serviceError(id, threshold.DecodeError(err))
}

// waitsForApproval reports whether a node gave no share because a person has to decide.
func waitsForApproval(err error) bool {
	q, ok := errors.AsType[*threshold.QuorumError](err)
	return ok && slices.ContainsFunc(q.Faults, func(f threshold.Fault) bool { return f.Kind == threshold.Pending })
}

func serviceError(id *parties.Identity, err error) error {
	var rejected *threshold.RejectedError
	switch {
	case waitsForApproval(err):
		return failf(ExitQuorum, "once a person has approved it there, ask again: \"undersign threshold pending\" lists what waits", "%w", err)
	case errors.Is(err, threshold.ErrQuorum):
		return failf(ExitQuorum, "look whether these nodes run, and what their rules allow", "%w", err)
	case errors.As(err, &rejected):
		return failf(ExitRefused, "", "%w", err)
	case errors.Is(err, threshold.ErrSuperseded):
		return failf(ExitError, "a ceremony is about to end: try again", "%w", err)
	}
	if err = nodeCallError(id, err); strings.Contains(err.Error(), "the node doesn't know the key") {
		err = withHint(err, "\"undersign threshold keys\" lists those that it knows; \"undersign threshold hold\" gives it one")
	}
	return err
}

// addNodeFlags give a command the folder of its own identity, and the node to ask.
func addNodeFlags(c *cobra.Command, dir, at *string) {
	c.Flags().StringVar(dir, "dir", ".", "the folder `DIR` of the identity to ask with")
	c.Flags().StringVar(at, "at", "", "ask the node at `URL`, undersign://HOST:PORT/FINGERPRINT, or\nwith this name (default: the node that runs in DIR)")
}

// nodeAddress returns where the node is that --at means.
func (e *env) nodeAddress(ctx context.Context, dir, at string) (address, fingerprint string, err error) {
	switch {
	case at == "":
		n, err := e.mustLive(dir)
		if err != nil {
			return "", "", err
		}
		defer n.close()
		return n.peer.Address(), n.peer.Fingerprint(), nil
	case strings.Contains(at, "://"):
		if address, fingerprint, err = client.ParseURL(at); err != nil {
			return "", "", failf(ExitUsage, "as in --at undersign://HOST:PORT/us1...", "%w", err)
		}
		return address, fingerprint, nil
	}
	list, err := e.parties(ctx, dir)
	if err != nil {
		return "", "", err
	}
	for _, p := range list {
		if p.Name == at || p.Fingerprint == at {
			if p.Address == "" {
				return "", "", fmt.Errorf("%s has no address", at)
			}
			return p.Address, p.Fingerprint, nil
		}
	}
	return "", "", failf(ExitError, "\"undersign party list\" names those that are known", "no node is called %s here", at)
}

// dialNode returns the client of the node that --at means.
func (e *env) dialNode(ctx context.Context, dir, at string) (*client.Node, *parties.Identity, error) {
	id, err := readNodeIdentity(dir)
	if err != nil {
		return nil, nil, err
	}
	address, fingerprint, err := e.nodeAddress(ctx, dir, at)
	if err != nil {
		return nil, nil, err
	}
	n, err := client.Dial(&keyfile.PartyKey{Key: id.SigningKey()}, address, fingerprint)
	return n, id, err
}

func newThresholdKeysCmd(e *env) *cobra.Command {
	var dir string
	c := &cobra.Command{
		Use:   "keys",
		Short: "List the keys that a node knows",
		Long: `List the keys that the node in a folder knows: those of which it holds a share
(shares/NAME.share in its folder) and those that it only coordinates
(keys/NAME.pub).

Rules name a key as rsa- and 40 hexadecimal digits, the start of the SHA-256 of
the RSA public key. That stays when the shares are renewed.`,
		Example: "  undersign threshold keys --dir alice",
		Args:    noArgs,
		RunE: func(c *cobra.Command, args []string) error {
			n, err := e.thresholdNode(dir)
			if err != nil {
				return err
			}
			defer n.close()
			resp, err := n.Keys(c.Context(), &thresholdv1.KeysRequest{})
			if err != nil {
				return n.callError(err)
			}
			type item struct {
				Name        string `json:"name"`
				Key         string `json:"key"`
				Fingerprint string `json:"fingerprint"`
				Epoch       uint64 `json:"epoch"`
				Threshold   int    `json:"threshold"`
				Holders     int    `json:"holders"`
				Index       uint32 `json:"index"`
				Pending     uint32 `json:"pending"`
			}
			result := struct {
				Keys []item `json:"keys"`
			}{[]item{}}
			for _, k := range resp.Keys {
				p := new(thresholdrsa.PublicKey)
				if err := p.UnmarshalBinary(k.Record); err != nil {
					return err
				}
				result.Keys = append(result.Keys, item{k.Name, k.Key, keyfile.Fingerprint(p), p.Epoch(), p.Threshold(), p.NumHolders(), k.Index, k.Pending})
			}
			return e.print(result, func(w io.Writer) {
				for _, k := range result.Keys {
					share := "no share"
					if k.Index != 0 {
						share = fmt.Sprintf("share %d", k.Index)
					}
					fmt.Fprintf(w, "%-12s %s  %d of %d, epoch %d, %s\n", k.Name, k.Key, k.Threshold, k.Holders, k.Epoch, share)
				}
			})
		},
	}
	addDirFlag(c, &dir)
	return describe(c, "keys [name, key, fingerprint, epoch, threshold, holders, index, pending]")
}
