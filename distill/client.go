// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package distill

import (
	"crypto/ed25519"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/undersign/undersign/bls"
)

// A ClientConfig is what a client is opened with.
type ClientConfig struct {
	Network *Network
	ID      uint64 // in the directory
	Keys    ClientKeys
	Journal Journal

	// Mode is that of the aggregators the client sends to.
	Mode Mode

	// First is the position, in the genesis, of the aggregator to begin with. It is
	// taken modulo their number.
	First int

	// FromBackup is to be set if the journal may be older than what the client has
	// sent. Then the client asks the validators before it does anything else.
	FromBackup bool

	// Times in milliseconds: how long to wait for an acknowledgement before the
	// same is sent again, and for a receipt before another aggregator is tried.
	// Zero stands for 2 and 20 seconds.
	AckTimeout, ReceiptTimeout int64

	// Random fills a slice with random bytes. It is for simulations, which must be
	// repeatable: nil, for crypto/rand, is what is safe.
	Random func([]byte)
}

// ClientKeys are a client's keys, as they are in the directory from a version on.
type ClientKeys struct {
	Since uint64 // the first version at which they are the client's
	BLS   *bls.SecretKey
	Ed    ed25519.PrivateKey
}

// Format writes nothing of the secrets, whatever the verb.
func (k ClientKeys) Format(f fmt.State, _ rune) { fmt.Fprintf(f, "keys since version %d", k.Since) }

const (
	defaultAckTimeout     = 2_000
	defaultReceiptTimeout = 20_000
	maxLookupInterval     = 60_000
)

// maxRoots is how many different roots of one aggregator a client signs for one message:
// a bound on its work. Counted without regard to the aggregator, one of them could use
// it up, and no other would get a signature.
const maxRoots = 8

// maxSeen is how many proposals a client remembers, to find two with one number.
const maxSeen = 32

// recoveryJump is how far a client restored from a backup, or an aggregator, jumps ahead
// at least: over whatever it has sent since, and over what may be on its way.
const recoveryJump = 1 << 20

// jump returns the number to go on with after a backup was restored, for the last one that
// is known to be used, or 0 if there is none left. It is somewhere in a wide range: after
// two restores, with nothing executed in between, the last known number is the same, and
// what was signed after the first one must not be signed again with another content.
func jump(last uint64, random func([]byte)) uint64 {
	var b [8]byte
	random(b[3:])
	next := last + recoveryJump + binary.BigEndian.Uint64(b[:])
	if next < last {
		return 0
	}
	return next
}

// A Client has payloads executed once at most, and learns what became of them. It trusts
// no aggregator, and validators as far as F+1 of them say the same.
//
// Methods that take now, in milliseconds, return what is to be done. There is one
// goroutine at a time. If the journal fails, the client does nothing more and is to be
// opened again. At most one copy of a client may run: two would sign different payloads
// under one nonce.
type Client struct {
	cfg        ClientConfig
	ledger     ledger
	next       uint64 // the next nonce
	recovery   *question
	recovering bool
	head       uint64 // the newest certified height
	hasHead    bool
	flights    []*flight // in ascending order of nonces
	seen       []SignedProp
}

// A flight is a message from its submission until it is released.
type flight struct {
	nonce, notAfter uint64
	hash            [32]byte
	payload         []byte
	state           flightState
	tell            bool // the application hasn't been told the outcome since opening
	agg             int  // position of the aggregator it was sent to last
	resendAt        int64
	moveAt          int64 // when to try another aggregator
	roots           []signedRoot
	question        *question // once its last height is past, or if it is held
	outcome         Outcome
}

type flightState uint8

const (
	flightSent    flightState = iota + 1 // not acknowledged
	flightAcked                          // waits for proposals and a receipt
	flightHeld                           // from a backup: never sent again
	flightExpired                        // past its last height
	flightSettled                        // has an outcome
)

// never is a time that doesn't come.
const never = 1<<63 - 1

// A signedRoot is a root that was signed for a message.
type signedRoot struct {
	aggID uint64
	root  [32]byte
}

