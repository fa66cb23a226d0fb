// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package node

import (
	"github.com/undersign/undersign/internal/aggregate"
	"github.com/undersign/undersign/internal/service"
)

// startAggregate starts the service of distilled aggregates, if the configuration names
// the genesis of a network.
func startAggregate(c *Config, h *service.Host) (service.Service, error) {
	s, err := aggregate.New(h, c.Aggregate)
	if s == nil || err != nil {
		return nil, err
	}
	return s, nil
}
