// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package distill

import (
	"bytes"
	"maps"
	"slices"
)

// A MemStore is a [Store] in memory, for tests and simulations. The zero value is empty.
type MemStore struct {
	// Fault, if it isn't nil, is called at the beginning of Commit, with the commit,
	// and of CommitWitness, with nil. An error is returned by them; whether the commit
	// is stored nevertheless is what durable says.
	Fault func(c *Commit) (durable bool, err error)

	head       LogHead
	aggs       map[uint64]AggregatorState
	clients    map[uint64]ClientState
	rows       []byte
	executions map[nonceKey]Execution
	expiring   map[uint64][]nonceKey // by NotAfter
	pruned     uint64
	log        []LogRecord
	witnesses  map[nonceKey][32]byte
}

// A nonceKey is an id and a number that it gave.
type nonceKey struct{ id, n uint64 }

// Clone returns a copy of what is stored, without Fault.
func (m *MemStore) Clone() *MemStore {
	c := *m
	c.Fault = nil
	c.aggs, c.clients, c.executions = maps.Clone(m.aggs), maps.Clone(m.clients), maps.Clone(m.executions)
	c.witnesses, c.rows, c.log = maps.Clone(m.witnesses), slices.Clone(m.rows), slices.Clone(m.log)
	c.expiring = make(map[uint64][]nonceKey, len(m.expiring))
	for at, keys := range m.expiring {
		c.expiring[at] = slices.Clone(keys)
	}
	return &c
}

// Head implements [Store].
func (m *MemStore) Head() (LogHead, error) { return m.head, nil }

// Aggregators implements [Store].
func (m *MemStore) Aggregators() ([]AggregatorState, error) {
	var list []AggregatorState
	for _, a := range m.aggs {
		list = append(list, a)
	}
	return list, nil
}

// Clients implements [Store].
func (m *MemStore) Clients(yield func(uint64, ClientState) error) error {
	for id, c := range m.clients {
		if err := yield(id, c); err != nil {
			return err
		}
	}
	return nil
}

// Rows implements [Store].
func (m *MemStore) Rows(yield func([]byte) error) error { return yield(m.rows) }

// Execution implements [Store].
func (m *MemStore) Execution(id, nonce uint64) (Execution, bool, error) {
	e, ok := m.executions[nonceKey{id, nonce}]
	return e, ok, nil
}

// Tick implements [Store].
func (m *MemStore) Tick(height uint64) ([]LogRecord, error) {
	from, _ := slices.BinarySearchFunc(m.log, height, func(r LogRecord, h uint64) int {
		if r.Rcpt.Height < h {
			return -1
		}
		return 1
	})
	to := from
	for to < len(m.log) && m.log[to].Rcpt.Height == height {
		to++
	}
	return slices.Clone(m.log[from:to]), nil
}

// Changes implements [Store].
func (m *MemStore) Changes(since uint64, max int) (list []LogRecord, err error) {
	for _, r := range m.log {
		if r.Kind != RecordDirectory || r.Version <= since {
			continue
		}
		if max -= len(r.Data); max < 0 && len(list) > 0 {
			break
		}
		list = append(list, r)
	}
	return list, nil
}

// Witness implements [Store].
func (m *MemStore) Witness(aggID, seq uint64) (digest [32]byte, ok bool, err error) {
	digest, ok = m.witnesses[nonceKey{aggID, seq}]
	return digest, ok, nil
}

// Commit implements [Store].
func (m *MemStore) Commit(c *Commit) error {
	if m.Fault != nil {
		if durable, err := m.Fault(c); err != nil {
			if durable {
				m.commit(c)
			}
			return err
		}
	}
	m.commit(c)
	return nil
}

func (m *MemStore) commit(c *Commit) {
	if m.aggs == nil {
		m.aggs, m.clients = make(map[uint64]AggregatorState), make(map[uint64]ClientState)
		m.executions, m.expiring = make(map[nonceKey]Execution), make(map[uint64][]nonceKey)
	}
	m.head = c.Head
	for _, r := range c.Log {
		r.Data = bytes.Clone(r.Data)
		m.log = append(m.log, r)
		for i := range r.Results {
			if !r.Results[i].Code.Executed() {
				continue
			}
			key := nonceKey{r.Results[i].ID, r.Results[i].Nonce}
			m.executions[key] = r.Results[i].execution(r.NotAfter[i])
			m.expiring[r.NotAfter[i]] = append(m.expiring[r.NotAfter[i]], key)
		}
	}
	for _, a := range c.Aggregators {
		m.aggs[a.ID] = a
	}
	for i, id := range c.ClientIDs {
		m.clients[id] = c.Clients[i]
	}
	m.rows = append(m.rows, c.Rows...)
	for ; m.pruned < c.PruneBefore; m.pruned++ {
		for _, key := range m.expiring[m.pruned] {
			delete(m.executions, key)
		}
		delete(m.expiring, m.pruned)
	}
}

// CommitWitness implements [Store].
func (m *MemStore) CommitWitness(aggID, seq uint64, digest [32]byte, _ []byte) error {
	durable := true
	var err error
	if m.Fault != nil {
		durable, err = m.Fault(nil)
	}
	if durable || err == nil {
		if m.witnesses == nil {
			m.witnesses = make(map[nonceKey][32]byte)
		}
		m.witnesses[nonceKey{aggID, seq}] = digest
	}
	return err
}
