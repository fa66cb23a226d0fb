// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package aggregate_test

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"testing"
	"time"

	"connectrpc.com/connect"

	"github.com/undersign/undersign/bls"
	"github.com/undersign/undersign/distill"
	aggregatev1 "github.com/undersign/undersign/gen/undersign/aggregate/v1"
	"github.com/undersign/undersign/internal/aggregate/frame"
	"github.com/undersign/undersign/node"
)

type rawSession struct {
	*connect.BidiStreamForClientSimple[aggregatev1.SessionRequest, aggregatev1.SessionResponse]
	t    *testing.T
	auth frame.Session
	head uint64
}

func hello(net distill.NetworkID) *aggregatev1.SessionRequest {
	return &aggregatev1.SessionRequest{Frame: &aggregatev1.SessionRequest_Hello{Hello: &aggregatev1.Hello{Network: net[:]}}}
}

// session begins a session by hand.
func (w *network) session(ctx context.Context) *rawSession {
	w.t.Helper()
	s := &rawSession{BidiStreamForClientSimple: must(w.aggregator().Session(ctx))(w.t), t: w.t}
	s.send(hello(w.genesis.ID()))
	for {
		r := s.receive()
		if c := r.GetChallenge(); c != nil {
			s.auth = frame.Session{Net: w.genesis.ID(), Aggregator: 1, Party: w.gateway.Fingerprint(), Challenge: [32]byte(c.Challenge)}
			return s
		}
	}
}

func (s *rawSession) send(f *aggregatev1.SessionRequest) {
	s.t.Helper()
	if err := s.Send(f); err != nil {
		s.t.Fatal(err)
	}
}

// receive returns the next frame that isn't a height, of which it takes note.
func (s *rawSession) receive() *aggregatev1.SessionResponse {
	s.t.Helper()
	for {
		r, err := s.Receive()
		if err != nil {
			s.t.Fatal(err)
		}
		if h := r.GetHead(); h != nil {
			s.head = must(frame.Head(h))(s.t).Hgt.Height
			continue
		}
		return r
	}
}

func (s *rawSession) refused(what string, want connect.Code) {
	s.t.Helper()
	for {
		_, err := s.Receive()
		if err == nil {
			continue
		}
		if connect.CodeOf(err) != want {
			s.t.Errorf("%s: %v, want %v", what, err, want)
		}
		return
	}
}

func (s *rawSession) authenticate(who signer) *aggregatev1.Welcome {
	s.t.Helper()
	f := &aggregatev1.Auth{}
	s.auth.Sign(f, who.id, who.Ed)
	s.send(&aggregatev1.SessionRequest{Frame: &aggregatev1.SessionRequest_Auth{Auth: f}})
	return s.receive().GetWelcome()
}

func submissions(list ...*distill.Submission) *aggregatev1.SessionRequest {
	f := &aggregatev1.Submissions{}
	for _, s := range list {
		frame.AddSubmission(f, s)
	}
	return &aggregatev1.SessionRequest{Frame: &aggregatev1.SessionRequest_Submissions{Submissions: f}}
}

func (w *network) submission(s signer, nonce, notAfter uint64, payload string) *distill.Submission {
	x := &distill.Submission{ID: s.id, Nonce: nonce, NotAfter: notAfter, Payload: []byte(payload)}
	sub := x.Sub(w.genesis.ID())
	x.Signature = ed25519.Sign(s.Ed, sub.Bytes())
	return x
}

