// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

// Package audit keeps a node's record of what was done with its secrets: an append-only
// file of JSON lines, each with the hash of the one before, and signed checkpoints.
//
// A record is on disk before a secret is used, and another one after, so that a use
// without a record can't happen, and a crash in between shows as a record without an
// end. Lines have one form only: [Verify] writes each record again and compares.
//
// # What the chain proves
//
// That nothing before a checkpoint was changed, left out or put in since it was signed,
// by anybody without the node's key. It doesn't prove that the end of the file wasn't cut
// off: for that, keep the hash of a record elsewhere and give it to Verify. A node keeps
// one in its store, and says so if the record is gone.
package audit
