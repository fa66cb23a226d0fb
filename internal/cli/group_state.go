// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/undersign/undersign/groupsig"
	"github.com/undersign/undersign/keyfile"
)

// States are what the roles of a group sign for verifiers: lists of who is revoked, and
// announcements of the epochs that are accepted.

// maxStateDays bounds how long a state holds.
const maxStateDays = 3660

// stateFlags say how long a state holds.
type stateFlags struct{ days int }

func (f *stateFlags) add(c *cobra.Command, what string) {
	c.Flags().IntVar(&f.days, "days", 30, what+" holds for `N` days")
}

// terms returns those of the state after the one with a number.
func (f *stateFlags) terms(c *cobra.Command, number uint64) (groupsig.Terms, error) {
	if f.days < 1 || f.days > maxStateDays {
		return groupsig.Terms{}, usagef(c, "--days %d: want 1 to %d", f.days, maxStateDays)
	}
	now := time.Now().Unix()
	return groupsig.Terms{Number: number + 1, Issued: now, Expires: now + int64(f.days)*24*3600}, nil
}

// parseAnnouncement decodes an announcement, or returns nil for nothing.
func parseAnnouncement(gk groupsig.GroupKey, data []byte) (groupsig.Announcement, error) {
	ar, ok := groupsig.As[groupsig.AnnouncementReader](gk)
	if !ok {
		return nil, failf(ExitUsage, "", "the group has no epochs")
	}
	if len(data) == 0 {
		return nil, nil
	}
	return ar.ParseAnnouncement(data)
}

// parseList decodes a list of who is revoked, or returns nil for nothing.
func parseList(gk groupsig.GroupKey, data []byte) (groupsig.Revocation, error) {
	rr, ok := groupsig.As[groupsig.RevocationReader](gk)
	if !ok {
		return nil, failf(ExitUsage, "", "the group has no lists of who is revoked")
	}
	if len(data) == 0 {
		return nil, nil
	}
	return rr.ParseRevocation(data)
}

// readAnnouncement reads an announcement and checks who signed it.
func (e *env) readAnnouncement(ctx context.Context, gk groupsig.GroupKey, file string) (groupsig.Announcement, error) {
	v, err := readObject[*keyfile.GroupAnnouncement](ctx, e, file)
	if err != nil {
		return nil, err
	}
	return stateOf(gk, v, file, parseAnnouncement)
}

// readRevocation reads a list of who is revoked and checks who signed it.
func (e *env) readRevocation(ctx context.Context, gk groupsig.GroupKey, file string) (groupsig.Revocation, error) {
	v, err := readObject[*keyfile.GroupRevocation](ctx, e, file)
	if err != nil {
		return nil, err
	}
	return stateOf(gk, v, file, parseList)
}

// signedError is about a file whose signature is wrong, or which was changed.
func signedError(file string, err error) error {
	if err == nil || exitCode(err) == ExitUsage {
		return err
	}
	return withCode(groupFileError(file, err), ExitInvalid)
}

// inForce refuses a state that doesn't hold at a time.
func inForce(file string, s groupsig.State, at time.Time) error {
	var why string
	switch now := at.Unix(); {
	case now < s.Issued():
		why = fmt.Sprintf("it isn't in force before %s", utc(s.Issued()))
	case now > s.Expires():
		why = fmt.Sprintf("it expired at %s", utc(s.Expires()))
	default:
		return nil
	}
	return failf(ExitRefused, staleHint(s), "%s: %s", inputName(file), why)
}

func utc(t int64) string { return time.Unix(t, 0).UTC().Format(time.RFC3339) }

// staleHint says where newer states come from.
func staleHint(s groupsig.State) string {
	if _, ok := s.(groupsig.Announcement); ok {
		return "get the issuer's newest announcement, which it makes with \"undersign group announce\"; and look at this machine's clock"
	}
	return "get the newest list of who is revoked, which the opener or the issuer makes with \"undersign group revoke\"; and look at this machine's clock"
}

