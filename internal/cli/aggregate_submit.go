// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/undersign/undersign/client"
	"github.com/undersign/undersign/distill"
)

type outcomeResult struct {
	ID      uint64 `json:"id"`
	Nonce   uint64 `json:"nonce"`
	Outcome string `json:"outcome"`
	Code    string `json:"code,omitempty"`
	AppCode uint16 `json:"app_code,omitempty"`
	Height  uint64 `json:"height,omitempty"`
	Receipt string `json:"receipt,omitempty"` // the file
}

func (r outcomeResult) String() string {
	s := fmt.Sprintf("message %d of client %d: %s", r.Nonce, r.ID, r.Outcome)
	if r.Code != "" {
		s += ", " + r.Code
	}
	if r.AppCode != 0 {
		s += fmt.Sprintf(" (%d)", r.AppCode)
	}
	if r.Height != 0 {
		s += fmt.Sprintf(", at height %d", r.Height)
	}
	return s
}

type aggregateSubmitFlags struct {
	dir, receipt string
	force        bool
}

func newAggregateSubmitCmd(e *env) *cobra.Command {
	var f aggregateSubmitFlags
	c := &cobra.Command{
		Use:   "submit [FILE]",
		Short: "Have a message executed by a network",
		Long: `Submit a message as the client that is registered in a folder, sign the batch
that it is in, and wait for the receipt that validators sign. Messages are
executed once at most, whatever breaks down: one that was interrupted goes on
with the next submit, or with one without a FILE.

--receipt writes what the validators signed. Whoever is shown it checks it with
"aggregate verify-receipt", without asking anybody.

No other submit may run in the same folder, or in a copy of it.`,
		Example: `  undersign aggregate submit vote.txt --dir carol --receipt vote.txt.receipt
  echo yes | undersign aggregate submit - --dir carol`,
		Args: nargs(0, 1, "a file"),
		RunE: func(c *cobra.Command, args []string) error {
			file := ""
			if len(args) > 0 {
				file = args[0]
			}
			return e.aggregateSubmit(c.Context(), f, file)
		},
	}
	c.Flags().StringVar(&f.dir, "dir", ".", "the client's folder `DIR`")
	c.Flags().StringVar(&f.receipt, "receipt", "", "write the receipt to `FILE`: of several messages, that of the last")
	addForceFlag(c, &f.force)
	describe(c, "messages [id, nonce, outcome, code, app_code, height, receipt]", ExitRefused)
	describeExit(c, ExitRefused, "a message was executed, and refused by the application")
	return c
}

func (e *env) aggregateSubmit(ctx context.Context, f aggregateSubmitFlags, file string) (err error) {
	var payload []byte
	dir := f.dir
	if f.receipt != "" {
		if err := e.checkOut(f.receipt, f.force); err != nil {
			return err
		}
	}
	d, err := e.clientDir(dir)
	if err != nil {
		return err
	}
	defer d.closeInto(&err)
	if file != "" {
		if payload, err = e.readInput(ctx, file, int64(d.genesis.Params.MaxPayload)); err != nil {
			return err
		}
	}
	cl, err := d.open(dir)
	if err != nil {
		return err
	}
	if e.dryRun {
		e.notef("would submit %d bytes as client %d", len(payload), cl.ID())
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, aggregateTime)
	defer cancel()
	waiting := cl.Unsettled()
	cfg := d.gateway(client.GatewayClient{Client: cl, Ed: d.ed})
	var receipts receiptKeeper
	cfg.Receipt = receipts.keep
	g, stop, err := startGateway(ctx, cfg)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stop()) }()

	var nonces []uint64
	for _, s := range waiting { // of a submit that was interrupted
		nonces = append(nonces, s.Nonce)
	}
	if file != "" {
		nonce, err := e.submitWhenReady(ctx, g, cl.ID(), payload)
		if err != nil {
			return err
		}
		nonces = append(nonces, nonce)
	}
	results, refused := []outcomeResult{}, false
	var lost error // the receipt, not the message
	for _, nonce := range nonces {
		o, err := awaitOutcome(ctx, g, cl.ID(), nonce)
		if errors.Is(err, errUnknownKeys) {
			hint := "it may have been revoked, or given new keys elsewhere: whoever runs the network knows"
			if d.reg.Next != nil {
				hint = "a rotation didn't come to its end: run \"undersign aggregate rotate --dir " + dir + "\" again"
			}
			return failf(ExitRefused, hint, "the network doesn't take the keys of client %d", cl.ID())
		}
		if err != nil {
			return withHint(fmt.Errorf("message %d has no receipt yet: %w", nonce, err), "message %d is kept, and goes on with \"undersign aggregate submit --dir %s\"", nonce, dir)
		}
		r := newOutcomeResult(cl.ID(), nonce, o)
		if nonce == nonces[len(nonces)-1] && f.receipt != "" {
			if data := receipts.of(nonce); data == nil {
				e.warnf("there is no receipt of message %d: validators have said what became of it, each for itself", nonce)
			} else if lost = e.writeFile(f.receipt, data, publicFile, f.force); lost == nil {
				r.Receipt = f.receipt
			}
		}
		results = append(results, r)
		refused = refused || o.Code == distill.ResultAppReject
		if err := g.Release(ctx, cl.ID(), nonce); err != nil {
			return err
		}
	}
	result := struct {
		Messages []outcomeResult `json:"messages"`
	}{results}
	if err := e.print(result, func(w io.Writer) {
		for _, r := range results {
			fmt.Fprintln(w, r)
		}
		if len(results) == 0 {
			fmt.Fprintln(w, "No message waits.")
		}
	}); err != nil {
		return err
	}
	if lost != nil {
		return lost
	}
	if refused {
		return withCode(errors.New("the application has refused a message"), ExitRefused)
	}
	return nil
}

// errUnknownKeys is what there is to say of a client that the network doesn't take.
var errUnknownKeys = errors.New("keys aren't in the directory")

// refusalTime is how long a client may be refused that has just been registered.
const refusalTime = 5 * time.Second

// awaitOutcome waits for what becomes of a message, but not while the client is refused.
func awaitOutcome(ctx context.Context, g *client.Gateway, id, nonce uint64) (distill.Outcome, error) {
	since := time.Time{}
	for {
		short, cancel := context.WithTimeout(ctx, time.Second)
		o, err := g.Wait(short, id, nonce)
		cancel()
		switch {
		case err == nil || ctx.Err() != nil || !errors.Is(err, context.DeadlineExceeded):
			return o, err
		case !g.Refused(ctx, id):
			since = time.Time{}
		case since.IsZero():
			since = time.Now()
		case time.Since(since) > refusalTime:
			return o, errUnknownKeys
		}
	}
}

// submitWhenReady submits once the height is known.
func (e *env) submitWhenReady(ctx context.Context, g *client.Gateway, id uint64, payload []byte) (uint64, error) {
	for {
		nonce, err := g.Submit(ctx, id, payload, 0)
		if rule := distill.RuleOf(err); rule != distill.RuleNoHead && rule != distill.RuleRecovering {
			return nonce, err
		}
		select {
		case <-ctx.Done():
			return 0, withHint(errors.New("the network doesn't answer: the message isn't submitted"), "look whether its nodes run, and whether their rules allow aggregate.*")
		case <-time.After(50 * time.Millisecond):
		}
	}
}
