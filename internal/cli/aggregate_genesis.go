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
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/undersign/undersign/bls"
	"github.com/undersign/undersign/distill"
	"github.com/undersign/undersign/internal/nodedir"
	"github.com/undersign/undersign/keyfile"
)

type aggregateGenesisFlags struct {
	name, out               string
	aggregators, validators []string
	modes                   []string
	nodes                   []string
	force                   bool
}

func newAggregateGenesisCmd(e *env) *cobra.Command {
	var f aggregateGenesisFlags
	c := &cobra.Command{
		Use:   "genesis",
		Short: "Make a network of aggregators and validators",
		Long: `Write down who a network is made of: its aggregators, by their nodes' keys, and
its validators, by BLS keys with proofs. The network is known by the hash of
this file, which nodes and clients have, and which never changes.

--node writes the genesis into a node's folder and adds the node's roles to its
configuration. With one --node and nothing else that node is the aggregator and
the only validator, for which it gets a key.

A validator's key is else made with "aggregate keygen --to DIR/recipient.txt -o
DIR/validator.key", so that its node can open it, and its proof with "aggregate
prove". Of n validators (n-1)/3 may be faulty.`,
		Example: `  undersign aggregate genesis --name test --node alice -o test.genesis
  undersign aggregate genesis --name test --aggregator alice --validator alice/validator.key.proof --node alice -o test.genesis
  undersign aggregate genesis --name four --aggregator 1=a --validator a=a.proof --validator b=b.proof --validator c=c.proof --validator d=d.proof -o four.genesis`,
		Args: noArgs,
		RunE: func(c *cobra.Command, args []string) error { return e.aggregateGenesis(c.Context(), c, &f) },
	}
	fl := c.Flags()
	fl.StringVar(&f.name, "name", "", "call the network `NAME`")
	fl.StringArrayVar(&f.aggregators, "aggregator", nil, "an aggregator, `[ID=]FILE`: its party's file or its node's\nfolder (repeatable)")
	fl.StringArrayVar(&f.validators, "validator", nil, "a validator, `[NAME=]FILE`: its proof, and what nodes call its\nnode (repeatable)")
	fl.StringSliceVar(&f.modes, "modes", aggregateModes, "allow these `MODES`: ed25519, folded, lean")
	fl.StringArrayVar(&f.nodes, "node", nil, "add its roles to the node in `DIR` (repeatable)")
	fl.StringVarP(&f.out, "output", "o", "", "write the genesis to `FILE`")
	addForceFlag(c, &f.force)
	return describe(c, "network, name, aggregators, validators, faulty, file")
}