// Who hasn't shown a key speaks for nobody.
func TestSessionRefuses(t *testing.T) {
	w := newNetwork(t, 1)
	w.finish()
	w.startAll()
	signers := w.register(2)
	a, b := signers[0], signers[1]
	ctx, cancel := context.WithTimeout(t.Context(), 60*time.Second)
	defer cancel()
	begin := func() *rawSession { return w.session(ctx) }
	signed := func() *rawSession {
		t.Helper()
		s := begin()
		deadline := time.Now().Add(10 * time.Second)
		for {
			if wel := s.authenticate(a); len(wel.GetIds()) == 1 {
				return s
			}
			if time.Now().After(deadline) {
				t.Fatal("not welcome")
			}
			time.Sleep(50 * time.Millisecond)
		}
	}
	first := signed()

	s := must(w.aggregator().Session(ctx))(t)
	if err := s.Send(hello(distill.NetworkID{1})); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Receive(); connect.CodeOf(err) != connect.CodeInvalidArgument {
		t.Errorf("another network: %v", err)
	}

	x := begin()
	x.send(submissions(w.submission(a, 1, 1000, "x")))
	x.refused("a submission without a key shown", connect.CodePermissionDenied)

	x = signed()
	x.send(submissions(w.submission(b, 1, 1000, "x")))
	x.refused("another's submission", connect.CodePermissionDenied)

	x = signed()
	x.send(&aggregatev1.SessionRequest{Frame: &aggregatev1.SessionRequest_Reductions{Reductions: &aggregatev1.Reductions{
		Seq: 1, Digest: make([]byte, 32), Ids: []uint64{b.id}, Signatures: make([]byte, 192),
	}}})
	x.refused("another's reduction", connect.CodePermissionDenied)

	x = signed()
	x.send(&aggregatev1.SessionRequest{Frame: &aggregatev1.SessionRequest_Queries{Queries: &aggregatev1.Queries{Ids: []uint64{b.id}, Nonces: []uint64{1}}}})
	x.refused("another's receipts", connect.CodePermissionDenied)

	// What was signed for one session is of no use in another, nor a signature by another
	// key, nor an id that isn't there.
	for _, c := range []struct {
		name string
		auth func(s *rawSession, f *aggregatev1.Auth)
	}{
		{"a signature of another session", func(_ *rawSession, f *aggregatev1.Auth) { first.auth.Sign(f, a.id, a.Ed) }},
		{"another's key", func(s *rawSession, f *aggregatev1.Auth) { s.auth.Sign(f, a.id, b.Ed) }},
		{"another party", func(s *rawSession, f *aggregatev1.Auth) {
			x := s.auth
			x.Party = "us1other"
			x.Sign(f, a.id, a.Ed)
		}},
		{"another aggregator", func(s *rawSession, f *aggregatev1.Auth) {
			x := s.auth
			x.Aggregator = 2
			x.Sign(f, a.id, a.Ed)
		}},
		{"another id", func(s *rawSession, f *aggregatev1.Auth) {
			s.auth.Sign(f, a.id, a.Ed)
			f.Ids[0] = b.id
		}},
		{"an id that isn't there", func(s *rawSession, f *aggregatev1.Auth) { s.auth.Sign(f, 1<<40, a.Ed) }},
	} {
		x := begin()
		f := &aggregatev1.Auth{}
		c.auth(x, f)
		x.send(&aggregatev1.SessionRequest{Frame: &aggregatev1.SessionRequest_Auth{Auth: f}})
		if wel := x.receive().GetWelcome(); len(wel.GetIds()) != 0 || len(wel.GetRefused()) != 1 {
			t.Errorf("%s: %v", c.name, wel)
		}
		x.CloseRequest()
	}

	// Frames that aren't in form.
	good := submissions(w.submission(a, 1, 1000, "xyz")).GetSubmissions
	for _, c := range []struct {
		name  string
		frame *aggregatev1.SessionRequest
	}{
		{"no frame", &aggregatev1.SessionRequest{}},
		{"columns of different lengths", func() *aggregatev1.SessionRequest {
			f := submissions(w.submission(a, 1, 1000, "xyz"))
			f.GetSubmissions().Nonces = nil
			return f
		}()},
		{"a payload past the end", func() *aggregatev1.SessionRequest {
			f := submissions(w.submission(a, 1, 1000, "xyz"))
			f.GetSubmissions().Ends[0] = 100
			return f
		}()},
		{"bytes left over", func() *aggregatev1.SessionRequest {
			f := submissions(w.submission(a, 1, 1000, "xyz"))
			f.GetSubmissions().Payloads = append(f.GetSubmissions().Payloads, 0)
			return f
		}()},
		{"ends that go back", func() *aggregatev1.SessionRequest {
			f := submissions(w.submission(a, 1, 1000, "xyz"), w.submission(a, 2, 1000, "xyz"))
			f.GetSubmissions().Ends = []uint32{6, 3}
			return f
		}()},
		{"a signature too long", func() *aggregatev1.SessionRequest {
			x := w.submission(a, 1, 1000, "xyz")
			x.Signature = make([]byte, 200)
			return submissions(x)
		}()},
		{"half a signature of a challenge", &aggregatev1.SessionRequest{Frame: &aggregatev1.SessionRequest_Auth{Auth: &aggregatev1.Auth{Ids: []uint64{a.id}, Signatures: make([]byte, 63)}}}},
		{"reductions without signatures", &aggregatev1.SessionRequest{Frame: &aggregatev1.SessionRequest_Reductions{Reductions: &aggregatev1.Reductions{Digest: make([]byte, 32), Ids: []uint64{a.id}}}}},
		{"too many items", &aggregatev1.SessionRequest{Frame: &aggregatev1.SessionRequest_Queries{Queries: &aggregatev1.Queries{
			Ids: bytesOfIDs(a.id, frame.MaxItems+1), Nonces: make([]uint64, frame.MaxItems+1)}}}},
	} {
		x := signed()
		x.Send(c.frame) // may fail: an empty one is refused before it was sent to its end
		x.refused(c.name, connect.CodeInvalidArgument)
	}
	if len(good().Ids) != 1 {
		t.Fatal("the good frame was changed")
	}
	x = signed()
	big := w.submission(a, 1, 1000, "")
	big.Payload = make([]byte, 8<<20)
	x.Send(submissions(big)) // may fail before all of it was sent
	x.refused("an oversized frame", connect.CodeResourceExhausted)

	// Messages that are refused by themselves leave the session as it is.
	x = signed()
	for x.head == 0 {
		if r, err := x.Receive(); err != nil {
			t.Fatal(err)
		} else if h := r.GetHead(); h != nil {
			x.head = must(frame.Head(h))(t).Hgt.Height
		}
	}
	forged := w.submission(a, 1, x.head+1000, "x")
	forged.Signature = bytes.Clone(forged.Signature)
	forged.Signature[3] ^= 1
	x.send(submissions(
		w.submission(a, 0, x.head+1000, "x"), w.submission(a, 1, x.head+10, "x"),
		w.submission(a, 1, x.head+1<<20, "x"), forged))
	want := map[distill.Rule]bool{distill.RuleOldNonce: true, distill.RuleTooLate: true, distill.RuleLifetime: true, distill.RuleSubmissionSignature: true}
	for len(want) > 0 {
		for _, rule := range x.receive().GetRefusals().GetRules() {
			if !want[distill.Rule(rule)] {
				t.Errorf("refused: %v", distill.Rule(rule))
			}
			delete(want, distill.Rule(rule))
		}
	}
	x.send(submissions(w.submission(a, 1, x.head+1000, "x")))
	if acks := x.receive().GetAcks(); len(acks.GetIds()) != 1 || acks.Ids[0] != a.id {
		t.Errorf("not acknowledged: %v", acks)
	}
	// Another payload for the nonce is refused, and evidence against the client.
	x.send(submissions(w.submission(a, 1, x.head+1000, "y")))
	for {
		if r := x.receive().GetRefusals(); r != nil {
			if distill.Rule(r.Rules[0]) != distill.RuleConflict && distill.Rule(r.Rules[0]) != distill.RuleExecuted {
				t.Errorf("two payloads: %v", distill.Rule(r.Rules[0]))
			}
			break
		}
	}
}

