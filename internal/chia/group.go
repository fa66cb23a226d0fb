// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package chia

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"maps"
	"math"
	"slices"
)

// A Group is all messages of one key, in ascending order. A message may be there more
// than once: its signature is in the sum as often.
type Group struct {
	Key  Key
	Msgs [][]byte
}

// GroupPairs returns pairs by their keys, in ascending order of these, which is the order
// of leaves.
func GroupPairs(pairs []Pair) []Group {
	msgs := make(map[Key][][]byte, len(pairs))
	for _, p := range pairs {
		msgs[p.Key] = append(msgs[p.Key], p.Msg)
	}
	groups := make([]Group, 0, len(msgs))
	for k := range maps.Keys(msgs) {
		slices.SortFunc(msgs[k], bytes.Compare)
		groups = append(groups, Group{k, msgs[k]})
	}
	slices.SortFunc(groups, func(a, b Group) int { return bytes.Compare(a.Key[:], b.Key[:]) })
	return groups
}

// Payload returns the payload of the group's leaf: each message with its length before
// it, in four bytes.
func (g *Group) Payload() []byte {
	n := 0
	for _, m := range g.Msgs {
		n += 4 + len(m)
	}
	b := make([]byte, 0, n)
	for _, m := range g.Msgs {
		b = append(binary.BigEndian.AppendUint32(b, uint32(len(m))), m...)
	}
	return b
}

// Messages returns the messages of a payload, of which there must be one, in order.
// They are parts of the payload.
func Messages(payload []byte) ([][]byte, error) {
	var msgs [][]byte
	for rest := payload; len(rest) > 0; {
		if len(rest) < 4 {
			return nil, fmt.Errorf("%w: %d bytes left over after message %d", ErrFormat, len(rest), len(msgs))
		}
		n := binary.BigEndian.Uint32(rest)
		rest = rest[4:]
		if n > math.MaxInt32 || int(n) > len(rest) {
			return nil, fmt.Errorf("%w: message %d of %d bytes, where %d are left", ErrFormat, len(msgs), n, len(rest))
		}
		m := rest[:n:n]
		rest = rest[n:]
		if len(msgs) > 0 && bytes.Compare(m, msgs[len(msgs)-1]) < 0 {
			return nil, fmt.Errorf("%w: message %d is out of order", ErrFormat, len(msgs))
		}
		msgs = append(msgs, m)
	}
	if msgs == nil {
		return nil, fmt.Errorf("%w: a payload without a message", ErrFormat)
	}
	return msgs, nil
}
