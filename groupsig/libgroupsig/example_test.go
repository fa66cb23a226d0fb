// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package libgroupsig_test

import (
	"fmt"
	"os"

	"github.com/undersign/undersign/groupsig/libgroupsig"
)

func Example() {
	export, err := os.ReadFile("group.key") // as libgroupsig wrote it
	if err != nil {
		fmt.Println(err)
		return
	}
	key, err := libgroupsig.ParseGroupKey(export)
	if err != nil {
		fmt.Println(err)
		return
	}
	signature, err := os.ReadFile("minutes.txt.sig")
	if err != nil {
		fmt.Println(err)
		return
	}
	result, err := key.Verify([]byte("the minutes"), signature)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("a member of the group signed; but", result.Flaws)
}

func ExampleScheme_Flaws() {
	for _, flaw := range libgroupsig.KLAP20.Flaws() {
		fmt.Println(flaw)
	}
	// Output:
	// the message is hashed with SHA-1: who chose it could have made another that the signature fits as well
	// an opening's proof doesn't say whom it names, but by the list of members
}
