// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package demo

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/undersign/undersign/bls"
	"github.com/undersign/undersign/distill"
	"github.com/undersign/undersign/internal/nodedir"
	"github.com/undersign/undersign/internal/store"
)

// The gateway's clients, and for how long they submit new messages at least: on a machine
// that has nothing else to do the aggregator is killed after a second, and the validator two
// seconds later. They go on until each has had some receipts after that.
const (
	serviceClients  = 256
	serviceTime     = 5 * time.Second
	serviceReceipts = 3
)

// Batches and heights come quickly, so that there are many in a few seconds.
const (
	quickAggregator = "batch-age-ms = 100\nmin-wait-ms = 100\n"
	quickValidator  = "[aggregate.validator]\ntick-ms = 100\n"
)

// What the nodes of a network allow.
var (
	aggregatorMay = []string{
		"aggregate.witness", "aggregate.submit-batch", "aggregate.subscribe", "aggregate.sync", "aggregate.last-batch", "aggregate.head",
	}
	clientMay = []string{"aggregate.session", "aggregate.head", "aggregate.lookup", "aggregate.register"}
)

// A service is the part of the demo of distilled aggregates that real processes play.
type service struct {
	stage
	crew                           crew
	aggregator, validator, gateway *nodeProcess
	genesis                        *distill.Genesis
	clients                        int
	atLeast                        time.Duration
	last                           loadLine
	spare                          bool // a test has nobody killed
}

// playService runs the steps of the processes, in the folder of the demo.
func playService(ctx context.Context, s *stage) error {
	d := &service{stage: *s, clients: serviceClients, atLeast: serviceTime}
	return d.play(ctx)
}

func (d *service) play(ctx context.Context) error {
	d.crew.s = &d.stage
	defer d.crew.end()
	for _, step := range []struct {
		title string
		f     func(context.Context) ([]string, error)
	}{
		{"Start an aggregator, a validator and a gateway, each a process of its own", d.start},
		{"Kill the aggregator and then the validator (SIGKILL), while messages are under way", d.kill},
		{"End the nodes, and count receipts in the validator's log", d.count},
		{"Write a certificate down, and verify it by itself", d.export},
	} {
		if err := d.do(ctx, step.title, func() ([]string, error) { return step.f(ctx) }); err != nil {
			return err
		}
	}
	return nil
}

// start makes a network of two nodes, and a gateway's clients in it.
func (d *service) start(ctx context.Context) (out []string, err error) {
	if d.aggregator, err = d.crew.makeNode(ctx, "aggregator"); err != nil {
		return nil, err
	}
	if d.validator, err = d.crew.makeNode(ctx, "validator"); err != nil {
		return nil, err
	}
	if d.gateway, err = d.crew.makeParty(ctx, "gateway", "127.0.0.1:0"); err != nil {
		return nil, err
	}
	for _, args := range [][]string{
		{"aggregate", "keygen", "-o", "validator/validator.key", "--to", "validator/recipient.txt"},
		{"aggregate", "prove", "--key", "validator/validator.key", "-i", "validator/unlock.txt"},
		{"aggregate", "genesis", "--name", "demo", "--aggregator", "aggregator", "--validator", "validator=validator/validator.key.proof",
			"--node", "aggregator", "--node", "validator", "-o", "demo.genesis"},
	} {
		if err := d.undersign(ctx, nil, args...); err != nil {
			return nil, err
		}
	}
	if err := d.configure(); err != nil {
		return nil, err
	}
	if err := d.crew.serve(ctx, d.validator, "serve"); err != nil {
		return nil, err
	}
	if err := d.meet(ctx, d.validator, d.aggregator, aggregatorMay, nil); err != nil {
		return nil, err
	}
	if err := d.crew.serve(ctx, d.aggregator, "serve"); err != nil {
		return nil, err
	}
	for _, n := range []*nodeProcess{d.aggregator, d.validator} {
		if err := d.meet(ctx, n, d.gateway, clientMay, nil, "--address", "none"); err != nil {
			return nil, err
		}
	}
	data, err := json.Marshal(loadConfig{
		Genesis: d.path("demo.genesis"), Aggregator: d.aggregator.address, Validator: d.validator.address,
		Fingerprint: d.validator.fingerprint, Clients: d.clients,
	})
	if err != nil {
		return nil, err
	}
	if err := d.write("gateway/"+loadName, data, 0o600); err != nil {
		return nil, err
	}
	if d.gateway.child, err = d.crew.start("gateway", "load", d.path("gateway")); err != nil {
		return nil, err
	}
	var line loadLine
	if err := d.gateway.read(ctx, &line); err != nil {
		return nil, err
	}
	return []string{
		fmt.Sprintf("processes: aggregator is %d, validator is %d, gateway is %d", d.aggregator.pid(), d.validator.pid(), d.gateway.pid()),
		fmt.Sprintf("%d clients are registered; each submits a message, signs the batch that it is in, and goes on when it has the receipt", line.Registered),
	}, nil
}

