// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package sm2

import "github.com/undersign/undersign/internal/sm3lanes"

// hashChunk is the number of texts that are hashed together.
const hashChunk = 256

// hash sets e of the items with messages that have come since the last time.
func (b *Batch) hash() {
	b.hashZs()
	first := b.done
	b.parallel(len(b.items)-first, hashChunk, func(lo, hi int) {
		hashAll(first+lo, first+hi, func(i int) (m sm3lanes.Message, ok bool) {
			t := &b.texts[i]
			m.Data = b.arena[t.at:t.end]
			if t.pending && t.z != noZ {
				m.Prefix = b.zs[t.z].sum[:]
			}
			return m, t.pending
		}, func(i int, sum *[32]byte) { b.items[i].E.SetDigest(sum) })
	})
	b.done = len(b.items)
	b.arena = b.arena[:0]
}

// hashZs sets what isn't there yet of b.zs.
func (b *Batch) hashZs() {
	first := b.zDone
	b.parallel(len(b.zs)-first, hashChunk, func(lo, hi int) {
		var uid UID
		head := zHead(uid)
		hashAll(first+lo, first+hi, func(i int) (m sm3lanes.Message, ok bool) {
			z := &b.zs[i]
			if z.uid != uid {
				uid, head = z.uid, zHead(z.uid)
			}
			return sm3lanes.Message{Prefix: head, Data: b.keys.keys[z.key].xy[:]}, !z.done
		}, func(i int, sum *[32]byte) { b.zs[i].sum, b.zs[i].done = *sum, true })
	})
	b.zDone = len(b.zs)
}

// hashAll calls set with the hash of each message from lo to hi-1 that there is.
func hashAll(lo, hi int, message func(i int) (m sm3lanes.Message, ok bool), set func(i int, sum *[32]byte)) {
	msgs, places := make([]sm3lanes.Message, 0, hashChunk), make([]int, 0, hashChunk)
	var sums [hashChunk][32]byte
	for i := lo; i < hi; i++ {
		if m, ok := message(i); ok {
			msgs, places = append(msgs, m), append(places, i)
		}
		if len(msgs) == hashChunk || i == hi-1 {
			sm3lanes.Sum(sums[:], msgs)
			for k, i := range places {
				set(i, &sums[k])
			}
			msgs, places = msgs[:0], places[:0]
		}
	}
}
