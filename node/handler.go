// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package node

import (
	"context"
	"crypto/rand"
	"errors"
	"path/filepath"
	"time"

	"connectrpc.com/connect"

	nodev1 "github.com/undersign/undersign/gen/undersign/node/v1"
	"github.com/undersign/undersign/gen/undersign/node/v1/nodev1connect"
	"github.com/undersign/undersign/internal/audit"
	"github.com/undersign/undersign/internal/nodedir"
	"github.com/undersign/undersign/internal/party"
	"github.com/undersign/undersign/internal/roster"
	"github.com/undersign/undersign/internal/rpc"
	"github.com/undersign/undersign/internal/service"
)

// maxNodeMessage bounds the messages of NodeService: parties that aren't known send some.
const maxNodeMessage = 64 << 10

// handle adds the service that every node has.
func (n *Node) handle() error {
	_, h := nodev1connect.NewNodeServiceHandler(&handler{n}, n.guard.Options(maxNodeMessage)...)
	desc := nodev1.File_undersign_node_v1_node_proto.Services().ByName("NodeService")
	return n.guard.Handle(desc, h, "Join")
}

// A handler is a nodev1connect.NodeServiceHandler.
type handler struct{ n *Node }

// Join implements NodeService.
func (h *handler) Join(ctx context.Context, req *nodev1.JoinRequest) (*nodev1.JoinResponse, error) {
	call, n := rpc.CallFrom(ctx), h.n
	if call.Self { // it would be one of its own peers
		return nil, connect.NewError(connect.CodeInvalidArgument, errors.New("the node can't join itself"))
	}
	if req.Address != "" {
		if err := party.CheckAddress(req.Address); err != nil {
			return nil, connect.NewError(connect.CodeInvalidArgument, err)
		}
	}
	entry := audit.Entry{Party: call.Party, Operation: call.Operation}
	m, err := n.roster.Redeem(req.Secret, call.PublicKey, req.Address)
	if errors.Is(err, roster.ErrInvitation) {
		n.guard.Denied(call, "an invitation that isn't good")
		return nil, connect.NewError(connect.CodePermissionDenied, errors.New("the invitation isn't known, was used, or has expired"))
	}
	if err != nil {
		return nil, err
	}
	entry.Detail = "joined as " + m.Name
	n.record(entry, audit.OK)
	n.log.Info("a party has joined", "party", m.Fingerprint, "name", m.Name)
	if err := n.membersChanged(); err != nil {
		return nil, err
	}
	return &nodev1.JoinResponse{Name: n.cfg.Name, YourName: m.Name}, nil
}

// Status implements NodeService.
func (h *handler) Status(ctx context.Context, _ *nodev1.StatusRequest) (*nodev1.StatusResponse, error) {
	n := h.n
	records, head := n.audit.Head()
	restored, err := service.RestoredAt(n.store)
	if err != nil {
		return nil, err
	}
	resp := &nodev1.StatusResponse{
		Fingerprint: n.Fingerprint(), Name: n.cfg.Name, Address: n.Addr().String(), Version: version(),
		StartedMs: n.started.UnixMilli(), Ready: n.unready() == nil,
		Parties: uint64(len(n.roster.List())), Invitations: uint64(n.roster.Invitations()),
		AuditRecords: records, AuditHead: head, StoreBytes: uint64(n.storeBytes()), NowMs: time.Now().UnixMilli(),
	}
	if !restored.IsZero() {
		resp.RestoredMs = restored.UnixMilli()
	}
	for _, s := range n.services {
		st := &nodev1.ServiceStatus{Name: s.Name(), Ready: true}
		if err := s.Status(); err != nil {
			st.Ready, st.Detail = false, err.Error()
		}
		resp.Services = append(resp.Services, st)
	}
	return resp, nil
}

