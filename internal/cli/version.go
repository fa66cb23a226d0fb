// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"
	"io"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// versionInfo says what was built, and from what.
type versionInfo struct {
	Version  string `json:"version"`
	Revision string `json:"revision,omitempty"`
	Modified bool   `json:"modified,omitempty"`
	Go       string `json:"go"`
	OS       string `json:"os"`
	Arch     string `json:"arch"`
}

func buildVersion() versionInfo {
	v := versionInfo{Version: "devel", Go: runtime.Version(), OS: runtime.GOOS, Arch: runtime.GOARCH}
	bi, ok := debug.ReadBuildInfo()
	if !ok {
		return v
	}
	if bi.Main.Version != "" && bi.Main.Version != "(devel)" {
		v.Version = bi.Main.Version
	}
	for _, s := range bi.Settings {
		switch s.Key {
		case "vcs.revision":
			v.Revision = s.Value
		case "vcs.modified":
			v.Modified = s.Value == "true"
		}
	}
	return v
}

func newVersionCmd(e *env) *cobra.Command {
	c := &cobra.Command{
		Use:   "version",
		Short: "Print the version of undersign",
		Long: `Print the version of undersign, the revision it was built from where that is
known, and the Go version and platform.`,
		Example: `  undersign version
  undersign version --json`,
		Args: noArgs,
		RunE: func(c *cobra.Command, args []string) error {
			v := buildVersion()
			return e.print(v, func(w io.Writer) {
				fmt.Fprintf(w, "undersign %s", v.Version)
				if v.Revision != "" {
					fmt.Fprintf(w, " %.12s", v.Revision)
					if v.Modified {
						fmt.Fprintf(w, " (modified)")
					}
				}
				fmt.Fprintf(w, "\n%s %s/%s\n", v.Go, v.OS, v.Arch)
			})
		},
	}
	return describe(c, "version, revision, modified, go, os, arch")
}