// replaceState puts a state that is in force in the place of one that a verifier has,
// unless it is older.
func (e *env) replaceState(c *cobra.Command, gk groupsig.GroupKey, file, place string) error {
	ctx := c.Context()
	data, err := e.readInput(ctx, file, maxObject)
	if err != nil {
		return err
	}
	v, err := keyfile.Parse(data)
	if err != nil {
		return fileError(file, err)
	}
	next, err := readState(gk, v, file)
	if err != nil {
		return err
	}
	if err := inForce(file, next, time.Now()); err != nil {
		return err
	}
	if _, err := os.Stat(place); err == nil {
		unlock, err := lockFile(place)
		if err != nil {
			return err
		}
		defer unlock()
		data, err := e.readInput(ctx, place, maxObject)
		if err != nil {
			return err
		}
		w, err := keyfile.Parse(data)
		if err != nil {
			return fileError(place, err)
		}
		old, err := readState(gk, w, place)
		if err != nil {
			return err
		}
		if err := groupsig.Replaces(next, old); err != nil {
			return &Error{Err: groupFileError(file, err), Hint: "keep " + place + ", or ask who signed it", Code: ExitRefused}
		}
	}
	out, err := keyfile.Encode(v)
	if err != nil {
		return err
	}
	if err := e.writeFile(place, out, publicFile, true); err != nil || place == "-" {
		return err
	}
	r := newStateResult(gk, next)
	r.File = place
	return e.print(r, r.write)
}

// readState decodes a state of either kind.
func readState(gk groupsig.GroupKey, v keyfile.Object, file string) (groupsig.State, error) {
	switch v := v.(type) {
	case *keyfile.GroupRevocation:
		return stateOf(gk, v, file, parseList)
	case *keyfile.GroupAnnouncement:
		return stateOf(gk, v, file, parseAnnouncement)
	}
	return nil, failf(ExitError, "give a list or an announcement, which \"undersign group revoke\" or \"announce\" has written",
		"%s: it is a %s", inputName(file), keyfile.Type(v))
}

func (e *env) printState(c *cobra.Command, gk groupsig.GroupKey, file string) error {
	data, err := e.readInput(c.Context(), file, maxObject)
	if err != nil {
		return err
	}
	v, err := keyfile.Parse(data)
	if err != nil {
		return fileError(file, err)
	}
	s, err := readState(gk, v, file)
	if err != nil {
		return err
	}
	r := newStateResult(gk, s)
	return e.print(r, r.write)
}

// stateOf decodes the state in a file, and checks who signed it.
func stateOf[T groupsig.State](gk groupsig.GroupKey, v groupFile, file string, parse func(groupsig.GroupKey, []byte) (T, error)) (none T, _ error) {
	p, err := groupParts(gk, v.File(), 1)
	if err != nil {
		return none, groupFileError(file, err)
	}
	if len(p[0]) == 0 {
		return none, signedError(file, errors.New("it is empty"))
	}
	s, err := parse(gk, p[0])
	if err != nil {
		return none, signedError(file, err)
	}
	if n := v.File().Number; n != s.Number() {
		return none, signedError(file, fmt.Errorf("it says number %d, and is signed as number %d", n, s.Number()))
	}
	return s, nil
}

// A stateResult is what people should know of a state.
type stateResult struct {
	Kind    string `json:"kind"`
	Number  uint64 `json:"number"`
	Issued  string `json:"issued"`
	Expires string `json:"expires"`
	Revoked *int   `json:"revoked,omitempty"`
	Oldest  uint64 `json:"oldest,omitempty"`
	Epoch   uint64 `json:"epoch,omitempty"`
	Group   string `json:"group"`
	File    string `json:"file,omitempty"`
}

const stateFields = "kind, number, issued, expires, revoked or oldest and epoch, group, file"

func newStateResult(gk groupsig.GroupKey, s groupsig.State) stateResult {
	r := stateResult{Number: s.Number(), Issued: utc(s.Issued()), Expires: utc(s.Expires()), Group: groupID(gk)}
	switch s := s.(type) {
	case groupsig.Announcement:
		r.Kind, r.Oldest, r.Epoch = "announcement", s.Oldest(), s.Epoch()
	case groupsig.Revocation:
		n := s.Len()
		r.Kind, r.Revoked = "revocation list", &n
	}
	return r
}

