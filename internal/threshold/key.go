// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package threshold

import (
	"bytes"
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/undersign/undersign/internal/store"
	"github.com/undersign/undersign/keyfile"
	"github.com/undersign/undersign/thresholdrsa"
)

// Folders in a node's folder, and what the names in them end with.
const (
	sharesDir   = "shares"
	shareSuffix = ".share"
	keysDir     = "keys"
	keySuffix   = ".pub"
)

// KeyName returns what policies call a key: rsa- and the start of the SHA-256 of its
// SubjectPublicKeyInfo in hexadecimal. Unlike a record's fingerprint it is the same in
// all epochs.
func KeyName(p *thresholdrsa.PublicKey) string {
	der, err := x509.MarshalPKIXPublicKey(p.RSA())
	if err != nil { // an RSA key has an encoding
		return ""
	}
	h := sha256.Sum256(der)
	return "rsa-" + hex.EncodeToString(h[:20])
}

// A key is a line of records, each the successor of the one before, and this node's
// share of the last, if it has one.
type key struct {
	name   string                  // the name of its file
	policy string                  // KeyName
	root   *thresholdrsa.PublicKey // the first record that is known

	// mu is held for reading while the share is used.
	mu     sync.RWMutex
	record *thresholdrsa.PublicKey // the last that is certain
	share  *thresholdrsa.KeyShare  // nil if there is none
	file   *sealedFile             // of the share, or where it would be
	unsure bool                    // restored from a backup, the share isn't used: see restore
	gather gatherer

	// changing is held by whoever is about to change the share: see change.
	changing sync.Mutex
}

// state returns the record, and the index of the share of it, or 0 if there is none.
func (k *key) state() (p *thresholdrsa.PublicKey, index int) {
	k.mu.RLock()
	defer k.mu.RUnlock()
	if k.share != nil && !k.share.Provisional() && k.share.PublicKey().ID() == k.record.ID() {
		index = k.share.Index()
	}
	return k.record, index
}

// holds reports whether the node has a share of the last record that is certain.
func (k *key) holds() bool {
	_, index := k.state()
	return index != 0
}

// sign signs with the share.
func (k *key) sign(r *thresholdrsa.Request) (*thresholdrsa.SignatureShare, error) {
	k.mu.RLock()
	defer k.mu.RUnlock()
	if k.share == nil {
		return nil, errors.New("threshold: no share")
	}
	if k.unsure {
		return nil, errUnsure
	}
	return k.gather.sign(k.share, r)
}

// change lets fn change a copy of the share, and puts it in the place of the old one, on
// disk and then in memory. The old one signs meanwhile. What fn returns as the share may
// be another one, or nil to give it up. fn's error doesn't stop that if store is true: a
// share remembers that it refused.
func (k *key) change(fn func(old *thresholdrsa.KeyShare) (new *thresholdrsa.KeyShare, store bool, err error)) error {
	k.changing.Lock()
	defer k.changing.Unlock()
	work, err := k.copyShare()
	if err != nil {
		return err
	}
	next, keep, err := fn(work)
	if !keep {
		if work != nil {
			work.Wipe()
		}
		return err
	}
	if next != nil {
		if e := k.file.write(next); e != nil {
			next.Wipe()
			return e
		}
	} else if e := removeFile(k.file.path); e != nil {
		return e
	}
	k.mu.Lock()
	old := k.share
	k.share = next
	if next != nil && !next.Provisional() {
		k.record = next.PublicKey()
	}
	k.mu.Unlock()
	if old != nil {
		old.Wipe()
	}
	return err
}

func (k *key) copyShare() (*thresholdrsa.KeyShare, error) {
	k.mu.RLock()
	defer k.mu.RUnlock()
	if k.share == nil {
		return nil, nil
	}
	data, err := k.share.MarshalBinary()
	if err != nil {
		return nil, err
	}
	defer clear(data)
	c := new(thresholdrsa.KeyShare)
	if err := c.UnmarshalBinary(data); err != nil {
		return nil, err
	}
	return c, nil
}

// A keyring is a node's keys, and the certificates that connect their records.
type keyring struct {
	dir   string
	store *store.Store
	lock  *lock

	mu     sync.RWMutex
	names  map[string]*key
	byID   map[[32]byte]*key        // by all their records
	after  map[[32]byte]*succession // by the parent
	before map[[32]byte][32]byte    // the parent of a record
}

// A succession is a certificate and where it leads.
type succession struct {
	child       [32]byte
	certificate []byte
}

