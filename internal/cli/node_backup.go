// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bufio"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"filippo.io/age"
	"filippo.io/age/armor"
	"github.com/spf13/cobra"

	nodev1 "github.com/undersign/undersign/gen/undersign/node/v1"
	"github.com/undersign/undersign/internal/audit"
	"github.com/undersign/undersign/internal/nodedir"
	"github.com/undersign/undersign/internal/service"
	"github.com/undersign/undersign/internal/store"
	"github.com/undersign/undersign/keyfile"
)

func newBackupCmd(e *env) *cobra.Command {
	var dir, out, to string
	var pass passphraseFlags
	var force bool
	c := &cobra.Command{
		Use:   "backup --to FILE -o FILE",
		Short: "Write a node's folder into one encrypted file",
		Long: `Write all that a node is into one file, also while it runs: configuration,
keys, shares, a copy of the store as it is at one moment, and the audit log. It
is a tar archive in an age file, for the recipients in --to or under a
passphrase.

Whoever opens it can be the node: keep it, and what opens it, apart from each
other and from the node.`,
		Example: `  undersign backup --dir alice --to admin.txt -o alice.backup
  undersign backup --dir alice --passphrase-file pass.txt -o alice.backup`,
		Args: noArgs,
		RunE: func(c *cobra.Command, args []string) error {
			if err := e.checkOut(out, force); err != nil {
				return err
			}
			if out == "-" {
				return usagef(c, "a backup goes to a file")
			}
			recipients, err := e.backupRecipients(c, to, pass)
			if err != nil {
				return err
			}
			id, err := readNodeIdentity(dir)
			if err != nil {
				return err
			}
			if e.dryRun {
				e.notef("would write %s", out)
				return nil
			}
			size, err := e.backup(c.Context(), dir, out, id.Fingerprint(), recipients, force)
			if err != nil {
				return err
			}
			result := struct {
				File        string `json:"file"`
				Fingerprint string `json:"fingerprint"`
				Bytes       int64  `json:"bytes"`
			}{out, id.Fingerprint(), size}
			return e.print(result, func(w io.Writer) {
				fmt.Fprintf(w, "%s: %d bytes, the backup of %s\n", out, size, result.Fingerprint)
			})
		},
	}
	addDirFlag(c, &dir)
	addOutFlag(c, &out, "")
	c.Flags().StringVar(&to, "to", "", "encrypt to the age recipients in `FILE`")
	addPassphraseFlags(c, &pass)
	addForceFlag(c, &force)
	c.MarkFlagRequired("out")
	c.MarkFlagsMutuallyExclusive("to", "passphrase-file")
	c.MarkFlagsMutuallyExclusive("to", "passphrase-fd")
	return describe(c, "file, fingerprint, bytes")
}

// backupRecipients returns to whom a backup is encrypted.
func (e *env) backupRecipients(c *cobra.Command, to string, pass passphraseFlags) ([]age.Recipient, error) {
	if to != "" {
		return e.readRecipients(c.Context(), to)
	}
	p, err := e.passphrase(c.Context(), pass, "the backup", true)
	if err != nil {
		return nil, err
	}
	defer clear(p)
	r, err := age.NewScryptRecipient(string(p))
	return nonNil(r), err
}

// backup writes the file, and returns its size.
func (e *env) backup(ctx context.Context, dir, out, fingerprint string, to []age.Recipient, force bool) (size int64, err error) {
	snapshot, err := e.snapshot(ctx, dir)
	if err != nil {
		return 0, err
	}
	defer os.Remove(snapshot)
	temp := siblingName(out, "undersign-tmp")
	f, err := os.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, secretFile)
	if err != nil {
		return 0, outputError(out, err)
	}
	defer func() {
		f.Close()
		os.Remove(temp) // it has its name by then
	}()
	w, err := age.Encrypt(f, to...)
	if err != nil {
		return 0, err
	}
	if err := nodedir.Pack(ctxWriter{ctx, w}, dir, snapshot, nodedir.Manifest{Fingerprint: fingerprint, Made: time.Now().UTC().Truncate(time.Second)}); err != nil {
		return 0, err
	}
	if err := errors.Join(w.Close(), f.Sync()); err != nil {
		return 0, outputError(out, err)
	}
	fi, err := f.Stat()
	if err != nil {
		return 0, outputError(out, err)
	}
	if err := f.Close(); err != nil {
		return 0, outputError(out, err)
	}
	staged := &stagedFile{path: out, final: out, temp: temp}
	if err := staged.place(force); err != nil {
		return 0, err
	}
	if staged.backup != "" {
		os.Remove(staged.backup)
	}
	syncDir(filepath.Dir(out))
	return fi.Size(), nil
}

// A ctxWriter writes until its context ends.
type ctxWriter struct {
	ctx context.Context
	w   io.Writer
}

func (w ctxWriter) Write(p []byte) (int, error) {
	if err := w.ctx.Err(); err != nil {
		return 0, err
	}
	return w.w.Write(p)
}

// snapshot returns a file with a copy of the store, which the caller removes.
func (e *env) snapshot(ctx context.Context, dir string) (path string, err error) {
	live, err := e.liveNode(dir)
	if err != nil {
		return "", err
	}
	if live != nil {
		defer live.close()
		resp, err := live.client.Snapshot(ctx, new(nodev1.SnapshotRequest))
		if err != nil {
			return "", live.callError(err)
		}
		if filepath.Base(resp.File) != resp.File {
			return "", fmt.Errorf("the node wrote its snapshot to %q", resp.File)
		}
		return filepath.Join(dir, resp.File), nil
	}
	n, err := e.idleNode(dir)
	if err != nil {
		return "", err
	}
	defer n.closeInto(&err)
	// A node that never ran has no record yet, and a backup has one.
	if err := n.record("node.snapshot", "", ""); err != nil {
		return "", err
	}
	path = filepath.Join(dir, nodedir.Snapshots+rand.Text()[:12]+".db")
	return path, n.store.Backup(path)
}