func bytesOfIDs(id uint64, n int) []uint64 {
	list := make([]uint64, n)
	for i := range list {
		list[i] = id
	}
	return list
}

// A session that doesn't read what it is sent ends, and nobody else waits for it.
func TestSlowReader(t *testing.T) {
	w := newNetwork(t, 1)
	w.finish()
	w.startAll()
	signers := w.register(2)
	ctx, cancel := context.WithTimeout(t.Context(), 60*time.Second)
	defer cancel()
	slow := w.session(ctx)
	for len(slow.authenticate(signers[0]).GetIds()) == 0 {
		time.Sleep(50 * time.Millisecond)
	}
	// It asks again and again and reads nothing.
	done := make(chan struct{})
	go func() {
		defer close(done)
		f := submissions()
		for range 1000 {
			frame.AddSubmission(f.GetSubmissions(), w.submission(signers[0], 0, 0, ""))
		}
		for range 2000 {
			if slow.Send(f) != nil {
				return
			}
		}
	}()
	g, _ := w.gatewayOf(w.open(signers[1], &distill.MemoryJournal{}))
	if o := wait(t, g, signers[1].id, submit(t, g, signers[1].id, "x")); o.Kind != distill.OutcomeExecuted {
		t.Errorf("%+v", o)
	}
	cancel()
	<-done
}

