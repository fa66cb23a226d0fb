// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package groupsig

import (
	"crypto/ed25519"

	"github.com/undersign/undersign/groupsig/internal/bbs"
	"github.com/undersign/undersign/groupsig/internal/join"
	"github.com/undersign/undersign/groupsig/internal/sdh"
	"github.com/undersign/undersign/groupsig/internal/state"
	"github.com/undersign/undersign/groupsig/internal/tokens"
)

// What issuers and openers keep.
type (
	// Sessions are an issuer's runs of the join protocol: each gives one credential
	// at most, to one identity, before it expires.
	Sessions = join.Sessions
	// A SessionID names a run.
	SessionID = join.SessionID
	// A Challenge is an invitation, the issuer's first message to a member.
	Challenge = join.Challenge
	// A Register holds the records of all members, the issuer's or the opener's. Some
	// schemes keep tokens there: the issuer's register isn't public.
	//
	// It has one live record for an identity. Who is revoked would have two pseudonyms
	// in a scope, if it could join again while its old credential is accepted: an
	// issuer's register refuses it, by a [*RejoinError], until a later epoch than any
	// that the old record got a credential for, or until a list in force has its token,
	// which [RevocationReader] sees to.
	Register = join.Register
	// A Record is what a member signed when it joined.
	Record = join.Record
	// A RejoinError says that an identity was revoked, and joins again before its old
	// credential has ended. See [Register].
	RejoinError = join.RejoinError
	// Terms are the number and the validity of a [State].
	Terms = state.Terms
)

// A Draft is a group to which not all roles have agreed yet.
type Draft interface {
	Scheme() Scheme
	Label() string
	Features() Features
	// ID is the ID that the group has with the roles that are enrolled.
	ID() ([32]byte, error)
	// GroupKey makes the key of a draft to which all roles have agreed.
	GroupKey() (GroupKey, error)
	MarshalBinary() ([]byte, error)

	sealed()
}

// A Role is a party with a secret key of its own.
type Role interface {
	// Enroll puts the public key into a draft.
	Enroll(d Draft) error
	// Consent agrees to a draft in which all roles are enrolled.
	Consent(d Draft) error
	// MarshalBinary returns the canonical encoding, which is secret.
	MarshalBinary() ([]byte, error)
	// Wipe overwrites the key.
	Wipe()
	// String shows nothing of the key.
	String() string

	sealed()
}

// An IssuerKey admits members. It is used by one goroutine at a time. A key is for one
// group: credentials may be good in other groups of the key, where nobody is registered.
type IssuerKey interface {
	Role
	// Invite opens a session for a member, whose long-term key the issuer knows.
	Invite(gk GroupKey, s *Sessions, member string, key ed25519.PublicKey, now, lifetime int64) (*Challenge, error)
	// Issue answers an application with a credential, for an epoch where there are
	// epochs. The record is in the register before, and durable if the register's
	// function says so. The same application again gets the same answer.
	Issue(gk GroupKey, s *Sessions, register *Register, application []byte, now int64, epoch uint64) ([]byte, error)
}

// A StaticIssuer is the [IssuerKey] of a static group, which makes members' whole keys.
type StaticIssuer interface {
	// MakeMember makes a member's key in one step, without the protocol for joining, and
	// registers it. The long-term key signs the registration: it is the issuer's own, which
	// vouches for the name, and is the one that the opener and judges then have to know.
	MakeMember(gk GroupKey, register *Register, member string, key ed25519.PrivateKey) (MemberKey, error)
	// MadeMember returns the key of a member of the issuer's register again.
	MadeMember(gk GroupKey, register *Register, member string) (MemberKey, error)
	// OpenerRecord returns what the opener is given of a record: not the member's secret,
	// which the issuer's register has.
	OpenerRecord(gk GroupKey, r *Record) (*Record, error)
}

// A Reissuer is an [IssuerKey] of a scheme with epochs.
type Reissuer interface {
	// Reissue makes a member's credential for another epoch, without the member. It
	// may be published, once the register, which notes the epoch, is stored. Who is
	// revoked in the register gets none.
	Reissue(gk GroupKey, register *Register, member string, epoch uint64) ([]byte, error)
}

// An Announcer is an [IssuerKey] of a scheme with epochs.
type Announcer interface {
	// Announce signs which epochs verifiers accept, from the oldest to the one that
	// members get credentials for.
	Announce(gk GroupKey, terms Terms, oldest, epoch uint64) (Announcement, error)
}

