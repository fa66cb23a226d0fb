// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package keyfile

import (
	"errors"

	"github.com/undersign/undersign/internal/wire"
)

// Limits of a group's files.
const (
	maxScheme    = 32
	maxGroupPart = 1 << 24
)

// A GroupFile is what all files of group signatures hold: the scheme, the group's ID,
// a number and encodings of the scheme's package, whose meaning depends on the type of
// the file. That package checks them; here they are bytes.
type GroupFile struct {
	Scheme string
	Group  [32]byte
	Number uint64
	Parts  [][]byte
}

// MarshalBinary returns the canonical encoding.
func (g *GroupFile) MarshalBinary() ([]byte, error) {
	if len(g.Parts) > 255 || len(g.Scheme) > maxScheme {
		return nil, errors.New("keyfile: malformed file of a group")
	}
	n := 64 + len(g.Scheme)
	for _, p := range g.Parts {
		n += 4 + len(p)
	}
	var e wire.Encoder
	e.Grow(n)
	e.U8(1) // version
	e.U8(1) // suite
	e.Bytes([]byte(g.Scheme))
	e.Fixed(g.Group[:])
	e.U64(g.Number)
	e.U8(uint8(len(g.Parts)))
	for _, p := range g.Parts {
		e.Bytes(p)
	}
	return e.Data(), nil
}

// UnmarshalBinary decodes a file. It checks the form only.
func (g *GroupFile) UnmarshalBinary(data []byte) error {
	d := wire.NewDecoder(data)
	d.Header(1, 1)
	f := GroupFile{Scheme: string(d.Bytes("scheme", maxScheme))}
	d.Read("group", f.Group[:])
	f.Number = d.U64("number")
	for range d.U8("parts") {
		f.Parts = append(f.Parts, append([]byte{}, d.Bytes("part", maxGroupPart)...))
	}
	for i := range len(f.Scheme) {
		if c := f.Scheme[i]; (c < 'a' || c > 'z') && (c < '0' || c > '9') {
			d.Fail("scheme", "not a name")
		}
	}
	if err := d.Finish(); err != nil {
		f.Wipe()
		return err
	}
	*g = f
	return nil
}

// Wipe overwrites the parts.
func (g *GroupFile) Wipe() {
	for _, p := range g.Parts {
		clear(p)
	}
}

// The files of group signatures. The comments say what their parts are. Until there
// is a group key, those of its roles hold the role's key alone.
type (
	GroupKey          struct{ GroupFile } // the group key
	GroupIssuer       struct{ GroupFile } // group key, issuer key, sessions, register, last announcement, last revocation list; the number is the epoch
	GroupOpener       struct{ GroupFile } // group key, opener key, register, last revocation list
	GroupConverter    struct{ GroupFile } // group key, converter key
	GroupLinker       struct{ GroupFile } // group key, linker key
	GroupMember       struct{ GroupFile } // group key, member key
	GroupPending      struct{ GroupFile } // group key, what the member keeps until it has the credential
	GroupChallenge    struct{ GroupFile } // the issuer's challenge
	GroupApplication  struct{ GroupFile } // the member's name and answer
	GroupCredential   struct{ GroupFile } // the credential; the number is the epoch
	GroupRecord       struct{ GroupFile } // the registration, for the opener
	GroupSignature    struct{ GroupFile } // scope, context, signature
	GroupOpening      struct{ GroupFile } // the opening
	GroupRevelation   struct{ GroupFile } // what traces one member
	GroupRevocation   struct{ GroupFile } // the list of revoked members; the number is its own
	GroupBlinding     struct{ GroupFile } // group key, blinding key
	GroupQuery        struct{ GroupFile } // the blinding key's public key, blinded pseudonyms
	GroupAnswer       struct{ GroupFile } // converted pseudonyms
	GroupLink         struct{ GroupFile } // the proof that signatures are of one member
	GroupClaim        struct{ GroupFile } // the proof that a member made a signature
	GroupAnnouncement struct{ GroupFile } // the announcement of epochs; the number is its own
	GroupDraft        struct{ GroupFile } // a group to be; the number says who has enrolled and agreed
)

// File returns what all files of groups hold.
func (g *GroupFile) File() *GroupFile { return g }
