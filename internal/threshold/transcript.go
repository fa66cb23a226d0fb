// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package threshold

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/pem"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/undersign/undersign/internal/wire"
	"github.com/undersign/undersign/keyfile"
	"github.com/undersign/undersign/thresholdrsa"
)

// A Transcript is a dealer's signed statement of what it has dealt, for whom, and to whom
// it went. It holds hashes of the dealing and of the encrypted shares, and what an
// attestation says of the machine.
//
// Its hash is over everything but the attestation and the signature: an attestation is
// about the hash, and the signature about all.
type Transcript struct {
	Dealer      ed25519.PublicKey
	Party       string // fingerprint of who asked
	Time        time.Time
	Bits        int
	Threshold   int
	Holders     []TranscriptHolder
	Dealing     [32]byte // SHA-256 of the dealing's encoding
	Attestation []byte   // what the dealer's command wrote, empty if it has none
	Signature   []byte
}

// A TranscriptHolder is a holder in a transcript.
type TranscriptHolder struct {
	Name       string
	Recipients []string // age recipients that the share was encrypted to
	Share      [32]byte // SHA-256 of the age file
}

const (
	maxAttestation = 1 << 20
	maxRecipients  = 16
	maxRecipient   = 8 << 10 // of the text of a recipient; those that resist quantum computers are long
)

func (t *Transcript) body() []byte {
	var e wire.Encoder
	e.U8(1) // version
	e.Fixed(t.Dealer)
	e.Bytes([]byte(t.Party))
	e.U64(uint64(t.Time.UnixMilli()))
	e.U16(uint16(t.Bits))
	e.U8(uint8(t.Threshold))
	e.U8(uint8(len(t.Holders)))
	for _, h := range t.Holders {
		e.Bytes([]byte(h.Name))
		e.U8(uint8(len(h.Recipients)))
		for _, r := range h.Recipients {
			e.Bytes([]byte(r))
		}
		e.Fixed(h.Share[:])
	}
	e.Fixed(t.Dealing[:])
	return e.Data()
}

// Hash returns what an attestation is about.
func (t *Transcript) Hash() [32]byte {
	return sha256.Sum256(append([]byte("undersign/deal-transcript/v1"), t.body()...))
}

func (t *Transcript) signed() []byte {
	h, a := t.Hash(), sha256.Sum256(t.Attestation)
	return slices.Concat([]byte("undersign/deal-signature/v1"), h[:], a[:])
}

// MarshalBinary returns the canonical encoding.
func (t *Transcript) MarshalBinary() ([]byte, error) {
	if len(t.Dealer) != ed25519.PublicKeySize || len(t.Signature) != ed25519.SignatureSize {
		return nil, errors.New("threshold: transcript without a signature")
	}
	var e wire.Encoder
	e.Bytes(t.body())
	e.Bytes(t.Attestation)
	e.Fixed(t.Signature)
	return e.Data(), nil
}

// UnmarshalBinary decodes a transcript. Verify checks it.
func (t *Transcript) UnmarshalBinary(data []byte) error {
	outer := wire.NewDecoder(data)
	body := outer.Bytes("body", maxShareFile)
	var x Transcript
	x.Attestation = outer.Bytes("attestation", maxAttestation)
	x.Signature = outer.Fixed("signature", ed25519.SignatureSize)
	if err := outer.Finish(); err != nil {
		return fmt.Errorf("threshold: transcript: %w", err)
	}
	d := wire.NewDecoder(body)
	if v := d.U8("version"); d.Err() == nil && v != 1 {
		d.Fail("version", "%d isn't known", v)
	}
	x.Dealer = d.Fixed("dealer", ed25519.PublicKeySize)
	x.Party = string(d.Bytes("party", 128))
	ms := d.U64("time")
	if ms > 1<<53 {
		d.Fail("time", "out of range")
	}
	x.Time = time.UnixMilli(int64(ms))
	x.Bits = int(d.U16("bits"))
	x.Threshold = int(d.U8("threshold"))
	for range d.U8("holders") {
		h := TranscriptHolder{Name: string(d.Bytes("name", 64))}
		n := d.U8("recipients")
		if n > maxRecipients {
			d.Fail("recipients", "more than %d", maxRecipients)
		}
		for range n {
			if d.Err() != nil {
				break
			}
			h.Recipients = append(h.Recipients, string(d.Bytes("recipient", maxRecipient)))
		}
		d.Read("share", h.Share[:])
		if d.Err() != nil {
			break
		}
		x.Holders = append(x.Holders, h)
	}
	d.Read("dealing", x.Dealing[:])
	if err := d.Finish(); err != nil {
		return fmt.Errorf("threshold: transcript: %w", err)
	}
	*t = x
	return nil
}

// Verify checks that the dealer with a fingerprint made the transcript, and that it is of
// this dealing. It can't check the attestation: what it is depends on the machine.
func (t *Transcript) Verify(dealer string, dealing *thresholdrsa.Dealing) error {
	if got := keyfile.Fingerprint(&keyfile.Party{Key: t.Dealer}); got != dealer {
		return fmt.Errorf("threshold: the transcript is of the dealer %s, and not %s", got, dealer)
	}
	if !ed25519.Verify(t.Dealer, t.signed(), t.Signature) {
		return errors.New("threshold: the transcript's signature is wrong")
	}
	data, err := dealing.MarshalBinary()
	if err != nil {
		return err
	}
	p := dealing.PublicKey()
	if sha256.Sum256(data) != t.Dealing || p.Threshold() != t.Threshold || p.RSA().N.BitLen() != t.Bits ||
		!slices.EqualFunc(p.Holders(), t.Holders, func(a thresholdrsa.Holder, b TranscriptHolder) bool { return a.Name == b.Name }) {
		return errors.New("threshold: the transcript is of another dealing")
	}
	return nil
}

// VerifyShare checks that a share file is the one that was made for holder i, from 1.
func (t *Transcript) VerifyShare(i int, file []byte) error {
	if i < 1 || i > len(t.Holders) || sha256.Sum256(file) != t.Holders[i-1].Share {
		return fmt.Errorf("threshold: the share file isn't the one of holder %d", i)
	}
	return nil
}

// transcriptType is the label of the PEM form.
const transcriptType = "UNDERSIGN DEAL TRANSCRIPT"

// EncodeTranscript returns a transcript as PEM.
func EncodeTranscript(t *Transcript) ([]byte, error) {
	data, err := t.MarshalBinary()
	if err != nil {
		return nil, err
	}
	return pem.EncodeToMemory(&pem.Block{Type: transcriptType, Bytes: data}), nil
}

// ParseTranscript reads what EncodeTranscript wrote.
func ParseTranscript(data []byte) (*Transcript, error) {
	block, rest := pem.Decode(data)
	if block == nil || block.Type != transcriptType || len(block.Headers) > 0 || len(bytes.TrimSpace(rest)) > 0 {
		return nil, errors.New("threshold: not a transcript of a dealer")
	}
	t := new(Transcript)
	return t, t.UnmarshalBinary(block.Bytes)
}
