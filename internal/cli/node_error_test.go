// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"net"
	"strings"
	"syscall"
	"testing"
	"time"

	"connectrpc.com/connect"

	parties "github.com/undersign/undersign/internal/party"
	"github.com/undersign/undersign/internal/policy"
	"github.com/undersign/undersign/internal/threshold"
	"github.com/undersign/undersign/keyfile"
)

// What failed at another node has to be told from what failed on the way to it, and both
// from what the user has ended.
func TestNodeErrors(t *testing.T) {
	_, key, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	id, err := parties.NewIdentity(&keyfile.PartyKey{Key: key})
	if err != nil {
		t.Fatal(err)
	}
	quorum := func(kinds ...threshold.FaultKind) error {
		e := &threshold.QuorumError{Need: 2}
		for _, k := range kinds {
			e.Faults = append(e.Faults, threshold.Fault{Name: "bob", Kind: k})
		}
		return e
	}
	for _, tt := range []struct {
		name       string
		err        error
		code       int
		text, hint string
		is         error
	}{
		{"ended by the user", connect.NewError(connect.CodeCanceled, context.Canceled), ExitError, "context canceled", "", context.Canceled},
		{"out of time", connect.NewError(connect.CodeDeadlineExceeded, context.DeadlineExceeded), ExitError, "no answer in time", "undersign status", context.DeadlineExceeded},
		{"out of time there", connect.NewError(connect.CodeDeadlineExceeded, errors.New("slow")), ExitError, "slow", "", nil},
		{"not there", connect.NewError(connect.CodeUnavailable, errors.New("connection refused")), ExitError, "can't reach the node: connection refused", "undersign status", nil},
		{"hung up", connect.NewError(connect.CodeUnknown, &net.OpError{Op: "write", Err: syscall.EPIPE}), ExitError, "the node has hung up: ", "undersign doctor", nil},
		{"shut out", connect.NewError(connect.CodeUnavailable, &net.OpError{Op: "remote error", Err: errors.New("tls: bad certificate")}), ExitError, "the node has hung up: remote error: tls: bad certificate", "undersign doctor", nil},
		{"shut out, by HTTP", connect.NewError(connect.CodeUnavailable, errors.New("http2: client conn could not be established")), ExitError, "the node has hung up", "undersign doctor", nil},
		{"not dialed", connect.NewError(connect.CodeUnavailable, &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}), ExitError, "can't reach the node: dial", "undersign status", nil},
		{"another node", connect.NewError(connect.CodeUnavailable, fmt.Errorf("%w: the other end is us1x", parties.ErrUnknown)), ExitError, "the other end is us1x", "another node listens there", nil},
		{"asked too often", &policy.LimitError{Call: policy.Call{Party: "us1y"}, After: time.Minute}, ExitError, "too many calls by us1y", "try again in 1m0s", nil},
		{"an unknown key", connect.NewError(connect.CodeNotFound, errors.New("threshold: the node doesn't know the key")), ExitError, "doesn't know the key", "undersign threshold keys", nil},
		{"no quorum", quorum(threshold.Silent, threshold.Denied), ExitQuorum, "bob", "look whether these nodes run", threshold.ErrQuorum},
		{"to be approved", quorum(threshold.Silent, threshold.Pending), ExitQuorum, "bob", "once a person has approved it", threshold.ErrQuorum},
	} {
		err := serviceError(id, tt.err)
		if err == nil || exitCode(err) != tt.code || !strings.Contains(err.Error(), tt.text) || !strings.Contains(hintOf(err), tt.hint) || tt.hint == "" && hintOf(err) != "" {
			t.Errorf("%s: %v, status %d, hint %q", tt.name, err, exitCode(err), hintOf(err))
		}
		if tt.is != nil && !errors.Is(err, tt.is) || tt.is == nil && isContextError(err) {
			t.Errorf("%s: %v is another error", tt.name, err)
		}
		if strings.Contains(err.Error(), "  ") {
			t.Errorf("%s: a word is missing in %q", tt.name, err)
		}
	}
}
