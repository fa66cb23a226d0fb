// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package node

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"runtime/debug"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/undersign/undersign/internal/nodedir"
)

func (n *Node) registerMetrics() {
	gauge := func(name, help string, f func() float64) prometheus.Collector {
		return prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, f)
	}
	n.refused = prometheus.NewCounter(prometheus.CounterOpts{
		Name: "undersign_handshakes_refused_total", Help: "Connections by parties that aren't known."})
	n.registry.MustRegister(
		collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
		n.refused,
		gauge("undersign_ready", "Whether the node takes calls.", func() float64 {
			if n.unready() != nil {
				return 0
			}
			return 1
		}),
		gauge("undersign_parties", "Parties that are known.", func() float64 { return float64(len(n.roster.List())) }),
		gauge("undersign_invitations", "Invitations that can be used.", func() float64 { return float64(n.roster.Invitations()) }),
		gauge("undersign_connections", "Connections that are open.", func() float64 { return float64(n.listener.open.Load()) }),
		gauge("undersign_audit_records", "Records of the audit log.", func() float64 {
			records, _ := n.audit.Head()
			return float64(records)
		}),
		gauge("undersign_store_bytes", "Size of the store's files.", func() float64 { return float64(n.storeBytes()) }),
	)
}

func (n *Node) storeBytes() (sum int64) {
	for _, suffix := range []string{"", "-wal"} {
		if fi, err := os.Stat(filepath.Join(n.cfg.Dir, nodedir.Store) + suffix); err == nil {
			sum += fi.Size()
		}
	}
	return sum
}

// healthServer returns the server of metrics. /healthz says that the process runs, and
// /readyz that it takes calls.
func (n *Node) healthServer() *http.Server {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(n.registry, promhttp.HandlerOpts{MaxRequestsInFlight: 4}))
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, r *http.Request) { fmt.Fprintln(w, "ok") })
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, r *http.Request) {
		if err := n.unready(); err != nil {
			http.Error(w, err.Error(), http.StatusServiceUnavailable)
			return
		}
		fmt.Fprintln(w, "ok")
	})
	return &http.Server{
		Handler: mux, ReadTimeout: 5 * time.Second, WriteTimeout: 15 * time.Second, IdleTimeout: time.Minute,
		MaxHeaderBytes: 8 << 10,
	}
}

// version returns what was built.
func version() string {
	if bi, ok := debug.ReadBuildInfo(); ok && bi.Main.Version != "" && bi.Main.Version != "(devel)" {
		return bi.Main.Version
	}
	return "devel"
}