// Parties, sessions and changes of the directory have bounds, and who is over them is
// told when to come again.
func TestLimits(t *testing.T) {
	w := newNetwork(t, 1)
	w.tune = func(_ int, c *node.Config) {
		c.Aggregate.Aggregator.Sessions = 1
		c.Aggregate.Directory.Queue = 4
	}
	w.finish()
	w.startAll()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	first := w.session(ctx)
	s := must(w.aggregator().Session(ctx))(t)
	s.Send(hello(w.genesis.ID()))
	if _, err := s.Receive(); connect.CodeOf(err) != connect.CodeResourceExhausted {
		t.Errorf("a second session: %v", err)
	}
	if _, err := w.aggregator().Submit(ctx, &aggregatev1.SubmitRequest{Frame: hello(w.genesis.ID())}); connect.CodeOf(err) != connect.CodeResourceExhausted {
		t.Errorf("a second session by calls: %v", err)
	}
	first.CloseRequest()

	e := distill.DirectoryEntry{Net: w.genesis.ID(), Changes: make([]distill.Change, 5)}
	for i := range e.Changes {
		e.Changes[i].Kind = distill.ChangeRegister
	}
	if _, err := w.directory(0).Register(ctx, &aggregatev1.RegisterRequest{Entry: e.Bytes()}); connect.CodeOf(err) != connect.CodeResourceExhausted {
		t.Errorf("more changes than may wait: %v", err)
	}
}

