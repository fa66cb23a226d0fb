// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package libgroupsig

import "fmt"

// A Scheme is one of libgroupsig's, by its code there.
type Scheme byte

// Codes of schemes. KTY04, CPY06 and GL19 are unsupported.
const (
	KTY04 Scheme = iota
	BBS04
	CPY06
	GL19
	PS16
	KLAP20
	DL21
	DL21SEQ
)

var schemes = [...]struct {
	name  string
	why   string   // it isn't supported
	flaws []string // of valid signatures
}{
	KTY04: {name: "kty04", why: "its verification takes all bases from the signature, so that everybody can sign"},
	BBS04: {name: "bbs04", flaws: []string{
		"the manager made the members' keys, and could sign as any of them",
		"the manager opens alone and proves nothing: whom it names need not have signed",
	}},
	CPY06: {name: "cpy06", why: "its signatures don't prove that the signer ever joined"},
	GL19:  {name: "gl19", why: "its pseudonyms are the signer's to choose, and credentials end after 14 days"},
	PS16: {name: "ps16", flaws: []string{
		"the manager, and whoever reads the list of members, finds out who signed",
		"an opening's proof doesn't say whom it names, but by the list of members",
	}},
	KLAP20: {name: "klap20", flaws: []string{
		"the message is hashed with SHA-1: who chose it could have made another that the signature fits as well",
		"an opening's proof doesn't say whom it names, but by the list of members",
	}},
	DL21: {name: "dl21", flaws: []string{
		"pseudonyms aren't bound to members: one could sign under several in one scope, and deny its own",
		"two members could link what they signed in one scope, as if one had",
	}},
	DL21SEQ: {name: "dl21seq", flaws: []string{
		"pseudonyms aren't bound to members: one could sign under several in one scope, and deny its own",
		"two members could link what they signed in one scope, as if one had",
		"the values of the sequence aren't signed, nor secret, and an export has lost them",
	}},
}

// Schemes returns those that are supported.
func Schemes() []Scheme { return []Scheme{BBS04, PS16, KLAP20, DL21, DL21SEQ} }

// String returns the name, as the package beside this one has it.
func (s Scheme) String() string {
	if int(s) >= len(schemes) {
		return fmt.Sprintf("scheme %d", byte(s))
	}
	return schemes[s].name
}

// Flaws say what a valid signature doesn't show, though one would expect it to.
func (s Scheme) Flaws() []string {
	if int(s) >= len(schemes) {
		return nil
	}
	return append([]string(nil), schemes[s].flaws...)
}

// HasScopes reports whether messages of the scheme have scopes, and signatures
// pseudonyms.
func (s Scheme) HasScopes() bool { return s == DL21 || s == DL21SEQ }

// HasOpenings reports whether the scheme has proofs of openings.
func (s Scheme) HasOpenings() bool { return s == PS16 || s == KLAP20 }

// supported returns the error of a scheme that can't be verified.
func (s Scheme) supported() error {
	switch {
	case int(s) >= len(schemes):
		return fmt.Errorf("libgroupsig: no scheme has the code %d", byte(s))
	case schemes[s].why != "":
		return fmt.Errorf("%w %s: %s", ErrUnsupported, s, schemes[s].why)
	}
	return nil
}
