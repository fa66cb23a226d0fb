// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bytes"
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"strings"

	"filippo.io/age"
	"filippo.io/age/armor"
	"github.com/spf13/cobra"

	"github.com/undersign/undersign/bls"
	"github.com/undersign/undersign/keyfile"
	"github.com/undersign/undersign/ring"
	"github.com/undersign/undersign/thresholdrsa"
)

func newInspectCmd(e *env) *cobra.Command {
	var sf secretFlags
	c := &cobra.Command{
		Use:   "inspect FILE",
		Short: "Show what a file holds",
		Long: `Show the type, the fingerprint and the fields of any of undersign's files. What
it says is what the file says: inspect checks the form, and no signature.

An encrypted file is opened if there is an identity or a passphrase for it. Of
what is secret nothing is shown.`,
		Example: `  undersign inspect key/threshold.pub
  undersign inspect contract.pdf.req --json
  undersign inspect alice.share -i alice.key`,
		Args: nargs(1, 1, "a file"),
		RunE: func(c *cobra.Command, args []string) error {
			in, err := e.inspect(c, args[0], sf)
			if err != nil {
				return err
			}
			return e.print(in, in.write)
		},
	}
	addSecretFlags(c, &sf)
	return describe(c, "type, fingerprint, fields (by name, depending on the type)")
}

// An inspection is what is shown of an object, in order.
type inspection struct {
	Type        string         `json:"type"`
	Fingerprint string         `json:"fingerprint,omitempty"`
	Fields      map[string]any `json:"fields"`

	order []string
}

func (in *inspection) add(name string, value any) {
	if in.Fields == nil {
		in.Fields = map[string]any{}
	}
	switch v := value.(type) {
	case [32]byte:
		value = hex.EncodeToString(v[:])
	case []byte:
		value = hex.EncodeToString(v)
	}
	if _, ok := in.Fields[name]; !ok {
		in.order = append(in.order, name)
	}
	in.Fields[name] = value
}

func (in *inspection) write(w io.Writer) {
	fs := []field{{"type", in.Type}}
	if in.Fingerprint != "" {
		fs = append(fs, field{"fingerprint", in.Fingerprint})
	}
	for _, name := range in.order {
		label := strings.ReplaceAll(name, "_", " ")
		switch v := in.Fields[name].(type) {
		case []holderInfo:
			for _, h := range v {
				fs = append(fs, field{fmt.Sprintf("holder %d", h.Index), h.Name})
			}
		case []string:
			fs = append(fs, field{label, strings.Join(v, ", ")})
		case []int:
			fs = append(fs, field{label, strings.Trim(strings.ReplaceAll(fmt.Sprint(v), " ", ", "), "[]")})
		default:
			fs = append(fs, field{label, fmt.Sprint(v)})
		}
	}
	writeFields(w, fs)
}

type holderInfo struct {
	Index    int    `json:"index"`
	Name     string `json:"name"`
	Identity string `json:"identity"`
}

func (e *env) inspect(c *cobra.Command, file string, sf secretFlags) (*inspection, error) {
	ctx := c.Context()
	data, err := e.readInput(ctx, file, maxObject)
	if err != nil {
		return nil, err
	}
	defer clear(data)
	var v keyfile.Object
	plain := bytes.Contains(data, []byte("-----BEGIN UNDERSIGN INSECURE PLAINTEXT "))
	switch opens := len(sf.identities) > 0 || sf.pass.file != "" || sf.pass.fd != -1; {
	case isAge(data) && !opens:
		return inspectAge(data)
	case isAge(data), plain && sf.plaintext:
		o, err := e.newOpener(ctx, sf)
		if err != nil {
			return nil, err
		}
		defer o.wipe()
		if v, _, err = parseSecret(o, file, data, keyfile.Open); err != nil {
			return nil, err
		}
	case plain:
		return nil, failf(ExitError, "use --insecure-plaintext if that is meant to be", "%s holds a secret that isn't encrypted", inputName(file))
	default:
		if v, err = keyfile.Parse(data); err != nil {
			err = fileError(file, err)
			if hintOf(err) == "" {
				err = withHint(err, "%s", foreignHint(data))
			}
			return nil, err
		}
	}
	return inspectObject(v), nil
}

