// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package distill

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"slices"
)

// An Entry is an entry of the log: a signed batch, or a change of the directory.
type Entry struct {
	Data    []byte
	Checked *Checked // what [Validator.Check] returned for Data, or nil
}

// Applied is what became of a tick.
type Applied struct {
	Height   uint64
	Outcomes []EntryOutcome // of the entries
	Hgt      Hgt
	Share    *Share // of Hgt, unless the validator only follows
}

// An EntryOutcome is what became of an entry. It has a receipt if it had an effect.
type EntryOutcome struct {
	Err       error // why it isn't executed, or nil
	Receipt   *RcptShare
	Results   []Result         // of a batch, for each leaf
	Directory *DirectoryResult // of a change of the directory
}

// An RcptShare is one validator's receipt for an entry of the log.
type RcptShare struct {
	Kind  RecordKind
	Rcpt  Rcpt
	Share *Share // nil if the validator only follows
}

// Apply makes a tick's entries take effect, and signs receipts after all is durable. The
// height must be the next. Entries that aren't in order have no effect: that isn't an
// error of Apply. After an error whose rule isn't [RuleHeight] the validator must be opened
// again, and be given the tick if it isn't stored.
func (v *Validator) Apply(height uint64, entries []Entry) (*Applied, error) {
	if v.broken != nil {
		return nil, v.broken
	}
	if height != v.head.Height+1 || height == 0 {
		return nil, reject(RuleHeight)
	}
	t := &tick{Validator: v, height: height, head: v.head, outcomes: make([]EntryOutcome, len(entries))}
	t.head.Height = height
	v.broken = fmt.Errorf("distill: validator failed at height %d and must be opened again", height)
	if err := t.run(entries); err != nil {
		return nil, err
	}
	if err := v.store.Commit(t.commit()); err != nil {
		return nil, err
	}
	v.broken, v.head = nil, t.head
	a := &Applied{Height: height, Outcomes: t.outcomes}
	for i, at := range t.recorded {
		r, err := v.receipt(&t.log[i])
		if err != nil {
			return nil, err
		}
		a.Outcomes[at].Receipt = r
	}
	var err error
	a.Hgt, a.Share, err = v.SignHead()
	return a, err
}

// A tick is what Apply works on.
type tick struct {
	*Validator
	height   uint64
	head     LogHead // the next
	outcomes []EntryOutcome

	log      []LogRecord
	recorded []int    // the entries of log
	rows     []byte   // of the directory
	ids      []uint64 // of changed clients
	aggIDs   []uint64 // of changed aggregators
}

func isDirectoryEntry(data []byte) bool { return bytes.HasPrefix(data, tagDir[:]) }

func (t *tick) run(entries []Entry) error {
	for i := 0; i < len(entries); {
		if isDirectoryEntry(entries[i].Data) {
			t.directory(i, entries[i].Data)
			i++
			continue
		}
		end := i + 1
		for end < len(entries) && !isDirectoryEntry(entries[end].Data) {
			end++
		}
		if err := t.batches(i, entries[i:end]); err != nil {
			return err
		}
		i = end
	}
	return nil
}

// record puts the entry at into the log.
func (t *tick) record(at int, r LogRecord, digest [32]byte, n uint64, root [32]byte) {
	r.Rcpt = Rcpt{t.committee.net, t.height, t.head.LogHash, digest, n, root}
	t.head.LogHash = r.Rcpt.Digest()
	t.log = append(t.log, r)
	t.recorded = append(t.recorded, at)
}

func (t *tick) directory(at int, data []byte) {
	o := &t.outcomes[at]
	if o.Directory, o.Err = t.dir.Apply(t.height, data); o.Err != nil {
		return
	}
	t.head.Dirver = o.Directory.Version
	t.rows = append(t.rows, o.Directory.Rows...)
	t.clients.grow(t.dir.Len())
	t.record(at, LogRecord{Kind: RecordDirectory, Data: data, Version: t.head.Dirver}, sha256.Sum256(data), 0, [32]byte{})
}

// A candidate is a batch of a tick before it takes effect.
type candidate struct {
	data     []byte
	header   Header
	digest   [32]byte
	opened   bool // it is an aggregator's
	verified *Verified
	err      error
}

// batches makes batches take effect that stand together, the first at index at.
func (t *tick) batches(at int, entries []Entry) error {
	found := make([]candidate, len(entries))
	for i, e := range entries {
		c := &found[i]
		c.data = e.Data
		c.header, c.digest, c.err = t.verifier.Open(e.Data)
		c.opened = c.err == nil
		if c.opened && e.Checked.matches(t.Validator, e.Data) {
			c.verified = e.Checked.verified
		}
	}
	together := fewTogether
	for i := range found {
		c, o := &found[i], &t.outcomes[at+i]
		if o.Err = c.err; !c.opened {
			continue
		}
		if rule := t.position(t.height, &c.header); rule != 0 {
			o.Err = reject(rule)
			continue
		}
		if c.verified == nil && c.err == nil {
			t.verify(found[i:], together)
			together *= 2
		}
		if o.Err = c.err; c.verified == nil && !RuleOf(c.err).Signed() {
			continue
		}
		a := t.aggregator(c.header.AggID)
		t.aggIDs = append(t.aggIDs, a.ID)
		if c.verified == nil {
			together = fewTogether
			a.strike(t.height, t.params.ValidFor)
			t.record(at+i, LogRecord{Kind: RecordStrike, Data: c.data}, c.digest, 0, [32]byte{})
			continue
		}
		a.take(c.header.Seq)
		results, err := t.execute(c.verified)
		if err != nil {
			return err
		}
		o.Results = results
		t.head.Batches++
		t.record(at+i, LogRecord{
			Kind: RecordBatch, Data: c.data, Results: results, NotAfter: c.verified.NotAfter,
		}, c.digest, uint64(len(results)), ResultRoot(results))
	}
	return nil
}

