// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package sm2stream

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/undersign/undersign/internal/cputime"
	"github.com/undersign/undersign/sm2"
)

// Options say how a file is read and verified. The zero value, or nil, stands for
// the defaults.
type Options struct {
	// Encoding is that of signatures in JSON lines that don't name theirs: DER by default.
	Encoding sm2.Encoding

	// UID is the ID for messages that come without one.
	UID sm2.UID

	// Hint is that of records that come without one.
	Hint sm2.Hint

	// CacheBytes is the budget for tables of recurring keys, by default
	// sm2.DefaultCacheSize. Negative is none.
	CacheBytes int64

	// Workers is how many goroutines parse and verify, by default one for each
	// processor that Go uses.
	Workers int

	// Sample is how many records are verified one by one as well, when all is
	// done, to compare.
	Sample int

	// Progress is called after each block, if it isn't nil.
	Progress func(Progress)
}

// Progress is how far a verification is.
type Progress struct {
	Bytes, Items, Bad int64
}

func (o *Options) workers() int {
	if o.Workers > 0 {
		return o.Workers
	}
	return runtime.GOMAXPROCS(0)
}

func (o *Options) cache() *sm2.Cache {
	switch {
	case o.CacheBytes == 0:
		return sm2.NewCache(sm2.DefaultCacheSize)
	case o.CacheBytes < 0:
		return sm2.NewCache(0)
	}
	return sm2.NewCache(o.CacheBytes)
}

// A Summary is what became of a file.
type Summary struct {
	Format     string         `json:"format"`
	Items      int64          `json:"items"`
	Bad        int64          `json:"bad"` // malformed ones included
	Malformed  int64          `json:"malformed"`
	Bytes      int64          `json:"bytes"`
	Seconds    float64        `json:"seconds"`
	CPUSeconds float64        `json:"cpu_seconds,omitempty"` // of the process, where that is known
	Keys       int            `json:"keys_with_tables"`
	TableBytes int64          `json:"table_bytes"`
	By         map[string]int `json:"by"` // items by what decided on them
	Sample     *Sample        `json:"sample,omitempty"`
}

// Sizes of blocks. They grow, so that a short file is spread over all
// processors too.
const (
	firstBlock = 512
	maxBlock   = 8192
	blockBytes = 4 << 20

	// MaxLine is the longest line that is read; longer ones are reported.
	MaxLine = 4 << 20
)

// A block is consecutive records of a file.
type block struct {
	first   int64 // number of the first record
	data    []byte
	ends    []int // where each record ends in data; negative: it is malformed
	skipped int64 // bytes that were read and aren't in data
	cut     bool  // the last record is cut off
}

const tooLong = -1

func (b *block) bytes() int64 { return int64(len(b.data)) + b.skipped }

// Verify verifies the records of r, and calls bad for each that is bad, in their
// order. What it returns itself is an error of reading, of bad, or of ctx; the
// summary is nil then.
func Verify(ctx context.Context, r io.Reader, opts *Options, bad func(Bad) error) (*Summary, error) {
	if opts == nil {
		opts = &Options{}
	}
	br := bufio.NewReaderSize(r, MaxLine)
	f := &file{r: br, format: JSONLines}
	if start, _ := br.Peek(len(magic)); string(start) == magic {
		f.format = Binary
		var err error
		if f.header, err = readHeader(br); err != nil {
			return nil, err
		}
	}
	cache := opts.cache()
	began, cpu := time.Now(), cputime.Process()
	sum := &Summary{Format: f.format.String(), By: map[string]int{}}
	var sample sampler
	workers := opts.workers()
	err := pipeline(ctx, workers, 2*workers, f.read,
		func() func(*block) *verdicts {
			w := newWorker(opts, f, cache)
			return func(b *block) *verdicts {
				v := w.verify(b)
				f.blocks.Put(b)
				return v
			}
		},
		func(v *verdicts) error {
			sum.Items += int64(v.items)
			sum.Bad += int64(len(v.bad))
			sum.Malformed += int64(v.malformed)
			sum.Bytes += v.bytes
			sum.addStats(&v.stats)
			sample.add(v.sample, opts.Sample)
			for _, b := range v.bad {
				if err := bad(b); err != nil {
					return err
				}
			}
			if opts.Progress != nil {
				opts.Progress(Progress{sum.Bytes, sum.Items, sum.Bad})
			}
			return nil
		})
	if err != nil {
		return nil, err
	}
	sum.Seconds = time.Since(began).Seconds()
	if cputime.Known {
		sum.CPUSeconds = (cputime.Process() - cpu).Seconds()
	}
	sum.Keys, sum.TableBytes = cache.Len(), cache.Size()
	if opts.Sample > 0 {
		if sum.Sample, err = sample.compare(ctx, opts, f, sum, workers); err != nil {
			return nil, err
		}
	}
	return sum, nil
}

func (s *Summary) addStats(st *sm2.Stats) {
	for name, n := range map[string]int{
		"tables": st.Tables, "hinted": st.Hinted, "recovered": st.Recovered, "single": st.Single, "confirmed": st.Confirmed,
	} {
		if n > 0 {
			s.By[name] += n
		}
	}
}

// A file is cut into blocks.
type file struct {
	r      *bufio.Reader
	format Format
	header header
	blocks sync.Pool // used ones
}

