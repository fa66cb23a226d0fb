// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package audit

import (
	"bufio"
	"bytes"
	"crypto/ed25519"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/undersign/undersign/internal/failpoint"
)

// A File is what a log needs of a file.
type File interface {
	io.ReadWriteSeeker
	Truncate(size int64) error
	Sync() error
	Close() error
}

// Options are a log's settings. The zero value is ready to use.
type Options struct {
	// Every is the number of records after which a checkpoint is written. 0 means 256.
	Every int
	// After is the hash of the last record of the file that this one continues, if it
	// is begun: see Verify's Report.After.
	After string
	// Known is the hash of a record that the caller remembers from an earlier time: see
	// Synced and Cut.
	Known string
	// Now is the clock. Nil means time.Now.
	Now func() time.Time
	// Failed, if it isn't nil, is told once that a record couldn't be written. The log
	// takes none after that, and whoever has it mustn't go on with what is to be recorded.
	Failed func(error)
}

// A Log is an audit file that is open for writing. Its methods may be called by several
// goroutines, whose records share writes to the disk.
type Log struct {
	key    ed25519.PrivateKey
	every  int
	now    func() time.Time
	failed func(error)

	mu      sync.Mutex
	f       File
	next    uint64          // the seq of the next record
	prev    string          // the hash of the last line
	since   int             // records since the last checkpoint
	synced  string          // the hash of the last line that is on disk
	after   string          // the hash of the last record of the file before this one
	cut     bool            // see Cut
	open    map[uint64]bool // intents without an end
	buf     []byte          // lines that no write has taken yet
	pending *flush          // the write that will take them
	writing *flush          // the write that is under way
	err     error           // of the first write that failed: nothing is written after it

	told sync.Once // that it failed
}

// A flush is one write with its fsync, for all records that came while the one before
// was under way.
type flush struct {
	done chan struct{}
	err  error
}

// Open opens the audit file at path, or begins one, for the node with the given key.
// What a crash left of a last line is removed, and a record says so. A file that is
// broken in any other way is refused: it isn't to be written on.
func Open(path string, key ed25519.PrivateKey, opts Options) (*Log, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("audit: %w", err)
	}
	l, err := OpenFile(f, key, opts)
	if err != nil {
		f.Close()
		return nil, err
	}
	return l, nil
}

// OpenFile is Open for a file that is open already. The log closes it.
func OpenFile(f File, key ed25519.PrivateKey, opts Options) (*Log, error) {
	if len(key) != ed25519.PrivateKeySize {
		return nil, errors.New("audit: no key to sign checkpoints with")
	}
	l := &Log{key: key, every: opts.Every, now: opts.Now, failed: opts.Failed, f: f, prev: opts.After, open: make(map[uint64]bool)}
	if l.prev == "" {
		l.prev = noHash
	}
	if l.every <= 0 {
		l.every = 256
	}
	if l.now == nil {
		l.now = time.Now
	}
	end, torn, err := l.load(opts.Known)
	if err != nil {
		return nil, err
	}
	if torn > 0 {
		if err := f.Truncate(end); err != nil {
			return nil, fmt.Errorf("audit: %w", err)
		}
	}
	if err := rewrite(f, end); err != nil {
		return nil, fmt.Errorf("audit: %w", err)
	}
	if l.next == 0 {
		err = l.commit(func() { l.add(&Record{Kind: Start, Node: hex.EncodeToString(l.public())}) })
	}
	if err == nil && torn > 0 {
		err = l.Event(Entry{Operation: "audit.recover", Detail: fmt.Sprintf("%d bytes of an unfinished record removed", torn)}, "")
	}
	if err != nil {
		return nil, err
	}
	return l, nil
}

var (
	errNoOperation = errors.New("audit: an entry without an operation")
	errNoOutcome   = errors.New("audit: no such outcome")
)

func (l *Log) public() ed25519.PublicKey { return l.key.Public().(ed25519.PublicKey) }

