// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package groupsig

import (
	"fmt"
	"strings"
)

// A Scheme is one of those in [Schemes]. There are no others.
type Scheme interface {
	// Name is the name of the scheme's package.
	Name() string
	// Summary says in a line what the scheme is for.
	Summary() string
	// Required are the features that all groups of the scheme have.
	Required() Features
	// Optional are those that a group may have.
	Optional() Features

	// NewDraft starts a group. Required features may be left out. Generators are
	// derived from the label, which should be unique.
	NewDraft(label string, f Features) (Draft, error)
	// ParseDraft decodes a draft, of which it checks the form only.
	ParseDraft(data []byte) (Draft, error)
	// ParseGroupKey decodes a group key, and checks that all roles have agreed to
	// it. The caller compares its ID with the published one.
	ParseGroupKey(data []byte) (GroupKey, error)

	GenerateIssuerKey() IssuerKey
	ParseIssuerKey(data []byte) (IssuerKey, error)

	// GenerateOpenerKey returns an opener's key for groups with some features.
	// Without Escrow there is no opener.
	GenerateOpenerKey(f Features) (Opener, error)
	ParseOpenerKey(data []byte) (Opener, error)

	// GenerateConverterKey returns a converter's key. Without Convert there is none.
	GenerateConverterKey() (Converter, error)
	ParseConverterKey(data []byte) (Converter, error)

	sealed()
}

// A LinkingScheme is a [Scheme] whose groups have a linker.
type LinkingScheme interface {
	GenerateLinkerKey() LinkingAuthority
	ParseLinkerKey(data []byte) (LinkingAuthority, error)
}

// PS16 returns the scheme of package ps16.
func PS16() Scheme { return ps16Scheme }

// KLAP20 returns the scheme of package klap20.
func KLAP20() Scheme { return klap20Scheme }

// DL21 returns the scheme of package dl21.
func DL21() Scheme { return dl21Scheme }

// DL21SEQ returns the scheme of package dl21seq.
func DL21SEQ() Scheme { return dl21seqScheme }

// GL19 returns the scheme of package gl19.
func GL19() Scheme { return gl19Scheme }

// BBSGS returns the scheme of package bbsgs, which is the one for new groups.
func BBSGS() Scheme { return bbsgsScheme }

// DP06 returns the scheme of package dp06.
func DP06() Scheme { return dp06Scheme }

// HLCCN11 returns the scheme of package hlccn11.
func HLCCN11() Scheme { return hlccn11Scheme }

// BBS04 returns the scheme of package bbs04.
func BBS04() Scheme { return bbs04Scheme }

// CPY06 returns the scheme of package cpy06.
func CPY06() Scheme { return cpy06Scheme }

// DS18 returns the scheme of package ds18.
func DS18() Scheme { return ds18Scheme }

// Schemes returns all schemes.
func Schemes() []Scheme {
	return []Scheme{BBSGS(), DL21(), DL21SEQ(), GL19(), KLAP20(), PS16(), DS18(), DP06(), HLCCN11(), BBS04(), CPY06()}
}

// ByName returns the scheme of a name.
func ByName(name string) (Scheme, error) {
	var names []string
	for _, s := range Schemes() {
		if s.Name() == name {
			return s, nil
		}
		names = append(names, s.Name())
	}
	return nil, fmt.Errorf("groupsig: there is no scheme %q; there are %s", name, strings.Join(names, ", "))
}

// checkFeatures returns a group's features, the required ones included.
func checkFeatures(s Scheme, f Features) (Features, error) {
	if bad := f &^ (s.Required() | s.Optional()); bad != 0 {
		return 0, fmt.Errorf("groupsig: %s has no %s", s.Name(), bad)
	}
	f |= s.Required()
	if f.Has(Token) && !f.Has(Escrow) {
		return 0, fmt.Errorf("groupsig: tokens need an opener")
	}
	return f, nil
}
