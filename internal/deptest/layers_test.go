// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package deptest

import "strings"

// A layer says what its packages may import beside the standard library and
// the layers below.
type layer struct {
	name   string
	pure   bool     // no network, files, logs, clocks: see impure
	within bool     // its packages may import one another
	deps   []string // modules or packages of others, in addition to those of the layers below
}

// layers from the bottom up. Imports go downward only.
var layers = []layer{
	{name: "arithmetic", pure: true, within: true, deps: []string{"golang.org/x/crypto", "golang.org/x/sys/cpu", "filippo.io/bigmod", "filippo.io/edwards25519"}},
	{name: "schemes", pure: true, deps: []string{"github.com/emmansun/gmsm"}},
	{name: "files", deps: []string{"filippo.io/age", "golang.org/x/sys/unix"}},
	{name: "parties", within: true},
	{name: "services", within: true, deps: []string{"connectrpc.com/connect", "google.golang.org/protobuf", "github.com/prometheus/client_golang", "github.com/BurntSushi/toml"}},
	{name: "commands", within: true, deps: []string{"github.com/spf13/cobra", "github.com/spf13/pflag", "golang.org/x/term", "rsc.io/qr"}},
}

const (
	arithmetic = iota
	schemes
	files
	parties
	services
	commands
)

// packages gives every package its layer, by its path in the module. A path
// that ends with /... holds for the package and all below it.
var packages = map[string]int{
	".": arithmetic, // documentation only

	"internal/modexp":     arithmetic,
	"internal/safeprime":  arithmetic,
	"internal/bls12381":   arithmetic,
	"internal/sm2ec":      arithmetic,
	"internal/transcript": arithmetic,
	"internal/wire":       arithmetic,
	"internal/batch":      arithmetic,
	"internal/cttest":     arithmetic,
	"internal/arweave":    arithmetic,
	"internal/edwards":    arithmetic,
	"internal/zip215":     arithmetic,
	"internal/hashpairs":  arithmetic,
	"internal/opcount":    arithmetic,

	"groupsig/internal/...": arithmetic, // what the packages of group signatures share

	"groupsig/legacy/internal/...": arithmetic,

	"thresholdrsa": schemes,
	"groupsig/...": schemes,
	"ring":         schemes,
	"bls":          schemes,
	"distill/...":  schemes,
	"sm2":          schemes,

	"internal/sm2paper": schemes,
	"internal/sm3lanes": schemes,

	"internal/cputime":   files,
	"internal/sm2stream": files,
	"internal/x509ca":    files,
	"internal/chia":      files,
	"keyfile":            files,

	"internal/failpoint": parties,
	"internal/freeport":  parties,
	"internal/party":     parties,
	"internal/policy":    parties,
	"internal/audit":     parties,
	"internal/store":     parties,
	"internal/relay/...": parties,
	"internal/nodedir":   parties,
	"internal/roster":    parties,

	"gen/...":                services,
	"internal/threshold":     services,
	"internal/group":         services,
	"internal/aggregate/...": services,
	"internal/batchverify":   services,
	"internal/console":       services,
	"internal/rpc":           services,
	"internal/service":       services,
	"client":                 services,
	"node":                   services,

	"internal/survey":   commands,
	"internal/cli":      commands,
	"internal/demo":     commands,
	"internal/deptest":  commands,
	"internal/killtest": commands,
	"cmd/...":           commands,
	"examples/...":      commands,
}

// only are dependencies that one package alone may import: all others go
// through it.
var only = map[string]string{
	"github.com/prysmaticlabs/gohashtree": "internal/hashpairs",
	"github.com/klauspost/cpuid":          "internal/hashpairs",
	"github.com/consensys/gnark-crypto":   "internal/bls12381",
	"modernc.org/sqlite":                  "internal/store",
	"github.com/nats-io/nats.go":          "internal/relay/nats",
}

// backendDeps are what those dependencies bring with them into the lower layers.
var backendDeps = map[string][]string{
	"github.com/consensys/gnark-crypto": {"github.com/bits-and-blooms/bitset", "golang.org/x/sys"},
}

// within are imports inside the layers of schemes and files, which have none
// otherwise: the sealed interface knows its implementations, its tests know it,
// distilled aggregates are made of BLS signatures, their simulator has the keys
// of everybody, and what measures takes the time.
var within = map[string][]string{
	"distill":               {"bls"},
	"distill/distillsim":    {"distill", "bls"},
	"groupsig":              {"groupsig/"},
	"sm2":                   {"internal/sm3lanes"},
	"groupsig/groupsigtest": {"groupsig"},
	"internal/sm2stream":    {"internal/cputime"},
	"internal/chia":         {"internal/cputime"},
}

// impure are packages of the standard library that say what a pure package
// must leave to its callers. A path that ends with /... holds for all below it.
var impure = []string{"net/...", "os/...", "log/...", "time", "database/sql/..."}

// pureExceptions are impure imports that are allowed, each with its reason.
var pureExceptions = map[string]string{
	"internal/cttest os":             "it runs tests under valgrind; only tests import it",
	"internal/cttest os/exec":        "it runs tests under valgrind; only tests import it",
	"groupsig/internal/bbstest os":   "it reads testdata; only tests import it",
	"groupsig/internal/tokentest os": "it reads testdata; only tests import it",
	"internal/safeprime time":        "the interval between calls of the progress function",
	"internal/modexp os":             "an environment variable chooses the portable kernel",
	"internal/sm2ec os":              "an environment variable leaves out tiers",
	"internal/sm3lanes os":           "an environment variable turns the kernel off",
}

// testDeps are the modules that only tests may import, beside those above.
var testDeps = []string{"github.com/rogpeppe/go-internal", "pgregory.net/rapid", "github.com/cloudflare/circl", "github.com/hdevalence/ed25519consensus",
	"github.com/nats-io/nats-server", "github.com/nats-io/nkeys"}

// forTests are packages that only tests may import. They may import what tests may.
var forTests = map[string]bool{"internal/cttest": true, "groupsig/internal/sdhtest": true, "groupsig/internal/bbstest": true, "groupsig/internal/tokentest": true, "internal/relay/nats/natstest": true}

// unsafeOK are the packages that may import unsafe, each with its reason.
var unsafeOK = map[string]string{
	"internal/modexp":            "the tables of the vector kernels begin with a line of the cache",
	"internal/sm2ec":             "vectors begin with a line of the cache, and the lane kernels take addresses of points",
	"internal/cttest":            "memcheck needs the addresses of secrets",
	"gen/undersign/threshold/v1": "generated",
	"gen/undersign/node/v1":      "generated",
	"gen/undersign/aggregate/v1": "generated",
	"internal/killtest":          "a test gives the kernel a filter of system calls",
	"internal/bls12381":          "a test sets the backend's processor switches, by go:linkname",
}

// matches reports whether path is pattern, or below a pattern that ends with /...
func matches(pattern, path string) bool {
	if base, ok := strings.CutSuffix(pattern, "/..."); ok {
		return path == base || strings.HasPrefix(path, base+"/")
	}
	return path == pattern
}

// layerOf returns the layer of a package.
func layerOf(path string) (int, bool) {
	best, found := "", false
	for pattern := range packages {
		if matches(pattern, path) && len(pattern) >= len(best) {
			best, found = pattern, true
		}
	}
	return packages[best], found
}