// newBlock returns an empty block.
func (f *file) newBlock(first int64) *block {
	b, ok := f.blocks.Get().(*block)
	if !ok {
		b = &block{}
	}
	*b = block{first: first, data: b.data[:0], ends: b.ends[:0]}
	return b
}

func (f *file) read(emit func(*block) bool) error {
	next := int64(1)
	for size := firstBlock; ; size = min(2*size, maxBlock) {
		b := f.newBlock(next)
		var err error
		if f.format == Binary {
			err = f.records(b, size)
		} else {
			err = f.lines(b, size)
		}
		if err != nil && err != io.EOF {
			return err
		}
		next += int64(len(b.ends))
		if len(b.ends) > 0 && !emit(b) || err == io.EOF {
			return nil
		}
	}
}

// lines reads so many lines, or as many as a block may hold.
func (f *file) lines(b *block, size int) error {
	for len(b.ends) < size && len(b.data) < blockBytes {
		line, err := f.r.ReadSlice('\n')
		if err == bufio.ErrBufferFull {
			// Pass over it, in pieces.
			for err == bufio.ErrBufferFull {
				b.skipped += int64(len(line))
				line, err = f.r.ReadSlice('\n')
			}
			b.skipped += int64(len(line))
			b.ends = append(b.ends, tooLong)
		} else if len(line) > 0 {
			b.data = append(b.data, line...)
			b.ends = append(b.ends, len(b.data))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// records reads so many binary records, or as many as a block may hold.
func (f *file) records(b *block, size int) error {
	record := f.header.recordSize()
	n := min(size, max(1, blockBytes/record))
	b.data = slices.Grow(b.data, n*record)[:n*record]
	got, err := io.ReadFull(f.r, b.data)
	b.data = b.data[:got]
	for end := record; end <= got; end += record {
		b.ends = append(b.ends, end)
	}
	if got%record != 0 {
		b.ends = append(b.ends, got)
		b.cut = true
	}
	if err == io.ErrUnexpectedEOF {
		return io.EOF
	}
	return err
}

// verdicts are what a worker has to say of a block.
type verdicts struct {
	items     int
	malformed int
	bad       []Bad
	bytes     int64
	stats     sm2.Stats
	sample    []sampled
}

// A worker parses and verifies blocks.
type worker struct {
	f      *file
	parser *parser
	batch  *sm2.Batch
	at     []int // by item of the batch, its place in the block
	sample int   // how many of each block are kept to compare
}

func newWorker(opts *Options, f *file, cache *sm2.Cache) *worker {
	w := &worker{f: f, parser: newParser(opts, f.header)}
	w.batch = sm2.NewBatch(&sm2.Options{UID: f.header.uid(opts.UID), Hint: opts.Hint, Cache: cache, Workers: 1})
	if opts.Sample > 0 {
		w.sample = max(64, opts.Sample/4)
	}
	return w
}

// parse parses one record.
func (f *file) parse(p *parser, raw []byte) (sm2.Item, error) {
	if f.format == Binary {
		return p.record(raw)
	}
	return p.line(raw)
}

func (w *worker) verify(b *block) *verdicts {
	v := &verdicts{bytes: b.bytes()}
	w.batch.Reset()
	w.at = w.at[:0]
	malformed := map[int]string{}
	start := 0
	raw := func(i int) []byte { return b.data[start:b.ends[i]] }
	for i, end := range b.ends {
		if end == tooLong {
			malformed[i] = fmt.Sprintf("longer than %d bytes", MaxLine)
			v.items++
			continue
		}
		r := raw(i)
		start = end
		if w.f.format == JSONLines && len(bytes.TrimSpace(r)) == 0 {
			continue
		}
		v.items++
		var it sm2.Item
		var err error
		if b.cut && i == len(b.ends)-1 {
			err = errors.New("cut off by the end of the file")
		} else {
			it, err = w.f.parse(w.parser, r)
		}
		if err != nil {
			malformed[i] = err.Error()
			continue
		}
		w.batch.AddItem(it)
		w.at = append(w.at, i)
	}
	v.malformed = len(malformed)

	reasons := map[int]sm2.Reason{}
	var be *sm2.BatchError
	if errors.As(w.batch.Verify(), &be) {
		for k, j := range be.Bad {
			reasons[w.at[j]] = be.Reasons[k]
		}
	}
	v.stats = w.batch.Stats()
	if len(malformed)+len(reasons) > 0 {
		for i := range b.ends {
			if why, ok := malformed[i]; ok {
				v.bad = append(v.bad, w.f.format.bad(b.first+int64(i), Malformed, why))
			} else if why, ok := reasons[i]; ok {
				v.bad = append(v.bad, w.f.format.bad(b.first+int64(i), why.String(), ""))
			}
		}
	}
	if w.sample > 0 {
		v.sample = w.take(b, reasons)
	}
	return v
}

// take keeps some records of a block, evenly.
func (w *worker) take(b *block, reasons map[int]sm2.Reason) (out []sampled) {
	step := max(1, len(w.at)/w.sample)
	for k := 0; k < len(w.at); k += step {
		i, start := w.at[k], 0
		for j := i - 1; j >= 0; j-- {
			if b.ends[j] != tooLong {
				start = b.ends[j]
				break
			}
		}
		_, bad := reasons[i]
		out = append(out, sampled{b.first + int64(i), bytes.Clone(b.data[start:b.ends[i]]), !bad})
	}
	return out
}
