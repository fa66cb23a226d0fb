// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package node

import (
	"context"
	"fmt"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	thresholdv1 "github.com/undersign/undersign/gen/undersign/threshold/v1"
	"github.com/undersign/undersign/gen/undersign/threshold/v1/thresholdv1connect"
	"github.com/undersign/undersign/internal/service"
	"github.com/undersign/undersign/internal/threshold"
)

// A thresholdService is the threshold service, as a node has it. Every node has one: with
// no shares it still coordinates.
type thresholdService struct{ *threshold.Service }

func startThreshold(c *Config, h *service.Host) (service.Service, error) {
	log := h.Log.With("service", "threshold")
	s, err := threshold.New(threshold.Options{
		Config: c.Threshold, Dir: h.Dir, Name: c.Name, Store: h.Store, Audit: h.Audit, Identity: h.Identity, Now: h.Now, Log: log,
		Peers: func() (list []threshold.Peer) {
			for _, m := range h.Roster.List() {
				if m.Address != "" {
					list = append(list, threshold.Peer{Fingerprint: m.Fingerprint, Name: m.Name, Address: m.Address})
				}
			}
			return list
		},
		Permit: func(ctx context.Context, key string) error {
			_, err := h.Guard.Permit(ctx, key)
			return err
		},
		May: h.Guard.May,
		Restored: func() (bool, time.Time, error) {
			pending, err := h.Restored("threshold")
			if err != nil {
				return false, time.Time{}, err
			}
			at, err := service.RestoredAt(h.Store)
			return pending, at, err
		},
		Settled: func() error { return h.Settled("threshold") },
		NameOf:  func(fingerprint string) string { m, _ := h.Roster.Lookup(fingerprint); return m.Name },
		Dial: func(p threshold.Peer, most int) (thresholdv1connect.ThresholdServiceClient, error) {
			peer, err := h.Peer(p.Fingerprint)
			if err != nil {
				return nil, err
			}
			return thresholdv1connect.NewThresholdServiceClient(peer.HTTP(), peer.URL(), peer.Options(most)...), nil
		},
	})
	if err != nil {
		return nil, err
	}
	h.Metrics.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "undersign_threshold_shares", Help: "Key shares that the node holds.",
	}, func() float64 { shares, _ := s.Counts(); return float64(shares) }))
	_, handler := thresholdv1connect.NewThresholdServiceHandler(s, h.Options(threshold.MaxMessage)...)
	desc := thresholdv1.File_undersign_threshold_v1_threshold_proto.Services().ByName("ThresholdService")
	if err := h.Handle(desc, handler); err != nil {
		s.Close()
		return nil, err
	}
	h.Guard.Approvable("threshold.sign", "threshold.share", "threshold.ceremony")
	for operation, bytes := range threshold.Bounds {
		h.Guard.Bound(operation, bytes)
	}
	// Their messages are the large ones, and nobody has reason for many at once.
	h.Guard.Few("threshold.ceremony", 4)
	h.Guard.Few("threshold.deal", 2)
	shares, keys := s.Counts()
	log.Info("ready", "keys", keys, "shares", shares)
	return &thresholdService{s}, nil
}

// Name implements service.Service.
func (s *thresholdService) Name() string { return "threshold" }

// Run implements service.Service.
func (s *thresholdService) Run(ctx context.Context) error {
	<-ctx.Done()
	s.Close()
	return nil
}

// Status implements service.Service.
func (s *thresholdService) Status() error {
	if names := s.Unsure(); len(names) > 0 {
		return fmt.Errorf("restored from a backup, and too few others say that the shares are current: %q", names)
	}
	if stale := s.Stale(); len(stale) > 0 {
		return fmt.Errorf("shares of old epochs: %q", stale)
	}
	return nil
}
