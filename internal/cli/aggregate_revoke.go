// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/undersign/undersign/bls"
	"github.com/undersign/undersign/client"
	"github.com/undersign/undersign/distill"
	"github.com/undersign/undersign/internal/aggregate"
	"github.com/undersign/undersign/keyfile"
)

type aggregateRevokeFlags struct {
	dir, out string
	with     []string
	version  uint64
	force    bool
}

func newAggregateRevokeCmd(e *env) *cobra.Command {
	var f aggregateRevokeFlags
	c := &cobra.Command{
		Use:   "revoke [ID]",
		Short: "Take a client's keys away for ever",
		Long: `Have the directory of a network take a client's keys away: what it signs is
executed no more, and what it has in flight neither. Its number is never given
to anybody again. There is no way back.

Without an ID the client is the one that is registered in a folder, and its own
key signs. With an ID it is the operators who want it, whatever keys the client
has by now: --dir is the folder of a validator that runs and is a directory.
If one validator of the network can be faulty, f+1 of them have to agree. The
first writes its signature with -o, and the others theirs with --version as it
says; the last one gives all of them to the directory, by --with.`,
		Example: `  undersign aggregate revoke --dir carol
  undersign aggregate revoke 7 --dir alice
  undersign aggregate revoke 7 --dir alice -o alice.revocation
  undersign aggregate revoke 7 --dir bob --version 12 --with alice.revocation`,
		Args: nargs(0, 1, "a client's number"),
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				if f.out != "" || len(f.with) > 0 || c.Flags().Changed("version") {
					return usagef(c, "--output, --with and --version go with a client's number")
				}
				return e.aggregateRevokeSelf(c.Context(), f.dir)
			}
			id, err := strconv.ParseUint(args[0], 10, 64)
			if err != nil {
				return usagef(c, "%q isn't a client's number", args[0])
			}
			if f.out != "" && len(f.with) > 0 {
				return usagef(c, "either --output or --with")
			}
			return e.aggregateRevoke(c.Context(), c, id, &f)
		},
	}
	fl := c.Flags()
	fl.StringVar(&f.dir, "dir", ".", "the folder `DIR` of the client, or of a validator")
	fl.StringVarP(&f.out, "output", "o", "", "write the validator's signature to `FILE`, and change nothing")
	fl.StringArrayVar(&f.with, "with", nil, "another validator's signature, `FILE` (repeatable)")
	fl.Uint64Var(&f.version, "version", 0, "sign for this `VERSION` of the directory (default: the latest)")
	addForceFlag(c, &f.force)
	return describe(c, "id, version, validators, file", ExitQuorum, ExitRefused)
}

type revokeResult struct {
	ID         uint64   `json:"id"`
	Version    uint64   `json:"version,omitempty"` // that validators sign for
	Validators []uint32 `json:"validators"`        // who have signed
	File       string   `json:"file,omitempty"`
}

func (e *env) aggregateRevokeSelf(ctx context.Context, dir string) (err error) {
	d, err := e.clientDir(dir)
	if err != nil {
		return err
	}
	defer d.closeInto(&err)
	keys, err := d.keys(dir)
	if err != nil {
		return err
	}
	if e.dryRun {
		e.notef("would revoke client %d", d.reg.ID)
		return nil
	}
	if err := e.confirm(ctx, fmt.Sprintf("Revoke client %d for ever?", d.reg.ID)); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, aggregateTime)
	defer cancel()
	if err := d.directory().Revoke(ctx, d.reg.ID, keys.Ed); err != nil {
		return d.changeError(dir, err)
	}
	d.reg.Revoked = true
	if err := d.save(dir); err != nil {
		return err
	}
	return e.print(revokeResult{ID: d.reg.ID, Validators: []uint32{}}, func(w io.Writer) { fmt.Fprintf(w, "Client %d is revoked.\n", d.reg.ID) })
}

// A revocation is a validator's signature of a client's removal, in a file.
type revocation struct {
	Network   string `json:"network"`
	Client    uint64 `json:"client"`
	Version   uint64 `json:"version"` // of the directory
	Validator uint32 `json:"validator"`
	Signature string `json:"signature"`
}

// maxRevocation is the size of the largest file with one.
const maxRevocation = 4096

