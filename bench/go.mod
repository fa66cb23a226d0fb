module github.com/undersign/undersign/bench

go 1.26.0

require (
	github.com/cloudflare/circl v1.6.5
	github.com/niclabs/tcrsa v0.0.5
	github.com/undersign/undersign v0.0.0-00010101000000-000000000000
)

require golang.org/x/sys v0.50.0 // indirect

replace github.com/undersign/undersign => ../