// load verifies what is in the file and takes up the chain at its end: at byte end,
// after which torn bytes follow that aren't a whole line.
func (l *Log) load(known string) (end, torn int64, err error) {
	if _, err := l.f.Seek(0, io.SeekStart); err != nil {
		return 0, 0, fmt.Errorf("audit: %w", err)
	}
	l.after, l.cut = l.prev, known != ""
	report, err := verify(l.f, l.public(), func(r *Record) {
		l.cut = l.cut && (r.Prev != known || r.Seq == 0)
		switch r.Kind {
		case Intent:
			l.open[r.Seq] = true
		case End:
			delete(l.open, r.Of)
		}
	})
	if err != nil {
		return 0, 0, err
	}
	if report.Records > 0 {
		l.next, l.prev, l.since = report.Records, report.Head, int(report.Unsigned)
		l.after, l.synced, l.cut = report.After, report.Head, l.cut && report.Head != known
	}
	return report.Bytes, report.Torn, nil
}

// An Action is something that an intent was recorded for. End must be called once.
type Action struct {
	log *Log
	seq uint64
}

// Begin records that something is about to be done. When it returns without an error the
// record is on disk.
func (l *Log) Begin(e Entry) (*Action, error) {
	if e.Operation == "" {
		return nil, errNoOperation
	}
	a := &Action{log: l}
	if err := l.commit(func() {
		a.seq = l.next
		l.open[a.seq] = true
		l.add(&Record{Kind: Intent, Entry: e.clean()})
	}); err != nil {
		return nil, err
	}
	return a, nil
}

// End records how it ended. When it returns without an error the record is on disk.
func (a *Action) End(o Outcome, detail string) error {
	if !o.valid() {
		return errNoOutcome
	}
	l, known := a.log, true
	err := l.commit(func() {
		if known = l.open[a.seq]; known {
			delete(l.open, a.seq)
			l.add(&Record{Kind: End, Of: a.seq, Outcome: o, Entry: Entry{Detail: detail}.clean()})
		}
	})
	if err == nil && !known {
		return errors.New("audit: the action has an end already")
	}
	return err
}

// Event records something that no intent precedes, such as a refusal. o may be empty.
func (l *Log) Event(e Entry, o Outcome) error {
	if e.Operation == "" {
		return errNoOperation
	}
	if o != "" && !o.valid() {
		return errNoOutcome
	}
	return l.commit(func() { l.add(&Record{Kind: Event, Entry: e.clean(), Outcome: o}) })
}

// Checkpoint signs the chain so far and returns the hash of the checkpoint, which is
// worth keeping elsewhere.
func (l *Log) Checkpoint() (string, error) {
	var head string
	err := l.commit(func() {
		l.checkpoint()
		head = l.prev
	})
	return head, err
}

// Head returns the number of records and the hash of the last one.
func (l *Log) Head() (records uint64, hash string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.next, l.prev
}

// Synced returns the hash of the last record that is on disk. Whoever keeps it elsewhere
// notices by Options.Known if the end of the file is cut off.
func (l *Log) Synced() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.synced
}

// Cut reports whether the file, when it was opened, lacked the record that Options.Known
// names. That record is in a file before this one then, or it was cut off.
func (l *Log) Cut() bool { return l.cut }

// After returns the hash of the last record of the file before this one.
func (l *Log) After() string { return l.after }

// Close writes a checkpoint and closes the file.
func (l *Log) Close() error {
	_, err := l.Checkpoint()
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.err == nil {
		l.err = errors.New("audit: the log is closed")
	}
	return errors.Join(err, l.f.Close())
}

// rewriteBytes is more than one write has.
const rewriteBytes = 4 << 20

// rewrite writes the last part of a file again, and leaves the file at its end. After an
// fsync that failed the system takes what it didn't write for written: it can be read
// back and isn't on the disk, and no further fsync would change that.
func rewrite(f File, end int64) error {
	from := max(0, end-rewriteBytes)
	if _, err := f.Seek(from, io.SeekStart); err != nil {
		return err
	}
	tail := make([]byte, end-from)
	if _, err := io.ReadFull(f, tail); err != nil {
		return err
	}
	if _, err := f.Seek(from, io.SeekStart); err != nil || end == 0 {
		return err
	}
	if _, err := f.Write(tail); err != nil {
		return err
	}
	return f.Sync()
}

