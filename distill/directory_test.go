// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package distill

import (
	"bytes"
	"crypto/ed25519"
	"encoding/binary"
	"math/big"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"filippo.io/edwards25519"

	"github.com/undersign/undersign/bls"
)

func townDirectory(t testing.TB, w *town, n int) *Directory {
	t.Helper()
	d, err := NewDirectory(w.genesis)
	if err != nil {
		t.Fatal(err)
	}
	if n > 0 {
		r, err := d.Apply(1, w.settle(t, n))
		if err != nil {
			t.Fatal(err)
		}
		for i, c := range r.Changes {
			if c.Err != nil || c.ID != uint64(i) {
				t.Fatalf("registration %d: id %d, %v", i, c.ID, c.Err)
			}
		}
	}
	return d
}

// signBy replaces the signatures of a change by those of other keys, over what it says.
func signBy(t testing.TB, w *town, c *Change, sk *bls.SecretKey, ed, old ed25519.PrivateKey) {
	t.Helper()
	s := c.statement(w.net)
	if sk != nil {
		digest := s.Digest()
		sig, err := bls.ProofOfPossession.Sign(sk, digest[:])
		if err != nil {
			t.Fatal(err)
		}
		copy(c.BLSSig[:], sig.Bytes())
	}
	if ed != nil {
		copy(c.EdSig[:], ed25519.Sign(ed, s.Bytes()))
	}
	if old != nil {
		copy(c.OldEdSig[:], ed25519.Sign(old, s.Bytes()))
	}
}

// outside returns a compressed point of the curve that isn't in the group, and one x
// coordinate that no point has.
func outside(t testing.TB) (subgroup, curve [48]byte) {
	for i := byte(1); subgroup == [48]byte{} || curve == [48]byte{}; i++ {
		key := [48]byte{0: 0x80, 47: i}
		switch rule := keyFault(&key); {
		case rule == RuleKeyCurve:
			curve = key
		default:
			if _, err := bls.ParsePublicKey(key[:]); err == nil {
				t.Fatalf("x = %d is of a key", i)
			}
			subgroup = key
		}
	}
	return subgroup, curve
}

// smallOrder returns the canonical encodings of the eight points of small order.
func smallOrder(t testing.TB) (list [][32]byte) {
	// A point of order 8 is what the order of the group leaves of a random point; 7 of
	// 8 have one.
	order := new(edwards25519.Scalar)
	one := make([]byte, 32)
	one[0] = 1
	if _, err := order.SetCanonicalBytes(one); err != nil {
		t.Fatal(err)
	}
	minusOne := new(edwards25519.Scalar).Negate(order)
	for i := byte(2); len(list) < 8; i++ {
		p, err := new(edwards25519.Point).SetBytes(append([]byte{i}, make([]byte, 31)...))
		if err != nil {
			continue
		}
		// (order-1)P + P
		q := new(edwards25519.Point).ScalarMult(minusOne, p)
		q.Add(q, p)
		list = list[:0]
		for r := edwards25519.NewIdentityPoint(); ; r.Add(r, q) {
			enc := [32]byte(r.Bytes())
			if slices.Contains(list, enc) {
				break
			}
			list = append(list, enc)
		}
	}
	return list
}

