// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package deptest

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"
)

// TestLinks follows the links between the documents.
func TestLinks(t *testing.T) {
	for _, problem := range linkProblems(t, os.DirFS(moduleRoot(t))) {
		t.Error(problem)
	}
}

var mdLink = regexp.MustCompile(`\]\(([^)\s]+)\)`)

func linkProblems(t *testing.T, fsys fs.FS) (problems []string) {
	err := fs.WalkDir(fsys, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if base := path.Base(name); d.IsDir() && name != "." && (base == "testdata" || base[0] == '.') {
			return fs.SkipDir
		}
		if d.IsDir() || path.Ext(name) != ".md" {
			return nil
		}
		text, err := fs.ReadFile(fsys, name)
		if err != nil {
			return err
		}
		for _, m := range mdLink.FindAllStringSubmatch(string(text), -1) {
			target, _, _ := strings.Cut(m[1], "#")
			if target == "" || strings.Contains(target, "://") {
				continue
			}
			if _, err := fs.Stat(fsys, path.Join(path.Dir(name), target)); err != nil {
				problems = append(problems, fmt.Sprintf("%s: the link to %s leads nowhere", name, m[1]))
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return problems
}

// TestFragments holds the changelog's fragments against the rules in their README.
func TestFragments(t *testing.T) {
	for _, problem := range fragmentProblems(t, os.DirFS(moduleRoot(t))) {
		t.Error(problem)
	}
}

var fragmentName = regexp.MustCompile(`^(added|changed|removed|fixed|security)-[a-z0-9]+(-[a-z0-9]+)*\.md$`)

func fragmentProblems(t *testing.T, fsys fs.FS) (problems []string) {
	const dir = "changelog/unreleased"
	entries, err := fs.ReadDir(fsys, dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range entries {
		if d.Name() == "README.md" {
			continue
		}
		text, err := fs.ReadFile(fsys, path.Join(dir, d.Name()))
		if err != nil {
			t.Fatal(err)
		}
		first, rest, _ := strings.Cut(string(text), "\n")
		switch {
		case !fragmentName.MatchString(d.Name()):
			problems = append(problems, d.Name()+": the name isn't KIND-SUBJECT.md")
		case !strings.HasSuffix(first, ".") || len(first) > 120:
			problems = append(problems, d.Name()+": the first line isn't a sentence of at most 120 characters")
		case rest != "" && !strings.HasPrefix(rest, "\n"):
			problems = append(problems, d.Name()+": no empty line after the first")
		}
	}
	return problems
}

func TestTextProblems(t *testing.T) {
	file := func(s string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(s)} }
	links := linkProblems(t, fstest.MapFS{
		"README.md": file("[a](docs/a.md) [b](https://example.com) [c](#here) [d](docs/a.md#x) [e](docs) [bad](b.md)"),
		"docs/a.md": file("[up](../README.md) [bad](README.md)"),
	})
	if len(links) != 2 {
		t.Errorf("links: %q", links)
	}
	fragments := fragmentProblems(t, fstest.MapFS{
		"changelog/unreleased/README.md":      file("anything"),
		"changelog/unreleased/added-x.md":     file("It is new.\n"),
		"changelog/unreleased/fixed-x-y.md":   file("It works.\n\nAt last.\n"),
		"changelog/unreleased/other-x.md":     file("It is.\n"),
		"changelog/unreleased/added_x.md":     file("It is.\n"),
		"changelog/unreleased/added-stop.md":  file("It is\n"),
		"changelog/unreleased/added-long.md":  file(strings.Repeat("x", 120) + ".\n"),
		"changelog/unreleased/added-blank.md": file("It is.\nMore.\n"),
		"changelog/unreleased/added-empty.md": file(""),
	})
	if len(fragments) != 6 {
		t.Errorf("fragments: %q", fragments)
	}
}
