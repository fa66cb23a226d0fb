// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"filippo.io/age"

	"github.com/undersign/undersign/keyfile"
	"github.com/undersign/undersign/thresholdrsa"
)

// dealtKey is a key of 2048 bits that was dealt 2 of 4, which all tests of
// ceremonies share.
var dealtKey = sync.OnceValues(func() (map[string][]byte, error) {
	dir, err := os.MkdirTemp("", "undersign-test")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	var to []string
	for _, name := range []string{"alice", "bob", "carol", "dave", "erin"} {
		id, err := age.GenerateX25519Identity()
		if err != nil {
			return nil, err
		}
		txt := filepath.Join(dir, name+".txt")
		if err := os.WriteFile(txt, []byte(id.Recipient().String()+"\n"), 0o600); err != nil {
			return nil, err
		}
		if err := os.WriteFile(filepath.Join(dir, name+".key"), []byte(id.String()+"\n"), 0o600); err != nil {
			return nil, err
		}
		if name != "erin" { // who is the newcomer
			to = append(to, txt)
		}
	}
	code, _, stderr := runTest("threshold", "keygen", "-k", "2", "--bits", "2048", "--to", strings.Join(to, ","), "-o", filepath.Join(dir, "key"))
	if code != 0 {
		return nil, fmt.Errorf("keygen: %s", stderr)
	}
	files := map[string][]byte{}
	for _, pattern := range []string{"*.txt", "*.key", "key/*.share", "key/*.pub"} {
		names, _ := filepath.Glob(filepath.Join(dir, pattern))
		for _, name := range names {
			if files[filepath.Base(name)], err = os.ReadFile(name); err != nil {
				return nil, err
			}
		}
	}
	return files, nil
})

// A stage is a folder with the files of a ceremony, which the test is in.
type stage struct {
	t     *testing.T
	group string
}