func TestRegistrationRefused(t *testing.T) {
	w := newTown(t, 4, 1)
	d := townDirectory(t, w, 3)
	subgroup, curve := outside(t)
	big381 := [48]byte{0: 0x80}
	modulus := blsModulus.FillBytes(make([]byte, 48))
	copy(big381[:], modulus)
	big381[0] |= 0x80
	next := person(t, 50)
	victim := w.clients[1]
	opposite := &resident{sk: blsKey(t, new(big.Int).Sub(order, new(big.Int).SetBytes(secretBytes(t, victim.sk)))), ed: next.ed}
	other := *w
	other.net[0] ^= 1
	cases := []struct {
		name string
		rule Rule
		r    *resident
		edit func(c *Change)
	}{
		{"flags", RuleKeyEncoding, next, func(c *Change) { c.BLSKey[0] &^= 0x80 }},
		{"the modulus as coordinate", RuleKeyEncoding, next, func(c *Change) { c.BLSKey = big381 }},
		{"identity with a sign", RuleKeyEncoding, next, func(c *Change) { c.BLSKey = [48]byte{0xe0} }},
		{"identity with a coordinate", RuleKeyEncoding, next, func(c *Change) { c.BLSKey[0] |= 0x40 }},
		{"off the curve", RuleKeyCurve, next, func(c *Change) { c.BLSKey = curve }},
		{"off the group", RuleKeySubgroup, next, func(c *Change) { c.BLSKey = subgroup }},
		{"identity", RuleKeyIdentity, next, func(c *Change) { c.BLSKey = [48]byte{0xc0} }},
		{"registered key", RuleKeyRegistered, &resident{sk: victim.sk, ed: next.ed}, nil},
		{"opposite key", RuleKeyOpposite, opposite, nil},
		{"proof of another key", RuleProofOfPossession, next, func(c *Change) { c.Proof = w.register(t, person(t, 51), 10).Proof }},
		{"signature as proof", RuleProofOfPossession, next, func(c *Change) { c.Proof = c.BLSSig }},
		{"identity as proof", RuleProofOfPossession, next, func(c *Change) { c.Proof = [96]byte{0xc0} }},
		{"proof that isn't a point", RuleProofOfPossession, next, func(c *Change) { c.Proof[5] ^= 1 }},
		{"rogue key", RuleProofOfPossession, next, func(c *Change) {
			// next's key less the victim's: a sum with the victim's is next's own.
			rogue, err := bls.SumKeys([]*bls.ProvenKey{
				bls.AssumeProvenUnsafe(next.sk.PublicKey()), bls.AssumeProvenUnsafe(opposite.sk.PublicKey()),
			})
			if err != nil {
				t.Fatal(err)
			}
			c.BLSKey = [48]byte(rogue.Bytes())
			signBy(t, w, c, next.sk, next.ed, nil)
		}},
		{"copied key and proof", RuleKeySignature, person(t, 52), func(c *Change) {
			mine := w.register(t, next, 10)
			c.BLSKey, c.Proof = mine.BLSKey, mine.Proof
			signBy(t, w, c, person(t, 52).sk, person(t, 52).ed, nil)
		}},
		{"copied registration with another Ed25519 key", RuleKeySignature, next, func(c *Change) {
			c.EdKey = [32]byte(person(t, 52).ed.Public().(ed25519.PublicKey))
			signBy(t, w, c, nil, person(t, 52).ed, nil)
		}},
		{"identity as signature", RuleKeySignature, next, func(c *Change) { c.BLSSig = [96]byte{0xc0} }},
		{"signature that isn't a point", RuleKeySignature, next, func(c *Change) { c.BLSSig[5] ^= 1 }},
		{"last height changed", RuleKeySignature, next, func(c *Change) { c.NotAfter++ }},
		{"for another network", RuleKeySignature, next, func(c *Change) { *c = other.register(t, next, 10) }},
		{"Ed25519 key of no point", RuleEdKeyEncoding, next, func(c *Change) {
			c.EdKey = [32]byte{2}
			signBy(t, w, c, next.sk, next.ed, nil)
		}},
		{"Ed25519 key over the modulus", RuleEdKeyEncoding, next, func(c *Change) {
			c.EdKey = [32]byte(append([]byte{0xf1}, bytes.Repeat([]byte{0xff}, 31)...)) // 2^255-15 = 4 mod p, with a sign
			signBy(t, w, c, next.sk, next.ed, nil)
		}},
		{"signed by another Ed25519 key", RuleEdSignature, next, func(c *Change) { signBy(t, w, c, nil, victim.ed, nil) }},
		{"too late", RuleRegistrationLate, next, func(c *Change) { *c = w.register(t, next, 8) }},
		{"too far ahead", RuleRegistrationAhead, next, func(c *Change) { *c = w.register(t, next, 10+4096) }},
	}
	for _, enc := range smallOrder(t) {
		cases = append(cases, struct {
			name string
			rule Rule
			r    *resident
			edit func(c *Change)
		}{"Ed25519 key of small order", RuleEdKeyOrder, next, func(c *Change) {
			c.EdKey = enc
			signBy(t, w, c, next.sk, nil, nil)
			// ZIP-215 takes this for a signature of anything: R is the identity, s is 0.
			c.EdSig = [64]byte{1}
		}})
	}
	for _, x := range cases {
		c := w.register(t, x.r, 20)
		if x.edit != nil {
			x.edit(&c)
		}
		r, err := d.Apply(9, w.entry(c))
		wantRule(t, x.name+": entry", err, RuleNoChange)
		wantRule(t, x.name, r.Changes[0].Err, x.rule)
	}
	if d.Version() != 1 || d.Len() != 3 {
		t.Fatalf("version %d with %d ids after refusals", d.Version(), d.Len())
	}
	// None of it has harmed next: its keys are still free.
	if r, err := d.Apply(9, w.entry(w.register(t, next, 9))); err != nil || r.Changes[0].ID != 3 || r.Version != 2 {
		t.Fatalf("good registration: %+v, %v", r, err)
	}
}

