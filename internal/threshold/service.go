// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package threshold

import (
	"context"
	"encoding/hex"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"time"

	"connectrpc.com/connect"

	"filippo.io/age/plugin"

	thresholdv1 "github.com/undersign/undersign/gen/undersign/threshold/v1"
	"github.com/undersign/undersign/gen/undersign/threshold/v1/thresholdv1connect"
	"github.com/undersign/undersign/internal/audit"
	"github.com/undersign/undersign/internal/failpoint"
	"github.com/undersign/undersign/internal/nodedir"
	"github.com/undersign/undersign/internal/party"
	"github.com/undersign/undersign/internal/policy"
	"github.com/undersign/undersign/internal/rpc"
	"github.com/undersign/undersign/internal/store"
	"github.com/undersign/undersign/thresholdrsa"
)

// MaxMessage is the size of the largest message of the service: all contributions to a
// ceremony of 255 holders.
const MaxMessage = 64 << 20

// Bounds are what the messages of an operation have at most where that is less: those
// which anybody may send who may ask for a signature are small.
var Bounds = map[string]int64{
	"threshold.sign": maxSmall, "threshold.share": maxSmall, "threshold.key": maxSmall, "threshold.keys": maxSmall,
	"threshold.pending": maxSmall, "threshold.approve": maxSmall, "threshold.reject": maxSmall,
	"threshold.start-ceremony": maxSmall, "threshold.join-ceremony": maxSmall, "threshold.finish-ceremony": maxSmall,
	"threshold.ceremonies": maxSmall, "threshold.dealt": maxSmall,
	"threshold.deal": thresholdrsa.MaxHolders * (maxRecipients*maxRecipient + 256),
}

const maxSmall = 64 << 10

// Config is the service's part of the configuration. The zero value is that of a node
// that coordinates.
type Config struct {
	// Unlock is an age identity file that opens the shares. It may name plugins. Empty: the
	// node's own, unlock.txt, unless there is a passphrase file. Paths are in the node's
	// folder.
	Unlock string `toml:"unlock"`
	// PassphraseFile has the passphrase of shares, or of the identity file, in its first line.
	PassphraseFile string `toml:"passphrase-file"`
	// ApprovalHours is how long a request waits for a person. 0 means 24.
	ApprovalHours int `toml:"approval-hours"`
	// InsecureSecond is the ID of a ceremony by which the node takes a share though it has
	// acknowledged another one's outcome. If both are committed the key may fall apart into
	// two sharings, so it is for when the other can't be ended any more.
	InsecureSecond string `toml:"insecure-second"`
	// Dealer lets the node make keys for others.
	Dealer Dealer `toml:"dealer"`
}

// A Peer is another node.
type Peer struct {
	Fingerprint string
	Name        string
	Address     string
}

// Options are what the service needs of its node.
type Options struct {
	Config   Config
	Dir      string // the node's folder
	Name     string // what the node calls itself
	Store    *store.Store
	Audit    *audit.Log
	Identity *party.Identity
	Peers    func() []Peer // those with an address
	NameOf   func(fingerprint string) string
	// Permit says whether the caller of ctx may do what it does with a key that isn't named
	// in its message, and May whether it may see it: see rpc.Guard.
	Permit func(ctx context.Context, key string) error
	May    func(ctx context.Context, key string) bool
	// Restored says whether the node was restored from a backup and the service hasn't
	// dealt with that yet, and when; Settled that it has.
	Restored func() (pending bool, at time.Time, err error)
	Settled  func() error
	// Dial returns the client of another node, whose answers have so many bytes at most.
	Dial     func(p Peer, most int) (thresholdv1connect.ThresholdServiceClient, error)
	Log      *slog.Logger
	Now      func() time.Time
	PluginUI *plugin.ClientUI // of age plugins; nil is for a node that nobody watches
}

// lock reads what opens the node's shares.
func (o *Options) lock() (*lock, error) {
	unlock := o.Config.Unlock
	if unlock == "" && o.Config.PassphraseFile == "" {
		if _, err := os.Stat(filepath.Join(o.Dir, nodedir.Unlock)); err == nil {
			unlock = nodedir.Unlock
		}
	}
	return newLock(inDir(o.Dir, unlock), inDir(o.Dir, o.Config.PassphraseFile), o.PluginUI)
}

