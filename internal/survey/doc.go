// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

// Package survey counts and measures what schemes of group signatures cost, and puts
// beside it what a survey published: Dobias, Malina, Ilgner and Dzurenda, On Efficiency and
// Usability of Group Signatures on Smartphone and Single-board Platforms (ARES 2023).
//
// Operations are counted while they are done, by [opcount], and elements of signatures and
// keys while they are decoded: nothing of that is a constant. A scheme that joins
// [groupsig.Schemes] is here by itself; the survey's figures are in one table.
package survey
