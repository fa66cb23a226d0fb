// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package nats

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	client "github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/undersign/undersign/internal/relay"
)

// duplicates is for how long servers keep IDs apart.
const duplicates = 10 * time.Minute

// dial connects to the first server that takes it.
func dial(cfg *Config, options []client.Option) (*client.Conn, error) {
	conn, err := client.Connect(strings.Join(cfg.Servers, ","), options...)
	if errors.Is(err, client.ErrNoServers) {
		return nil, fmt.Errorf("nats: no server can be reached: %s", strings.Join(cfg.Servers, ", "))
	}
	return conn, unlessLasting(err)
}

// refusal returns an error that isn't tried again.
func refusal(format string, args ...any) error {
	return permanent(fmt.Errorf("%w: %s", ErrUnsafe, fmt.Sprintf(format, args...)))
}

// check returns what makes servers or stream unsafe to use, or why that can't be known.
func (r *Relay) check(ctx context.Context, create bool) error {
	if most := r.conn.MaxPayload(); most > 0 && most < relay.MaxEntry+overhead {
		return refusal("max_payload is %d, and must be %d or more", most, relay.MaxEntry+overhead)
	}
	ctx, cancel := context.WithTimeout(ctx, 2*attempt)
	defer cancel()
	if create && !r.cfg.InsecureAssumeSyncAlways {
		// Before anything is made: it would be as unsafe as the server.
		servers, err := r.ask(ctx, []string{r.conn.ConnectedServerName()})
		if err != nil {
			return err
		}
		if s, ok := servers[r.conn.ConnectedServerName()]; ok && !s.sync {
			return refusal("server %s doesn't have sync_interval \"always\"", s.name)
		}
	}
	info, err := r.stream(ctx, create)
	if err != nil {
		return err
	}
	if problems := r.problems(&info.Config); len(problems) > 0 {
		return refusal("stream %s: %s", r.cfg.Stream, strings.Join(problems, ", "))
	}
	if r.cfg.InsecureAssumeSyncAlways {
		return nil
	}
	return r.checkSync(ctx, info)
}

// stream returns what is known of the stream.
func (r *Relay) stream(ctx context.Context, create bool) (*jetstream.StreamInfo, error) {
	s, err := r.js.Stream(ctx, r.cfg.Stream)
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		if !create {
			return nil, refusal("stream %s is gone", r.cfg.Stream)
		}
		s, err = r.js.CreateStream(ctx, r.wanted())
	}
	if err != nil {
		return nil, unlessLasting(err)
	}
	return s.CachedInfo(), nil // of just now
}

// wanted is the stream that keeps everything.
func (r *Relay) wanted() jetstream.StreamConfig {
	return jetstream.StreamConfig{
		Name:        r.cfg.Stream,
		Description: "what undersign's validators execute: never to be edited",
		Subjects:    []string{r.cfg.subject()},
		Storage:     jetstream.FileStorage,
		Replicas:    r.cfg.Replicas,
		Retention:   jetstream.LimitsPolicy,
		Discard:     jetstream.DiscardNew,
		MaxMsgSize:  relay.MaxEntry + overhead,
		Duplicates:  duplicates,
		DenyDelete:  true, // single entries; who may remove the oldest ones is up to servers
	}
}

// problems returns what a stream has that loses, changes, adds or reorders entries.
func (r *Relay) problems(c *jetstream.StreamConfig) (list []string) {
	no := func(bad bool, format string, args ...any) {
		if bad {
			list = append(list, fmt.Sprintf(format, args...))
		}
	}
	no(c.Storage != jetstream.FileStorage, "its storage is memory")
	no(c.Replicas != r.cfg.Replicas, "it has %d replicas, and not %d", c.Replicas, r.cfg.Replicas)
	no(c.PersistMode == jetstream.AsyncPersistMode, "its persist_mode is async")
	no(c.NoAck, "it doesn't acknowledge")
	no(c.Retention != jetstream.LimitsPolicy, "its retention isn't limits")
	no(c.MaxAge != 0, "max_age discards entries")
	no(c.MaxMsgsPerSubject > 0, "max_msgs_per_subject discards entries")
	no((c.MaxMsgs > 0 || c.MaxBytes > 0) && c.Discard != jetstream.DiscardNew, "its limits discard old entries")
	no(c.MaxMsgSize > 0 && c.MaxMsgSize < relay.MaxEntry+overhead, "max_msg_size is %d, and must be %d or more", c.MaxMsgSize, relay.MaxEntry+overhead)
	no(c.AllowMsgTTL, "entries may have an end")
	no(c.AllowRollup, "entries may replace others")
	no(c.AllowMsgCounter, "entries are counters")
	no(c.AllowMsgSchedules, "entries may be scheduled")
	no(!c.DenyDelete, "entries can be deleted")
	no(c.DenyPurge && r.cfg.Prune, "it has deny_purge, and prune is set")
	no(c.Duplicates < duplicates, "duplicate_window is %v, and must be %v or more", c.Duplicates, duplicates)
	no(c.Mirror != nil || len(c.Sources) > 0, "it takes entries from other streams")
	no(c.SubjectTransform != nil, "it transforms subjects")
	no(c.FirstSeq > 1, "it begins at %d", c.FirstSeq)
	no(c.Sealed, "it is sealed")
	no(!slices.Equal(c.Subjects, []string{r.cfg.subject()}), "its subjects aren't %s", r.cfg.subject())
	return list
}