// openKeyring reads all shares and records in a node's folder.
func openKeyring(dir string, st *store.Store, l *lock) (*keyring, error) {
	r := &keyring{
		dir: dir, store: st, lock: l,
		names: make(map[string]*key), byID: make(map[[32]byte]*key),
		after: make(map[[32]byte]*succession), before: make(map[[32]byte][32]byte),
	}
	err := st.View(func(tx *store.Tx) error {
		var parent, child, certificate []byte
		return tx.Rows([]any{&parent, &child, &certificate}, func() error {
			if len(parent) != 32 || len(child) != 32 {
				return errors.New("threshold: the store has a certificate of no record")
			}
			r.after[[32]byte(parent)] = &succession{[32]byte(child), bytes.Clone(certificate)}
			r.before[[32]byte(child)] = [32]byte(parent)
			return nil
		}, "SELECT parent, child, certificate FROM threshold_certificate")
	})
	if err != nil {
		return nil, err
	}
	// A share that isn't certain yet says nothing of what it succeeds: its record does.
	shares, err := list(filepath.Join(dir, sharesDir), shareSuffix)
	if err == nil {
		err = r.openShares(shares, false)
	}
	var pubs map[string]string
	if err == nil {
		pubs, err = list(filepath.Join(dir, keysDir), keySuffix)
	}
	for _, name := range slices.Sorted(maps.Keys(pubs)) {
		if err == nil {
			err = r.openRecord(name, pubs[name])
		}
	}
	if err == nil {
		err = r.openShares(shares, true)
	}
	if err != nil {
		r.wipe()
		return nil, err
	}
	return r, nil
}

// openShares makes the shares in files the node's: those that are certain, or the others.
func (r *keyring) openShares(files map[string]string, provisional bool) error {
	for _, name := range slices.Sorted(maps.Keys(files)) {
		share, file, err := openSecret[*thresholdrsa.KeyShare](r.lock, files[name])
		if err != nil {
			return err
		}
		if share.Provisional() != provisional {
			share.Wipe()
			continue
		}
		if err := r.addShare(name, share, file); err != nil {
			share.Wipe()
			return err
		}
	}
	return nil
}

func (r *keyring) addShare(name string, share *thresholdrsa.KeyShare, file *sealedFile) error {
	// A share that is damaged would make signatures for which its holder is blamed.
	if err := share.Check(); err != nil {
		return fmt.Errorf("threshold: %s: %w", file.path, err)
	}
	k := r.named(KeyName(share.PublicKey()))
	var err error
	switch {
	case share.Provisional() && k == nil:
		return fmt.Errorf("threshold: %s is of a ceremony that hasn't ended, and the key's record isn't there", file.path)
	case !share.Provisional():
		if k, err = r.add(name, share.PublicKey()); err != nil {
			return err
		}
	}
	if k.share != nil {
		return fmt.Errorf("threshold: %s and %s are shares of one key: a node holds one", k.file.path, file.path)
	}
	k.share, k.file = share, file
	return nil
}

// openRecord makes the record in a file known. The share of a key says more than a
// file with its record, which may be of any epoch.
func (r *keyring) openRecord(name, path string) error {
	data, err := readSmall(path, maxShareFile)
	if err != nil {
		return err
	}
	p, err := keyfile.ParseAs[*thresholdrsa.PublicKey](data)
	if err != nil {
		return fmt.Errorf("threshold: %s: %w", path, err)
	}
	if r.named(KeyName(p)) == nil {
		_, err = r.add(name, p)
	}
	return err
}

// settle ends the ceremonies at a share that a certificate was stored of, where a crash
// came in between.
func (r *keyring) settle(k *key) error {
	for at := k.root; ; {
		r.mu.RLock()
		s := r.after[at.ID()]
		r.mu.RUnlock()
		if s == nil {
			return nil
		}
		next, certificates, err := Follow(at, [][]byte{s.certificate})
		if err != nil {
			return err
		}
		if k.awaits(at, next) {
			if err := k.finish(certificates[0], at); err != nil {
				return err
			}
		}
		at = next
	}
}

// awaits reports whether the share is of a record, or a successor that isn't certain.
func (k *key) awaits(parent, successor *thresholdrsa.PublicKey) bool {
	k.mu.RLock()
	defer k.mu.RUnlock()
	if k.share == nil {
		return false
	}
	id := k.share.PublicKey().ID()
	if k.share.Provisional() {
		return id == successor.ID()
	}
	return id == parent.ID()
}

