// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package deptest

import (
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// TestImports holds every import of every file against the tables.
func TestImports(t *testing.T) {
	for _, problem := range importProblems(moduleTree(t)) {
		t.Error(problem)
	}
}

func importProblems(tree []*goFile) (problems []string) {
	unknown := map[string]bool{}
	for _, f := range tree {
		if _, ok := layerOf(f.dir()); !ok {
			if !unknown[f.dir()] {
				unknown[f.dir()] = true
				problems = append(problems, fmt.Sprintf("%s: new package: give it a layer in the table of internal/deptest/layers_test.go", f.dir()))
			}
			continue
		}
		for _, imp := range f.imports() {
			if problem := importProblem(f, imp); problem != "" {
				problems = append(problems, fmt.Sprintf("%s: imports %s: %s", f.path, imp, problem))
			}
		}
	}
	return problems
}

// importProblem says what is wrong with one import.
func importProblem(f *goFile, imp string) string {
	from := f.dir()
	n, _ := layerOf(from)
	if imp == "C" {
		return "no cgo outside the module bench"
	}
	if imp == "unsafe" {
		if unsafeOK[from] == "" {
			return "not on the list of packages that may"
		}
		return ""
	}
	if own, ok := ownPath(imp); ok {
		return ownImportProblem(f, n, own)
	}
	first, _, _ := strings.Cut(imp, "/")
	if !strings.Contains(first, ".") { // the standard library
		if f.isTest() || !layers[n].pure || pureExceptions[from+" "+imp] != "" {
			return ""
		}
		if slices.ContainsFunc(impure, func(p string) bool { return matches(p, imp) }) {
			return "the layer of " + layers[n].name + " leaves that to its callers"
		}
		return ""
	}
	for module, owner := range only {
		if matches(module+"/...", imp) {
			if from != owner && !forTests[from] {
				return "only " + owner + " may"
			}
			return ""
		}
	}
	allowed := func(deps []string) bool {
		return slices.ContainsFunc(deps, func(d string) bool { return matches(d+"/...", imp) })
	}
	for _, l := range layers[:n+1] {
		if allowed(l.deps) {
			return ""
		}
	}
	if f.isTest() || forTests[from] {
		// Tests may use any layer's dependencies, and their own.
		for _, l := range layers {
			if allowed(l.deps) {
				return ""
			}
		}
		if allowed(testDeps) {
			return ""
		}
	}
	return "not a dependency of the layer of " + layers[n].name
}

// ownPath returns the path inside the module of one of its packages.
func ownPath(imp string) (string, bool) {
	if imp == modulePath {
		return ".", true
	}
	return strings.CutPrefix(imp, modulePath+"/")
}

func ownImportProblem(f *goFile, n int, own string) string {
	m, ok := layerOf(own)
	switch {
	case !ok:
		return "it has no layer in the table"
	case f.isTest():
		return "" // a test may look down from above
	case forTests[own]:
		return "it is for tests"
	case m < n, m == n && layers[n].within:
		return ""
	case m == n && slices.ContainsFunc(within[f.dir()], func(p string) bool { return strings.HasPrefix(own, p) }):
		return ""
	case m == n:
		return "packages of the layer of " + layers[n].name + " don't import one another"
	}
	return "imports go downward only, from " + layers[n].name + " to " + layers[m].name
}

// TestClosure asks the go command for all that the lower layers depend on in
// the end, so that nothing comes in behind an allowed dependency.
func TestClosure(t *testing.T) {
	root := moduleRoot(t)
	var args []string
	for _, f := range moduleTree(t) {
		n, ok := layerOf(f.dir())
		arg := "./" + f.dir()
		if ok && n <= schemes && !f.isTest() && !slices.Contains(args, arg) {
			args = append(args, arg)
		}
	}
	cmd := exec.Command("go", append([]string{"list", "-deps", "-f", "{{if not .Standard}}{{.ImportPath}}{{end}}"}, args...)...)
	cmd.Dir = root
	out, err := cmd.Output()
	if err != nil {
		if ee, ok := err.(*exec.ExitError); ok {
			t.Fatalf("go list: %v: %s", err, ee.Stderr)
		}
		t.Fatal(err)
	}
	allowed := slices.Concat(layers[arithmetic].deps, layers[schemes].deps)
	for module, owner := range only {
		if n, _ := layerOf(owner); n <= schemes && slices.Contains(args, "./"+owner) {
			allowed = append(allowed, module)
			allowed = append(allowed, backendDeps[module]...)
		}
	}
	for _, imp := range strings.Fields(string(out)) {
		if _, ok := ownPath(imp); ok {
			continue
		}
		if !slices.ContainsFunc(allowed, func(d string) bool { return matches(d+"/...", imp) }) {
			t.Errorf("the lower layers depend on %s", imp)
		}
	}
}
