// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestParseSM2(t *testing.T) {
	for args, want := range map[string]sm2Options{
		"":                 {sm2Sizes, 7},
		"-quick":           {sm2Sizes[:6], 3},
		"-quick -draws 5":  {sm2Sizes[:6], 5},
		"-max 20":          {sm2Sizes[:3], 7},
		"-quick -max 4096": {sm2Sizes[:7], 3},
	} {
		got, err := parseSM2(strings.Fields(args))
		if err != nil {
			t.Errorf("%q: %v", args, err)
		} else if got.draws != want.draws || !slices.Equal(got.sizes, want.sizes) {
			t.Errorf("%q: got %+v", args, got)
		}
	}
	for _, args := range []string{"-max 0", "-max 65537", "-draws 0", "-draws -1", "more", "-nonsense"} {
		if _, err := parseSM2(strings.Fields(args)); err == nil {
			t.Errorf("%q: accepted", args)
		}
	}
}

// Every way verifies, and none of them accepts what is bad.
func TestSM2Ways(t *testing.T) {
	openssl, note := newOpenSSLSM2(t.Context())
	if openssl != nil {
		defer openssl.close()
	}
	t.Log(note)
	for _, m := range sm2Mixes {
		pool, err := sm2Pool(t.Context(), 40, m.signers)
		if err != nil {
			t.Fatal(err)
		}
		bad := slices.Clone(pool)
		bad[3].msg = append([]byte("x"), bad[3].msg...)
		for i, p := range [][]sm2Record{pool, bad} {
			for _, way := range sm2Ways(t.Context(), m, p, openssl) {
				var err error
				if way.own == nil {
					err = way.run(30, 40)
				} else if _, err = way.own(30, 40); openssl.speed > 0 {
					continue // it verifies nothing of ours
				}
				if (err == nil) != (i == 0) {
					t.Errorf("%s, %s, bad %v: %v", m.name, way.name, i == 1, err)
				}
			}
		}
	}
}

func TestBusy(t *testing.T) {
	var out bytes.Buffer
	b := busyness{}
	b.add(cost{time.Second, time.Second})
	b.print(&out)
	if strings.Contains(out.String(), "WAS BUSY") {
		t.Errorf("%s", &out)
	}
	b.add(cost{time.Second, 3 * time.Second})
	b.print(&out)
	if !strings.Contains(out.String(), "WAS BUSY") {
		t.Errorf("not noticed: %s", &out)
	}
}