// foreignHint says what a file may be that isn't one of ours.
func foreignHint(data []byte) string {
	text := bytes.TrimSpace(data)
	for bytes.HasPrefix(text, []byte("#")) { // age's comments
		_, text, _ = bytes.Cut(text, []byte("\n"))
		text = bytes.TrimSpace(text)
	}
	block, _ := pem.Decode(data)
	switch {
	case len(data) == 0:
		return "the file is empty"
	case bytes.HasPrefix(text, []byte("AGE-SECRET-KEY-")), bytes.HasPrefix(text, []byte("AGE-PLUGIN-")):
		return "it is an age identity, which is secret, and opens files with -i"
	case bytes.HasPrefix(text, []byte("age1")):
		return "it is an age recipient, to whom files are encrypted with --to"
	case block == nil:
		return "if it is a signature, give it to a command that verifies it"
	case block.Type == "CERTIFICATE":
		return "try openssl x509 -text -noout -in FILE"
	case block.Type == "CERTIFICATE REQUEST":
		return "try openssl req -text -noout -in FILE"
	case block.Type == "PUBLIC KEY":
		return "try openssl pkey -pubin -text -noout -in FILE"
	}
	return "if it isn't undersign's, try openssl pkey, x509 or asn1parse"
}

// inspectAge shows what an age file says without being opened.
func inspectAge(data []byte) (*inspection, error) {
	var r io.Reader = bytes.NewReader(data)
	if !bytes.HasPrefix(data, []byte("age-encryption.org/")) {
		r = armor.NewReader(r)
	}
	look := new(stanzaTypes)
	_, err := age.Decrypt(r, look)
	var none *age.NoIdentityMatchError
	if err != nil && !errors.As(err, &none) {
		return nil, fmt.Errorf("malformed age file: %w", err)
	}
	in := &inspection{Type: "age file"}
	in.add("recipients", notNil([]string(*look)))
	in.add("note", "encrypted: open it with -i FILE or --passphrase-file FILE")
	return in, nil
}

// stanzaTypes is an age identity that opens nothing and looks at who can.
type stanzaTypes []string

func (s *stanzaTypes) Unwrap(stanzas []*age.Stanza) ([]byte, error) {
	for _, st := range stanzas {
		*s = append(*s, st.Type)
	}
	return nil, age.ErrIncorrectIdentity
}