func (e *env) aggregateGenesis(ctx context.Context, c *cobra.Command, f *aggregateGenesisFlags) error {
	switch {
	case f.name == "" || f.out == "":
		return usagef(c, "--name and --output are needed")
	case len(f.nodes) == 1 && len(f.aggregators) == 0 && len(f.validators) == 0:
		if err := e.checkOut(f.out, f.force); err != nil { // before a key is made
			return err
		}
		proof, err := e.validatorKey(f.nodes[0])
		if err != nil {
			return err
		}
		f.aggregators, f.validators = f.nodes, []string{proof}
	case len(f.aggregators) == 0 || len(f.validators) == 0:
		return usagef(c, "at least one --aggregator and one --validator are needed, or one --node that is both")
	}
	g := &distill.Genesis{Name: f.name, F: uint64(len(f.validators)-1) / 3, Params: distill.DefaultParams()}
	var modes []distill.Mode
	for _, name := range f.modes {
		m, err := parseAggregateMode(c, name)
		if err != nil {
			return err
		}
		modes = append(modes, m)
	}
	g.Params.Modes = distill.Modes(modes...)
	for i, arg := range f.aggregators {
		id, file := uint64(i+1), arg
		if before, after, ok := strings.Cut(arg, "="); ok {
			var err error
			if id, err = strconv.ParseUint(before, 10, 64); err != nil {
				return usagef(c, "--aggregator %q doesn't begin with a number", arg)
			}
			file = after
		}
		key, err := e.readParty(ctx, file)
		if err != nil {
			return err
		}
		g.Aggregators = append(g.Aggregators, distill.GenesisAggregator{ID: id, Key: key})
	}
	var names []string
	for _, arg := range f.validators {
		name, file, ok := strings.Cut(arg, "=")
		if !ok {
			name, file = "", arg
		}
		data, err := e.readInput(ctx, file, maxObject)
		if err != nil {
			return err
		}
		p, err := keyfile.ParseAs[*keyfile.BLSProof](data)
		if err != nil {
			return wantedHint(p, fileError(file, err))
		}
		if p.Scheme != bls.ProofOfPossession {
			return fmt.Errorf("%s is of another scheme than pop", inputName(file))
		}
		g.Validators = append(g.Validators, distill.GenesisValidator{
			Key: [bls.PublicKeySize]byte(p.Key.Bytes()), Proof: [bls.SignatureSize]byte(p.Proof.Bytes()),
		})
		names = append(names, name)
	}
	if _, err := g.Check(); err != nil {
		return err
	}
	data, err := g.MarshalBinary()
	if err != nil {
		return err
	}
	roles := make([]string, len(f.nodes))
	for i, dir := range f.nodes { // before anything is written
		if roles[i], err = aggregateRoles(dir, g, names); err != nil {
			return err
		}
	}
	if e.dryRun {
		e.notef("would write %s", f.out)
		return nil
	}
	if err := e.writeFile(f.out, data, 0o644, f.force); err != nil {
		return err
	}
	for i, dir := range f.nodes {
		if err := nodedir.Replace(filepath.Join(dir, "genesis"), data, 0o600); err != nil {
			return err
		}
		if err := nodedir.AppendConfig(dir, []byte(roles[i])); err != nil {
			return err
		}
	}
	if len(g.Validators) > 1 && slices.ContainsFunc(roles, func(s string) bool { return strings.Contains(s, "[aggregate.validator]") }) {
		e.notef("several validators take their order from NATS: add [aggregate.nats] to the undersign.toml of each, and rules for one another")
	}
	net := g.ID()
	result := struct {
		Network     string `json:"network"`
		Name        string `json:"name"`
		Aggregators int    `json:"aggregators"`
		Validators  int    `json:"validators"`
		Faulty      uint64 `json:"faulty"`
		File        string `json:"file"`
	}{hex.EncodeToString(net[:]), g.Name, len(g.Aggregators), len(g.Validators), g.F, f.out}
	return e.print(result, func(w io.Writer) {
		fmt.Fprintf(w, "Made the network %s, %s, in %s.\n", g.Name, result.Network, f.out)
		for i, dir := range f.nodes {
			var is []string
			for role, text := range map[string]string{"aggregator": "an aggregator", "validator": "a validator"} {
				if strings.Contains(roles[i], "[aggregate."+role+"]") {
					is = append(is, text)
				}
			}
			slices.Sort(is)
			fmt.Fprintf(w, "Start the node, %s: undersign serve --dir %s\n", strings.Join(is, " and "), dir)
		}
	})
}

// validatorKey returns the file with the proof of the validator's key in a node's folder. If
// there is no key, it is made, for the recipient of the node.
func (e *env) validatorKey(dir string) (proof string, err error) {
	if _, err := readNodeIdentity(dir); err != nil {
		return "", err
	}
	path := filepath.Join(dir, "validator.key")
	proof = path + ".proof"
	switch {
	case exists(proof):
		return proof, nil
	case exists(path):
		return "", failf(ExitError, fmt.Sprintf("make it with \"undersign aggregate prove --key %s -i %s\"", path, filepath.Join(dir, nodedir.Unlock)),
			"%s has no proof beside it", path)
	case e.dryRun:
		return "", failf(ExitError, "make it with \"undersign aggregate keygen\"", "there is no %s yet, and --dry-run makes none", path)
	}
	to, err := readNodeRecipient(dir)
	if err != nil {
		return "", err
	}
	sk := bls.GenerateKey()
	defer sk.Wipe()
	pop, err := bls.ProofOfPossession.PopProve(sk)
	if err != nil {
		return "", err
	}
	sealed, err := seal(&keyfile.BLSSecretKey{Scheme: bls.ProofOfPossession, Key: sk}, to)
	if err != nil {
		return "", err
	}
	text, err := keyfile.Encode(&keyfile.BLSProof{Scheme: bls.ProofOfPossession, Key: sk.PublicKey(), Proof: pop})
	if err != nil {
		return "", err
	}
	if err := nodedir.WriteNew(path, sealed, 0o600); err != nil {
		return "", err
	}
	return proof, nodedir.WriteNew(proof, text, 0o644)
}

