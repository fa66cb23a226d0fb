// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

// Package roster is a node's list of the parties that it knows, and of the invitations
// that are out. It lies in the node's store; names in policies are looked up in it.
package roster

import (
	"crypto/ed25519"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/undersign/undersign/internal/party"
	"github.com/undersign/undersign/internal/policy"
	"github.com/undersign/undersign/internal/store"
	"github.com/undersign/undersign/keyfile"
)

// ErrInvitation is in the error about an invitation that isn't good, or not any more. It
// doesn't say why: who guesses shouldn't learn.
var ErrInvitation = errors.New("roster: the invitation isn't known, was used, or has expired")

// ErrName is in the error about a name that is taken.
var ErrName = errors.New("roster: the name is taken")

// ErrUnknown is in the error about a party that the node doesn't know.
var ErrUnknown = errors.New("roster: no party is called that")

// MaxInvitations is how many may be out at a time.
const MaxInvitations = 1024

// A Member is a party that the node knows.
type Member struct {
	Fingerprint string
	Key         ed25519.PublicKey
	Name        string // what the node calls it
	Address     string // host:port where it listens, or empty
	Joined      time.Time
}

// A Roster is the list. Its methods may be called by several goroutines.
type Roster struct {
	store *store.Store
	now   func() time.Time

	mu      sync.RWMutex
	members map[string]Member // by fingerprint
	open    []time.Time       // when invitations that weren't used expire
}

// Open reads the list in a store.
func Open(s *store.Store, now func() time.Time) (*Roster, error) {
	r := &Roster{store: s, now: now}
	if err := r.load(); err != nil {
		return nil, err
	}
	return r, nil
}

// load reads everything. It is called after each change, of which there are few.
func (r *Roster) load() error {
	members := make(map[string]Member)
	var open []time.Time
	err := r.store.View(func(tx *store.Tx) error {
		var m Member
		var key []byte
		var joined, expires int64
		err := tx.Rows([]any{&m.Fingerprint, &key, &m.Name, &m.Address, &joined}, func() error {
			if len(key) != ed25519.PublicKeySize || keyfile.Fingerprint(&keyfile.Party{Key: key}) != m.Fingerprint {
				return fmt.Errorf("roster: the key of %s is damaged", m.Fingerprint)
			}
			m.Key, m.Joined = slices.Clone(key), time.UnixMilli(joined).UTC()
			members[m.Fingerprint] = m
			return nil
		}, "SELECT fingerprint, key, name, address, joined FROM party WHERE removed = 0")
		if err != nil {
			return err
		}
		return tx.Rows([]any{&expires}, func() error {
			open = append(open, time.UnixMilli(expires))
			return nil
		}, "SELECT expires FROM invitation WHERE used = 0 AND expires > ?", store.Unix(r.now()))
	})
	if err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.members, r.open = members, open
	return nil
}

// Known reports whether a party is known.
func (r *Roster) Known(fingerprint string) bool {
	_, ok := r.Lookup(fingerprint)
	return ok
}

// Lookup returns the party with a fingerprint, or false.
func (r *Roster) Lookup(fingerprint string) (Member, bool) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	m, ok := r.members[fingerprint]
	return m, ok
}

// Find returns the party with a fingerprint or a name, or false.
func (r *Roster) Find(s string) (Member, bool) {
	if m, ok := r.Lookup(s); ok {
		return m, true
	}
	r.mu.RLock()
	defer r.mu.RUnlock()
	for _, m := range r.members {
		if m.Name == s {
			return m, true
		}
	}
	return Member{}, false
}

// List returns all parties, by name.
func (r *Roster) List() []Member {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return slices.SortedFunc(maps.Values(r.members), func(a, b Member) int { return strings.Compare(a.Name, b.Name) })
}

// Invitations returns how many invitations can be used now.
func (r *Roster) Invitations() (n int) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	now := r.now()
	for _, expires := range r.open {
		if expires.After(now) {
			n++
		}
	}
	return n
}

