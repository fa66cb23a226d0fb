// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package distill

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math/big"
	"runtime"
	"slices"
	"sync"

	"filippo.io/edwards25519"

	"github.com/undersign/undersign/bls"
	"github.com/undersign/undersign/internal/zip215"
)

// A DirectoryResult is what became of an entry.
type DirectoryResult struct {
	Version uint64         // that the entry made
	Changes []ChangeResult // of each of its changes
	Rows    []byte         // to be stored, for [Directory.Load]
}

// A ChangeResult is what became of a change.
type ChangeResult struct {
	ID  uint64
	Err error // why it wasn't made, or nil
}

// Apply makes the changes of an entry that stands in the log at a height. Each is
// accepted or refused by itself. If none is accepted the error's rule is
// [RuleNoChange], and as with an entry that can't be read there is no new version.
func (d *Directory) Apply(height uint64, entry []byte) (*DirectoryResult, error) {
	e, err := ParseDirectoryEntry(entry)
	if err != nil {
		return nil, err
	}
	if e.Net != d.committee.net {
		return nil, reject(RuleNetwork)
	}
	checked := checkChanges(e)
	d.mu.Lock()
	defer d.mu.Unlock()
	r := &DirectoryResult{Version: d.version() + 1, Changes: make([]ChangeResult, len(e.Changes))}
	for i := range e.Changes {
		c := &e.Changes[i]
		id, rule := d.apply(height, r.Version, c, &checked[i])
		if rule != 0 {
			r.Changes[i] = ChangeResult{c.ID, rejectAt(rule, i)}
			continue
		}
		r.Changes[i].ID = id
		r.Rows = appendRow(r.Rows, r.Version, id, c.Kind, checked[i].key.PublicKey(), &c.EdKey)
	}
	if len(r.Rows) == 0 {
		return r, reject(RuleNoChange)
	}
	d.ends = append(d.ends, uint64(len(d.slots)))
	return r, nil
}

// apply makes one change, or returns the first rule that it breaks.
func (d *Directory) apply(height, version uint64, c *Change, checked *checkedChange) (id uint64, rule Rule) {
	if c.Kind != ChangeRegister {
		switch {
		case c.Dirver >= version:
			return 0, RuleStaleChange
		case c.ID >= uint64(len(d.slots)) || d.current(c.ID) == revoked:
			return 0, RuleUnknownID
		case c.ID >= d.ends[c.Dirver] || c.Kind != ChangeRemove && d.changedSince(c.ID, c.Dirver):
			// A removal is of the id, whatever its keys: nobody escapes it by a rotation.
			return 0, RuleStaleChange
		}
	}
	if c.Kind == ChangeRegister || c.Kind == ChangeRotate {
		if checked.keyRule != 0 {
			return 0, checked.keyRule
		}
		if slot, ok := d.index.find(&c.BLSKey, d.x); ok {
			if bytes.Equal(d.keys.At(int(slot)).Bytes(), c.BLSKey[:]) {
				return 0, RuleKeyRegistered
			}
			return 0, RuleKeyOpposite
		}
		if checked.signRule != 0 {
			return 0, checked.signRule
		}
	}
	switch c.Kind {
	case ChangeRotate, ChangeRevoke:
		old, err := zip215.NewKey(d.ed[d.current(c.ID)][:])
		if err != nil || old.Verify(c.statement(d.committee.net).Bytes(), c.OldEdSig[:]) != nil {
			return 0, RuleOldEdSignature
		}
	case ChangeRemove:
		if err := d.committee.Verify(c.rvk(d.committee.net), &Certificate{c.Bitmap, c.Sig}); err != nil {
			return 0, RuleOf(err)
		}
	case ChangeRegister:
		if height > c.NotAfter {
			return 0, RuleRegistrationLate
		}
		if c.NotAfter-height > d.params.MaxAhead {
			return 0, RuleRegistrationAhead
		}
		c.ID = uint64(len(d.slots))
	}
	if checked.key != nil {
		if err := d.keys.Add(checked.key); err != nil {
			return 0, RuleProofOfPossession // not reached: the key is of G1
		}
	}
	d.record(version, c.ID, c.Kind, c.BLSKey, &c.EdKey)
	return c.ID, 0
}

// current returns the slot that an id has now, after changes of the entry at hand too.
func (d *Directory) current(id uint64) uint32 {
	if d.slots[id]&moved == 0 {
		return d.slots[id]
	}
	moves := d.moves[id]
	return moves[len(moves)-1].slot
}

