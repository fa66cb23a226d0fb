// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package distill

// What batches of keys, and proposals of them, are refused for, beside the rules of all
// batches.
const (
	RuleKeyedOrder    Rule = iota + keyedRules // keys don't ascend
	RuleKeyedTwice                             // one key is there twice
	RuleKeyedKey                               // not the encoding of a point of the group
	RuleKeyedIdentity                          // a key is the identity
	RuleKeyedProven                            // a key has no proof of possession, where all must
	RuleKeyedPayload                           // a payload doesn't say what its key signs
	RuleKeyedVersion                           // proposed for a version of a directory
	RuleKeyedExpired                           // proposed for heights that have passed
	RuleKeyedSigners                           // a signature for a key that isn't in the batch, or a second one
	RuleKeyedFolded                            // the stragglers' own signatures aren't valid
)

// The rules of batches of keys, from keyedRules on, and what they say.
var keyedRuleTexts = map[Rule]string{
	RuleKeyedOrder:    "keys don't ascend",
	RuleKeyedTwice:    "one key twice",
	RuleKeyedKey:      "key isn't the encoding of a point of the group",
	RuleKeyedIdentity: "key is the identity",
	RuleKeyedProven:   "key without a proof of possession",
	RuleKeyedPayload:  "payload doesn't say what its key signs",
	RuleKeyedVersion:  "proposed for a version of a directory",
	RuleKeyedExpired:  "proposed for heights that have passed",
	RuleKeyedSigners:  "signature for a key that isn't in the batch or has signed",
	RuleKeyedFolded:   "invalid signature of stragglers",
}
