// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/undersign/undersign/internal/audit"
	"github.com/undersign/undersign/internal/nodedir"
	"github.com/undersign/undersign/keyfile"
)

func newAuditCmd(e *env) *cobra.Command {
	c := newGroupCmd(e, "audit", "Read and verify what a node did", `
A node records what is done with its secrets, and what it denies, in
audit.jsonl: a line before and a line after. Each line has the hash of the one
before, and now and then the node signs the hash so far, so that nobody without
its key changes what was written. It doesn't show that the end was cut off: for
that, keep the hash that "undersign audit verify" prints somewhere else, and
give it --known.`,
		newAuditListCmd(e),
		newAuditVerifyCmd(e),
		newAuditExportCmd(e),
		newAuditRotateCmd(e),
	)
	c.Example = `  undersign audit list --dir alice --last 20
  undersign audit verify --dir alice
  undersign audit export --dir alice -o alice.jsonl
  undersign audit rotate --dir alice`
	return c
}

// An auditFlags says which log, and whose.
type auditFlags struct {
	dir string
	key string
}

func addAuditFlags(c *cobra.Command, f *auditFlags) {
	addDirFlag(c, &f.dir)
	c.Flags().StringVar(&f.key, "key", "", "the node's public key `FILE`, where its folder isn't at hand")
}

// open opens the log that args or --dir name, and returns the key that it is signed with.
func (f *auditFlags) open(e *env, c *cobra.Command, args []string) (r io.ReadCloser, name string, key ed25519.PublicKey, err error) {
	name = filepath.Join(f.dir, nodedir.Audit)
	if len(args) > 0 {
		name = args[0]
	}
	if f.key != "" {
		data, err := e.readInput(c.Context(), f.key, maxObject)
		if err != nil {
			return nil, name, nil, err
		}
		p, err := keyfile.ParseAs[*keyfile.Party](data)
		if err != nil {
			return nil, name, nil, fileError(f.key, err)
		}
		key = p.Key
	} else {
		id, err := readNodeIdentity(f.dir)
		if err != nil {
			return nil, name, nil, err
		}
		key = id.PublicKey()
	}
	r, err = e.openInput(c.Context(), name)
	return r, name, key, err
}

// verifyAudit verifies a log. What is wrong with it isn't an error like others.
func verifyAudit(r io.Reader, name string, key ed25519.PublicKey, known string, each func(*audit.Record)) (*audit.Report, error) {
	report, err := audit.Verify(r, key, known, each)
	if errors.Is(err, audit.ErrBroken) {
		return nil, failf(ExitInvalid, "compare it with a backup or an export", "%s: %w", inputName(name), err)
	}
	return report, err
}

type auditResult struct {
	Records     uint64   `json:"records"`
	Checkpoints uint64   `json:"checkpoints"`
	Unsigned    uint64   `json:"unsigned"`
	Open        []uint64 `json:"open"`
	After       string   `json:"after,omitempty"`
	Head        string   `json:"head"`
	Torn        int64    `json:"torn"`
}

func newAuditResult(r *audit.Report) auditResult {
	open := r.Open
	if open == nil {
		open = []uint64{}
	}
	after := r.After
	if strings.Trim(after, "0") == "" {
		after = ""
	}
	return auditResult{r.Records, r.Checkpoints, r.Unsigned, open, after, r.Head, r.Torn}
}

func newAuditVerifyCmd(e *env) *cobra.Command {
	var f auditFlags
	var known string
	c := &cobra.Command{
		Use:   "verify [FILE]",
		Short: "Verify an audit log",
		Long: `Verify an audit log, also while the node runs: that each line is what follows
from the one before, and that the node signed it.

Records after the last checkpoint aren't signed yet. A record of something that
was begun and has no end means that it is under way, or that the node died in
it.`,
		Example: `  undersign audit verify --dir alice
  undersign audit verify alice.jsonl --key alice.pub --known 5be9...`,
		Args: nargs(0, 1, "an audit log"),
		RunE: func(c *cobra.Command, args []string) error {
			if b, err := hex.DecodeString(known); err != nil || known != "" && len(b) != sha256.Size {
				return usagef(c, "--known: a record's hash has %d hexadecimal digits", 2*sha256.Size)
			}
			r, name, key, err := f.open(e, c, args)
			if err != nil {
				return err
			}
			defer r.Close()
			report, err := verifyAudit(r, name, key, strings.ToLower(known), func(*audit.Record) {})
			if err != nil {
				return err
			}
			res := newAuditResult(report)
			return e.print(res, func(w io.Writer) {
				fmt.Fprintf(w, "%s is whole: %d records, %d checkpoints.\n", inputName(name), res.Records, res.Checkpoints)
				fmt.Fprintf(w, "head      %s\nunsigned  %d records after the last checkpoint\n", res.Head, res.Unsigned)
				if len(res.Open) > 0 {
					fmt.Fprintf(w, "open      %d records without an end: %v\n", len(res.Open), res.Open)
				}
				if res.Torn > 0 {
					fmt.Fprintf(w, "torn      %d bytes of a last record that isn't whole\n", res.Torn)
				}
			})
		},
	}
	addAuditFlags(c, &f)
	c.Flags().StringVar(&known, "known", "", "the `HASH` of a record that was kept elsewhere")
	describe(c, "records, checkpoints, unsigned, open, after, head, torn", ExitInvalid)
	describeExit(c, ExitInvalid, "the log was changed or damaged")
	return c
}