// An Opener finds out who signed.
type Opener interface {
	Role
	// Record checks a member's record from the issuer's register, without relying on
	// the issuer, and puts it into the opener's. The key is the member's long-term
	// one, as the opener knows it.
	Record(gk GroupKey, register *Register, r *Record, key ed25519.PublicKey) error
	// Open verifies a signature and says who made it. The proof is bound to a context,
	// such as why the signature is opened, which may be nil; a judge gives the same. For
	// what fits no record the error is [ErrUnknown], unless the scheme can prove it:
	// then the opening names nobody. Revocation plays no part here.
	Open(gk GroupKey, register *Register, msg, sig []byte, opts VerifyOptions, context []byte) (Opening, error)
}

// A LinkingAuthority, the linker, sees which signatures are of one member, and not of
// which. It can't open.
type LinkingAuthority interface {
	Role
	// Tag verifies a signature, and returns what all signatures of one member have in
	// common, and no others. Tags are the linker's secret.
	Tag(gk GroupKey, s Signed) ([]byte, error)
	// ProveLink proves to anyone that one member made all signatures of a set.
	ProveLink(gk GroupKey, set []Signed, context []byte) ([]byte, error)
}

// A LinkingVerifier is a [GroupKey] of a group with a linker.
type LinkingVerifier interface {
	// VerifyLink checks the proof, and the signatures.
	VerifyLink(set []Signed, context, link []byte) error
}

// A Revoker is an [Opener] of a group with tokens, or the [IssuerKey] of one that rekeys:
// there the list is how the key moves, signatures are valid under the newest list alone,
// and old ones stay anonymous.
type Revoker interface {
	// RevocationList signs the list of those who are revoked in the revoker's register
	// (see its method Revoke). With tokens it shows everybody what they signed, in the past too.
	// Base is the list before, nil at first: its number must be lower, and pseudonyms
	// on it are kept.
	RevocationList(gk GroupKey, register *Register, terms Terms, base Revocation) (Revocation, error)
}

// A PseudonymRevoker is the [Opener] of a group with scopes, or where there is no
// opener the [IssuerKey].
type PseudonymRevoker interface {
	// RevokePseudonyms signs the list of those who signed under some pseudonyms, each
	// in its scope, and those of the list before, which may be nil and otherwise has a
	// lower number.
	RevokePseudonyms(gk GroupKey, terms Terms, base Revocation, nyms ...[]byte) (Revocation, error)
}

// A Converter makes the signatures of a query linkable. It can't open.
type Converter interface {
	Role
	// Convert answers a query that was blinded under a public key: what one member
	// signed gets one pseudonym, another one in every query. The order is random.
	// Who may ask, and how much, is for the owner of the key to limit.
	Convert(gk GroupKey, public []byte, query [][]byte) ([][]byte, error)
}

// A GroupKey is what verifies signatures of a group. It is immutable, and may be used
// by several goroutines.
type GroupKey interface {
	Scheme() Scheme
	Label() string
	Features() Features
	// ID is the group's fingerprint. It is published where members and verifiers
	// compare it: a group key that was made for one member marks that one's
	// signatures.
	ID() [32]byte
	MarshalBinary() ([]byte, error)

	// NewSessions and NewRegister return empty ones, to use or to decode into.
	NewSessions() *Sessions
	NewRegister() *Register

	// NewJoin answers an invitation. The fingerprint is the group's ID as it is
	// published. It returns what the member keeps, and the application for the issuer.
	// The key is the member's long-term one, which signs the registration.
	NewJoin(fingerprint [32]byte, c *Challenge, member string, key ed25519.PrivateKey) (Pending, []byte, error)
	ParsePending(data []byte) (Pending, error)
	// ParseMemberKey decodes a key and checks its credential.
	ParseMemberKey(data []byte) (MemberKey, error)

	// SignatureSize is the length of a signature in the compact layout.
	SignatureSize() int
	// Verify returns nil if a member signed, and isn't revoked. See [ErrSignature],
	// [ErrRevoked] and [StaleError]. It takes both layouts.
	Verify(msg, sig []byte, opts VerifyOptions) error
	// SignatureID names a signature, whatever its layout. It doesn't verify it.
	SignatureID(msg, sig []byte, opts VerifyOptions) ([32]byte, error)

	sealed()
}

// A Pending member has applied, and waits for the credential. It is secret.
type Pending interface {
	GroupKey() GroupKey
	// Finish checks the credential and returns the member's key. The epoch is the
	// announced one, 0 in groups without.
	Finish(credential []byte, epoch uint64) (MemberKey, error)
	MarshalBinary() ([]byte, error)
	Wipe()
	String() string

	sealed()
}

// A MemberKey signs for one member. It may be used by several goroutines, but not
// while Wipe or Update runs.
type MemberKey interface {
	GroupKey() GroupKey
	// Features are those of the group.
	Features() Features
	// Sign signs a message. In groups with sequences it moves to the next place:
	// store the key and the signature durably, then release the signature.
	Sign(msg []byte, opts SignOptions) ([]byte, error)
	MarshalBinary() ([]byte, error)
	Wipe()
	String() string

	sealed()
}