// newStage makes a folder with the dealt key, and goes there.
func newStage(t *testing.T, group string) *stage {
	t.Helper()
	files, err := dealtKey()
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	for name, data := range files {
		if err := os.WriteFile(name, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return &stage{t, group}
}

// args returns the command line of a step: words, which may hold globs.
func (s *stage) args(line string) []string {
	args := []string{"threshold", s.group}
	for _, w := range strings.Fields(line) {
		if names, _ := filepath.Glob(w); strings.Contains(w, "*") && len(names) > 0 {
			args = append(args, names...)
		} else {
			args = append(args, w)
		}
	}
	return args
}

// run runs a step, and wants a status and words in what is printed.
func (s *stage) run(code int, line string, want ...string) {
	s.t.Helper()
	got, stdout, stderr := runTest(s.args(line)...)
	if got != code {
		s.t.Fatalf("%s: exit status %d, want %d\n%s%s", line, got, code, stdout, stderr)
	}
	for _, w := range want {
		if !strings.Contains(stdout+stderr, w) {
			s.t.Errorf("%s: doesn't print %q:\n%s%s", line, w, stdout, stderr)
		}
	}
}

// propose makes cards of the names, and a proposal by alice and bob.
func (s *stage) propose(names ...string) {
	s.t.Helper()
	var cards []string
	for _, name := range names {
		if name == "erin" {
			s.run(0, "card --name erin --to erin.txt")
		} else {
			s.run(0, fmt.Sprintf("card --share %s.share -i %s.key", name, name))
		}
		cards = append(cards, name+".card")
	}
	s.run(0, "propose --key threshold.pub --by 1,2 "+strings.Join(cards, " "))
	s.contribute("proposal.txt", "alice", "bob")
}

func (s *stage) contribute(proposal string, names ...string) {
	s.t.Helper()
	for _, name := range names {
		s.run(0, fmt.Sprintf("contribute %s --share %s.share -i %s.key --yes", proposal, name, name))
	}
}

// receiveLine is the command line with which a holder receives.
func receiveLine(name string) string {
	return fmt.Sprintf("receive proposal.txt proposal.*.contribution --share %s.share -i %s.key --card-key %s.card.key", name, name, name)
}

func (s *stage) exists(path string, want bool) {
	s.t.Helper()
	if exists(path) != want {
		s.t.Errorf("%s: exists is %v, want %v", path, !want, want)
	}
}

// open opens a secret of a holder.
func open[T keyfile.Object](s *stage, path, name string) T {
	s.t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		s.t.Fatal(err)
	}
	ids, err := os.Open(name + ".key")
	if err != nil {
		s.t.Fatal(err)
	}
	defer ids.Close()
	id, err := keyfile.ParseIdentities(ids, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	v, err := keyfile.OpenAs[T](bytes.NewReader(data), id...)
	if err != nil {
		s.t.Fatalf("%s: %v", path, err)
	}
	return v
}

// pending returns how many successors a holder's share on disk has acknowledged.
func (s *stage) pending(name string) int {
	s.t.Helper()
	return len(open[*thresholdrsa.KeyShare](s, name+".share", name).Pending())
}

// spoil makes the contributions of a holder to a reshare wrong, if well signed:
// it adds 1 to the secret in its share, or takes it away.
func (s *stage) spoil(name string) {
	s.t.Helper()
	share := open[*thresholdrsa.KeyShare](s, name+".share", name)
	b, err := share.MarshalBinary()
	if err != nil {
		s.t.Fatal(err)
	}
	const record = 8 // after version, suite, flags, index and the record's length
	end := record + int(binary.BigEndian.Uint32(b[record-4:])) + (share.PublicKey().ShareBits()+7)/8
	b[end-1] ^= 1
	if err := share.UnmarshalBinary(b); err != nil {
		s.t.Fatal(err)
	}
	if share.Check() == nil {
		s.t.Fatal("the share isn't spoiled")
	}
	e := &env{stderr: os.Stderr}
	to, err := e.readRecipients(s.t.Context(), name+".txt")
	if err != nil {
		s.t.Fatal(err)
	}
	data, err := seal(share, to)
	if err != nil {
		s.t.Fatal(err)
	}
	if err := os.WriteFile(name+".share", data, 0o600); err != nil {
		s.t.Fatal(err)
	}
}

// TestAckAfterShare: no acknowledgement appears before the share is stored, and
// what is interrupted in between is taken up by the same command.
func TestAckAfterShare(t *testing.T) {
	s := newStage(t, "reshare")
	s.propose("alice", "carol", "erin")

	// The acknowledgement can't be written: the share is there before it.
	s.run(1, receiveLine("alice")+" -o missing/ack", "can't write missing/ack")
	if s.pending("alice") != 1 {
		t.Fatal("the share wasn't stored before the acknowledgement was written")
	}
	s.run(0, receiveLine("alice"), "proposal.alice.ack")
	if s.pending("alice") != 1 {
		t.Error("received twice, and stored twice")
	}
	before, _ := os.ReadFile("alice.share")
	s.run(0, receiveLine("alice")) // the file is there already, and the same
	s.run(0, receiveLine("alice")+" -o again")
	if !sameFiles(t, "proposal.alice.ack", "again") {
		t.Error("receiving again gives another acknowledgement")
	}
	if after, _ := os.ReadFile("alice.share"); !bytes.Equal(before, after) {
		t.Error("receiving again rewrote the share")
	}

	// The share can't be written, as the temporary name is too long: no acknowledgement.
	long := strings.Repeat("c", 240) + ".share"
	if err := os.Rename("carol.share", long); err != nil {
		t.Fatal(err)
	}
	line := fmt.Sprintf("receive proposal.txt proposal.*.contribution --share %s -i carol.key --card-key carol.card.key", long)
	s.run(1, line, "can't write")
	s.exists("proposal.carol.ack", false)
	if err := os.Rename(long, "carol.share"); err != nil {
		t.Fatal(err)
	}
	if s.pending("carol") != 0 {
		t.Error("the share was stored, though it couldn't be")
	}

	// A newcomer writes two files: its share, and what its card's key remembers.
	line = "receive proposal.txt proposal.*.contribution --key threshold.pub --card-key erin.card.key -i erin.key --share-out erin.share"
	s.run(1, strings.Replace(line, "erin.share", "missing/share", 1), "can't write missing/share")
	s.exists("proposal.erin.ack", false)
	s.run(1, line+" -o missing/ack", "can't write missing/ack")
	if !open[*thresholdrsa.KeyShare](s, "erin.share", "erin").Provisional() {
		t.Error("the newcomer's share isn't provisional")
	}
	before, _ = os.ReadFile("erin.share")
	s.run(0, line)
	s.run(0, line+" -o again2")
	if !sameFiles(t, "proposal.erin.ack", "again2") {
		t.Error("receiving again gives another acknowledgement")
	}
	if after, _ := os.ReadFile("erin.share"); !bytes.Equal(before, after) {
		t.Error("receiving again wrote another share")
	}
	s.run(1, strings.Replace(line, "erin.share", "alice.share", 1), "alice.share") // isn't overwritten
	if s.pending("alice") != 1 {
		t.Error("somebody else's share was overwritten")
	}
}

func sameFiles(t *testing.T, a, b string) bool {
	t.Helper()
	x, err1 := os.ReadFile(a)
	y, err2 := os.ReadFile(b)
	if err1 != nil || err2 != nil {
		t.Fatal(err1, err2)
	}
	return bytes.Equal(x, y)
}

// TestCheat: who contributes another secret than its share is named, by all
// receivers and by whoever judges.
func TestCheat(t *testing.T) {
	s := newStage(t, "refresh")
	s.spoil("bob")
	s.propose("alice", "bob", "carol", "dave")

	// The share remembers the refusal before anybody hears of it.
	s.run(1, receiveLine("alice")+" -o missing/refusal", "can't write missing/refusal")
	s.exists("proposal.alice.ack", false)
	s.run(3, receiveLine("alice")+" -o again", "publish again")
	s.run(3, receiveLine("alice"), "publish proposal.alice.refusal")
	if !sameFiles(t, "again", "proposal.alice.refusal") {
		t.Error("refusing again gives another refusal")
	}

	s.run(3, receiveLine("carol"), "contributor 2 (bob)", "the value doesn't belong to the commitments",
		"hint: publish proposal.carol.refusal, and propose anew without contributor 2 (bob)")
	s.exists("proposal.carol.ack", false)
	if s.pending("carol") != 0 {
		t.Error("a share was stored from a wrong contribution")
	}
	s.run(0, "judge proposal.carol.refusal proposal.txt *.contribution --key threshold.pub", "the contributor is at fault", "holder 2 (bob)")
	s.run(0, "judge proposal.carol.refusal proposal.txt proposal.bob.contribution --key threshold.pub --json",
		`"verdict":"contributor"`, `"receiver":{"index":3,"name":"carol"}`)
	s.run(1, "judge proposal.carol.refusal proposal.txt proposal.alice.contribution --key threshold.pub", "no contribution of holder 2 (bob)")

	// Nor does it help bob to send the right one afterwards.
	files, _ := dealtKey()
	os.WriteFile("bob.share", files["bob.share"], 0o600)
	os.Rename("proposal.bob.contribution", "wrong")
	s.contribute("proposal.txt", "bob")
	for _, name := range []string{"alice", "carol"} {
		s.run(1, receiveLine(name), "has refused the run")
	}
	// Two of them are evidence on their own.
	s.run(3, "receive proposal.txt proposal.*.contribution wrong --share dave.share -i dave.key --card-key dave.card.key",
		"contributor 2 (bob)", "two different contributions")
	s.run(0, "judge proposal.dave.refusal proposal.txt proposal.bob.contribution --key threshold.pub", "undecided")
	s.run(0, "judge proposal.dave.refusal proposal.txt *.contribution wrong --key threshold.pub", "the contributor is at fault")

	// A contribution that was changed on the way isn't bob's fault.
	data, err := os.ReadFile("wrong")
	if err != nil {
		t.Fatal(err)
	}
	c, err := keyfile.ParseAs[*thresholdrsa.Contribution](data)
	if err != nil {
		t.Fatal(err)
	}
	b, _ := c.MarshalBinary()
	b[len(b)-70] ^= 1
	if err := c.UnmarshalBinary(b); err != nil {
		t.Fatal(err)
	}
	data, _ = keyfile.Encode(c)
	os.WriteFile("proposal.bob.contribution", data, 0o600)
	s.run(3, receiveLine("bob"), "contributor 2 (bob)", "the signature is wrong", "nothing was stored")
	s.exists("proposal.bob.refusal", false)
	s.run(3, "judge proposal.carol.refusal proposal.txt proposal.bob.contribution --key threshold.pub", "the signature is wrong")
}

// TestSecondSuccessor: a holder acknowledges one successor, and another only if
// the first can't come any more.
func TestSecondSuccessor(t *testing.T) {
	s := newStage(t, "reshare")
	s.propose("alice", "bob", "carol", "dave")
	s.run(0, receiveLine("alice"))

	second := strings.NewReplacer("proposal.", "second.", "card.key", "card2.key")
	s.run(0, "propose --key threshold.pub --by 1,2 -o third.txt alice.card bob.card carol.card dave.card")
	s.contribute("third.txt", "alice", "bob")
	s.run(1, "receive third.txt third.*.contribution --share alice.share -i alice.key --card-key alice.card.key", "used in another run")

	for _, name := range []string{"alice", "bob", "carol", "dave"} {
		s.run(0, fmt.Sprintf("card --share %s.share -i %s.key -o %s.card2", name, name, name))
	}
	s.run(0, "propose --key threshold.pub --by 1,2 -o second.txt alice.card2 bob.card2 carol.card2 dave.card2")
	s.contribute("second.txt", "alice", "bob")
	line := second.Replace(receiveLine("alice"))
	s.run(1, line, "has acknowledged another successor")
	s.exists("second.alice.ack", false)

	// Bob, carol and dave go another way, and commit it: 3 of 4 are enough.
	for _, name := range []string{"bob", "carol", "dave"} {
		s.run(0, second.Replace(receiveLine(name)))
	}
	s.run(0, "commit second.txt second.*.contribution second.*.ack --key threshold.pub", "not acknowledged by 1 (alice)")
	s.run(1, "finish certificate.txt --share alice.share -i alice.key", "receive --certificate")
	s.run(3, receiveLine("alice")+" -o other --certificate certificate.txt", "certifies another proposal")
	s.run(0, line+" --certificate certificate.txt")
	s.run(0, "finish certificate.txt --share alice.share -i alice.key --card-key alice.card2.key")
	if p := open[*thresholdrsa.KeyShare](s, "alice.share", "alice").PublicKey(); p.Epoch() != 2 {
		t.Errorf("epoch %d after the ceremony", p.Epoch())
	}

	// In another place somebody insists.
	s = newStage(t, "reshare")
	s.propose("alice", "bob", "carol", "dave")
	s.run(0, receiveLine("alice"))
	s.run(0, "card --share alice.share -i alice.key -o alice.card2")
	s.run(0, "propose --key threshold.pub --by 1,2 -o second.txt alice.card2 bob.card carol.card")
	s.contribute("second.txt", "alice", "bob")
	s.run(1, line, "refusals by 3 of its receivers are needed")
	s.run(0, line+" --insecure-second")
	if s.pending("alice") != 2 {
		t.Error("the first share is gone")
	}
}

// TestFinish: only a certificate ends the old share, which then goes with all
// that was left of it.
func TestFinish(t *testing.T) {
	s := newStage(t, "reshare")
	s.propose("alice", "bob", "erin")
	erin := "receive proposal.txt proposal.*.contribution --key threshold.pub --card-key erin.card.key -i erin.key --share-out erin.share"
	s.run(0, receiveLine("alice"))
	s.run(0, receiveLine("bob"))
	s.run(4, "commit proposal.txt *.contribution *.ack --key threshold.pub", "2 acknowledgements of 3 needed", "receiver 3 (erin)", "--insecure-quorum 2")
	s.run(1, "commit proposal.txt *.contribution *.ack --key threshold.pub --insecure-quorum 1", "can't commit a threshold of 2")
	s.run(4, "commit proposal.txt proposal.bob.contribution *.ack --key threshold.pub", "no contribution of holder 1 (alice)")
	s.exists("certificate.txt", false)
	s.run(0, "commit proposal.txt *.contribution *.ack --key threshold.pub --insecure-quorum 2 -o weak.txt --pub-out weak.pub", "warning: an insecure quorum")
	s.run(4, "finish weak.txt --share alice.share -i alice.key", "--insecure-quorum 2")
	s.run(4, "verify weak.txt --key threshold.pub")
	s.run(0, erin)
	s.run(0, "commit proposal.txt *.contribution *.ack --key threshold.pub")
	s.exists("threshold.epoch2.pub", true)

	// What a killed process left goes too; what only looks like it stays.
	for _, name := range []string{".alice.share.undersign-old-ABC", ".alice.share.undersign-tmp-ABC", ".alice.card.key.undersign-old-ABC", ".alice.share.bak", ".xalice.share.undersign-old-A"} {
		os.WriteFile(name, []byte("x"), 0o600)
	}
	s.run(1, "finish certificate.txt --share alice.share -i alice.key --card-key bob.card.key", "bob.card.key")
	s.run(1, "finish certificate.txt --share alice.share -i alice.key --key weak.txt", "PUBLIC KEY")
	s.run(0, "finish certificate.txt --share alice.share -i alice.key --card-key alice.card.key --dry-run", "would write alice.share", "would erase alice.card.key")
	s.exists("alice.card.key", true)
	line := "finish certificate.txt --share alice.share -i alice.key --card-key alice.card.key"
	s.run(0, line, "alice.card.key: erased")
	s.exists("alice.card.key", false)
	s.exists(".alice.share.undersign-old-ABC", false)
	s.exists(".alice.share.undersign-tmp-ABC", false)
	s.exists(".alice.card.key.undersign-old-ABC", false)
	s.exists(".alice.share.bak", true)
	s.exists(".xalice.share.undersign-old-A", true)
	s.run(0, line, "epoch 2") // again
	s.run(1, receiveLine("alice")[:strings.Index(receiveLine("alice"), " --card-key")]+" -o x", "epoch 1 of a key, and this is epoch 2")

	s.run(64, "finish certificate.txt --share erin.share -i erin.key", "--key")
	s.run(1, "finish certificate.txt --share erin.share -i erin.key --key threshold.epoch2.pub", "epoch")
	s.run(0, "finish certificate.txt --share erin.share -i erin.key --key threshold.pub --card-key erin.card.key", "holder 3 (erin)")

	// Carol has no share any more, and is asked.
	if err := os.Rename("carol.share", "real"); err != nil {
		t.Fatal(err)
	}
	os.Symlink("real", "carol.share")
	s.run(1, "finish certificate.txt --share carol.share -i carol.key", "--yes")
	s.exists("real", true)
	s.run(0, "finish certificate.txt --share carol.share -i carol.key --yes", "holds no share in epoch 2")
	s.exists("real", false)
	s.exists("carol.share", false)
}

// TestRefreshHandsToNobody: under refresh, a proposal for others is refused.
func TestRefreshHandsToNobody(t *testing.T) {
	s := newStage(t, "reshare")
	s.propose("alice", "bob", "carol", "erin")
	os.Remove("proposal.alice.contribution")
	s.group = "refresh"
	s.run(1, "contribute proposal.txt --share alice.share -i alice.key --yes", "isn't a refresh")
	s.run(1, receiveLine("alice"), "isn't a refresh")
	s.exists("proposal.alice.contribution", false)
	s.run(1, "propose --key threshold.pub --by 1,2 erin.card -o x", "erin")
	s.run(64, "card --name erin --to erin.txt -o x", "unknown flag: --name")

	// A proposal that only turns the holders round isn't one either.
	s.group = "reshare"
	s.run(0, "card --share dave.share -i dave.key")
	s.run(0, "propose --key threshold.pub --by 1,2 -o turned.txt alice.card bob.card dave.card carol.card")
	s.group = "refresh"
	s.run(1, "contribute turned.txt --share alice.share -i alice.key --yes", "isn't a refresh")
}

// TestRefusalsFreeHolder: refusals of enough receivers show that a run is dead,
// and who had acknowledged it takes part in another.
func TestRefusalsFreeHolder(t *testing.T) {
	s := newStage(t, "refresh")
	s.propose("alice", "bob", "carol", "dave")
	s.run(0, receiveLine("alice"))
	s.spoil("bob") // who shows the others something else
	os.Rename("proposal.bob.contribution", "shown-to-alice")
	s.contribute("proposal.txt", "bob")
	s.run(3, receiveLine("alice")+" -o x", "contributor 2 (bob)", "nothing was stored")
	s.exists("x", false) // who has acknowledged a run doesn't call it dead
	s.run(3, receiveLine("carol"), "contributor 2 (bob)")
	s.run(3, receiveLine("dave"), "contributor 2 (bob)")

	for _, name := range []string{"alice", "carol", "dave"} {
		s.run(0, fmt.Sprintf("card --share %s.share -i %s.key --force", name, name))
	}
	s.run(0, "propose --key threshold.pub --by 1,3 -o second.txt alice.card carol.card dave.card")
	s.contribute("second.txt", "alice", "carol")
	line := strings.Replace(receiveLine("alice"), "proposal.", "second.", 2)
	s.run(1, line, "refusals by 3 of its receivers are needed to give it up, and there are 0")
	s.run(1, line+" --refusals proposal.dave.refusal", "and there are 1")
	s.run(1, line+" --refusals proposal.dave.refusal,proposal.dave.refusal", "and there are 1")
	// One of two who refuse might acknowledge as well.
	s.run(1, line+" --refusals proposal.dave.refusal,proposal.carol.refusal", "and there are 2")
	s.run(3, receiveLine("bob"), "contributor 2 (bob)")
	s.run(0, line+" --refusals proposal.dave.refusal,proposal.carol.refusal,proposal.bob.refusal")
	if s.pending("alice") != 2 {
		t.Error("a share went before the certificate")
	}
	// Who refused the first is free anyway.
	s.run(0, strings.Replace(receiveLine("carol"), "proposal.", "second.", 2))
}

// TestTwoVersions: a contributor shows one receiver something else than the
// others, all of it right. What is committed holds.
func TestTwoVersions(t *testing.T) {
	s := newStage(t, "refresh")
	s.propose("alice", "bob", "carol", "dave")
	s.run(0, receiveLine("alice"))
	os.Rename("proposal.bob.contribution", "shown-to-alice")
	s.contribute("proposal.txt", "bob")
	for _, name := range []string{"bob", "carol", "dave"} {
		s.run(0, receiveLine(name))
	}
	s.run(3, "commit proposal.txt *.contribution *.ack --key threshold.pub", "receiver 1 (alice): acknowledges another record")
	s.run(3, "commit proposal.txt *.contribution shown-to-alice *.ack --key threshold.pub", "contributor 2 (bob): signed two different contributions")
	s.run(1, receiveLine("alice")+" -o x", "acknowledged another record of the run")
	s.run(0, "commit proposal.txt *.contribution proposal.bob.ack proposal.carol.ack proposal.dave.ack --key threshold.pub")
	line := "receive proposal.txt proposal.alice.contribution %s --share alice.share -i alice.key --card-key alice.card.key --certificate certificate.txt --force"
	s.run(3, fmt.Sprintf(line, "shown-to-alice")+" -o x", "lead to another record")
	s.exists("x", false)
	s.run(0, fmt.Sprintf(line, "proposal.bob.contribution"))
	s.run(0, "finish certificate.txt --share alice.share -i alice.key")

	// A holder doesn't pass for a newcomer, who would remember nothing.
	s.group = "reshare"
	s.run(1, "receive proposal.txt proposal.*.contribution --key threshold.pub --card-key bob.card.key -i bob.key --share-out x", "holds a share of the epoch before")
	s.exists("x", false)
}

func TestContributeOnce(t *testing.T) {
	s := newStage(t, "refresh")
	s.run(0, "propose --key threshold.pub --by alice,2")
	s.run(1, "contribute proposal.txt --share alice.share -i alice.key", "Hand shares of this key to these 4 receivers?", "--yes", "holder 1 now")
	s.exists("proposal.alice.contribution", false)
	s.contribute("proposal.txt", "alice")
	before, _ := os.ReadFile("proposal.alice.contribution")
	s.run(1, "contribute proposal.txt --share alice.share -i alice.key --yes", "exists already", "contributes once")
	s.run(64, "contribute proposal.txt --share alice.share -i alice.key --yes --force", "unknown flag: --force")
	s.run(64, "contribute proposal.txt --share alice.share -i alice.key --yes -o -", "must be kept in a file")
	if after, _ := os.ReadFile("proposal.alice.contribution"); !bytes.Equal(before, after) {
		t.Error("the contribution was replaced")
	}
	s.run(1, "contribute proposal.txt --share carol.share -i carol.key --yes", "holder 3 isn't among the contributors")
	s.run(1, "contribute proposal.txt --share bob.share -i bob.key -o x -q", "card us1", "Hand shares of this key")
}

// TestCeremonyFiles gives wrong files in all places.
func TestCeremonyFiles(t *testing.T) {
	s := newStage(t, "reshare")
	s.propose("alice", "bob", "carol")
	data, _ := os.ReadFile("proposal.bob.contribution")
	os.WriteFile("short", data[:len(data)/2], 0o600)
	os.WriteFile("empty", nil, 0o600)
	s.run(0, "propose --key threshold.pub --by 1,2 -o foreign.txt alice.card bob.card carol.card")
	s.contribute("foreign.txt", "alice", "bob")
	s.run(0, receiveLine("alice"))
	const alice = " --share alice.share -i alice.key --card-key alice.card.key -o x"
	for _, tt := range []struct {
		code int
		line string
		want string
	}{
		{1, "receive proposal.txt proposal.alice.contribution short" + alice, "short: "},
		{1, "receive proposal.txt proposal.alice.contribution empty" + alice, "empty: "},
		{1, "receive proposal.txt proposal.alice.contribution missing" + alice, "can't read missing"},
		{1, "receive proposal.txt proposal.alice.contribution alice.share" + alice, "alice.share: "},
		{1, "receive proposal.txt proposal.alice.contribution alice.card" + alice, "alice.card: "},
		{1, "receive alice.card proposal.*.contribution" + alice, "alice.card: "},
		{3, "receive proposal.txt proposal.alice.contribution foreign.bob.contribution" + alice, "foreign.bob.contribution: belongs to another proposal"},
		{4, "receive proposal.txt proposal.alice.contribution proposal.alice.contribution" + alice, "no contribution of holder 2 (bob)"},
		{64, "receive proposal.txt" + alice, "a proposal and all its contributions"},
		{1, "receive proposal.txt proposal.*.contribution --share alice.share -i bob.key --card-key alice.card.key -o x", "alice.card.key: "},
		{1, "receive proposal.txt proposal.*.contribution --share alice.share -i alice.key -o x", "its receiver key is needed"},
		{1, "receive proposal.txt proposal.*.contribution --share dave.share -i dave.key -o x", "gets no share"},
		{64, "receive proposal.txt proposal.*.contribution --share alice.share -i alice.key --card-key alice.share -o x", "one file"},
		{1, "receive proposal.txt proposal.*.contribution --share alice.card.key -i alice.key -o x", "THRESHOLD RSA SHARE"},
		{64, "receive proposal.txt proposal.*.contribution", "--share"},
		{64, "receive proposal.txt proposal.*.contribution --share-out new", "--card-key"},
		{1, "receive proposal.txt proposal.*.contribution --refusals alice.card" + alice, "alice.card: "},
		{1, "receive proposal.txt proposal.*.contribution --certificate alice.card" + alice, "alice.card: "},
		{64, "receive proposal.txt proposal.*.contribution --insecure-quorum 2" + alice, "--certificate"},
		{1, "commit proposal.txt proposal.*.contribution alice.card --key threshold.pub -o x", "alice.card: "},
		{1, "commit proposal.txt proposal.*.contribution --key alice.txt -o x", "alice.txt: "},
		{64, "commit proposal.txt proposal.*.contribution proposal.alice.ack --key threshold.pub -o x --insecure-quorum=-1", "negative"},
		{3, "commit foreign.txt foreign.*.contribution proposal.alice.ack --key threshold.pub -o x", "receiver 1 (alice): acknowledges another run"},
		{1, "finish proposal.txt --share alice.share -i alice.key", "proposal.txt: "},
		{64, "propose --key threshold.pub --by 1,9 -o x alice.card bob.card", `"9" isn't a holder`},
		{64, "propose --key threshold.pub --by 1,mallory -o x alice.card bob.card", `"mallory" isn't a holder`},
		{64, "propose --key threshold.pub --by 1,alice -o x alice.card bob.card", "holder 1 (alice) is given twice"},
		{64, "propose --key threshold.pub --by 1,2 -k 1 -o x alice.card bob.card", "-k must be 2 or more"},
		{1, "propose --key threshold.pub --by 1,2 -k 3 -o x alice.card bob.card", "threshold 3 of 2"},
		{1, "propose --key threshold.pub --by 1,2,3 -o x alice.card bob.card", "exactly 2 reshare"},
		{1, "propose --key threshold.pub --by 1,2 -o x alice.card alice.card", "two holders"},
		{1, "propose --key threshold.pub --by 1,2 -o x alice.card.key", "alice.card.key: "},
		{64, "card --name ../x --to alice.txt", "can't be a holder's name"},
		{64, "card --name erin", "--to"},
		{64, "card", "--share or --name"},
		{1, "card --share alice.share -i alice.key", "exists already"},
		{1, "verify alice.card --key threshold.pub", "alice.card: "},
		{64, "propose --key threshold.pub --by 1,2 -o - --json alice.card bob.card carol.card", "taken by --json"},
		{64, "receive proposal.txt proposal.*.contribution --share bob.share -i bob.key --card-key bob.card.key -o - --json", "taken by --json"},
		{1, "receive proposal.txt proposal.*.contribution --share bob.share -i bob.key --card-key bob.card.key -o empty", "empty exists already"},
	} {
		s.run(tt.code, tt.line, tt.want)
		s.exists("x", false)
	}
	if s.pending("alice") != 1 {
		t.Error("a refused command changed the share")
	}
}

// TestKilledReceive kills the program at random moments: an acknowledgement is
// never there without the share, and the next run gives the same.
func TestKilledReceive(t *testing.T) {
	program, err := exec.LookPath("undersign")
	if err != nil {
		t.Fatal(err)
	}
	s := newStage(t, "refresh")
	s.propose("alice", "bob", "carol", "dave")
	kill := func(longest time.Duration, line string) (killed bool) {
		cmd := exec.Command(program, s.args(line)...)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(rand.N(longest))
		cmd.Process.Kill()
		return cmd.Wait() != nil
	}
	rounds := 12
	if os.Getenv("UNDERSIGN_LONG") != "" {
		rounds = 300
	}
	start := time.Now()
	if err := exec.Command(program, s.args(receiveLine("bob"))...).Run(); err != nil {
		t.Fatal(err)
	}
	took := time.Since(start)
	fresh, _ := os.ReadFile("alice.share")
	freshKey, _ := os.ReadFile("alice.card.key")
	kills, stored := 0, 0
	for range rounds {
		os.Remove("proposal.alice.ack")
		os.WriteFile("alice.share", fresh, 0o600)
		os.WriteFile("alice.card.key", freshKey, 0o600)
		if kill(took+took/4, receiveLine("alice")) {
			kills++
		}
		n := s.pending("alice") // fails if the file isn't whole
		stored += n
		if exists("proposal.alice.ack") {
			if n != 1 {
				t.Fatal("acknowledged without a share")
			}
			data, _ := os.ReadFile("proposal.alice.ack")
			if _, err := keyfile.ParseAs[*thresholdrsa.Ack](data); err != nil {
				t.Fatalf("half-written: %v", err)
			}
		}
		s.run(0, receiveLine("alice"))
		if !exists("first") {
			os.Rename("proposal.alice.ack", "first")
		} else if !sameFiles(t, "first", "proposal.alice.ack") {
			t.Fatal("another acknowledgement after a kill")
		}
	}
	t.Logf("%d of %d killed, %d had stored the share", kills, rounds, stored)

	for _, name := range []string{"carol", "dave"} {
		s.run(0, receiveLine(name))
	}
	s.run(0, "commit proposal.txt *.contribution *.ack --key threshold.pub")
	fresh, _ = os.ReadFile("alice.share")
	freshKey, _ = os.ReadFile("alice.card.key")
	line := "finish certificate.txt --share alice.share -i alice.key --card-key alice.card.key"
	for range rounds {
		os.WriteFile("alice.share", fresh, 0o600)
		os.WriteFile("alice.card.key", freshKey, 0o600)
		kill(took, line)
		share := open[*thresholdrsa.KeyShare](s, "alice.share", "alice")
		if !exists("alice.card.key") && share.PublicKey().Epoch() != 2 {
			t.Fatal("the card's key went before the share was stored")
		}
		s.run(0, line, "epoch 2")
		s.exists("alice.card.key", false)
		if left := leftovers("alice.share"); len(left) > 0 {
			t.Fatalf("left over: %v", left)
		}
	}
}

// TestLock: one process at a time changes a share.
func TestLock(t *testing.T) {
	s := newStage(t, "refresh")
	s.propose("alice", "bob", "carol", "dave")
	unlock, err := lockFile("alice.share")
	if err != nil {
		t.Fatal(err)
	}
	if again, err := lockFile("alice.share"); err == nil {
		again()
		unlock()
		t.Skip("no locks here")
	}
	s.run(1, receiveLine("alice"), "another undersign is changing alice.share")
	s.run(1, "finish proposal.txt --share alice.share -i alice.key", "another undersign is changing alice.share")
	s.exists("proposal.alice.ack", false)
	unlock()
	s.run(0, receiveLine("alice"))
}

func TestEpochName(t *testing.T) {
	for _, tt := range []struct {
		key   string
		epoch uint64
		want  string
	}{
		{"threshold.pub", 2, "threshold.epoch2.pub"},
		{"dir.epoch2/threshold.epoch2.pub", 3, "dir.epoch2/threshold.epoch3.pub"},
		{"key", 10, "key.epoch10"},
		{"-", 2, "threshold.epoch2.pub"},
	} {
		if got := epochName(tt.key, tt.epoch); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.key, got, tt.want)
		}
	}
}

func TestOutName(t *testing.T) {
	for _, tt := range []struct {
		proposal string
		who      party
		want     string
	}{
		{"proposal.txt", party{1, "alice"}, "proposal.alice.ack"},
		{"d/p", party{1, "alice"}, "d/p.alice.ack"},
		{"-", party{1, "alice"}, "proposal.alice.ack"},
		{"p.txt", party{7, "../../etc/passwd"}, "p.holder-7.ack"},
	} {
		if got := outName(tt.proposal, tt.who, ".ack"); got != tt.want {
			t.Errorf("%v: %s, want %s", tt, got, tt.want)
		}
	}
}
