// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

// Blsgen writes the amd64 kernels of internal/bls12381.
//
//	blsgen [-check] DIR
//
// It writes select_amd64.s, kernel_amd64.s, vector_amd64.s and their stubs to DIR, the directory of
// package bls12381. With -check it writes nothing and fails if they differ.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/ir"
	"github.com/mmcloughlin/avo/pass"
	"github.com/mmcloughlin/avo/printer"
)

const header = `// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

`

func main() {
	check := flag.Bool("check", false, "fail if the files differ from what would be written")
	flag.Parse()
	if flag.NArg() != 1 {
		fmt.Fprintln(os.Stderr, "usage: blsgen [-check] DIR")
		os.Exit(2)
	}
	if err := run(flag.Arg(0), *check); err != nil {
		fmt.Fprintln(os.Stderr, "blsgen:", err)
		os.Exit(1)
	}
}

func run(dir string, check bool) error {
	files, err := generate()
	if err != nil {
		return err
	}
	for name, data := range files {
		path := filepath.Join(dir, name)
		if !check {
			if err := os.WriteFile(path, data, 0o644); err != nil {
				return err
			}
			continue
		}
		old, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if !bytes.Equal(old, data) {
			return fmt.Errorf("%s is not what the generator writes: run go generate", path)
		}
	}
	return nil
}

// local is the suffix of names that only their file knows.
const local = "<>"

// generate returns the contents of the files by name.
func generate() (map[string][]byte, error) {
	files := map[string][]byte{}
	for name, write := range map[string]func(*build.Context){"select": selectEntry, "kernel": kernel, "vector": vector} {
		c := build.NewContext()
		c.ConstraintExpr("amd64,!purego")
		write(c)
		f, err := c.Result()
		if err != nil {
			return nil, err
		}
		if err := pass.Compile.Execute(f); err != nil {
			return nil, err
		}
		cfg := printer.Config{Name: "blsgen", Pkg: "bls12381"}
		code, err := printer.NewGoAsm(cfg).Print(f)
		if err != nil {
			return nil, err
		}
		// Go knows nothing of functions that only assembly calls.
		f.Sections = slices.DeleteFunc(f.Sections, func(s ir.Section) bool {
			fn, ok := s.(*ir.Function)
			return ok && strings.HasSuffix(fn.Name, local)
		})
		stub, err := printer.NewStubs(cfg).Print(f)
		if err != nil {
			return nil, err
		}
		files[name+"_amd64.s"] = append([]byte(header), code...)
		files[name+"_amd64_stub.go"] = append([]byte(header), stub...)
	}
	return files, nil
}
