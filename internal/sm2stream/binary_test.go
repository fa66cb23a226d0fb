// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package sm2stream

import (
	"bytes"
	"slices"
	"strings"
	"testing"
)

// with returns a copy in which some bytes are others.
func with(data []byte, at int, b ...byte) []byte {
	out := slices.Clone(data)
	copy(out[at:], b)
	return out
}

func TestBinaryMalformed(t *testing.T) {
	const size = recordFixed + 4
	data, _ := generate(t, GenerateOptions{Records: 3, Signers: 1, Payload: 4, Format: Binary})
	if len(data) != headerSize+3*size {
		t.Fatalf("%d bytes", len(data))
	}
	digests, _ := generate(t, GenerateOptions{Records: 3, Signers: 1, Digests: true, Format: Binary})
	second := headerSize + size
	for _, tt := range []struct {
		data   []byte
		bad    int64
		reason string
		detail string
	}{
		{with(data, second+128, 1), 0, "", ""}, // a wrong hint at worst
		{with(data, second+128, 4), 0, "", ""},
		{with(data, second+128, 5), 2, Malformed, "hint 5"},
		{with(data, second+129, 1), 2, Malformed, "reserved bytes aren't zero"},
		{with(data, second+131, 1), 2, Malformed, "reserved bytes aren't zero"},
		{with(data, second+135, 5), 2, Malformed, "a payload of 5 bytes, and there is room for 4"},
		{with(data, second+132, 0xff), 2, Malformed, "a payload of 4278190084 bytes, and there is room for 4"},
		{with(data, second+135, 3, 0, 0, 0, 1), 2, Malformed, "bytes after the payload aren't zero"},
		{with(digests, headerSize+recordFixed+32+135, 31), 2, Malformed, "a digest of 31 bytes: SM3 has 32"},
		{with(data, second, slices.Repeat([]byte{0xff}, 32)...), 2, "range", ""},
		{with(data, second, make([]byte, 32)...), 2, "range", ""},
		{with(data, second+64, make([]byte, 64)...), 2, "key", ""},
		{with(data, second+64, slices.Repeat([]byte{0xff}, 64)...), 2, "key", ""},
		{data[:len(data)-1], 3, Malformed, "cut off by the end of the file"},
		{data[:second+size+1], 3, Malformed, "cut off by the end of the file"},
		{data[:second+size], 0, "", ""},
	} {
		_, bad := verify(t, tt.data, nil)
		var want []Bad
		if tt.bad > 0 {
			want = []Bad{{Record: tt.bad, Reason: tt.reason, Detail: tt.detail}}
		}
		if !slices.Equal(bad, want) {
			t.Errorf("%+v, want %+v", bad, want)
		}
	}
}

func TestHeader(t *testing.T) {
	data, _ := generate(t, GenerateOptions{Records: 3, Signers: 1, Payload: 4, Format: Binary, ID: "alice"})
	digests, _ := generate(t, GenerateOptions{Records: 3, Signers: 1, Digests: true, Format: Binary})
	for _, tt := range []struct {
		data []byte
		want string
	}{
		{with(data, 8, 2), "version 2"},
		{with(data, 8, 0), "version 0"},
		{with(data, 9, 0), "kind 0"},
		{with(data, 9, 3), "kind 3"},
		{with(data, 10, 3), "ID of kind 3"},
		{with(data, 10, 0), "ID of kind 0 with 5 bytes"},
		{with(data, 10, 2), "ID of kind 2 with 5 bytes"},
		{with(data, 11, 1), "reserved"},
		{with(data, 31, 1), "reserved"},
		{with(data, 12, 0xff), "payload of 4278190084 bytes"},
		{with(data, 12, 0, 0x10, 0, 1), "payload of 1048577 bytes"},
		{with(data, 16, 0xff), "ID of kind 1 with 4278190085 bytes"},
		{with(data, 16, 0, 0, 0x20, 0), "ID of kind 1 with 8192 bytes"},
		{with(digests, 15, 33), "payload of 33 bytes"},
		{with(digests, 15, 31), "payload of 31 bytes"},
		{with(digests, 10, 1), "ID of kind 1"},
		{with(digests, 10, 2), "ID of kind 2"},
		{data[:len(magic)], "cut off"},
		{data[:headerSize-1], "cut off"},
		{data[:headerSize+4], "cut off"},
	} {
		_, err := Verify(t.Context(), bytes.NewReader(tt.data), nil, func(Bad) error { return nil })
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%v, want %q", err, tt.want)
		}
	}
}

func FuzzBinary(f *testing.F) {
	for _, o := range []GenerateOptions{{Payload: 4}, {Digests: true}, {Payload: 0, ID: "x"}, {Payload: 3, ID: "none"}} {
		o.Records, o.Signers, o.Format = 2, 1, Binary
		data, _ := generate(f, o)
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		h, err := readHeader(bytes.NewReader(data))
		if err != nil {
			return
		}
		if again := h.append(nil); !bytes.HasPrefix(data, again) {
			t.Errorf("%x was read from %x", again, data)
		}
		p := newParser(&Options{}, h)
		data = data[headerSize+len(h.id):]
		for len(data) >= h.recordSize() {
			p.record(data[:h.recordSize()])
			data = data[h.recordSize():]
		}
	})
}