// Invite implements NodeService.
func (h *handler) Invite(ctx context.Context, req *nodev1.InviteRequest) (*nodev1.InviteResponse, error) {
	n, call := h.n, rpc.CallFrom(ctx)
	address := req.Address
	if address == "" {
		var err error
		if address, err = n.cfg.AdvertiseFor(n.Addr().String()); err != nil {
			return nil, connect.NewError(connect.CodeFailedPrecondition, err)
		}
	}
	if req.ValidSeconds > 366*24*3600 {
		return nil, connect.NewError(connect.CodeInvalidArgument, errors.New("an invitation for more than a year"))
	}
	inv, err := party.NewInvitation(address, n.Fingerprint())
	if err != nil {
		return nil, connect.NewError(connect.CodeInvalidArgument, err)
	}
	expires, err := n.roster.Invite(inv, req.Name, time.Duration(req.ValidSeconds)*time.Second)
	if err != nil {
		return nil, connect.NewError(connect.CodeFailedPrecondition, err)
	}
	n.record(audit.Entry{Party: call.Party, Operation: call.Operation, Detail: "for " + req.Name}, audit.OK)
	return &nodev1.InviteResponse{Token: inv.Token(), ExpiresMs: expires.UnixMilli()}, nil
}

// Accept implements NodeService.
func (h *handler) Accept(ctx context.Context, req *nodev1.AcceptRequest) (*nodev1.AcceptResponse, error) {
	n, call := h.n, rpc.CallFrom(ctx)
	address := req.Address
	switch address {
	case "none":
		address = ""
	case "":
		var err error
		if address, err = n.cfg.AdvertiseFor(n.Addr().String()); err != nil {
			return nil, connect.NewError(connect.CodeFailedPrecondition, err)
		}
	}
	m, yours, err := service.Join(ctx, n.id, n.roster, n.rules(), req.Token, req.Name, address)
	if err != nil {
		return nil, connect.NewError(connect.CodeFailedPrecondition, err)
	}
	n.record(audit.Entry{Party: call.Party, Operation: call.Operation, Subject: m.Fingerprint, Detail: "joined " + m.Name}, audit.OK)
	if err := n.membersChanged(); err != nil {
		return nil, err
	}
	return &nodev1.AcceptResponse{Party: encodeMember(m), YourName: yours}, nil
}

func encodeMember(m roster.Member) *nodev1.Party {
	return &nodev1.Party{Fingerprint: m.Fingerprint, Name: m.Name, Address: m.Address, JoinedMs: m.Joined.UnixMilli()}
}

// Parties implements NodeService.
func (h *handler) Parties(ctx context.Context, _ *nodev1.PartiesRequest) (*nodev1.PartiesResponse, error) {
	resp := new(nodev1.PartiesResponse)
	for _, m := range h.n.roster.List() {
		resp.Parties = append(resp.Parties, encodeMember(m))
	}
	return resp, nil
}

// Remove implements NodeService.
func (h *handler) Remove(ctx context.Context, req *nodev1.RemoveRequest) (*nodev1.RemoveResponse, error) {
	n, call := h.n, rpc.CallFrom(ctx)
	m, err := n.roster.Remove(req.Party)
	if errors.Is(err, roster.ErrUnknown) {
		err = connect.NewError(connect.CodeNotFound, errors.New("no party is called that"))
	}
	if err != nil {
		return nil, err
	}
	if m.Fingerprint == "" { // it hadn't joined
		n.record(audit.Entry{Party: call.Party, Operation: call.Operation, Detail: "withdrew the invitation for " + m.Name}, audit.OK)
		return &nodev1.RemoveResponse{Party: &nodev1.Party{Name: m.Name}}, nil
	}
	n.record(audit.Entry{Party: call.Party, Operation: call.Operation, Subject: m.Fingerprint, Detail: "removed " + m.Name}, audit.OK)
	if err := n.membersChanged(); err != nil {
		return nil, err
	}
	return &nodev1.RemoveResponse{Party: encodeMember(m)}, nil
}

// Reload implements NodeService.
func (h *handler) Reload(ctx context.Context, _ *nodev1.ReloadRequest) (*nodev1.ReloadResponse, error) {
	ignored, err := h.n.Reload()
	if err != nil {
		return nil, connect.NewError(connect.CodeFailedPrecondition, err)
	}
	return &nodev1.ReloadResponse{Ignored: ignored}, nil
}

// Snapshot implements NodeService.
func (h *handler) Snapshot(ctx context.Context, _ *nodev1.SnapshotRequest) (*nodev1.SnapshotResponse, error) {
	n, call := h.n, rpc.CallFrom(ctx)
	name := nodedir.Snapshots + rand.Text()[:12] + ".db"
	if err := n.store.Backup(filepath.Join(n.cfg.Dir, name)); err != nil {
		return nil, err
	}
	n.record(audit.Entry{Party: call.Party, Operation: call.Operation}, audit.OK)
	return &nodev1.SnapshotResponse{File: name}, nil
}
