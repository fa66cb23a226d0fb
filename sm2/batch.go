// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package sm2

import (
	"crypto/ecdsa"
	"slices"

	"github.com/emmansun/gmsm/sm3"

	"github.com/undersign/undersign/internal/sm2ec"
)

// An Item is a signature with all that is needed to verify it.
type Item struct {
	// PublicKey is the signer's. It may be nil with Raw128WithKey. Its curve must be gmsm's, or
	// one with the same Params: a copy of these is another curve, whose arithmetic nobody knows.
	PublicKey *ecdsa.PublicKey

	// Message is what was signed.
	Message []byte

	// Digest, if it isn't nil, was signed, in place of a message with an ID. As
	// in gmsm, of more than 32 bytes the first 32 count, and fewer are an integer.
	Digest []byte

	// UID is the signer's ID. If it is nil, the one in the batch's options is.
	UID *UID

	// Signature is r and s.
	Signature []byte

	// Encoding is how the signature is written. Zero stands for that in the batch's options.
	Encoding Encoding

	// Hint is the hint of the signature. NoHint stands for that in the batch's options.
	Hint Hint
}

// A Batch is signatures that are verified together. The zero value is an empty
// batch with the default options. It is for one goroutine at a time; Verify uses more.
type Batch struct {
	opts  Options
	force sm2ec.Path // for tests

	index []slot
	items []sm2ec.Item
	texts []text
	arena []byte // messages
	done  int    // items whose e is set

	keys  keyIndex
	zs    []z
	zDone int // of which are there
	byKey map[keyUID]int32

	results []sm2ec.Result // of the last Verify
	stats   Stats
}

// A slot is where an item went: into items, or, with a reason, nowhere.
type slot struct {
	at  int
	bad Reason
}

// A text is what is to be hashed after its Z: a message in the arena, from at to end.
type text struct {
	at, end int
	z       int32
	pending bool // or else e is there
}

// A z is Z for a key and an ID, if it is there yet.
type z struct {
	keyUID
	sum  [32]byte
	done bool
}

type keyUID struct {
	key int32
	uid UID
}

// maxCopied is the size up to which messages are copied into the batch, to be
// hashed by all goroutines. Longer ones are hashed when they are added.
const maxCopied = 4096

// NewBatch returns an empty batch. The options may be nil.
func NewBatch(opts *Options) *Batch {
	b := new(Batch)
	if opts != nil {
		b.opts = *opts
	}
	return b
}

// Len returns the number of items.
func (b *Batch) Len() int { return len(b.index) }

// Reset removes all items, so that the batch can be used again with the same options.
func (b *Batch) Reset() {
	b.index, b.items, b.texts, b.arena = b.index[:0], b.items[:0], b.texts[:0], b.arena[:0]
	b.done = 0
	b.keys.reset()
	b.zs, b.zDone = b.zs[:0], 0
	clear(b.byKey)
	b.results, b.stats = nil, Stats{}
}

// Add adds a signature of a message, by the options' ID. Nothing that is passed
// to it is kept, or has to be valid: a malformed item is found by Verify.
func (b *Batch) Add(pub *ecdsa.PublicKey, msg, sig []byte) {
	b.AddItem(Item{PublicKey: pub, Message: msg, Signature: sig})
}

// AddHinted is like Add, for a signature that comes with a hint.
func (b *Batch) AddHinted(pub *ecdsa.PublicKey, msg, sig []byte, hint Hint) {
	b.AddItem(Item{PublicKey: pub, Message: msg, Signature: sig, Hint: hint})
}

// AddDigest adds a signature of a digest: see [Digest]. Who chooses digests
// freely can make up valid signatures of them, so digests should come from messages.
func (b *Batch) AddDigest(pub *ecdsa.PublicKey, digest, sig []byte) {
	b.AddDigestHinted(pub, digest, sig, NoHint)
}

// AddDigestHinted is like AddDigest, for a signature that comes with a hint.
func (b *Batch) AddDigestHinted(pub *ecdsa.PublicKey, digest, sig []byte, hint Hint) {
	if digest == nil {
		digest = []byte{} // which is 0 to gmsm
	}
	b.AddItem(Item{PublicKey: pub, Digest: digest, Signature: sig, Hint: hint})
}

