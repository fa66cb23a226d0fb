// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import "github.com/spf13/cobra"

func newSM2Cmd(e *env) *cobra.Command {
	c := newGroupCmd(e, "sm2", "Verify SM2 signatures in bulk", `
SM2 signatures (GB/T 32918.2), many at a time: files of any length are verified
several times faster than one by one, with the same verdict for each item.

Keys and signatures are standard ones, which OpenSSL and other programs read.`,
		// One line a command, in the order in which help lists them.
		newSM2KeygenCmd(e),
		newSM2SignCmd(e),
		newSM2VerifyCmd(e),
		newSM2BatchCmd(e),
		newSM2GenCmd(e),
		newSM2PaperTableCmd(e),
	)
	c.Example = `  undersign sm2 gen -n 100000 --signers 64 --bad 3 -o signatures.jsonl
  undersign sm2 batch signatures.jsonl --stats
  undersign sm2 keygen -o alice.key --to alice.txt
  undersign sm2 sign FILE --key alice.key -i alice-age.key
  undersign sm2 verify FILE --sig FILE.sig --key alice.key.pub`
	return c
}
