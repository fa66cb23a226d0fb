// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package killtest

import "errors"

func failSyscalls(string) error { return errors.New("not on this system") }

func ignoreLimits() {}

func connectNamespace(string) error { return errors.New("not on this system") }
