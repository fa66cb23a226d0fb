// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package deptest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// modulePath is the module's own path.
const modulePath = "github.com/undersign/undersign"

// goFile is a source file, for whatever platform or build tag.
type goFile struct {
	path      string // slash-separated, from the root of the tree
	src       []byte
	ast       *ast.File
	fset      *token.FileSet
	generated bool
}

func (f *goFile) dir() string  { return path.Dir(f.path) }
func (f *goFile) isTest() bool { return strings.HasSuffix(f.path, "_test.go") }

// imports returns the import paths of the file.
func (f *goFile) imports() []string {
	var paths []string
	for _, spec := range f.ast.Imports {
		if p, err := strconv.Unquote(spec.Path.Value); err == nil {
			paths = append(paths, p)
		}
	}
	return paths
}

// readTree parses all Go files of the module whose root is fsys. Unlike the go
// command it heeds no build constraints, so that what is imported on one
// platform only is seen as well. It skips what the go command skips: testdata,
// nested modules, and names that start with a dot or an underscore.
func readTree(fsys fs.FS) ([]*goFile, error) {
	var tree []*goFile
	err := fs.WalkDir(fsys, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if base := path.Base(name); name != "." && (base == "testdata" || base[0] == '.' || base[0] == '_') {
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		if d.IsDir() {
			if _, err := fs.Stat(fsys, path.Join(name, "go.mod")); err == nil && name != "." {
				return fs.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(name, ".go") {
			return nil
		}
		src, err := fs.ReadFile(fsys, name)
		if err != nil {
			return err
		}
		f := &goFile{path: name, src: src, fset: token.NewFileSet()}
		f.ast, err = parser.ParseFile(f.fset, name, src, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		f.generated = ast.IsGenerated(f.ast)
		tree = append(tree, f)
		return nil
	})
	return tree, err
}

// moduleRoot returns the directory of the module that this test is part of.
func moduleRoot(t *testing.T) string {
	t.Helper()
	root, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	mod, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil || !strings.HasPrefix(string(mod), "module "+modulePath+"\n") {
		t.Fatalf("%s isn't the root of the module %s (%v)", root, modulePath, err)
	}
	return root
}

func moduleTree(t *testing.T) []*goFile {
	t.Helper()
	tree, err := readTree(os.DirFS(moduleRoot(t)))
	if err != nil {
		t.Fatal(err)
	}
	if len(tree) < 10 {
		t.Fatalf("only %d files found", len(tree))
	}
	return tree
}