func inspectObject(v keyfile.Object) *inspection {
	in := &inspection{Type: keyfile.Type(v), Fingerprint: keyfile.Fingerprint(v), Fields: map[string]any{}}
	switch v := v.(type) {
	case *thresholdrsa.PublicKey:
		in.addRecord(v)
	case *thresholdrsa.Dealing:
		in.addKey(v.PublicKey())
	case *thresholdrsa.Request:
		id := v.ID()
		in.add("request", id)
		in.add("record", v.KeyID())
		in.add("epoch", v.Epoch())
		in.add("padding", paddingName(v.Padding()))
		in.add("hash", hashName(v.Hash()))
		in.add("digest", v.Digest())
		if v.Padding() == thresholdrsa.PSS {
			in.add("salt", v.Salt())
			in.add("salt_bytes", len(v.Salt()))
		}
	case *thresholdrsa.SignatureShare:
		in.add("index", v.Index())
		in.add("request", v.RequestID())
		in.add("record", v.KeyID())
		in.add("epoch", v.Epoch())
	case *thresholdrsa.KeyShare:
		in.Fingerprint = "" // of a secret: it would say whether a guess is right
		in.add("index", v.Index())
		in.add("name", v.Name())
		in.addKey(v.PublicKey())
		in.add("provisional", v.Provisional())
		var pending []string
		for _, p := range v.Pending() {
			pending = append(pending, keyfile.Fingerprint(p))
		}
		in.add("pending", notNil(pending))
		v.Wipe()
	case *thresholdrsa.Receiver:
		in.add("name", v.Name())
		in.add("identity", []byte(v.Identity()))
	case *thresholdrsa.ReceiverKey:
		in.Fingerprint = ""
		in.add("name", v.Name())
		if card, err := v.Receiver(); err == nil {
			in.add("card", keyfile.Fingerprint(card))
		}
		v.Wipe()
	case *thresholdrsa.Proposal:
		in.addProposal(v)
	case *thresholdrsa.Contribution:
		in.add("index", v.Index())
		in.add("proposal", v.ProposalID())
	case *thresholdrsa.Ack:
		in.add("index", v.Index())
		in.add("record", v.Record())
	case *thresholdrsa.Refusal:
		in.add("index", v.Index())
		in.add("proposal", v.ProposalID())
		in.add("contributor", v.Contributor())
		in.add("reason", v.Reason())
	case *thresholdrsa.Certificate:
		in.addProposal(v.Proposal())
		in.addKey(v.PublicKey())
		in.add("acknowledged_by", v.Acks())
		in.add("note", "not checked here")
	case *keyfile.BLSSecretKey:
		in.Fingerprint = ""
		in.addBLS(v.Scheme, v.PublicKey())
		v.Wipe()
	case *keyfile.BLSPublicKey:
		in.addBLS(v.Scheme, v.Key)
	case *keyfile.BLSProof:
		in.addBLS(v.Scheme, v.Key)
		in.add("proof", v.Proof.Bytes())
		in.add("note", "not checked here")
	case *ring.PrivateKey:
		in.addRingKey(v.Public())
		v.Wipe()
	case *ring.PublicKey:
		in.addRingKey(v)
	case *ring.Ring:
		in.add("group", v.Group().String())
		in.add("keys", v.Len())
		in.add("digest", v.Digest())
	case *ring.Signature:
		in.add("group", v.Group().String())
		in.add("ring", v.Ring())
		in.add("keys", v.Len())
		in.add("image", v.Image())
		in.add("for_batches", v.ForBatch())
		in.add("note", "not checked here")
	case groupFile:
		in.addGroup(v)
	}
	return in
}

func (in *inspection) addRingKey(k *ring.PublicKey) {
	in.add("group", k.Group().String())
	in.add("public_key", k.Bytes())
}

func (in *inspection) addBLS(s bls.Scheme, k *bls.PublicKey) {
	in.add("scheme", blsName(s))
	in.add("min_sig", isMinSig(s))
	in.add("ciphersuite", s.Ciphersuite())
	in.add("public_key", k.Bytes())
}

// addKey adds what identifies a key.
func (in *inspection) addKey(p *thresholdrsa.PublicKey) {
	in.add("key", keyfile.Fingerprint(p))
	in.addRecord(p)
}

func (in *inspection) addRecord(p *thresholdrsa.PublicKey) {
	pub := p.RSA()
	in.add("bits", pub.N.BitLen())
	in.add("exponent", pub.E)
	if spki, err := x509.MarshalPKIXPublicKey(pub); err == nil {
		in.add("rsa_public_key", fmt.Sprintf("SHA256:%x", sha256.Sum256(spki)))
	}
	in.add("threshold", p.Threshold())
	var hs []holderInfo
	for i, h := range p.Holders() {
		hs = append(hs, holderInfo{i + 1, h.Name, hex.EncodeToString(h.Identity)})
	}
	in.add("holders", hs)
	in.add("form", p.Form().String())
	in.add("epoch", p.Epoch())
	in.add("record", p.ID())
	if parent := p.Parent(); parent != [32]byte{} {
		in.add("parent", parent)
	}
	in.add("share_bits", p.ShareBits())
}

func (in *inspection) addProposal(p *thresholdrsa.Proposal) {
	in.add("kind", p.Kind().String())
	in.add("proposal", p.ID())
	in.add("parent", p.Parent())
	in.add("contributors", p.Contributors())
	var names []string
	for _, r := range p.Receivers() {
		names = append(names, r.Name())
	}
	in.add("receivers", names)
	in.add("new_threshold", p.Threshold())
	in.add("quorum", p.Quorum())
}
