// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"strings"
	"testing"

	"github.com/undersign/undersign/groupsig/libgroupsig"
)

// Lists of KLAP20 that IBM's edition wrote name nobody, and it isn't the list's age.
func TestNotOnList(t *testing.T) {
	for _, tt := range []struct {
		scheme   libgroupsig.Scheme
		editions []libgroupsig.Edition
		word     string
	}{
		{libgroupsig.PS16, []libgroupsig.Edition{libgroupsig.Fork, libgroupsig.IBM}, "newest"},
		{libgroupsig.KLAP20, []libgroupsig.Edition{libgroupsig.Fork}, "newest"},
		{libgroupsig.KLAP20, []libgroupsig.Edition{libgroupsig.IBM}, "IBM"},
	} {
		err := notOnList(groupVerifyOpeningFlags{}, &libgroupsig.MemberList{Scheme: tt.scheme, Editions: tt.editions})
		if exitCode(err) != ExitInvalid || !strings.Contains(hintOf(err), tt.word) {
			t.Errorf("%v: %v, %q", tt.scheme, err, hintOf(err))
		}
	}
}