// The directory takes what is in form, and says of each change what became of it.
func TestDirectoryRefuses(t *testing.T) {
	w := newNetwork(t, 1)
	w.finish()
	w.startAll()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	d := w.directory(0)
	sk := must(bls.KeyGen(bytes.Repeat([]byte{7}, 32), nil))(t)
	ed := ed25519.NewKeyFromSeed(bytes.Repeat([]byte{7}, 32))
	good := must(distill.Register(w.genesis.ID(), sk, ed, 4000))(t)
	entry := func(net distill.NetworkID, list ...distill.Change) []byte {
		e := distill.DirectoryEntry{Net: net, Changes: list}
		return e.Bytes()
	}
	for name, b := range map[string][]byte{
		"garbage": []byte("x"), "nothing": nil, "another network": entry(distill.NetworkID{1}, *good),
		"a revocation": entry(w.genesis.ID(), *distill.Revoke(w.genesis.ID(), 0, 0, ed)),
	} {
		if _, err := d.Register(ctx, &aggregatev1.RegisterRequest{Entry: b}); connect.CodeOf(err) != connect.CodeInvalidArgument {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := d.Revoke(ctx, &aggregatev1.RevokeRequest{Entry: entry(w.genesis.ID(), *good)}); connect.CodeOf(err) != connect.CodeInvalidArgument {
		t.Errorf("a registration as a revocation: %v", err)
	}
	forged := *good
	forged.Proof[5] ^= 1
	late := *must(distill.Register(w.genesis.ID(), sk, ed, 1))(t)
	resp, err := d.Register(ctx, &aggregatev1.RegisterRequest{Entry: entry(w.genesis.ID(), forged, late, *good)})
	if err != nil {
		t.Fatal(err)
	}
	if r := distill.Rule(resp.Changes[0].Rule); r != distill.RuleProofOfPossession {
		t.Errorf("a forged proof: %v", r)
	}
	if r := distill.Rule(resp.Changes[2].Rule); r != 0 {
		t.Errorf("a good one: %v", r)
	}
	id := resp.Changes[2].Id
	// The same again is no mistake: the answer may have been lost.
	resp, err = d.Register(ctx, &aggregatev1.RegisterRequest{Entry: entry(w.genesis.ID(), *good)})
	if err != nil || resp.Changes[0].Rule != 0 || resp.Changes[0].Id != id {
		t.Errorf("registered again: %v, %v", resp, err)
	}
	// The same BLS key with another's Ed25519 key is one.
	other := must(distill.Register(w.genesis.ID(), sk, ed25519.NewKeyFromSeed(bytes.Repeat([]byte{8}, 32)), 4000))(t)
	resp, err = d.Register(ctx, &aggregatev1.RegisterRequest{Entry: entry(w.genesis.ID(), *other)})
	if err != nil || distill.Rule(resp.Changes[0].Rule) != distill.RuleKeyRegistered {
		t.Errorf("another's key: %v, %v", resp, err)
	}
	rev, err := d.Revoke(ctx, &aggregatev1.RevokeRequest{Entry: entry(w.genesis.ID(), *distill.Revoke(w.genesis.ID(), id, resp.Changes[0].Version, ed))})
	if err != nil || rev.Changes[0].Rule != 0 && distill.Rule(rev.Changes[0].Rule) != distill.RuleStaleChange {
		t.Errorf("revoked: %v, %v", rev, err)
	}
}

// A validator takes orders with a witness, and batches that verify.
func TestValidatorRefuses(t *testing.T) {
	w := newNetwork(t, 1)
	w.finish()
	w.startAll()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	v := w.validator(0)
	o := frame.Order{Aggregator: 1, Seq: 1, Digest: [32]byte{1}, Witness: distill.Certificate{Bitmap: []byte{1}}}
	for name, b := range map[string][]byte{"garbage": []byte("x"), "no witness": o.Bytes(), "longer": append(o.Bytes(), 0)} {
		if _, err := v.SubmitBatch(ctx, &aggregatev1.SubmitBatchRequest{Order: b}); connect.CodeOf(err) != connect.CodeInvalidArgument {
			t.Errorf("%s: %v", name, err)
		}
	}
	resp, err := v.Witness(ctx, &aggregatev1.WitnessRequest{Batch: []byte("not a batch")})
	if err != nil || resp.Rule == 0 || resp.Share != nil {
		t.Errorf("garbage was witnessed: %v, %v", resp, err)
	}
	if _, err := v.FetchBatch(ctx, &aggregatev1.FetchBatchRequest{Digest: []byte("x")}); connect.CodeOf(err) != connect.CodeInvalidArgument {
		t.Errorf("not a digest: %v", err)
	}
	if f, err := v.FetchBatch(ctx, &aggregatev1.FetchBatchRequest{Digest: make([]byte, 32)}); err != nil || len(f.Batch) != 0 {
		t.Errorf("a batch that isn't there: %v, %v", f, err)
	}
	looks, err := v.Lookup(ctx, &aggregatev1.LookupRequest{Challenges: [][]byte{make([]byte, 32)}, Ids: []uint64{99}, Nonces: []uint64{1}, NotAfter: []uint64{1}})
	if err != nil || len(looks.Looks) != 1 || looks.Looks[0].Share != nil {
		t.Errorf("a client that isn't there: %v, %v", looks, err)
	}
	if _, err := v.Lookup(ctx, &aggregatev1.LookupRequest{Ids: []uint64{1}}); connect.CodeOf(err) != connect.CodeInvalidArgument {
		t.Errorf("columns: %v", err)
	}
	many := &aggregatev1.LookupRequest{}
	for range 257 {
		frame.AddQuestion(many, &distill.Lookup{})
	}
	if _, err := v.Lookup(ctx, many); connect.CodeOf(err) != connect.CodeInvalidArgument {
		t.Errorf("too many questions: %v", err)
	}
}
