// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package aggregate

import (
	"testing"
	"time"

	"github.com/undersign/undersign/distill"
	aggregatev1 "github.com/undersign/undersign/gen/undersign/aggregate/v1"
	"github.com/undersign/undersign/internal/aggregate/frame"
)

// Heights wake a session that gets nothing else now and then, and go with what else it gets.
func TestOutboxHeights(t *testing.T) {
	o := newOutbox()
	head := func(height uint64) *distill.SignedHead {
		return &distill.SignedHead{Hgt: distill.Hgt{Height: height}, Certificate: distill.Certificate{Bitmap: []byte{1}}}
	}
	woken := func() bool {
		select {
		case <-o.news:
			return true
		default:
			return false
		}
	}
	heights := func() (list []uint64, frames int) {
		for _, f := range o.pop() {
			if h := f.GetHead(); h != nil {
				x, err := frame.Head(h)
				if err != nil {
					t.Fatal(err)
				}
				list = append(list, x.Hgt.Height)
			} else {
				frames++
			}
		}
		return list, frames
	}
	if o.setHead(nil); woken() {
		t.Error("woken for no height")
	}
	if o.setHead(head(1)); !woken() {
		t.Error("not woken for the first height")
	}
	if list, _ := heights(); len(list) != 1 || list[0] != 1 {
		t.Errorf("heights %d", list)
	}
	o.setHead(head(2))
	if o.setHead(head(3)); woken() {
		t.Error("woken for each height")
	}
	o.addFrame(&aggregatev1.SessionResponse{Frame: &aggregatev1.SessionResponse_Acks{Acks: &aggregatev1.Acks{}}})
	if list, frames := heights(); !woken() || len(list) != 1 || list[0] != 3 || frames != 1 {
		t.Errorf("heights %d and %d frames", list, frames)
	}
	if o.setHead(head(4)); woken() {
		t.Error("woken too early")
	}
	o.woken = time.Now().Add(-headEvery)
	if o.setHead(head(5)); !woken() {
		t.Error("not woken when it was time")
	}
	if list, _ := heights(); len(list) != 1 || list[0] != 5 {
		t.Errorf("heights %d", list)
	}
	if list, frames := heights(); len(list)+frames > 0 {
		t.Error("sent twice")
	}
}