// SignOptions are what a signature is bound to beside the message, and its layout.
type SignOptions struct {
	Scope   []byte // in which the pseudonym holds, in groups with scopes
	Context []byte // what the signature is for, in schemes without scopes and converters
	Batch   bool   // the layout for batches, where the scheme has one
}

// VerifyOptions are what a verifier demands.
type VerifyOptions struct {
	Scope, Context []byte // as the signer gave them

	// MinEpoch and MaxEpoch are the epochs that are accepted, in groups that have
	// them. The zero values accept epoch 0 alone. Announcement, if it isn't nil, says
	// it instead.
	MinEpoch, MaxEpoch uint64
	Announcement       Announcement

	// Revocation, if it isn't nil, says who is revoked. In groups that rekey verifiers need
	// it, the newest, and before anybody is revoked one that revokes nobody. Openings and
	// linkers' links take it there for what was signed under it or any before it, and if it
	// is nil under the first key: under the keys before the newest anybody can sign.
	Revocation Revocation

	// Now is the time, in seconds since 1970, and MinNumber and MinAnnouncement are
	// the highest numbers of a list and of an announcement that the verifier has seen.
	// One that isn't in force, or is older, is refused.
	Now                        int64
	MinNumber, MinAnnouncement uint64
}

// A Signed is a signature with what it is verified by.
type Signed struct {
	Message   []byte
	Signature []byte
	Options   VerifyOptions
}

// A State is what a role of the group signs for verifiers, with a number that is higher
// than those before. It is immutable, and may be used by several goroutines.
type State interface {
	Number() uint64
	Issued() int64
	Expires() int64
	MarshalBinary() ([]byte, error)
}

// Replaces returns a [*StaleError] unless a state may take the place of one that a
// verifier has, which may be nil: it is the same, or of the same group and kind with a
// higher number. Two different ones with one number are the fault of who signed them. In
// groups that rekey a list has all steps of the one before besides.
func Replaces(next, old State) error {
	if n, ok := next.(*sdh.Update); ok && n != nil {
		if o, ok := old.(*sdh.Update); ok && o != nil {
			return n.Replaces(o)
		}
	}
	n, o := core(next), core(old)
	if n == nil {
		return &StaleError{What: "state", Reason: "there is none"}
	}
	return n.Replaces(o)
}

// core returns what is behind a state, or nil.
func core(s State) *state.State {
	switch s := s.(type) {
	case *bbs.Revocation:
		if s != nil {
			return &s.State
		}
	case *bbs.Announcement:
		if s != nil {
			return &s.State
		}
	case *tokens.List:
		if s != nil {
			return &s.State
		}
	case *sdh.Update:
		if s != nil {
			return &s.State
		}
	case *sdh.List:
		if s != nil {
			return &s.State
		}
	}
	return nil
}

// A Revocation is a [State] that says who is revoked, signed by the opener, and in
// groups without one by the issuer.
type Revocation interface {
	State
	Len() int
}

// An Announcement is a [State] that says which epochs are accepted, signed by the
// issuer.
type Announcement interface {
	State
	Oldest() uint64
	// Epoch is the newest, which credentials are made for.
	Epoch() uint64
}

// An Opening says who made a signature, and proves it.
type Opening interface {
	// Member is the signer's identity. If it is "", the opening proves that the
	// issuer made a member that isn't registered.
	Member() string
	MarshalBinary() ([]byte, error)
}

// A BatchVerifier is a [GroupKey] that verifies many signatures at once.
type BatchVerifier interface {
	// Batch returns an empty batch. The options hold for all signatures.
	Batch(opts VerifyOptions) Batch
	// ForBatch returns the layout for batches of a signature in either. It doesn't
	// verify the signature.
	ForBatch(msg, sig []byte, opts VerifyOptions) ([]byte, error)
	// Compact returns the compact layout.
	Compact(msg, sig []byte, opts VerifyOptions) ([]byte, error)
}

// A Batch verifies many signatures, and decides as Verify does.
type Batch interface {
	// Add adds a signature. What it is given mustn't change until Verify returns.
	Add(msg, sig []byte)
	Len() int
	// Verify returns nil if all are valid, and else a *[BatchError].
	Verify() error
}

// An OpeningVerifier is a [GroupKey] of a group with an opener.
type OpeningVerifier interface {
	ParseOpening(data []byte) (Opening, error)
	// VerifyOpening is what a judge does, who knows the long-term key of the member
	// that the opening names. It checks the signature as well, but not revocation.
	VerifyOpening(msg, sig []byte, opts VerifyOptions, o Opening, key ed25519.PublicKey, context []byte) error
}

