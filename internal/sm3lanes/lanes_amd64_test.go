// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package sm3lanes

import "testing"

func disable(t *testing.T) {
	old := useAVX512
	useAVX512 = false
	t.Cleanup(func() { useAVX512 = old })
}
