// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package distill

// The rules of clients and aggregators, from partyRules on, and what they say.
var partyRuleTexts = map[Rule]string{}
