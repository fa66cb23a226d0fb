// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package arweave

import (
	"crypto/sha512"
	"errors"
	"fmt"
	"strconv"
)

// Message returns the bytes that the signature is over, before PSS hashes them.
func (t *Transaction) Message() ([]byte, error) {
	if len(t.Owner) != keySize {
		return nil, errors.New("arweave: no owner")
	}
	for _, s := range []string{t.Quantity, t.Reward, t.DataSize} {
		if err := checkDecimal(s); err != nil {
			return nil, fmt.Errorf("arweave: %w", err)
		}
	}
	switch t.Format {
	case 1:
		msg := concat(t.Owner, t.Target, t.Data, []byte(t.Quantity), []byte(t.Reward), t.LastTx)
		for _, tag := range t.Tags {
			msg = append(append(msg, tag.Name...), tag.Value...)
		}
		return msg, nil
	case 2:
		tags := list{}
		for _, tag := range t.Tags {
			tags = append(tags, list{tag.Name, tag.Value})
		}
		h := deepHash(list{
			[]byte(strconv.Itoa(t.Format)), t.Owner, t.Target, []byte(t.Quantity),
			[]byte(t.Reward), t.LastTx, tags, []byte(t.DataSize), t.DataRoot,
		})
		return h[:], nil
	}
	return nil, errors.New("arweave: format is not 1 or 2")
}

func concat(parts ...[]byte) (out []byte) {
	for _, p := range parts {
		out = append(out, p...)
	}
	return out
}

// list holds []byte and list.
type list []any

// deepHash hashes a tree of byte strings. With H for SHA-384 and || for
// concatenation,
//
//	D(bytes) = H(H("blob" || length) || H(bytes))
//	D(list)  = the last of A_0 = H("list" || length), A_i = H(A_(i-1) || D(item i))
//
// Lengths are decimal.
func deepHash(v any) [sha512.Size384]byte {
	switch v := v.(type) {
	case []byte:
		tag := sha512.Sum384(append([]byte("blob"), strconv.Itoa(len(v))...))
		data := sha512.Sum384(v)
		return sha512.Sum384(append(tag[:], data[:]...))
	case list:
		acc := sha512.Sum384(append([]byte("list"), strconv.Itoa(len(v))...))
		for _, item := range v {
			h := deepHash(item)
			acc = sha512.Sum384(append(acc[:], h[:]...))
		}
		return acc
	}
	panic(fmt.Sprintf("arweave: deep hash of a %T", v))
}
