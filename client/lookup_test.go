// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package client

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"net"
	"net/http"
	"testing"
	"time"

	"github.com/undersign/undersign/bls"
	"github.com/undersign/undersign/distill"
	aggregatev1 "github.com/undersign/undersign/gen/undersign/aggregate/v1"
	"github.com/undersign/undersign/gen/undersign/aggregate/v1/aggregatev1connect"
	"github.com/undersign/undersign/internal/aggregate/frame"
	"github.com/undersign/undersign/internal/party"
)

// A validator answers questions as a test wants.
type validator struct {
	aggregatev1connect.UnimplementedValidatorServiceHandler
	net    distill.NetworkID
	index  int
	key    *bls.SecretKey
	change func(*distill.SignedLook)
}

func (v *validator) Lookup(_ context.Context, req *aggregatev1.LookupRequest) (*aggregatev1.LookupResponse, error) {
	questions, err := frame.Questions(req)
	if err != nil {
		return nil, err
	}
	q := questions[0]
	l := &distill.SignedLook{Look: distill.Look{
		Net: v.net, Challenge: q.Challenge, Height: 100 + uint64(v.index), ID: q.ID, Nonce: q.Nonce, NotAfter: q.NotAfter,
		LastNonce: 7, Code: distill.LookNotExecuted,
	}}
	if v.change != nil {
		v.change(l)
	}
	signature := l.Share.Signature
	share, err := distill.SignStatement(v.key, v.index, l.Look)
	if err != nil {
		return nil, err
	}
	if l.Share = *share; signature[0] != 0 {
		l.Share.Signature = signature
	}
	return &aggregatev1.LookupResponse{Looks: []*aggregatev1.Look{frame.NewLook(l)}}, nil
}

// fourValidators returns a network of which one may be faulty, and the validators' keys.
func fourValidators(t *testing.T) (*distill.Genesis, []*bls.SecretKey) {
	t.Helper()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	genesis := &distill.Genesis{Name: "test", F: 1, Params: distill.DefaultParams()}
	_, edKey, err := ed25519.GenerateKey(nil)
	must(err)
	genesis.Aggregators = []distill.GenesisAggregator{{ID: 1, Key: [32]byte(edKey.Public().(ed25519.PublicKey))}}
	var keys []*bls.SecretKey
	for i := range 4 {
		sk, err := bls.KeyGen(bytes.Repeat([]byte{byte(i + 1)}, 32), nil)
		must(err)
		proof, err := bls.ProofOfPossession.PopProve(sk)
		must(err)
		keys = append(keys, sk)
		genesis.Validators = append(genesis.Validators, distill.GenesisValidator{
			Key: [48]byte(sk.PublicKey().Bytes()), Proof: [96]byte(proof.Bytes()),
		})
	}
	return genesis, keys
}

// lookup asks four validators of which one may be faulty, with the given faults.
func lookup(t *testing.T, changes map[int]func(*distill.SignedLook)) (*distill.Look, error) {
	t.Helper()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	genesis, keys := fourValidators(t)
	cfg := GatewayConfig{Genesis: genesis}
	var err error
	cfg.Network, err = distill.NewNetwork(genesis)
	must(err)
	cfg.Key, err = party.GenerateKey()
	must(err)
	for i, sk := range keys {
		k, err := party.GenerateKey()
		must(err)
		id, err := party.NewIdentity(k)
		must(err)
		l, err := net.Listen("tcp", "127.0.0.1:0")
		must(err)
		mux := http.NewServeMux()
		mux.Handle(aggregatev1connect.NewValidatorServiceHandler(&validator{net: cfg.Network.ID(), index: i, key: sk, change: changes[i]}))
		protocols := new(http.Protocols)
		protocols.SetHTTP2(true)
		server := &http.Server{Handler: mux, Protocols: protocols, TLSConfig: id.ServerTLS(func(string) error { return nil })}
		done := make(chan struct{})
		go func() {
			defer close(done)
			server.ServeTLS(l, "", "")
		}()
		t.Cleanup(func() {
			server.Close()
			<-done
		})
		cfg.Validators = append(cfg.Validators, Validator{id.Fingerprint(), l.Addr().String()})
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	return Lookup(ctx, cfg, 5, 6, 50)
}

func executed(l *distill.SignedLook) {
	l.Look.Code, l.Look.FirstCode, l.Look.ExecHeight, l.Look.PayloadHash = distill.LookExecuted, distill.ResultOK, 40, [32]byte{1}
}

// One faulty validator of four neither hides what the others say nor adds to it.
func TestLookup(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		changes map[int]func(*distill.SignedLook)
		want    distill.LookCode // 0: an error
	}{
		"all honest": {nil, distill.LookNotExecuted},
		"a wrong signature": {map[int]func(*distill.SignedLook){
			0: func(l *distill.SignedLook) { l.Share.Signature[0] = 0xaa },
		}, distill.LookNotExecuted},
		"a signature of another answer": {map[int]func(*distill.SignedLook){
			2: func(l *distill.SignedLook) { l.Look.Challenge[0] ^= 1 },
		}, distill.LookNotExecuted},
		"a low height": {map[int]func(*distill.SignedLook){
			1: func(l *distill.SignedLook) { l.Look.Height, l.Look.LastNonce = 0, 1<<60 },
		}, distill.LookNotExecuted},
		"a lie": {map[int]func(*distill.SignedLook){3: executed}, distill.LookNotExecuted},
		// Two are behind: what was executed stays so.
		"half behind": {map[int]func(*distill.SignedLook){2: executed, 3: executed}, distill.LookExecuted},
		"an answer in itself wrong": {map[int]func(*distill.SignedLook){
			0: func(l *distill.SignedLook) { l.Look.FirstCode = distill.ResultOK },
			1: func(l *distill.SignedLook) { l.Look.FirstCode = distill.ResultOK },
			2: func(l *distill.SignedLook) { l.Share.Signature[0] = 0xaa },
		}, 0},
		"one alone": {map[int]func(*distill.SignedLook){
			0: func(l *distill.SignedLook) { l.Share.Signature[0] = 0xaa },
			1: func(l *distill.SignedLook) { l.Share.Signature[0] = 0xaa },
			2: func(l *distill.SignedLook) { l.Share.Signature[0] = 0xaa },
		}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for range 3 { // the order of answers is chance
				look, err := lookup(t, tt.changes)
				if tt.want == 0 {
					if err == nil {
						t.Fatalf("%+v", look)
					}
					continue
				}
				if err != nil || look.Code != tt.want || look.LastNonce != 7 {
					t.Fatalf("%+v, %v", look, err)
				}
			}
		})
	}
}
