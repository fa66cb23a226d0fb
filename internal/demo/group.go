// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package demo

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"math"
	mrand "math/rand/v2"
	"path/filepath"
	"slices"
	"time"

	"github.com/undersign/undersign/groupsig"
	"github.com/undersign/undersign/keyfile"
)

// The group demo's cast and file sizes.
const (
	groupBatch  = 1000
	groupForged = 617 // from 0
	groupSample = 100 // for the time one by one
	groupScope  = "complaints"
	groupVote   = "vote on the minutes"
	mallory     = "dave" // who misbehaves
)

var groupMembers = []string{"alice", "bob", "carol", "dave", "erin"}

// group is the demo of group signatures, as its steps fill it.
type group struct {
	stage
	batch int

	issuer    groupsig.IssuerKey
	opener    groupsig.Opener
	gk        groupsig.GroupKey
	issued    *groupsig.Register // the issuer's
	opened    *groupsig.Register // the opener's
	longTerm  map[string]ed25519.PublicKey
	members   map[string]groupsig.MemberKey
	epoch     uint64
	announced groupsig.Announcement // of that epoch
	text      [][]byte              // signed in the first round
	sigs      [][]byte
	offending int // which of them is the misbehaviour
}

// Group shows members of a group who sign without being known, and what can be done
// about those who misuse that.
func Group(ctx context.Context, opts Options) (*Result, error) {
	dir, err := filepath.Abs(opts.Dir)
	if err != nil {
		return nil, err
	}
	opts.Dir = dir
	d := &group{
		stage: stage{opts, &Result{Dir: dir, Verified: []string{"undersign"}}}, batch: groupBatch, epoch: 1,
		longTerm: map[string]ed25519.PublicKey{}, members: map[string]groupsig.MemberKey{},
	}
	if opts.Records > 0 {
		d.batch = opts.Records
	}
	if d.batch < 2 {
		return nil, fmt.Errorf("demo: a batch of %d, of which one is to be forged", d.batch)
	}
	defer d.wipe()
	for _, step := range []struct {
		title string
		f     func(context.Context) ([]string, error)
	}{
		{"Make a group whose issuer can't open, and whose opener can't admit", d.make},
		{"Let five members join", d.join},
		{"Let all five sign, one of them a slander", d.sign},
		{"Open the slander, and prove who wrote it", d.open},
		{"Revoke the slanderer", d.revoke},
		{"Catch a second vote", d.vote},
		{fmt.Sprintf("Verify a batch of %d with one bad", d.batch), d.verifyBatch},
	} {
		if err := d.do(ctx, step.title, func() ([]string, error) { return step.f(ctx) }); err != nil {
			return nil, err
		}
	}
	return d.res, nil
}

func (d *group) wipe() {
	if d.issuer != nil {
		d.issuer.Wipe()
	}
	if d.opener != nil {
		d.opener.Wipe()
	}
	for _, m := range d.members {
		m.Wipe()
	}
}

// file writes a public file of the group.
func (d *group) file(name string, v keyfile.Object, f *keyfile.GroupFile, number uint64, parts ...[]byte) error {
	*f = keyfile.GroupFile{Scheme: d.gk.Scheme().Name(), Group: d.gk.ID(), Number: number, Parts: parts}
	data, err := keyfile.Encode(v)
	if err != nil {
		return err
	}
	return d.write(name, data, 0o644)
}

