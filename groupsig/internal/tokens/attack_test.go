// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package tokens

import (
	"errors"
	"testing"
)

// A verifier that forgets to say what time it is doesn't use a list for ever, not
// even one that holds from 1970 on.
func TestListWithoutClock(t *testing.T) {
	g, k := testGroup()
	g.Opener = k.Public()
	l, err := g.sign(Terms{Expires: 1000}, nil, k.sign)
	if err != nil {
		t.Fatal(err)
	}
	for _, now := range []int64{-1, 0, 1001} {
		var stale *StaleError
		if err := l.Fresh(g, now, 0); !errors.As(err, &stale) {
			t.Errorf("at %d: %v", now, err)
		}
	}
	if err := l.Fresh(g, 1, 0); err != nil {
		t.Error(err)
	}
}
