// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package aggregate

import (
	"bytes"
	"errors"
	"fmt"

	"filippo.io/age"

	"github.com/undersign/undersign/bls"
	"github.com/undersign/undersign/keyfile"
)

// OpenKey opens an age file with a BLS key of the scheme with proofs of possession.
func OpenKey(data []byte, identities ...age.Identity) (*bls.SecretKey, error) {
	k, err := keyfile.OpenAs[*keyfile.BLSSecretKey](bytes.NewReader(data), identities...)
	if err != nil {
		return nil, fmt.Errorf("aggregate: %w", err)
	}
	if k.Scheme != bls.ProofOfPossession {
		k.Wipe()
		return nil, errors.New("aggregate: the key is of another scheme than pop")
	}
	return k.Key, nil
}
