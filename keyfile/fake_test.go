// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package keyfile

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"filippo.io/age"
	"filippo.io/age/plugin"
)

// Small stand-ins: a body of one version octet, one suite octet and any bytes.
type fakePublic struct{ data []byte }
type fakeOther struct{ data []byte }
type fakeSecret struct{ data []byte }

func fakeMarshal(data []byte) ([]byte, error) {
	return append([]byte{1, 1}, data...), nil
}

func fakeUnmarshal(dst *[]byte, b []byte) error {
	if len(b) < 2 || b[0] != 1 || b[1] != 1 {
		return errors.New("fake: unknown version or suite")
	}
	*dst = bytes.Clone(b[2:])
	return nil
}

func (f *fakePublic) MarshalBinary() ([]byte, error) { return fakeMarshal(f.data) }
func (f *fakePublic) UnmarshalBinary(b []byte) error { return fakeUnmarshal(&f.data, b) }
func (f *fakeOther) MarshalBinary() ([]byte, error)  { return fakeMarshal(f.data) }
func (f *fakeOther) UnmarshalBinary(b []byte) error  { return fakeUnmarshal(&f.data, b) }
func (f *fakeSecret) MarshalBinary() ([]byte, error) { return fakeMarshal(f.data) }
func (f *fakeSecret) UnmarshalBinary(b []byte) error { return fakeUnmarshal(&f.data, b) }

func init() {
	kinds = append(kinds,
		entry[fakePublic]("TEST PUBLIC", false),
		entry[fakeOther]("TEST OTHER", false),
		entry[fakeSecret]("TEST SECRET", true),
	)
}

const testPlugin = "age-plugin-undersigntest"

// TestMain is an age plugin when it is called by the plugin's name. Whatever the
// recipient or the identity, it stands for alice's key.
func TestMain(m *testing.M) {
	if strings.TrimSuffix(filepath.Base(os.Args[0]), ".exe") == testPlugin {
		p, err := plugin.New("undersigntest")
		if err != nil {
			panic(err)
		}
		key, err := age.ParseX25519Identity(aliceKey)
		if err != nil {
			panic(err)
		}
		p.HandleRecipient(func([]byte) (age.Recipient, error) { return key.Recipient(), nil })
		p.HandleIdentity(func([]byte) (age.Identity, error) { return key, nil })
		os.Exit(p.Main())
	}
	os.Exit(m.Run())
}

// aliceKey opens the golden files and is of no other use.
const aliceKey = "AGE-SECRET-KEY-1NZYRSCAHDZGCPZN4EGF04GH9FASYZVPED0X9KFPV6FLRVNLV3ZXQSEFNHT"
