// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package demo

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/undersign/undersign/keyfile"
	"github.com/undersign/undersign/thresholdrsa"
)

// The demo's key: the nodes of any three of five people sign.
const (
	thresholdBits = 2048
	thresholdK    = 3
)

// Who is who. The first coordinates. Nodes ask others in the order of their names, so that
// the liar is among the first three whom it asks.
var (
	people = []string{"alice", "bob", "carol", "dave", "erin"}
	killed = []string{"carol", "erin"}
)

const (
	lying    = "bob"
	restored = "erin"
	customer = "ci" // who wants signatures
)

// exitQuorum is the exit status of commands that lack shares.
const exitQuorum = 4

const sampleText = "This file was signed by three of five nodes with a key that nobody holds.\n"

// threshold is the demo of threshold RSA, as its steps fill it.
type threshold struct {
	stage
	crew     crew
	file     string // to sign, absolute
	key      *thresholdrsa.PublicKey
	nodes    map[string]*nodeProcess
	customer *nodeProcess // a folder only
	tool     string       // that verifies; empty: openssl
	honest   bool         // a test has nobody lie
	spare    bool         // a test has nobody killed
}

// Threshold shows nodes with shares of a key that nobody holds sign a file and a
// certificate, though one lies and others are killed.
func Threshold(ctx context.Context, opts Options) (*Result, error) {
	return new(threshold).play(ctx, opts)
}

func (d *threshold) play(ctx context.Context, opts Options) (*Result, error) {
	dir, err := filepath.Abs(opts.Dir)
	if err != nil {
		return nil, err
	}
	opts.Dir = dir
	d.stage = stage{opts, &Result{Dir: dir}}
	d.nodes = map[string]*nodeProcess{}
	d.crew.s = &d.stage
	defer d.crew.end()
	if opts.File == "" {
		opts.File = d.path("message.txt")
		if err := d.write("message.txt", []byte(sampleText), 0o644); err != nil {
			return nil, err
		}
	}
	if d.file, err = filepath.Abs(opts.File); err != nil {
		return nil, err
	}
	if _, err := os.Stat(d.file); err != nil {
		return nil, err
	}
	for _, step := range []struct {
		title string
		f     func(context.Context) ([]string, error)
	}{
		{"Make five nodes, and a key that any three of them sign with", d.deal},
		{"Start them, each a process of its own", d.start},
		{"Sign the file, while " + lying + " lies", d.sign},
		{"Kill " + strings.Join(killed, " and ") + " (SIGKILL), and try again", d.kill},
		{"Start " + restored + " again from its folder, and sign", d.restart},
		{"Make a certificate authority and a certificate, by quorum", d.certify},
		{"Check the results with a tool that knows nothing of undersign", d.verify},
		{"End the nodes, and check what they wrote down", d.end},
	} {
		if err := d.do(ctx, step.title, func() ([]string, error) { return step.f(ctx) }); err != nil {
			return nil, err
		}
	}
	return d.res, nil
}

// deal makes the nodes' folders, the key, and its shares, each of which one node opens.
func (d *threshold) deal(ctx context.Context) ([]string, error) {
	made := make([]*nodeProcess, len(people))
	err := parallel(ctx, len(people), func(i int) (err error) {
		made[i], err = d.crew.makeNode(ctx, people[i])
		return err
	})
	if err != nil {
		return nil, err
	}
	if d.customer, err = d.crew.makeParty(ctx, customer, "127.0.0.1:0"); err != nil {
		return nil, err
	}
	var to []string
	for i, name := range people {
		d.nodes[name] = made[i]
		to = append(to, filepath.Join(name, "recipient.txt"))
	}
	err = d.undersign(ctx, nil, "threshold", "keygen", "--bits", fmt.Sprint(thresholdBits), "-k", fmt.Sprint(thresholdK),
		"--to", strings.Join(to, ","), "--names", strings.Join(people, ","), "-o", "key")
	if err != nil {
		return nil, err
	}
	if err := d.undersign(ctx, nil, "threshold", "verify-ceremony", "key/ceremony.txt", "--key", "key/threshold.pub"); err != nil {
		return nil, err
	}
	err = parallel(ctx, len(people), func(i int) error {
		return d.undersign(ctx, nil, "threshold", "hold", "key/"+people[i]+".share", "--name", "code", "--dir", people[i])
	})
	if err != nil {
		return nil, err
	}
	data, err := os.ReadFile(d.path("key/threshold.pub"))
	if err != nil {
		return nil, err
	}
	if d.key, err = keyfile.ParseAs[*thresholdrsa.PublicKey](data); err != nil {
		return nil, err
	}
	return []string{
		fmt.Sprintf("RSA-%d, %d of %d: %s", thresholdBits, d.key.Threshold(), len(d.key.Holders()), keyfile.Fingerprint(d.key)),
		"key/NAME.share opens with NAME's folder only, and the rest of key is public;",
		"the private key was never written and has been erased",
		"$ undersign threshold verify-ceremony key/ceremony.txt --key key/threshold.pub",
	}, nil
}

