// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"github.com/undersign/undersign/groupsig"
	"github.com/undersign/undersign/keyfile"
)

// numberNames say what the number in a file of a group is, where it is something.
var numberNames = map[string]string{
	"GROUP ISSUER":          "epoch",
	"GROUP MEMBER":          "epoch",
	"GROUP CHALLENGE":       "epoch",
	"GROUP CREDENTIAL":      "epoch",
	"GROUP SIGNATURE":       "epoch",
	"GROUP REVOCATION LIST": "number",
	"GROUP ANNOUNCEMENT":    "number",
}

// addGroup adds what a file of a group says of itself. Nothing is checked.
func (in *inspection) addGroup(v groupFile) {
	f := v.File()
	in.add("scheme", f.Scheme)
	if f.Group != [32]byte{} {
		in.add("group", f.Group)
	}
	if name := numberNames[in.Type]; name != "" && f.Number > 0 {
		if s, err := groupsig.ByName(f.Scheme); err == nil && name == "epoch" && s.Required().Has(groupsig.Rekey) {
			name = "version"
		}
		in.add(name, f.Number)
	}
	if keyfile.IsSecret(v) {
		in.Fingerprint = "" // it would say whether a guess is right
		f.Wipe()
		return
	}
	s, err := groupsig.ByName(f.Scheme)
	if err != nil {
		return
	}
	switch p := f.Parts; v.(type) {
	case *keyfile.GroupKey:
		if gk, err := groupOf(f, 1); err == nil {
			in.add("label", gk.Label())
			in.add("features", gk.Features().String())
			in.addStatic(gk.Features())
			in.add("signature_bytes", gk.SignatureSize())
		}
	case *keyfile.GroupDraft:
		if len(p) != 1 {
			return
		}
		if draft, err := s.ParseDraft(p[0]); err == nil {
			d := &draftFile{file: &keyfile.GroupDraft{GroupFile: *f}, draft: draft}
			in.add("label", draft.Label())
			in.add("features", draft.Features().String())
			in.addStatic(draft.Features())
			in.add("to_enroll", notNil(d.missing(0)))
			in.add("to_agree", notNil(d.missing(agreedShift)))
		}
	case *keyfile.GroupChallenge:
		var ch groupsig.Challenge
		if len(p) == 1 && ch.UnmarshalBinary(p[0]) == nil {
			in.add("member", ch.Member)
			in.add("expires", utc(ch.Expiry))
		}
	case *keyfile.GroupSignature:
		if len(p) == 3 {
			if len(p[0]) > 0 {
				in.add("scope", string(p[0]))
			}
			if len(p[1]) > 0 {
				in.add("context", string(p[1]))
			}
			in.add("signature_bytes", len(p[2]))
		}
	}
}

func (in *inspection) addStatic(f groupsig.Features) {
	if w := staticWarning(f); w != "" {
		in.add("warning", w)
	}
}
