// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"filippo.io/age"
	"github.com/spf13/cobra"

	"github.com/undersign/undersign/bls"
	"github.com/undersign/undersign/client"
	"github.com/undersign/undersign/distill"
	"github.com/undersign/undersign/internal/nodedir"
	"github.com/undersign/undersign/keyfile"
)

func newAggregateRotateCmd(e *env) *cobra.Command {
	var dir string
	c := &cobra.Command{
		Use:   "rotate",
		Short: "Give a client of a network new keys",
		Long: `Make new keys for the client that is registered in a folder, a BLS key and an
Ed25519 key, and have the directory of its network put them in the place of the
old ones, which sign that. The client keeps its number and what it has in
flight. From then on the old keys sign nothing more, and are deleted.

Both new keys are the client's own: the identity in the folder stays what the
node knows the party by. Validators are asked until so many have confirmed the
change that one of them is honest; before that the old keys stay. A rotation
that was interrupted goes on with the next one.

If somebody else may have the old keys, be quick: they can rotate as well.
Whoever comes first has the client. "aggregate revoke" ends it for both.`,
		Example: `  undersign aggregate rotate --dir carol`,
		Args:    noArgs,
		RunE:    func(c *cobra.Command, args []string) error { return e.aggregateRotate(c.Context(), dir) },
	}
	c.Flags().StringVar(&dir, "dir", ".", "the client's folder `DIR`")
	return describe(c, "id, since, unsettled", ExitRefused)
}

func (e *env) aggregateRotate(ctx context.Context, dir string) (err error) {
	d, err := e.clientDir(dir)
	if err != nil {
		return err
	}
	defer d.closeInto(&err)
	old, err := d.keys(dir)
	if err != nil {
		return err
	}
	if e.dryRun {
		e.notef("would give client %d new keys", d.reg.ID)
		return nil
	}
	// The new keys are on disk, and known by their names, before they are registered.
	if d.reg.Next == nil {
		next, err := newClientKeys(dir)
		if err != nil {
			return err
		}
		d.reg.Next = next
		if err := d.save(dir); err != nil {
			return err
		}
	}
	sk, ed, err := openClientKeys(dir, d.reg.Next)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, aggregateTime)
	defer cancel()
	r, err := d.directory().Rotate(ctx, d.reg.ID, old.Ed, sk, ed)
	if err != nil {
		return d.changeError(dir, err)
	}
	before := d.reg.Keys
	d.reg.Keys, d.reg.Next, d.reg.Since = d.reg.Next, nil, r.Since
	if err := d.save(dir); err != nil {
		return err
	}
	if err := removeClientKeys(dir, before); err != nil {
		e.warnf("the old keys are still there: %v", err)
	}
	cl, err := d.open(dir)
	if err != nil {
		return err
	}
	result := struct {
		ID        uint64 `json:"id"`
		Since     uint64 `json:"since"`
		Unsettled int    `json:"unsettled"`
	}{d.reg.ID, d.reg.Since, len(cl.Unsettled())}
	return e.print(result, func(w io.Writer) {
		fmt.Fprintf(w, "Client %d has new keys since version %d of the directory.\n", result.ID, result.Since)
		if result.Unsettled > 0 {
			fmt.Fprintf(w, "Messages that wait for a receipt: %d. They go on, signed by the new keys, with the next submit.\n", result.Unsettled)
		}
	})
}

// newClientKeys makes keys in files that are new.
func newClientKeys(dir string) (*aggregateKeys, error) {
	data, err := os.ReadFile(filepath.Join(dir, nodedir.Recipient))
	if err != nil {
		return nil, err
	}
	to, err := age.ParseRecipients(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	_, ed, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return nil, err
	}
	for i := 2; ; i++ {
		k := &aggregateKeys{fmt.Sprintf("aggregate.%d.key", i), fmt.Sprintf("aggregate.%d.ed25519", i)}
		// One that is in no list is of a rotation that got no further.
		if _, err := os.Lstat(filepath.Join(dir, k.BLS)); err == nil {
			continue
		}
		if err := errors.Join(
			writeSealed(filepath.Join(dir, k.Ed), &keyfile.PartyKey{Key: ed}, to),
			writeSealed(filepath.Join(dir, k.BLS), &keyfile.BLSSecretKey{Scheme: bls.ProofOfPossession, Key: bls.GenerateKey()}, to),
		); err != nil {
			return nil, err
		}
		return k, nil
	}
}

func writeSealed(path string, secret keyfile.Object, to []age.Recipient) error {
	sealed, err := seal(secret, to)
	if err != nil {
		return err
	}
	return nodedir.Replace(path, sealed, 0o600)
}

// removeClientKeys deletes the files of keys that are of no use any more; those of the
// identity stay.
func removeClientKeys(dir string, k *aggregateKeys) error {
	names := []string{aggregateClientKey}
	if k != nil {
		names = []string{k.BLS, k.Ed}
	}
	var errs []error
	for _, name := range names {
		if err := os.Remove(filepath.Join(dir, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// changeError says in the words of the command line why the directory wasn't changed.
func (d *clientDir) changeError(dir string, err error) error {
	if x, ok := errors.AsType[*client.ChangeError](err); ok {
		switch x.Rule {
		case distill.RuleUnknownID:
			return failf(ExitRefused, "a new identity can be registered: \"undersign init\"", "client %d was revoked", d.reg.ID)
		case distill.RuleOldEdSignature:
			return failf(ExitRefused, "whoever has rotated has the keys; validators can revoke the client",
				"the keys in %s aren't those of client %d any more", dir, d.reg.ID)
		}
	}
	return nodeCallError(d.id, err)
}