// configure makes both nodes quick, and reads the genesis.
func (d *service) configure() error {
	data, err := os.ReadFile(d.path("demo.genesis"))
	if err != nil {
		return err
	}
	d.genesis = new(distill.Genesis)
	if err := d.genesis.UnmarshalBinary(data); err != nil {
		return err
	}
	// The aggregator's table is the last of its file.
	if err := nodedir.AppendConfig(d.path("aggregator"), []byte(quickAggregator)); err != nil {
		return err
	}
	path := d.path("validator/" + nodedir.Config)
	if data, err = os.ReadFile(path); err != nil {
		return err
	}
	return nodedir.Replace(path, bytes.Replace(data, []byte("[aggregate.validator]\n"), []byte(quickValidator), 1), 0o600)
}

// kill kills each of the two while messages wait for receipts, and waits until all have
// theirs.
func (d *service) kill(ctx context.Context) (out []string, err error) {
	victims := []*nodeProcess{d.aggregator, d.validator}
	if d.spare {
		victims = nil
	}
	receipted, quiet := uint64(0), 0 // before the kill, and lines since in which none came
	began, enough := time.Now(), false
	for !d.last.Done {
		if err := d.gateway.read(ctx, &d.last); err != nil {
			return out, err
		}
		if !enough && len(victims) == 0 && time.Since(began) >= d.atLeast && d.last.Receipted >= receipted+uint64(serviceReceipts*d.clients) {
			if err := d.write("gateway/"+enoughName, nil, 0o600); err != nil {
				return out, err
			}
			enough = true
		}
		if len(victims) == 0 || d.last.Acknowledged == 0 || d.last.Waiting == 0 || d.last.Done {
			continue
		}
		// The second is killed when the first has been of use again, or takes too long.
		if quiet++; len(victims) == 1 && d.last.Receipted == receipted && quiet < 2 {
			continue
		}
		n := victims[0]
		victims, receipted, quiet = victims[1:], d.last.Receipted, 0
		if err := n.kill(); err != nil {
			return out, err
		}
		start := time.Now()
		if err := d.crew.serve(ctx, n, "serve"); err != nil {
			return out, err
		}
		out = append(out, fmt.Sprintf("%s: killed when %d were acknowledged, %d receipted and %d on their way; it serves again after %v, and is %d",
			n.name, d.last.Acknowledged, d.last.Receipted, d.last.Waiting, time.Since(start).Round(time.Millisecond), n.pid()))
	}
	if err := d.gateway.stop(ctx); err != nil {
		return out, err
	}
	if len(victims) > 0 || d.spare {
		return out, errors.New("the messages came to their end before anybody was killed")
	}
	l := &d.last
	if l.Acknowledged == 0 || l.Receipted < l.Acknowledged || l.Bad != 0 {
		return out, fmt.Errorf("%d acknowledged, %d receipted, %d bad", l.Acknowledged, l.Receipted, l.Bad)
	}
	return append(out, fmt.Sprintf("%d messages in all, %d of them acknowledged, which means on disk, and %d receipts: none is without",
		l.Submitted, l.Acknowledged, l.Receipted)), nil
}

// count ends the nodes, and reads what the validator has executed.
func (d *service) count(ctx context.Context) ([]string, error) {
	for _, n := range []*nodeProcess{d.aggregator, d.validator} {
		if err := n.stop(ctx); err != nil {
			return nil, err
		}
		if err := d.undersign(ctx, nil, "audit", "verify", "--dir", n.name); err != nil {
			return nil, err
		}
	}
	s, err := store.Open(d.path("validator/"+nodedir.Store), store.Options{})
	if err != nil {
		return nil, err
	}
	defer s.Close()
	head, err := s.Validator().Head()
	if err != nil {
		return nil, err
	}
	executed := make(map[[2]uint64]bool)
	batches := 0
	for h := uint64(1); h <= head.Height; h++ {
		log, err := s.Validator().Tick(h)
		if err != nil {
			return nil, err
		}
		for i := range log {
			if len(log[i].Results) > 0 {
				batches++
			}
			for _, r := range log[i].Results {
				if r.Code != distill.ResultOK {
					continue
				}
				k := [2]uint64{r.ID, r.Nonce}
				if executed[k] {
					return nil, fmt.Errorf("message %d of client %d was executed twice", r.Nonce, r.ID)
				}
				executed[k] = true
			}
		}
	}
	if n := uint64(len(executed)); n != d.last.Receipted || n != d.last.Submitted {
		return nil, fmt.Errorf("%d messages were executed, of %d with %d receipts", n, d.last.Submitted, d.last.Receipted)
	}
	return []string{
		fmt.Sprintf("%d messages were executed in %d batches, at %d heights, and none twice: as many as there are receipts", len(executed), batches, head.Height),
		"whole: the audit logs of aggregator and validator",
	}, nil
}

