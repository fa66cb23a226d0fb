// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

// Package store keeps what a node must not forget in one SQLite file. What a method has
// written is on disk when it returns: the file is in WAL mode with synchronous=FULL, and
// transactions of concurrent callers are committed together, so that they share a sync.
//
// After a commit that failed nobody knows what is on disk. The store then refuses
// everything, and is to be opened anew.
package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"sync"
	"time"

	_ "modernc.org/sqlite" // the driver

	"github.com/undersign/undersign/internal/failpoint"
)

// ErrClosed is in the errors of a store that is closed.
var ErrClosed = errors.New("store: closed")

// Options are a store's settings. The zero value is ready to use.
type Options struct {
	// MaxPages bounds the size of the file, in pages of 4 KiB. 0 means no bound.
	MaxPages int64
	// Failed, if it isn't nil, is told of the commit that failed, after which the store
	// refuses everything.
	Failed func(error)
}

// A Store is an open file. Its methods may be called by several goroutines.
type Store struct {
	path    string
	write   *sql.DB // of one connection
	read    *sql.DB
	jobs    chan *job
	done    chan struct{} // closed when the writer has ended
	mu      sync.RWMutex  // held for reading while a job is handed over
	closed  bool
	failure error // of a commit, seen by the writer alone
	failed  func(error)
}

// A job is one caller's part of a transaction.
type job struct {
	fn   func(*Tx) error
	err  error
	done chan struct{}
}

const (
	maxJobs = 4096 // in one transaction
	readers = 4    // connections
)

// Open opens the file at path, or begins one, and brings it up to the latest schema.
func Open(path string, opts Options) (*Store, error) {
	s := &Store{path: path, failed: opts.Failed, jobs: make(chan *job, maxJobs), done: make(chan struct{})}
	if err := s.open(opts); err != nil {
		return nil, errors.Join(err, s.closeFiles())
	}
	go s.writer()
	return s, nil
}

func (s *Store) open(opts Options) (err error) {
	// SQLite would make the file readable to all.
	f, err := os.OpenFile(s.path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return fmt.Errorf("store: %w", err)
	}
	if err := f.Close(); err != nil {
		return fmt.Errorf("store: %w", err)
	}
	if s.write, err = connect(s.path, "rwc", "immediate"); err != nil {
		return err
	}
	s.write.SetMaxOpenConns(1)
	if err := migrate(s.write); err != nil {
		return err
	}
	if err := checkpoint(s.write); err != nil {
		return err
	}
	if opts.MaxPages > 0 {
		if _, err := s.write.Exec(fmt.Sprintf("PRAGMA max_page_count = %d", opts.MaxPages)); err != nil {
			return fmt.Errorf("store: %w", err)
		}
	}
	if s.read, err = connect(s.path, "ro", "deferred"); err != nil {
		return err
	}
	s.read.SetMaxOpenConns(readers)
	s.read.SetMaxIdleConns(readers)
	return nil
}

// checkpoint moves what is in the log of the file into the file, and empties the log. What
// another process wrote to it before an fsync that failed can be read without being on
// disk, and no further fsync of the log would put it there: what was committed after it
// would be lost with it.
func checkpoint(db *sql.DB) error {
	var busy, frames, moved int
	if err := db.QueryRow("PRAGMA wal_checkpoint(TRUNCATE)").Scan(&busy, &frames, &moved); err != nil {
		return fmt.Errorf("store: checkpoint: %w", err)
	}
	if busy != 0 {
		return errors.New("store: another process has the file open")
	}
	return nil
}

