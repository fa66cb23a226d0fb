// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

// Package chia maps what Chia's blocks sign to distilled aggregates, and measures what
// that saves, after the experiment of the report "SIGINT on Chia" (EPFL, 2023).
//
// The conditions of a block's spends ask for signatures of pairs of a key and a message.
// Today a block carries the sum of all those signatures, of scheme [bls.Augmented], and
// whoever verifies it computes a pairing for every key: see [Block.Verify]. A distilled
// block has a tree with a leaf for every key, over the messages of that key, and the
// keys sign its root. Keys that don't answer are in it by their old signatures.
//
// Chia's keys are used once, so that nobody has proved to own them: they are weighted
// ([bls.Scheme.BDNSum]), in a [distill.KeyedBatch]. Chia would need a fork to take such
// blocks.
package chia
