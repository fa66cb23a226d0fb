// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package distill

// The rules of directories and validators, from directoryRules on, and what they say.
var directoryRuleTexts = map[Rule]string{}
