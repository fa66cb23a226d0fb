// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

// Package threshold is a node's service for shared RSA keys (package thresholdrsa).
//
// A signer holds shares. It computes what it signs from the request itself, obeys the
// node's policy, may wait for a person, and leaves an audit record before a share is used
// and one after. The same request gets the same signature share again.
//
// A coordinator collects signature shares from nodes until a quorum's are good, and
// combines them. It keeps nothing that matters: any node can be asked instead.
//
// A ceremony (refresh or reshare) is led by one node, and what each takes part in is the
// plan that it agreed to; see [Plan]. The old shares sign until the certificate is there.
//
// A dealer makes keys for others, and keeps none; see [Transcript].
package threshold