// finish ends a ceremony at the share.
func (k *key) finish(c *thresholdrsa.Certificate, parent *thresholdrsa.PublicKey) error {
	return k.change(func(share *thresholdrsa.KeyShare) (*thresholdrsa.KeyShare, bool, error) {
		if share == nil || share.PublicKey().ID() != parent.ID() && !share.Provisional() {
			return nil, false, nil // somebody else has finished it
		}
		next, err := share.Finish(c, parent, nil)
		return next, err == nil, err
	})
}

// list returns the files in a folder whose names end with a suffix, by the name without.
func list(dir, suffix string) (map[string]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil && !os.IsNotExist(err) {
		return nil, fmt.Errorf("threshold: %w", err)
	}
	files := make(map[string]string)
	for _, e := range entries {
		if name, ok := strings.CutSuffix(e.Name(), suffix); ok && name != "" && !strings.HasPrefix(name, ".") {
			files[name] = filepath.Join(dir, e.Name())
		}
	}
	return files, nil
}

// add makes a record the node's. It returns the key if it is known already, as an
// earlier or a later record.
func (r *keyring) add(name string, p *thresholdrsa.PublicKey) (*key, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if k := r.byID[p.ID()]; k != nil {
		return k, nil
	}
	if r.names[name] != nil {
		return nil, fmt.Errorf("threshold: two keys are called %s", name)
	}
	k := &key{name: name, policy: KeyName(p), root: p, record: p}
	for _, other := range r.names {
		if other.policy == k.policy {
			return nil, fmt.Errorf("threshold: %s and %s are the same RSA key, and no certificate leads from one to the other", other.name, name)
		}
	}
	k.file = &sealedFile{path: filepath.Join(r.dir, sharesDir, name+shareSuffix)}
	k.file.to, _ = r.lock.newRecipients() // or else it is found out when a share is to come
	r.names[name] = k
	r.index(k)
	return k, r.advanceLocked(k)
}

// index notes all records of k that are known.
func (r *keyring) index(k *key) {
	id := k.record.ID()
	for {
		r.byID[id] = k
		parent, ok := r.before[id]
		if !ok {
			break
		}
		id = parent
	}
	for s := r.after[k.record.ID()]; s != nil; s = r.after[s.child] {
		r.byID[s.child] = k
	}
}

// get returns the key that a record is of, or nil.
func (r *keyring) get(id [32]byte) *key {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.byID[id]
}

// named returns the key with a name, in the policy's way or the node's, or nil.
func (r *keyring) named(name string) *key {
	r.mu.RLock()
	defer r.mu.RUnlock()
	if k := r.names[name]; k != nil {
		return k
	}
	for _, k := range r.names {
		if k.policy == name {
			return k
		}
	}
	return nil
}

// all returns the keys in the order of their names.
func (r *keyring) all() (list []*key) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	for _, name := range slices.Sorted(maps.Keys(r.names)) {
		list = append(list, r.names[name])
	}
	return list
}

// advance brings a key's record to where its share and the certificates lead.
func (r *keyring) advance(k *key) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.advanceLocked(k)
}

func (r *keyring) advanceLocked(k *key) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	for {
		s := r.after[k.record.ID()]
		if s == nil {
			break
		}
		c := new(thresholdrsa.Certificate)
		if err := c.UnmarshalBinary(s.certificate); err != nil {
			return err
		}
		next, err := c.Verify(k.record, nil)
		if err != nil {
			return err
		}
		k.record = next
	}
	r.index(k)
	return nil
}

// certify notes a certificate that was verified, durably. The key's record stays what it
// was until the share is finished, or until advance.
func (r *keyring) certify(k *key, c *thresholdrsa.Certificate) error {
	data, err := c.MarshalBinary()
	if err != nil {
		return err
	}
	parent, child := c.Proposal().Parent(), c.PublicKey().ID()
	err = r.store.Update(func(tx *store.Tx) error {
		_, err := tx.Exec("INSERT OR IGNORE INTO threshold_certificate (parent, child, certificate) VALUES (?, ?, ?)", parent[:], child[:], data)
		return err
	})
	if err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.after[parent] == nil {
		r.after[parent] = &succession{child, data}
		r.before[child] = parent
	}
	r.byID[child] = k
	return nil
}

// chain returns the certificates that lead from a record to the last one.
func (r *keyring) chain(id [32]byte) (list [][]byte) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	for s := r.after[id]; s != nil; s = r.after[s.child] {
		list = append(list, s.certificate)
	}
	return list
}

// wipe overwrites all shares.
func (r *keyring) wipe() {
	for _, k := range r.all() {
		k.mu.Lock()
		if k.share != nil {
			k.share.Wipe()
			k.share = nil
		}
		k.mu.Unlock()
	}
	r.lock.wipe()
}