// record enters a change that is accepted, whose BLS key is in its slot already. Of
// that, compressed, the sign doesn't matter.
func (d *Directory) record(version, id uint64, kind ChangeKind, key [bls.PublicKeySize]byte, ed *[32]byte) {
	slot := uint32(len(d.ed))
	switch kind {
	case ChangeRegister:
		d.slots = append(d.slots, slot)
	case ChangeRotate:
		d.heirs[slot] = id
	default:
		slot = revoked
	}
	if slot != revoked {
		d.ed = append(d.ed, *ed)
		d.index.add(key, d.x)
	}
	if kind != ChangeRegister {
		d.slots[id] |= moved
		d.moves[id] = append(d.moves[id], move{version, slot})
	}
}

// A checkedChange is what is known of a change without the directory.
type checkedChange struct {
	keyRule  Rule // what is wrong with the BLS key
	signRule Rule // what is wrong with what comes after it, in the order of the rules
	key      *bls.ProvenKey
}

// checkedTogether is the least number of changes that a processor checks by itself: with
// fewer, what they share is most of the work.
const checkedTogether = 64

// checkChanges checks the keys of changes, and their signatures by these, on all processors.
func checkChanges(e *DirectoryEntry) []checkedChange {
	out := make([]checkedChange, len(e.Changes))
	parts := max(1, min(runtime.GOMAXPROCS(0), len(out)/checkedTogether))
	var group sync.WaitGroup
	for k := range parts {
		group.Go(func() {
			lo, hi := k*len(out)/parts, (k+1)*len(out)/parts
			checkSome(&DirectoryEntry{Net: e.Net, Changes: e.Changes[lo:hi]}, out[lo:hi])
		})
	}
	group.Wait()
	return out
}

// checkSome checks changes. Proofs and BLS signatures are verified together.
func checkSome(e *DirectoryEntry, out []checkedChange) {
	var keys []*bls.PublicKey
	var proofs, sigs []*bls.Signature
	var at []int
	for i := range e.Changes {
		c := &e.Changes[i]
		if c.Kind != ChangeRegister && c.Kind != ChangeRotate {
			continue
		}
		key, err := bls.ParsePublicKey(c.BLSKey[:])
		if err != nil {
			out[i].keyRule = keyFault(&c.BLSKey)
			continue
		}
		proof, err := bls.ParseSignature(c.Proof[:])
		if err != nil {
			out[i].signRule = RuleProofOfPossession
			continue
		}
		// A signature that can't be read counts only if the proof is valid.
		sig, err := bls.ParseSignature(c.BLSSig[:])
		if err != nil {
			sig = nil
		}
		keys, proofs, sigs, at = append(keys, key), append(proofs, proof), append(sigs, sig), append(at, i)
	}
	if len(keys) == 0 {
		return
	}
	digests := make([][]byte, len(at))
	for j, i := range at {
		d := e.Changes[i].statement(e.Net).Digest()
		digests[j] = d[:]
	}
	proven, signed, err := bls.ProofOfPossession.PopVerifySigned(keys, proofs, digests, sigs)
	if err != nil { // not reached: the lists have one length
		proven, signed = make([]*bls.ProvenKey, len(keys)), make([]bool, len(keys))
	}
	for j, i := range at {
		switch {
		case proven[j] == nil:
			out[i].signRule = RuleProofOfPossession
		case !signed[j]:
			out[i].signRule = RuleKeySignature
		default:
			out[i].key = proven[j]
		}
	}
	checkEd(e, out)
}

// checkEd checks new Ed25519 keys and their signatures, together, of changes whose BLS keys
// are in order.
func checkEd(e *DirectoryEntry, out []checkedChange) {
	joint := zip215.NewBatch(len(out))
	var at []int
	for i := range out {
		if out[i].key == nil {
			continue
		}
		c := &e.Changes[i]
		key, rule := newEdKey(&c.EdKey)
		if out[i].signRule = rule; rule == 0 {
			joint.Add(key, c.statement(e.Net).Bytes(), c.EdSig[:])
			at = append(at, i)
		}
	}
	for _, k := range joint.Verify() {
		out[at[k]].signRule = RuleEdSignature
	}
}

// newEdKey reads a new Ed25519 key, or returns what is wrong with it.
func newEdKey(b *[32]byte) (*zip215.Key, Rule) {
	var p edwards25519.Point
	if _, err := p.SetBytes(b[:]); err != nil || !bytes.Equal(p.Bytes(), b[:]) {
		return nil, RuleEdKeyEncoding
	}
	if p.MultByCofactor(&p).Equal(edwards25519.NewIdentityPoint()) == 1 {
		return nil, RuleEdKeyOrder
	}
	key, err := zip215.NewKey(b[:])
	if err != nil {
		return nil, RuleEdKeyEncoding // not reached
	}
	return key, 0
}

