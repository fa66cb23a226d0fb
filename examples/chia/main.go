// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

// Command chia is a model of Chia with distilled blocks: wallets, a farmer who makes blocks, and
// a node that verifies them, each a server on the loopback interface. They talk JSON over
// TLS with certificates on both sides, by the two calls of the report "SIGINT on Chia"
// and two more.
//
//	sigint_sign_digest                   farmer to wallet: sign the root of a block
//	sigint_send_aggregated_transactions  farmer to node: take a distilled block
//	push_tx                              wallet to farmer: spend coins, signed as today
//	get_coins                            anybody to node: which coins there are
//
// A wallet signs a root if all it wants to have in the block is there, as it computes for
// itself. The farmer can leave spends out, and nothing else.
package main

import (
	"context"
	"fmt"
	"io"
	"log"
	"maps"
	"os"
	"slices"
	"time"

	"github.com/undersign/undersign/internal/chia"
)

func main() {
	if err := run(context.Background(), os.Stdout, 40); err != nil {
		log.Fatal(err)
	}
}

// run plays two blocks with some wallets, of which one is off and one is hostile.
func run(ctx context.Context, w io.Writer, wallets int) error {
	world, err := newWorld(wallets)
	if err != nil {
		return err
	}
	defer world.close()
	world.wallets[0].off = true
	world.wallets[1].forge = true
	for range 2 {
		if err := world.playBlock(ctx, w); err != nil {
			return err
		}
	}
	return nil
}

// playBlock has every wallet pay its neighbour, and the farmer make a block of it.
func (x *world) playBlock(ctx context.Context, w io.Writer) error {
	for i, wallet := range x.wallets {
		to := x.wallets[(i+1)%len(x.wallets)]
		if err := wallet.pay(ctx, to.newKey(), 1); err != nil {
			return fmt.Errorf("%s: %w", wallet.name, err)
		}
	}
	classic := x.farmer.classic()
	block, err := x.farmer.makeBlock(ctx)
	if err != nil {
		return err
	}
	before, err := fastest(func() error { return classic.Verify(nil) })
	if err != nil {
		return err
	}
	after, err := fastest(func() error { _, err := x.node.check(block); return err })
	if err != nil {
		return err
	}

	got, err := x.farmer.send(ctx, block)
	if err != nil {
		return err
	}
	for _, wallet := range x.wallets {
		if err := wallet.refresh(ctx); err != nil {
			return err
		}
	}
	fmt.Fprintf(w, "block %d: %d spends by %d keys, %d of them late\n", got.Height, len(block.Spends),
		len(chia.GroupPairs(classic.Pairs)), len(block.Stragglers))
	fmt.Fprintf(w, "  verified as today in %.1f ms, distilled in %.1f ms, with keys that are new both times\n",
		float64(before.Microseconds())/1000, float64(after.Microseconds())/1000)
	for _, name := range slices.Sorted(maps.Keys(x.farmer.problems)) {
		fmt.Fprintf(w, "  %s: %v\n", name, x.farmer.problems[name])
	}
	return nil
}

// fastest returns the least time of three.
func fastest(f func() error) (least time.Duration, err error) {
	for i := range 3 {
		start := time.Now()
		if err := f(); err != nil {
			return 0, err
		}
		if t := time.Since(start); i == 0 || t < least {
			least = t
		}
	}
	return least, nil
}
