// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

//go:build failpoints

package failpoint

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
)

// Enabled says whether failpoints are built in.
const Enabled = true

type action struct {
	kill bool
	at   int // the hit at which it happens, or 0
	hits int
}

var (
	mu     sync.Mutex
	places = parse(os.Getenv("UNDERSIGN_FAILPOINT"))
)

func parse(s string) map[string]*action {
	m := make(map[string]*action)
	for _, part := range strings.Split(s, ",") {
		place, what, ok := strings.Cut(part, "=")
		if !ok {
			continue
		}
		what, at, _ := strings.Cut(what, "@")
		n, _ := strconv.Atoi(at)
		m[place] = &action{kill: what == "kill", at: n}
	}
	return m
}

// Set replaces what is to happen where, in the form that the environment variable has.
func Set(spec string) {
	mu.Lock()
	defer mu.Unlock()
	places = parse(spec)
}

// Hit does what is to happen at a place.
func Hit(place string) error {
	mu.Lock()
	defer mu.Unlock()
	a := places[place]
	if a == nil {
		return nil
	}
	if a.hits++; a.at != 0 && a.hits != a.at {
		return nil
	}
	if a.kill {
		p, err := os.FindProcess(os.Getpid())
		if err == nil {
			err = p.Kill()
		}
		if err != nil {
			os.Exit(137)
		}
		select {}
	}
	return fmt.Errorf("failpoint %s", place)
}