func newRestoreCmd(e *env) *cobra.Command {
	var dir string
	var f secretFlags
	c := &cobra.Command{
		Use:   "restore FILE --dir DIR",
		Short: "Make a node's folder of a backup",
		Long: `Make a node's folder of a backup. The folder mustn't exist, or must be empty.

What the node did after the backup was made, others remember and it doesn't. So
the folder is marked: its services jump over numbers that they may have used,
and wait until nothing from before can matter any more. A folder that was
copied by other means has no such mark: restore only by this command. Never let
two nodes run from one backup, nor this one beside the node that it was made
of.`,
		Example: "  undersign restore alice.backup --dir alice -i admin.key",
		Args:    nargs(1, 1, "a backup"),
		RunE: func(c *cobra.Command, args []string) error {
			if entries, err := os.ReadDir(dir); err == nil && len(entries) > 0 {
				return failf(ExitError, "restore to a new folder", "%s isn't empty, and a restore replaces nothing", dir)
			}
			if err := e.confirm(c.Context(), "Has the node that the backup was made of ended for good?"); err != nil {
				return err
			}
			if e.dryRun {
				e.notef("would make %s", dir)
				return nil
			}
			m, err := e.restore(c.Context(), args[0], dir, f)
			if err != nil {
				return err
			}
			result := struct {
				Dir         string `json:"dir"`
				Fingerprint string `json:"fingerprint"`
				Made        string `json:"made"`
			}{dir, m.Fingerprint, m.Made.Format(time.RFC3339)}
			return e.print(result, func(w io.Writer) {
				fmt.Fprintf(w, "%s is the node %s as it was at %s.\n", dir, result.Fingerprint, result.Made)
			})
		},
	}
	c.Flags().StringVar(&dir, "dir", "", "make the folder `DIR`")
	c.Flags().StringArrayVarP(&f.identities, "identity", "i", nil, "open the backup with the age identity `FILE` (repeatable)")
	addPassphraseFlags(c, &f.pass)
	c.MarkFlagRequired("dir")
	return describe(c, "dir, fingerprint, made")
}

// restore makes the folder beside its place, and gives it its name when all is well.
func (e *env) restore(ctx context.Context, file, dir string, f secretFlags) (m nodedir.Manifest, err error) {
	o, err := e.newOpener(ctx, f)
	if err != nil {
		return m, err
	}
	defer o.wipe()
	in, err := e.openInput(ctx, file)
	if err != nil {
		return m, err
	}
	defer in.Close()
	ids := append([]age.Identity{}, o.identities...)
	ids = append(ids, keyfile.PassphraseIdentity(func() ([]byte, error) { return o.passphrase(inputName(file)) }))
	buffered := bufio.NewReader(in)
	head, _ := buffered.Peek(len(armor.Header))
	var encrypted io.Reader = buffered
	switch {
	case !isAge(head):
		return m, fmt.Errorf("%s isn't an age file, as backups are", inputName(file))
	case string(head) == armor.Header:
		encrypted = armor.NewReader(buffered)
	}
	plain, err := age.Decrypt(encrypted, ids...)
	var none *age.NoIdentityMatchError
	switch {
	case errors.As(err, &none) && slices.Contains(none.StanzaTypes, "scrypt"):
		return m, fmt.Errorf("%s: %w", inputName(file), keyfile.ErrPassphrase)
	case errors.As(err, &none):
		return m, failf(ExitError, "name the age identity file that opens it with -i FILE", "%s: no identity opens it", inputName(file))
	case err != nil:
		return m, fmt.Errorf("%s: %w", inputName(file), err)
	}
	abs, err := filepath.Abs(dir)
	if err != nil {
		return m, err
	}
	temp := siblingName(abs, "undersign-restore")
	if err := os.Mkdir(temp, 0o700); err != nil {
		return m, outputError(dir, err)
	}
	defer os.RemoveAll(temp)
	if m, err = nodedir.Unpack(plain, temp); err != nil {
		return m, err
	}
	if err := checkRestored(temp, m); err != nil {
		return m, err
	}
	if err := os.Remove(abs); err != nil && !errors.Is(err, fs.ErrNotExist) { // it is empty
		return m, outputError(dir, err)
	}
	if err := os.Rename(temp, abs); err != nil {
		return m, outputError(dir, err)
	}
	syncDir(filepath.Dir(abs))
	return m, nil
}

// checkRestored looks whether a folder is whole, marks it, and says so in its log.
func checkRestored(dir string, m nodedir.Manifest) error {
	id, err := nodedir.ReadIdentity(dir)
	if err != nil {
		return err
	}
	if id.Fingerprint() != m.Fingerprint {
		return fmt.Errorf("the backup says that it is of %s, and has the key of %s", m.Fingerprint, id.Fingerprint())
	}
	s, err := store.Open(filepath.Join(dir, nodedir.Store), store.Options{})
	if err != nil {
		return err
	}
	if err := s.Check(); err != nil {
		return errors.Join(err, s.Close())
	}
	if err := errors.Join(service.MarkRestored(s, time.Now()), s.Close()); err != nil {
		return err
	}
	log, err := audit.Open(filepath.Join(dir, nodedir.Audit), id.SigningKey(), audit.Options{})
	if err != nil {
		return err
	}
	err = log.Event(audit.Entry{Party: id.Fingerprint(), Operation: "node.restore", Detail: "from a backup of " + m.Made.Format(time.RFC3339)}, audit.OK)
	return errors.Join(err, log.Close())
}
