// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/undersign/undersign/groupsig"
	"github.com/undersign/undersign/keyfile"
)

type groupRevokeFlags struct {
	outFlags
	secret         secretFlags
	issuer, opener string
	pseudonyms     []string // in hexadecimal
	signed, sigs   []string // files whose signers are to be listed
	state          stateFlags
	oldest         uint64
}

// byPseudonym reports whether members are revoked by what they signed.
func (f *groupRevokeFlags) byPseudonym() bool { return len(f.pseudonyms)+len(f.signed) > 0 }

func newGroupRevokeCmd(e *env) *cobra.Command {
	var f groupRevokeFlags
	c := &cobra.Command{
		Use:   "revoke NAME... --issuer FILE|--opener FILE -i FILE -o OUT",
		Short: "Revoke members (issuer or opener)",
		Long: `Revoke members, in one of four ways.

The issuer of a group with epochs (--issuer) moves on to the next epoch, and
writes a new credential for each other member to the directory OUT, with an
announcement of the epoch. All of it may be published; members and verifiers
take it in with update. Without a NAME nobody is revoked, and the epoch ends all
the same. Old signatures stay anonymous.

The opener of a group with tokens (--opener) writes a signed list of all that
are revoked to the file OUT, for verifiers. It works at once, and betrays to all
who have the list what the revoked members signed, in the past too. The issuer
then revokes the same NAME, with no OUT in groups without epochs.

The issuer of a group that rekeys (--issuer) writes a signed list of all that
are revoked to the file OUT, which is how the group's key moves: verifiers need
the newest (verify --revoked), and the first, which revokes nobody, before there
is another. Members take it in with update before they sign again. Old
signatures stay anonymous, and prove nothing any more: by the list anybody can
sign under the keys before it.

In groups with scopes who signed something (--signed, --pseudonym) goes on the
list without being named. It is refused in that scope only. The opener makes the
list; the issuer, in groups that have none.

A list has all that were on those before it. Without any NAME it is renewed.`,
		Example: `  undersign group revoke mallory --issuer council/issuer.age -i issuer.key -o epoch-2
  undersign group revoke mallory --opener fares/opener.age -i opener.key -o revoked.list
  undersign group revoke --signed spam.txt --opener council/opener.age -i opener.key -o revoked.list`,
		Args: nargs(0, -1, "a name"),
		RunE: func(c *cobra.Command, args []string) error {
			if len(f.sigs) > 0 && len(f.sigs) != len(f.signed) {
				return usagef(c, "--sig has %d files, and --signed %d", len(f.sigs), len(f.signed))
			}
			if f.issuer != "" {
				return changeSecret(c.Context(), e, f.secret, f.issuer, (*opener).openIssuer, func(_ *opener, is *groupIssuer) error {
					return e.revokeAsIssuer(c, is, f, args)
				})
			}
			return changeSecret(c.Context(), e, f.secret, f.opener, (*opener).openGroupOpener, func(_ *opener, op *groupOpener) error {
				return e.revokeAsOpener(c, op, f, args)
			})
		},
	}
	fl := c.Flags()
	fl.StringVar(&f.issuer, "issuer", "", "the issuer's `FILE`")
	fl.StringVar(&f.opener, "opener", "", "the opener's `FILE`")
	c.MarkFlagsOneRequired("issuer", "opener")
	c.MarkFlagsMutuallyExclusive("issuer", "opener")
	addSecretFlags(c, &f.secret)
	fl.StringSliceVar(&f.signed, "signed", nil, "list who signed the files `FILE,...`, in their scopes")
	fl.StringSliceVar(&f.sigs, "sig", nil, "the signatures, `FILE,...`, in the order of --signed (default: FILE"+groupSigSuffix+")")
	fl.StringSliceVar(&f.pseudonyms, "pseudonym", nil, "list who has the pseudonyms `HEX,...`, in their scopes: verify --json shows them")
	f.state.add(c, "the list or the announcement")
	fl.Uint64Var(&f.oldest, "oldest", 0, "announce that epochs from `N` on are accepted (default: the next only)")
	fl.StringVarP(&f.out, "out", "o", "", "write to `OUT`: a directory for an epoch, or a file for a list")
	addForceFlag(c, &f.force)
	describe(c, "revoked, epoch or number, expires, files", ExitInvalid, ExitRefused)
	describeExit(c, ExitInvalid, "a signature of --signed is invalid")
	describeExit(c, ExitRefused, "who is to be revoked is so already")
	return c
}

type groupRevokeResult struct {
	Revoked []string `json:"revoked"`
	Epoch   uint64   `json:"epoch,omitempty"`
	Number  uint64   `json:"number,omitempty"`
	Expires string   `json:"expires,omitempty"`
	Files   []string `json:"files"`
}

