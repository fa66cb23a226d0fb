// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package distill

// Bytes returns what is signed.
func (s Sub) Bytes() []byte { return write(&s, nil) }

// Digest returns the SHA-256 of Bytes.
func (s Sub) Digest() [32]byte { return digest(&s) }

// UnmarshalBinary reads what Bytes returns.
func (s *Sub) UnmarshalBinary(b []byte) error { return read(s, b) }

// Bytes returns what is signed.
func (s Prop) Bytes() []byte { return write(&s, nil) }

// Digest returns the SHA-256 of Bytes.
func (s Prop) Digest() [32]byte { return digest(&s) }

// UnmarshalBinary reads what Bytes returns.
func (s *Prop) UnmarshalBinary(b []byte) error { return read(s, b) }

// Bytes returns what is signed.
func (s Red) Bytes() []byte { return write(&s, nil) }

// Digest returns the SHA-256 of Bytes.
func (s Red) Digest() [32]byte { return digest(&s) }

// UnmarshalBinary reads what Bytes returns.
func (s *Red) UnmarshalBinary(b []byte) error { return read(s, b) }

// Bytes returns what is signed.
func (s Bat) Bytes() []byte { return write(&s, nil) }

// Digest returns the SHA-256 of Bytes.
func (s Bat) Digest() [32]byte { return digest(&s) }

// UnmarshalBinary reads what Bytes returns.
func (s *Bat) UnmarshalBinary(b []byte) error { return read(s, b) }

// Bytes returns what is signed.
func (s Wit) Bytes() []byte { return write(&s, nil) }

// Digest returns the SHA-256 of Bytes.
func (s Wit) Digest() [32]byte { return digest(&s) }

// UnmarshalBinary reads what Bytes returns.
func (s *Wit) UnmarshalBinary(b []byte) error { return read(s, b) }

// Bytes returns what is signed.
func (s Rcpt) Bytes() []byte { return write(&s, nil) }

// Digest returns the SHA-256 of Bytes.
func (s Rcpt) Digest() [32]byte { return digest(&s) }

// UnmarshalBinary reads what Bytes returns.
func (s *Rcpt) UnmarshalBinary(b []byte) error { return read(s, b) }

// Bytes returns what is signed.
func (s Hgt) Bytes() []byte { return write(&s, nil) }

// Digest returns the SHA-256 of Bytes.
func (s Hgt) Digest() [32]byte { return digest(&s) }

// UnmarshalBinary reads what Bytes returns.
func (s *Hgt) UnmarshalBinary(b []byte) error { return read(s, b) }

// Bytes returns what is signed.
func (s Look) Bytes() []byte { return write(&s, nil) }

// Digest returns the SHA-256 of Bytes.
func (s Look) Digest() [32]byte { return digest(&s) }

// UnmarshalBinary reads what Bytes returns.
func (s *Look) UnmarshalBinary(b []byte) error { return read(s, b) }

// Bytes returns what is signed.
func (s Reg) Bytes() []byte { return write(&s, nil) }

// Digest returns the SHA-256 of Bytes.
func (s Reg) Digest() [32]byte { return digest(&s) }

// UnmarshalBinary reads what Bytes returns.
func (s *Reg) UnmarshalBinary(b []byte) error { return read(s, b) }

// Bytes returns what is signed.
func (s Rot) Bytes() []byte { return write(&s, nil) }

// Digest returns the SHA-256 of Bytes.
func (s Rot) Digest() [32]byte { return digest(&s) }

// UnmarshalBinary reads what Bytes returns.
func (s *Rot) UnmarshalBinary(b []byte) error { return read(s, b) }

// Bytes returns what is signed.
func (s Rvk) Bytes() []byte { return write(&s, nil) }

// Digest returns the SHA-256 of Bytes.
func (s Rvk) Digest() [32]byte { return digest(&s) }

// UnmarshalBinary reads what Bytes returns.
func (s *Rvk) UnmarshalBinary(b []byte) error { return read(s, b) }
