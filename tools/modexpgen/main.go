// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

// Modexpgen writes the amd64 kernels of internal/modexp.
//
//	modexpgen [-check] DIR
//
// It writes the scalar kernel to kernel_amd64.s, those of lanes to
// lanes_amd64.s and lanes4_amd64.s, the wide one to wide_amd64.s, and their declarations to *_amd64_stub.go in DIR, the directory
// of package modexp. With -check it writes nothing and fails if they differ.
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
		fmt.Fprintln(os.Stderr, "usage: modexpgen [-check] DIR")
		os.Exit(2)
	}
	if err := run(flag.Arg(0), *check); err != nil {
		fmt.Fprintln(os.Stderr, "modexpgen:", err)
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
	files := map[string][]byte{}
	for name, write := range map[string]func(*build.Context){"kernel": kernel, "lanes": lanes, "lanes4": lanes4, "wide": wide} {
		c := build.NewContext()
		c.ConstraintExpr("amd64")
		write(c)
		f, err := c.Result()
		if err != nil {
			return nil, err
		}
		if err := pass.Compile.Execute(f); err != nil {
			return nil, err
		}
		cfg := printer.Config{Name: "modexpgen", Pkg: "modexp"}
		for suffix, p := range map[string]printer.Printer{
			"_amd64.s":       printer.NewGoAsm(cfg),
			"_amd64_stub.go": printer.NewStubs(cfg),
		} {
			data, err := p.Print(f)
			if err != nil {
				return nil, err
			}
			files[name+suffix] = append([]byte(header), data...)
		}
	}
	return files, nil
}
