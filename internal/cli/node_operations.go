// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"slices"
	"strings"

	"google.golang.org/protobuf/reflect/protoreflect"

	aggregatev1 "github.com/undersign/undersign/gen/undersign/aggregate/v1"
	nodev1 "github.com/undersign/undersign/gen/undersign/node/v1"
	thresholdv1 "github.com/undersign/undersign/gen/undersign/threshold/v1"
	"github.com/undersign/undersign/internal/rpc"
)

// nodeOperations returns what rules can be about: the methods of all services, in the words
// of rules.
func nodeOperations() (list []string) {
	for _, file := range []protoreflect.FileDescriptor{
		nodev1.File_undersign_node_v1_node_proto,
		thresholdv1.File_undersign_threshold_v1_threshold_proto,
		aggregatev1.File_undersign_aggregate_v1_aggregate_proto,
	} {
		for i := range file.Services().Len() {
			s := file.Services().Get(i)
			for j := range s.Methods().Len() {
				if op, err := rpc.Operation(string(s.FullName()), string(s.Methods().Get(j).Name())); err == nil {
					list = append(list, op)
				}
			}
		}
	}
	return list
}

// unknownOperations returns those that no service of this program has. A program that embeds a
// node may have others, so that a rule about them is no error.
func unknownOperations(operations []string) (unknown []string) {
	known := nodeOperations()
	for _, op := range operations {
		matches := func(k string) bool {
			prefix, all := strings.CutSuffix(op, "*")
			return k == op || all && strings.HasPrefix(k, prefix)
		}
		if !slices.ContainsFunc(known, matches) && !slices.Contains(unknown, op) {
			unknown = append(unknown, op)
		}
	}
	return unknown
}

// warnUnknownOperations warns of values of --allow that allow nothing.
func (e *env) warnUnknownOperations(allow []string) {
	var ops []string
	for _, s := range allow {
		op, _, _ := strings.Cut(s, "@")
		op, _, _ = strings.Cut(op, "=")
		ops = append(ops, op)
	}
	for _, op := range unknownOperations(ops) {
		e.warnf("no service has the operation %s: the rule allows nothing", op)
	}
}
