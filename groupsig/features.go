// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package groupsig

import (
	"fmt"
	"strings"
)

// Features are what a group can do. They can't change.
type Features uint16

const (
	// Scope: a signature shows a pseudonym, one for each member and scope.
	// See [Linker], [Claimer], [LinkVerifier] and [PseudonymRevoker].
	Scope Features = 1 << iota
	// Escrow: there is an opener. See [Opener] and [OpeningVerifier].
	Escrow
	// Sequence: a member can prove that none of its signatures is left out.
	// See [SequenceLinker] and [SequenceVerifier].
	Sequence
	// Epoch: credentials hold for one epoch. See [Reissuer], [Announcer], [Updater] and
	// [AnnouncementReader].
	Epoch
	// Token: the opener can revoke members at once. See [Revoker].
	Token
	// Convert: there is a converter. See [Converter] and [Blinder].
	Convert
	// Link: there is a linker, who sees which signatures are of one member. See
	// [LinkingScheme], [LinkingAuthority] and [LinkingVerifier].
	Link
	// Rekey: members are revoked by moving the group's key, and all others' keys with it.
	// The [IssuerKey] is the [Revoker]. See [Rekeyer] and [RevocationReader]. By a list anybody
	// can sign under the keys before it: verifiers need the newest, and no opening accuses
	// the issuer.
	Rekey
	// Static: the issuer makes the members' keys, and can sign in their names. See
	// [StaticIssuer]. Credentials, applications and the records of its register are secret;
	// what openers are given of them isn't, nor are openings. After a step that revokes a
	// member everybody can sign in its name under the keys before.
	Static
	// Trace: the opener can reveal what traces a member, and members can claim what they
	// signed. See [Revealer], [Tracer], [Linker], [Claimer] and [ClaimVerifier].
	Trace

	allFeatures = 1<<iota - 1
)

var featureNames = []string{"scope", "escrow", "sequence", "epoch", "token", "convert", "link", "rekey", "static", "trace"}

// Has reports whether f has all of g.
func (f Features) Has(g Features) bool { return f&g == g }

// String lists the features, separated by commas.
func (f Features) String() string {
	var names []string
	for i, name := range featureNames {
		if f.Has(1 << i) {
			names = append(names, name)
		}
	}
	if f &^= allFeatures; f != 0 {
		names = append(names, fmt.Sprintf("%#x", uint16(f)))
	}
	return strings.Join(names, ",")
}

// ParseFeatures is the inverse of String.
func ParseFeatures(s string) (Features, error) {
	var f Features
	if s == "" {
		return 0, nil
	}
next:
	for word := range strings.SplitSeq(s, ",") {
		for i, name := range featureNames {
			if word == name {
				f |= 1 << i
				continue next
			}
		}
		return 0, fmt.Errorf("groupsig: %q is no feature; there are %s", word, strings.Join(featureNames, ", "))
	}
	return f, nil
}

// As returns a key as one of the optional interfaces of this package, if it has the
// interface and its group the feature. A type assertion isn't enough: what a group
// lacks fails when it is called.
func As[T any](key interface{ Features() Features }) (T, bool) {
	k, ok := key.(T)
	if !ok || !provides[T](key.Features()) {
		var none T
		return none, false
	}
	return k, true
}

// provides reports whether features are enough for an optional interface.
func provides[T any](f Features) bool {
	var need Features
	switch any((*T)(nil)).(type) {
	case *RevocationReader:
		return f.Has(Token) || f.Has(Scope) || f.Has(Rekey)
	case *Linker, *Claimer, *ClaimVerifier:
		return f.Has(Scope) || f.Has(Trace)
	case *LinkVerifier:
		need = Scope
	case *Tracer:
		need = Trace
	case *SequenceLinker, *SequenceVerifier:
		need = Sequence
	case *OpeningVerifier:
		need = Escrow
	case *Updater, *AnnouncementReader:
		need = Epoch
	case *Blinder:
		need = Convert
	case *LinkingVerifier:
		need = Link
	case *Rekeyer:
		need = Rekey
	}
	return f.Has(need)
}