func (e *env) revokeAsIssuer(c *cobra.Command, is *groupIssuer, f groupRevokeFlags, names []string) error {
	switch {
	case f.byPseudonym():
		if is.gk.Features().Has(groupsig.Escrow) {
			return usagef(c, "the group has an opener, who makes its lists: see --opener")
		}
		if len(names) > 0 {
			return usagef(c, "revoke %s by itself: a name isn't on a list", names[0])
		}
		pr, _ := is.key.(groupsig.PseudonymRevoker)
		return e.writeList(c, is.gk, f, names, &is.list, pr, nil, func() error { return is.store(e) })
	case is.gk.Features().Has(groupsig.Rekey):
		rv, ok := is.key.(groupsig.Revoker)
		if !ok {
			return usagef(c, "the group doesn't rekey")
		}
		if err := revokeNames(is.register, names); err != nil {
			return err
		}
		return e.writeList(c, is.gk, f, names, &is.list, nil, func(t groupsig.Terms, base groupsig.Revocation) (groupsig.Revocation, error) {
			return rv.RevocationList(is.gk, is.register, t, base)
		}, func() error { return is.store(e) })
	case is.gk.Features().Has(groupsig.Epoch):
		return e.nextEpoch(c, is, f, names)
	case len(names) == 0:
		return usagef(c, "the group has no epochs: name who is revoked")
	}
	// The opener's list is what verifiers go by.
	if f.out != "" {
		return usagef(c, "-o: the group has no epochs, and there is nothing to write")
	}
	if !is.gk.Features().Has(groupsig.Token) {
		return failf(ExitUsage, "in groups with scopes see --signed", "the group has neither epochs nor tokens: a member can't be revoked by name")
	}
	if err := revokeNames(is.register, names); err != nil {
		return err
	}
	if err := is.store(e); err != nil {
		return err
	}
	return e.print(groupRevokeResult{Revoked: names, Files: []string{}}, func(w io.Writer) {
		for _, name := range names {
			fmt.Fprintf(w, "%s gets no more credentials, and is refused once on the opener's list\n", oneLine(name))
		}
	})
}

// revokeNames marks members in a register.
func revokeNames(register *groupsig.Register, names []string) error {
	for _, name := range names {
		if register.Member(name) == nil {
			for r := range register.Revoked() {
				if r.Member == name {
					return failf(ExitRefused, "\"undersign group list\" shows who is", "%s is revoked already", name)
				}
			}
			return failf(ExitError, "\"undersign group list\" shows who is", "%s isn't a member", name)
		}
		if err := register.Revoke(name); err != nil {
			return err
		}
	}
	return nil
}

// nextEpoch ends an epoch, and makes credentials for the next one.
func (e *env) nextEpoch(c *cobra.Command, is *groupIssuer, f groupRevokeFlags, names []string) error {
	if f.out == "" || f.out == "-" {
		return failf(ExitUsage, "name a directory with -o", "the credentials of an epoch are several files")
	}
	if err := revokeNames(is.register, names); err != nil {
		return err
	}
	re, ok := is.key.(groupsig.Reissuer)
	if !ok {
		return usagef(c, "the group has no epochs")
	}
	is.file().Number++
	if !c.Flags().Changed("oldest") {
		f.oldest = is.epoch()
	}
	if f.oldest < 1 || f.oldest > is.epoch() {
		return usagef(c, "--oldest %d: the epochs are 1 to %d", f.oldest, is.epoch())
	}
	announcement, a, err := is.announce(c, f.state, f.oldest)
	if err != nil {
		return err
	}
	if !e.dryRun {
		if err := os.MkdirAll(f.out, 0o777); err != nil {
			return outputError(f.out, err)
		}
	}
	r := groupRevokeResult{Revoked: notNil(names), Epoch: is.epoch(), Number: a.Number(), Expires: utc(a.Expires()), Files: []string{}}
	set := e.newFileSet(f.force)
	defer set.abort()
	add := func(name string, data []byte) error {
		path := filepath.Join(f.out, name)
		r.Files = append(r.Files, path)
		return set.add(path, data, publicFile)
	}
	if err := add(announcementName, announcement); err != nil {
		return err
	}
	for rec, live := range is.register.All() {
		if !live {
			continue
		}
		cred, err := re.Reissue(is.gk, is.register, rec.Member, is.epoch())
		if err != nil {
			return err
		}
		data, err := encodeGroup(new(keyfile.GroupCredential), is.gk, is.epoch(), cred)
		if err != nil {
			return err
		}
		if err := add(rec.Member+".credential", data); err != nil {
			return err
		}
	}
	// The other way round, a crash between the two would leave who is revoked with
	// credentials of the next epoch to come.
	if err := is.store(e); err != nil {
		return err
	}
	if err := set.commit(); err != nil {
		return err
	}
	return e.print(r, func(w io.Writer) {
		fmt.Fprintf(w, "the epoch is %d: publish the announcement and the credentials in %s\n", is.epoch(), oneLine(f.out))
	})
}