func connect(path, mode, lock string) (*sql.DB, error) {
	q := url.Values{"mode": {mode}, "_txlock": {lock}}
	for _, p := range []string{"journal_mode(WAL)", "synchronous(FULL)", "busy_timeout(10000)", "foreign_keys(ON)", "cache_size(-65536)", "wal_autocheckpoint(4000)"} {
		if mode == "ro" && p == "journal_mode(WAL)" {
			continue
		}
		q.Add("_pragma", p)
	}
	db, err := sql.Open("sqlite", (&url.URL{Scheme: "file", Opaque: (&url.URL{Path: path}).EscapedPath(), RawQuery: q.Encode()}).String())
	if err != nil {
		return nil, fmt.Errorf("store: %w", err)
	}
	if err := db.Ping(); err != nil {
		return nil, errors.Join(fmt.Errorf("store: %s: %w", path, err), db.Close())
	}
	return db, nil
}

// Close ends the store, after what is under way.
func (s *Store) Close() error {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return nil
	}
	s.closed = true
	close(s.jobs)
	s.mu.Unlock()
	<-s.done
	return s.closeFiles()
}

func (s *Store) closeFiles() (err error) {
	for _, db := range []*sql.DB{s.read, s.write} {
		if db != nil {
			err = errors.Join(err, db.Close())
		}
	}
	return err
}

// Update calls fn with a transaction, and returns when what it wrote is on disk. If fn
// returns an error nothing of it is written. fn may be called on another goroutine, and
// mustn't call the store.
func (s *Store) Update(fn func(*Tx) error) error {
	j := &job{fn: fn, done: make(chan struct{})}
	s.mu.RLock()
	if s.closed {
		s.mu.RUnlock()
		return ErrClosed
	}
	s.jobs <- j
	s.mu.RUnlock()
	<-j.done
	return j.err
}

// View calls fn with a transaction that reads one state of the file.
func (s *Store) View(fn func(*Tx) error) error {
	tx, err := s.read.Begin()
	if err != nil {
		return fmt.Errorf("store: %w", err)
	}
	defer tx.Rollback()
	return fn(&Tx{query: tx, prepare: tx.Prepare})
}

// writer commits jobs, all that are there at a time in one transaction.
func (s *Store) writer() {
	defer close(s.done)
	conn := &writerConn{statements: make(map[string]*sql.Stmt)}
	defer conn.close()
	for first := range s.jobs {
		batch := []*job{first}
		for more := true; more && len(batch) < maxJobs; {
			select {
			case j, ok := <-s.jobs:
				if more = ok; ok {
					batch = append(batch, j)
				}
			default:
				more = false
			}
		}
		if s.failure == nil {
			if s.failure = s.commit(conn, batch); s.failure != nil && s.failed != nil {
				s.failed(s.failure)
			}
		}
		for _, j := range batch {
			if s.failure != nil {
				j.err = s.failure
			}
			close(j.done)
		}
	}
}

// A writerConn is the connection that writes, with its prepared statements.
type writerConn struct {
	conn       *sql.Conn
	statements map[string]*sql.Stmt
}

func (c *writerConn) close() {
	for _, st := range c.statements {
		st.Close()
	}
	if c.conn != nil {
		c.conn.Close()
	}
}

func (c *writerConn) prepare(query string) (*sql.Stmt, error) {
	if st := c.statements[query]; st != nil {
		return st, nil
	}
	st, err := c.conn.PrepareContext(context.Background(), query)
	if err == nil {
		c.statements[query] = st
	}
	return st, err
}

func (c *writerConn) exec(query string) error {
	st, err := c.prepare(query)
	if err == nil {
		_, err = st.Exec()
	}
	return err
}