// AddItem adds an item of any kind. Like Add it keeps nothing of it.
func (b *Batch) AddItem(it Item) {
	if bad := b.add(&it); bad != 0 {
		b.index = append(b.index, slot{bad: bad})
	}
}

// add adds an item, or says what is wrong with it.
func (b *Batch) add(it *Item) Reason {
	enc := it.Encoding
	if enc == 0 {
		enc = b.opts.Encoding
	}
	uid := b.opts.UID
	if it.UID != nil {
		uid = *it.UID
	}
	sig, embedded, bad := enc.parse(it.Signature)
	if bad == ReasonEncoding || it.Digest == nil && len(uid.id) > maxUID {
		return ReasonEncoding
	}
	k, ok := b.keyOf(it.PublicKey, embedded)
	if !ok {
		return ReasonKey
	}
	hint := it.Hint
	if hint == NoHint {
		hint = b.opts.Hint
	}
	c := sm2ec.Item{P: b.keys.keys[k].point, Hint: hint.internal(), Signer: uint32(k)}
	if bad != 0 || !c.R.SetBytes(&sig.r) || !c.S.SetBytes(&sig.s) {
		return ReasonRange
	}
	if _, ok := c.T(); !ok {
		return ReasonRange
	}
	var t text
	switch {
	case it.Digest != nil:
		c.E = digestScalar(it.Digest)
	case len(it.Message) > maxCopied:
		c.E = b.hashNow(k, uid, it.Message)
	default:
		t = b.copyText(k, uid, it.Message)
	}
	b.index = append(doubled(b.index), slot{at: len(b.items)})
	b.items = append(doubled(b.items), c)
	b.texts = append(doubled(b.texts), t)
	return 0
}

// doubled returns s with room for more: twice as much if there is none. append would
// make large slices grow by a quarter, and copy them several times.
func doubled[T any](s []T) []T {
	if len(s) == cap(s) {
		return slices.Grow(s, max(len(s), 16))
	}
	return s
}

// keyOf returns the index of a key, and false if it isn't one. Each key is looked at
// once.
func (b *Batch) keyOf(pub *ecdsa.PublicKey, embedded *[64]byte) (int32, bool) {
	var xy [64]byte
	if pub == nil && embedded != nil {
		xy = *embedded
	} else {
		var ok bool
		if xy, ok = keyBytes(pub); !ok || embedded != nil && xy != *embedded {
			return 0, false
		}
	}
	k := b.keys.add(&xy)
	return k, b.keys.keys[k].ok
}

// noZ stands for a text without Z.
const noZ = -1

// zIndex returns where Z for a key and an ID is, or noZ if it is to be left out.
func (b *Batch) zIndex(k int32, uid UID) int32 {
	if uid.kind == uidNone {
		return noZ
	}
	id := keyUID{k, uid}
	last := &b.keys.keys[k].z
	if *last != noZ && b.zs[*last].uid == uid {
		return *last
	}
	i, ok := b.byKey[id]
	if !ok {
		i = int32(len(b.zs))
		b.zs = append(doubled(b.zs), z{keyUID: id})
		if *last != noZ { // most keys have one
			if b.byKey == nil {
				b.byKey = map[keyUID]int32{}
			}
			b.byKey[id], b.byKey[keyUID{k, b.zs[*last].uid}] = i, *last
		}
	}
	*last = i
	return i
}

// hashNow returns e for a message.
func (b *Batch) hashNow(k int32, uid UID, msg []byte) sm2ec.Scalar {
	h := sm3.New()
	if i := b.zIndex(k, uid); i != noZ {
		z := &b.zs[i]
		if !z.done {
			z.sum, z.done = zOf(&b.keys.keys[k].xy, uid), true
		}
		h.Write(z.sum[:])
	}
	h.Write(msg)
	return digestScalar(h.Sum(nil))
}

// copyText puts a message into the arena.
func (b *Batch) copyText(k int32, uid UID, msg []byte) text {
	t := text{at: len(b.arena), z: b.zIndex(k, uid), pending: true}
	if len(msg) > cap(b.arena)-len(b.arena) {
		b.arena = slices.Grow(b.arena, max(len(b.arena), len(msg)))
	}
	b.arena = append(b.arena, msg...)
	t.end = len(b.arena)
	return t
}
