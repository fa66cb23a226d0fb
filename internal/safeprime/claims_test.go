// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package safeprime

import (
	"context"
	"testing"
	"time"
)

func TestClaims(t *testing.T) {
	c := newClaims(2)
	c.wait(t.Context())
	c.take()
	c.wait(t.Context())
	c.take()
	c.take() // one too many

	waiting := func(ctx context.Context) chan struct{} {
		done := make(chan struct{})
		go func() {
			c.wait(ctx)
			close(done)
		}()
		return done
	}
	blocked := func(done chan struct{}) {
		t.Helper()
		select {
		case <-done:
			t.Fatal("doesn't wait")
		case <-time.After(20 * time.Millisecond):
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	a, b := waiting(t.Context()), waiting(ctx)
	blocked(a)
	c.giveBack()
	blocked(a)
	blocked(b)
	cancel()
	<-b
	blocked(a)
	c.giveBack()
	<-a
	c.wait(t.Context())

	var none *claims
	none.take()
	none.giveBack()
	none.wait(t.Context())
}
