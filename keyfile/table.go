// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package keyfile

// kinds is every type of file there is. A label, once released, stays for ever.
var kinds = []kind{}
