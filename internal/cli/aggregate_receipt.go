// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"encoding/hex"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"github.com/undersign/undersign/distill"
)

// A receiptKeeper keeps the receipts of messages that a gateway settles.
type receiptKeeper struct {
	mu   sync.Mutex
	data map[uint64][]byte // by nonce
}

// keep is for [client.GatewayConfig].
func (k *receiptKeeper) keep(r *distill.Receipt) {
	data, err := r.MarshalBinary()
	if err != nil {
		return // it has been verified: that can't be
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.data == nil {
		k.data = make(map[uint64][]byte)
	}
	k.data[r.Result.Nonce] = data
}

func (k *receiptKeeper) of(nonce uint64) []byte {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.data[nonce]
}

type verifyReceiptResult struct {
	Network string `json:"network"`
	outcomeResult
	PayloadHash string `json:"payload_hash"`
	Batch       string `json:"batch"`
	Place       uint64 `json:"place"`
	Validators  []int  `json:"validators"`
}

func newAggregateVerifyReceiptCmd(e *env) *cobra.Command {
	var genesis, message string
	var id int64
	c := &cobra.Command{
		Use:   "verify-receipt RECEIPT --genesis FILE",
		Short: "Check a receipt, without asking anybody",
		Long: `Check a receipt that "aggregate submit --receipt" has written: that so many of
the network's validators have signed it that one of them is honest, and that the
message is in the batch that they signed. Nothing but the genesis is needed.

With --message and --client it is compared with what should have been executed,
and for whom. Without them look at what is printed.`,
		Example: `  undersign aggregate verify-receipt vote.txt.receipt --genesis test.genesis --message vote.txt
  undersign aggregate verify-receipt vote.txt.receipt --genesis test.genesis --client 7 --json`,
		Args: nargs(1, 1, "a receipt"),
		RunE: func(c *cobra.Command, args []string) error {
			ctx := c.Context()
			g, err := e.readGenesis(ctx, genesis)
			if err != nil {
				return err
			}
			network, err := distill.NewNetwork(g)
			if err != nil {
				return fileError(genesis, err)
			}
			data, err := e.readInput(ctx, args[0], maxObject)
			if err != nil {
				return err
			}
			r := new(distill.Receipt)
			if err := r.UnmarshalBinary(data); err != nil {
				return withHint(fmt.Errorf("%s isn't a receipt", inputName(args[0])), "it is what \"undersign aggregate submit --receipt\" writes")
			}
			if err := network.VerifyReceipt(r); err != nil {
				return withCode(fileError(args[0], err), ExitInvalid)
			}
			o, final := r.Outcome()
			if !final {
				return failf(ExitInvalid, "", "%s says that the message wasn't executed in this batch, and may be in another", inputName(args[0]))
			}
			if id >= 0 && uint64(id) != r.Result.ID {
				return failf(ExitInvalid, "", "%s is of client %d, and not of client %d", inputName(args[0]), r.Result.ID, id)
			}
			if message != "" {
				payload, err := e.readInput(ctx, message, int64(g.Params.MaxPayload))
				if err != nil {
					return err
				}
				if distill.PayloadHash(payload) != r.Result.PayloadHash {
					return failf(ExitInvalid, "", "%s is of another message than %s", inputName(args[0]), inputName(message))
				}
			}
			net := g.ID()
			result := verifyReceiptResult{
				Network:       hex.EncodeToString(net[:]),
				outcomeResult: newOutcomeResult(r.Result.ID, r.Result.Nonce, o),
				PayloadHash:   hex.EncodeToString(r.Result.PayloadHash[:]),
				Batch:         hex.EncodeToString(r.Rcpt.BatchDigest[:]),
				Place:         r.Index,
			}
			var signers []string
			for i := range g.Validators {
				if r.Certificate.Bitmap[i/8]>>(i%8)&1 != 0 {
					result.Validators = append(result.Validators, i)
					signers = append(signers, strconv.Itoa(i))
				}
			}
			return e.print(result, func(w io.Writer) {
				fmt.Fprintln(w, result.outcomeResult)
				if message == "" {
					fmt.Fprintf(w, "hash of the message  %s\n", result.PayloadHash)
				}
				fmt.Fprintf(w, "%d of the %d validators of %s have signed: %s\n", len(signers), len(g.Validators), g.Name, strings.Join(signers, ", "))
			})
		},
	}
	fl := c.Flags()
	fl.StringVar(&genesis, "genesis", "", "the network's genesis `FILE`")
	fl.StringVar(&message, "message", "", "the receipt must be of the message in `FILE`")
	fl.Int64Var(&id, "client", -1, "the receipt must be of the client with this `ID`")
	c.MarkFlagRequired("genesis")
	describe(c, "network, id, nonce, outcome, code, app_code, height, payload_hash, batch, place, validators", ExitInvalid)
	describeExit(c, ExitInvalid, "the receipt doesn't hold, or is of another message")
	return c
}

func newOutcomeResult(id, nonce uint64, o distill.Outcome) outcomeResult {
	r := outcomeResult{ID: id, Nonce: nonce, Outcome: o.Kind.String(), AppCode: o.AppCode, Height: o.Height}
	if o.Code != 0 {
		r.Code = o.Code.String()
	}
	return r
}
