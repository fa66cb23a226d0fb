// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package frame

import (
	"bytes"
	"reflect"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/undersign/undersign/distill"
	aggregatev1 "github.com/undersign/undersign/gen/undersign/aggregate/v1"
)

func roundTrip(t *testing.T, in, out proto.Message) {
	t.Helper()
	b, err := proto.Marshal(in)
	if err == nil {
		err = proto.Unmarshal(b, out)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func TestSubmissions(t *testing.T) {
	list := []distill.Submission{
		{ID: 3, Nonce: 1, NotAfter: 9, Payload: []byte("abc"), Signature: bytes.Repeat([]byte{1}, 64)},
		{ID: 1, Nonce: 1 << 60, NotAfter: 9, Payload: []byte{}, Signature: []byte{}},
		{ID: 4, Nonce: 2, NotAfter: 1, Payload: []byte("d"), Signature: bytes.Repeat([]byte{2}, 96)},
	}
	var f, g aggregatev1.Submissions
	for i := range list {
		AddSubmission(&f, &list[i])
	}
	roundTrip(t, &f, &g)
	var got []distill.Submission
	if err := Submissions(&g, func(s *distill.Submission) { got = append(got, *s) }); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, list) {
		t.Errorf("%v, want %v", got, list)
	}
}

func TestProposalsAndReceipts(t *testing.T) {
	leaves := make([][32]byte, 5)
	for i := range leaves {
		leaves[i] = distill.Leaf{ID: uint64(i)}.Hash()
	}
	tree := distill.NewTree(leaves)
	var f, g aggregatev1.Proposals
	var want []distill.Proposal
	for _, i := range []int{0, 3, 4} {
		p := distill.Proposal{SignedProp: distill.SignedProp{Prop: distill.Prop{N: 5, Seq: 7, Root: tree.Root()}, Signature: [64]byte{1}}, Nonce: uint64(i), Index: uint64(i), Siblings: tree.Proof(i)}
		AddProposal(&f, uint64(i)+10, &p)
		want = append(want, p)
	}
	roundTrip(t, &f, &g)
	var got []distill.Proposal
	if err := Proposals(&g, func(id uint64, p *distill.Proposal) {
		if id != p.Index+10 {
			t.Errorf("proposal %d is for %d", p.Index, id)
		}
		got = append(got, *p)
	}); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	for name, spoil := range map[string]func(*aggregatev1.Proposals){
		"prop":      func(f *aggregatev1.Proposals) { f.Prop = f.Prop[1:] },
		"signature": func(f *aggregatev1.Proposals) { f.Signature = f.Signature[1:] },
		"ids":       func(f *aggregatev1.Proposals) { f.Ids = f.Ids[1:] },
		"siblings":  func(f *aggregatev1.Proposals) { f.Siblings = f.Siblings[32:] },
		"none":      func(f *aggregatev1.Proposals) { *f = aggregatev1.Proposals{} },
	} {
		bad := proto.Clone(&g).(*aggregatev1.Proposals)
		spoil(bad)
		if err := Proposals(bad, func(uint64, *distill.Proposal) { t.Errorf("%s: read", name) }); err == nil {
			t.Errorf("%s: no error", name)
		}
	}

	var rf, rg aggregatev1.Receipts
	var receipts []distill.Receipt
	for _, i := range []int{1, 2} {
		r := distill.Receipt{
			SignedRcpt: distill.SignedRcpt{Rcpt: distill.Rcpt{N: 5, Height: 3}, Certificate: distill.Certificate{Bitmap: []byte{1}, Signature: [96]byte{4}}},
			Result:     distill.Result{Code: distill.ResultOK, ID: uint64(i), ExecHeight: 3}, Index: uint64(i), Siblings: tree.Proof(i),
		}
		AddReceipt(&rf, &r)
		receipts = append(receipts, r)
	}
	roundTrip(t, &rf, &rg)
	var gotReceipts []distill.Receipt
	if err := Receipts(&rg, func(r *distill.Receipt) { gotReceipts = append(gotReceipts, *r) }); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(gotReceipts, receipts) {
		t.Errorf("%v, want %v", gotReceipts, receipts)
	}
	rg.Results[0] = 'L'
	if err := Receipts(&rg, func(*distill.Receipt) {}); err == nil {
		t.Error("a leaf was taken for a result")
	}
}

func TestOrder(t *testing.T) {
	o := &Order{Aggregator: 1, Seq: 2, Digest: [32]byte{3}, Witness: distill.Certificate{Bitmap: []byte{7}, Signature: [96]byte{8}}}
	got, err := ParseOrder(o.Bytes())
	if err != nil || !reflect.DeepEqual(got, o) {
		t.Errorf("%v, %v", got, err)
	}
	b := o.Bytes()
	for n := range b {
		if _, err := ParseOrder(b[:n]); err == nil {
			t.Errorf("%d of %d bytes are an order", n, len(b))
		}
	}
	b[0] = 2
	if _, err := ParseOrder(b); err == nil {
		t.Error("another version")
	}
}

// What one session's signature is of isn't what another's is.
func TestSessionBytes(t *testing.T) {
	s := Session{Net: distill.NetworkID{1}, Aggregator: 2, Party: "us1a", Challenge: [32]byte{3}}
	seen := map[string]bool{string(s.Bytes(1)): true}
	for name, change := range map[string]func(*Session){
		"network": func(s *Session) { s.Net[0]++ }, "aggregator": func(s *Session) { s.Aggregator++ },
		"party": func(s *Session) { s.Party = "us1b" }, "challenge": func(s *Session) { s.Challenge[31]++ },
	} {
		x := s
		change(&x)
		b := string(x.Bytes(1))
		if seen[b] {
			t.Errorf("%s isn't signed", name)
		}
		seen[b] = true
	}
	if seen[string(s.Bytes(2))] {
		t.Error("the id isn't signed")
	}
}

func FuzzFrames(f *testing.F) {
	var s aggregatev1.Submissions
	AddSubmission(&s, &distill.Submission{ID: 1, Payload: []byte("x"), Signature: make([]byte, 64)})
	req := &aggregatev1.SessionRequest{Frame: &aggregatev1.SessionRequest_Submissions{Submissions: &s}}
	b, err := proto.Marshal(req)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Fuzz(func(t *testing.T, b []byte) {
		var req aggregatev1.SessionRequest
		if proto.Unmarshal(b, &req) == nil {
			_ = Submissions(req.GetSubmissions(), func(*distill.Submission) {})
			_ = Reductions(req.GetReductions(), func(*distill.Reduction) {})
			_ = Auths(req.GetAuth(), func(uint64, []byte) {})
		}
		var resp aggregatev1.SessionResponse
		if proto.Unmarshal(b, &resp) == nil {
			_ = Proposals(resp.GetProposals(), func(uint64, *distill.Proposal) {})
			_ = Receipts(resp.GetReceipts(), func(*distill.Receipt) {})
			_ = Refusals(resp.GetRefusals(), func(*distill.Refusal) {})
			_, _ = Head(resp.GetHead())
		}
		var l aggregatev1.LookupRequest
		if proto.Unmarshal(b, &l) == nil {
			_, _ = Questions(&l)
		}
	})
}

func FuzzOrder(f *testing.F) {
	f.Add((&Order{Witness: distill.Certificate{Bitmap: []byte{1}}}).Bytes())
	f.Fuzz(func(t *testing.T, b []byte) {
		if o, err := ParseOrder(b); err == nil && !bytes.Equal(o.Bytes(), b) {
			t.Error("another encoding")
		}
	})
}
