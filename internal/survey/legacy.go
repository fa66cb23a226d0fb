// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package survey

import (
	"context"
	"crypto/ed25519"
	"crypto/sha256"

	"github.com/undersign/undersign/groupsig/legacy"
)

// A legacyGroup is an instance of a scheme of package legacy.
type legacyGroup struct {
	scheme legacy.Scheme
	g      legacy.Group
	member legacy.Member
}

func newLegacy(ctx context.Context, s legacy.Scheme) (*legacyGroup, error) {
	g, err := s.Setup(ctx, "survey")
	return &legacyGroup{scheme: s, g: g}, err
}

func (l *legacyGroup) join(name string) (err error) {
	seed := sha256.Sum256([]byte(name))
	l.member, err = l.g.Join(name, ed25519.NewKeyFromSeed(seed[:]))
	return err
}

func (l *legacyGroup) sign(msg []byte) ([]byte, error) { return l.member.Sign(msg, nil) }

func (l *legacyGroup) verify(msg, sig []byte) error { return l.g.Verify(msg, nil, sig) }

// decode verifies: there is no other way to have a signature decoded.
func (l *legacyGroup) decode(msg, sig []byte) error { return l.verify(msg, sig) }

func (l *legacyGroup) groupKey() ([]byte, error) { return l.g.PublicKey(), nil }

func (l *legacyGroup) parseGroupKey(data []byte) error {
	_, err := l.scheme.ParsePublicKey(data)
	return err
}

func (l *legacyGroup) secrets() (issuer, opener, member int, err error) {
	b, err := l.member.MarshalBinary()
	member = len(b)
	clear(b)
	return 0, 0, member, err
}
