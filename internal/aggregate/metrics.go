// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package aggregate

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/undersign/undersign/distill"
)

// metrics show the machine's counters.
type metrics struct {
	counts *prometheus.GaugeVec
}

func newMetrics(r prometheus.Registerer) *metrics {
	m := &metrics{counts: prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "undersign_aggregate",
		Help: "What the aggregator has done since it started, and what it has at hand.",
	}, []string{"what"})}
	if r != nil {
		// A second one in the same registry would be a mistake of the program's.
		if err := r.Register(m.counts); err != nil {
			m.counts = nil
		}
	}
	return m
}

func (m *metrics) set(s distill.AggregatorStats, sessions int) {
	if m.counts == nil {
		return
	}
	for name, v := range map[string]uint64{
		"submitted": s.Submitted, "admitted": s.Admitted, "repeated": s.Repeated, "refused": s.Refused,
		"throttled": s.Throttled, "conflicts": s.Conflicts, "dropped": s.Dropped, "proposed": s.Proposed,
		"published": s.Published, "delivered": s.Delivered, "abandoned": s.Abandoned, "lost": s.Lost,
		"reductions": s.Reductions, "bad": s.Bad, "late": s.Late, "stragglers": s.Stragglers, "receipts": s.Receipts,
		"forgotten": s.Forgotten, "waiting": uint64(s.Waiting), "waiting_bytes": uint64(s.WaitingSize),
		"rounds": uint64(s.Rounds), "quarantined": uint64(s.Slow), "wait_ms": uint64(s.Wait), "sessions": uint64(sessions),
	} {
		m.counts.WithLabelValues(name).Set(float64(v))
	}
}
