// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/undersign/undersign/bls"
	"github.com/undersign/undersign/distill"
	"github.com/undersign/undersign/internal/chia"
)

func TestRun(t *testing.T) {
	var out bytes.Buffer
	if err := run(t.Context(), &out, 6); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"block 1: 6 spends by 6 keys, 2 of them late\n",
		"block 2: 6 spends by 6 keys, 2 of them late\n",
		"wallet-0: the wallet is locked\n",
		"wallet-1: its signature isn't valid\n",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in:\n%s", want, out.String())
		}
	}
}

func start(t *testing.T, wallets int) *world {
	t.Helper()
	x, err := newWorld(wallets)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(x.close)
	return x
}

func (x *world) payAll(t *testing.T) {
	t.Helper()
	for i, w := range x.wallets {
		if err := w.pay(t.Context(), x.wallets[(i+1)%len(x.wallets)].newKey(), 1); err != nil {
			t.Fatal(err)
		}
	}
}

func wantError(t *testing.T, what string, err error, want string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%s: %v, want %q", what, err, want)
	}
}

// TestNodes has both nodes take a block, and then shows them what isn't one.
func TestNodes(t *testing.T) {
	x := start(t, 4)
	x.wallets[3].off = true
	x.payAll(t)
	block, err := x.farmer.makeBlock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(block.Stragglers) != 1 {
		t.Fatalf("%d stragglers", len(block.Stragglers))
	}
	for name, v := range map[string]struct {
		change func(*aggregated)
		want   string
	}{
		"another output":        {func(b *aggregated) { b.Spends[0].Outputs[1].Amount-- }, "invalid aggregate"},
		"another payee":         {func(b *aggregated) { b.Spends[0].Outputs[0].Key = b.Spends[1].Outputs[0].Key }, "invalid aggregate"},
		"a spend left out":      {func(b *aggregated) { b.Spends = b.Spends[1:]; b.Stragglers = nil }, "invalid aggregate"},
		"another expiry":        {func(b *aggregated) { b.Spends[0].NotAfter++ }, "invalid aggregate"},
		"another number":        {func(b *aggregated) { b.Seq++ }, "invalid aggregate"},
		"another farmer":        {func(b *aggregated) { b.Farmer++ }, "invalid aggregate"},
		"no stragglers":         {func(b *aggregated) { b.Stragglers = nil }, "invalid aggregate"},
		"another straggler":     {func(b *aggregated) { b.Stragglers = []uint32{(b.Stragglers[0] + 1) % 4} }, "invalid aggregate"},
		"stragglers twice":      {func(b *aggregated) { b.Stragglers = append(b.Stragglers, b.Stragglers[0]) }, "positions"},
		"identity":              {func(b *aggregated) { b.Aggregate = append([]byte{0xc0}, make([]byte, 95)...) }, "identity"},
		"no signature":          {func(b *aggregated) { b.Aggregate = nil }, "another length"},
		"a coin twice":          {func(b *aggregated) { b.Spends = append(b.Spends, b.Spends[0]) }, "spent twice"},
		"no such coin":          {func(b *aggregated) { b.Spends[0].Coin.Amount++ }, "no such coin"},
		"pays too much":         {func(b *aggregated) { b.Spends[0].Outputs[0].Amount = 1 << 63 }, "more is paid"},
		"pays nothing":          {func(b *aggregated) { b.Spends[0].Outputs[0].Amount = 0 }, "or nothing"},
		"one coin made twice":   {func(b *aggregated) { o := b.Spends[0].Outputs[0]; b.Spends[0].Outputs = []output{o, o} }, "are one coin"},
		"no outputs":            {func(b *aggregated) { b.Spends[0].Outputs = nil }, "0 outputs"},
		"an output without key": {func(b *aggregated) { b.Spends[0].Outputs[0].Key = nil }, "without a key"},
		"a coin without key":    {func(b *aggregated) { b.Spends[0].Coin.Key = nil }, "without a key"},
		"too late":              {func(b *aggregated) { b.ValidUntil = 0 }, "too late"},
		"too early":             {func(b *aggregated) { b.ValidUntil = 1000 }, "too early"},
		"nothing":               {func(b *aggregated) { b.Spends = nil }, "no leaves"},
	} {
		c := *block
		c.Spends = slices.Clone(block.Spends)
		c.Spends[0].Outputs = slices.Clone(block.Spends[0].Outputs)
		c.Stragglers = slices.Clone(block.Stragglers)
		v.change(&c)
		_, err := x.farmer.send(t.Context(), &c)
		wantError(t, name, err, v.want)
	}
	got, err := x.farmer.send(t.Context(), block)
	if err != nil {
		t.Fatal(err)
	}
	if got.Height != 1 || x.other.height != 1 || len(x.other.coins) != 8 {
		t.Errorf("height %d, %d coins", got.Height, len(x.other.coins))
	}
	_, err = x.farmer.send(t.Context(), block)
	wantError(t, "the same again", err, "no such coin")
	_, err = x.farmer.makeBlock(t.Context())
	wantError(t, "nothing to do", err, "no spends")
}

