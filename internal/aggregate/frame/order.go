// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package frame

import (
	"github.com/undersign/undersign/distill"
	"github.com/undersign/undersign/internal/wire"
)

// An Order stands in the queue for a batch: which one, and the witness of F+1 validators,
// of whom one that is honest has verified the batch and has it.
type Order struct {
	Aggregator, Seq uint64
	Digest          [32]byte
	Witness         distill.Certificate
}

// Wit returns the statement that the witness signs.
func (o *Order) Wit(net distill.NetworkID) distill.Wit {
	return distill.Wit{Net: net, AggID: o.Aggregator, Seq: o.Seq, BatchDigest: o.Digest}
}

// Bytes returns the canonical encoding.
func (o *Order) Bytes() []byte {
	var e wire.Encoder
	e.U8(1) // version
	e.U64(o.Aggregator)
	e.U64(o.Seq)
	e.Fixed(o.Digest[:])
	e.Bytes(o.Witness.Bitmap)
	e.Fixed(o.Witness.Signature[:])
	return e.Data()
}

// ParseOrder reads what Bytes returns. The witness isn't verified.
func ParseOrder(b []byte) (*Order, error) {
	d := wire.NewDecoder(b)
	if v := d.U8("version"); d.Err() == nil && v != 1 {
		d.Fail("version", "%d isn't known", v)
	}
	o := &Order{Aggregator: d.U64("aggregator"), Seq: d.U64("seq")}
	d.Read("digest", o.Digest[:])
	o.Witness.Bitmap = d.Bytes("witness", 128)
	d.Read("signature", o.Witness.Signature[:])
	if err := d.Finish(); err != nil {
		return nil, err
	}
	return o, nil
}
