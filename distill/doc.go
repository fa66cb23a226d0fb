// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

// Package distill is the protocol of distilled aggregates, after Chop Chop (Camaioni
// and others, OSDI 2024): thousands of clients send different messages, and one
// signature of 96 bytes authenticates them all.
//
// An aggregator that nobody has to trust collects messages, builds a Merkle tree of
// them, and shows each client that its own message is in it. The clients sign the root,
// all the same 32 bytes, so that their BLS signatures add up to one which costs one
// verification, whatever their number. Who doesn't answer in time is a straggler, and is
// in the batch by a signature of its own; see [Mode]. Validators verify batches, put
// them in order, execute each message once at most, and sign receipts.
//
// # No input or output
//
// The package has no network, no files and no clock. Time is a parameter, in
// milliseconds, and heights are ticks of the validators' sequencer. What must be durable
// before a message may leave goes through small interfaces.
//
// # What a batch proves
//
// That the owner of each leaf's key chose exactly its id, nonce, expiry and payload, if
// the keys in the directory are those of their owners. The aggregator can delay and
// leave out, not alter, forge or duplicate. What rests on f+1 validators instead is
// what has been executed: heights, receipts, and the answer that something hasn't been.
package distill
