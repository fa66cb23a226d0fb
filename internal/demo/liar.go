// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package demo

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"time"

	thresholdv1 "github.com/undersign/undersign/gen/undersign/threshold/v1"
	"github.com/undersign/undersign/gen/undersign/threshold/v1/thresholdv1connect"
	"github.com/undersign/undersign/internal/nodedir"
	"github.com/undersign/undersign/keyfile"
	"github.com/undersign/undersign/node"
	"github.com/undersign/undersign/thresholdrsa"
)

// A liar stands in the place of a node, with its key, its address and its share of a key,
// and answers whoever asks with shares whose proofs are wrong. Nodes can't be made to do
// that: it is a program of the demo's, which knows of no rule and no approval.
type liar struct {
	thresholdv1connect.UnimplementedThresholdServiceHandler
	share *thresholdrsa.KeyShare
}

// Share implements [thresholdv1connect.ThresholdServiceHandler].
func (l *liar) Share(_ context.Context, req *thresholdv1.ShareRequest) (*thresholdv1.ShareResponse, error) {
	r := new(thresholdrsa.Request)
	if err := r.UnmarshalBinary(req.Request); err != nil {
		return nil, err
	}
	s, err := l.share.Sign(r)
	if err != nil {
		return nil, err
	}
	data, err := s.MarshalBinary()
	if err != nil {
		return nil, err
	}
	data[128] ^= 1 // the value, from byte 79 on: no proof holds for it now
	return &thresholdv1.ShareResponse{Share: data}, nil
}

// Lie is the process of a signer that lies, in the folder of a node of the demo. It prints
// what a node prints that is ready, and ends with ctx.
func Lie(ctx context.Context, dir string, out io.Writer) error {
	cfg, err := node.Load(dir)
	if err != nil {
		return err
	}
	id, err := nodedir.ReadIdentity(dir)
	if err != nil {
		return err
	}
	lock, err := nodedir.Acquire(dir)
	if err != nil {
		return err
	}
	defer lock.Close()
	l := new(liar)
	if l.share, err = openShare(dir); err != nil {
		return err
	}
	defer l.share.Wipe()
	listener, err := net.Listen("tcp", cfg.Listen)
	if err != nil {
		return err
	}
	mux := http.NewServeMux()
	mux.Handle(thresholdv1connect.NewThresholdServiceHandler(l))
	protocols := new(http.Protocols)
	protocols.SetHTTP2(true)
	server := &http.Server{
		Handler: mux, TLSConfig: id.ServerTLS(func(string) error { return nil }), Protocols: protocols, ReadHeaderTimeout: 5 * time.Second,
	}
	stop := context.AfterFunc(ctx, func() { server.Close() })
	defer stop()
	ready := struct {
		Address     string `json:"address"`
		Fingerprint string `json:"fingerprint"`
	}{listener.Addr().String(), id.Fingerprint()}
	if err := json.NewEncoder(out).Encode(ready); err != nil {
		return errors.Join(err, listener.Close())
	}
	if err := server.ServeTLS(listener, "", ""); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// openShare opens the only share in a node's folder.
func openShare(dir string) (*thresholdrsa.KeyShare, error) {
	files, err := filepath.Glob(filepath.Join(dir, "shares", "*.share"))
	if err != nil {
		return nil, err
	}
	if len(files) != 1 {
		return nil, fmt.Errorf("demo: %d shares in %s", len(files), dir)
	}
	sealed, err := os.ReadFile(files[0])
	if err != nil {
		return nil, err
	}
	unlock, err := os.ReadFile(filepath.Join(dir, nodedir.Unlock))
	if err != nil {
		return nil, err
	}
	defer clear(unlock)
	ids, err := keyfile.ParseIdentities(bytes.NewReader(unlock), nil)
	if err != nil {
		return nil, err
	}
	return keyfile.OpenAs[*thresholdrsa.KeyShare](bytes.NewReader(sealed), ids...)
}