func (e *env) aggregateRevoke(ctx context.Context, c *cobra.Command, id uint64, f *aggregateRevokeFlags) error {
	v, err := e.validatorDir(ctx, f.dir)
	if err != nil {
		return err
	}
	defer v.live.close()
	if f.out != "" {
		if err := e.checkOut(f.out, f.force); err != nil {
			return err
		}
	}
	ctx, cancel := context.WithTimeout(ctx, aggregateTime)
	defer cancel()
	if !c.Flags().Changed("version") {
		if f.version, err = v.directory.Version(ctx); err != nil {
			return v.live.callError(err)
		}
	}
	rvk := distill.Rvk{Net: v.genesis.ID(), ID: id, Dirver: f.version}
	shares, err := e.readRevocations(ctx, v, &rvk, f.with)
	if err != nil {
		return err
	}
	if e.dryRun {
		e.notef("would sign the revocation of client %d for version %d of the directory", id, f.version)
		return nil
	}
	if err := e.confirm(ctx, fmt.Sprintf("Revoke client %d of the network %s for ever?", id, v.genesis.Name)); err != nil {
		return err
	}
	own, err := distill.SignStatement(v.key, v.index, rvk)
	if err != nil {
		return err
	}
	shares = append(shares, *own)
	result := revokeResult{ID: id, Version: f.version, Validators: []uint32{}, File: f.out}
	for _, s := range shares {
		result.Validators = append(result.Validators, s.Validator)
	}
	if f.out != "" {
		net := v.genesis.ID()
		text, err := json.MarshalIndent(revocation{hex.EncodeToString(net[:]), id, f.version, own.Validator, hex.EncodeToString(own.Signature[:])}, "", "  ")
		if err != nil {
			return err
		}
		if err := e.writeFile(f.out, append(text, '\n'), 0o644, f.force); err != nil {
			return err
		}
		return e.print(result, func(w io.Writer) {
			fmt.Fprintf(w, "Validator %d has signed the revocation of client %d, in %s.\nThe others sign with --version %d.\n", own.Validator, id, f.out, f.version)
		})
	}
	if need := v.genesis.Quorum(); len(shares) < need {
		return failf(ExitQuorum, fmt.Sprintf("have others sign with -o FILE --version %d, and name the files by --with", f.version),
			"%d validators have signed, and %d must", len(shares), need)
	}
	cert, _, err := v.committee.Combine(rvk, shares)
	if err != nil {
		return err
	}
	if err := v.directory.Remove(ctx, id, f.version, cert); err != nil {
		if x, ok := errors.AsType[*client.ChangeError](err); ok && x.Rule == distill.RuleUnknownID {
			return fmt.Errorf("client %d isn't registered, or was revoked before", id)
		} else if ok && x.Rule == distill.RuleStaleChange {
			return failf(ExitError, "leave --version out, or take the first signature's", "client %d wasn't there at version %d of the directory", id, f.version)
		}
		return v.live.callError(err)
	}
	return e.print(result, func(w io.Writer) { fmt.Fprintf(w, "Client %d of the network %s is revoked.\n", id, v.genesis.Name) })
}

// readRevocations reads other validators' signatures of a statement.
func (e *env) readRevocations(ctx context.Context, v *validatorDir, rvk *distill.Rvk, files []string) (shares []distill.Share, err error) {
	seen := map[uint32]bool{uint32(v.index): true}
	for _, name := range files {
		data, err := e.readInput(ctx, name, maxRevocation)
		if err != nil {
			return nil, err
		}
		var r revocation
		if err := json.Unmarshal(data, &r); err != nil {
			return nil, fmt.Errorf("%s isn't a revocation: %w", inputName(name), err)
		}
		share := distill.Share{Validator: r.Validator}
		sig, err := hex.DecodeString(r.Signature)
		switch {
		case r.Network != hex.EncodeToString(rvk.Net[:]):
			return nil, fmt.Errorf("%s is of another network", inputName(name))
		case r.Client != rvk.ID:
			return nil, fmt.Errorf("%s is about client %d, and not %d", inputName(name), r.Client, rvk.ID)
		case r.Version != rvk.Dirver:
			return nil, failf(ExitError, fmt.Sprintf("use --version %d", r.Version), "%s is for version %d of the directory, and not %d", inputName(name), r.Version, rvk.Dirver)
		case err != nil || len(sig) != len(share.Signature):
			return nil, fmt.Errorf("%s isn't a revocation: no signature", inputName(name))
		case seen[r.Validator]:
			return nil, fmt.Errorf("%s: validator %d has signed already", inputName(name), r.Validator)
		}
		copy(share.Signature[:], sig)
		if err := v.committee.VerifyShare(rvk, &share); err != nil {
			return nil, failf(ExitInvalid, "", "%s: %w", inputName(name), err)
		}
		seen[r.Validator] = true
		shares = append(shares, share)
	}
	return shares, nil
}

// A validatorDir is the folder of a validator that runs.
type validatorDir struct {
	live      *liveNode
	genesis   *distill.Genesis
	committee *distill.Committee
	key       *bls.SecretKey
	index     int
	directory *client.Directory // by way of this validator alone, which its operator trusts
}

func (e *env) validatorDir(ctx context.Context, dir string) (*validatorDir, error) {
	cfg, err := loadNodeConfig(dir)
	if err != nil {
		return nil, err
	}
	if cfg.Aggregate.Genesis == "" || cfg.Aggregate.Validator == nil {
		return nil, failf(ExitError, "without a number it is the client in a folder that is revoked", "the node in %s isn't a validator", dir)
	}
	inDir := func(name string) string {
		if filepath.IsAbs(name) {
			return name
		}
		return filepath.Join(dir, name)
	}
	v := &validatorDir{}
	if v.genesis, err = e.readGenesis(ctx, inDir(cfg.Aggregate.Genesis)); err != nil {
		return nil, err
	}
	if v.committee, err = distill.NewCommittee(v.genesis); err != nil {
		return nil, err
	}
	name := cfg.Aggregate.Validator.Key
	if name == "" {
		name = "validator.key"
	}
	data, identities, err := readSealed(dir, name)
	if err != nil {
		return nil, err
	}
	if v.key, err = aggregate.OpenKey(data, identities...); err != nil {
		return nil, err
	}
	v.index = -1
	for i := range v.committee.Len() {
		if v.committee.Key(i).PublicKey().Equal(v.key.PublicKey()) {
			v.index = i
		}
	}
	if v.index < 0 {
		return nil, fmt.Errorf("the key in %s isn't one of the network's validators", name)
	}
	if v.live, err = e.mustLive(dir); err != nil {
		return nil, err
	}
	v.directory = &client.Directory{
		Key: &keyfile.PartyKey{Key: v.live.id.SigningKey()}, Genesis: v.genesis, Quorum: 1,
		Validators: []client.Validator{{Fingerprint: v.live.peer.Fingerprint(), Address: v.live.peer.Address()}},
	}
	return v, nil
}
