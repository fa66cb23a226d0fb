// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"encoding/hex"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/undersign/undersign/groupsig/libgroupsig"
	"github.com/undersign/undersign/keyfile"
)

// importedPrefix begins the names of libgroupsig's schemes in files, so that nobody takes
// them for the schemes here.
const importedPrefix = "libgroupsig"

func newGroupImportCmd(e *env) *cobra.Command {
	var f outFlags
	var members string
	c := &cobra.Command{
		Use:   "import-libgroupsig FILE",
		Short: "Check and keep a group key of libgroupsig",
		Long: `Read the group key of a group of the C library libgroupsig, check it, and keep
it as a file of this program. With it "verify --format libgroupsig" checks what
the group signed. It is for archives: nobody joins such a group here, or signs.

FILE is the library's export, or its base64. Schemes are BBS04, PS16, KLAP20,
DL21 and DL21SEQ; the signatures of CPY06, KTY04 and GL19 say too little. What a
valid signature of a scheme doesn't show is printed.

Whoever writes a group key can sign under it. Compare the ID, which is SHA-256
of the export, with one that you know from elsewhere. --members is the manager's
list of members (GML), which is checked, and isn't kept: in PS16 it tells who
signed what.`,
		Example: `  undersign group import-libgroupsig group.key -o archive.pub
  undersign group import-libgroupsig group.key --members gml.dat -o archive.pub`,
		Args: nargs(1, 1, "a group key of libgroupsig"),
		RunE: func(c *cobra.Command, args []string) error { return e.groupImport(c.Context(), f, members, args[0]) },
	}
	c.Flags().StringVar(&members, "members", "", "check the list of members `FILE` too")
	addOutFlags(c, &f, "FILE"+importedSuffix)
	return describe(c, "scheme, group (ID), bytes, flaws, members [id, repeated], file")
}

// importedSuffix is what an imported group key is called after the export.
const importedSuffix = ".pub"

type importedMember struct {
	ID       uint64 `json:"id"`
	Repeated bool   `json:"repeated,omitempty"` // it has been there under another ID
}

type groupImportResult struct {
	Scheme  string           `json:"scheme"`
	Group   string           `json:"group"`
	Bytes   int              `json:"bytes"`
	Flaws   []string         `json:"flaws"`
	Members []importedMember `json:"members,omitempty"`
	File    string           `json:"file"`
}

func (e *env) groupImport(ctx context.Context, f outFlags, members, file string) error {
	if err := f.name(e, beside(file, importedSuffix)); err != nil {
		return err
	}
	data, err := e.readInput(ctx, file, maxObject)
	if err != nil {
		return err
	}
	k, err := libgroupsig.ParseGroupKey(data)
	if err != nil {
		return fileError(file, err)
	}
	export, err := k.MarshalBinary()
	if err != nil {
		return err
	}
	r := groupImportResult{Scheme: k.Scheme().String(), Group: importedID(k), Bytes: len(export), Flaws: k.Scheme().Flaws(), File: f.out}
	if members != "" {
		if data, err = e.readInput(ctx, members, maxObject); err != nil {
			return err
		}
		l, err := k.ParseMemberList(data)
		if err != nil {
			return fileError(members, err)
		}
		for _, m := range l.Members {
			r.Members = append(r.Members, importedMember{ID: m.ID})
		}
		for _, i := range l.Repeated {
			r.Members[i].Repeated = true
		}
	}
	out, err := keyfile.Encode(&keyfile.GroupKey{GroupFile: keyfile.GroupFile{
		Scheme: importedPrefix + r.Scheme, Group: k.ID(), Parts: [][]byte{export},
	}})
	if err != nil {
		return err
	}
	return f.finish(e, out, publicFile, r, func(w io.Writer) {
		fs := []field{{"scheme", r.Scheme + " of libgroupsig"}, {"ID", r.Group}, {"file", oneLine(r.File)}}
		if members != "" {
			fs = append(fs, field{"members", fmt.Sprint(len(r.Members))})
		}
		for _, m := range r.Members {
			if m.Repeated {
				fs = append(fs, field{"repeated", fmt.Sprintf("member %d is there under another ID too", m.ID)})
			}
		}
		writeFields(w, fs)
		writeFlaws(w, r.Flaws)
	})
}

// writeFlaws says what valid signatures of a scheme of libgroupsig don't show.
func writeFlaws(w io.Writer, flaws []string) {
	fmt.Fprintln(w, "\nEven if a signature is valid:")
	for _, f := range flaws {
		fmt.Fprintf(w, "- %s\n", f)
	}
}

func importedID(k *libgroupsig.GroupKey) string {
	id := k.ID()
	return hex.EncodeToString(id[:])
}
