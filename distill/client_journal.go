// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package distill

import (
	"encoding/binary"
	"errors"

	"github.com/undersign/undersign/internal/wire"
)

// The keys of a client's records: a letter, its id, and for a message its nonce.
const (
	clientKey       = 'c'
	clientKeyLength = 1 + 8
)

// recordVersion is that of all records.
const recordVersion = 1

// The kinds of records.
const (
	recordClient = iota + 1
	recordFlight
	recordAggregator
	recordPiece
	recordGone
	recordBatch
	recordReceipts
)

// maxPayloadRecord bounds the payloads in records: that of the parameters may be less.
const maxPayloadRecord = 1 << 28

func (c *Client) key() []byte {
	return binary.BigEndian.AppendUint64([]byte{clientKey}, c.cfg.ID)
}

func (c *Client) flightKey(nonce uint64) []byte {
	return binary.BigEndian.AppendUint64(c.key(), nonce)
}

// stateRecord returns the record of the next nonce.
func (c *Client) stateRecord(next uint64, recovering bool) Record {
	var e wire.Encoder
	e.U8(recordVersion)
	e.U8(recordClient)
	e.Fixed(c.cfg.Network.verifier.net[:])
	e.U64(next)
	e.U8(flag(recovering))
	return Record{c.key(), e.Data()}
}

func flag(b bool) uint8 {
	if b {
		return 1
	}
	return 0
}

func readFlag(d *wire.Decoder, field string) bool {
	v := d.U8(field)
	if v > 1 {
		d.Fail(field, "%d is no truth value", v)
	}
	return v == 1
}

// flightRecord returns the record of a message. Whether it was acknowledged, and what was
// signed for it, isn't in it: safety doesn't rest on that.
func (c *Client) flightRecord(f *flight) Record {
	var e wire.Encoder
	e.Grow(128 + len(f.payload))
	e.U8(recordVersion)
	e.U8(recordFlight)
	e.U64(f.notAfter)
	e.Fixed(f.hash[:])
	e.Bytes(f.payload)
	state := flightSent
	if f.state == flightHeld || f.state == flightSettled {
		state = f.state
	}
	e.U8(uint8(state))
	if state == flightSettled {
		e.U8(uint8(f.outcome.Kind))
		e.U8(uint8(f.outcome.Code))
		e.U16(f.outcome.AppCode)
		e.U64(f.outcome.Height)
	}
	return Record{c.flightKey(f.nonce), e.Data()}
}

// load reads the journal.
func (c *Client) load() error {
	for r, err := range c.cfg.Journal.Records(c.key()) {
		if err == nil {
			err = c.loadRecord(r)
		}
		if err != nil {
			return corrupt(r.Key, err)
		}
	}
	if n := len(c.flights); n > 0 && c.next != 0 && c.flights[n-1].nonce >= c.next {
		return corrupt(c.key(), errors.New("a message with a nonce that wasn't given out"))
	}
	return nil
}

func (c *Client) loadRecord(r Record) error {
	d := wire.NewDecoder(r.Value)
	switch len(r.Key) - clientKeyLength {
	case 0:
		d.Header(recordVersion, recordClient)
		var net NetworkID
		d.Read("network", net[:])
		if net != c.cfg.Network.ID() {
			d.Fail("network", "it is another one")
		}
		c.next = d.U64("next nonce")
		c.recovering = readFlag(d, "recovering")
	case 8:
		d.Header(recordVersion, recordFlight)
		f := &flight{nonce: binary.BigEndian.Uint64(r.Key[clientKeyLength:]), agg: c.cfg.First}
		f.notAfter = d.U64("last height")
		d.Read("payload hash", f.hash[:])
		f.payload = d.Bytes("payload", maxPayloadRecord)
		f.state = flightState(d.U8("state"))
		switch f.state {
		case flightSent, flightHeld:
		case flightSettled:
			f.outcome = Outcome{
				Kind: OutcomeKind(d.U8("outcome")), Code: ResultCode(d.U8("code")),
				AppCode: d.U16("application's code"), Height: d.U64("height"),
			}
			f.tell = true
		default:
			d.Fail("state", "%d is none", f.state)
		}
		if d.Err() == nil && PayloadHash(f.payload) != f.hash {
			d.Fail("payload hash", "isn't that of the payload")
		}
		c.flights = append(c.flights, f)
	default:
		return errors.New("a key of another length")
	}
	return d.Finish()
}