// readParty reads the key of a party from its file or its node's folder.
func (e *env) readParty(ctx context.Context, file string) (key [32]byte, err error) {
	if st, err := os.Stat(file); err == nil && st.IsDir() {
		id, err := readNodeIdentity(file)
		if err != nil {
			return key, err
		}
		return [32]byte(id.PublicKey()), nil
	}
	data, err := e.readInput(ctx, file, maxObject)
	if err != nil {
		return key, err
	}
	p, err := keyfile.ParseAs[*keyfile.Party](data)
	if err != nil {
		return key, fileError(file, err)
	}
	return [32]byte(p.Key), nil
}

// aggregateRoles returns what a node is in a network, as lines of its configuration.
func aggregateRoles(dir string, g *distill.Genesis, names []string) (string, error) {
	id, err := readNodeIdentity(dir)
	if err != nil {
		return "", err
	}
	cfg, err := loadNodeConfig(dir)
	if err != nil {
		return "", err
	}
	if cfg.Aggregate.Genesis != "" {
		return "", fmt.Errorf("the node in %s is in a network already", dir)
	}
	own, err := ownValidator(dir, g)
	if err != nil {
		return "", err
	}
	var roles strings.Builder
	for _, a := range g.Aggregators {
		if bytes.Equal(a.Key[:], id.PublicKey()) {
			fmt.Fprintf(&roles, "\n[aggregate.aggregator]\nid = %d\n", a.ID)
		}
	}
	if own >= 0 {
		roles.WriteString("\n[aggregate.validator]\nkey = \"validator.key\"\n\n[aggregate.directory]\n")
	}
	if roles.Len() == 0 {
		return "", withHint(fmt.Errorf("the node in %s is neither an aggregator nor a validator of the network", dir), "a validator's key is %s, and its proof is among those of the network", filepath.Join(dir, "validator.key"))
	}
	var quoted []string
	for i, name := range names {
		switch {
		case i == own:
			name = "self"
		case name == "":
			return "", withHint(fmt.Errorf("it isn't known what the node in %s calls the node of validator %d", dir, i), "name it: --validator NAME=FILE")
		}
		quoted = append(quoted, strconv.Quote(name))
	}
	return "\n[aggregate]\ngenesis = \"genesis\"\nvalidators = [" + strings.Join(quoted, ", ") + "]\n" + roles.String(), nil
}

// ownValidator returns which of the validators a node is, by the key in its folder, or -1.
func ownValidator(dir string, g *distill.Genesis) (int, error) {
	key, err := ownValidatorKey(dir)
	if key == nil || err != nil {
		return -1, err
	}
	for i := range g.Validators {
		if bytes.Equal(g.Validators[i].Key[:], key.Bytes()) {
			return i, nil
		}
	}
	return -1, nil
}

// ownValidatorKey returns the public key of a node's validator by what lies beside its secret
// key: the proof, which may have been written elsewhere, or the public key. It is nil if there
// is neither.
func ownValidatorKey(dir string) (*bls.PublicKey, error) {
	for _, name := range []string{"validator.key.proof", "validator.key.pub"} {
		data, err := os.ReadFile(filepath.Join(dir, name))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		v, err := keyfile.Parse(data)
		if err != nil {
			return nil, fileError(filepath.Join(dir, name), err)
		}
		switch v := v.(type) {
		case *keyfile.BLSProof:
			return v.Key, nil
		case *keyfile.BLSPublicKey:
			return v.Key, nil
		}
		return nil, fmt.Errorf("%s isn't the key of a validator", filepath.Join(dir, name))
	}
	return nil, nil
}
