// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"errors"

	"github.com/undersign/undersign/keyfile"
)

// wantedHints say which file is meant where another was given, by what is wanted.
var wantedHints = map[string]string{
	"THRESHOLD RSA PUBLIC KEY": "give the threshold public key, such as threshold.pub",
	"THRESHOLD RSA DEALING":    "give the dealing, ceremony.txt, that was written with the key",
	"THRESHOLD RSA SHARE":      "give the holder's share, such as NAME.share",
	"SIGNING REQUEST":          "give the request, FILE.req, that \"undersign threshold request\" has written",
	"SIGNATURE SHARE":          "give the signature share that \"undersign threshold sign\" has written",
	"RECEIVER":                 "give the card that \"undersign threshold refresh card\" or \"reshare card\" has written",
	"RECEIVER KEY":             "give the key that was written beside the card",
	"CEREMONY PROPOSAL":        "give the proposal, such as proposal.txt",
	"CEREMONY CONTRIBUTION":    "give a contribution, such as proposal.NAME.contribution",
	"CEREMONY REFUSAL":         "give a refusal, such as proposal.NAME.refusal",
	"CEREMONY ACKNOWLEDGEMENT": "give an acknowledgement, such as proposal.NAME.ack",
	"CEREMONY CERTIFICATE":     "give the certificate that \"commit\" has written, such as certificate.txt",
	"BLS PROOF":                "give the proof that \"undersign aggregate prove\" has written",
	"BLS SECRET KEY":           "give the secret key that \"undersign aggregate keygen\" has written",

	"GROUP KEY":             "give the group key, such as group.pub",
	"GROUP DRAFT":           "give the draft that \"undersign group draft\" has written",
	"GROUP ISSUER":          "give the issuer's file, such as issuer.age",
	"GROUP OPENER":          "give the opener's file, such as opener.age",
	"GROUP CONVERTER":       "give the converter's file, such as converter.age",
	"GROUP LINKER":          "give the linker's file, such as linker.age",
	"GROUP MEMBER":          "give the member's file, NAME.member, that \"undersign group join --pending\" has written",
	"GROUP PENDING MEMBER":  "give the file NAME.pending that \"undersign group join\" has written",
	"GROUP CHALLENGE":       "give the file NAME.challenge that \"undersign group invite\" has written",
	"GROUP APPLICATION":     "give the file NAME.application that \"undersign group join\" has written",
	"GROUP CREDENTIAL":      "give the file NAME.credential that \"undersign group issue\" or \"revoke\" has written",
	"GROUP RECORD":          "give the file NAME.record that \"undersign group issue\" has written",
	"GROUP SIGNATURE":       "give the file that \"undersign group sign\" has written",
	"GROUP OPENING":         "give the file that \"undersign group open\" has written",
	"GROUP REVELATION":      "give the file that \"undersign group reveal\" has written",
	"GROUP LINK":            "give the file that \"undersign group link\" has written",
	"GROUP CLAIM":           "give the file that \"undersign group claim\" has written",
	"GROUP ANNOUNCEMENT":    "give the announcement that \"undersign group announce\" or \"revoke\" has written",
	"GROUP REVOCATION LIST": "give the list that \"undersign group revoke\" has written",
	"GROUP BLINDING KEY":    "give the key that was written beside the query",
	"GROUP QUERY":           "give the query that \"undersign group convert --group\" has written",
	"RING":                  "give the ring that \"undersign ring make\" has written",
	"RING PUBLIC KEY":       "give the public key, such as alice.key.pub, that \"undersign ring keygen\" has written",
	"RING PRIVATE KEY":      "give the private key that \"undersign ring keygen\" has written",
	"RING SIGNATURE":        "give the file that \"undersign ring sign\" has written",
	"GROUP ANSWER":          "give the answer that \"undersign group convert --converter\" has written",
}

// wantedHint adds to the error of a file that isn't one of v's type which one is meant,
// if that is known and nothing better was said.
func wantedHint(v keyfile.Object, err error) error {
	hint := wantedHints[keyfile.Type(v)]
	if hint == "" {
		return err
	}
	_, wrongType := errors.AsType[*keyfile.TypeError](err)
	_, malformed := errors.AsType[*keyfile.SyntaxError](err)
	switch plain := errors.Is(err, keyfile.ErrNotEncrypted); {
	case plain, (wrongType || malformed) && hintOf(err) == "":
		return withHint(err, "%s", hint)
	}
	return err
}
