// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

// Package rpc is what every call between parties goes through: who calls, by the
// connection; whether the policy allows it; how large and how long it may be, and how
// many at a time. It is the same for a node's own calls to others.
package rpc

import (
	"context"
	"crypto/ed25519"
	"fmt"
	"strings"
	"unicode"
)

// A Call is what a handler knows about the call that it serves.
type Call struct {
	Party     string // fingerprint of who calls
	PublicKey ed25519.PublicKey
	Operation string // such as threshold.sign
	Key       string // fingerprint of the key that was decided about, or empty
	Self      bool   // the caller is the node itself: nothing is denied
	Approve   bool   // a person has to approve it first

	open  bool // parties that aren't known may make it
	waits bool // for a person, if a rule wants it
}

type callKey struct{}

// CallFrom returns the call that a handler's context is of. Outside of handlers it is the
// zero value, which is nobody's.
func CallFrom(ctx context.Context) Call {
	c, _ := ctx.Value(callKey{}).(Call)
	return c
}

func withCall(ctx context.Context, c Call) context.Context {
	return context.WithValue(ctx, callKey{}, c)
}

// Operation returns the name that policies have for a method of a service: the package
// after undersign, and the method in lower case, such as threshold.sign-file for the method
// SignFile of a service in undersign.threshold.v1.
func Operation(service, method string) (string, error) {
	parts := strings.Split(service, ".")
	if len(parts) != 4 || parts[0] != "undersign" || method == "" {
		return "", fmt.Errorf("rpc: %s isn't like undersign.threshold.v1.ThresholdService", service)
	}
	var b strings.Builder
	b.WriteString(parts[1] + ".")
	for i, r := range method {
		if i > 0 && unicode.IsUpper(r) {
			b.WriteByte('-')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String(), nil
}
