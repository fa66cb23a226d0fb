// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

// Package distillsim runs the protocol of package distill against everything that may go
// wrong: its own clients, aggregators, validators and directories, on a network that
// loses, repeats, delays and reorders messages and falls apart, with crashes at every
// write, backups that are restored, keys that change, and parties that cheat. Signatures
// are real.
//
// All of it follows from a seed, in virtual time: a [Runner] does the same again for the
// same seed. What must hold is checked as it goes on, and at the end when the faults have
// stopped: that what is executed was chosen by its owner, durably and exactly so, and once;
// that all validators have one log; that every message gets one outcome, which is true; and
// that there is evidence against whoever cheats provably, and against nobody else.
//
// A simulator that finds nothing may be blind. So there are parties that are wrong in
// a way that the protocol forbids, see [Wrong], and each must be found out.
//
// The compact mode of Chop Chop (Camaioni and others, OSDI 2024), in which the clients of
// a batch share one sequence number, is only here, for comparison: as a small model on the
// same network, whose signatures are symbols.
package distillsim