func inDir(dir, path string) string {
	if path == "" || filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(dir, path)
}

// A Service is the threshold service of a node.
type Service struct {
	opt       Options
	keys      *keyring
	approvals *approvals
	slots     chan struct{} // of shares that are being made
	running   sync.WaitGroup
	ctx       context.Context // of what outlives a call
	cancel    context.CancelFunc

	mu      sync.Mutex
	flights map[[32]byte]*flight
	scores  map[scoreKey]int
	follows map[*key]chan struct{} // closed when following ends

	restoredAt time.Time // from a backup; zero: never

	ceremonies sync.Mutex // held while this node takes a step
	leading    sync.Mutex // held while this node leads
	deals      deals
}

var _ thresholdv1connect.ThresholdServiceHandler = (*Service)(nil)

// New opens the node's shares and returns its service.
func New(opt Options) (*Service, error) {
	valid := time.Duration(opt.Config.ApprovalHours) * time.Hour
	switch {
	case valid < 0 || valid > 365*24*time.Hour:
		return nil, errors.New("threshold: approval-hours isn't from 1 to 8760")
	case valid == 0:
		valid = 24 * time.Hour
	}
	if id, err := hex.DecodeString(opt.Config.InsecureSecond); err != nil || len(id) != 0 && len(id) != 32 {
		return nil, errors.New("threshold: insecure-second isn't the ID of a ceremony, of 64 hexadecimal digits")
	}
	// Before there is a share in memory.
	if err := noDumps(); err != nil {
		opt.Log.Warn("the node's memory may be dumped", "error", err)
	}
	if err := opt.Config.Dealer.prepare(); err != nil {
		return nil, err
	}
	if opt.PluginUI == nil {
		opt.PluginUI = quietUI(opt.Log)
	}
	l, err := opt.lock()
	if err != nil {
		return nil, err
	}
	keys, err := openKeyring(opt.Dir, opt.Store, l)
	if err != nil {
		l.wipe()
		return nil, err
	}
	s := &Service{
		opt: opt, keys: keys, approvals: newApprovals(opt.Store, opt.Now, valid),
		slots: make(chan struct{}, slotsPerProcessor*runtime.GOMAXPROCS(0)), flights: make(map[[32]byte]*flight), scores: make(map[scoreKey]int),
		follows: make(map[*key]chan struct{}),
	}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	s.deals.init()
	for _, k := range keys.all() {
		s.settle(k)
	}
	if err := s.restore(); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// Close waits for shares that are being made, and wipes the secrets.
func (s *Service) Close() {
	s.cancel()
	s.running.Wait()
	s.keys.wipe()
}

// Counts returns how many shares and keys the node has.
func (s *Service) Counts() (shares, keys int) {
	for _, k := range s.keys.all() {
		keys++
		if _, index := k.state(); index != 0 {
			shares++
		}
	}
	return shares, keys
}

// Stale returns the names of keys of which the node's share is of an old epoch: it was
// away when a ceremony ended.
func (s *Service) Stale() (names []string) {
	for _, k := range s.keys.all() {
		k.mu.RLock()
		if k.share != nil && !k.share.Provisional() && k.share.PublicKey().ID() != k.record.ID() {
			names = append(names, k.name)
		}
		k.mu.RUnlock()
	}
	return names
}

// signWait is how long Sign goes on if the caller doesn't say.
const signWait = 30 * time.Second

// Sign implements [thresholdv1connect.ThresholdServiceHandler].
func (s *Service) Sign(ctx context.Context, req *thresholdv1.SignRequest) (*thresholdv1.SignResponse, error) {
	call := rpc.CallFrom(ctx)
	r, err := readRequest(req.Request, req.Key)
	if err != nil {
		return nil, err
	}
	s.catchUp(ctx, r, req.Key)
	k, err := s.held(r, req.Key)
	if err != nil {
		return nil, err
	}
	record, _ := k.state()
	if record.ID() != r.KeyID() {
		// The caller has followed certificates for which this node isn't done yet, or
		// hasn't followed them.
		return nil, encodeError(ErrSuperseded)
	}
	// The answer goes out before the caller gives up.
	deadline, ok := ctx.Deadline()
	wait := signWait
	if ok {
		wait = min(wait, max(time.Until(deadline)*9/10, 0))
	}
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()

	entry := audit.Entry{Party: call.Party, Operation: "threshold.sign", Key: k.policy, Subject: hex.EncodeToString(r.Digest())}
	if call.Approve {
		if err := s.approved(ctx, call.Party, k.policy, r, wait); err != nil {
			var pending *errPending
			if errors.As(err, &pending) {
				err = &QuorumError{Need: record.Threshold(), Faults: []Fault{{
					Party: s.opt.Identity.Fingerprint(), Name: "this node", Kind: Pending, Reason: "until " + pending.until.UTC().Format(time.RFC3339),
				}}}
			}
			return nil, encodeError(err)
		}
	}
	sig, faults, good, stale, err := collect(ctx, record, r, s.sources(call, k, r, req.Request))
	s.remember(k, good, faults)
	if e := failpoint.Hit("threshold.collected"); e != nil {
		return nil, e
	}
	for _, f := range faults {
		if f.Kind == Bad {
			s.opt.Log.Warn("a node sent a bad share", "party", f.Party, "name", f.Name, "holder", f.Index, "reason", f.Reason)
		}
	}
	if errors.Is(err, ErrQuorum) && len(stale) > 0 && s.follow(ctx, k, record, record.Epoch()+1) {
		err = ErrSuperseded
	}
	if err != nil {
		entry.Detail = trim(err)
		if e := s.opt.Audit.Event(entry, audit.Failed); e != nil {
			return nil, e
		}
		return nil, encodeError(err)
	}
	if err := s.opt.Audit.Event(entry, audit.OK); err != nil {
		return nil, err
	}
	return &thresholdv1.SignResponse{Signature: sig, Faults: EncodeFaults(visible(faults))}, nil
}

// visible leaves out those who have nothing to do with the key.
func visible(faults []Fault) (list []Fault) {
	for _, f := range faults {
		if f.Kind != Absent {
			list = append(list, f)
		}
	}
	return list
}

// maxPersonWait bounds for how long a call waits for a person.
const maxPersonWait = 30 * time.Second

// Share implements [thresholdv1connect.ThresholdServiceHandler].
func (s *Service) Share(ctx context.Context, req *thresholdv1.ShareRequest) (*thresholdv1.ShareResponse, error) {
	call := rpc.CallFrom(ctx)
	r, err := readRequest(req.Request, req.Key)
	if err != nil {
		return nil, err
	}
	k, err := s.held(r, req.Key)
	if err != nil {
		return nil, err
	}
	wait := time.Duration(min(req.WaitMs, uint64(maxPersonWait.Milliseconds()))) * time.Millisecond
	data, err := s.share(ctx, call.Party, k, r, call.Approve, wait)
	var pending *errPending
	if errors.As(err, &pending) {
		return &thresholdv1.ShareResponse{PendingUntilMs: pending.until.UnixMilli()}, nil
	}
	if err != nil {
		return nil, encodeError(err)
	}
	return &thresholdv1.ShareResponse{Share: data}, nil
}

// Key implements [thresholdv1connect.ThresholdServiceHandler].
func (s *Service) Key(ctx context.Context, req *thresholdv1.KeyRequest) (*thresholdv1.KeyResponse, error) {
	if len(req.RecordId) != 32 {
		return nil, invalidf("threshold: a record's ID has 32 bytes")
	}
	id := [32]byte(req.RecordId)
	k := s.keys.get(id)
	if k == nil && !req.Relayed {
		if k = s.keys.named(req.Key); k != nil && k.policy == req.Key {
			return s.askForKey(ctx, k, req)
		}
	}
	if k == nil || k.policy != req.Key {
		return nil, connect.NewError(connect.CodeNotFound, errors.New("threshold: the node doesn't know the key"))
	}
	record, index := k.state()
	data, err := record.MarshalBinary()
	if err != nil {
		return nil, err
	}
	return &thresholdv1.KeyResponse{Record: data, Certificates: s.keys.chain(id), Index: uint32(index)}, nil
}

// Keys implements [thresholdv1connect.ThresholdServiceHandler].
func (s *Service) Keys(ctx context.Context, _ *thresholdv1.KeysRequest) (*thresholdv1.KeysResponse, error) {
	resp := new(thresholdv1.KeysResponse)
	for _, k := range s.keys.all() {
		if !s.opt.May(ctx, k.policy) {
			continue
		}
		record, index := k.state()
		data, err := record.MarshalBinary()
		if err != nil {
			return nil, err
		}
		h := &thresholdv1.HeldKey{Name: k.name, Key: k.policy, Record: data, Index: uint32(index)}
		k.mu.RLock()
		if k.share != nil {
			h.Pending = uint32(len(k.share.Pending()))
		}
		k.mu.RUnlock()
		resp.Keys = append(resp.Keys, h)
	}
	return resp, nil
}

// Pending implements [thresholdv1connect.ThresholdServiceHandler].
func (s *Service) Pending(ctx context.Context, _ *thresholdv1.PendingRequest) (*thresholdv1.PendingResponse, error) {
	list, err := s.approvals.pending()
	if err != nil {
		return nil, err
	}
	resp := new(thresholdv1.PendingResponse)
	for _, a := range list {
		if !s.opt.May(ctx, a.key) {
			continue
		}
		resp.Items = append(resp.Items, s.item(a))
	}
	return resp, nil
}

func (s *Service) item(a approval) *thresholdv1.PendingItem {
	return &thresholdv1.PendingItem{
		Id: hex.EncodeToString(a.id[:]), Request: a.request, Party: a.party, PartyName: s.opt.NameOf(a.party), Key: a.key,
		AskedMs: a.asked.UnixMilli(), ExpiresMs: a.expires.UnixMilli(),
	}
}

// Approve implements [thresholdv1connect.ThresholdServiceHandler].
func (s *Service) Approve(ctx context.Context, req *thresholdv1.ApproveRequest) (*thresholdv1.ApproveResponse, error) {
	a, err := s.decide(ctx, "threshold.approve", req.Id, approved, "")
	if err != nil {
		return nil, err
	}
	return &thresholdv1.ApproveResponse{Item: s.item(a)}, nil
}

// Reject implements [thresholdv1connect.ThresholdServiceHandler].
func (s *Service) Reject(ctx context.Context, req *thresholdv1.RejectRequest) (*thresholdv1.RejectResponse, error) {
	if len(req.Reason) > 500 {
		return nil, invalidf("threshold: the reason is longer than 500 bytes")
	}
	a, err := s.decide(ctx, "threshold.reject", req.Id, rejected, req.Reason)
	if err != nil {
		return nil, err
	}
	return &thresholdv1.RejectResponse{Item: s.item(a)}, nil
}

func (s *Service) decide(ctx context.Context, operation, id string, state int, reason string) (approval, error) {
	action, err := s.opt.Audit.Begin(audit.Entry{Party: rpc.CallFrom(ctx).Party, Operation: operation, Subject: id, Detail: reason})
	if err != nil {
		return approval{}, err
	}
	a, err := s.approvals.decide(id, state, reason, func(a approval) error { return s.mayDecide(ctx, a) })
	if err != nil {
		if e := action.End(audit.Failed, trim(err)); e != nil {
			return approval{}, e
		}
		return approval{}, err
	}
	return a, action.End(audit.OK, hex.EncodeToString(a.id[:]))
}

// mayDecide returns nil if the caller may decide about a request. Nobody is the person who
// approves what it asks for itself.
func (s *Service) mayDecide(ctx context.Context, a approval) error {
	if call := rpc.CallFrom(ctx); !call.Self && call.Party == a.party {
		return &policy.DeniedError{
			Call:   policy.Call{Party: call.Party, Operation: call.Operation, Key: a.key},
			Reason: "who asks for a signature can't decide about it",
		}
	}
	return s.opt.Permit(ctx, a.key)
}