// OpenClient returns a client in the state that its journal has, which may be empty. Call
// [Client.Tick] next.
func OpenClient(cfg ClientConfig) (*Client, error) {
	switch {
	case cfg.Network == nil || cfg.Journal == nil:
		return nil, errors.New("distill: a client without a network or a journal")
	case cfg.Mode >= modes || !cfg.Network.verifier.params.Modes.Has(cfg.Mode):
		return nil, reject(RuleMode)
	}
	if err := cfg.Keys.check(); err != nil {
		return nil, err
	}
	if cfg.AckTimeout <= 0 {
		cfg.AckTimeout = defaultAckTimeout
	}
	if cfg.ReceiptTimeout <= 0 {
		cfg.ReceiptTimeout = defaultReceiptTimeout
	}
	if cfg.Random == nil {
		cfg.Random = secureRandom
	}
	n := len(cfg.Network.aggregators)
	cfg.First = (cfg.First%n + n) % n
	c := &Client{cfg: cfg, ledger: ledger{journal: cfg.Journal}, next: 1}
	if err := c.load(); err != nil {
		return nil, err
	}
	if cfg.FromBackup && !c.recovering {
		if err := c.beginRecovery(); err != nil {
			return nil, err
		}
	}
	return c, nil
}

func secureRandom(b []byte) { rand.Read(b) }

func (k *ClientKeys) check() error {
	if k.BLS == nil || k.BLS.PublicKey() == nil || len(k.Ed) != ed25519.PrivateKeySize {
		return errors.New("distill: a client without keys")
	}
	return nil
}

// Format writes nothing of the secrets, whatever the verb.
func (c Client) Format(f fmt.State, _ rune) { fmt.Fprintf(f, "client %d", c.cfg.ID) }

// ID returns the client's id.
func (c *Client) ID() uint64 { return c.cfg.ID }

// Head returns the newest certified height that the client has seen.
func (c *Client) Head() uint64 { return c.head }

// InFlight returns the number of messages that have no outcome yet.
func (c *Client) InFlight() int {
	n := 0
	for _, f := range c.flights {
		if f.state != flightSettled {
			n++
		}
	}
	return n
}

// Unsettled returns the messages that have no outcome yet, without their signatures, in
// ascending order of nonces. It is how an application that crashed while it called
// [Client.Submit] finds out whether the client has the payload. The payloads mustn't be
// changed.
func (c *Client) Unsettled() []Submission {
	var list []Submission
	for _, f := range c.flights {
		if f.state != flightSettled {
			list = append(list, Submission{ID: c.cfg.ID, Nonce: f.nonce, NotAfter: f.notAfter, Payload: f.payload})
		}
	}
	return list
}

// Recovering reports whether the client was restored from a backup and waits for
// validators to say which nonces are used.
func (c *Client) Recovering() bool { return c.recovering }

// SetKeys changes the keys, after the directory has. What is in flight is sent again,
// signed by the new ones.
func (c *Client) SetKeys(now int64, keys ClientKeys) (out []ClientAction, err error) {
	if err := keys.check(); err != nil {
		return nil, err
	}
	c.cfg.Keys = keys
	for _, f := range c.flights {
		if f.state == flightSent || f.state == flightAcked {
			f.state = flightSent
			if out, err = c.send(now, f, out); err != nil {
				return out, err
			}
		}
	}
	return out, nil
}

// Submit has a payload executed, at the latest so many heights from now on: at least twice
// and at most as many as the network lets a batch be valid for and be ahead, and 0 stands
// for half of the latter. It returns the nonce, by which [Settled] will name the
// message. If it fails nothing was sent, and nothing will be, unless the journal failed.
func (c *Client) Submit(now int64, payload []byte, heights uint64) (nonce uint64, out []ClientAction, err error) {
	p := &c.cfg.Network.verifier.params
	if heights == 0 {
		heights = p.MaxAhead / 2
	}
	switch {
	case c.ledger.err != nil:
		return 0, nil, c.ledger.err
	case c.recovering:
		return 0, nil, reject(RuleRecovering)
	case !c.hasHead:
		return 0, nil, reject(RuleNoHead)
	case uint64(len(payload)) > p.MaxPayload:
		return 0, nil, reject(RulePayloadSize)
	case heights < 2*p.ValidFor || heights > p.MaxAhead || c.head+heights < c.head:
		return 0, nil, reject(RuleLifetime)
	case c.next == 0:
		return 0, nil, reject(RuleNonces)
	case c.full():
		return 0, nil, reject(RuleWindow)
	}
	f := &flight{
		nonce: c.next, notAfter: c.head + heights, state: flightSent, agg: c.cfg.First,
		payload: append([]byte(nil), payload...), hash: PayloadHash(payload),
	}
	// Durable first, and only then signed: whatever was signed under this nonce will
	// be found in the journal.
	if err := c.ledger.commit(c.stateRecord(f.nonce+1, false), c.flightRecord(f)); err != nil {
		return 0, nil, err
	}
	c.next = f.nonce + 1
	c.flights = append(c.flights, f)
	out, err = c.send(now, f, nil)
	return f.nonce, out, err
}