func (d *group) make(context.Context) ([]string, error) {
	s := groupsig.BBSGS()
	features := groupsig.Scope | groupsig.Escrow | groupsig.Epoch
	draft, err := s.NewDraft("undersign demo "+rand.Text(), features)
	if err != nil {
		return nil, err
	}
	d.issuer = s.GenerateIssuerKey()
	if d.opener, err = s.GenerateOpenerKey(features); err != nil {
		return nil, err
	}
	for _, r := range []groupsig.Role{d.issuer, d.opener} {
		if err := r.Enroll(draft); err != nil {
			return nil, err
		}
	}
	for _, r := range []groupsig.Role{d.issuer, d.opener} {
		if err := r.Consent(draft); err != nil {
			return nil, err
		}
	}
	if d.gk, err = draft.GroupKey(); err != nil {
		return nil, err
	}
	d.issued, d.opened = d.gk.NewRegister(), d.gk.NewRegister()
	if err := d.announce(); err != nil {
		return nil, err
	}
	data, err := d.gk.MarshalBinary()
	if err != nil {
		return nil, err
	}
	var k keyfile.GroupKey
	return []string{
		fmt.Sprintf("scheme %s with %s; signatures of %d bytes", s.Name(), features, d.gk.SignatureSize()),
		fmt.Sprintf("group.pub, with the ID %.8x…, is all that a verifier needs", d.gk.ID()),
	}, d.file("group.pub", &k, k.File(), 0, data)
}

// announce signs which epoch verifiers accept.
func (d *group) announce() error {
	an, ok := d.issuer.(groupsig.Announcer)
	if !ok {
		return errors.New("the group has no epochs")
	}
	now := time.Now().Unix()
	a, err := an.Announce(d.gk, groupsig.Terms{Number: d.epoch, Issued: now, Expires: now + 24*3600}, d.epoch, d.epoch)
	if err != nil {
		return err
	}
	if old := d.announced; old != nil {
		if err := groupsig.Replaces(a, old); err != nil {
			return err
		}
		if groupsig.Replaces(old, a) == nil {
			return errors.New("an older announcement was taken for a newer one")
		}
	}
	d.announced = a
	data, err := a.MarshalBinary()
	if err != nil {
		return err
	}
	var f keyfile.GroupAnnouncement
	return d.file(fmt.Sprintf("group-%d.epochs", d.epoch), &f, f.File(), d.epoch, data)
}

func (d *group) join(context.Context) ([]string, error) {
	sessions, now := d.gk.NewSessions(), time.Now().Unix()
	for _, name := range groupMembers {
		pub, priv, err := ed25519.GenerateKey(rand.Reader)
		if err != nil {
			return nil, err
		}
		challenge, err := d.issuer.Invite(d.gk, sessions, name, pub, now, 3600)
		if err != nil {
			return nil, err
		}
		pending, application, err := d.gk.NewJoin(d.gk.ID(), challenge, name, priv)
		clear(priv)
		if err != nil {
			return nil, err
		}
		defer pending.Wipe()
		credential, err := d.issuer.Issue(d.gk, sessions, d.issued, application, now, d.epoch)
		if err != nil {
			return nil, err
		}
		if d.members[name], err = pending.Finish(credential, d.epoch); err != nil {
			return nil, err
		}
		if err := d.opener.Record(d.gk, d.opened, d.issued.Member(name), pub); err != nil {
			return nil, err
		}
		d.longTerm[name] = pub
		spki, err := x509.MarshalPKIXPublicKey(pub)
		if err != nil {
			return nil, err
		}
		if err := d.write(name+".pub.pem", pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: spki}), 0o644); err != nil {
			return nil, err
		}
	}
	return []string{
		"each proves that it knows a secret that the issuer never sees, and signs its registration with an Ed25519 key of its own",
		"the opener checks each registration, without relying on the issuer",
	}, nil
}

func (d *group) options(scope string) groupsig.VerifyOptions {
	return groupsig.VerifyOptions{Scope: []byte(scope), Announcement: d.announced, Now: time.Now().Unix()}
}

