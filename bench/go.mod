module github.com/undersign/undersign/bench

go 1.26.8

require (
	github.com/cloudflare/circl v1.6.5
	github.com/consensys/gnark-crypto v0.22.0
	github.com/emmansun/gmsm v0.41.1
	github.com/niclabs/tcrsa v0.0.5
	github.com/supranational/blst v0.3.17
	github.com/undersign/undersign v0.0.0-00010101000000-000000000000
)

require (
	filippo.io/edwards25519 v1.2.0 // indirect
	github.com/bits-and-blooms/bitset v1.25.0 // indirect
	golang.org/x/crypto v0.59.0 // indirect
	golang.org/x/sys v0.50.0 // indirect
)

replace github.com/undersign/undersign => ../