// start starts the nodes, and has them know each other before: all are asked by the first,
// and that by the customer.
func (d *threshold) start(ctx context.Context) ([]string, error) {
	first := d.nodes[people[0]]
	if err := d.crew.serve(ctx, first, "serve"); err != nil {
		return nil, err
	}
	for _, name := range people[1:] {
		if err := d.meet(ctx, first, d.nodes[name], nil, []string{"threshold.share"}); err != nil {
			return nil, err
		}
	}
	if err := d.meet(ctx, first, d.customer, []string{"threshold.sign"}, nil, "--address", "none"); err != nil {
		return nil, err
	}
	var pids []string
	for _, name := range people {
		role := "serve"
		if name == lying && !d.honest {
			role = "lie"
		}
		n := d.nodes[name]
		if n.child == nil {
			if err := d.crew.serve(ctx, n, role); err != nil {
				return nil, err
			}
		}
		pids = append(pids, fmt.Sprintf("%s is %d", name, n.pid()))
	}
	return []string{
		"processes: " + strings.Join(pids, ", "),
		fmt.Sprintf("each lets %s ask for its share of a signature, and %s lets %s ask for signatures", people[0], people[0], customer),
	}, nil
}

// A signed is what the command sign-file prints.
type signed struct {
	Faults []struct{ Name, Holder, Kind, Reason string }
}

// ask has the nodes sign the file.
func (d *threshold) ask(ctx context.Context, output string, more ...string) (*signed, error) {
	res := new(signed)
	args := []string{"threshold", "sign-file", d.file, "--key", "key/threshold.pub", "--dir", customer, "--at", people[0], "-o", output}
	return res, d.undersign(ctx, res, append(args, more...)...)
}

// sign gets a signature out of the nodes, and the name of the one that lies.
func (d *threshold) sign(ctx context.Context) ([]string, error) {
	out := []string{fmt.Sprintf("$ undersign threshold sign-file FILE --key key/threshold.pub --dir %s --at %s", customer, people[0])}
	res, err := d.ask(ctx, "file.pss.sig")
	if err != nil {
		return out, err
	}
	found := false
	for _, f := range res.Faults {
		out = append(out, fmt.Sprintf("%s: %s: %s", f.Name, f.Kind, f.Reason))
		if f.Kind != "bad share" {
			continue
		}
		if f.Name != lying || f.Holder != lying {
			return out, fmt.Errorf("%s with the share of %s is blamed", f.Name, f.Holder)
		}
		found = true
	}
	if !found {
		return out, errors.New("nobody is named who lies")
	}
	return append(out, lying+" is named by the proof that failed, and the others sign all the same: file.pss.sig"), nil
}

// kill leaves two honest nodes of the three that it takes.
func (d *threshold) kill(ctx context.Context) ([]string, error) {
	if !d.spare {
		for _, name := range killed {
			if err := d.nodes[name].kill(); err != nil {
				return nil, err
			}
		}
	}
	_, err := d.ask(ctx, "file.sig", "--padding", "pkcs1v15")
	var refused *commandError
	if !errors.As(err, &refused) || refused.code != exitQuorum {
		return nil, fmt.Errorf("two honest nodes of %d gave %w", thresholdK, orNone(err))
	}
	// One line for what is missing, and one for each who is why.
	head, who, _ := strings.Cut(strings.TrimPrefix(refused.text, "threshold: "), ": ")
	out := []string{fmt.Sprintf("refused with exit status %d: %s", refused.code, head)}
	for line := range strings.SplitSeq(who, "; ") {
		out = append(out, line)
	}
	for _, name := range append(slices.Clone(killed), lying) {
		if !strings.Contains(who, name) {
			return out, fmt.Errorf("%s isn't among the reasons", name)
		}
	}
	if _, err := os.Stat(d.path("file.sig")); err == nil {
		return out, errors.New("file.sig is there all the same")
	}
	return out, nil
}

// orNone returns an error that says that there should have been one.
func orNone(err error) error {
	if err == nil {
		return errors.New("a signature")
	}
	return err
}

// restart brings one back: all that it needs is in its folder.
func (d *threshold) restart(ctx context.Context) ([]string, error) {
	n := d.nodes[restored]
	if err := d.crew.serve(ctx, n, "serve"); err != nil {
		return nil, err
	}
	res, err := d.ask(ctx, "file.sig", "--padding", "pkcs1v15")
	if err != nil {
		return nil, err
	}
	sig, err := os.ReadFile(d.path("file.sig"))
	if err != nil {
		return nil, err
	}
	for _, f := range res.Faults {
		if f.Name == restored {
			return nil, fmt.Errorf("%s gave no share: %s", restored, f.Reason)
		}
	}
	return []string{
		fmt.Sprintf("%s is %d now", restored, n.pid()),
		fmt.Sprintf("file.sig is an ordinary RSA signature of %s, %d bytes", filepath.Base(d.file), len(sig)),
	}, nil
}

// end ends the nodes as a service manager does, and has those who were honest show that
// nothing was taken out of their logs: killed ones too.
func (d *threshold) end(ctx context.Context) ([]string, error) {
	var honest []string
	for _, name := range people {
		if name != lying {
			honest = append(honest, name)
		}
		if n := d.nodes[name]; d.spare || name == restored || !slices.Contains(killed, name) {
			if err := n.stop(ctx); err != nil {
				return nil, err
			}
		}
	}
	for _, name := range honest {
		if err := d.undersign(ctx, nil, "audit", "verify", "--dir", name); err != nil {
			return nil, err
		}
	}
	return []string{"$ undersign audit verify --dir NAME", "whole: the logs of " + strings.Join(honest, ", ")}, nil
}
