// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package distill

import (
	"errors"
	"fmt"
)

// ErrRejected is what every [RejectError] unwraps to.
var ErrRejected = errors.New("distill: rejected")

// A RejectError says why something was refused: which rule it breaks, and where.
type RejectError struct {
	Rule  Rule
	Index int   // of the leaf, or other element, that breaks the rule, or -1
	Err   error // what a lower layer found, or nil
}

func (e *RejectError) Error() string {
	s := "distill: " + e.Rule.String()
	if e.Index >= 0 {
		s += fmt.Sprintf(" (at %d)", e.Index)
	}
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	return s
}

// Unwrap returns [ErrRejected].
func (e *RejectError) Unwrap() error { return ErrRejected }

// reject returns the error for a broken rule, without a place.
func reject(r Rule) error { return &RejectError{Rule: r, Index: -1} }

// rejectAt returns the error for a rule that the element i breaks.
func rejectAt(r Rule, i int) error { return &RejectError{Rule: r, Index: i} }

// RuleOf returns the rule that err is about, or 0 if err isn't a [RejectError].
func RuleOf(err error) Rule {
	if e, ok := errors.AsType[*RejectError](err); ok {
		return e.Rule
	}
	return 0
}

// A Rule is a reason to refuse something.
type Rule uint8

// What a batch is refused for, in the order of the checks. Those from RuleTruncated on
// come after the aggregator's signature was verified: the aggregator answers for them.
const (
	RuleBatchSize           Rule = iota + 1 // more bytes than allowed
	RuleHeader                              // too short, or of another version
	RuleNetwork                             // of another network
	RuleAggregator                          // no such aggregator
	RuleAggregatorSignature                 // not signed by the aggregator
	RuleVersion                             // verified at another version of the directory
	RuleTruncated                           // ends early
	RuleTrailing                            // bytes left over
	RuleVarint                              // an integer not in its shortest form, or over 64 bits
	RuleMode                                // unknown or not allowed
	RuleEmpty                               // no leaves
	RuleLeaves                              // too many leaves
	RuleOrder                               // ids don't ascend strictly
	RuleNotAfter                            // expires before the batch does, or too late
	RulePayloadSize                         // a payload is too long
	RuleAbsentHash                          // an absent leaf without a hash of 32 bytes
	RulePositions                           // stragglers not in the one encoding
	RuleStragglers                          // too many stragglers
	RuleColumns                             // columns of different lengths
	RuleInactive                            // an id isn't registered, or was revoked
	RuleStragglerSignature                  // a straggler's signature isn't valid
	RuleKeySum                              // the keys of the reducers add up to the identity
	RuleAggregateEncoding                   // the aggregate isn't the encoding of a point of the group
	RuleAggregateIdentity                   // the aggregate is the identity
	RuleAggregate                           // the aggregate doesn't verify
)

// What a proof of a leaf is refused for.
const (
	RuleProofIndex Rule = iota + 48 // no such leaf
	RuleProofDepth                  // not as many siblings as the tree is deep
	RuleProofRoot                   // leads to another root
)

// What a genesis or a statement is refused for.
const (
	RuleGenesis   Rule = iota + 56 // not a valid configuration
	RuleStatement                  // not the statement it is given for
)

// Other rules have numbers of their own, in the files of those who check them:
// directories and validators from directoryRules, clients and aggregators from
// partyRules, batches of keys from keyedRules.
const (
	directoryRules Rule = 64
	partyRules     Rule = 128
	keyedRules     Rule = 192
)

// Signed reports whether r is broken by a batch that its aggregator has signed, which
// is thereby evidence against it. That it was verified at another version than it names
// is not.
func (r Rule) Signed() bool { return r >= RuleTruncated && r <= RuleAggregate && r != RuleVersion }

// String returns what is wrong.
func (r Rule) String() string {
	texts := batchRuleTexts
	switch {
	case r >= keyedRules:
		texts = keyedRuleTexts
	case r >= partyRules:
		texts = partyRuleTexts
	case r >= directoryRules:
		texts = directoryRuleTexts
	}
	if s := texts[r]; s != "" {
		return s
	}
	return fmt.Sprintf("rule %d", uint8(r))
}

var batchRuleTexts = map[Rule]string{
	RuleBatchSize:           "batch too long",
	RuleHeader:              "batch too short or of another version",
	RuleNetwork:             "of another network",
	RuleAggregator:          "unknown aggregator",
	RuleAggregatorSignature: "invalid signature of the aggregator",
	RuleTruncated:           "batch ends early",
	RuleTrailing:            "bytes left over",
	RuleVarint:              "integer not in its shortest form or too large",
	RuleMode:                "mode unknown or not allowed",
	RuleEmpty:               "no leaves",
	RuleLeaves:              "too many leaves",
	RuleOrder:               "ids don't ascend strictly",
	RuleNotAfter:            "leaf expires before the batch or too late",
	RulePayloadSize:         "payload too long",
	RuleAbsentHash:          "absent leaf without a hash of 32 bytes",
	RulePositions:           "positions of stragglers not in canonical form",
	RuleStragglers:          "too many stragglers",
	RuleColumns:             "columns of different lengths",
	RuleVersion:             "another version of the directory",
	RuleInactive:            "id not registered or revoked",
	RuleStragglerSignature:  "invalid signature of a straggler",
	RuleKeySum:              "keys add up to the identity",
	RuleAggregateEncoding:   "aggregate isn't the encoding of a point of the group",
	RuleAggregateIdentity:   "aggregate is the identity",
	RuleAggregate:           "invalid aggregate signature",
	RuleProofIndex:          "proof of a leaf outside the tree",
	RuleProofDepth:          "proof of another depth than the tree's",
	RuleProofRoot:           "proof leads to another root",
	RuleGenesis:             "invalid genesis",
	RuleStatement:           "not a statement of this kind",
}
