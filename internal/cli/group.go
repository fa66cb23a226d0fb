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
opener, the opener can say who signed, and prove it. All goes by files, which
people send each other.

Everybody needs an age key, which secret files are encrypted to: age-keygen -o
alice.key, and age-keygen -y alice.key for alice.txt, which --to and the like
take. A member needs an Ed25519 key besides, which issuer and opener know:
openssl genpkey -algorithm ed25519, and openssl pkey -pubout.`,
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
		newGroupRevealCmd(e),
		newGroupTraceCmd(e),
		newGroupLinkCmd(e),
		newGroupMatchCmd(e),
		newGroupSeqlinkCmd(e),
		newGroupClaimCmd(e),
		newGroupVerifyClaimCmd(e),
		newGroupIdentifyCmd(e),
		newGroupConvertCmd(e),
		newGroupAnnounceCmd(e),
		newGroupRevokeCmd(e),
		newGroupUpdateCmd(e),
		newGroupListCmd(e),
		newGroupImportCmd(e),
	)
	c.Example = `  undersign group create council --issuer-to issuer.txt --opener-to opener.txt -o council
  undersign group announce --issuer council/issuer.age -i issuer.key
  undersign group invite alice --issuer council/issuer.age -i issuer.key --member-key alice.pub.pem
  undersign group join alice.challenge --group council/group.pub --id ID \
      --key alice.pem --to alice.txt --issuer-to issuer.txt
  undersign group issue alice.application --issuer council/issuer.age -i issuer.key \
      --opener-to opener.txt
  undersign group join alice.credential --pending alice.pending -i alice.key \
      --announced group.epochs --to alice.txt
  undersign group update alice.record --opener council/opener.age -i opener.key \
      --member-key alice.pub.pem
  undersign group sign motion.txt --member alice.member -i alice.key --scope 2026-11
  undersign group verify motion.txt --group council/group.pub --scope 2026-11 \
      --announced group.epochs
  undersign group open motion.txt --opener council/opener.age -i opener.key`
	return c
}
