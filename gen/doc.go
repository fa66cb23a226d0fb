// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

// Package gen holds the code that buf makes of the schemas in proto, a package a
// service. Keys, requests and signatures are in it as bytes: undersign's own encodings,
// which alone are signed.
package gen

//go:generate go tool -modfile=../tools/go.mod buf lint ../proto
//go:generate go tool -modfile=../tools/go.mod buf generate ../proto --template ../proto/buf.gen.yaml -o ..