func (e *env) revokeAsOpener(c *cobra.Command, op *groupOpener, f groupRevokeFlags, names []string) error {
	var rv groupsig.Revoker
	if op.gk.Features().Has(groupsig.Token) {
		rv, _ = op.key.(groupsig.Revoker)
	}
	if rv == nil && len(names) > 0 {
		return usagef(c, "the group has no tokens: see --issuer, or --signed")
	}
	if err := revokeNames(op.register, names); err != nil {
		return err
	}
	var tokens func(groupsig.Terms, groupsig.Revocation) (groupsig.Revocation, error)
	if rv != nil {
		tokens = func(t groupsig.Terms, base groupsig.Revocation) (groupsig.Revocation, error) {
			return rv.RevocationList(op.gk, op.register, t, base)
		}
	}
	pr, _ := op.key.(groupsig.PseudonymRevoker)
	return e.writeList(c, op.gk, f, names, &op.list, pr, tokens, func() error { return op.store(e) })
}

// writeList makes the list after the last one: with those whose tokens are listed, if
// the group has tokens, and those who are listed by pseudonyms. It is stored with the
// role's file before it is written.
func (e *env) writeList(c *cobra.Command, gk groupsig.GroupKey, f groupRevokeFlags, names []string, last *bytesPart,
	pr groupsig.PseudonymRevoker, tokens func(groupsig.Terms, groupsig.Revocation) (groupsig.Revocation, error), store func() error) error {
	if f.out == "" {
		return failf(ExitUsage, "name a file with -o", "a list is written to a file")
	}
	if err := f.name(e, f.out); err != nil {
		return err
	}
	list, err := parseList(gk, *last)
	if err != nil {
		return err
	}
	next := func(sign func(groupsig.Terms, groupsig.Revocation) (groupsig.Revocation, error)) error {
		var number uint64
		if list != nil {
			number = list.Number()
		}
		terms, err := f.state.terms(c, number)
		if err == nil {
			list, err = sign(terms, list)
		}
		return err
	}
	if tokens != nil {
		if err := next(tokens); err != nil {
			return err
		}
	}
	if f.byPseudonym() || tokens == nil {
		if pr == nil || !gk.Features().Has(groupsig.Scope) {
			return usagef(c, "the group has no scopes: nobody can be listed by a pseudonym")
		}
		nyms, err := e.revokedPseudonyms(c, gk, f)
		if err != nil {
			return err
		}
		err = next(func(t groupsig.Terms, base groupsig.Revocation) (groupsig.Revocation, error) {
			return pr.RevokePseudonyms(gk, t, base, nyms...)
		})
		if err != nil {
			return err
		}
	}
	if *last, err = list.MarshalBinary(); err != nil {
		return err
	}
	data, err := encodeGroup(new(keyfile.GroupRevocation), gk, list.Number(), list)
	if err != nil {
		return err
	}
	r := groupRevokeResult{Revoked: notNil(names), Number: list.Number(), Expires: utc(list.Expires()), Files: []string{f.out}}
	return f.finishAfter(e, store, data, publicFile, r, func(w io.Writer) {
		fmt.Fprintf(w, "list %d, with %d revoked, until %s\n%s\n", list.Number(), list.Len(), utc(list.Expires()), oneLine(f.out))
	})
}

// revokedPseudonyms returns those that are given, and those of files whose signatures
// are valid.
func (e *env) revokedPseudonyms(c *cobra.Command, gk groupsig.GroupKey, f groupRevokeFlags) ([][]byte, error) {
	var nyms [][]byte
	for _, s := range f.pseudonyms {
		nym, err := hex.DecodeString(s)
		if err != nil || len(nym) == 0 {
			return nil, failf(ExitUsage, "\"undersign group verify --json\" shows them in full", "--pseudonym %q isn't in hexadecimal", s)
		}
		nyms = append(nyms, nym)
	}
	set, err := e.readGroupSet(c.Context(), gk, f.signed, f.sigs)
	if err != nil {
		return nil, err
	}
	lv, ok := groupsig.As[groupsig.LinkVerifier](gk)
	for i, s := range set {
		if err := gk.Verify(s.Message, s.Signature, s.Options); err != nil {
			return nil, withCode(groupFileError(f.signed[i], err), ExitInvalid)
		}
		if !ok {
			break
		}
		nym, err := lv.Pseudonym(s.Signature)
		if err != nil {
			return nil, groupFileError(f.signed[i], err)
		}
		nyms = append(nyms, nym)
	}
	slices.SortFunc(nyms, slices.Compare)
	return slices.CompactFunc(nyms, slices.Equal), nil
}
