// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/undersign/undersign/groupsig"
	"github.com/undersign/undersign/keyfile"
)

type groupInviteFlags struct {
	outFlags
	secret            secretFlags
	issuer, memberKey string
	days              int
}

func newGroupInviteCmd(e *env) *cobra.Command {
	var f groupInviteFlags
	c := &cobra.Command{
		Use:   "invite NAME --issuer FILE --member-key FILE -i FILE",
		Short: "Invite a member (issuer)",
		Long: `Open a session for a member, whose long-term Ed25519 key the issuer knows. The
result is a challenge for the member, who answers it with join. A session gives
one credential, to this name and this key.`,
		Example: `  undersign group invite alice --issuer council/issuer.age -i issuer.key \
      --member-key alice.pub.pem`,
		Args: nargs(1, 1, "a name"),
		RunE: func(c *cobra.Command, args []string) error { return e.groupInvite(c, f, args[0]) },
	}
	fl := c.Flags()
	fl.StringVar(&f.issuer, "issuer", "", "the issuer's `FILE`")
	c.MarkFlagRequired("issuer")
	addSecretFlags(c, &f.secret)
	fl.StringVar(&f.memberKey, "member-key", "", "the member's Ed25519 public key, PEM `FILE`")
	c.MarkFlagRequired("member-key")
	fl.IntVar(&f.days, "days", 7, "the invitation holds for `N` days, at most 30")
	addOutFlags(c, &f.outFlags, "NAME.challenge")
	addQRFlag(c, &f.qr, "challenge")
	describe(c, "member, group, expires, file", ExitRefused)
	describeExit(c, ExitRefused, "who is invited is a member, or was revoked and can't join anew yet")
	return c
}

func (e *env) groupInvite(c *cobra.Command, f groupInviteFlags, name string) error {
	if err := checkMemberName(name); err != nil {
		return err
	}
	if f.days < 1 || f.days > 30 {
		return usagef(c, "--days %d: want 1 to 30", f.days)
	}
	key, err := e.readMemberKey(c.Context(), f.memberKey)
	if err != nil {
		return err
	}
	if err := f.name(e, name+".challenge"); err != nil {
		return err
	}
	return changeSecret(c.Context(), e, f.secret, f.issuer, (*opener).openIssuer, func(_ *opener, is *groupIssuer) error {
		if err := refuseStatic(is.gk); err != nil {
			return err
		}
		if is.register.Member(name) != nil {
			return failf(ExitRefused, "\"undersign group list\" shows the members", "%s is a member already", name)
		}
		if err := is.register.CheckMember(name, is.epoch()); err != nil {
			return rejoinError(is.gk, err)
		}
		now := time.Now()
		is.sessions.Purge(now.Unix())
		ch, err := is.key.Invite(is.gk, is.sessions, name, key, now.Unix(), int64(f.days)*24*3600)
		if err != nil {
			return err
		}
		data, err := encodeGroup(new(keyfile.GroupChallenge), is.gk, is.epoch(), ch)
		if err != nil {
			return err
		}
		return f.finishAfter(e, func() error { return is.store(e) }, data, publicFile, groupInviteResult{
			name, groupID(is.gk), time.Unix(ch.Expiry, 0).UTC().Format(time.RFC3339), f.out,
		}, nil)
	})
}

type groupInviteResult struct {
	Member  string `json:"member"`
	Group   string `json:"group"`
	Expires string `json:"expires"`
	File    string `json:"file"`
}

// rejoinError explains when who was revoked may join anew.
func rejoinError(gk groupsig.GroupKey, err error) error {
	re, ok := errors.AsType[*groupsig.RejoinError](err)
	if !ok {
		return groupError(err)
	}
	why := fmt.Errorf("%s was revoked, and the old credential isn't refused everywhere yet: with a new one, one person would be two", re.Member)
	var hints []string
	if gk.Features().Has(groupsig.Epoch) {
		hints = append(hints, "end the epoch with \"undersign group revoke --issuer FILE -o OUT\"")
	}
	if gk.Features().Has(groupsig.Token) {
		hints = append(hints, "take in the opener's list with \"undersign group update LIST --issuer FILE\"")
	}
	if gk.Features().Has(groupsig.Rekey) {
		hints = append(hints, "make a list with \"undersign group revoke --issuer FILE -o LIST\", and take it in with \"undersign group update LIST --issuer FILE\"")
	}
	return &Error{Err: why, Hint: strings.Join(hints, ", or "), Code: ExitRefused}
}