// full reports whether the window is: it begins with the oldest message that the
// application hasn't released. What is before a jump is behind the window for good.
func (c *Client) full() bool {
	for _, f := range c.flights {
		if behind := c.next - f.nonce; behind >= NonceWindow && behind < recoveryJump {
			return true
		}
	}
	return false
}

// Release forgets a settled message, when the application has taken note of its outcome.
// Until then it counts for the window.
func (c *Client) Release(nonce uint64) error {
	if c.ledger.err != nil {
		return c.ledger.err
	}
	i := c.find(nonce)
	if i < 0 {
		return reject(RuleNotInFlight)
	}
	if c.flights[i].state != flightSettled {
		return reject(RuleUnsettled)
	}
	if err := c.ledger.commit(Record{Key: c.flightKey(nonce)}); err != nil {
		return err
	}
	c.flights = append(c.flights[:i], c.flights[i+1:]...)
	return nil
}

// find returns the position of a message, or -1.
func (c *Client) find(nonce uint64) int {
	for i, f := range c.flights {
		if f.nonce == nonce {
			return i
		}
	}
	return -1
}

// send signs a message and sends it to its aggregator. It is the same each time.
func (c *Client) send(now int64, f *flight, out []ClientAction) ([]ClientAction, error) {
	s, err := c.submission(f, c.cfg.Mode)
	if err != nil {
		return out, err
	}
	f.resendAt = now + c.cfg.AckTimeout
	if f.moveAt <= now {
		f.moveAt = now + c.cfg.ReceiptTimeout
	}
	return append(out, SendSubmission{c.cfg.Network.aggregators[f.agg], s}), nil
}

func (c *Client) submission(f *flight, mode Mode) (Submission, error) {
	s := Submission{ID: c.cfg.ID, Nonce: f.nonce, NotAfter: f.notAfter, Payload: f.payload}
	sub := Sub{c.cfg.Network.ID(), s.ID, s.Nonce, s.NotAfter, f.hash}
	switch mode {
	case ModeEd25519:
		s.Signature = ed25519.Sign(c.cfg.Keys.Ed, sub.Bytes())
	case ModeFolded:
		d := sub.Digest()
		sig, err := bls.Augmented.Sign(c.cfg.Keys.BLS, d[:])
		if err != nil {
			return s, err
		}
		s.Signature = sig.Bytes()
	}
	return s, nil
}

// Tick does what is due. Call it when the time of [Client.Deadline] has come, and after
// the client was opened.
func (c *Client) Tick(now int64) (out []ClientAction, err error) {
	if c.ledger.err != nil {
		return nil, c.ledger.err
	}
	if c.recovering {
		out = c.ask(now, &c.recovery, c.next, 0, out)
	}
	for _, f := range c.flights {
		switch f.state {
		case flightSettled:
			if f.tell {
				f.tell = false
				out = append(out, Settled{c.cfg.ID, f.nonce, f.outcome})
			}
		case flightHeld, flightExpired:
			out = c.ask(now, &f.question, f.nonce, f.notAfter, out)
		default:
			if now >= f.moveAt && f.moveAt > 0 {
				f.agg = (f.agg + 1) % len(c.cfg.Network.aggregators)
				f.resendAt = now
			}
			if now >= f.resendAt {
				if out, err = c.send(now, f, out); err != nil {
					return out, err
				}
			}
		}
	}
	return out, nil
}

// Deadline returns the time of the next Tick, or false if there is nothing to wait for.
func (c *Client) Deadline() (at int64, ok bool) {
	at = never
	if c.recovering {
		at = c.recovery.due()
	}
	for _, f := range c.flights {
		switch f.state {
		case flightSettled:
			if f.tell {
				at = min(at, 0)
			}
		case flightHeld, flightExpired:
			at = min(at, f.question.due())
		default:
			at = min(at, f.resendAt, f.moveAt)
		}
	}
	return at, at != never
}
