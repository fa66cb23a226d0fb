// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import "github.com/spf13/cobra"

func newGroupsigCmd(e *env) *cobra.Command {
	c := newGroupCmd(e, "group", "Sign as a member of a group, without saying which", `
A member of a group signs; anyone checks that a member did, and can't tell
which. What else can be known depends on the scheme and its features: "undersign
group schemes" lists them.

An issuer admits members, who join by three files: its challenge (invite), the
member's application (join), and the credential (issue). In groups with an
opener, the opener can say who signed, and prove it.`,
		// One line a command, in the order in which help lists them.
		newGroupSchemesCmd(e),
		newGroupCreateCmd(e),
		newGroupDraftCmd(e),
		newGroupEnrollCmd(e),
		newGroupAgreeCmd(e),
		newGroupInviteCmd(e),
		newGroupJoinCmd(e),
		newGroupIssueCmd(e),
		newGroupSignCmd(e),
		newGroupVerifyCmd(e),
		newGroupOpenCmd(e),
		newGroupVerifyOpeningCmd(e),
		newGroupLinkCmd(e),
		newGroupSeqlinkCmd(e),
		newGroupClaimCmd(e),
		newGroupVerifyClaimCmd(e),
		newGroupIdentifyCmd(e),
		newGroupConvertCmd(e),
		newGroupAnnounceCmd(e),
		newGroupRevokeCmd(e),
		newGroupUpdateCmd(e),
		newGroupListCmd(e),
	)
	c.Example = `  undersign group create council --issuer-to issuer.txt --opener-to opener.txt -o council
  undersign group sign motion.txt --member alice.member -i alice.key --scope 2026-11
  undersign group verify motion.txt --group council/group.pub --scope 2026-11 --epoch 1`
	return c
}
