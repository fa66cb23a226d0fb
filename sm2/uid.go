// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package sm2

import (
	"crypto/ecdsa"
	"errors"

	"github.com/emmansun/gmsm/sm2"
	"github.com/emmansun/gmsm/sm3"

	"github.com/undersign/undersign/internal/sm2ec"
)

// A UID is the signer's ID, which goes into the digest of a message together with the
// key: e = SM3(Z || M), Z = SM3(ENTL || ID || a || b || G || P) (GB/T
// 32918.2-2016, sections 5.5 and 6.1). Its zero value is the ID that the standards
// prescribe where none was agreed on, 1234567812345678.
//
// UIDs are comparable.
type UID struct {
	kind uidKind
	id   string
}

type uidKind uint8

const (
	uidDefault uidKind = iota
	uidCustom
	uidNone
)

const (
	defaultUID = "1234567812345678"
	// maxUID is the longest ID whose length in bits fits into ENTL.
	maxUID = 0x1fff
)

// NewUID returns the ID just as it is. An empty one is hashed as an ID of length zero, which is
// what OpenSSL does when it is given none. gmsm's functions take an empty ID for
// the default one: use [UIDOrDefault] for that rule. Items with an ID of more
// than 8191 bytes are bad.
func NewUID(id []byte) UID {
	if string(id) == defaultUID {
		return UID{}
	}
	return UID{uidCustom, string(id)}
}

// UIDOrDefault returns the ID by gmsm's rule, in which an empty one stands for the default.
func UIDOrDefault(id []byte) UID {
	if len(id) == 0 {
		return UID{}
	}
	return NewUID(id)
}

// NoUID returns the choice of those who leave out Z altogether: e = SM3(M). The
// standard doesn't know it, and the signature isn't bound to the key then. It is met
// in certificates.
func NoUID() UID { return UID{kind: uidNone} }

// bytes returns the ID.
func (u UID) bytes() string {
	if u.kind == uidDefault {
		return defaultUID
	}
	return u.id
}

// Digest returns the digest that a signature of msg by the holder of pub is a
// signature of.
func Digest(pub *ecdsa.PublicKey, uid UID, msg []byte) ([]byte, error) {
	xy, ok := keyBytes(pub)
	if !ok || !onCurve(&xy) {
		return nil, ErrKey
	}
	if len(uid.id) > maxUID {
		return nil, errors.New("sm2: ID too long")
	}
	h := sm3.New()
	if uid.kind != uidNone {
		z := zOf(&xy, uid)
		h.Write(z[:])
	}
	h.Write(msg)
	return h.Sum(nil), nil
}

// zOf returns Z for a key x || y and an ID that isn't too long.
func zOf(xy *[64]byte, uid UID) [32]byte {
	return sm3.Sum(append(zHead(uid), xy[:]...))
}

// zHead returns what Z is the hash of, but for the key.
func zHead(uid UID) []byte {
	id := uid.bytes()
	buf := make([]byte, 0, 256)
	buf = append(buf, byte(len(id)>>5), byte(len(id)<<3))
	buf = append(buf, id...)
	return append(buf, curveBytes[:]...)
}

// curveBytes is a || b || xG || yG.
var curveBytes = func() (out [128]byte) {
	c := sm2.P256().Params()
	a := c.P.Bytes() // a = p - 3, and p ends with 0xff
	a[31] -= 3
	copy(out[:], a)
	c.B.FillBytes(out[32:64])
	c.Gx.FillBytes(out[64:96])
	c.Gy.FillBytes(out[96:])
	return out
}()

// digestScalar returns e by gmsm's rule: the first 32 bytes of a digest, or a
// shorter one as an integer.
func digestScalar(digest []byte) (e sm2ec.Scalar) {
	var b [32]byte
	if len(digest) >= 32 {
		copy(b[:], digest)
	} else {
		copy(b[32-len(digest):], digest)
	}
	e.SetDigest(&b)
	return e
}
