// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package keyfile

import (
	"github.com/undersign/undersign/ring"
	"github.com/undersign/undersign/thresholdrsa"
)

// kinds is every type of file there is. A label, once released, stays for ever.
var kinds = []kind{
	entry[thresholdrsa.PublicKey]("THRESHOLD RSA PUBLIC KEY", false),
	entry[thresholdrsa.Dealing]("THRESHOLD RSA DEALING", false),
	entry[thresholdrsa.KeyShare]("THRESHOLD RSA SHARE", true),
	entry[thresholdrsa.Request]("SIGNING REQUEST", false),
	entry[thresholdrsa.SignatureShare]("SIGNATURE SHARE", false),
	entry[thresholdrsa.Receiver]("RECEIVER", false),
	entry[thresholdrsa.ReceiverKey]("RECEIVER KEY", true),
	entry[thresholdrsa.Proposal]("CEREMONY PROPOSAL", false),
	entry[thresholdrsa.Contribution]("CEREMONY CONTRIBUTION", false),
	entry[thresholdrsa.Refusal]("CEREMONY REFUSAL", false),
	entry[thresholdrsa.Ack]("CEREMONY ACKNOWLEDGEMENT", false),
	entry[thresholdrsa.Certificate]("CEREMONY CERTIFICATE", false),
	entry[GroupKey]("GROUP KEY", false),
	entry[GroupIssuer]("GROUP ISSUER", true),
	entry[GroupOpener]("GROUP OPENER", true),
	entry[GroupConverter]("GROUP CONVERTER", true),
	entry[GroupLinker]("GROUP LINKER", true),
	entry[GroupMember]("GROUP MEMBER", true),
	entry[GroupPending]("GROUP PENDING MEMBER", true),
	entry[GroupChallenge]("GROUP CHALLENGE", false),
	entry[GroupApplication]("GROUP APPLICATION", true),
	entry[GroupCredential]("GROUP CREDENTIAL", false),
	entry[GroupRecord]("GROUP RECORD", true),
	entry[GroupSignature]("GROUP SIGNATURE", false),
	entry[GroupOpening]("GROUP OPENING", false),
	entry[GroupRevelation]("GROUP REVELATION", false),
	entry[GroupRevocation]("GROUP REVOCATION LIST", false),
	entry[GroupBlinding]("GROUP BLINDING KEY", true),
	entry[GroupQuery]("GROUP QUERY", false),
	entry[GroupAnswer]("GROUP ANSWER", false),
	entry[GroupLink]("GROUP LINK", false),
	entry[GroupClaim]("GROUP CLAIM", false),
	entry[GroupDraft]("GROUP DRAFT", false),
	entry[GroupAnnouncement]("GROUP ANNOUNCEMENT", false),
	entry[BLSSecretKey]("BLS SECRET KEY", true),
	entry[BLSPublicKey]("BLS PUBLIC KEY", false),
	entry[BLSProof]("BLS PROOF", false),
	entry[ring.PrivateKey]("RING PRIVATE KEY", true),
	entry[ring.PublicKey]("RING PUBLIC KEY", false),
	entry[ring.Ring]("RING", false),
	entry[ring.Signature]("RING SIGNATURE", false),
	entry[PartyKey]("PARTY KEY", true),
	entry[Party]("PARTY", false),
}
