// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package sm2stream

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"

	"github.com/undersign/undersign/sm2"
)

// GenerateOptions say what a file for tests is like.
type GenerateOptions struct {
	Records int64
	Signers int     // whose keys recur; 0 is as many as there are records
	Once    float64 // share of the records whose signers occur only once
	Bad     int64   // how many are bad
	Kinds   []Kind  // in which ways, in turn; nil is all that the format can hold

	Format   Format       // JSONLines by default
	Encoding sm2.Encoding // of signatures in JSON lines, DER by default
	ID       string       // as ParseID reads it; "" is the default one
	Payload  int          // bytes of each message; with Digests 32 is all there is
	Digests  bool         // digests instead of messages
	Hinted   bool         // as signers with SignHinted make them, and hints beside

	// Seed decides on everything: the same seed gives the same file. Whoever knows
	// it knows all keys.
	Seed []byte

	// Workers is how many goroutines make records, by default one for each
	// processor that Go uses. It doesn't change the file.
	Workers int

	// Progress is told the number of records that are written, if it isn't nil.
	Progress func(records int64)
}

// A Kind is a way to be bad.
type Kind string

// What is wrong with a record, which is otherwise as a good one is.
const (
	KindMessage  Kind = "message"   // another message, or digest
	KindKey      Kind = "key"       // another key
	KindS        Kind = "s"         // another s
	KindSwapped  Kind = "swapped"   // s and r
	KindRange    Kind = "range"     // r = n
	KindOffCurve Kind = "off-curve" // a key that is none
	KindBroken   Kind = "broken"    // can't be read
)

var allKinds = []Kind{KindMessage, KindKey, KindS, KindSwapped, KindRange, KindOffCurve, KindBroken}

// A Made is a bad record that was made.
type Made struct {
	Line   int64 `json:"line,omitempty"`
	Record int64 `json:"record,omitempty"`
	Made   Kind  `json:"made"`
}

// Number is that of the line or record.
func (m Made) Number() int64 { return m.Line + m.Record }

// maxRecurring is the most keys that recur.
const maxRecurring = 65536

// genBlock is the number of records that are made at a time. It is part of what a
// seed means.
const genBlock = 1024

// Check returns an error if Generate would not accept the options.
func (o *GenerateOptions) Check() error {
	switch {
	case o.Records < 0 || o.Bad < 0 || o.Bad > o.Records:
		return fmt.Errorf("sm2stream: %d bad records of %d", o.Bad, o.Records)
	case o.Signers < 0 || o.Signers > maxRecurring:
		return fmt.Errorf("sm2stream: %d signers: from 1 to %d, or 0 for one a record", o.Signers, maxRecurring)
	case !(o.Once >= 0 && o.Once <= 1):
		return errors.New("sm2stream: the share of signers that occur once is from 0 to 1")
	case o.Payload < 0 || o.Payload > MaxPayload:
		return fmt.Errorf("sm2stream: messages of %d bytes: from 0 to %d", o.Payload, MaxPayload)
	case o.Digests && o.ID != "":
		return errors.New("sm2stream: an ID goes with messages, not with digests")
	case o.Format > Binary:
		return fmt.Errorf("sm2stream: %v", o.Format)
	}
	for _, k := range o.Kinds {
		if k == KindBroken && o.Format == Binary {
			return errors.New("sm2stream: broken lines are for JSON lines")
		}
	}
	return nil
}

// Generate writes a file for tests, and calls made for each bad record in it, in
// their order, unless it is nil.
func Generate(ctx context.Context, w io.Writer, opts *GenerateOptions, made func(Made) error) error {
	o := *opts
	if o.Format == 0 {
		o.Format = JSONLines
	}
	if o.Encoding == 0 {
		o.Encoding = sm2.DER
	}
	if o.Digests {
		o.Payload = 32
	}
	if o.Workers <= 0 {
		o.Workers = runtime.GOMAXPROCS(0)
	}
	if o.Kinds == nil {
		o.Kinds = allKinds
		if o.Format == Binary {
			o.Kinds = allKinds[:len(allKinds)-1]
		}
	}
	if err := o.Check(); err != nil {
		return err
	}
	g, err := newGenerator(&o)
	if err != nil {
		return err
	}
	if o.Format == Binary {
		if _, err := w.Write(g.header.append(nil)); err != nil {
			return err
		}
	}
	if err := g.makeSigners(ctx); err != nil {
		return err
	}
	return pipeline(ctx, o.Workers, 2*o.Workers, g.feed,
		func() func(genJob) *genResult { return g.block },
		func(r *genResult) error {
			if r.err != nil {
				return r.err
			}
			if _, err := w.Write(r.data); err != nil {
				return err
			}
			for _, m := range r.made {
				if made == nil {
					break
				}
				if err := made(m); err != nil {
					return err
				}
			}
			if o.Progress != nil {
				o.Progress(r.last)
			}
			return nil
		})
}

