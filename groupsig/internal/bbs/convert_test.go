// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package bbs

import (
	"bytes"
	"testing"
)

func TestConvert(t *testing.T) {
	g := newGroup(t, featureSets["gl19"])
	ada, bob := g.join("ada"), g.join("bob")
	query := func() map[string]string { // pseudonyms by message
		key, err := g.k.NewBlindingKey()
		if err != nil {
			t.Fatal(err)
		}
		var in [][]byte
		names := map[string]string{}
		for _, s := range []struct {
			m    *MemberKey
			text string
		}{{ada, "a1"}, {bob, "b1"}, {ada, "a2"}, {bob, "b2"}, {ada, "a3"}} {
			b, err := key.Blind(msg(s.text), g.sign(s.m, s.text, "", false), g.opts(""))
			if err != nil {
				t.Fatal(err)
			}
			in = append(in, b)
			names[string(g.k.MessagePoint(msg(s.text)))] = s.text
		}
		out, err := g.converter.Convert(g.k, key.Public(), in)
		if err != nil {
			t.Fatal(err)
		}
		kb, err := key.MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		if key, err = g.k.ParseBlindingKey(kb); err != nil {
			t.Fatal(err)
		}
		nyms := map[string]string{}
		for _, c := range out {
			nym, m, err := key.Unblind(c)
			if err != nil {
				t.Fatal(err)
			}
			nyms[names[string(m)]] = string(nym)
		}
		if len(nyms) != 5 {
			t.Fatalf("%d messages", len(nyms))
		}
		if nyms["a1"] != nyms["a2"] || nyms["a1"] != nyms["a3"] || nyms["b1"] != nyms["b2"] || nyms["a1"] == nyms["b1"] {
			t.Error("pseudonyms don't tell members apart")
		}
		return nyms
	}
	if first, second := query(), query(); first["a1"] == second["a1"] {
		t.Error("two queries are linked")
	}

	key, _ := g.k.NewBlindingKey()
	sig := g.sign(ada, "m", "", false)
	if _, err := key.Blind(msg("n"), sig, g.opts("")); err == nil {
		t.Error("an invalid signature is blinded")
	}
	b, err := key.Blind(msg("m"), sig, g.opts(""))
	if err != nil {
		t.Fatal(err)
	}
	refused := func(what string, bpk []byte, query ...[]byte) {
		t.Helper()
		if _, err := g.converter.Convert(g.k, bpk, query); err == nil {
			t.Errorf("%s: converted", what)
		}
	}
	refused("one pseudonym", key.Public(), b)
	refused("none", key.Public())
	refused("a truncated pseudonym", key.Public(), b, b[1:])
	identity := append([]byte{0xc0}, make([]byte, 47)...)
	refused("the identity as a key", identity, b, b)
	refused("a key outside the subgroup", offPoint, b, b)
	refused("the converter's key", g.k.draft.Converter, b, b)
	for i := range 5 {
		for _, p := range [][]byte{identity, offPoint} {
			bad := bytes.Clone(b)
			copy(bad[48*i:], p)
			refused("a bad point", key.Public(), b, bad)
		}
	}
	if _, err := GenerateConverterKey().Convert(g.k, key.Public(), [][]byte{b, b}); err == nil {
		t.Error("another converter converts")
	}
	if _, _, err := key.Unblind(b); err == nil {
		t.Error("a blinded pseudonym is unblinded")
	}
	// An opener can't open with the converter's base, nor the converter with the register.
	if g.k.h.p.Equal(&g.k.hc.p) {
		t.Error("escrow and conversion have one base")
	}
	if _, err := newGroup(t, Scope).k.NewBlindingKey(); err == nil {
		t.Error("a blinding key in a group without a converter")
	}
}
