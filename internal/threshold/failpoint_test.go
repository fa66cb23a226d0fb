// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

//go:build failpoints

package threshold_test

import (
	"bytes"
	"fmt"
	"testing"

	thresholdv1 "github.com/undersign/undersign/gen/undersign/threshold/v1"
	"github.com/undersign/undersign/internal/threshold"
)

// A signer that dies at any step of a signature has a record of it, and answers after.
func TestFailpointsShare(t *testing.T) {
	c := newCluster(t, 2, 2, nil)
	alice, bob := c.nodes[0], c.nodes[1]
	if err := bob.stop(); err != nil {
		t.Fatal(err)
	}
	name := threshold.KeyName(c.key)
	for _, place := range []string{"threshold.begun", "threshold.signed", "threshold.stored"} {
		p := spawn(t, bob.dir, bob.Addr().String(), place+"=kill")
		if _, err := ask(bob.as(alice.id), t, c, name, place); err == nil {
			t.Errorf("%s: it answered", place)
		}
		<-p.done
		p.done <- nil
		_, report := auditOf(t, bob)
		if len(report.Open) == 0 {
			t.Errorf("%s: the use of the share left no trace", place)
		}
		p = spawn(t, bob.dir, bob.Addr().String(), "")
		first, err := ask(bob.as(alice.id), t, c, name, place)
		if err != nil {
			t.Errorf("%s: %v", place, err)
		}
		if again, err := ask(bob.as(alice.id), t, c, name, place); err != nil || !bytes.Equal(first, again) {
			t.Errorf("%s: %v, or another share", place, err)
		}
		p.kill()
	}
	for _, place := range []string{"threshold.begun", "threshold.signed", "threshold.stored"} {
		p := spawn(t, bob.dir, bob.Addr().String(), place+"=error@1")
		if _, err := ask(bob.as(alice.id), t, c, name, place+" error"); err == nil {
			t.Errorf("%s: it answered", place)
		}
		if _, err := ask(bob.as(alice.id), t, c, name, place+" error"); err != nil {
			t.Errorf("%s: %v", place, err)
		}
		p.kill()
	}
}

// A node that dies in a ceremony, at any step, has a share that signs afterwards.
func TestFailpointsCeremony(t *testing.T) {
	for _, place := range []string{"threshold.received", "threshold.certified"} {
		c := newCluster(t, 2, 2, nil)
		u := c.newUser(c.nodes[0])
		alice, bob := c.nodes[0], c.nodes[1]
		if err := bob.stop(); err != nil {
			t.Fatal(err)
		}
		p := spawn(t, bob.dir, bob.Addr().String(), place+"=kill")
		st := alice.startCeremony(&thresholdv1.StartCeremonyRequest{Key: "code"})
		st = alice.finishCeremony(st.Id)
		if s := states(st)["bob"]; s == "finished" {
			t.Errorf("%s: %s", place, s)
		}
		<-p.done
		p.done <- nil
		c.nodes[1] = c.restart(bob)
		if err := u.sign(t, place); place == "threshold.certified" && err != nil {
			t.Errorf("%s: %v", place, err)
		}
		for name, state := range states(alice.finishCeremony(st.Id)) {
			if state != "finished" {
				t.Errorf("%s: %s: %s", place, name, state)
			}
		}
		if err := u.sign(t, place+" after"); err != nil || u.signer.Record().Epoch() != 2 {
			t.Errorf("%s: %v, epoch %d", place, err, u.signer.Record().Epoch())
		}
	}
}

// A share's file that can't be written ends no ceremony, and loses no share.
func TestFailpointsFile(t *testing.T) {
	for _, place := range []string{"threshold.file.written", "threshold.file.renamed"} {
		// The card, the card again with what was acknowledged, the share with the new one,
		// and the new one.
		for at := 1; at <= 4; at++ {
			c := newCluster(t, 2, 2, nil)
			u := c.newUser(c.nodes[0])
			alice, bob := c.nodes[0], c.nodes[1]
			bob.stopped()
			what := fmt.Sprintf("%s=error@%d", place, at)
			p := spawn(t, bob.dir, bob.Addr().String(), what)
			st := alice.startCeremony(&thresholdv1.StartCeremonyRequest{Key: "code"})
			failed := states(st)["bob"] != "joined" || states(alice.finishCeremony(st.Id))["bob"] != "finished"
			if !failed {
				t.Errorf("%s: nothing failed", what)
			}
			if at < 4 { // or else alice has the new share, and bob hasn't yet
				if err := u.sign(t, what); err != nil {
					t.Errorf("%s: %v", what, err)
				}
			}
			c.finished(alice, st.Id)
			if err := u.sign(t, what+" after"); err != nil {
				t.Errorf("%s: %v", what, err)
			}
			p.kill()
			c.nodes[1] = c.restart(bob)
			if err := u.sign(t, what+" again"); err != nil || u.signer.Record().Epoch() != 2 {
				t.Errorf("%s: %v, epoch %d", what, err, u.signer.Record().Epoch())
			}
		}
	}
}
