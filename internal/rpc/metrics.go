// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package rpc

import (
	"errors"
	"time"

	"connectrpc.com/connect"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/undersign/undersign/internal/policy"
)

// Metrics count calls. Labels are names of operations, which are few, and never of parties.
type Metrics struct {
	calls   *prometheus.CounterVec
	running *prometheus.GaugeVec
	seconds *prometheus.HistogramVec
	refusal *prometheus.CounterVec
}

// NewMetrics returns metrics, registered.
func NewMetrics(r prometheus.Registerer) *Metrics {
	m := &Metrics{
		calls: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "undersign_calls_total", Help: "Calls that were allowed, by how they ended."}, []string{"operation", "code"}),
		running: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "undersign_calls_running", Help: "Calls under way, streams included."}, []string{"operation"}),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "undersign_call_seconds", Help: "How long calls took.",
			Buckets: []float64{.001, .005, .02, .1, .5, 2, 10, 60, 600}}, []string{"operation"}),
		refusal: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "undersign_refused_total", Help: "Calls that weren't allowed: denied, or throttled."}, []string{"operation", "reason"}),
	}
	r.MustRegister(m.calls, m.running, m.seconds, m.refusal)
	return m
}

func (m *Metrics) began(operation string) { m.running.WithLabelValues(operation).Inc() }

func (m *Metrics) ended(operation string, took time.Duration, err error) {
	code := "ok"
	if err != nil {
		code = connect.CodeOf(err).String()
	}
	m.running.WithLabelValues(operation).Dec()
	m.calls.WithLabelValues(operation, code).Inc()
	m.seconds.WithLabelValues(operation).Observe(took.Seconds())
}

func (m *Metrics) refused(operation string, err error) {
	reason := "denied"
	var limit *policy.LimitError
	if errors.As(err, &limit) {
		reason = "throttled"
	}
	m.refusal.WithLabelValues(operation, reason).Inc()
}
