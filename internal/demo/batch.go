// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package demo

import (
	"bufio"
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	gmsm "github.com/emmansun/gmsm/sm2"
	"github.com/emmansun/gmsm/smx509"

	"github.com/undersign/undersign/internal/sm2stream"
	"github.com/undersign/undersign/sm2"
)

// The demo's file.
const (
	batchRecords = 100_000
	batchSigners = 64   // whose keys recur
	batchOnce    = 0.03 // share of the records by others, who sign once
	batchForged  = 3
	batchSample  = 2000 // for the time one by one
)

// The demo's keys and files.
const (
	signaturesName = "signatures.jsonl"
	forgedName     = "forged.jsonl"
)

// batch is the demo of batch verification, as its steps fill it.
type batch struct {
	stage
	records int64
	forged  []int64 // line numbers
	bad     []int64
	sum     *sm2stream.Summary
}

// Batch shows a file of SM2 signatures verified, and what is wrong with it found.
func Batch(ctx context.Context, opts Options) (*Result, error) {
	dir, err := filepath.Abs(opts.Dir)
	if err != nil {
		return nil, err
	}
	opts.Dir = dir
	d := &batch{stage: stage{opts, &Result{Dir: dir}}, records: batchRecords}
	if opts.Records > 0 {
		d.records = int64(opts.Records)
	}
	if d.records < batchForged {
		return nil, fmt.Errorf("demo: %d signatures, of which %d are to be forged", d.records, batchForged)
	}
	for _, step := range []struct {
		title string
		f     func(context.Context) ([]string, error)
	}{
		{fmt.Sprintf("Make %d signatures by mixed signers, and forge %d of them", d.records, batchForged), d.make},
		{"Verify all of them", d.verify},
		{"Compare with verifying one by one", d.compare},
		{"Ask somebody who knows nothing of undersign about the bad ones", d.check},
	} {
		if err := d.do(ctx, step.title, func() ([]string, error) { return step.f(ctx) }); err != nil {
			return nil, err
		}
	}
	return d.res, nil
}

// make writes the file, and which lines are forged.
func (d *batch) make(ctx context.Context) ([]string, error) {
	f, err := os.Create(d.path(signaturesName))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	w := bufio.NewWriterSize(f, 1<<20)
	var made bytes.Buffer
	out := []string{fmt.Sprintf("%d signers sign again and again, and %.0f %% of the signatures are by others, who sign once", batchSigners, 100*batchOnce)}
	err = sm2stream.Generate(ctx, w, &sm2stream.GenerateOptions{
		Records: d.records, Signers: batchSigners, Once: batchOnce, Payload: 200, Bad: batchForged,
		Kinds: []sm2stream.Kind{sm2stream.KindMessage, sm2stream.KindKey, sm2stream.KindS},
		Seed:  []byte("undersign demo batch"),
	}, func(m sm2stream.Made) error {
		d.forged = append(d.forged, m.Line)
		out = append(out, fmt.Sprintf("forged: line %d, another %s", m.Line, m.Made))
		return json.NewEncoder(&made).Encode(m)
	})
	if err != nil {
		return nil, err
	}
	if err := errors.Join(w.Flush(), f.Close()); err != nil {
		return nil, err
	}
	return out, d.write(forgedName, made.Bytes(), 0o644)
}

// verify finds the bad lines, which must be the forged ones.
func (d *batch) verify(ctx context.Context) ([]string, error) {
	f, err := os.Open(d.path(signaturesName))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	out := []string{"$ undersign sm2 batch " + signaturesName}
	d.sum, err = sm2stream.Verify(ctx, f, &sm2stream.Options{Sample: batchSample}, func(b sm2stream.Bad) error {
		d.bad = append(d.bad, b.Line)
		text, err := json.Marshal(b)
		out = append(out, string(text))
		return err
	})
	if err != nil {
		return nil, err
	}
	if d.sum.Items != d.records || !slices.Equal(d.bad, d.forged) {
		return out, fmt.Errorf("found %v bad among %d, and %v of %d are forged", d.bad, d.sum.Items, d.forged, d.records)
	}
	return append(out, fmt.Sprintf("%d signatures, and exactly the %d forged ones are bad", d.sum.Items, len(d.bad))), nil
}

