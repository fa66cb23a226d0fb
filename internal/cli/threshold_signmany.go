// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"github.com/undersign/undersign/keyfile"
	"github.com/undersign/undersign/thresholdrsa"
)

// requestExt is how the names of requests end.
const requestExt = ".req"

// maxRequests bounds what is signed in one go: all requests are shown first.
const maxRequests = 100_000

// signPiece is how many requests are signed and stored at a time by each processor:
// as many as there are lanes for.
const signPiece = 8

type signedRequest struct {
	Request string `json:"request"`
	From    string `json:"from"`
	File    string `json:"file"`
}

type badRequest struct {
	From   string `json:"from"`
	Reason string `json:"reason"`
}

type signManyResult struct {
	Fingerprint string          `json:"fingerprint"`
	Epoch       uint64          `json:"epoch"`
	Index       int             `json:"index"`
	Name        string          `json:"name"`
	Signed      []signedRequest `json:"signed"`
	Bad         []badRequest    `json:"bad"`
}

// A signTask is a request on its way.
type signTask struct {
	from, out string
	r         *thresholdrsa.Request
	share     *thresholdrsa.SignatureShare
	err       error
}

// isDir reports whether a request is named by a directory.
func isDir(name string) bool {
	fi, err := os.Stat(name)
	return err == nil && fi.IsDir()
}

// requestFiles replaces directories by the requests in them.
func requestFiles(c *cobra.Command, args []string) ([]string, error) {
	var files []string
	for _, a := range args {
		switch {
		case a == "-":
			return nil, usagef(c, "standard input is one request: it can't be signed with others")
		case !isDir(a):
			files = append(files, a)
			continue
		}
		entries, err := os.ReadDir(a)
		if err != nil {
			return nil, fmt.Errorf("can't read %s: %w", a, errors.Unwrap(err))
		}
		n := len(files)
		for _, f := range entries {
			if strings.HasSuffix(f.Name(), requestExt) && !f.IsDir() {
				files = append(files, filepath.Join(a, f.Name()))
			}
		}
		if len(files) == n {
			return nil, failf(ExitError, "", "%s has no requests: no file is called NAME%s", a, requestExt)
		}
	}
	if len(files) > maxRequests {
		return nil, failf(ExitUsage, "", "%d requests: at most %d are signed in one go", len(files), maxRequests)
	}
	return files, nil
}

