// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

// Package freeport finds addresses on loopback for nodes that are killed and come back.
package freeport

import (
	"fmt"
	"math/rand/v2"
	"net"
	"runtime"
)

// Listen listens at a port of host that nobody gets who asks the system for any.
func Listen(host string) (l net.Listener, err error) {
	for range 100 {
		if l, err = net.Listen("tcp", fmt.Sprintf("%s:%d", host, 20000+rand.IntN(12000))); err == nil {
			return l, nil
		}
	}
	return nil, fmt.Errorf("freeport: no free port: %w", err)
}

// Address returns an address at which nobody listens. On Linux, where a host has sixteen
// million addresses on loopback, nobody else will.
func Address() (string, error) {
	host := "127.0.0.1"
	if runtime.GOOS == "linux" {
		host = fmt.Sprintf("127.%d.%d.%d", 1+rand.IntN(254), rand.IntN(256), 1+rand.IntN(254))
	}
	l, err := Listen(host)
	if err != nil {
		return "", err
	}
	defer l.Close()
	return l.Addr().String(), nil
}
