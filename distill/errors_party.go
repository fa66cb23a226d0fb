// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package distill

// What a client refuses a proposal for, beside the rules of batches and proofs.
const (
	RuleChannel         Rule = iota + partyRules // came from another aggregator than it names
	RuleClientKeys                               // names a version at which the client had other keys
	RuleProposalExpired                          // its last height is past
	RuleProposalLate                             // its last height is after that of the leaf
	RuleNotInFlight                              // no message with this nonce waits for a batch
	RuleRoots                                    // enough roots signed for this message and aggregator
	RuleEquivocation                             // another proposal of the same number was seen
)

// What a client refuses a submission, a receipt or an answer for.
const (
	RuleNoHead     Rule = iota + partyRules + 16 // no certified head seen yet
	RuleWindow                                   // as many messages in flight as may be
	RuleNonces                                   // no nonces left
	RuleRecovering                               // restored from a backup, and not settled yet
	RuleLifetime                                 // to expire too soon or too late
	RuleReceipt                                  // about another message
	RuleChallenge                                // an answer to another question
	RuleLook                                     // an answer that contradicts itself or the message
	RuleUnsettled                                // not settled, so not to be forgotten
)

// What an aggregator refuses a submission for, beside RuleInactive and RulePayloadSize.
const (
	RuleRate                Rule = iota + partyRules + 32 // too many from this client
	RuleFull                                              // as many messages as there is room for
	RuleDraining                                          // the aggregator takes no more
	RuleOldNonce                                          // too far behind the last executed one
	RuleExecuted                                          // its nonce was executed
	RuleTooLate                                           // expires before a batch could be executed
	RuleConflict                                          // another message has this nonce
	RuleSubmissionSignature                               // its signature isn't valid, or of another mode
)

// What an aggregator refuses a reduction, or a validator's receipt, for.
const (
	RuleNoBatch            Rule = iota + partyRules + 48 // no batch of this number waits for it
	RuleNotMember                                        // the client isn't in the batch, or needn't sign
	RuleReduced                                          // the client's signature is there already
	RuleReductionDigest                                  // signs something else
	RuleReductionEncoding                                // not the encoding of a point of the curve
	RuleReductionSignature                               // not a valid signature
	RuleResults                                          // not the results of this batch
)

// The rules of clients and aggregators, from partyRules on, and what they say.
var partyRuleTexts = map[Rule]string{
	RuleChannel:         "proposal of another aggregator",
	RuleClientKeys:      "other keys at this version of the directory",
	RuleProposalExpired: "proposal has expired",
	RuleProposalLate:    "proposal outlives the message",
	RuleNotInFlight:     "no message with this nonce in flight",
	RuleRoots:           "too many roots for one message",
	RuleEquivocation:    "two proposals with one number",

	RuleNoHead:     "no certified head known",
	RuleWindow:     "too many messages in flight",
	RuleNonces:     "no nonces left",
	RuleRecovering: "restored from a backup and not settled yet",
	RuleLifetime:   "message would expire too soon or too late",
	RuleReceipt:    "receipt for another message",
	RuleChallenge:  "answer to another question",
	RuleLook:       "answer that can't be",
	RuleUnsettled:  "message isn't settled",

	RuleRate:                "too many messages of this client",
	RuleFull:                "too many messages waiting",
	RuleDraining:            "no more messages taken",
	RuleOldNonce:            "nonce too far behind",
	RuleExecuted:            "nonce was executed",
	RuleTooLate:             "message expires too soon",
	RuleConflict:            "another message has this nonce",
	RuleSubmissionSignature: "invalid signature of a submission",

	RuleNoBatch:            "no batch of this number is open",
	RuleNotMember:          "client isn't to sign this batch",
	RuleReduced:            "client has signed this batch already",
	RuleReductionDigest:    "signature of another batch",
	RuleReductionEncoding:  "signature isn't a point of the curve",
	RuleReductionSignature: "invalid signature of a batch",
	RuleResults:            "results of another batch",
}