// export writes the largest batch's certificate as what any library takes for
// FastAggregateVerify, and has the command verify that, with no node running.
func (d *service) export(ctx context.Context) ([]string, error) {
	b, encoded, keys, err := d.largest()
	if err != nil {
		return nil, err
	}
	network, err := distill.NewNetwork(d.genesis)
	if err != nil {
		return nil, err
	}
	v, err := network.Verifier().Verify(encoded, keys)
	if err != nil {
		return nil, err
	}
	digest := v.Prop(v.Root).Red().Digest()
	var text strings.Builder
	signers := 0
	next := b.Stragglers
	for i, id := range b.IDs {
		if len(next) > 0 && next[0] == uint32(i) {
			next = next[1:]
			continue
		}
		fmt.Fprintf(&text, "%s\n", keys.BLSKey(id))
		signers++
	}
	sig, err := bls.ParseSignature(b.Aggregate)
	if err != nil {
		return nil, err
	}
	err = errors.Join(
		d.write(aggregateBatchName, encoded, 0o644),
		d.write(aggregateStatementName, fmt.Appendf(nil, "%x\n", digest), 0o644),
		d.write(aggregateKeysName, []byte(text.String()), 0o644),
		d.write(aggregateSigName, fmt.Appendf(nil, "%s\n", sig), 0o644))
	if err != nil {
		return nil, err
	}
	args := []string{"aggregate", "verify", "--messages", aggregateStatementName, "--key", aggregateKeysName, "--scheme", "pop", "--insecure-proven", "--sig", aggregateSigName}
	var res struct {
		Valid bool
		Kind  string
		Keys  int
	}
	out := []string{
		fmt.Sprintf("%d messages in %d bytes; %d keys, one message of %d bytes and one signature of %d: FastAggregateVerify",
			b.Len(), len(encoded), signers, len(digest), len(b.Aggregate)),
		"$ undersign " + strings.Join(args, " "),
	}
	if err := d.undersign(ctx, &res, args...); err != nil {
		return out, err
	}
	if !res.Valid || res.Kind != "fast" || res.Keys != signers {
		return out, fmt.Errorf("it says %+v", res)
	}
	d.res.Verified = append(d.res.Verified, "undersign aggregate verify")
	return append(out, fmt.Sprintf("valid aggregate of %d keys", res.Keys)), nil
}

// largest returns the batch that most clients have signed, and the keys that it names.
func (d *service) largest() (*distill.Batch, []byte, distill.View, error) {
	s, err := store.Open(d.path("validator/"+nodedir.Store), store.Options{})
	if err != nil {
		return nil, nil, nil, err
	}
	defer s.Close()
	v := s.Validator()
	head, err := v.Head()
	if err != nil {
		return nil, nil, nil, err
	}
	var best *distill.Batch
	var encoded []byte
	for h := uint64(1); h <= head.Height; h++ {
		log, err := v.Tick(h)
		if err != nil {
			return nil, nil, nil, err
		}
		for i := range log {
			if len(log[i].Results) == 0 || len(log[i].Data) == 0 {
				continue
			}
			b, err := distill.DecodeBatch(log[i].Data, &d.genesis.Params)
			if err != nil {
				return nil, nil, nil, err
			}
			if best == nil || b.Len()-len(b.Stragglers) > best.Len()-len(best.Stragglers) {
				best, encoded = b, log[i].Data
			}
		}
	}
	if best == nil || best.Len() == len(best.Stragglers) {
		return nil, nil, nil, errors.New("nobody has signed a batch")
	}
	dir, err := distill.NewDirectory(d.genesis)
	if err != nil {
		return nil, nil, nil, err
	}
	if err := v.Rows(dir.Load); err != nil {
		return nil, nil, nil, err
	}
	view, err := dir.At(best.Dirver)
	return best, encoded, view, err
}
