// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package ring_test

import (
	"fmt"

	"github.com/undersign/undersign/ring"
)

// Three people vote. Everybody can check that each vote is by one of them, and that
// nobody votes twice, and nobody can tell who voted what.
func Example() {
	var keys []*ring.PrivateKey
	var public []*ring.PublicKey
	for range 3 {
		k, err := ring.GenerateKey(ring.Ristretto255)
		if err != nil {
			fmt.Println(err)
			return
		}
		keys = append(keys, k)
		public = append(public, k.Public())
	}
	r, err := ring.NewRing(public...)
	if err != nil {
		fmt.Println(err)
		return
	}

	vote := &ring.Options{Scope: []byte("chair, 2026")}
	seen := make(map[string]bool)
	for i, choice := range []string{"Ada", "Grace", "Ada", "Ada"} {
		sig, err := keys[i%3].Sign(r, []byte(choice), vote)
		if err != nil {
			fmt.Println(err)
			return
		}
		switch err := r.Verify([]byte(choice), sig, vote); {
		case err != nil:
			fmt.Println(err)
		case seen[string(sig.Image())]:
			fmt.Println("somebody votes twice")
		default:
			seen[string(sig.Image())] = true
			fmt.Println(choice)
		}
	}
	// Output:
	// Ada
	// Grace
	// Ada
	// somebody votes twice
}