// compare tells the times, which verify has measured.
func (d *batch) compare(context.Context) ([]string, error) {
	s := d.sum.Sample
	if s.Verdicts != "equal" {
		return nil, errors.New("the verdicts differ")
	}
	cpu := float64(d.sum.Items) / s.BatchRate
	return []string{
		fmt.Sprintf("in batches: %.2f s of processor time, reading and parsing the file included; %.2f s by the clock, with %d processors",
			cpu, d.sum.Seconds, runtime.GOMAXPROCS(0)),
		fmt.Sprintf("one by one: %.2f s of processor time, by gmsm; measured on %d of them, with the same verdicts", s.OneByOneAll, s.Items),
		fmt.Sprintf("that is %.1f times as long", s.Ratio),
	}, nil
}

// A batchLine is a line of the file.
type batchLine struct{ Key, Message, Signature string }

// check verifies each bad line, and the good one after or before it, by OpenSSL or gmsm.
func (d *batch) check(ctx context.Context) ([]string, error) {
	lines, err := d.lines()
	if err != nil {
		return nil, err
	}
	version := ""
	if _, err := exec.LookPath("openssl"); err == nil {
		if version, err = d.run(ctx, "openssl", "version"); err != nil {
			return nil, err
		}
		d.res.Verified = []string{version}
	} else {
		d.res.Verified = []string{"gmsm"}
	}
	var out []string
	if version == "" {
		out = append(out, "openssl isn't here, so gmsm checks")
	} else {
		out = append(out, "$ openssl pkeyutl -verify -rawin -digest sm3 -pkeyopt distid:1234567812345678 -pubin -inkey N.pem -sigfile N.sig -in N.msg")
	}
	for _, n := range d.bad {
		near := n + 1
		for near > d.records || slices.Contains(d.bad, near) {
			near = (near % d.records) + 1
		}
		for _, number := range []int64{n, near} {
			want := number == near
			good, err := d.single(ctx, number, lines[number], version != "")
			if err != nil {
				return out, fmt.Errorf("line %d: %w", number, err)
			}
			if good != want {
				return out, fmt.Errorf("line %d: valid is %v to %s", number, good, d.res.Verified[0])
			}
			verdict := "refused"
			if good {
				verdict = "accepted"
			}
			out = append(out, fmt.Sprintf("line %d: %s", number, verdict))
		}
	}
	return out, nil
}

// lines reads the file.
func (d *batch) lines() (map[int64]string, error) {
	f, err := os.Open(d.path(signaturesName))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	out := map[int64]string{}
	s := bufio.NewScanner(f)
	for n := int64(1); s.Scan(); n++ {
		out[n] = s.Text()
	}
	return out, s.Err()
}

// single verifies one line without undersign's code for batches.
func (d *batch) single(ctx context.Context, number int64, text string, openssl bool) (bool, error) {
	var l batchLine
	if err := json.Unmarshal([]byte(text), &l); err != nil {
		return false, err
	}
	key, err1 := hex.DecodeString(l.Key)
	msg, err2 := hex.DecodeString(l.Message)
	sig, err3 := hex.DecodeString(l.Signature)
	if err := errors.Join(err1, err2, err3); err != nil {
		return false, err
	}
	pub, err := sm2.ParsePublicKey(key)
	if err != nil {
		return false, err
	}
	if !openssl {
		return gmsm.VerifyASN1WithSM2(pub, nil, msg, sig), nil
	}
	spki, err := smx509.MarshalPKIXPublicKey(pub)
	if err != nil {
		return false, err
	}
	name := fmt.Sprint(number)
	err = errors.Join(
		d.write(name+".pem", pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: spki}), 0o644),
		d.write(name+".msg", msg, 0o644),
		d.write(name+".sig", sig, 0o644))
	if err != nil {
		return false, err
	}
	answer, err := d.run(ctx, "openssl", "pkeyutl", "-verify", "-rawin", "-digest", "sm3", "-pkeyopt", "distid:1234567812345678",
		"-pubin", "-inkey", name+".pem", "-sigfile", name+".sig", "-in", name+".msg")
	switch {
	case err == nil && strings.Contains(answer, "Verified Successfully"):
		return true, nil
	case strings.Contains(answer, "Verification Failure"):
		return false, nil
	case err == nil:
		err = errors.New(answer)
	}
	return false, err
}
