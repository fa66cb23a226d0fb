// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package freeport

import (
	"net"
	"net/netip"
	"testing"
)

func TestAddress(t *testing.T) {
	seen := make(map[string]bool)
	for range 20 {
		a, err := Address()
		if err != nil {
			t.Fatal(err)
		}
		ap, err := netip.ParseAddrPort(a)
		if err != nil || !ap.Addr().IsLoopback() || ap.Port() < 20000 || ap.Port() >= 32000 || seen[a] {
			t.Errorf("%s: %v", a, err)
		}
		seen[a] = true
		l, err := net.Listen("tcp", a)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := net.Listen("tcp", a); err == nil {
			t.Error("two listen at " + a)
		}
		l.Close()
	}
}

func TestListen(t *testing.T) {
	if _, err := Listen("192.0.2.1"); err == nil {
		t.Error("listens at somebody else's address")
	}
	a, err := Listen("127.0.0.1")
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	b, err := Listen("127.0.0.1")
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	if a.Addr().String() == b.Addr().String() {
		t.Error("two listen at one address")
	}
}
