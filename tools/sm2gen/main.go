// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

// Sm2gen writes the amd64 kernels of internal/sm2ec.
//
//	sm2gen [-check] DIR
//
// It writes the scalar kernel to kernel_amd64.s, that of eight lanes to lanes_amd64.s,
// and their declarations to *_amd64_stub.go in DIR, the directory of package
// sm2ec. With -check it writes nothing and fails if they differ.
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
		fmt.Fprintln(os.Stderr, "usage: sm2gen [-check] DIR")
		os.Exit(2)
	}
	if err := run(flag.Arg(0), *check); err != nil {
		fmt.Fprintln(os.Stderr, "sm2gen:", err)
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
	for name, write := range map[string]func(*build.Context){"kernel": kernel, "lanes": lanes} {
		c := build.NewContext()
		c.ConstraintExpr("amd64")
		write(c)
		f, err := c.Result()
		if err != nil {
			return nil, err
		}
		mergeMarked(f)
		if err := pass.Compile.Execute(f); err != nil {
			return nil, err
		}
		cfg := printer.Config{Name: "sm2gen", Pkg: "sm2ec"}
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