// commit runs the jobs in a transaction. The error is of the transaction; errors of
// jobs are theirs.
func (s *Store) commit(c *writerConn, batch []*job) (err error) {
	if c.conn == nil {
		if c.conn, err = s.write.Conn(context.Background()); err != nil {
			return fmt.Errorf("store: %w", err)
		}
	}
	if err := c.exec("BEGIN IMMEDIATE"); err != nil {
		return fmt.Errorf("store: begin: %w", err)
	}
	fail := func(err error) error {
		c.exec("ROLLBACK")
		return fmt.Errorf("store: commit: %w", err)
	}
	for _, j := range batch {
		if err := c.exec("SAVEPOINT job"); err != nil {
			return fail(err)
		}
		if j.err = j.fn(&Tx{query: c.conn, prepare: c.prepare, cached: true}); j.err != nil {
			if err := c.exec("ROLLBACK TO job"); err != nil {
				return fail(errors.Join(j.err, err)) // such as a full disk, which ends the transaction
			}
		}
		if err := c.exec("RELEASE job"); err != nil {
			return fail(err)
		}
	}
	if err := failpoint.Hit("store.commit.before"); err != nil {
		return fail(err)
	}
	if err := c.exec("COMMIT"); err != nil {
		return fail(err)
	}
	if err := failpoint.Hit("store.commit.after"); err != nil {
		return fmt.Errorf("store: commit: %w", err)
	}
	return nil
}

// Backup writes a copy of the file as it is now to path, which mustn't exist.
func (s *Store) Backup(path string) error {
	if _, err := os.Lstat(path); err == nil {
		return fmt.Errorf("store: %s exists", path)
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return fmt.Errorf("store: %w", err)
	}
	if err := f.Close(); err != nil {
		return fmt.Errorf("store: %w", err)
	}
	if _, err := s.read.Exec("VACUUM INTO ?", path); err != nil {
		return errors.Join(fmt.Errorf("store: backup: %w", err), os.Remove(path))
	}
	f, err = os.OpenFile(path, os.O_RDWR, 0)
	if err == nil {
		err = errors.Join(f.Sync(), f.Close())
	}
	if err != nil {
		return fmt.Errorf("store: backup: %w", err)
	}
	return nil
}

// Check reads the whole file and returns what is wrong with it.
func (s *Store) Check() error {
	var result string
	if err := s.read.QueryRow("PRAGMA integrity_check(1)").Scan(&result); err != nil {
		return fmt.Errorf("store: %w", err)
	}
	if result != "ok" {
		return fmt.Errorf("store: %s is damaged: %s", s.path, result)
	}
	return nil
}

// A Tx is a transaction.
type Tx struct {
	query   querier
	prepare func(string) (*sql.Stmt, error)
	cached  bool // statements are closed by the connection's owner
}

type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// Exec runs a statement.
func (tx *Tx) Exec(query string, args ...any) (changed int64, err error) {
	st, err := tx.prepare(query)
	if err != nil {
		return 0, fmt.Errorf("store: %w", err)
	}
	if !tx.cached {
		defer st.Close()
	}
	result, err := st.Exec(args...)
	if err != nil {
		return 0, fmt.Errorf("store: %w", err)
	}
	return result.RowsAffected()
}

// Row reads the first row of a query into dst, or returns false if there is none.
func (tx *Tx) Row(dst []any, query string, args ...any) (bool, error) {
	st, err := tx.prepare(query)
	if err != nil {
		return false, fmt.Errorf("store: %w", err)
	}
	if !tx.cached {
		defer st.Close()
	}
	switch err := st.QueryRow(args...).Scan(dst...); {
	case errors.Is(err, sql.ErrNoRows):
		return false, nil
	case err != nil:
		return false, fmt.Errorf("store: %w", err)
	}
	return true, nil
}

// Rows calls each after the columns of each row of a query have been read into dst. What
// each returns ends the reading.
func (tx *Tx) Rows(dst []any, each func() error, query string, args ...any) error {
	rows, err := tx.query.QueryContext(context.Background(), query, args...)
	if err != nil {
		return fmt.Errorf("store: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		if err := rows.Scan(dst...); err != nil {
			return fmt.Errorf("store: %w", err)
		}
		if err := each(); err != nil {
			return err
		}
	}
	if err := rows.Err(); err != nil {
		return fmt.Errorf("store: %w", err)
	}
	return nil
}

// Unix returns a time as columns have it.
func Unix(t time.Time) int64 { return t.UTC().UnixMilli() }
