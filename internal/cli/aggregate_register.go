// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"filippo.io/age"
	"github.com/spf13/cobra"

	"github.com/undersign/undersign/bls"
	"github.com/undersign/undersign/client"
	"github.com/undersign/undersign/internal/nodedir"
	"github.com/undersign/undersign/keyfile"
)

type aggregateRegisterFlags struct {
	dir, genesis, at, mode string
	validators             []string
	aggregator             uint64
}

func newAggregateRegisterCmd(e *env) *cobra.Command {
	var f aggregateRegisterFlags
	c := &cobra.Command{
		Use:   "register",
		Short: "Become a client of a network",
		Long: `Make a BLS key for the identity in a folder, and have both keys registered in
the directory of a network, which gives the client its number. A node that is a
directory does it for parties that its rules allow.

Validators are named in the order of the genesis; if there is one, --at will
do.`,
		Example: `  undersign aggregate register --dir carol --genesis test.genesis --at alice
  undersign aggregate register --dir carol --genesis four.genesis --at a --validator a --validator b --validator c --validator d`,
		Args: noArgs,
		RunE: func(c *cobra.Command, args []string) error {
			if _, err := parseAggregateMode(c, f.mode); err != nil {
				return err
			}
			if f.genesis == "" || f.at == "" {
				return usagef(c, "--genesis and --at are needed")
			}
			return e.aggregateRegister(c.Context(), c, &f)
		},
	}
	fl := c.Flags()
	fl.StringVar(&f.dir, "dir", ".", "the folder `DIR` of the identity")
	fl.StringVar(&f.genesis, "genesis", "", "the network's genesis `FILE`")
	fl.StringVar(&f.at, "at", "", "the aggregator's node at `URL`, or with this name")
	fl.StringArrayVar(&f.validators, "validator", nil, "a validator's node at `URL`, or with this name; the first is asked to\nregister (repeatable, default: --at)")
	fl.Uint64Var(&f.aggregator, "aggregator", 1, "the aggregator's `ID` in the genesis")
	fl.StringVar(&f.mode, "mode", "ed25519", "the aggregator's `MODE`: ed25519, folded or lean")
	describe(c, "id, since, network, file", ExitRefused)
	describeExit(c, ExitRefused, "no rule of the node allows it")
	return c
}

func (e *env) aggregateRegister(ctx context.Context, c *cobra.Command, f *aggregateRegisterFlags) (err error) {
	if _, err := os.Lstat(filepath.Join(f.dir, aggregateClientFile)); err == nil {
		return fmt.Errorf("%s is the folder of a client already", f.dir)
	}
	genesis, err := e.readGenesis(ctx, f.genesis)
	if err != nil {
		return err
	}
	if len(f.validators) == 0 {
		f.validators = []string{f.at}
	}
	if len(f.validators) != len(genesis.Validators) {
		return usagef(c, "%d validators are named, and the genesis has %d", len(f.validators), len(genesis.Validators))
	}
	reg := aggregateClient{Mode: f.mode, Aggregator: f.aggregator}
	if _, ok := genesis.AggregatorKey(f.aggregator); !ok {
		return fmt.Errorf("%s has no aggregator %d", inputName(f.genesis), f.aggregator)
	}
	if reg.Address, _, err = e.nodeAddress(ctx, f.dir, f.at); err != nil {
		return err
	}
	for _, v := range f.validators {
		address, fp, err := e.nodeAddress(ctx, f.dir, v)
		if err != nil {
			return err
		}
		reg.Validators = append(reg.Validators, aggregateNode{fp, address})
	}
	n, err := e.idleNode(f.dir)
	if err != nil {
		return err
	}
	defer n.closeInto(&err)
	sk, err := e.clientKey(f.dir)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, aggregateTime)
	defer cancel()
	change, err := client.Register(ctx, &keyfile.PartyKey{Key: n.id.SigningKey()}, genesis, reg.Validators[0].Fingerprint, reg.Validators[0].Address, sk, n.id.SigningKey())
	if err != nil {
		return nodeCallError(n.id, err)
	}
	reg.ID, reg.Since = change.ID, change.Since
	data, err := genesis.MarshalBinary()
	if err == nil {
		err = nodedir.Replace(filepath.Join(f.dir, aggregateClientNet), data, 0o600)
	}
	if err != nil {
		return err
	}
	text, err := json.MarshalIndent(reg, "", "  ")
	if err == nil {
		err = nodedir.Replace(filepath.Join(f.dir, aggregateClientFile), append(text, '\n'), 0o600)
	}
	if err != nil {
		return err
	}
	net := genesis.ID()
	result := struct {
		ID      uint64 `json:"id"`
		Since   uint64 `json:"since"`
		Network string `json:"network"`
		File    string `json:"file"`
	}{reg.ID, reg.Since, hex.EncodeToString(net[:]), filepath.Join(f.dir, aggregateClientFile)}
	return e.print(result, func(w io.Writer) {
		fmt.Fprintf(w, "Registered as client %d of the network %s.\n", reg.ID, genesis.Name)
	})
}

// clientKey returns the BLS key in a client's folder, which it makes if there is none: it
// is on disk before it is registered.
func (e *env) clientKey(dir string) (*bls.SecretKey, error) {
	path := filepath.Join(dir, aggregateClientKey)
	if _, err := os.Lstat(path); err == nil {
		return openClientKey(dir)
	}
	to, err := readNodeRecipient(dir)
	if err != nil {
		return nil, err
	}
	sk := bls.GenerateKey()
	sealed, err := seal(&keyfile.BLSSecretKey{Scheme: bls.ProofOfPossession, Key: sk}, to)
	if err != nil {
		return nil, err
	}
	return sk, nodedir.WriteNew(path, sealed, 0o600)
}

// readNodeRecipient returns to whom secrets of the node in a folder are encrypted.
func readNodeRecipient(dir string) ([]age.Recipient, error) {
	data, err := os.ReadFile(filepath.Join(dir, nodedir.Recipient))
	if err != nil {
		return nil, err
	}
	return age.ParseRecipients(bytes.NewReader(data))
}
