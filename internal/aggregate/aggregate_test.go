// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package aggregate_test

import (
	"fmt"
	"testing"

	"github.com/undersign/undersign/client"
	"github.com/undersign/undersign/distill"
)

// Clients of a gateway get their messages executed by one node, in all modes.
func TestOneNode(t *testing.T) {
	for _, mode := range []string{"", "lean", "folded"} {
		t.Run("mode="+mode, func(t *testing.T) {
			app := &recorder{}
			w := newNetwork(t, 1)
			w.mode, w.app = mode, app
			w.genesis.Params.Modes = distill.Modes(distill.ModeEd25519, distill.ModeLean, distill.ModeFolded)
			w.finish()
			w.startAll()
			var clients []client.GatewayClient
			signers := w.register(8)
			for _, s := range signers {
				clients = append(clients, w.open(s, &distill.MemoryJournal{}))
			}
			g, _ := w.gatewayOf(clients...)
			nonces := make(map[uint64][]uint64)
			for i := range 3 {
				for _, s := range signers {
					nonces[s.id] = append(nonces[s.id], submit(t, g, s.id, fmt.Sprintf("%d of %d", i, s.id)))
				}
			}
			bad := submit(t, g, signers[0].id, "bad")
			for _, s := range signers {
				for _, n := range nonces[s.id] {
					if o := wait(t, g, s.id, n); o.Kind != distill.OutcomeExecuted || o.Code != distill.ResultOK || o.AppCode != uint16(len("0 of 0")) {
						t.Errorf("client %d: %+v", s.id, o)
					}
				}
			}
			if o := wait(t, g, signers[0].id, bad); o.Kind != distill.OutcomeExecuted || o.Code != distill.ResultAppReject {
				t.Errorf("what the application refuses: %+v", o)
			}
			if err := g.Release(t.Context(), signers[0].id, bad); err != nil {
				t.Error(err)
			}
			if len(app.seen) != 3*8+1 {
				t.Errorf("%d payloads were executed", len(app.seen))
			}
			for p, n := range app.seen {
				if n != 1 {
					t.Errorf("%q was executed %d times", p, n)
				}
			}
		})
	}
}
