// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package store

// thresholdSchema is the threshold service's part of the schema.
const thresholdSchema = `
CREATE TABLE threshold_share (
	request BLOB PRIMARY KEY,
	share BLOB NOT NULL,
	made INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX threshold_share_made ON threshold_share (made);

CREATE TABLE threshold_approval (
	id BLOB PRIMARY KEY,
	request BLOB NOT NULL,
	party TEXT NOT NULL,
	key TEXT NOT NULL,
	asked INTEGER NOT NULL,
	expires INTEGER NOT NULL,
	state INTEGER NOT NULL,
	reason TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX threshold_approval_party ON threshold_approval (party, state);

CREATE TABLE threshold_certificate (
	parent BLOB PRIMARY KEY,
	child BLOB NOT NULL UNIQUE,
	certificate BLOB NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE threshold_ceremony (
	id BLOB NOT NULL,
	part TEXT NOT NULL,
	value BLOB NOT NULL,
	PRIMARY KEY (id, part)
) STRICT, WITHOUT ROWID;

CREATE TABLE threshold_deal (
	id BLOB PRIMARY KEY,
	party TEXT NOT NULL,
	request BLOB NOT NULL,
	asked INTEGER NOT NULL,
	result BLOB NOT NULL
) STRICT, WITHOUT ROWID;
`