// A generator makes blocks of records.
type generator struct {
	*GenerateOptions
	uid     sm2.UID
	header  header
	signers []signer
}

func newGenerator(o *GenerateOptions) (*generator, error) {
	g := &generator{GenerateOptions: o}
	if o.ID != "" {
		var err error
		if g.uid, err = ParseID(o.ID); err != nil {
			return nil, err
		}
	}
	g.header = header{payload: payloadMessage, room: o.Payload}
	switch {
	case o.Digests:
		g.header.payload = payloadDigest
	case o.ID == "none":
		g.header.idKind = idNone
	case o.ID != "":
		g.header.idKind = idGiven
		g.header.id, _ = idBytes(o.ID)
		if o.ID == "default" {
			g.header.id = []byte("1234567812345678")
		}
	}
	return g, nil
}

// rand returns random numbers for one part of the file, which depend on nothing but
// the seed and the part.
func (g *generator) rand(part string, i int64) *rand.ChaCha8 {
	h := sha256.New()
	h.Write(binary.BigEndian.AppendUint64(nil, uint64(len(g.Seed))))
	h.Write(g.Seed)
	h.Write(binary.BigEndian.AppendUint64([]byte(part), uint64(i)))
	return rand.NewChaCha8([32]byte(h.Sum(nil)))
}

// A genJob is a block to be made.
type genJob struct {
	index       int64
	first, last int64        // numbers of its records, from 1
	bad         map[int]Kind // by offset from first
}

// feed cuts the file into blocks and draws the bad records: in the end exactly as
// many as there are to be, each set of places being equally likely.
func (g *generator) feed(emit func(genJob) bool) error {
	rng := rand.New(g.rand("bad", 0))
	left, bad, kind := g.Records, g.Bad, 0
	for i := int64(0); i*genBlock < g.Records; i++ {
		j := genJob{index: i, first: i*genBlock + 1, last: min(g.Records, (i+1)*genBlock), bad: map[int]Kind{}}
		for k := j.first; k <= j.last && bad > 0; k++ {
			if rng.Int64N(left-(k-j.first)) < bad {
				j.bad[int(k-j.first)] = g.Kinds[kind%len(g.Kinds)]
				kind++
				bad--
			}
		}
		left -= j.last - j.first + 1
		if !emit(j) {
			return nil
		}
	}
	return nil
}

// A genResult is a block that is made.
type genResult struct {
	data []byte
	made []Made
	last int64
	err  error
}

// appendLine writes a record as a JSON line.
func (g *generator) appendLine(b []byte, it *made) []byte {
	hexField := func(name string, value []byte) {
		b = append(b, name...)
		b = hex.AppendEncode(b, value)
		b = append(b, '"')
	}
	hexField(`{"key":"04`, it.key[:])
	if g.Digests {
		hexField(`,"digest":"`, it.payload)
	} else {
		if g.ID != "" {
			b = append(b, `,"id":`...)
			b = append(b, jsonString(g.ID)...)
		}
		hexField(`,"message":"`, it.payload)
	}
	hexField(`,"signature":"`, it.encode(g.Encoding))
	if g.Encoding != sm2.DER {
		b = append(b, `,"encoding":"`+EncodingName(g.Encoding)+`"`...)
	}
	if g.Hinted {
		b = append(b, `,"hint":"even"`...)
	}
	if it.kind == KindBroken {
		return append(b, '\n') // without its end
	}
	return append(b, "}\n"...)
}