func newAuditListCmd(e *env) *cobra.Command {
	var f auditFlags
	var want auditFilter
	var since string
	c := &cobra.Command{
		Use:   "list [FILE]",
		Short: "List the records of an audit log",
		Long: `List the records of an audit log, which is verified on the way. Without flags
these are all but checkpoints.`,
		Example: `  undersign audit list --dir alice --last 20
  undersign audit list --dir alice --outcome denied --since 2026-11-30T00:00:00Z --json`,
		Args: nargs(0, 1, "an audit log"),
		RunE: func(c *cobra.Command, args []string) error {
			if since != "" {
				var err error
				if want.since, err = time.Parse(time.RFC3339, since); err != nil {
					return usagef(c, "--since %s isn't a time like 2026-11-30T00:00:00Z", since)
				}
			}
			if want.last < 0 {
				return usagef(c, "--last is negative")
			}
			r, name, key, err := f.open(e, c, args)
			if err != nil {
				return err
			}
			defer r.Close()
			result := struct {
				Records []audit.Record `json:"records"`
			}{[]audit.Record{}}
			_, err = verifyAudit(r, name, key, "", func(rec *audit.Record) {
				if want.matches(rec) {
					result.Records = append(result.Records, *rec)
					if want.last > 0 && len(result.Records) > want.last {
						result.Records = result.Records[1:]
					}
				}
			})
			if err != nil {
				return err
			}
			return e.print(result, func(w io.Writer) {
				for _, rec := range result.Records {
					fmt.Fprintln(w, auditLine(&rec))
				}
			})
		},
	}
	addAuditFlags(c, &f)
	c.Flags().IntVar(&want.last, "last", 0, "the last `N` of them")
	c.Flags().StringVar(&want.party, "party", "", "of the party with this `FINGERPRINT`")
	c.Flags().StringVar(&want.operation, "operation", "", "of this `OPERATION`")
	c.Flags().StringVar(&want.outcome, "outcome", "", "with this `OUTCOME`: ok, denied or failed")
	c.Flags().StringVar(&since, "since", "", "not older than this `TIME`")
	describe(c, "records", ExitInvalid)
	describeExit(c, ExitInvalid, "the log was changed or damaged")
	return c
}

type auditFilter struct {
	last                      int
	party, operation, outcome string
	since                     time.Time
}

func (f *auditFilter) matches(r *audit.Record) bool {
	t, err := time.Parse(time.RFC3339Nano, r.Time)
	return r.Kind != audit.Checkpoint && err == nil && !t.Before(f.since) &&
		(f.party == "" || f.party == r.Party) &&
		(f.operation == "" || f.operation == r.Operation) &&
		(f.outcome == "" || f.outcome == string(r.Outcome))
}

func auditLine(r *audit.Record) string {
	s := fmt.Sprintf("%6d  %s  %-6s", r.Seq, r.Time, r.Kind)
	if r.Kind == audit.End {
		s += fmt.Sprintf("  of %d", r.Of)
	}
	for _, v := range []string{string(r.Outcome), r.Operation, r.Party, r.Key, r.Subject, r.Detail} {
		if v != "" {
			s += "  " + oneLine(v)
		}
	}
	return s
}

