// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package distill

// The rules of batches of keys, from keyedRules on, and what they say.
var keyedRuleTexts = map[Rule]string{}
