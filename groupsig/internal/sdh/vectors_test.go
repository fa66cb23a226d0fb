// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package sdh

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/undersign/undersign/groupsig/internal/join"
	"github.com/undersign/undersign/internal/bls12381"
)

var update = flag.Bool("update", false, "write testdata/vectors.txt")

// chosen returns a secret by name.
func chosen(name string) (k bls12381.Scalar) {
	k.SetHash([]byte(name), []byte("undersign test vector"))
	return k
}

func chosenKey(s *Scheme, role, n int) *RoleKeys {
	if n == 0 {
		return nil
	}
	k := &RoleKeys{s: s, role: role}
	for i := range n {
		k.secrets = append(k.secrets, chosen(fmt.Sprint(roleNames[role], " ", i)))
	}
	return k
}

// frozen returns a group of chosen secrets, and a member of it.
func frozen(t *testing.T, s *Scheme) (*group, *MemberKey) {
	g := groupOf(t, s, "vectors", chosenKey(s, issuerRole, 1), chosenKey(s, openerRole, len(s.Opener)), chosenKey(s, linkerRole, len(s.Linker)))
	m := &MemberKey{gk: g.gk, member: "ada"}
	for j := range s.Base {
		m.y = append(m.y, chosen(fmt.Sprint("y ", j)))
	}
	m.cred.x = chosen("x")
	if s.Static {
		m.cred.x = *g.gk.numberOf(join.SessionID{7}, "ada", make([]byte, staticSeed))
	}
	var inv bls12381.Scalar
	inv.Inverse(inv.Add(&g.issuer.secrets[0], &m.cred.x))
	m.cred.a.ScalarMult(&inv, g.gk.signed(g.gk.registered(m.y)))
	bls12381.NormalizeG1(&m.cred.a)
	g.check(m.load())
	return g, m
}

// frozenSignature signs with chosen blinds and nonces.
func frozenSignature(m *MemberKey) []byte {
	s := m.gk.s
	w, nonces := make([]bls12381.Scalar, s.Secrets), make([]bls12381.Scalar, s.nonces())
	for i := range s.Blinds {
		w[i] = chosen(fmt.Sprint("blind ", i))
	}
	for i := range nonces {
		nonces[i] = chosen(fmt.Sprint("nonce ", i))
	}
	return m.prove(message("message"), []byte("context"), w, nonces).bytes(0)
}

// TestVectors freezes what is made of chosen secrets, and thereby labels, order and
// encodings.
func TestVectors(t *testing.T) {
	const file = "testdata/vectors.txt"
	data, err := os.ReadFile(file)
	if err != nil && !*update {
		t.Fatal(err)
	}
	want := map[string]string{}
	for line := range strings.Lines(string(data)) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
		want[name] = value
	}
	var out strings.Builder
	for _, s := range schemes {
		name := s.Name
		switch {
		case s.Static:
			name += " static"
		case s.Rekey:
			name += " rekey"
		}
		g, m := frozen(t, s)
		line := func(what string, b []byte) {
			fmt.Fprintf(&out, "%s %s: %x\n", name, what, b)
			if got := fmt.Sprintf("%x", b); !*update && got != want[name+" "+what] {
				t.Errorf("%s %s: %s, want %s", name, what, got, want[name+" "+what])
			}
		}
		id := g.gk.ID()
		line("gid", id[:])
		for i, c := range s.Consts {
			line(c.Name, g.gk.consts[i].p.Bytes())
		}
		line("issuer", g.gk.w.Bytes())
		line("version", g.gk.ver)
		line("A", m.cred.a.Bytes())
		line("x", m.cred.x.Bytes())
		sig := frozenSignature(m)
		g.check(g.gk.Verify(message("message"), []byte("context"), sig))
		line("signature", sig)
		sigID, err := g.gk.SignatureID(sig)
		g.check(err)
		line("sigID", sigID[:])
		if g.linker != nil {
			tag, err := g.linker.Tag(g.gk, Signed{Message: message("message"), Context: []byte("context"), Signature: sig})
			g.check(err)
			line("tag", tag)
		}
		if !g.gk.Moves() {
			continue
		}
		x := chosen("revoked")
		step := g.issuer.divide(1, g.gk.start(), &x).append(1)
		line("step", step)
		b, err := g.signSteps(step)
		g.check(err)
		u, err := g.gk.ParseUpdate(b)
		g.check(err)
		line("version 1", u.Key().ver)
		g.check(m.Update(u))
		line("A 1", m.cred.a.Bytes())
		sig = frozenSignature(m)
		g.check(u.Key().Verify(message("message"), []byte("context"), sig))
		line("signature 1", sig)
	}
	if *update {
		if err := os.WriteFile(file, []byte(out.String()), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}
