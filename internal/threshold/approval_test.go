// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package threshold

import (
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"connectrpc.com/connect"

	"github.com/undersign/undersign/internal/policy"
	"github.com/undersign/undersign/internal/store"
	"github.com/undersign/undersign/thresholdrsa"
)

func anybody(approval) error { return nil }

// What nobody decides about expires, and so does what was decided.
func TestApprovalExpires(t *testing.T) {
	st, err := store.Open(filepath.Join(t.TempDir(), "store.db"), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	now := time.Now()
	as := newApprovals(st, func() time.Time { return now }, time.Hour)
	priv, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	dealing, _, err := thresholdrsa.Import(priv, 1, 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	request := func(m string) *thresholdrsa.Request {
		digest := sha256.Sum256([]byte(m))
		r, err := thresholdrsa.NewRequest(dealing.PublicKey(), digest[:], crypto.SHA256)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	ask := func(party, m string) (approval, bool) {
		t.Helper()
		a, fresh, err := as.ask(party, "rsa-x", request(m))
		if err != nil {
			t.Fatal(err)
		}
		return a, fresh
	}
	a, fresh := ask("us1a", "m")
	if !fresh || a.state != waiting {
		t.Errorf("%+v", a)
	}
	if b, fresh := ask("us1b", "m"); fresh || b.party != "us1a" {
		t.Errorf("asked by another: %+v", b)
	}
	if b, err := as.wait(t.Context(), a, now.Add(20*time.Millisecond)); err != nil || b.state != waiting {
		t.Errorf("%+v, %v", b, err)
	}
	id := hex.EncodeToString(a.id[:])
	now = now.Add(61 * time.Minute)
	if _, err := as.decide(id, approved, "", anybody); connect.CodeOf(err) != connect.CodeNotFound {
		t.Errorf("approved when it had expired: %v", err)
	}
	if _, fresh := ask("us1b", "m"); !fresh {
		t.Error("it doesn't wait anew")
	}
	if _, err := as.decide(id[:8], approved, "", anybody); err != nil {
		t.Fatal(err)
	}
	if b, fresh := ask("us1b", "m"); fresh || b.state != approved {
		t.Errorf("%+v", b)
	}
	now = now.Add(61 * time.Minute)
	if b, fresh := ask("us1b", "m"); !fresh || b.state != waiting {
		t.Errorf("an approval holds for ever: %+v", b)
	}
	if _, err := as.decide(id, rejected, "no", anybody); err != nil {
		t.Fatal(err)
	}
	if b, fresh := ask("us1a", "m"); fresh || b.state != rejected || b.reason != "no" {
		t.Errorf("%+v", b)
	}
	// A decision is about who has asked, and not about who asks when that has expired.
	a, _ = ask("us1a", "late")
	_, err = as.decide(hex.EncodeToString(a.id[:]), approved, "", func(approval) error {
		now = now.Add(61 * time.Minute)
		ask("us1b", "late")
		return nil
	})
	if b, _ := ask("us1b", "late"); connect.CodeOf(err) != connect.CodeNotFound || b.state != waiting {
		t.Errorf("%v: %+v", err, b)
	}
	now = now.Add(61 * time.Minute)
	// One party can't fill the list, and another isn't kept out by it.
	for i := range maxWaiting {
		ask("us1c", fmt.Sprint(i))
	}
	var limit *policy.LimitError
	if _, _, err := as.ask("us1c", "rsa-x", request("more")); !errors.As(err, &limit) {
		t.Errorf("%v", err)
	}
	ask("us1d", "more")
	if list, err := as.pending(); err != nil || len(list) != maxWaiting+1 {
		t.Errorf("%d wait, %v", len(list), err)
	}
}
