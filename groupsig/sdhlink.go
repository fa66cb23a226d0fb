// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package groupsig

import (
	"github.com/undersign/undersign/groupsig/internal/sdh"
	"github.com/undersign/undersign/internal/transcript"
)

func (s *linkingScheme) GenerateLinkerKey() LinkingAuthority {
	return &sdhLinker{sdhRole{s: s.sdhScheme, k: sdh.GenerateLinkerKey(s.table)}}
}

func (s *linkingScheme) ParseLinkerKey(data []byte) (LinkingAuthority, error) {
	k, err := sdh.ParseLinkerKey(s.table, data)
	if err != nil {
		return nil, err
	}
	return &sdhLinker{sdhRole{s: s.sdhScheme, k: k}}, nil
}

// An sdhLinker is the linker's key.
type sdhLinker struct{ sdhRole }

func (l *sdhLinker) Tag(x GroupKey, s Signed) ([]byte, error) {
	g, err := l.group(x)
	if err != nil {
		return nil, err
	}
	set, err := g.signed([]Signed{s})
	if err != nil {
		return nil, err
	}
	tag, err := l.k.Tag(g.k, set[0])
	return tag, err
}

func (l *sdhLinker) ProveLink(x GroupKey, set []Signed, context []byte) ([]byte, error) {
	g, err := l.group(x)
	if err != nil {
		return nil, err
	}
	signed, err := g.signed(set)
	if err != nil {
		return nil, err
	}
	return l.k.ProveLink(g.k, signed, context)
}

func (g *sdhGroup) VerifyLink(set []Signed, context, link []byte) error {
	if g.k.Traces() {
		return g.verifyEquality(set, context, link)
	}
	signed, err := g.signed(set)
	if err != nil {
		return err
	}
	return g.k.VerifyLink(signed, context, link)
}

// signed returns a set as the core has it.
func (g *sdhGroup) signed(set []Signed) ([]sdh.Signed, error) {
	out := make([]sdh.Signed, len(set))
	for i, s := range set {
		context, k, err := g.old(s.Options, s.Message, s.Signature)
		if err != nil {
			return nil, err
		}
		out[i] = sdh.Signed{Message: transcript.MessageOf(s.Message), Context: context, Signature: s.Signature, Key: k}
	}
	return out, nil
}