// sign lets all sign, in random order as a verifier sees it.
func (d *group) sign(context.Context) ([]string, error) {
	order := slices.Clone(groupMembers)
	mrand.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
	for i, name := range order {
		text := "The canteen should open earlier.\n"
		if name == mallory {
			text = "The director steals.\n"
			d.offending = i
		}
		sig, err := d.members[name].Sign([]byte(text), groupsig.SignOptions{Scope: []byte(groupScope)})
		if err != nil {
			return nil, err
		}
		d.text, d.sigs = append(d.text, []byte(text)), append(d.sigs, sig)
		file := fmt.Sprintf("%d.txt", i+1)
		if err := d.write(file, []byte(text), 0o644); err != nil {
			return nil, err
		}
		var s keyfile.GroupSignature
		if err := d.file(file+".gsig", &s, s.File(), d.epoch, []byte(groupScope), nil, sig); err != nil {
			return nil, err
		}
		if err := d.gk.Verify([]byte(text), sig, d.options(groupScope)); err != nil {
			return nil, err
		}
	}
	// What nobody signed is refused.
	if err := d.gk.Verify([]byte("another text"), d.sigs[0], d.options(groupScope)); !errors.Is(err, groupsig.ErrSignature) {
		return nil, fmt.Errorf("a signature of another text: %v", err)
	}
	return []string{
		"$ undersign group verify 1.txt 2.txt 3.txt 4.txt 5.txt --group group.pub --scope " + groupScope + " --announced group-1.epochs",
		"all five are of members, and nobody can tell of whom",
	}, nil
}

// open names the slanderer, and nobody else.
func (d *group) open(context.Context) ([]string, error) {
	i := d.offending
	o, err := d.opener.Open(d.gk, d.opened, d.text[i], d.sigs[i], d.options(groupScope), nil)
	if err != nil {
		return nil, err
	}
	if o.Member() != mallory {
		return nil, fmt.Errorf("the opening names %q", o.Member())
	}
	judge, ok := groupsig.As[groupsig.OpeningVerifier](d.gk)
	if !ok {
		return nil, errors.New("nobody can check the opening")
	}
	data, err := o.MarshalBinary()
	if err != nil {
		return nil, err
	}
	file := fmt.Sprintf("%d.txt", i+1)
	var f keyfile.GroupOpening
	if err := d.file(file+".opening", &f, f.File(), 0, data); err != nil {
		return nil, err
	}
	for j := range d.sigs {
		for _, name := range groupMembers {
			err := judge.VerifyOpening(d.text[j], d.sigs[j], d.options(groupScope), o, d.longTerm[name], nil)
			if right := j == i && name == mallory; right != (err == nil) {
				return nil, fmt.Errorf("the opening of %d.txt, under the key of %s: %v", j+1, name, err)
			}
		}
	}
	return []string{
		fmt.Sprintf("the opener says: %s was signed by %s", file, o.Member()),
		fmt.Sprintf("$ undersign group verify-opening %s --group group.pub --member-key %s.pub.pem", file, mallory),
		"the proof holds for this text and this member; for the other four texts, and the other four members, it is refused",
	}, nil
}

// revoke gives all but one a credential for the next epoch.
func (d *group) revoke(context.Context) ([]string, error) {
	re, ok := d.issuer.(groupsig.Reissuer)
	if !ok {
		return nil, errors.New("the group has no epochs")
	}
	if err := d.issued.Revoke(mallory); err != nil {
		return nil, err
	}
	d.epoch++
	for _, name := range groupMembers {
		cred, err := re.Reissue(d.gk, d.issued, name, d.epoch)
		if name == mallory {
			if err == nil {
				return nil, errors.New("a revoked member got a credential")
			}
			continue
		}
		if err != nil {
			return nil, err
		}
		u, ok := groupsig.As[groupsig.Updater](d.members[name])
		if !ok {
			return nil, errors.New("the members have no epochs")
		}
		if err := u.Update(cred, d.epoch); err != nil {
			return nil, err
		}
		// It is of no use to whom it isn't for.
		if w, ok := groupsig.As[groupsig.Updater](d.members[mallory]); !ok || w.Update(cred, d.epoch) == nil {
			return nil, fmt.Errorf("%s took the credential of %s", mallory, name)
		}
	}
	if err := d.announce(); err != nil {
		return nil, err
	}
	msg := []byte("Again: the director steals.")
	for name, m := range d.members {
		sig, err := m.Sign(msg, groupsig.SignOptions{Scope: []byte(groupScope)})
		if err != nil {
			return nil, err
		}
		err = d.gk.Verify(msg, sig, d.options(groupScope))
		if (name == mallory) != (err != nil) {
			return nil, fmt.Errorf("a signature of %s: %v", name, err)
		}
	}
	return []string{
		fmt.Sprintf("the epoch is %d: four members have a credential for it, which may lie in public, and %s has none", d.epoch, mallory),
		"verifiers know it from the issuer's announcement, which is signed, numbered and dated: the one before is refused",
		fmt.Sprintf("what %s signs now is refused, and what the others sign isn't; old signatures stay as anonymous as they were", mallory),
	}, nil
}