// blsModulus is the modulus of the field of BLS12-381.
var blsModulus, _ = new(big.Int).SetString("1a0111ea397fe69a4b1ba7b6434bacd764774b84f38512bf6730d2a0f6b0f6241eabfffeb153ffffb9feffffffffaaab", 16)

// blsCompressed flags a compressed key in its first byte.
const blsCompressed = 0x80

// keyFault returns the rule that a BLS key breaks which isn't valid.
func keyFault(key *[bls.PublicKeySize]byte) Rule {
	const identity = 0x40
	if *key == [bls.PublicKeySize]byte{blsCompressed | identity} {
		return RuleKeyIdentity
	}
	b := *key
	b[0] &^= blsCompressed | blsSign
	x := new(big.Int).SetBytes(b[:])
	if key[0]&blsCompressed == 0 || x.Cmp(blsModulus) >= 0 {
		return RuleKeyEncoding
	}
	// y^2 = x^3 + 4
	y2 := new(big.Int).Exp(x, big.NewInt(3), blsModulus)
	if big.Jacobi(y2.Add(y2, big.NewInt(4)), blsModulus) < 0 {
		return RuleKeyCurve
	}
	return RuleKeySubgroup
}

// Rows are what accepted changes leave behind, 145 bytes each: version, id, kind, and
// the new keys, the BLS key uncompressed.
const rowSize = 8 + 8 + 1 + 2*bls.PublicKeySize + 32

func appendRow(b []byte, version, id uint64, kind ChangeKind, key *bls.PublicKey, ed *[32]byte) []byte {
	b = binary.BigEndian.AppendUint64(b, version)
	b = binary.BigEndian.AppendUint64(b, id)
	if kind == ChangeRemove {
		kind = ChangeRevoke
	}
	b = append(b, byte(kind))
	var none [2 * bls.PublicKeySize]byte
	if enc := key.UncompressedBytes(); enc != nil {
		b = append(b, enc...)
	} else {
		b = append(b, none[:]...)
	}
	return append(b, ed[:]...)
}

// errRows: what Load is given isn't what Apply gave.
var errRows = errors.New("distill: stored directory is damaged")

// Load makes the changes that were accepted before, by their rows, all in the order in
// which Apply returned them. Whoever can write rows can register keys that aren't their
// own: they aren't verified again, so that a million keys are there in a second or two.
func (d *Directory) Load(rows []byte) error {
	if len(rows)%rowSize != 0 {
		return errRows
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	n := len(rows) / rowSize
	d.index.reserve(n, d.x)
	d.keys.Grow(n)
	d.ed, d.slots = slices.Grow(d.ed, n), slices.Grow(d.slots, n)
	// Keys are read some thousand at a time, and added up with as few inversions.
	const chunk = 4096 * rowSize
	for len(rows) > 0 {
		some := rows[:min(chunk, len(rows))]
		rows = rows[len(some):]
		var keys []byte
		for at := 0; at < len(some); at += rowSize {
			if kind := ChangeKind(some[at+16]); kind == ChangeRegister || kind == ChangeRotate {
				keys = append(keys, some[at+17:at+17+2*bls.PublicKeySize]...)
			}
		}
		if err := d.keys.AddUncompressedUnsafe(keys); err != nil {
			return errRows
		}
		for at := 0; at < len(some); at += rowSize {
			if !d.loadRow(some[at : at+rowSize]) {
				return errRows
			}
		}
	}
	return nil
}

func (d *Directory) loadRow(row []byte) bool {
	version, id := binary.BigEndian.Uint64(row), binary.BigEndian.Uint64(row[8:])
	kind, ed := ChangeKind(row[16]), [32]byte(row[rowSize-32:])
	known := id < uint64(len(d.slots))
	switch {
	case version == d.version()+1:
		d.ends = append(d.ends, uint64(len(d.slots)))
	case version != d.version() || version == 0:
		return false
	}
	switch {
	case kind == ChangeRegister && id == uint64(len(d.slots)):
	case (kind == ChangeRotate || kind == ChangeRevoke) && known && d.current(id) != revoked:
	default:
		return false
	}
	// Uncompressed, a key begins with its x coordinate; compressed, it has a flag more.
	key := [bls.PublicKeySize]byte(row[17:])
	key[0] |= blsCompressed
	d.record(version, id, kind, key, &ed)
	d.ends[version] = uint64(len(d.slots))
	return true
}
