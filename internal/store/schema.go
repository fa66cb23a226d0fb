// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package store

import (
	"database/sql"
	"fmt"
)

// applicationID marks the file as undersign's: "usgn".
const applicationID = 0x7573676e

const (
	// logDigest is the digest of the batch, or the change, that a receipt is about.
	logDigest = "substr(rcpt, 89, 32)"

	// Of batches, whose kind is 1, what takes room and can be deleted.
	logHasData    = "kind = 1 AND length(data) > 0"
	logHasResults = "kind = 1 AND length(results) > 0"
)

// migrations are the steps from one schema to the next. One that was released isn't
// changed any more. Integers are two's complement: uint64 goes in and out as int64.
var migrations = []string{`
CREATE TABLE meta (name TEXT PRIMARY KEY, value BLOB NOT NULL) STRICT, WITHOUT ROWID;

CREATE TABLE party (
	fingerprint TEXT PRIMARY KEY,
	key BLOB NOT NULL,
	name TEXT NOT NULL,
	address TEXT NOT NULL,
	joined INTEGER NOT NULL,
	removed INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;

CREATE TABLE invitation (
	hash BLOB PRIMARY KEY,
	name TEXT NOT NULL,
	made INTEGER NOT NULL,
	expires INTEGER NOT NULL,
	used INTEGER NOT NULL DEFAULT 0,
	party TEXT NOT NULL DEFAULT ''
) STRICT, WITHOUT ROWID;

CREATE TABLE journal (
	space TEXT NOT NULL,
	key BLOB NOT NULL,
	value BLOB NOT NULL,
	PRIMARY KEY (space, key)
) STRICT, WITHOUT ROWID;

CREATE TABLE log (
	height INTEGER NOT NULL,
	position INTEGER NOT NULL,
	kind INTEGER NOT NULL,
	version INTEGER NOT NULL,
	rcpt BLOB NOT NULL,
	data BLOB NOT NULL,
	results BLOB NOT NULL,
	not_after BLOB NOT NULL,
	PRIMARY KEY (height, position)
) STRICT;
CREATE INDEX log_version ON log (version) WHERE version > 0;
CREATE INDEX log_digest ON log (` + logDigest + `);
CREATE INDEX log_data ON log (height) WHERE ` + logHasData + `;
CREATE INDEX log_results ON log (height) WHERE ` + logHasResults + `;

CREATE TABLE relay (
	position INTEGER PRIMARY KEY AUTOINCREMENT,
	id BLOB NOT NULL UNIQUE,
	data BLOB NOT NULL
) STRICT;

CREATE TABLE head (
	one INTEGER PRIMARY KEY CHECK (one = 1),
	height INTEGER NOT NULL,
	batches INTEGER NOT NULL,
	log_hash BLOB NOT NULL,
	dirver INTEGER NOT NULL
) STRICT;

CREATE TABLE directory (piece INTEGER PRIMARY KEY, rows BLOB NOT NULL) STRICT;

CREATE TABLE aggregator (
	id INTEGER PRIMARY KEY,
	published INTEGER NOT NULL,
	last_seq INTEGER NOT NULL,
	seqs BLOB NOT NULL,
	strikes INTEGER NOT NULL,
	until INTEGER NOT NULL
) STRICT;

CREATE TABLE client (id INTEGER PRIMARY KEY, last_nonce INTEGER NOT NULL, nonces INTEGER NOT NULL) STRICT;

CREATE TABLE execution (
	id INTEGER NOT NULL,
	nonce INTEGER NOT NULL,
	not_after INTEGER NOT NULL,
	height INTEGER NOT NULL,
	position INTEGER NOT NULL,
	leaf INTEGER NOT NULL,
	PRIMARY KEY (id, nonce)
) STRICT, WITHOUT ROWID;

CREATE TABLE witness (
	aggregator INTEGER NOT NULL,
	seq INTEGER NOT NULL,
	digest BLOB NOT NULL,
	batch BLOB NOT NULL,
	PRIMARY KEY (aggregator, seq)
) STRICT;
CREATE INDEX witness_digest ON witness (digest);
` + thresholdSchema}

// migrate brings the file to the latest schema, a step a transaction.
func migrate(db *sql.DB) error {
	var id, version int
	if err := db.QueryRow("PRAGMA application_id").Scan(&id); err != nil {
		return fmt.Errorf("store: %w", err)
	}
	if err := db.QueryRow("PRAGMA user_version").Scan(&version); err != nil {
		return fmt.Errorf("store: %w", err)
	}
	var tables int
	if err := db.QueryRow("SELECT count(*) FROM sqlite_schema").Scan(&tables); err != nil {
		return fmt.Errorf("store: %w", err)
	}
	switch {
	case id != applicationID && (id != 0 || version != 0 || tables != 0):
		return fmt.Errorf("store: the file is of another program")
	case version > len(migrations):
		return fmt.Errorf("store: the file has schema %d, and this version of undersign knows %d: use a newer one", version, len(migrations))
	}
	for ; version < len(migrations); version++ {
		tx, err := db.Begin()
		if err != nil {
			return fmt.Errorf("store: %w", err)
		}
		for _, q := range []string{
			migrations[version],
			fmt.Sprintf("PRAGMA application_id = %d", applicationID),
			fmt.Sprintf("PRAGMA user_version = %d", version+1),
		} {
			if _, err := tx.Exec(q); err != nil {
				tx.Rollback()
				return fmt.Errorf("store: schema %d: %w", version+1, err)
			}
		}
		if err := tx.Commit(); err != nil {
			return fmt.Errorf("store: schema %d: %w", version+1, err)
		}
	}
	return nil
}
