// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package nodedir

import (
	"archive/tar"
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func create(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "node")
	if _, err := Create(dir, []byte("# config\n")); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestCreate(t *testing.T) {
	dir := create(t)
	if problems := CheckModes(dir); len(problems) > 0 {
		t.Error(problems)
	}
	if _, err := ReadIdentity(dir); err != nil {
		t.Error(err)
	}
	if _, err := Create(dir, nil); !errors.Is(err, fs.ErrExist) {
		t.Errorf("created twice: %v", err)
	}
	if _, err := ReadIdentity(t.TempDir()); !errors.Is(err, ErrNone) {
		t.Errorf("an empty folder: %v", err)
	}
	os.Chmod(filepath.Join(dir, Unlock), 0o644)
	os.Chmod(filepath.Join(dir, Config), 0o620)
	os.Chmod(dir, 0o755)
	if problems := CheckModes(dir); len(problems) != 3 {
		t.Errorf("%v", problems)
	}
	path := filepath.Join(dir, Identity)
	for _, text := range []string{"", "x", "-----BEGIN UNDERSIGN PARTY-----\n", strings.Repeat("x", 65<<10)} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := ReadIdentity(dir); err == nil {
			t.Errorf("%.20q is read as an identity", text)
		}
	}
}

func TestAppendConfig(t *testing.T) {
	dir := create(t)
	path := filepath.Join(dir, Config)
	if err := os.WriteFile(path, []byte("a = 1"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := AppendConfig(dir, []byte("b = 2\n")); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil || string(data) != "a = 1\nb = 2\n" {
		t.Errorf("%q, %v", data, err)
	}
	if fi, err := os.Stat(path); err != nil || fi.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", fi.Mode(), err)
	}
	if err := AppendConfig(t.TempDir(), nil); err == nil {
		t.Error("a configuration that isn't there")
	}
}

func TestPack(t *testing.T) {
	dir := create(t)
	write := func(name, text string) {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(Audit, "audit")
	write("shares/a", "share")
	for _, name := range []string{Store, Store + "-wal", LockName, Snapshots + "x", "undersign.toml.new", "shares/.hidden"} {
		write(name, "not this")
	}
	write("../snapshot", "snapshot")
	var buf bytes.Buffer
	m := Manifest{Fingerprint: "us1x", Made: time.Unix(1e9, 0).UTC()}
	if err := Pack(&buf, dir, filepath.Join(dir, "../snapshot"), m); err != nil {
		t.Fatal(err)
	}
	to := t.TempDir()
	got, err := Unpack(bytes.NewReader(buf.Bytes()), to)
	if err != nil || got.Fingerprint != m.Fingerprint || !got.Made.Equal(m.Made) {
		t.Fatalf("%+v, %v", got, err)
	}
	for name, want := range map[string]string{Audit: "audit", "shares/a": "share", Store: "snapshot", Config: "# config\n"} {
		if data, err := os.ReadFile(filepath.Join(to, name)); err != nil || string(data) != want {
			t.Errorf("%s: %q, %v", name, data, err)
		}
	}
	for _, name := range []string{Store + "-wal", LockName, Snapshots + "x", "undersign.toml.new", "shares/.hidden", manifestName} {
		if _, err := os.Lstat(filepath.Join(to, name)); err == nil {
			t.Errorf("%s is in the backup", name)
		}
	}
	if problems := CheckModes(to); len(problems) != 1 { // the folder of the test itself
		t.Errorf("%v", problems)
	}
	if _, err := Unpack(bytes.NewReader(buf.Bytes()), to); err == nil {
		t.Error("files are replaced")
	}
	for _, n := range []int{0, 100, 512, 2000, buf.Len() / 2} {
		if _, err := Unpack(bytes.NewReader(buf.Bytes()[:n]), t.TempDir()); err == nil {
			t.Errorf("the first %d bytes are a backup", n)
		}
	}
	if err := os.Symlink("/etc/passwd", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	if err := Pack(&buf, dir, filepath.Join(dir, "../snapshot"), m); err == nil {
		t.Error("a link is in a backup")
	}
}

// archive returns a tar archive with a manifest and the given headers.
func archive(t testing.TB, manifest string, headers ...tar.Header) []byte {
	t.Helper()
	var buf bytes.Buffer
	w := tar.NewWriter(&buf)
	write := func(h tar.Header, text string) {
		h.Size = int64(len(text))
		if h.Typeflag == tar.TypeSymlink || h.Typeflag == tar.TypeDir {
			h.Size, text = 0, ""
		}
		if err := w.WriteHeader(&h); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	write(tar.Header{Name: manifestName, Mode: 0o600}, manifest)
	for _, h := range headers {
		write(h, "x")
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

const goodManifest = `{"version":1,"fingerprint":"us1x","made":"2026-11-30T00:00:00Z"}`

func TestUnpackRefuses(t *testing.T) {
	whole := []tar.Header{{Name: Identity, Mode: 0o600}, {Name: Config, Mode: 0o600}, {Name: Store, Mode: 0o600}, {Name: Audit, Mode: 0o600}}
	if _, err := Unpack(bytes.NewReader(archive(t, goodManifest, whole...)), t.TempDir()); err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string][]byte{
		"nothing else":      archive(t, goodManifest),
		"no store":          archive(t, goodManifest, whole[0], whole[1], whole[3]),
		"a later version":   archive(t, strings.Replace(goodManifest, "1", "2", 1), whole...),
		"no manifest":       archive(t, "", whole...),
		"a large manifest":  archive(t, goodManifest+strings.Repeat(" ", maxManifest), whole...),
		"a parent":          archive(t, goodManifest, append(whole, tar.Header{Name: "../x", Mode: 0o600})...),
		"an absolute name":  archive(t, goodManifest, append(whole, tar.Header{Name: "/tmp/undersign-x", Mode: 0o600})...),
		"a name inside":     archive(t, goodManifest, append(whole, tar.Header{Name: "a/../../x", Mode: 0o600})...),
		"a link":            archive(t, goodManifest, append(whole, tar.Header{Name: "l", Linkname: "/etc", Typeflag: tar.TypeSymlink})...),
		"a program of root": archive(t, goodManifest, append(whole, tar.Header{Name: "x", Mode: 0o4755})...),
		"a file twice":      archive(t, goodManifest, append(whole, whole[0])...),
		"an empty name":     archive(t, goodManifest, append(whole, tar.Header{Name: "./", Mode: 0o600, Typeflag: tar.TypeDir})...),
	} {
		parent := t.TempDir()
		dir := filepath.Join(parent, "a")
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if _, err := Unpack(bytes.NewReader(data), dir); err == nil {
			t.Errorf("%s: no error", name)
		}
		if entries, err := os.ReadDir(parent); err != nil || len(entries) != 1 {
			t.Errorf("%s: something was written outside", name)
		}
	}
}

func FuzzUnpack(f *testing.F) {
	f.Add(archive(f, goodManifest, tar.Header{Name: Identity, Mode: 0o600}, tar.Header{Name: "../x", Mode: 0o600}))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, data []byte) {
		parent := t.TempDir()
		dir := filepath.Join(parent, "a")
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		Unpack(bytes.NewReader(data), dir)
		if entries, err := os.ReadDir(parent); err != nil || len(entries) != 1 {
			t.Fatal("something was written outside")
		}
	})
}

func TestRemoveSnapshots(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "[a") // not a pattern
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{Snapshots + "a.db", Snapshots + "b.db", "keep"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := RemoveSnapshots(dir); err != nil {
		t.Fatal(err)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
		t.Errorf("%v, %v", entries, err)
	}
	if err := RemoveSnapshots(filepath.Join(dir, "none")); err == nil {
		t.Error("a folder that isn't there")
	}
}
