// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package threshold

import (
	"errors"
	"fmt"
	"strings"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/proto"

	thresholdv1 "github.com/undersign/undersign/gen/undersign/threshold/v1"
	"github.com/undersign/undersign/internal/rpc"
	"github.com/undersign/undersign/thresholdrsa"
)

// ErrQuorum is what a [QuorumError] unwraps to.
var ErrQuorum = errors.New("threshold: quorum not reached")

// A QuorumError says that too few good shares came together, and why the others didn't.
type QuorumError struct {
	Have, Need int
	Faults     []Fault
}

func (e *QuorumError) Error() string {
	s := fmt.Sprintf("threshold: %d good signature shares of the %d that it takes", e.Have, e.Need)
	for i, f := range e.Faults {
		if i == 0 {
			s += ": "
		} else {
			s += "; "
		}
		s += f.String()
	}
	return s
}

// Unwrap returns [ErrQuorum].
func (e *QuorumError) Unwrap() error { return ErrQuorum }

// A FaultKind says why a node gave no good share.
type FaultKind uint8

// Kinds of faults.
const (
	Bad     FaultKind = 1 // it sent a share that is wrong
	Silent  FaultKind = 2 // it couldn't be reached, or didn't answer in time
	Denied  FaultKind = 3 // its policy or a person there refuses
	Pending FaultKind = 4 // a person there has to approve first
	Limited FaultKind = 5 // it has been asked too often
	Absent  FaultKind = 6 // it holds no share of the key in this epoch
	Failed  FaultKind = 7 // it failed
)

func (k FaultKind) String() string {
	switch k {
	case Bad:
		return "bad share"
	case Silent:
		return "no answer"
	case Denied:
		return "denied"
	case Pending:
		return "waits for approval"
	case Limited:
		return "asked too often"
	case Absent:
		return "holds no share"
	}
	return "failed"
}

// A Fault says which node gave no good share, and why.
type Fault struct {
	Party  string // fingerprint
	Name   string // what the coordinator calls it
	Index  int    // of the share that it sent, or 0
	Holder string // whose share that is
	Kind   FaultKind
	Reason string
}

func (f Fault) String() string {
	s := f.Name
	if s == "" {
		s = f.Party
	}
	if f.Index != 0 {
		s += fmt.Sprintf(" (holder %d, %s)", f.Index, f.Holder)
	}
	s += ": " + f.Kind.String()
	if f.Reason != "" {
		s += ": " + f.Reason
	}
	return s
}

// EncodeFaults returns faults as messages have them.
func EncodeFaults(fs []Fault) (list []*thresholdv1.Fault) {
	for _, f := range fs {
		list = append(list, &thresholdv1.Fault{
			Party: f.Party, Name: f.Name, Index: uint32(f.Index), Holder: f.Holder,
			Kind: thresholdv1.FaultKind(f.Kind), Reason: strings.ToValidUTF8(f.Reason, "?"),
		})
	}
	return list
}

// DecodeFaults reads faults, whatever the other says.
func DecodeFaults(list []*thresholdv1.Fault) (fs []Fault) {
	for i, f := range list {
		if i == maxNodes { // more take part in nothing
			break
		}
		kind := Failed
		if f.Kind >= 1 && f.Kind <= thresholdv1.FaultKind(Failed) {
			kind = FaultKind(f.Kind)
		}
		index := 0
		if f.Index <= thresholdrsa.MaxHolders {
			index = int(f.Index)
		}
		fs = append(fs, Fault{rpc.Printable(f.Party), rpc.Printable(f.Name), index, rpc.Printable(f.Holder), kind, rpc.Printable(f.Reason)})
	}
	return fs
}

// ErrSuperseded says that a key has new shares since a request was made.
var ErrSuperseded = errors.New("threshold: the key has new shares since the request was made")

// A RejectedError says that a person refused a request.
type RejectedError struct{ Reason string }

func (e *RejectedError) Error() string {
	if e.Reason == "" {
		return "threshold: rejected by a person"
	}
	return "threshold: rejected by a person: " + e.Reason
}

// coded returns an error for the caller, with a detail if it isn't nil.
func coded(code connect.Code, err error, detail proto.Message) error {
	e := connect.NewError(code, err)
	if detail != nil {
		if d, derr := connect.NewErrorDetail(detail); derr == nil {
			e.AddDetail(d)
		}
	}
	return e
}

// encodeError gives the errors that callers can act on their codes and details.
func encodeError(err error) error {
	var quorum *QuorumError
	var rejected *RejectedError
	switch {
	case errors.As(err, &quorum):
		return coded(connect.CodeUnavailable, err, &thresholdv1.Quorum{
			Have: uint32(quorum.Have), Need: uint32(quorum.Need), Faults: EncodeFaults(quorum.Faults),
		})
	case errors.As(err, &rejected):
		return coded(connect.CodePermissionDenied, err, &thresholdv1.Rejected{Reason: rejected.Reason})
	case errors.Is(err, ErrSuperseded):
		return coded(connect.CodeFailedPrecondition, err, &thresholdv1.Superseded{})
	}
	return err
}

// DecodeError returns the error of a call as its own type, where it has one.
func DecodeError(err error) error {
	var e *connect.Error
	if !errors.As(err, &e) {
		return err
	}
	for _, d := range e.Details() {
		v, derr := d.Value()
		if derr != nil {
			continue
		}
		switch v := v.(type) {
		case *thresholdv1.Quorum:
			return &QuorumError{int(v.Have), int(v.Need), DecodeFaults(v.Faults)}
		case *thresholdv1.Rejected:
			return &RejectedError{rpc.Printable(v.Reason)}
		case *thresholdv1.Superseded:
			return ErrSuperseded
		}
	}
	return err
}

func invalidf(format string, args ...any) error {
	return connect.NewError(connect.CodeInvalidArgument, fmt.Errorf(format, args...))
}
