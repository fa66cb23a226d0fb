// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package groupsigtest

import (
	"os"
	"testing"

	"github.com/undersign/undersign/groupsig"
)

// Every scheme, with all features, and with none but the required ones.
func TestSchemes(t *testing.T) {
	opts := Options{Thorough: os.Getenv("UNDERSIGN_LONG") != ""}
	for _, s := range groupsig.Schemes() {
		t.Run(s.Name(), func(t *testing.T) {
			Run(t, s, s.Required()|s.Optional(), opts)
		})
		if s.Optional() != 0 && !testing.Short() {
			t.Run(s.Name()+"/required", func(t *testing.T) {
				Run(t, s, 0, opts)
			})
		}
	}
}
