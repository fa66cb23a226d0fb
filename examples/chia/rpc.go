// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"
)

// maxBody is more than a block of a thousand spends has.
const maxBody = 4 << 20

// A hexBytes is a byte string, in JSON as hexadecimal in lower case.
type hexBytes []byte

func (h hexBytes) MarshalText() ([]byte, error) { return []byte(hex.EncodeToString(h)), nil }

func (h *hexBytes) UnmarshalText(text []byte) error {
	b, err := hex.DecodeString(string(text))
	if err != nil || hex.EncodeToString(b) != string(text) {
		return errors.New("not hexadecimal in lower case")
	}
	*h = b
	return nil
}

// A hash is 32 bytes, in JSON as a hexBytes.
type hash [32]byte

func (h hash) MarshalText() ([]byte, error) { return hexBytes(h[:]).MarshalText() }

func (h *hash) UnmarshalText(text []byte) error {
	var b hexBytes
	if err := b.UnmarshalText(text); err != nil {
		return err
	}
	if len(b) != len(h) {
		return fmt.Errorf("%d bytes instead of %d", len(b), len(h))
	}
	copy(h[:], b)
	return nil
}

// failure is what a call answers when it fails, as Chia's do.
type failure struct {
	Success bool   `json:"success"`
	Error   string `json:"error"`
}

// handle serves a call. It gets the name in the caller's certificate.
func handle[In, Out any](mux *http.ServeMux, call string, f func(ctx context.Context, peer string, in *In) (*Out, error)) {
	mux.HandleFunc("POST /"+call, func(w http.ResponseWriter, r *http.Request) {
		in := new(In)
		dec := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxBody))
		dec.DisallowUnknownFields()
		err := dec.Decode(in)
		if err == nil {
			if _, end := dec.Token(); end != io.EOF {
				err = errors.New("something after the end of the JSON")
			}
		}
		status := http.StatusBadRequest
		var out *Out
		if err == nil {
			status = http.StatusUnprocessableEntity
			out, err = f(r.Context(), peerName(r.TLS), in)
		}
		w.Header().Set("Content-Type", "application/json")
		if err != nil {
			w.WriteHeader(status)
			json.NewEncoder(w).Encode(failure{false, err.Error()})
			return
		}
		json.NewEncoder(w).Encode(out)
	})
}

// A peer is a server that can be called.
type peer struct {
	url    string
	client *http.Client
}

// callTimeout is how long a wallet may take to sign a root.
const callTimeout = 5 * time.Second

// do calls a peer.
func (p *peer) do(ctx context.Context, call string, in, out any) error {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	body, err := json.Marshal(in)
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, p.url+"/"+call, bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := p.client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(io.LimitReader(resp.Body, maxBody))
	if err != nil {
		return err
	}
	if resp.StatusCode != http.StatusOK {
		var f failure
		if json.Unmarshal(b, &f) != nil || f.Error == "" {
			f.Error = resp.Status
		}
		return errors.New(f.Error)
	}
	return json.Unmarshal(b, out)
}
