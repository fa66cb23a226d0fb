// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package distill

import (
	"crypto/sha256"
	"encoding/binary"
)

// A ResultCode says what became of a leaf.
type ResultCode uint8

const (
	ResultOK        ResultCode = iota + 1 // executed
	ResultAppReject                       // executed, and refused by the application
	ResultDup                             // executed before, with the same payload
	ResultTaken                           // its nonce was executed with another payload
	ResultSkipped                         // its nonce is too far behind
	ResultKey                             // its id's keys have changed since
	ResultAbsent                          // its client didn't sign
)

// Executed reports whether c is the code of an execution, which uses up the nonce.
func (c ResultCode) Executed() bool { return c == ResultOK || c == ResultAppReject }

// Final reports whether c settles the message. If not, the same message with the same
// nonce may be sent again.
func (c ResultCode) Final() bool { return c >= ResultOK && c <= ResultSkipped }

// String returns the name of c.
func (c ResultCode) String() string {
	if s := resultNames[c]; s != "" {
		return s
	}
	return "invalid"
}

var resultNames = [256]string{
	ResultOK: "OK", ResultAppReject: "APP_REJECT", ResultDup: "DUP", ResultTaken: "TAKEN",
	ResultSkipped: "SKIPPED", ResultKey: "KEY", ResultAbsent: "ABSENT",
}

// A Result is a leaf of the tree of results, which has the order of the batch's.
type Result struct {
	Code        ResultCode
	FirstCode   ResultCode // of the execution, if Code is [ResultDup], or else 0
	AppCode     uint16     // the application's, of the execution, or 0
	ID, Nonce   uint64
	ExecHeight  uint64 // of the execution, or 0
	PayloadHash [32]byte
}

// Block returns what is hashed.
func (r Result) Block() (b [LeafSize]byte) {
	b[0], b[1], b[2], b[3] = kindResult, leafVersion, byte(r.Code), byte(r.FirstCode)
	binary.BigEndian.PutUint16(b[4:], r.AppCode)
	binary.BigEndian.PutUint64(b[8:], r.ID)
	binary.BigEndian.PutUint64(b[16:], r.Nonce)
	binary.BigEndian.PutUint64(b[24:], r.ExecHeight)
	copy(b[32:], r.PayloadHash[:])
	return b
}

// Hash returns the hash that stands in the tree.
func (r Result) Hash() [32]byte {
	b := r.Block()
	return sha256.Sum256(b[:])
}

// ParseResult reads what [Result.Block] returns.
func ParseResult(b []byte) (Result, error) {
	if len(b) != LeafSize {
		return Result{}, reject(RuleStatement)
	}
	r := Result{
		Code: ResultCode(b[2]), FirstCode: ResultCode(b[3]), AppCode: binary.BigEndian.Uint16(b[4:]),
		ID: binary.BigEndian.Uint64(b[8:]), Nonce: binary.BigEndian.Uint64(b[16:]),
		ExecHeight: binary.BigEndian.Uint64(b[24:]), PayloadHash: [32]byte(b[32:]),
	}
	executed := r.Code.Executed() || r.Code == ResultDup
	if r.Block() != [LeafSize]byte(b) || resultNames[r.Code] == "" ||
		(r.Code == ResultDup) != r.FirstCode.Executed() || r.Code != ResultDup && r.FirstCode != 0 ||
		!executed && (r.AppCode != 0 || r.ExecHeight != 0) {
		return Result{}, reject(RuleStatement)
	}
	return r, nil
}

// ResultRoot returns the root of the tree of results, of which there must be one.
func ResultRoot(results []Result) [32]byte {
	leaves := make([][32]byte, len(results))
	for i := range results {
		leaves[i] = results[i].Hash()
	}
	return rootOf(leaves)
}