// CheckName returns an error unless a party can be called that.
func CheckName(name string) error {
	ok := name != "" && len(name) <= 64 && !strings.HasPrefix(strings.ToLower(name), "us1") && name[0] != '.' && name[0] != '-' &&
		!strings.ContainsFunc(name, func(c rune) bool {
			return (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && !strings.ContainsRune(".-_", c)
		})
	if !ok {
		return fmt.Errorf("roster: %q isn't a name, which is of letters, digits, dots, dashes and underscores, and not like a fingerprint", name)
	}
	return nil
}

// nameFree returns ErrName if a party or an invitation has a name already, or one that
// differs in capital letters alone, which people would take for it. A party with the
// fingerprint except may have it.
func nameFree(tx *store.Tx, name, except string, now time.Time) error {
	var one int
	taken, err := tx.Row([]any{&one}, "SELECT 1 FROM party WHERE name = ? COLLATE NOCASE AND removed = 0 AND fingerprint <> ?", name, except)
	if err == nil && !taken {
		taken, err = tx.Row([]any{&one}, "SELECT 1 FROM invitation WHERE name = ? COLLATE NOCASE AND used = 0 AND expires > ?", name, store.Unix(now))
	}
	if err == nil && taken {
		err = fmt.Errorf("%w: %s", ErrName, name)
	}
	return err
}

// Invite notes that whoever has the secret of an invitation is to be called name.
func (r *Roster) Invite(inv *party.Invitation, name string, valid time.Duration) (expires time.Time, err error) {
	if err := CheckName(name); err != nil {
		return expires, err
	}
	if valid <= 0 || valid > 365*24*time.Hour {
		return expires, fmt.Errorf("roster: an invitation for %v: want up to a year", valid)
	}
	now, hash := r.now(), party.SecretHash(inv.Secret[:])
	expires = now.Add(valid)
	err = r.store.Update(func(tx *store.Tx) error {
		if err := nameFree(tx, name, "", now); err != nil {
			return err
		}
		var n int
		if _, err := tx.Row([]any{&n}, "SELECT count(*) FROM invitation WHERE used = 0 AND expires > ?", store.Unix(now)); err != nil {
			return err
		}
		if n >= MaxInvitations {
			return fmt.Errorf("roster: %d invitations are out, and no more may be", n)
		}
		if _, err := tx.Exec("DELETE FROM invitation WHERE used = 0 AND expires <= ?", store.Unix(now)); err != nil {
			return err
		}
		_, err := tx.Exec("INSERT INTO invitation (hash, name, made, expires) VALUES (?, ?, ?, ?)", hash[:], name, store.Unix(now), store.Unix(expires))
		return err
	})
	if err != nil {
		return expires, err
	}
	return expires, r.load()
}

// Redeem makes a party a member by the secret of an invitation. Once more for the same
// party does nothing: it may not have got the answer.
func (r *Roster) Redeem(secret []byte, key ed25519.PublicKey, address string) (Member, error) {
	m := Member{Key: key, Address: address, Fingerprint: keyfile.Fingerprint(&keyfile.Party{Key: key}), Joined: r.now().UTC().Truncate(time.Millisecond)}
	if len(secret) != party.SecretSize {
		return m, ErrInvitation
	}
	hash := party.SecretHash(secret) // looked up by its hash, which tells nothing by its time
	// Who guesses doesn't make the node write.
	err := r.store.View(func(tx *store.Tx) error {
		var one int
		ok, err := tx.Row([]any{&one}, "SELECT 1 FROM invitation WHERE hash = ?", hash[:])
		if err == nil && !ok {
			err = ErrInvitation
		}
		return err
	})
	if err != nil {
		return m, err
	}
	err = r.store.Update(func(tx *store.Tx) error {
		var expires, used int64
		var by string
		ok, err := tx.Row([]any{&m.Name, &expires, &used, &by}, "SELECT name, expires, used, party FROM invitation WHERE hash = ?", hash[:])
		switch {
		case err != nil:
			return err
		case !ok || used != 0 && by != m.Fingerprint || used == 0 && expires <= store.Unix(m.Joined):
			return ErrInvitation
		case used != 0:
			var one int
			if ok, err := tx.Row([]any{&one}, "SELECT 1 FROM party WHERE fingerprint = ? AND removed = 0", by); err != nil || ok {
				return err
			}
			return ErrInvitation // it was removed since
		}
		if _, err := tx.Exec("UPDATE invitation SET used = ?, party = ? WHERE hash = ?", store.Unix(m.Joined), m.Fingerprint, hash[:]); err != nil {
			return err
		}
		return put(tx, m)
	})
	if err != nil {
		return m, err
	}
	return m, r.load()
}

// Add makes a party a member that this node wants to know itself.
func (r *Roster) Add(m Member) error {
	if err := CheckName(m.Name); err != nil {
		return err
	}
	m.Fingerprint, m.Joined = keyfile.Fingerprint(&keyfile.Party{Key: m.Key}), r.now()
	if m.Fingerprint == "" {
		return errors.New("roster: a party without a key")
	}
	err := r.store.Update(func(tx *store.Tx) error {
		if err := nameFree(tx, m.Name, m.Fingerprint, m.Joined); err != nil {
			return err
		}
		return put(tx, m)
	})
	if err != nil {
		return err
	}
	return r.load()
}

func put(tx *store.Tx, m Member) error {
	if m.Address != "" {
		if err := party.CheckAddress(m.Address); err != nil {
			return err
		}
	}
	_, err := tx.Exec(`INSERT INTO party (fingerprint, key, name, address, joined) VALUES (?, ?, ?, ?, ?)
		ON CONFLICT DO UPDATE SET name = excluded.name, address = excluded.address, joined = excluded.joined, removed = 0`,
		m.Fingerprint, []byte(m.Key), m.Name, m.Address, store.Unix(m.Joined))
	return err
}

// Remove forgets a party, by fingerprint or name, and withdraws an invitation that is out
// for that name. Where there was only the invitation, the member has no fingerprint.
func (r *Roster) Remove(s string) (Member, error) {
	m, known := r.Find(s)
	if !known {
		m.Name = s
	}
	err := r.store.Update(func(tx *store.Tx) error {
		now := store.Unix(r.now())
		if known {
			if _, err := tx.Exec("UPDATE party SET removed = ? WHERE fingerprint = ?", now, m.Fingerprint); err != nil {
				return err
			}
		}
		withdrawn, err := tx.Exec("DELETE FROM invitation WHERE name = ? COLLATE NOCASE AND used = 0 AND expires > ?", m.Name, now)
		if err == nil && withdrawn == 0 && !known {
			err = fmt.Errorf("%w: %s", ErrUnknown, s)
		}
		return err
	})
	if err != nil {
		return m, err
	}
	return m, r.load()
}

// Resolve returns rules with fingerprints in the place of names, and the names that
// nobody has. A rule for nobody is left out.
func (r *Roster) Resolve(rules []policy.Rule) (resolved []policy.Rule, unknown []string) {
	for _, rule := range rules {
		var parties []string
		for _, p := range rule.Parties {
			if _, err := keyfile.ParseFingerprint(p); p == "*" || err == nil {
				parties = append(parties, strings.ToLower(p)) // the form that calls have
			} else if m, ok := r.Find(p); ok {
				parties = append(parties, m.Fingerprint)
			} else if !slices.Contains(unknown, p) {
				unknown = append(unknown, p)
			}
		}
		if rule.Parties = parties; len(parties) > 0 {
			resolved = append(resolved, rule)
		}
	}
	return resolved, unknown
}