func secretBytes(t testing.TB, sk *bls.SecretKey) []byte {
	t.Helper()
	b, err := sk.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// In an entry each change stands for itself, and those before it count.
func TestEntryChangesAlone(t *testing.T) {
	w := newTown(t, 1, 0)
	d := townDirectory(t, w, 0)
	a, b := person(t, 0), person(t, 1)
	badProof := w.register(t, b, 10)
	badProof.Proof = badProof.BLSSig
	badSig := w.register(t, person(t, 2), 10)
	badSig.BLSSig = badProof.BLSSig
	r, err := d.Apply(5, w.entry(
		w.register(t, a, 10), badProof, w.register(t, a, 10), badSig, w.register(t, b, 10),
		w.rotate(t, 0, 0, a, person(t, 3)), w.rotate(t, 0, 1, a, person(t, 3))))
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []Rule{0, RuleProofOfPossession, RuleKeyRegistered, RuleKeySignature, 0, RuleStaleChange, RuleStaleChange} {
		if got := RuleOf(r.Changes[i].Err); got != want {
			t.Errorf("change %d: %v, want %v", i, r.Changes[i].Err, want)
		}
	}
	if r.Changes[0].ID != 0 || r.Changes[4].ID != 1 || d.Len() != 2 || d.Version() != 1 {
		t.Errorf("ids %d and %d of %d, version %d", r.Changes[0].ID, r.Changes[4].ID, d.Len(), d.Version())
	}
}

func TestRotationRefused(t *testing.T) {
	w := newTown(t, 1, 0)
	d := townDirectory(t, w, 4)
	apply := func(c Change) error {
		r, err := d.Apply(5, w.entry(c))
		if RuleOf(err) == RuleNoChange {
			return r.Changes[0].Err
		}
		return err
	}
	a, b := w.clients[0], w.clients[1]
	next := person(t, 20)
	for _, x := range []struct {
		name string
		c    Change
		rule Rule
	}{
		{"unknown id", w.rotate(t, 4, 1, a, next), RuleUnknownID},
		{"id before it was registered", w.rotate(t, 0, 0, a, next), RuleStaleChange},
		{"version to come", w.rotate(t, 0, 2, a, next), RuleStaleChange},
		{"largest version", w.rotate(t, 0, 1<<64-1, a, next), RuleStaleChange},
		{"largest id", w.rotate(t, 1<<64-1, 1, a, next), RuleUnknownID},
		{"signed by another client", w.rotate(t, 0, 1, b, next), RuleOldEdSignature},
		{"signed by the new key", w.rotate(t, 0, 1, next, next), RuleOldEdSignature},
		{"to its own key", w.rotate(t, 0, 1, a, &resident{sk: a.sk, ed: next.ed}), RuleKeyRegistered},
		{"to another's key", w.rotate(t, 0, 1, a, &resident{sk: b.sk, ed: next.ed}), RuleKeyRegistered},
	} {
		wantRule(t, x.name, apply(x.c), x.rule)
	}
	c := w.rotate(t, 0, 1, a, next)
	c.ID = 1
	wantRule(t, "for another id", apply(c), RuleKeySignature)
	signBy(t, w, &c, next.sk, next.ed, nil)
	wantRule(t, "for another id, signed by the new keys", apply(c), RuleOldEdSignature)

	good := w.rotate(t, 0, 1, a, next)
	if err := apply(good); err != nil {
		t.Fatal(err)
	}
	wantRule(t, "replay", apply(good), RuleStaleChange)
	back := w.rotate(t, 0, 2, next, a)
	wantRule(t, "back to the old key", apply(back), RuleKeyRegistered)
	wantRule(t, "by the old key", apply(w.rotate(t, 0, 2, a, person(t, 21))), RuleOldEdSignature)
	wantRule(t, "register the old key", apply(w.register(t, a, 10)), RuleKeyRegistered)
	wantRule(t, "revoke by the old key", apply(*Revoke(w.net, 0, 2, a.ed)), RuleOldEdSignature)
	stale := *Revoke(w.net, 0, 1, a.ed)
	wantRule(t, "revocation from before", apply(stale), RuleStaleChange)

	if err := apply(*Revoke(w.net, 0, 2, next.ed)); err != nil {
		t.Fatal(err)
	}
	wantRule(t, "revoke again", apply(*Revoke(w.net, 0, 3, next.ed)), RuleUnknownID)
	wantRule(t, "rotate what is revoked", apply(w.rotate(t, 0, 3, next, person(t, 22))), RuleUnknownID)
	wantRule(t, "register a revoked key", apply(w.register(t, next, 10)), RuleKeyRegistered)
	if id, ok := d.Find([48]byte(next.sk.PublicKey().Bytes())); !ok || id != 0 {
		t.Errorf("Find: %d, %v", id, ok)
	}
}

func TestRemove(t *testing.T) {
	w := newTown(t, 4, 1)
	d := townDirectory(t, w, 2)
	apply := func(c *Change) error {
		r, err := d.Apply(5, w.entry(*c))
		if RuleOf(err) == RuleNoChange {
			return r.Changes[0].Err
		}
		return err
	}
	rvk := Rvk{w.net, 1, 1}
	wantRule(t, "one validator", apply(Remove(1, 1, w.certify(t, rvk, 2))), RuleQuorum)
	wantRule(t, "another id", apply(Remove(0, 1, w.certify(t, rvk, 1, 2))), RuleCertificate)
	cert := w.certify(t, rvk, 0, 3)
	long := &Certificate{append([]byte(nil), cert.Bitmap[0], 0), cert.Signature}
	wantRule(t, "long set", apply(Remove(1, 1, long)), RuleBitmap)
	fifth := &Certificate{[]byte{cert.Bitmap[0] | 0x10}, cert.Signature}
	wantRule(t, "a fifth validator", apply(Remove(1, 1, fifth)), RuleBitmap)
	// The id changes its keys first, and is removed nevertheless.
	rotated := w.rotate(t, 1, 1, w.clients[1], person(t, 23))
	if err := apply(&rotated); err != nil {
		t.Fatal(err)
	}
	if err := apply(Remove(1, 1, cert)); err != nil {
		t.Fatal(err)
	}
	wantRule(t, "again", apply(Remove(1, 1, cert)), RuleUnknownID)
	if v := d.Latest(); v.FirstInactive([]uint64{0, 1}) != 1 || v.BLSKey(1) != nil || v.EdKey(1) != nil {
		t.Error("removed id is active")
	}
	if v, err := d.At(1); err != nil || v.FirstInactive([]uint64{0, 1}) != -1 {
		t.Error("removed id isn't active at the version before")
	}
}

func TestEntryEncoding(t *testing.T) {
	w := newTown(t, 4, 1)
	a := person(t, 0)
	e := &DirectoryEntry{w.net, []Change{
		w.register(t, a, 10), w.rotate(t, 3, 2, a, person(t, 1)), *Revoke(w.net, 4, 9, a.ed), *Remove(5, 2, w.certify(t, Rvk{w.net, 5, 2}, 1, 2)),
	}}
	b := e.Bytes()
	got, err := ParseDirectoryEntry(b)
	if err != nil || !bytes.Equal(got.Bytes(), b) || len(got.Changes) != 4 || got.Digest() != e.Digest() {
		t.Fatalf("round trip: %v", err)
	}
	for i := range b {
		if _, err := ParseDirectoryEntry(b[:i]); RuleOf(err) != RuleDirectoryEntry {
			t.Fatalf("accepted the first %d of %d bytes: %v", i, len(b), err)
		}
	}
	edit := func(at int, v ...byte) []byte {
		c := bytes.Clone(b)
		copy(c[at:], v)
		return c
	}
	removal := Change{Kind: ChangeRemove, Bitmap: make([]byte, maxValidators/8)}
	if _, err := ParseDirectoryEntry(w.entry(removal)); err != nil {
		t.Errorf("as many validators as there may be: %v", err)
	}
	removal.Bitmap = append(removal.Bitmap, 0)
	for name, x := range map[string][]byte{
		"too many validators": w.entry(removal),
		"trailing byte":       append(bytes.Clone(b), 0), "tag": edit(3, '!'), "no changes": edit(48, 0, 0)[:50],
		"too many": edit(48, 4, 1), "kind 0": edit(50, 0), "kind 5": edit(50, 5), "empty": nil,
	} {
		if _, err := ParseDirectoryEntry(x); RuleOf(err) != RuleDirectoryEntry {
			t.Errorf("%s: %v", name, err)
		}
	}
	d := townDirectory(t, w, 0)
	_, err = d.Apply(1, edit(16, 0, 0))
	wantRule(t, "of another network", err, RuleNetwork)
	_, err = d.Apply(1, b[:99])
	wantRule(t, "cut off", err, RuleDirectoryEntry)
}

func FuzzDirectoryEntry(f *testing.F) {
	w := newTown(f, 1, 0)
	a := person(f, 0)
	f.Add(w.entry(w.register(f, a, 10)))
	f.Add(w.entry(*Revoke(w.net, 4, 9, a.ed), *Remove(5, 2, w.certify(f, Rvk{w.net, 5, 2}, 0))))
	f.Fuzz(func(t *testing.T, b []byte) {
		e, err := ParseDirectoryEntry(b)
		if err == nil && !bytes.Equal(e.Bytes(), b) {
			t.Errorf("two encodings: %x and %x", e.Bytes(), b)
		}
	})
}

// A directoryModel is the slow, obvious directory: a whole table for each version.
type directoryModel struct {
	versions []map[uint64]*resident // nil is revoked
}

func (m *directoryModel) latest() map[uint64]*resident { return m.versions[len(m.versions)-1] }

// compare compares all versions of d with the model.
func (m *directoryModel) compare(t *testing.T, d *Directory, rng *rand.Rand) {
	t.Helper()
	if d.Version() != uint64(len(m.versions)-1) || d.Len() != uint64(len(m.latest())) {
		t.Fatalf("version %d with %d ids, want %d with %d", d.Version(), d.Len(), len(m.versions)-1, len(m.latest()))
	}
	for version, table := range m.versions {
		v, err := d.At(uint64(version))
		if err != nil || v.Version() != uint64(version) {
			t.Fatal(err)
		}
		var active []uint64
		for id := range uint64(len(m.latest()) + 1) {
			r := table[id]
			want := -1
			if r == nil {
				want = 0
			} else {
				active = append(active, id)
			}
			if got := v.FirstInactive([]uint64{id}); got != want {
				t.Fatalf("version %d, id %d: FirstInactive is %d, want %d", version, id, got, want)
			}
			key, ed := v.BLSKey(id), v.EdKey(id)
			if (key != nil) != (r != nil) || (ed != nil) != (r != nil) {
				t.Fatalf("version %d, id %d: keys %v, %v, want %v", version, id, key, ed, r)
			}
			if r != nil && (!key.PublicKey().Equal(r.sk.PublicKey()) || ed.Bytes() != [32]byte(r.ed.Public().(ed25519.PublicKey))) {
				t.Fatalf("version %d, id %d: other keys", version, id)
			}
		}
		some := slices.DeleteFunc(slices.Clone(active), func(uint64) bool { return rng.IntN(3) == 0 })
		for _, ids := range [][]uint64{active, some} {
			if len(ids) == 0 {
				continue
			}
			var list []*bls.ProvenKey
			for _, id := range ids {
				list = append(list, bls.AssumeProvenUnsafe(table[id].sk.PublicKey()))
			}
			want, err := bls.SumKeys(list)
			if err != nil {
				t.Fatal(err)
			}
			if got, err := v.SumKeys(ids); err != nil || !got.Equal(want) {
				t.Fatalf("version %d: another sum of %v: %v", version, ids, err)
			}
		}
		if _, err := v.SumKeys([]uint64{uint64(len(m.latest()))}); err == nil {
			t.Fatal("sum of an id that there isn't")
		}
	}
	if _, err := d.At(uint64(len(m.versions))); RuleOf(err) != RuleDirectoryNew {
		t.Fatalf("version to come: %v", err)
	}
}

// Random histories: every version stays what it was, and a directory that is loaded
// from rows is the same.
func TestDirectoryHistory(t *testing.T) {
	w := newTown(t, 1, 0)
	for seed := range uint64(3) {
		rng := rand.New(rand.NewPCG(seed, 5))
		d := townDirectory(t, w, 0)
		loaded := townDirectory(t, w, 0)
		var rows []byte
		m := &directoryModel{versions: []map[uint64]*resident{{}}}
		next := 0
		fresh := func() *resident { next++; return person(t, int(seed)*1000+next) }
		for range 12 {
			table := make(map[uint64]*resident)
			for id, r := range m.latest() {
				table[id] = r
			}
			var changes []Change
			for range 1 + rng.IntN(4) {
				id := rng.Uint64N(uint64(len(m.latest()) + 1))
				r := m.latest()[id]
				same := r == table[id] // not changed in this entry
				switch n := rng.IntN(8); {
				case r != nil && same && n < 2:
					table[id] = fresh()
					changes = append(changes, w.rotate(t, id, d.Version(), r, table[id]))
				case r != nil && same && n == 2:
					table[id] = nil
					changes = append(changes, *Revoke(w.net, id, d.Version(), r.ed))
				default:
					r := fresh()
					table[uint64(len(table))] = r
					changes = append(changes, w.register(t, r, 10))
				}
			}
			r, err := d.Apply(1, w.entry(changes...))
			if err != nil {
				t.Fatal(err)
			}
			for i, c := range r.Changes {
				if c.Err != nil {
					t.Fatalf("seed %d, change %d: %v", seed, i, c.Err)
				}
			}
			m.versions = append(m.versions, table)
			if rows = append(rows, r.Rows...); rng.IntN(2) == 0 {
				if err := loaded.Load(rows); err != nil {
					t.Fatal(err)
				}
				rows = nil
			}
		}
		if err := loaded.Load(rows); err != nil {
			t.Fatal(err)
		}
		m.compare(t, d, rng)
		m.compare(t, loaded, rng)
		for _, table := range m.versions {
			for id, r := range table {
				if r == nil {
					continue
				}
				if got, ok := loaded.Find([48]byte(r.sk.PublicKey().Bytes())); !ok || got != id {
					t.Fatalf("Find: %d, %v, want %d", got, ok, id)
				}
			}
		}
		// What it has loaded it knows: nobody registers an old key.
		for _, r := range m.versions[1] {
			res, err := loaded.Apply(1, w.entry(w.register(t, r, 10)))
			wantRule(t, "register again", err, RuleNoChange)
			wantRule(t, "register again", res.Changes[0].Err, RuleKeyRegistered)
		}
	}
}

func TestRowsRefused(t *testing.T) {
	w := newTown(t, 1, 0)
	d := townDirectory(t, w, 0)
	r, err := d.Apply(1, w.settle(t, 2))
	if err != nil {
		t.Fatal(err)
	}
	edit := func(at int, f func(row []byte)) []byte {
		rows := bytes.Clone(r.Rows)
		f(rows[at*rowSize:])
		return rows
	}
	for name, rows := range map[string][]byte{
		"cut off":          r.Rows[:2*rowSize-1],
		"version 0":        edit(0, func(b []byte) { b[7] = 0 }),
		"version 2":        edit(0, func(b []byte) { b[7] = 2 }),
		"version back":     edit(1, func(b []byte) { b[7] = 0 }),
		"version skipped":  edit(1, func(b []byte) { b[7] = 3 }),
		"id skipped":       edit(0, func(b []byte) { b[15] = 1 }),
		"id again":         edit(1, func(b []byte) { b[15] = 0 }),
		"kind 0":           edit(0, func(b []byte) { b[16] = 0 }),
		"kind of removal":  edit(1, func(b []byte) { b[16] = 4 }),
		"rotation of none": edit(0, func(b []byte) { b[16] = 2 }),
		"no point":         edit(1, func(b []byte) { b[60] ^= 1 }),
	} {
		if err := townDirectory(t, w, 0).Load(rows); err == nil {
			t.Errorf("%s: loaded", name)
		}
	}
}

// Views are used while the directory changes; the race detector watches.
func TestDirectoryConcurrent(t *testing.T) {
	w := newTown(t, 1, 0)
	d := townDirectory(t, w, 8)
	view := d.Latest()
	want, err := view.SumKeys([]uint64{0, 1, 2, 3, 4, 5, 6, 7})
	if err != nil {
		t.Fatal(err)
	}
	var entries [][]byte
	entries = append(entries, w.entry(w.rotate(t, 3, 1, w.clients[3], person(t, 40))))
	for i := range 6 {
		entries = append(entries, w.entry(w.register(t, person(t, 41+i), 10)))
	}
	entries = append(entries, w.entry(*Revoke(w.net, 5, 2, w.clients[5].ed)))
	stop := make(chan struct{})
	var readers sync.WaitGroup
	for range 2 {
		readers.Go(func() {
			for {
				got, err := view.SumKeys([]uint64{0, 1, 2, 3, 4, 5, 6, 7})
				if err != nil || !got.Equal(want) || view.EdKey(3) == nil || view.FirstInactive([]uint64{5, 8}) != 1 {
					t.Errorf("view changed: %v", err)
					return
				}
				select {
				case <-stop:
					return
				default:
				}
			}
		})
	}
	for _, e := range entries {
		if _, err := d.Apply(5, e); err != nil {
			t.Error(err)
		}
	}
	close(stop)
	readers.Wait()
}

// progression returns rows of n registrations, whose BLS keys are an arithmetic
// progression. Their Ed25519 keys are none.
func progression(t testing.TB, n int) []byte {
	t.Helper()
	key := bls.AssumeProvenUnsafe(blsKey(t, big.NewInt(1<<40)).PublicKey())
	step := bls.AssumeProvenUnsafe(blsKey(t, big.NewInt(1<<20+7)).PublicKey())
	rows := make([]byte, 0, n*rowSize)
	for i := range n {
		var ed [32]byte
		binary.BigEndian.PutUint64(ed[:], uint64(i))
		rows = appendRow(rows, uint64(1+i/MaxChanges), uint64(i), ChangeRegister, key.PublicKey(), &ed)
		var err error
		if key, err = bls.SumKeys([]*bls.ProvenKey{key, step}); err != nil {
			t.Fatal(err)
		}
	}
	return rows
}

// Every key of a large directory is found in the index, and none is twice.
func TestDirectoryLarge(t *testing.T) {
	w := newTown(t, 1, 0)
	const n = 5000
	rows := progression(t, n)
	d := townDirectory(t, w, 0)
	if err := d.Load(rows[:n/2*rowSize]); err != nil {
		t.Fatal(err)
	}
	if err := d.Load(rows[n/2*rowSize:]); err != nil {
		t.Fatal(err)
	}
	for i := range uint64(n) {
		key := [48]byte(d.Latest().BLSKey(i).Bytes())
		if id, ok := d.Find(key); !ok || id != i {
			t.Fatalf("key of %d: %d, %v", i, id, ok)
		}
		key[0] ^= blsSign
		if _, ok := d.Find(key); ok {
			t.Fatalf("found the opposite of %d", i)
		}
	}
	if used := 4*len(d.index.table) + 4*len(d.slots); used > 16*n {
		t.Errorf("index of %d bytes", used)
	}
}