// fewTogether is how many batches are verified together at first, and twice as many each
// time until one is bad. The others of its aggregator have no effect then: not many more of
// them are verified in vain than were good before.
const fewTogether = 8

// verify verifies a number of batches together, of those that have a chance: what is refused
// for its position now, or has the number of another, is refused for that later.
func (t *tick) verify(list []candidate, n int) {
	var data [][]byte
	var views []View
	var open []*candidate
	numbers := make(map[nonceKey]bool)
	for i := range list {
		c := &list[i]
		number := nonceKey{c.header.AggID, c.header.Seq}
		if !c.opened || c.verified != nil || c.err != nil || numbers[number] || t.position(t.height, &c.header) != 0 {
			continue
		}
		numbers[number] = true
		data, open = append(data, c.data), append(open, c)
		views = append(views, &directoryView{t.dir, c.header.Dirver})
		if len(open) == n {
			break
		}
	}
	verified, errs := t.verifier.VerifyAll(data, views)
	for i, c := range open {
		c.verified, c.err = verified[i], errs[i]
	}
}

// execute executes those leaves that may be, in order, and says of each what became of it.
func (t *tick) execute(b *Verified) ([]Result, error) {
	results := make([]Result, b.Len())
	absent := []uint32(nil)
	if b.Mode == ModeLean {
		absent = b.Stragglers
	}
	for i, id := range b.IDs {
		r := &results[i]
		r.ID, r.Nonce, r.PayloadHash = id, b.Nonces[i], b.PayloadHashes[i]
		if len(absent) > 0 && int(absent[0]) == i {
			absent = absent[1:]
			r.Code = ResultAbsent
			continue
		}
		c := t.clients.at(id)
		state := c.nonce(r.Nonce)
		if state != nonceNew {
			first, ok, err := t.execution(id, r.Nonce)
			switch {
			case err != nil:
				return nil, err
			case ok && first.PayloadHash == r.PayloadHash:
				r.Code, r.FirstCode, r.AppCode, r.ExecHeight = ResultDup, first.Code, first.AppCode, first.Height
			case ok || state == nonceUsed:
				// If what was executed isn't kept, it had another last height, which
				// none but a client that signs two of them for one nonce sees.
				r.Code = ResultTaken
			default:
				r.Code = ResultSkipped
			}
			continue
		}
		if t.dir.changedSince(id, b.Dirver) {
			r.Code = ResultKey
			continue
		}
		r.Code, r.ExecHeight = ResultOK, t.height
		if t.app != nil {
			code, ok := t.app.Execute(t.height, id, r.Nonce, b.Payloads.At(i))
			if r.AppCode = code; !ok {
				r.Code = ResultAppReject
			}
		}
		c.use(r.Nonce)
		t.clients.last[id], t.clients.window[id] = c.LastNonce, c.Window
		t.ids = append(t.ids, id)
	}
	return results, nil
}

// execution returns what was executed under a nonce, in this tick too, if it is kept.
func (t *tick) execution(id, nonce uint64) (e Execution, ok bool, err error) {
	for i := range t.log {
		r := &t.log[i]
		at, found := slices.BinarySearchFunc(r.Results, id, func(r Result, id uint64) int {
			switch {
			case r.ID < id:
				return -1
			case r.ID > id:
				return 1
			}
			return 0
		})
		if found && r.Results[at].Nonce == nonce && r.Results[at].Code.Executed() {
			return r.Results[at].execution(r.NotAfter[at]), true, nil
		}
	}
	return t.kept(t.height, id, nonce)
}

// kept returns the execution of a nonce that is stored, if it is kept at a height:
// whether the store has deleted it already makes no difference.
func (v *Validator) kept(height, id, nonce uint64) (e Execution, ok bool, err error) {
	e, ok, err = v.store.Execution(id, nonce)
	if err != nil || !ok || !v.params.kept(e.NotAfter, height) {
		return Execution{}, false, err
	}
	return e, true, nil
}

func (r *Result) execution(notAfter uint64) Execution {
	return Execution{notAfter, r.PayloadHash, r.Code, r.AppCode, r.ExecHeight}
}

// commit returns what the tick has changed.
func (t *tick) commit() *Commit {
	c := &Commit{Head: t.head, Log: t.log, Rows: t.rows}
	slices.Sort(t.ids)
	c.ClientIDs = slices.Compact(t.ids)
	c.Clients = make([]ClientState, len(c.ClientIDs))
	for i, id := range c.ClientIDs {
		c.Clients[i] = t.clients.at(id)
	}
	slices.Sort(t.aggIDs)
	for _, id := range slices.Compact(t.aggIDs) {
		a := *t.aggs[id]
		a.Window = slices.Clone(a.Window)
		c.Aggregators = append(c.Aggregators, a)
	}
	if t.height > t.params.KeepResults {
		c.PruneBefore = t.height - t.params.KeepResults
	}
	return c
}
