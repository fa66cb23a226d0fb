// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

// Sm3gen writes the amd64 kernel of internal/sm3lanes.
//
//	sm3gen [-check] DIR
//
// It writes kernel_amd64.s and kernel_amd64_stub.go to DIR, the directory of
// package sm3lanes. With -check it writes nothing and fails if they differ.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"

	"github.com/mmcloughlin/avo/build"
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
		fmt.Fprintln(os.Stderr, "usage: sm3gen [-check] DIR")
		os.Exit(2)
	}
	if err := run(flag.Arg(0), *check); err != nil {
		fmt.Fprintln(os.Stderr, "sm3gen:", err)
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

// generate returns the contents of the files by name.
func generate() (map[string][]byte, error) {
	c := build.NewContext()
	c.ConstraintExpr("amd64")
	blocks(c)
	f, err := c.Result()
	if err != nil {
		return nil, err
	}
	if err := pass.Compile.Execute(f); err != nil {
		return nil, err
	}
	cfg := printer.Config{Name: "sm3gen", Pkg: "sm3lanes"}
	files := map[string][]byte{}
	for name, p := range map[string]printer.Printer{
		"kernel_amd64.s":       printer.NewGoAsm(cfg),
		"kernel_amd64_stub.go": printer.NewStubs(cfg),
	} {
		data, err := p.Print(f)
		if err != nil {
			return nil, err
		}
		files[name] = append([]byte(header), data...)
	}
	return files, nil
}
