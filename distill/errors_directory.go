// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package distill

// What a change of the directory is refused for, in the order of the checks.
const (
	RuleDirectoryEntry    Rule = iota + directoryRules // not the encoding of an entry
	RuleUnknownID                                      // not registered, or revoked
	RuleStaleChange                                    // signed before the id's last change, or for a version to come
	RuleKeyEncoding                                    // the BLS key isn't encoded as one
	RuleKeyCurve                                       // it isn't on the curve
	RuleKeySubgroup                                    // it isn't in the group
	RuleKeyIdentity                                    // it is the identity
	RuleKeyRegistered                                  // it is, or was, somebody's
	RuleKeyOpposite                                    // its opposite is, or was, somebody's
	RuleProofOfPossession                              // the proof of possession isn't valid
	RuleKeySignature                                   // not signed by the new BLS key
	RuleEdKeyEncoding                                  // the Ed25519 key isn't in its one encoding
	RuleEdKeyOrder                                     // it is of small order: anybody can sign for it
	RuleEdSignature                                    // not signed by the new Ed25519 key
	RuleOldEdSignature                                 // not signed by the id's Ed25519 key
	RuleRegistrationLate                               // over its last height
	RuleRegistrationAhead                              // its last height is too far ahead
)

// What a certificate, or a validator's signature, is refused for.
const (
	RuleValidator   Rule = iota + directoryRules + 20 // no such validator
	RuleBitmap                                        // not the one encoding of a set of validators
	RuleQuorum                                        // too few validators
	RuleCertificate                                   // the signature isn't valid
)

// What an entry has no effect for at its place in the log, without blame.
const (
	RuleHeight         Rule = iota + directoryRules + 28 // not the next height
	RuleSuspended                                        // the aggregator is suspended
	RuleSeqOld                                           // the batch's number is behind the window
	RuleSeqSeen                                          // the number was used
	RuleExpired                                          // the batch may not be executed any more
	RuleValidUntil                                       // the batch would be valid for too long
	RuleDirectoryOld                                     // it names a version too far behind
	RuleDirectoryNew                                     // it names a version to come
	RuleEntryKind                                        // neither a batch nor a change of the directory
	RuleNoChange                                         // no change of the directory was accepted
	RuleWitnessed                                        // another batch of that number was witnessed
	RuleWitnessEmbargo                                   // restored too short a time ago to witness
)

// What evidence is refused for.
const (
	RuleEvidence         Rule = iota + directoryRules + 44 // not the encoding of evidence
	RuleEvidenceSame                                       // its statements can both be an honest party's
	RuleEvidenceUnsigned                                   // a signature in it isn't valid
	RuleEvidenceInnocent                                   // the batch in it has no fault
)

// The rules of directories and validators, from directoryRules on, and what they say.
var directoryRuleTexts = map[Rule]string{
	RuleDirectoryEntry:    "not an entry of a directory",
	RuleUnknownID:         "id not registered or revoked",
	RuleStaleChange:       "change signed for another version of the directory",
	RuleKeyEncoding:       "BLS key not in canonical encoding",
	RuleKeyCurve:          "BLS key isn't on the curve",
	RuleKeySubgroup:       "BLS key isn't in the group",
	RuleKeyIdentity:       "BLS key is the identity",
	RuleKeyRegistered:     "BLS key was registered before",
	RuleKeyOpposite:       "opposite of the BLS key was registered before",
	RuleProofOfPossession: "invalid proof of possession",
	RuleKeySignature:      "invalid signature by the BLS key",
	RuleEdKeyEncoding:     "Ed25519 key not in canonical encoding",
	RuleEdKeyOrder:        "Ed25519 key of small order",
	RuleEdSignature:       "invalid signature by the Ed25519 key",
	RuleOldEdSignature:    "invalid signature by the id's Ed25519 key",
	RuleRegistrationLate:  "registration came too late",
	RuleRegistrationAhead: "registration valid for too long",
	RuleValidator:         "unknown validator",
	RuleBitmap:            "set of validators not in canonical encoding",
	RuleQuorum:            "too few validators",
	RuleCertificate:       "invalid signature of validators",
	RuleHeight:            "not the next height",
	RuleSuspended:         "aggregator is suspended",
	RuleSeqOld:            "number of the batch too far behind",
	RuleSeqSeen:           "number of the batch used before",
	RuleExpired:           "batch came too late",
	RuleValidUntil:        "batch valid for too long",
	RuleDirectoryOld:      "version of the directory too old",
	RuleDirectoryNew:      "version of the directory doesn't exist yet",
	RuleEntryKind:         "unknown kind of entry",
	RuleNoChange:          "no change of the directory was accepted",
	RuleWitnessed:         "another batch of that number was witnessed",
	RuleWitnessEmbargo:    "restored too short a time ago to witness",
	RuleEvidence:          "not the encoding of evidence",
	RuleEvidenceSame:      "statements don't contradict each other",
	RuleEvidenceUnsigned:  "invalid signature in evidence",
	RuleEvidenceInnocent:  "batch without a fault",
}