// add appends a record to what is to be written. l.mu is held.
func (l *Log) add(r *Record) {
	r.Seq, r.Prev = l.next, l.prev
	r.Time = l.now().UTC().Format(timeFormat)
	if r.Kind == Checkpoint {
		r.Signature = encoding.EncodeToString(ed25519.Sign(l.key, r.signed()))
	}
	line, err := r.line()
	if err == nil {
		err = r.check()
	}
	if err != nil {
		l.err = fmt.Errorf("audit: %w", err)
		return
	}
	l.next++
	l.prev = hashLine(line)
	l.since++
	l.buf = append(append(l.buf, line...), '\n')
	if r.Kind != Checkpoint && l.since >= l.every {
		l.checkpoint()
	}
}

func (l *Log) checkpoint() {
	l.add(&Record{Kind: Checkpoint})
	l.since = 0
}

// commit calls add with the lock held, and returns when all that it added is on disk.
func (l *Log) commit(add func()) error {
	l.mu.Lock()
	whole := l.err == nil
	if whole {
		add()
	}
	if err := l.err; err != nil {
		l.mu.Unlock()
		if whole {
			l.tell(err)
		}
		return err
	}
	if l.pending == nil {
		l.pending = &flush{done: make(chan struct{})}
	}
	mine := l.pending
	// Whoever finds no write under way makes the next one, for all that have come
	// meanwhile; the others wait for it.
	for l.writing != nil && mine == l.pending {
		busy := l.writing
		l.mu.Unlock()
		<-busy.done
		l.mu.Lock()
	}
	if mine == l.pending {
		l.writing, l.pending = mine, nil
		buf, head := l.buf, l.prev
		l.buf = nil
		mine.err = l.err
		l.mu.Unlock()
		if mine.err == nil {
			mine.err = l.write(buf)
		}
		l.mu.Lock()
		l.writing = nil
		if mine.err == nil {
			l.synced = head
		} else if l.err == nil {
			l.err = mine.err
		}
		close(mine.done)
	}
	l.mu.Unlock()
	<-mine.done
	if mine.err != nil {
		l.tell(mine.err)
	}
	return mine.err
}

// tell says that a record wasn't written.
func (l *Log) tell(err error) {
	l.told.Do(func() {
		if l.failed != nil {
			l.failed(err)
		}
	})
}

// write is called by one goroutine at a time.
func (l *Log) write(buf []byte) error {
	if failpoint.Enabled { // a crash may come in the middle of a line
		if _, err := l.f.Write(buf[:len(buf)/2]); err != nil {
			return fmt.Errorf("audit: %w", err)
		}
		buf = buf[len(buf)/2:]
		if err := failpoint.Hit("audit.torn"); err != nil {
			return fmt.Errorf("audit: %w", err)
		}
	}
	if _, err := l.f.Write(buf); err != nil {
		return fmt.Errorf("audit: %w", err)
	}
	if err := failpoint.Hit("audit.written"); err != nil {
		return fmt.Errorf("audit: %w", err)
	}
	if err := l.f.Sync(); err != nil {
		return fmt.Errorf("audit: %w", err)
	}
	if err := failpoint.Hit("audit.synced"); err != nil {
		return fmt.Errorf("audit: %w", err)
	}
	return nil
}

// readLine returns the next line without its line feed, and whether it has one.
func readLine(r *bufio.Reader) (line []byte, whole bool, err error) {
	line, err = r.ReadSlice('\n')
	switch {
	case err == nil:
		return bytes.TrimSuffix(line, []byte("\n")), true, nil
	case errors.Is(err, io.EOF):
		return line, false, nil
	case errors.Is(err, bufio.ErrBufferFull):
		return nil, false, fmt.Errorf("a line of more than %d bytes", maxLine)
	}
	return nil, false, err
}