func newAuditExportCmd(e *env) *cobra.Command {
	var f auditFlags
	var out string
	var force bool
	c := &cobra.Command{
		Use:   "export -o FILE",
		Short: "Copy an audit log for others to verify",
		Long: `Verify an audit log and write its records to a file, for somebody who verifies
it with "undersign audit verify FILE --key KEY". The node's public key, which
that takes, is written beside it, to FILE.key.

It says who called what and when; it holds no messages and no secrets.`,
		Example: "  undersign audit export --dir alice -o alice.jsonl",
		Args:    noArgs,
		RunE: func(c *cobra.Command, args []string) error {
			r, name, key, err := f.open(e, c, nil)
			if err != nil {
				return err
			}
			defer r.Close()
			// The log may grow meanwhile: what is verified is what is written.
			data, err := io.ReadAll(r)
			if err != nil {
				return err
			}
			report, err := verifyAudit(bytes.NewReader(data), name, key, "", func(*audit.Record) {})
			if err != nil {
				return err
			}
			party := &keyfile.Party{Key: key}
			pub, err := keyfile.Encode(party, "The key of the node "+keyfile.Fingerprint(party)+".")
			if err != nil {
				return err
			}
			set := e.newFileSet(force)
			defer set.abort()
			if err := set.add(out, data[:report.Bytes], publicFile); err != nil {
				return err
			}
			if out != "-" {
				if err := set.add(out+".key", pub, publicFile); err != nil {
					return err
				}
			}
			if err := set.commit(); err != nil {
				return err
			}
			if out == "-" {
				return nil
			}
			res := struct {
				File string `json:"file"`
				Key  string `json:"key"`
				auditResult
			}{out, out + ".key", newAuditResult(report)}
			return e.print(res, func(w io.Writer) {
				fmt.Fprintf(w, "%s: %d records, to %s\n%s: the node's key\n", out, res.Records, res.Head, res.Key)
			})
		},
	}
	addDirFlag(c, &f.dir)
	addOutFlag(c, &out, "")
	addForceFlag(c, &force)
	c.MarkFlagRequired("out")
	describe(c, "file, key, records, checkpoints, unsigned, open, after, head, torn", ExitInvalid)
	describeExit(c, ExitInvalid, "the log was changed or damaged")
	return c
}

func newAuditRotateCmd(e *env) *cobra.Command {
	var dir string
	c := &cobra.Command{
		Use:   "rotate",
		Short: "Begin a new audit log",
		Long: `Verify the audit log of a node that doesn't run, keep it in the folder under the
number of its last record, and begin a new one, whose first line has the hash of
the old one's last.`,
		Example: "  undersign audit rotate --dir alice",
		Args:    noArgs,
		RunE: func(c *cobra.Command, args []string) error {
			old, report, err := e.rotateAudit(dir)
			if err != nil || old == "" {
				return err
			}
			result := struct {
				Old string `json:"old"`
				auditResult
			}{old, newAuditResult(report)}
			return e.print(result, func(w io.Writer) {
				fmt.Fprintf(w, "%s: %d records, to %s\n", old, report.Records, report.Head)
			})
		},
	}
	addDirFlag(c, &dir)
	describe(c, "old, records, checkpoints, unsigned, open, after, head, torn", ExitInvalid)
	describeExit(c, ExitInvalid, "the log was changed or damaged")
	return c
}

// rotateAudit returns where the old log is, or nothing in a dry run.
func (e *env) rotateAudit(dir string) (old string, report *audit.Report, err error) {
	id, err := readNodeIdentity(dir)
	if err != nil {
		return "", nil, err
	}
	lock, err := nodedir.Acquire(dir)
	if err != nil {
		return "", nil, nodeDirError(dir, err)
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	path := filepath.Join(dir, nodedir.Audit)
	// What a crash has left of a last line is removed, and the end is signed.
	log, err := audit.Open(path, id.SigningKey(), audit.Options{})
	if errors.Is(err, audit.ErrBroken) {
		err = withCode(err, ExitInvalid)
	}
	if err != nil {
		return "", nil, err
	}
	if err := log.Close(); err != nil {
		return "", nil, err
	}
	f, err := os.Open(path)
	if err != nil {
		return "", nil, inputError(path, err)
	}
	defer f.Close()
	// Ends of what died stay open in the old file.
	report, err = verifyAudit(f, path, id.PublicKey(), "", func(*audit.Record) {})
	if err != nil {
		return "", nil, err
	}
	old = filepath.Join(dir, fmt.Sprintf("audit-%s-%d.jsonl", time.Now().UTC().Format("20060102T150405"), report.Records))
	if e.dryRun {
		e.notef("would keep the log as %s", old)
		return "", report, nil
	}
	// The new file is whole before it gets the name: there is no moment without a log.
	temp := path + ".new"
	if err := os.Remove(temp); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", nil, outputError(temp, err)
	}
	next, err := audit.Open(temp, id.SigningKey(), audit.Options{After: report.Head})
	if err != nil {
		return "", nil, err
	}
	if err := next.Close(); err != nil {
		return "", nil, err
	}
	if err := os.Link(path, old); err != nil {
		return "", nil, outputError(old, err)
	}
	if err := os.Rename(temp, path); err != nil {
		return "", nil, outputError(path, err)
	}
	return old, report, nodedir.SyncDir(dir)
}
