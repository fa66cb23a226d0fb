// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package libgroupsig

import (
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/undersign/undersign/internal/bls12381"
)

// Kinds of keys, the second byte.
const kindGroup = 0

// headerLast is the highest first byte of an export: a scheme's code. Base64 has only
// higher ones.
const headerLast = byte(DL21SEQ)

// maxText is the length of the longest text that is decoded.
const maxText = 1 << 16

// decodeText returns the bytes of a key or a signature: those of an export as they are,
// or what it holds in base64, as the library prints signatures and its wrappers keys.
func decodeText(data []byte) ([]byte, error) {
	if len(data) == 0 || data[0] <= headerLast {
		return data, nil
	}
	if len(data) > maxText {
		return nil, errors.New("the text is too long")
	}
	return decodeBase64(data)
}

// decodeListText is decodeText for lists, which begin with a number of eight bytes: the
// last is 0.
func decodeListText(data []byte) ([]byte, error) {
	if len(data) < 8 || data[7] == 0 {
		return data, nil
	}
	return decodeBase64(data)
}

func decodeBase64(data []byte) ([]byte, error) {
	b := make([]byte, base64.StdEncoding.DecodedLen(len(data)))
	n, err := base64.StdEncoding.Strict().Decode(b, data) // which passes over ends of lines
	if err != nil {
		return nil, errors.New("it is neither an export nor one in base64")
	}
	return b[:n], nil
}

// A reader takes an export apart. After an error it returns nil, and keeps the first.
type reader struct {
	b   []byte
	err error
}

func (r *reader) fail(field string, err error) {
	if r.err == nil {
		r.err = fmt.Errorf("%s: %w", field, err)
	}
}

var errTruncated = errors.New("the data ends before it")

// next returns n bytes, or nil.
func (r *reader) next(field string, n int) []byte {
	switch {
	case r.err != nil:
		return nil
	case len(r.b) < n:
		r.fail(field, errTruncated)
		return nil
	}
	b := r.b[:n:n]
	r.b = r.b[n:]
	return b
}

// element returns an element's encoding, which its length comes before: four bytes, in
// the order of the machines that the library runs on.
func (r *reader) element(field string, size int) []byte {
	n := r.next(field, 4)
	if n != nil && binary.LittleEndian.Uint32(n) != uint32(size) {
		r.fail(field, fmt.Errorf("its length isn't %d", size))
	}
	return r.next(field, size)
}

func decodeElement[T any](r *reader, field string, size int, decode func([]byte) (*T, error)) *T {
	b := r.element(field, size)
	if b == nil {
		return nil
	}
	v, err := decode(b)
	if err != nil {
		r.fail(field, err)
		return nil
	}
	return v
}

func (r *reader) g1(field string) *bls12381.G1 {
	return decodeElement(r, field, bls12381.G1Size, decodeG1)
}

func (r *reader) g2(field string) *bls12381.G2 {
	return decodeElement(r, field, bls12381.G2Size, decodeG2)
}

func (r *reader) gt(field string) *bls12381.GT {
	return decodeElement(r, field, bls12381.GTSize, decodeGT)
}

func (r *reader) scalar(field string) *bls12381.Scalar {
	return decodeElement(r, field, bls12381.ScalarSize, decodeScalar)
}

// scalars returns n responses.
func (r *reader) scalars(n int) []*bls12381.Scalar {
	s := make([]*bls12381.Scalar, n)
	for i := range s {
		s[i] = r.scalar(fmt.Sprintf("s_%d", i))
	}
	return s
}

// bytes returns n bytes that their length comes before, in eight bytes, or if empty is
// allowed none.
func (r *reader) bytes(field string, n int, empty bool) []byte {
	l := r.u64(field)
	if r.err == nil && l == 0 && empty {
		return nil
	}
	if r.err == nil && l != uint64(n) {
		r.fail(field, fmt.Errorf("its length isn't %d", n))
	}
	return r.next(field, n)
}

func (r *reader) u64(field string) uint64 {
	b := r.next(field, 8)
	if b == nil {
		return 0
	}
	return binary.LittleEndian.Uint64(b)
}

// end returns the error of what was read, or that something follows.
func (r *reader) end() error {
	if r.err == nil && len(r.b) > 0 {
		r.fail("end", fmt.Errorf("%d bytes follow", len(r.b)))
	}
	return r.err
}
