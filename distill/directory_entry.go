// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package distill

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/binary"
	"fmt"

	"github.com/undersign/undersign/bls"
)

// A ChangeKind is what a [Change] does.
type ChangeKind uint8

const (
	ChangeRegister ChangeKind = iota + 1 // gives keys the next id
	ChangeRotate                         // gives an id new keys
	ChangeRevoke                         // takes an id's keys away, as their owner wants
	ChangeRemove                         // takes an id's keys away, as f+1 validators want
)

// A Change is one change of a directory, with what authorises it. The methods
// [Register], [Rotate], [Revoke] and [Remove] make one.
type Change struct {
	Kind     ChangeKind
	ID       uint64 // not of a registration
	Dirver   uint64 // not of a registration: the version that the signer has seen
	NotAfter uint64 // of a registration: the last height for it

	BLSKey   [48]byte // new keys
	EdKey    [32]byte
	Proof    [96]byte // of possession of the new BLS key
	BLSSig   [96]byte // by the new BLS key
	EdSig    [64]byte // by the new Ed25519 key
	OldEdSig [64]byte // by the one that the id has: rotation, revocation

	Bitmap []byte // of the validators that sign a removal
	Sig    [96]byte
}

// MaxChanges is the largest number of changes in an entry. An entry makes one version,
// however many changes it has: put them together, so that versions don't fly by.
const MaxChanges = 1024

// Register returns the registration of the keys of two secret ones. It is of use up to
// the height notAfter.
func Register(net NetworkID, sk *bls.SecretKey, ed ed25519.PrivateKey, notAfter uint64) (*Change, error) {
	c := &Change{Kind: ChangeRegister, NotAfter: notAfter}
	return c, c.signNew(net, sk, ed)
}

// Rotate returns the change of an id's keys to those of two secret ones; old is the
// Ed25519 key that it has. The BLS key must be a new one.
func Rotate(net NetworkID, id, dirver uint64, old ed25519.PrivateKey, sk *bls.SecretKey, ed ed25519.PrivateKey) (*Change, error) {
	c := &Change{Kind: ChangeRotate, ID: id, Dirver: dirver}
	if err := c.signNew(net, sk, ed); err != nil {
		return nil, err
	}
	copy(c.OldEdSig[:], ed25519.Sign(old, c.rot(net).Bytes()))
	return c, nil
}

// Revoke returns the revocation of an id by the owner of its Ed25519 key.
func Revoke(net NetworkID, id, dirver uint64, ed ed25519.PrivateKey) *Change {
	c := &Change{Kind: ChangeRevoke, ID: id, Dirver: dirver}
	copy(c.OldEdSig[:], ed25519.Sign(ed, c.rvk(net).Bytes()))
	return c
}

// Remove returns the revocation of an id by validators, who operate the directory: they
// signed the [Rvk].
func Remove(id, dirver uint64, cert *Certificate) *Change {
	return &Change{Kind: ChangeRemove, ID: id, Dirver: dirver, Bitmap: cert.Bitmap, Sig: cert.Signature}
}

func (c *Change) signNew(net NetworkID, sk *bls.SecretKey, ed ed25519.PrivateKey) error {
	if len(ed) != ed25519.PrivateKeySize {
		return fmt.Errorf("distill: an Ed25519 private key has %d bytes", ed25519.PrivateKeySize)
	}
	proof, err := bls.ProofOfPossession.PopProve(sk)
	if err != nil {
		return err
	}
	copy(c.BLSKey[:], sk.PublicKey().Bytes())
	copy(c.EdKey[:], ed.Public().(ed25519.PublicKey))
	copy(c.Proof[:], proof.Bytes())
	s := c.statement(net)
	digest := s.Digest()
	sig, err := bls.ProofOfPossession.Sign(sk, digest[:])
	if err != nil {
		return err
	}
	copy(c.BLSSig[:], sig.Bytes())
	copy(c.EdSig[:], ed25519.Sign(ed, s.Bytes()))
	return nil
}

func (c *Change) reg(net NetworkID) Reg { return Reg{net, c.BLSKey, c.EdKey, c.NotAfter} }
func (c *Change) rot(net NetworkID) Rot { return Rot{net, c.ID, c.Dirver, c.BLSKey, c.EdKey} }
func (c *Change) rvk(net NetworkID) Rvk { return Rvk{net, c.ID, c.Dirver} }

// statement returns what all signatures of c are of.
func (c *Change) statement(net NetworkID) Statement {
	switch c.Kind {
	case ChangeRegister:
		return c.reg(net)
	case ChangeRotate:
		return c.rot(net)
	}
	return c.rvk(net)
}

// tagDir starts an entry. It isn't signed.
var tagDir = newTag("dist/dir/v1")

// A DirectoryEntry is changes of a directory that are made together, in the log of a
// network.
type DirectoryEntry struct {
	Net     NetworkID
	Changes []Change
}

// Bytes returns the canonical encoding.
func (e *DirectoryEntry) Bytes() []byte {
	b := append([]byte(nil), tagDir[:]...)
	b = append(b, e.Net[:]...)
	b = binary.BigEndian.AppendUint16(b, uint16(len(e.Changes)))
	for i := range e.Changes {
		c := &e.Changes[i]
		b = append(b, byte(c.Kind))
		b = write(c, b)
	}
	return b
}

// Digest returns the SHA-256 of Bytes, by which the log knows the entry.
func (e *DirectoryEntry) Digest() [32]byte { return sha256.Sum256(e.Bytes()) }

func (c *Change) fields(l *layout) {
	fresh := c.Kind == ChangeRegister || c.Kind == ChangeRotate
	if c.Kind == ChangeRegister {
		l.u64(&c.NotAfter)
	} else {
		l.u64(&c.ID)
		l.u64(&c.Dirver)
	}
	if fresh {
		l.fixed(c.BLSKey[:])
		l.fixed(c.EdKey[:])
		l.fixed(c.Proof[:])
		l.fixed(c.BLSSig[:])
		l.fixed(c.EdSig[:])
	}
	switch c.Kind {
	case ChangeRotate, ChangeRevoke:
		l.fixed(c.OldEdSig[:])
	case ChangeRemove:
		n := uint16(len(c.Bitmap))
		l.u16(&n)
		if l.reading {
			if l.bad || n > maxValidators/8 || int(n) > len(l.b) {
				l.bad = true
				return
			}
			c.Bitmap = make([]byte, n)
		}
		l.fixed(c.Bitmap)
		l.fixed(c.Sig[:])
	}
}

// ParseDirectoryEntry reads what [DirectoryEntry.Bytes] returns. Nothing in it is
// verified.
func ParseDirectoryEntry(b []byte) (*DirectoryEntry, error) {
	var e DirectoryEntry
	var n uint16
	l := layout{b: b, reading: true}
	l.tag(tagDir)
	l.fixed(e.Net[:])
	l.u16(&n)
	if l.bad || n == 0 || n > MaxChanges {
		return nil, reject(RuleDirectoryEntry)
	}
	for i := range int(n) {
		var c Change
		l.u8((*uint8)(&c.Kind))
		if c.Kind < ChangeRegister || c.Kind > ChangeRemove {
			return nil, rejectAt(RuleDirectoryEntry, i)
		}
		c.fields(&l)
		if l.bad {
			return nil, rejectAt(RuleDirectoryEntry, i)
		}
		e.Changes = append(e.Changes, c)
	}
	if len(l.b) != 0 {
		return nil, reject(RuleDirectoryEntry)
	}
	return &e, nil
}