// TestWallet has a farmer ask for what a wallet must not sign.
func TestWallet(t *testing.T) {
	x := start(t, 3)
	x.payAll(t)
	w := x.wallets[1]
	var b *bundle
	for _, p := range w.pending {
		b = p
	}
	other := x.farmer.mempool[0].Spends
	// request proposes some spends with a number, and asks the wallet for its bundle.
	request := func(seq, validUntil uint64, spends []spend) *signRequest {
		t.Helper()
		leaves, err := leafMessages(spends)
		if err != nil {
			t.Fatal(err)
		}
		r, err := verifier.NewRound(1, seq, validUntil, leaves)
		if err != nil {
			t.Fatal(err)
		}
		prop := r.Prop()
		in := &signRequest{Prop: prop.Bytes(), N: prop.N, BundleName: b.name()}
		key := distill.KeyBytes(b.Spends[0].Coin.Key)
		p, err := r.Proposal(&key)
		if err != nil {
			t.Fatal(err)
		}
		pr := proof{Key: key[:], Index: p.Index}
		for _, s := range p.Siblings {
			pr.Siblings = append(pr.Siblings, s)
		}
		in.Proofs = []proof{pr}
		return in
	}
	good := func() *signRequest { return request(1, 2, append(slices.Clone(other), b.Spends...)) }
	late := func(s spend) spend { s.NotAfter++; return s }
	altered := slices.Clone(b.Spends)
	altered[0].Outputs = []output{{altered[0].Outputs[0].Key, 999}}
	for name, v := range map[string]struct {
		in   *signRequest
		want string
	}{
		"another payment":  {request(1, 2, altered), "another root"},
		"outlives":         {request(1, 11, []spend{late(other[0]), late(b.Spends[0])}), "expires before"},
		"no such bundle":   {func() *signRequest { r := good(); r.BundleName[0]++; return r }(), "no such pending"},
		"two numbers":      {func() *signRequest { r := good(); r.N++; return r }(), "two different"},
		"not a proposal":   {func() *signRequest { r := good(); r.Prop = r.Prop[1:]; return r }(), "not a statement"},
		"another network":  {func() *signRequest { r := good(); r.Prop[16]++; return r }(), "another network"},
		"no proofs":        {func() *signRequest { r := good(); r.Proofs = nil; return r }(), "0 proofs"},
		"another key":      {func() *signRequest { r := good(); r.Proofs[0].Key = other[0].Coin.Key; return r }(), "another key"},
		"a sibling less":   {func() *signRequest { r := good(); r.Proofs[0].Siblings = nil; return r }(), "another depth"},
		"another sibling":  {func() *signRequest { r := good(); r.Proofs[0].Siblings[0][0]++; return r }(), "another root"},
		"another place":    {func() *signRequest { r := good(); r.Proofs[0].Index ^= 1; return r }(), "another root"},
		"outside the tree": {func() *signRequest { r := good(); r.Proofs[0].Index = 2; return r }(), "outside the tree"},
	} {
		err := x.farmer.wallets[w.name].do(t.Context(), "sigint_sign_digest", v.in, new(signResponse))
		wantError(t, name, err, v.want)
	}
	ask := func(in *signRequest) error {
		return x.farmer.wallets[w.name].do(t.Context(), "sigint_sign_digest", in, new(signResponse))
	}
	if err := ask(good()); err != nil {
		t.Error(err)
	}
	if err := ask(good()); err != nil {
		t.Errorf("the same again: %v", err)
	}
	wantError(t, "another block of the number", ask(request(1, 2, b.Spends)), "two blocks with number 1")
	if err := ask(request(2, 2, b.Spends)); err != nil {
		t.Errorf("the next block: %v", err)
	}
	w.off = true
	wantError(t, "locked", ask(good()), "locked")
}

