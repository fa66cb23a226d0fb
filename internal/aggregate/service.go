// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

// Package aggregate is the service of distilled aggregates: package distill with a
// network, a disk and a clock. A node is an aggregator, a validator, or both.
//
// An aggregator takes messages in sessions, and doesn't acknowledge one before it is on
// disk. Validators read an order of batches and heights from a queue, and what they make of
// it is streamed to aggregators, which pass the receipts on.
package aggregate

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"filippo.io/age"

	"github.com/undersign/undersign/bls"
	"github.com/undersign/undersign/distill"
	aggregatev1 "github.com/undersign/undersign/gen/undersign/aggregate/v1"
	"github.com/undersign/undersign/gen/undersign/aggregate/v1/aggregatev1connect"
	"github.com/undersign/undersign/internal/nodedir"
	"github.com/undersign/undersign/internal/service"
	"github.com/undersign/undersign/keyfile"
)

// A Service is the aggregate service of a node.
type Service struct {
	host    *service.Host
	cfg     Config
	log     *slog.Logger
	genesis *distill.Genesis
	network *distill.Network
	params  distill.Params

	validator  *validator
	aggregator *aggregator
}

var _ service.Service = (*Service)(nil)

// New returns the service of a node whose configuration asks for it, or nil.
func New(host *service.Host, cfg Config) (*Service, error) {
	if err := cfg.Check(); err != nil || cfg.Genesis == "" {
		return nil, err
	}
	s := &Service{host: host, cfg: cfg, log: host.Log.With("service", "aggregate")}
	if err := s.loadGenesis(); err != nil {
		return nil, err
	}
	if len(cfg.Validators) != len(s.genesis.Validators) {
		return nil, fmt.Errorf("aggregate: %d validators are named, and the genesis has %d", len(cfg.Validators), len(s.genesis.Validators))
	}
	limit := int(s.params.MaxBatch) + 4096
	options := host.Options(max(limit, 4<<20))
	if cfg.Validator != nil {
		var err error
		if s.validator, err = newValidator(s); err != nil {
			return nil, err
		}
		file := aggregatev1.File_undersign_aggregate_v1_aggregate_proto.Services()
		_, h := aggregatev1connect.NewValidatorServiceHandler(s.validator, options...)
		if err := host.Handle(file.ByName("ValidatorService"), withController(h)); err != nil {
			return nil, err
		}
		_, h = aggregatev1connect.NewDirectoryServiceHandler(s.validator, options...)
		if err := host.Handle(file.ByName("DirectoryService"), h); err != nil {
			return nil, err
		}
	}
	if cfg.Aggregator != nil {
		var err error
		if s.aggregator, err = newAggregator(s); err != nil {
			return nil, err
		}
		_, h := aggregatev1connect.NewAggregatorServiceHandler(s.aggregator, host.Options(0)...)
		if err := host.Handle(aggregatev1.File_undersign_aggregate_v1_aggregate_proto.Services().ByName("AggregatorService"), withController(h)); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// maxGenesis is the size of the largest genesis.
const maxGenesis = 4 << 20

func (s *Service) loadGenesis() error {
	data, err := readFile(s.path(s.cfg.Genesis), maxGenesis)
	if err != nil {
		return err
	}
	s.genesis = new(distill.Genesis)
	if err := s.genesis.UnmarshalBinary(data); err != nil {
		return fmt.Errorf("aggregate: %s: %w", s.cfg.Genesis, err)
	}
	if s.network, err = distill.NewNetwork(s.genesis); err != nil {
		return err
	}
	s.params = s.network.Params()
	return nil
}

func (s *Service) path(name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(s.host.Dir, name)
}

func readFile(path string, most int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("aggregate: %w", err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, most+1))
	if err == nil && int64(len(data)) > most {
		err = fmt.Errorf("%s is larger than %d bytes", path, most)
	}
	if err != nil {
		return nil, fmt.Errorf("aggregate: %w", err)
	}
	return data, nil
}

// openKey opens a BLS key by the node's own age identity.
func (s *Service) openKey(name string) (*bls.SecretKey, error) {
	var identities []age.Identity
	f, err := os.Open(filepath.Join(s.host.Dir, nodedir.Unlock))
	if err == nil {
		identities, err = keyfile.ParseIdentities(f, nil)
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		return nil, fmt.Errorf("aggregate: %w", err)
	}
	data, err := readFile(s.path(name), 1<<20)
	if err != nil {
		return nil, err
	}
	return OpenKey(data, identities...)
}

// Name implements [service.Service].
func (s *Service) Name() string { return "aggregate" }

// Run implements [service.Service].
func (s *Service) Run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var group sync.WaitGroup
	var mu sync.Mutex
	var first error
	run := func(f func(context.Context) error) {
		group.Go(func() {
			if err := f(ctx); err != nil && ctx.Err() == nil {
				mu.Lock()
				if first == nil {
					first = err
				}
				mu.Unlock()
				cancel()
			}
		})
	}
	if s.validator != nil {
		run(s.validator.run)
	}
	if s.aggregator != nil {
		run(s.aggregator.run)
	}
	group.Wait()
	return first
}

// Status implements [service.Service].
func (s *Service) Status() error {
	if s.validator != nil {
		if err := s.validator.status(); err != nil {
			return err
		}
	}
	if s.aggregator != nil {
		return s.aggregator.status()
	}
	return nil
}

// self is the name of the node itself among validators.
const self = "self"

// isSelf reports whether a name or fingerprint is the node's.
func (s *Service) isSelf(name string) bool {
	return name == self || name == s.host.Identity.Fingerprint()
}

// now is the time that package distill is given.
func (s *Service) now() int64 { return s.host.Now().UnixMilli() }

// sleep waits, and reports whether ctx still goes on.
func sleep(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}