// A serverState is what a server says of itself.
type serverState struct {
	name    string
	cluster string
	sync    bool // sync_interval is "always"
}

// checkSync asks the servers that keep the stream, and those which may have to, how they
// write. One that is down is asked when it is back.
func (r *Relay) checkSync(ctx context.Context, info *jetstream.StreamInfo) error {
	keepers := []string{r.conn.ConnectedServerName()}
	down := map[string]bool{}
	cluster := ""
	if c := info.Cluster; c != nil && c.Leader != "" {
		keepers, cluster = []string{c.Leader}, c.Name
		for _, p := range c.Replicas {
			keepers = append(keepers, p.Name)
			down[p.Name] = p.Offline || !p.Current
		}
	} else if r.cfg.Replicas > 1 {
		return errors.New("nats: the stream has no leader")
	}
	servers, err := r.ask(ctx, keepers)
	if err != nil {
		return err
	}
	good := 0
	for _, name := range keepers {
		if s, ok := servers[name]; ok && s.sync {
			good++
		} else if !ok && !down[name] {
			return fmt.Errorf("nats: server %s doesn't say how it writes", name)
		}
	}
	for _, s := range servers {
		if !s.sync && (slices.Contains(keepers, s.name) || cluster != "" && s.cluster == cluster) {
			return refusal("server %s doesn't have sync_interval \"always\"", s.name)
		}
	}
	if quorum := r.cfg.Replicas/2 + 1; good < quorum {
		return fmt.Errorf("nats: %d of the stream's servers say how they write, and %d must", good, quorum)
	}
	return nil
}

// maxServers bounds whose answers are kept.
const maxServers = 1024

// ask asks all servers with JetStream how they write, as a user of the system account, and
// waits for those that are wanted, but not for ever.
func (r *Relay) ask(ctx context.Context, want []string) (map[string]serverState, error) {
	options, err := r.cfg.options(true)
	if err != nil {
		return nil, permanent(err)
	}
	conn, err := dial(&r.cfg, append(options, client.NoReconnect()))
	if err != nil {
		return nil, fmt.Errorf("asking as a user of the system account: %w", err)
	}
	defer conn.Close()
	inbox := conn.NewInbox()
	sub, err := conn.SubscribeSync(inbox)
	if err == nil {
		err = conn.PublishRequest("$SYS.REQ.SERVER.PING.JSZ", inbox, nil)
	}
	if err != nil {
		return nil, unlessLasting(err)
	}
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	servers := make(map[string]serverState)
	for len(servers) < maxServers {
		// All who are wanted have answered: others have a moment more.
		if !slices.ContainsFunc(want, func(name string) bool { _, ok := servers[name]; return !ok }) {
			moment, cancel := context.WithTimeout(ctx, 200*time.Millisecond)
			defer cancel()
			ctx, want = moment, nil
			if len(servers) == 0 {
				break
			}
		}
		m, err := sub.NextMsgWithContext(ctx)
		if err != nil {
			break
		}
		if s, ok := parseState(m.Data); ok {
			servers[s.name] = s
		}
	}
	if len(servers) == 0 {
		return nil, permanent(fmt.Errorf("%w: no server says how it writes: is the user one of the system account, who may ask for $SYS.REQ.SERVER.PING.JSZ?", ErrUnsafe))
	}
	return servers, nil
}

// parseState reads a server's answer. One without JetStream counts for nothing.
func parseState(data []byte) (serverState, bool) {
	var answer struct {
		Server struct {
			Name    string `json:"name"`
			Cluster string `json:"cluster"`
		} `json:"server"`
		Data *struct {
			Disabled bool `json:"disabled"`
			Config   struct {
				SyncAlways bool `json:"sync_always"`
			} `json:"config"`
		} `json:"data"`
	}
	if json.Unmarshal(data, &answer) != nil || answer.Server.Name == "" || answer.Data == nil || answer.Data.Disabled {
		return serverState{}, false
	}
	return serverState{answer.Server.Name, answer.Server.Cluster, answer.Data.Config.SyncAlways}, true
}
