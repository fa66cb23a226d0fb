// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package sm2stream

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/undersign/undersign/sm2"
)

// The binary format: docs/formats/sm2-batch.md, section 2.
const (
	magic       = "\x89SM2SIG\n"
	version     = 1
	headerSize  = 32
	recordFixed = 136 // a record without its payload

	// MaxPayload is the most that a binary record has room for.
	MaxPayload = 1 << 20
)

// Kinds of payload.
const (
	payloadDigest  = 1
	payloadMessage = 2
)

// Kinds of ID in a header.
const (
	idUnsaid = 0 // the reader decides
	idGiven  = 1
	idNone   = 2 // no Z
)

// A header says what the records of a binary file are.
type header struct {
	payload int    // payloadDigest or payloadMessage
	room    int    // bytes of payload in each record
	idKind  int    //
	id      []byte // if idKind is idGiven
}

func (h *header) recordSize() int { return recordFixed + h.room }

func (h *header) append(b []byte) []byte {
	b = append(b, magic...)
	b = append(b, version, byte(h.payload), byte(h.idKind), 0)
	b = binary.BigEndian.AppendUint32(b, uint32(h.room))
	b = binary.BigEndian.AppendUint32(b, uint32(len(h.id)))
	b = append(b, make([]byte, headerSize-20)...)
	return append(b, h.id...)
}

// readHeader reads a header, magic included.
func readHeader(r io.Reader) (h header, err error) {
	var b [headerSize]byte
	if _, err := io.ReadFull(r, b[:]); err != nil {
		return h, shortHeader(err)
	}
	room, idLen := binary.BigEndian.Uint32(b[12:]), binary.BigEndian.Uint32(b[16:])
	h = header{payload: int(b[9]), idKind: int(b[10])}
	switch {
	case string(b[:8]) != magic:
		return h, errors.New("sm2stream: not a file of binary records")
	case b[8] != version:
		return h, fmt.Errorf("sm2stream: binary records of version %d, and only %d is known", b[8], version)
	case h.payload != payloadDigest && h.payload != payloadMessage:
		return h, fmt.Errorf("sm2stream: binary records with a payload of kind %d", b[9])
	case h.payload == payloadDigest && room != 32 || room > MaxPayload:
		return h, fmt.Errorf("sm2stream: binary records with a payload of %d bytes", room)
	case h.idKind > idNone || h.idKind != idGiven && idLen != 0 || idLen > maxID || h.payload == payloadDigest && h.idKind != idUnsaid:
		return h, fmt.Errorf("sm2stream: an ID of kind %d with %d bytes in the header", b[10], idLen)
	case b[11] != 0 || !isZero(b[20:]):
		return h, errors.New("sm2stream: reserved bytes of the header aren't zero")
	}
	h.room, h.id = int(room), make([]byte, idLen)
	if _, err := io.ReadFull(r, h.id); err != nil {
		return h, shortHeader(err)
	}
	return h, nil
}

func shortHeader(err error) error {
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return errors.New("sm2stream: the header is cut off")
	}
	return err
}

// uid returns the ID for the file's messages.
func (h *header) uid(unsaid sm2.UID) sm2.UID {
	switch h.idKind {
	case idGiven:
		return sm2.NewUID(h.id)
	case idNone:
		return sm2.NoUID()
	}
	return unsaid
}

// record turns a binary record into an item, which refers to it.
func (p *parser) record(b []byte) (it sm2.Item, err error) {
	hint, n := b[128], binary.BigEndian.Uint32(b[132:])
	payload := b[recordFixed:]
	switch {
	case hint > uint8(sm2.HintHigh):
		return it, fmt.Errorf("hint %d", hint)
	case b[129]|b[130]|b[131] != 0:
		return it, errors.New("reserved bytes aren't zero")
	case int64(n) > int64(len(payload)):
		return it, fmt.Errorf("a payload of %d bytes, and there is room for %d", n, len(payload))
	case p.header.payload == payloadDigest && n != 32:
		return it, fmt.Errorf("a digest of %d bytes: SM3 has 32", n)
	case !isZero(payload[n:]):
		return it, errors.New("bytes after the payload aren't zero")
	}
	// Signature and key lie there as the encoding r||s||key has them.
	it = sm2.Item{Signature: b[:128], Encoding: sm2.Raw128WithKey, Hint: sm2.Hint(hint)}
	if p.header.payload == payloadDigest {
		it.Digest = payload[:n]
	} else {
		it.Message = payload[:n]
	}
	return it, nil
}

// appendRecord writes a record. The payload fits.
func (h *header) appendRecord(b []byte, sig, key *[64]byte, hint sm2.Hint, payload []byte) []byte {
	b = append(append(b, sig[:]...), key[:]...)
	b = append(b, byte(hint), 0, 0, 0)
	b = binary.BigEndian.AppendUint32(b, uint32(len(payload)))
	b = append(b, payload...)
	return append(b, make([]byte, h.room-len(payload))...)
}

func isZero(b []byte) bool { return len(bytes.TrimLeft(b, "\x00")) == 0 }