// TestFarmer pushes bundles that aren't to be taken.
func TestFarmer(t *testing.T) {
	x := start(t, 2)
	w := x.wallets[0]
	coins := slices.Clone(w.coins)
	b, err := w.spend(w.newKey(), 5, w.newKey())
	if err != nil {
		t.Fatal(err)
	}
	push := func(b *bundle) error { return w.farmer.do(t.Context(), "push_tx", b, new(pushed)) }
	bad := *b
	bad.Signature = append([]byte{0xc0}, make([]byte, 95)...)
	wantError(t, "identity", push(&bad), "invalid signature")
	bad = *b
	bad.Spends = nil
	wantError(t, "no spends", push(&bad), "0 spends")
	if err := push(b); err != nil {
		t.Fatal(err)
	}
	wantError(t, "again", push(b), "waiting already")
	w.coins = coins
	again, err := w.spend(w.newKey(), 6, w.newKey())
	if err != nil {
		t.Fatal(err)
	}
	wantError(t, "the coin again", push(again), "waiting already")
	_, err = w.spend(w.newKey(), 1<<40, w.newKey())
	wantError(t, "too poor", err, "no coin")
}

// TestBundleOfTwo has a wallet sign wrongly for one of two keys that spend together: both
// are late then, because their bundle has one signature.
func TestBundleOfTwo(t *testing.T) {
	x := start(t, 2)
	a, b := x.wallets[0], x.wallets[1]
	// The first wallet gets the other's coin, and its key.
	c := b.coins[0]
	key := chia.Key(c.Key)
	sk := b.keys[key]
	a.keys[key], a.coins = sk, append(a.coins, c)
	p, err := a.spend(a.newKey(), 1, a.newKey())
	if err != nil {
		t.Fatal(err)
	}
	q, err := a.spend(a.newKey(), 1, a.newKey())
	if err != nil {
		t.Fatal(err)
	}
	parse := func(b hexBytes) *bls.Signature {
		s, err := bls.ParseSignature(b)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	sum, err := bls.Aggregate(parse(p.Signature), parse(q.Signature))
	if err != nil {
		t.Fatal(err)
	}
	both := &bundle{append(slices.Clone(p.Spends), q.Spends...), sum.Bytes()}
	a.pending[both.name()] = both
	if err := a.farmer.do(t.Context(), "push_tx", both, new(pushed)); err != nil {
		t.Fatal(err)
	}
	a.keys[key] = bls.GenerateKey() // with which it signs for another key
	block, err := x.farmer.makeBlock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(block.Stragglers) != 2 {
		t.Errorf("%d stragglers", len(block.Stragglers))
	}
	if _, err := x.farmer.send(t.Context(), block); err != nil {
		t.Error(err)
	}
}

// TestTLS calls without a certificate, and with another authority's.
func TestTLS(t *testing.T) {
	x := start(t, 1)
	call := func(c *tls.Config) error {
		p := peer{x.urls["node"], &http.Client{Transport: &http.Transport{TLSClientConfig: c, DisableKeepAlives: true}}}
		return p.do(t.Context(), "get_coins", coinsOf{}, new(coinsFound))
	}
	config, err := x.ca.config("somebody")
	if err != nil {
		t.Fatal(err)
	}
	if err := call(config); err != nil {
		t.Error(err)
	}
	none := config.Clone()
	none.Certificates = nil
	wantError(t, "no certificate", call(none), "tls")
	ca, err := newAuthority()
	if err != nil {
		t.Fatal(err)
	}
	foreign, err := ca.config("node")
	if err != nil {
		t.Fatal(err)
	}
	wantError(t, "another authority's server", call(foreign), "x509")
	foreign.RootCAs = x.ca.pool
	wantError(t, "another authority's client", call(foreign), "tls")
}

// TestJSON posts what isn't a call.
func TestJSON(t *testing.T) {
	x := start(t, 1)
	p := x.wallets[0].node
	post := func(path, body string) string {
		t.Helper()
		req, err := http.NewRequestWithContext(context.Background(), http.MethodPost, p.url+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		resp, err := p.client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		b, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		return resp.Status + " " + string(b)
	}
	for name, v := range map[string][2]string{
		"good":          {`{"pk":[]}`, `200 OK {"height":0,"coins":[]}`},
		"unknown field": {`{"key":[]}`, `400 Bad Request {"success":false,"error":"json: unknown field \"key\""}`},
		"two values":    {`{}{}`, `after the end`},
		"not JSON":      {`x`, `400`},
		"capitals":      {`{"pk":["AB"]}`, `lower case`},
		"odd":           {`{"pk":["abc"]}`, `lower case`},
		"too long":      {`{"pk":["` + strings.Repeat("ab", maxBody) + `"]}`, `400`},
	} {
		if got := post("/get_coins", v[0]); !strings.Contains(got, v[1]) {
			t.Errorf("%s: %s, want %s", name, got, v[1])
		}
	}
	if got := post("/no_such_call", "{}"); !strings.HasPrefix(got, "404") {
		t.Error(got)
	}
	if got := post("/sigint_send_aggregated_transactions", `{"spends":[{"coin":{"parent":"00"}}]}`); !strings.Contains(got, "1 bytes instead of 32") {
		t.Error(got)
	}
}
