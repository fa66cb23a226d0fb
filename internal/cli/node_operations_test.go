// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

func TestUnknownOperations(t *testing.T) {
	for op, known := range map[string]bool{
		"threshold.sign": true, "threshold.start-ceremony": true, "node.status": true, "aggregate.submit-batch": true,
		"threshold.*": true, "*": true,
		"threshold.sing": false, "threshold": false, "threshold.Sign": false, "nod.*": false, "": false, "aggregate.session.*": false,
	} {
		if got := len(unknownOperations([]string{op})) == 0; got != known {
			t.Errorf("%q: known is %v, want %v", op, got, known)
		}
	}
	if got := unknownOperations([]string{"a.b", "node.join", "a.b"}); !slices.Equal(got, []string{"a.b"}) {
		t.Errorf("got %q, want one a.b", got)
	}
}

// TestDocumentedOperations compares operations in pages with those that there are.
func TestDocumentedOperations(t *testing.T) {
	var all strings.Builder
	for _, page := range []string{"operations", "threshold-service", "aggregate-service", "protocol"} {
		text, err := os.ReadFile("../../docs/" + page + ".md")
		if err != nil {
			t.Fatal(err)
		}
		all.Write(text)
	}
	// Names of files and sections, and of what the audit log has beside operations.
	others := []string{
		"node.lock", "aggregate.json", "aggregate.key", "threshold.pub", "aggregate.nats",
		"node.audit-cut", "node.start", "node.stop",
	}
	var named []string
	for _, m := range regexp.MustCompile("[`\"]((?:node|threshold|aggregate)\\.[a-z*-]+)[`\"@]").FindAllStringSubmatch(all.String(), -1) {
		if !slices.Contains(others, m[1]) {
			named = append(named, m[1])
		}
	}
	for _, op := range unknownOperations(named) {
		t.Errorf("the pages name %s, which no service has", op)
	}
	for _, op := range nodeOperations() {
		_, method, _ := strings.Cut(op, ".")
		// The page on the protocol has methods as they are called there.
		if !strings.Contains(all.String(), op) && !strings.Contains(strings.ToLower(all.String()), "`"+strings.ReplaceAll(method, "-", "")) {
			t.Errorf("no page tells of %s", op)
		}
	}
}
