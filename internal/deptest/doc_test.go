// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package deptest

import (
	"bytes"
	"fmt"
	"go/ast"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// maxLines is how long a file that a person wrote may be.
const maxLines = 800

// TestFiles demands of every file a licence header, a size that can be read,
// and that it is finished.
func TestFiles(t *testing.T) {
	for _, f := range moduleTree(t) {
		for _, problem := range fileProblems(f) {
			t.Errorf("%s: %s", f.path, problem)
		}
	}
}

// TestDocs demands a comment of every package, and of everything that a
// package outside internal exports.
func TestDocs(t *testing.T) {
	for _, problem := range docProblems(moduleTree(t)) {
		t.Error(problem)
	}
}

var licence = regexp.MustCompile(`^// Copyright 20\d\d The undersign Authors\n// SPDX-License-Identifier: Apache-2\.0\n`)

// unfinished are the words of work that was put off. They are put together
// here so that this file doesn't hold them.
var unfinished = regexp.MustCompile(`\b(TO` + `DO|FIX` + `ME|XX` + `X)\b`)

var unfinishedPanic = regexp.MustCompile(`(?i)TO` + `DO|not (yet )?implemented|unimplemented`)

func fileProblems(f *goFile) (problems []string) {
	// A generator writes its own line first.
	head := f.src
	if f.generated {
		if i := bytes.Index(head, []byte("// Copyright ")); i >= 0 && bytes.Count(head[:i], []byte("\n")) < 5 {
			head = head[i:]
		}
	}
	if !licence.Match(head) {
		problems = append(problems, "doesn't start with the two lines of the licence")
	}
	if n := bytes.Count(f.src, []byte("\n")); n > maxLines && !f.generated {
		problems = append(problems, fmt.Sprintf("has %d lines; %d are enough", n, maxLines))
	}
	for _, group := range f.ast.Comments {
		for _, c := range group.List {
			if w := unfinished.FindString(c.Text); w != "" {
				problems = append(problems, fmt.Sprintf("line %d: %s", f.fset.Position(c.Pos()).Line, w))
			}
		}
	}
	ast.Inspect(f.ast, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok || len(call.Args) == 0 {
			return true
		}
		fun, ok := call.Fun.(*ast.Ident)
		lit, ok2 := call.Args[0].(*ast.BasicLit)
		if ok && ok2 && fun.Name == "panic" && unfinishedPanic.MatchString(lit.Value) {
			problems = append(problems, fmt.Sprintf("line %d: panics with %s", f.fset.Position(call.Pos()).Line, lit.Value))
		}
		return true
	})
	return problems
}

func docProblems(tree []*goFile) (problems []string) {
	docs := map[string][]string{} // by directory, the package comments there
	names := map[string]string{}
	for _, f := range tree {
		dir, name := f.dir(), f.ast.Name.Name
		if strings.HasSuffix(name, "_test") {
			continue
		}
		if !f.generated { // package gen speaks for those that are generated throughout
			names[dir] = name
		}
		if f.ast.Doc != nil {
			docs[dir] = append(docs[dir], f.ast.Doc.Text())
		}
		if f.isTest() || f.generated || name == "main" || internal(dir) {
			continue
		}
		for _, decl := range f.ast.Decls {
			for _, id := range undocumented(decl) {
				problems = append(problems, fmt.Sprintf("%s: line %d: exported %s has no comment", f.path, f.fset.Position(id.Pos()).Line, id.Name))
			}
		}
	}
	for _, dir := range slices.Sorted(maps.Keys(names)) {
		want := "Package " + names[dir] + " "
		if names[dir] == "main" {
			want = "Command " + path.Base(dir) + " "
		}
		switch texts := docs[dir]; {
		case len(texts) == 0:
			problems = append(problems, fmt.Sprintf("%s: no package comment", dir))
		case len(texts) > 1:
			problems = append(problems, fmt.Sprintf("%s: %d package comments", dir, len(texts)))
		case !strings.HasPrefix(texts[0], want):
			problems = append(problems, fmt.Sprintf("%s: the package comment must start with %q", dir, want))
		}
	}
	return problems
}

func internal(dir string) bool {
	return slices.Contains(strings.Split(dir, "/"), "internal")
}

// undocumented returns the names that decl exports without a comment. In a
// group of constants or variables one comment on the group is enough.
func undocumented(decl ast.Decl) (ids []*ast.Ident) {
	switch d := decl.(type) {
	case *ast.FuncDecl:
		if d.Name.IsExported() && d.Doc == nil && exportedReceiver(d) && !obvious(d) {
			ids = append(ids, d.Name)
		}
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			switch s := spec.(type) {
			case *ast.TypeSpec:
				if s.Name.IsExported() && s.Doc == nil && d.Doc == nil {
					ids = append(ids, s.Name)
				}
			case *ast.ValueSpec:
				if s.Doc != nil || s.Comment != nil || d.Doc != nil {
					continue
				}
				for _, id := range s.Names {
					if id.IsExported() {
						ids = append(ids, id)
					}
				}
			}
		}
	}
	return ids
}

// exportedReceiver reports whether d is a function, or a method of a type that
// is exported.
func exportedReceiver(d *ast.FuncDecl) bool {
	if d.Recv == nil || len(d.Recv.List) == 0 {
		return true
	}
	t := d.Recv.List[0].Type
	for {
		switch x := t.(type) {
		case *ast.StarExpr:
			t = x.X
		case *ast.IndexExpr:
			t = x.X
		case *ast.IndexListExpr:
			t = x.X
		case *ast.Ident:
			return x.IsExported()
		default:
			return false
		}
	}
}

// obvious reports whether d is a method whose meaning its interface fixes.
func obvious(d *ast.FuncDecl) bool {
	return d.Recv != nil && slices.Contains([]string{"Error", "Unwrap", "String"}, d.Name.Name)
}
