// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package aggregate

import "time"

// SetCollectEvery changes how often what nobody needs is deleted.
func SetCollectEvery(d time.Duration) (restore func()) {
	before := collectEvery
	collectEvery = d
	return func() { collectEvery = before }
}