// signRequests signs many requests, each for itself: a bad one stops no other.
func (e *env) signRequests(c *cobra.Command, f signFlags, args []string) error {
	ctx := c.Context()
	switch {
	case f.file != "" || f.jwsPayload != "" || f.kid != "":
		return usagef(c, "--file, --jws-payload and --kid are for one request: see --files")
	case f.out == "-":
		return usagef(c, "-o -: several shares go into a directory")
	}
	if fi, err := os.Stat(f.out); err == nil && f.out != "" && !fi.IsDir() {
		return usagef(c, "-o %s: with several requests it is a directory, and not a file", f.out)
	}
	files, err := requestFiles(c, args)
	if err != nil {
		return err
	}
	o, err := e.newOpener(ctx, f.secret)
	if err != nil {
		return err
	}
	defer o.wipe()
	share, _, err := o.openShare(f.share)
	if err != nil {
		return err
	}
	defer share.Wipe()
	p := share.PublicKey()
	if err := checkHolderName(share.Name()); err != nil {
		return withHint(err, "sign one by one, and name the output with -o")
	}
	res := signManyResult{
		Fingerprint: keyfile.Fingerprint(p), Epoch: p.Epoch(), Index: share.Index(), Name: share.Name(),
		Signed: []signedRequest{}, Bad: []badRequest{},
	}
	refuse := func(t *signTask) {
		res.Bad = append(res.Bad, badRequest{t.from, t.err.Error()})
		e.warnf("not signed: %s", t.err)
	}

	var good []*signTask
	outs := map[string]bool{}
	for _, file := range files {
		t := &signTask{from: inputName(file), out: file + "." + share.Name()}
		if f.out != "" {
			t.out = filepath.Join(f.out, filepath.Base(t.out))
		}
		if t.r, t.err = e.readRequest(ctx, file, p); t.err == nil && f.files {
			t.err = e.sameDigest(ctx, strings.TrimSuffix(file, requestExt), t.r.Hash(), t.r.Digest())
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		switch {
		case t.err != nil:
		case outs[filepath.Clean(t.out)]:
			t.err = fmt.Errorf("%s: the share of another request is to be called %s", file, t.out)
		default:
			t.err = e.checkOut(t.out, f.force)
		}
		if t.err != nil {
			refuse(t)
			continue
		}
		outs[filepath.Clean(t.out)] = true
		good = append(good, t)
	}
	if len(good) > 0 {
		if err := e.agreeToSign(ctx, good, p, share.Index(), res.Fingerprint); err != nil {
			return err
		}
		if f.out != "" && !e.dryRun {
			if err := os.MkdirAll(f.out, 0o777); err != nil {
				return outputError(f.out, err)
			}
		}
	}

	progress := e.startProgress()
	err = e.signTasks(ctx, share, good, func(t *signTask) {
		if t.err == nil {
			t.err = e.storeShare(t, f.force)
		}
		if t.err != nil {
			refuse(t)
			return
		}
		id := t.r.ID()
		res.Signed = append(res.Signed, signedRequest{hex.EncodeToString(id[:]), t.from, t.out})
		progress.update("%d of %d signed", len(res.Signed), len(good))
	})
	progress.done()
	if err == nil && len(res.Bad) > 0 {
		err = failf(ExitInvalid, "", "%d of %d requests aren't signed", len(res.Bad), len(files))
	}
	if perr := e.print(res, func(w io.Writer) {
		for _, s := range res.Signed {
			fmt.Fprintf(w, "%s\n", printable(s.File))
		}
	}); perr != nil {
		return errors.Join(err, perr)
	}
	return err
}

// agreeToSign shows what is about to be signed and, on a terminal, asks.
func (e *env) agreeToSign(ctx context.Context, tasks []*signTask, p *thresholdrsa.PublicKey, index int, fingerprint string) error {
	text := "signing as %s of %s, epoch %d: %d requests"
	if _, ok := terminal(e.stdin); !ok || e.yes {
		e.notef(text, holderLabel(p, index), fingerprint, p.Epoch(), len(tasks))
		for _, t := range tasks {
			e.notef("%s: %s %x, %s", t.from, hashName(t.r.Hash()), t.r.Digest(), paddingText(t.r))
		}
		return nil
	}
	var b bytes.Buffer
	for _, t := range tasks {
		fmt.Fprintf(&b, "%s\n    %s %x, %s\n", t.from, hashName(t.r.Hash()), t.r.Digest(), paddingText(t.r))
	}
	e.clearProgress()
	fmt.Fprint(e.stderr, printable(b.String()))
	return e.confirm(ctx, fmt.Sprintf("Sign these %d requests of %s, epoch %d, as %s?", len(tasks), fingerprint, p.Epoch(), holderLabel(p, index)))
}

// signTasks signs tasks, piece by piece on all processors, and has each done in order.
func (e *env) signTasks(ctx context.Context, share *thresholdrsa.KeyShare, tasks []*signTask, done func(*signTask)) error {
	for len(tasks) > 0 {
		if err := ctx.Err(); err != nil {
			return err
		}
		round := tasks[:min(len(tasks), signPiece*runtime.GOMAXPROCS(0))]
		tasks = tasks[len(round):]
		var wg sync.WaitGroup
		damaged := make([]error, (len(round)+signPiece-1)/signPiece)
		for i := range damaged {
			piece := round[signPiece*i : min(len(round), signPiece*(i+1))]
			wg.Go(func() { damaged[i] = signTogether(share, piece) })
		}
		wg.Wait()
		if err := errors.Join(damaged...); err != nil {
			return &Error{Err: fmt.Errorf("the share is damaged: %w", err), Hint: "restore it from a backup", Code: ExitInvalid}
		}
		for _, t := range round {
			done(t)
		}
	}
	return nil
}

// signTogether signs a piece. What is wrong with a request is noted there; the error
// is about the holder's share.
func signTogether(share *thresholdrsa.KeyShare, piece []*signTask) error {
	rs := make([]*thresholdrsa.Request, len(piece))
	for i, t := range piece {
		rs[i] = t.r
	}
	sigs, err := share.SignBatch(rs)
	if err != nil { // all or none: find out whose fault it is
		sigs = make([]*thresholdrsa.SignatureShare, len(piece))
		for i, t := range piece {
			if sigs[i], err = share.Sign(t.r); err != nil {
				t.err = fileError(t.from, err)
			}
		}
	}
	var answers []thresholdrsa.Answer
	for i, t := range piece {
		if t.err == nil {
			t.share = sigs[i]
			answers = append(answers, thresholdrsa.Answer{Request: t.r, Share: t.share})
		}
	}
	// A damaged share makes signature shares for which its holder is blamed.
	return errors.Join(share.PublicKey().VerifyShares(answers)...)
}

// storeShare writes the signature share of a task.
func (e *env) storeShare(t *signTask, force bool) error {
	data, err := keyfile.Encode(t.share)
	if err != nil {
		return err
	}
	return e.writeFile(t.out, data, publicFile, force)
}
