module github.com/undersign/undersign

go 1.26.8

require (
	filippo.io/age v1.3.2
	filippo.io/bigmod v0.1.0
	github.com/cloudflare/circl v1.6.5
	github.com/consensys/gnark-crypto v0.22.0
	github.com/emmansun/gmsm v0.41.1
	github.com/rogpeppe/go-internal v1.16.0
	github.com/spf13/cobra v1.10.2
	github.com/spf13/pflag v1.0.9
	golang.org/x/crypto v0.59.0
	golang.org/x/sys v0.50.0
	golang.org/x/term v0.48.0
)

require (
	filippo.io/edwards25519 v1.2.0 // indirect
	filippo.io/hpke v0.4.0 // indirect
	github.com/bits-and-blooms/bitset v1.25.0 // indirect
	github.com/hdevalence/ed25519consensus v0.2.0 // indirect
	github.com/inconshreveable/mousetrap v1.1.0 // indirect
	github.com/klauspost/cpuid/v2 v2.0.9 // indirect
	github.com/prysmaticlabs/gohashtree v0.0.4-beta // indirect
	golang.org/x/tools v0.50.0 // indirect
	rsc.io/qr v0.2.0 // indirect
)