// A RevocationReader is a [GroupKey] of a group with tokens or scopes, or that rekeys.
type RevocationReader interface {
	// ParseRevocation decodes a list and checks its signature. Whether it is in force
	// is checked by each verification; see also [Replaces].
	ParseRevocation(data []byte) (Revocation, error)
	// MarkListed marks in the issuer's register those revoked members whose tokens a
	// list in force has, and returns their number. Their identities may join anew.
	MarkListed(register *Register, r Revocation, now int64) (int, error)
}

// An AnnouncementReader is a [GroupKey] of a group with epochs.
type AnnouncementReader interface {
	// ParseAnnouncement decodes an announcement and checks the issuer's signature.
	ParseAnnouncement(data []byte) (Announcement, error)
}

// An Updater is a [MemberKey] of a group with epochs.
type Updater interface {
	Epoch() uint64
	// Update takes a credential for another epoch, the announced one.
	Update(credential []byte, epoch uint64) error
}

// A Rekeyer is a [MemberKey] of a group that rekeys.
type Rekeyer interface {
	// Version is how many have been revoked for the key.
	Version() uint64
	// Rekey takes the key along to a list, which is the one that is published for all.
	// If the member is on it the error is [ErrRevoked].
	Rekey(r Revocation) error
}

// A Revealer is the [Opener] of a group with traces.
type Revealer interface {
	// Reveal returns what traces one member of the opener's register: whoever has it sees
	// what the member signed and will sign. The context is what for.
	Reveal(gk GroupKey, register *Register, member string, context []byte) (Revelation, error)
}

// A Revelation traces one member, and is signed by the opener.
type Revelation interface {
	Member() string
	MarshalBinary() ([]byte, error)
}

// A Tracer is a [GroupKey] of a group with traces.
type Tracer interface {
	// ParseRevelation decodes what was revealed. It checks the form only.
	ParseRevelation(data []byte) (Revelation, error)
	// CheckRevelation checks that it traces the member that it names, whose long-term
	// key the caller knows, and that the opener revealed it for the context.
	CheckRevelation(r Revelation, key ed25519.PublicKey, context []byte) error
	// Trace verifies a signature, and reports whether the member of a revelation that
	// was checked made it.
	Trace(r Revelation, s Signed) (bool, error)
}

// A Linker is a [MemberKey] of a group with scopes or traces.
type Linker interface {
	// Identify reports whether a valid signature is the member's own.
	Identify(s Signed) (bool, error)
	// Link proves to anyone that the member made all signatures of a set.
	Link(set []Signed, context []byte) ([]byte, error)
}

// A Claimer is a [MemberKey] of a group with scopes or traces.
type Claimer interface {
	// Claim proves to anyone that the member made a signature.
	Claim(s Signed, context []byte) ([]byte, error)
}

// A LinkVerifier is a [GroupKey] of a group with scopes.
type LinkVerifier interface {
	// Pseudonym returns the signer's pseudonym. It doesn't verify the signature.
	Pseudonym(sig []byte) ([]byte, error)
	ClaimVerifier
}

// A ClaimVerifier is a [GroupKey] of a group with scopes or traces.
type ClaimVerifier interface {
	// VerifyLink and VerifyClaim check the proof, and the signatures.
	VerifyLink(set []Signed, context, link []byte) error
	VerifyClaim(s Signed, context, claim []byte) error
}

// A SequenceLinker is a [MemberKey] of a group with sequences.
type SequenceLinker interface {
	// SequenceIndex is that of the member's next signature, from 1.
	SequenceIndex() uint64
	// SequenceLink proves that the member made a set in this order with none in
	// between, and if first is set that it starts with its first of all.
	SequenceLink(set []Signed, context []byte, first bool) ([]byte, error)
}

// A SequenceVerifier is a [GroupKey] of a group with sequences.
type SequenceVerifier interface {
	// VerifySequenceLink checks the proof, and the signatures.
	VerifySequenceLink(set []Signed, context, link []byte, first bool) error
}

// A Blinder is a [GroupKey] of a group with a converter.
type Blinder interface {
	// NewBlindingKey returns a key for one query.
	NewBlindingKey() (BlindingKey, error)
	ParseBlindingKey(data []byte) (BlindingKey, error)
	// MessagePoint is what Unblind returns for a message.
	MessagePoint(msg []byte) []byte
}

// A BlindingKey is whose pseudonyms are converted for. It is secret.
type BlindingKey interface {
	// Public is for the converter.
	Public() []byte
	// Blind verifies a signature, and blinds its pseudonym and its message.
	Blind(msg, sig []byte, opts VerifyOptions) ([]byte, error)
	// Unblind returns a converted pseudonym, and its message's point. Within a query
	// equal pseudonyms are of one member.
	Unblind(converted []byte) (nym, message []byte, err error)
	MarshalBinary() ([]byte, error)
	Wipe()
	String() string

	sealed()
}
