// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package distillsim

import (
	"bytes"

	"github.com/undersign/undersign/distill"
)

// A keyChange is a rotation on its way through the log.
type keyChange struct {
	entry   []byte
	keys    distill.ClientKeys
	version uint64 // that it made, or 0
}

// changeKeys rotates the keys of a client, or revokes it.
func (s *sim) changeKeys(c *client) {
	if c.down || c.coming != nil || c.revoked || c.keys.Since > registered {
		return
	}
	s.faults.NewKeys++
	net := s.w.network.ID()
	dirver := s.relay.best.Hgt.Dirver
	entry := distill.DirectoryEntry{Net: net}
	if s.one(3) {
		s.tracef("%s is revoked", c.name)
		c.revoked = true
		entry.Changes = append(entry.Changes, *distill.Revoke(net, c.id, dirver, c.keys.Ed))
		s.toLog(c, entry.Bytes())
		return
	}
	next := s.w.spare[s.rng.IntN(worldSpare-3)]
	if taken := s.taken(next); taken {
		return
	}
	r, err := distill.Rotate(net, c.id, dirver, c.keys.Ed, next.BLS, next.Ed)
	if err != nil {
		s.violate(Sound, "%s: %v", c.name, err)
		return
	}
	s.tracef("%s changes its keys", c.name)
	entry.Changes = append(entry.Changes, *r)
	c.coming = &keyChange{entry: entry.Bytes(), keys: next}
	s.toLog(c, c.coming.entry)
}

// taken reports whether somebody has, or will have, keys.
func (s *sim) taken(keys distill.ClientKeys) bool {
	for _, c := range s.clients {
		if c.keys.BLS.Equal(keys.BLS) || c.coming != nil && c.coming.keys.BLS.Equal(keys.BLS) {
			return true
		}
	}
	return false
}

// toLog sends an entry of the directory until it has been in the log.
func (s *sim) toLog(c *client, entry []byte) {
	s.send(&c.node, &s.log.node, "a change of keys", func() { s.log.add(s, entry) })
	s.after(2500, func() {
		if s.log.heights[distill.BatchDigest(entry)] == 0 {
			s.toLog(c, entry)
		}
	})
}

// registerStrangers has somebody register, and others try with keys that aren't theirs.
func (s *sim) registerStrangers() {
	s.plan.strangers = false
	s.tracef("strangers register")
	entry := distill.DirectoryEntry{Net: s.w.network.ID(), Changes: s.w.strangers}
	s.log.add(s, entry.Bytes())
}

// directory checks a change of the directory that is in the log.
func (s *sim) directory(v *validator, r *distill.LogRecord) {
	for _, c := range s.clients {
		if c.coming != nil && bytes.Equal(c.coming.entry, r.Data) {
			c.coming.version = r.Version
		}
	}
	e, err := distill.ParseDirectoryEntry(r.Data)
	if err != nil {
		s.violate(True, "a change of the directory that can't be read has an effect: %v", err)
		return
	}
	for i := range e.Changes {
		x := &e.Changes[i]
		if x.Kind == distill.ChangeRegister {
			id, ok := v.v.Directory().Find(x.BLSKey)
			own := x.BLSKey == s.w.strangers[0].BLSKey
			if ok != (own || x.BLSKey == s.w.strangers[1].BLSKey) || ok && (id >= worldClients) != own {
				s.violate(Innocent, "a stranger has registered a key that isn't its own")
			}
			if own && s.oracle.clients == worldClients {
				s.oracle.clients++
			}
			continue
		}
		s.oracle.changed[x.ID] = r.Version
	}
}
