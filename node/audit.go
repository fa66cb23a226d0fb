// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package node

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/undersign/undersign/internal/audit"
	"github.com/undersign/undersign/internal/nodedir"
	"github.com/undersign/undersign/internal/store"
)

// headName is where the store has the hash of a record of the audit log. It is in the log
// before it is here, so that a crash in between, or a backup, whose store is older than
// its log, doesn't look like a log whose end was cut off.
const headName = "audit.head"

// openAudit opens the audit log. If what the store remembers of it isn't there any more
// the log says so from now on: who can write one file can't go back in time unnoticed.
func (n *Node) openAudit() error {
	var head []byte
	err := n.store.View(func(tx *store.Tx) error {
		_, err := tx.Row([]any{&head}, "SELECT value FROM meta WHERE name = ?", headName)
		return err
	})
	if err != nil {
		return err
	}
	known := string(head)
	n.audit, err = audit.Open(filepath.Join(n.cfg.Dir, nodedir.Audit), n.id.SigningKey(), audit.Options{Failed: n.fail, Known: known})
	if err != nil || !n.audit.Cut() {
		return err
	}
	if found, err := n.inOlderLog(known, n.audit.After()); err != nil || found {
		return err
	}
	n.log.Error("the audit log lacks records that it had: they were cut off, or moved away with an older file", "record", known)
	return n.audit.Event(audit.Entry{Operation: "node.audit-cut", Subject: known, Detail: "records up to this one were here, and neither this file has them nor an older one"}, audit.Failed)
}

// inOlderLog reports whether a record is in one of the files that undersign audit rotate
// has left, back from the one whose last record has the hash after.
func (n *Node) inOlderLog(known, after string) (bool, error) {
	paths, err := filepath.Glob(filepath.Join(n.cfg.Dir, "audit-*.jsonl"))
	if err != nil {
		return false, fmt.Errorf("node: %w", err)
	}
	type older struct {
		after string
		has   bool
	}
	files := make(map[string]older)
	for _, path := range paths {
		f, err := os.Open(path)
		if err != nil {
			return false, fmt.Errorf("node: %w", err)
		}
		has := false
		report, err := audit.Verify(f, n.id.PublicKey(), "", func(r *audit.Record) { has = has || r.Seq > 0 && r.Prev == known })
		f.Close()
		if errors.Is(err, audit.ErrBroken) {
			continue
		}
		if err != nil {
			return false, err
		}
		files[report.Head] = older{report.After, has || report.Head == known}
	}
	for range paths {
		f, ok := files[after]
		if !ok || f.has {
			return ok, nil
		}
		after = f.after
	}
	return false, nil
}

// keepHead has the store remember the last record. It shows too that the store can write.
func (n *Node) keepHead() error {
	head := n.audit.Synced()
	n.mu.Lock()
	same := n.kept == head
	n.kept = head
	n.mu.Unlock()
	return n.store.Update(func(tx *store.Tx) error {
		if same {
			return nil
		}
		_, err := tx.Exec("INSERT OR REPLACE INTO meta (name, value) VALUES (?, ?)", headName, []byte(head))
		return err
	})
}