// vote lets alice vote twice.
func (d *group) vote(context.Context) ([]string, error) {
	lv, ok := groupsig.As[groupsig.LinkVerifier](d.gk)
	if !ok {
		return nil, errors.New("the group has no pseudonyms")
	}
	var out []string
	seen := map[string]int{}
	refused := 0
	for i, voter := range []string{"alice", "bob", "carol", "alice", "erin"} {
		ballot := fmt.Appendf(nil, "ballot %d: yes", i+1)
		sig, err := d.members[voter].Sign(ballot, groupsig.SignOptions{Scope: []byte(groupVote)})
		if err != nil {
			return nil, err
		}
		if err := d.gk.Verify(ballot, sig, d.options(groupVote)); err != nil {
			return nil, err
		}
		nym, err := lv.Pseudonym(sig)
		if err != nil {
			return nil, err
		}
		for j := range d.sigs { // in another scope everybody is somebody else
			if old, err := lv.Pseudonym(d.sigs[j]); err != nil || bytes.Equal(old, nym) {
				return nil, fmt.Errorf("ballot %d and %d.txt are linked: %v", i+1, j+1, err)
			}
		}
		line := fmt.Sprintf("ballot %d: pseudonym %.6x…", i+1, nym)
		if first, twice := seen[string(nym)]; twice {
			line += fmt.Sprintf(", refused: the same member as ballot %d", first)
			refused++
		} else {
			seen[string(nym)] = i + 1
		}
		out = append(out, line)
	}
	if refused != 1 || len(seen) != 4 {
		return out, fmt.Errorf("%d votes refused, and %d counted", refused, len(seen))
	}
	return append(out, "who it is stays unknown, and so does what else the member signed elsewhere"), nil
}

// verifyBatch finds the one bad signature among many.
func (d *group) verifyBatch(ctx context.Context) ([]string, error) {
	b, ok := groupsig.As[groupsig.BatchVerifier](d.gk)
	if !ok {
		return nil, errors.New("the scheme has no batches")
	}
	opts := d.options("petition")
	batch := b.Batch(opts)
	forged := min(groupForged, d.batch-1)
	names := []string{"alice", "bob", "carol", "erin"}
	var msgs, sigs [][]byte
	for i := range d.batch {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		msg := fmt.Appendf(nil, "petition, line %d", i+1)
		sig, err := d.members[names[i%4]].Sign(msg, groupsig.SignOptions{Scope: opts.Scope, Batch: true})
		if err != nil {
			return nil, err
		}
		if i == forged {
			msg = append(msg, " (and a word more)"...)
		}
		msgs, sigs = append(msgs, msg), append(sigs, sig)
		batch.Add(msg, sig)
	}
	start := time.Now()
	err := batch.Verify()
	took := time.Since(start)
	be, ok := errors.AsType[*groupsig.BatchError](err)
	if !ok || !slices.Equal(be.Bad, []int{forged}) {
		return nil, fmt.Errorf("the batch: %v", err)
	}
	sample := min(groupSample, d.batch)
	start = time.Now()
	for i := range sample {
		if err := d.gk.Verify(msgs[i], sigs[i], opts); (err == nil) != (i != forged) {
			return nil, fmt.Errorf("signature %d: %v", i+1, err)
		}
	}
	single := time.Since(start) / time.Duration(sample)
	all := single * time.Duration(d.batch)
	return []string{
		fmt.Sprintf("%d signatures, and exactly the forged one, number %d, is bad", d.batch, forged+1),
		fmt.Sprintf("in a batch, the bad one found: %v", took.Round(time.Millisecond)),
		fmt.Sprintf("one by one: %v, from %d of them; that is %.1f times as long", all.Round(time.Millisecond), sample,
			math.Round(10*all.Seconds()/took.Seconds())/10),
	}, nil
}
