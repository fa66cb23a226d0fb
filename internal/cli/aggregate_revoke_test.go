// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/undersign/undersign/bls"
	"github.com/undersign/undersign/distill"
)

// Other validators' signatures are read as they are, and nothing else is.
func TestReadRevocations(t *testing.T) {
	g := &distill.Genesis{Name: "four", F: 1, Params: distill.DefaultParams(), Aggregators: []distill.GenesisAggregator{{ID: 1, Key: [32]byte{
		0xd7, 0x5a, 0x98, 0x01, 0x82, 0xb1, 0x0a, 0xb7, 0xd5, 0x4b, 0xfe, 0xd3, 0xc9, 0x64, 0x07, 0x3a,
		0x0e, 0xe1, 0x72, 0xf3, 0xda, 0xa6, 0x23, 0x25, 0xaf, 0x02, 0x1a, 0x68, 0xf7, 0x07, 0x51, 0x1a}}}}
	var keys []*bls.SecretKey
	for i := range 4 {
		sk, err := bls.KeyGen(bytes.Repeat([]byte{byte(i + 1)}, 32), nil)
		if err != nil {
			t.Fatal(err)
		}
		proof, err := bls.ProofOfPossession.PopProve(sk)
		if err != nil {
			t.Fatal(err)
		}
		keys = append(keys, sk)
		g.Validators = append(g.Validators, distill.GenesisValidator{Key: [48]byte(sk.PublicKey().Bytes()), Proof: [96]byte(proof.Bytes())})
	}
	committee, err := distill.NewCommittee(g)
	if err != nil {
		t.Fatal(err)
	}
	v := &validatorDir{genesis: g, committee: committee, index: 0}
	rvk := distill.Rvk{Net: g.ID(), ID: 7, Dirver: 12}
	e := &env{stdin: strings.NewReader(""), stdout: io.Discard, stderr: io.Discard}
	dir := t.TempDir()
	n := 0
	file := func(validator int, change func(*revocation)) string {
		t.Helper()
		share, err := distill.SignStatement(keys[validator], validator, rvk)
		if err != nil {
			t.Fatal(err)
		}
		r := revocation{hex.EncodeToString(rvk.Net[:]), rvk.ID, rvk.Dirver, uint32(validator), hex.EncodeToString(share.Signature[:])}
		if change != nil {
			change(&r)
		}
		data, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		n++
		name := filepath.Join(dir, fmt.Sprint(n))
		if err := os.WriteFile(name, data, 0o600); err != nil {
			t.Fatal(err)
		}
		return name
	}
	one, two := file(1, nil), file(2, nil)
	shares, err := e.readRevocations(t.Context(), v, &rvk, []string{one, two})
	if err != nil || len(shares) != 2 {
		t.Fatalf("%d, %v", len(shares), err)
	}
	cert, bad, err := committee.Combine(rvk, shares)
	if err != nil || len(bad) > 0 {
		t.Fatal(bad, err)
	}
	if err := committee.Verify(rvk, cert); err != nil {
		t.Error(err)
	}
	for _, tt := range []struct {
		say   string
		files []string
	}{
		{"validator 1 has signed already", []string{one, two, one}},
		{"validator 0 has signed already", []string{file(0, nil)}}, // the one that the folder is of
		{"another network", []string{file(1, func(r *revocation) { r.Network = strings.Repeat("0", len(r.Network)) })}},
		{"about client 8", []string{file(1, func(r *revocation) { r.Client = 8 })}},
		{"for version 11", []string{file(1, func(r *revocation) { r.Version = 11 })}},
		{"no signature", []string{file(1, func(r *revocation) { r.Signature = r.Signature[2:] })}},
		{"no signature", []string{file(1, func(r *revocation) { r.Signature = "x" + r.Signature[1:] })}},
		{"validator", []string{file(1, func(r *revocation) { r.Validator = 4 })}},
		{"signature", []string{file(1, func(r *revocation) { r.Validator = 2 })}},
		{"signature", []string{one, file(2, func(r *revocation) { r.Signature = strings.Repeat("0", len(r.Signature)) })}},
	} {
		if shares, err := e.readRevocations(t.Context(), v, &rvk, tt.files); err == nil || !strings.Contains(err.Error(), tt.say) {
			t.Errorf("%q: %d shares, %v", tt.say, len(shares), err)
		}
	}
}