// text says it but for the kind.
func (r stateResult) text() string {
	what := fmt.Sprintf("of epochs %d to %d", r.Oldest, r.Epoch)
	switch {
	case r.Revoked != nil:
		what = fmt.Sprintf("with %d revoked", *r.Revoked)
	case r.Oldest == r.Epoch:
		what = fmt.Sprintf("of epoch %d", r.Epoch)
	}
	return fmt.Sprintf("%d, %s, until %s", r.Number, what, r.Expires)
}

func (r stateResult) write(w io.Writer) {
	fmt.Fprintf(w, "%s %s\n", r.Kind, r.text())
	if r.File != "" {
		fmt.Fprintf(w, "%s\n", oneLine(r.File))
	}
}

// announce signs the next announcement, which the file has to be stored for.
func (is *groupIssuer) announce(c *cobra.Command, f stateFlags, oldest uint64) ([]byte, groupsig.Announcement, error) {
	an, ok := is.key.(groupsig.Announcer)
	if !ok || !is.gk.Features().Has(groupsig.Epoch) {
		return nil, nil, usagef(c, "the group has no epochs")
	}
	last, err := parseAnnouncement(is.gk, is.announced)
	if err != nil {
		return nil, nil, err
	}
	var number uint64
	if last != nil {
		number = last.Number()
	}
	terms, err := f.terms(c, number)
	if err != nil {
		return nil, nil, err
	}
	a, err := an.Announce(is.gk, terms, oldest, is.epoch())
	if err != nil {
		return nil, nil, err
	}
	if is.announced, err = a.MarshalBinary(); err != nil {
		return nil, nil, err
	}
	data, err := encodeGroup(new(keyfile.GroupAnnouncement), is.gk, a.Number(), a)
	return data, a, err
}

const announcementName = "group.epochs"

func newGroupAnnounceCmd(e *env) *cobra.Command {
	var out outFlags
	var secret secretFlags
	var state stateFlags
	var issuer string
	var oldest uint64
	c := &cobra.Command{
		Use:   "announce --issuer FILE -i FILE",
		Short: "Sign which epochs verifiers accept (issuer)",
		Long: `Sign which epochs verifiers accept: the one that the group is in, and with
--oldest some before it, so that members have time to take their new
credentials. Publish the announcement where members and verifiers find it: it is
one for all, so that nobody is singled out. It expires; make a new one before.`,
		Example: `  undersign group announce --issuer council/issuer.age -i issuer.key
  undersign group announce --issuer council/issuer.age -i issuer.key --oldest 2 --days 7`,
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := out.name(e, announcementName); err != nil {
				return err
			}
			return changeSecret(c.Context(), e, secret, issuer, (*opener).openIssuer, func(_ *opener, is *groupIssuer) error {
				if !c.Flags().Changed("oldest") {
					oldest = is.epoch()
				}
				if oldest > is.epoch() || oldest == 0 && is.epoch() > 0 {
					return usagef(c, "--oldest %d: the epochs are 1 to %d", oldest, is.epoch())
				}
				data, a, err := is.announce(c, state, oldest)
				if err != nil {
					return err
				}
				r := newStateResult(is.gk, a)
				r.File = out.out
				return out.finishAfter(e, func() error { return is.store(e) }, data, publicFile, r, r.write)
			})
		},
	}
	fl := c.Flags()
	fl.StringVar(&issuer, "issuer", "", "the issuer's `FILE`")
	c.MarkFlagRequired("issuer")
	addSecretFlags(c, &secret)
	fl.Uint64Var(&oldest, "oldest", 0, "accept epochs from `N` on (default: the newest only)")
	state.add(c, "the announcement")
	addOutFlags(c, &out, announcementName)
	addQRFlag(c, &out.qr, "announcement")
	return describe(c, stateFields)
}
