// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

// Package state is what a group tells its verifiers from time to time: who is
// revoked, and which epochs are accepted.
//
// A state is signed by the role that may say so. It belongs to one group, has a
// number that is higher than those of all states before it, and holds from one second
// to another in the verifier's clock. A verifier refuses a state that isn't in force,
// or is older than one that it has seen: with [State.Fresh], which takes the highest
// number seen, or with [State.Replaces], which takes the state itself and sees also
// that a signer gave one number twice.
package state
