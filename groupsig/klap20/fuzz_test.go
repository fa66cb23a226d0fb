// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package klap20

import (
	"bytes"
	"testing"
)

func FuzzBatchSignature(f *testing.F) {
	g := group().G
	msg := []byte("not signed")
	f.Add(group().Sign("alice", "m").BatchBytes())
	f.Fuzz(func(t *testing.T, raw []byte) {
		sig, err := g.ParseBatchSignature(raw, msg, nil)
		if err != nil {
			return
		}
		if !bytes.Equal(sig.BatchBytes(), raw) {
			t.Error("not canonical")
		}
		b := g.Batch(nil)
		b.Add(msg, sig)
		if b.Verify() == nil {
			t.Error("forged")
		}
	})
}
