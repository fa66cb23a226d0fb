// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/undersign/undersign/internal/audit"
	"github.com/undersign/undersign/internal/nodedir"
	parties "github.com/undersign/undersign/internal/party"
	"github.com/undersign/undersign/keyfile"
)

// nextIdentity is the key that a node is about to have.
const nextIdentity = "identity.next.pem"

func newPartyRenewCmd(e *env) *cobra.Command {
	var dir string
	c := &cobra.Command{
		Use:   "renew",
		Short: "Give a node a new key",
		Long: `Make a new key for a node that doesn't run. Its configuration, shares and all
that it remembers stay, and its audit log goes on in a new file, which the new
key signs: the old one stays in the folder, with the old public key beside it.

Others know the node by the old key, and nothing that it signs or asks for
counts there from now on. Each of them forgets it by "undersign party remove"
and invites it again by the same name, for which the rules hold that name it;
the node joins with each of the invitations. Do it when nobody waits: calls and
ceremonies that are under way end.

An aggregator keeps its key, which is in the genesis of its network. A client of
a network whose Ed25519 key is still that of the node rotates first.`,
		Example: `  undersign party renew --dir alice
  undersign party remove alice --dir bob --yes
  undersign invite --name alice --dir bob -q | undersign join - --dir alice`,
		Args: noArgs,
		RunE: func(c *cobra.Command, args []string) error { return e.partyRenew(dir) },
	}
	addDirFlag(c, &dir)
	describe(c, "old, fingerprint, audit, parties", ExitInvalid)
	describeExit(c, ExitInvalid, "the audit log was changed or damaged")
	return c
}

func (e *env) partyRenew(dir string) (err error) {
	n, err := e.idleNode(dir)
	if err != nil {
		return err
	}
	defer n.closeInto(&err)
	if n.cfg.Aggregate.Genesis != "" && n.cfg.Aggregate.Aggregator != nil {
		return failf(ExitError, "move its clients to another aggregator of the network, and make a new node",
			"the node is aggregator %d, whose key is in the genesis", n.cfg.Aggregate.Aggregator.ID)
	}
	if err := checkClientKeys(dir); err != nil {
		return err
	}
	if e.dryRun {
		e.notef("would give the node in %s a new key", dir)
		return nil
	}
	next, err := prepareIdentity(dir)
	if err != nil {
		return err
	}
	old, err := renewAudit(dir, n.id, next)
	if err != nil {
		return err
	}
	path := filepath.Join(dir, nodedir.Identity)
	if err := os.Rename(filepath.Join(dir, nextIdentity), path); err != nil {
		return outputError(path, err)
	}
	if err := nodedir.SyncDir(dir); err != nil {
		return err
	}
	result := struct {
		Old         string   `json:"old"`
		Fingerprint string   `json:"fingerprint"`
		Audit       string   `json:"audit"` // the old log
		Parties     []string `json:"parties"`
	}{n.id.Fingerprint(), next.Fingerprint(), old, []string{}}
	for _, m := range n.roster.List() {
		result.Parties = append(result.Parties, m.Name)
	}
	return e.print(result, func(w io.Writer) {
		fmt.Fprintf(w, "The node in %s is %s from now on, and was %s.\n", dir, result.Fingerprint, result.Old)
		for _, name := range result.Parties {
			fmt.Fprintf(w, "%s has to forget it, and to invite it anew.\n", name)
		}
	})
}

// checkClientKeys returns an error if the folder is that of a client who signs by the node's
// key.
func checkClientKeys(dir string) error {
	data, err := os.ReadFile(filepath.Join(dir, aggregateClientFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var reg aggregateClient
	if err == nil {
		err = json.Unmarshal(data, &reg)
	}
	if err != nil {
		return err
	}
	if reg.Keys == nil && !reg.Revoked {
		return failf(ExitError, "run \"undersign aggregate rotate --dir "+dir+"\" first", "client %d of a network signs by the node's key", reg.ID)
	}
	return nil
}

// prepareIdentity writes the next key, or reads it if a renewal was interrupted.
func prepareIdentity(dir string) (*parties.Identity, error) {
	path := filepath.Join(dir, nextIdentity)
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		key, err := parties.GenerateKey()
		if err != nil {
			return nil, err
		}
		defer key.Wipe()
		data, err := keyfile.EncodeInsecurePlaintext(key, "The key of a node. It must be readable by the node alone.")
		if err != nil {
			return nil, err
		}
		defer clear(data)
		if err := nodedir.Replace(path, data, 0o600); err != nil { // whole, or not there
			return nil, err
		}
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	defer clear(data)
	v, err := keyfile.ParseInsecurePlaintext(data)
	if err != nil {
		return nil, fileError(path, err)
	}
	key, ok := v.(*keyfile.PartyKey)
	if !ok {
		return nil, fmt.Errorf("%s isn't the key of a node", path)
	}
	return parties.NewIdentity(key)
}

// renewAudit ends the audit log and begins one that the next key signs. It returns where the
// old one is, or nothing if that was done before.
func renewAudit(dir string, id, next *parties.Identity) (old string, err error) {
	path := filepath.Join(dir, nodedir.Audit)
	log, err := audit.Open(path, id.SigningKey(), audit.Options{})
	if errors.Is(err, audit.ErrBroken) {
		// By a renewal that got as far as here, and not to its end.
		if log, err := audit.Open(path, next.SigningKey(), audit.Options{}); err == nil {
			return "", log.Close()
		}
		return "", withCode(err, ExitInvalid)
	}
	if err != nil {
		return "", err
	}
	if err := log.Close(); err != nil {
		return "", err
	}
	f, err := os.Open(path)
	if err != nil {
		return "", inputError(path, err)
	}
	defer f.Close()
	report, err := verifyAudit(f, path, id.PublicKey(), "", func(*audit.Record) {})
	if err != nil {
		return "", err
	}
	old = filepath.Join(dir, fmt.Sprintf("audit-%s-%d.jsonl", time.Now().UTC().Format("20060102T150405"), report.Records))
	pub, err := keyfile.Encode(&keyfile.Party{Key: id.PublicKey()}, "The key of the node "+id.Fingerprint()+", until it was renewed.")
	if err != nil {
		return "", err
	}
	if err := nodedir.Replace(old+".key", pub, publicFile); err != nil {
		return "", err
	}
	temp := path + ".new"
	if err := os.Remove(temp); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", outputError(temp, err)
	}
	log, err = audit.Open(temp, next.SigningKey(), audit.Options{After: report.Head})
	if err != nil {
		return "", err
	}
	err = log.Event(audit.Entry{Party: next.Fingerprint(), Operation: "node.renew", Subject: id.Fingerprint(), Detail: "the node's key until now"}, audit.OK)
	if err := errors.Join(err, log.Close()); err != nil {
		return "", err
	}
	if err := os.Link(path, old); err != nil {
		return "", outputError(old, err)
	}
	if err := os.Rename(temp, path); err != nil {
		return "", outputError(path, err)
	}
	return old, nodedir.SyncDir(dir)
}
