// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package threshold

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"encoding/hex"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"time"
)

// attestTime bounds the command that attests.
const attestTime = time.Minute

// sign adds the attestation, if there is a command for it, and the dealer's signature.
func (s *Service) sign(t *Transcript) error {
	if cmd := s.opt.Config.Dealer.Attest; len(cmd) > 0 {
		doc, err := attest(s.ctx, cmd, t.Hash())
		if err != nil {
			return err
		}
		t.Attestation = doc
	}
	t.Signature = ed25519.Sign(s.opt.Identity.SigningKey(), t.signed())
	return nil
}

// attest runs the command and returns what it writes.
func attest(ctx context.Context, command []string, hash [32]byte) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, attestTime)
	defer cancel()
	text := hex.EncodeToString(hash[:])
	c := exec.CommandContext(ctx, command[0], append(command[1:len(command):len(command)], text)...)
	c.Stdin = strings.NewReader(text + "\n")
	c.WaitDelay = time.Second
	out, errs := &bounded{max: maxAttestation}, &bounded{max: 300}
	c.Stdout, c.Stderr = out, errs
	if err := c.Run(); err != nil {
		return nil, fmt.Errorf("threshold: the command that attests failed: %w: %q", err, errs.buf.String())
	}
	if out.over || out.buf.Len() == 0 {
		return nil, errors.New("threshold: the command that attests wrote nothing, or too much")
	}
	return out.buf.Bytes(), nil
}

// bounded is a buffer that takes no more than max bytes.
type bounded struct {
	buf  bytes.Buffer
	max  int
	over bool
}

func (b *bounded) Write(p []byte) (int, error) {
	if room := b.max - b.buf.Len(); len(p) > room {
		b.over = true
		b.buf.Write(p[:room])
	} else {
		b.buf.Write(p)
	}
	return len(p), nil
}
