// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package frame

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/binary"

	aggregatev1 "github.com/undersign/undersign/gen/undersign/aggregate/v1"

	"github.com/undersign/undersign/distill"
)

// A Session is what clients sign to speak in a session: with whom it is, on whose
// connection, and the aggregator's challenge, which is another one each time. So what
// was signed in one session is of no use in any other.
type Session struct {
	Net        distill.NetworkID
	Aggregator uint64
	Party      string // fingerprint of who made the connection
	Challenge  [32]byte
}

// sessionTag has the length of the tags of package distill, and is none of them.
var sessionTag = [16]byte{'d', 'i', 's', 't', '/', 's', 'e', 's', 's', '/', 'v', '1'}

// Bytes returns what the client with an id signs.
func (s *Session) Bytes(id uint64) []byte {
	b := make([]byte, 0, 128)
	b = append(b, sessionTag[:]...)
	b = append(b, s.Net[:]...)
	b = binary.BigEndian.AppendUint64(b, s.Aggregator)
	b = binary.BigEndian.AppendUint64(b, id)
	party := sha256.Sum256([]byte(s.Party))
	b = append(b, party[:]...)
	return append(b, s.Challenge[:]...)
}

// Sign appends the signature of the client with an id.
func (s *Session) Sign(f *aggregatev1.Auth, id uint64, key ed25519.PrivateKey) {
	f.Ids = append(f.Ids, id)
	f.Signatures = append(f.Signatures, ed25519.Sign(key, s.Bytes(id))...)
}

// Auths calls each with the signatures of a frame.
func Auths(f *aggregatev1.Auth, each func(id uint64, signature []byte)) error {
	n := len(f.GetIds())
	if n > MaxItems || len(f.GetSignatures()) != n*ed25519.SignatureSize {
		return errColumns
	}
	for i := range n {
		each(f.Ids[i], f.Signatures[i*ed25519.SignatureSize:(i+1)*ed25519.SignatureSize])
	}
	return nil
}
