// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/sha256"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	gmsm "github.com/emmansun/gmsm/sm2"
	"github.com/emmansun/gmsm/smx509"
	"github.com/spf13/cobra"

	"github.com/undersign/undersign/internal/sm2stream"
	"github.com/undersign/undersign/sm2"
)

// chainFlags are those of verify --chain.
type chainFlags struct {
	paths   []string
	ids     []string
	at      string
	partial bool
}

const chainHelp = `With --chain, and without FILE, the signatures of all SM2 certificates in PEM
files or folders are verified together, each by the issuer that is found among
them by name and key identifier. This is about signatures: it doesn't decide
whom to trust, whether an issuer may issue, or, without --time, about dates.`

// Limits of what --chain reads. A certificate has some 1,000 bytes.
const (
	maxChainFiles = 100_000
	maxChainBytes = 256 << 20
)

func addChainFlags(c *cobra.Command, f *chainFlags) {
	fl := c.Flags()
	fl.StringArrayVar(&f.paths, "chain", nil, "verify the SM2 certificates in this PEM `FILE`, or folder of such files (repeatable)")
	fl.StringArrayVar(&f.ids, "id", []string{"default"}, "with --chain: `ID` of the issuers: default, empty, none, a text, or hex:HEX\n(repeatable: a signature for any of them is valid)")
	fl.StringVar(&f.at, "time", "", "with --chain: demand that all are valid at this `TIME`, such as now or 2026-01-31")
	fl.BoolVar(&f.partial, "partial", false, "with --chain: accept certificates whose issuer isn't there, unverified")
}

// Words for what became of a certificate.
const (
	chainValid     = "valid"
	chainInvalid   = "invalid"
	chainNoIssuer  = "no issuer"
	chainOther     = "not SM2"
	chainMalformed = "malformed"
	chainExpired   = "expired"
	chainTooEarly  = "not yet valid"
)

// A chainCert is a certificate and what became of it.
type chainCert struct {
	cert *smx509.Certificate
	file string
	n    int // which one in the file, from 1

	Status  string `json:"status"`
	Place   string `json:"file"`
	Subject string `json:"subject,omitempty"`
	Issuer  string `json:"issuer,omitempty"`
	ID      string `json:"id,omitempty"`
	Reason  string `json:"reason,omitempty"`
}

// A chainResult lists all certificates that aren't valid by the default ID.
type chainResult struct {
	Certificates int          `json:"certificates"`
	Duplicates   int          `json:"duplicates"`
	Valid        int          `json:"valid"`
	Invalid      int          `json:"invalid"`
	NoIssuer     int          `json:"no_issuer"`
	Other        int          `json:"not_sm2"`
	Malformed    int          `json:"malformed"`
	Dates        int          `json:"out_of_date"`
	Keys         int          `json:"issuer_keys"`
	List         []*chainCert `json:"list"`
}

func (e *env) verifyChain(c *cobra.Command, f chainFlags) error {
	var uids []sm2.UID
	for _, id := range f.ids {
		uid, err := sm2stream.ParseID(id)
		if err != nil {
			return usageError(c, err)
		}
		uids = append(uids, uid)
	}
	at, err := parseTime(f.at)
	if err != nil {
		return usagef(c, "--time %w", err)
	}
	certs, duplicates, err := e.readCerts(c.Context(), f.paths)
	if err != nil {
		return err
	}
	if len(certs) == 0 {
		return fmt.Errorf("no certificates in %s", strings.Join(f.paths, ", "))
	}
	res := &chainResult{Certificates: len(certs), Duplicates: duplicates, List: []*chainCert{}}
	res.Keys = checkCerts(certs, uids, f.ids)
	for _, x := range certs {
		if x.Status == chainValid && !at.IsZero() {
			x.checkDates(at)
		}
		switch x.Status {
		case chainValid:
			res.Valid++
			if x.ID == "" || x.ID == "default" {
				continue
			}
		case chainInvalid:
			res.Invalid++
		case chainNoIssuer:
			res.NoIssuer++
		case chainOther:
			res.Other++
		case chainMalformed:
			res.Malformed++
		default:
			res.Dates++
		}
		res.List = append(res.List, x)
	}
	text := func(w io.Writer) { printChain(w, res) }
	bad := res.Invalid + res.Malformed + res.Dates
	unverified := res.NoIssuer + res.Other
	switch {
	case bad > 0:
		err = failf(ExitInvalid, "", "%d of %d certificates are bad", bad, res.Certificates)
	case res.Other == res.Certificates && res.Other > 0 && !f.partial:
		err = failf(ExitInvalid, "openssl verify checks those of other kinds", "%s, and none is SM2", countOf(res.Certificates, "certificate"))
	case unverified > 0 && !f.partial:
		err = failf(ExitInvalid, "add their issuers, or accept that with --partial", "%d of %d certificates can't be verified", unverified, res.Certificates)
	}
	return errors.Join(err, e.print(res, text))
}

func printChain(w io.Writer, res *chainResult) {
	for _, x := range res.List {
		fmt.Fprintf(w, "%s: %s", oneLine(x.Place), x.Status)
		switch {
		case x.Reason != "":
			fmt.Fprintf(w, " (%s)", oneLine(x.Reason))
		case x.ID != "":
			fmt.Fprintf(w, " (ID %s)", oneLine(x.ID))
		}
		if x.Subject != "" {
			fmt.Fprintf(w, ": %s", oneLine(x.Subject))
		}
		if x.Status == chainNoIssuer {
			fmt.Fprintf(w, ", by %s", oneLine(x.Issuer))
		}
		fmt.Fprintln(w)
	}
	fmt.Fprintf(w, "%d certificates: %d with valid signatures, by %d keys", res.Certificates, res.Valid, res.Keys)
	for _, n := range []struct {
		n    int
		what string
	}{
		{res.Invalid, "invalid"}, {res.NoIssuer, "without an issuer here"}, {res.Other, "not SM2"},
		{res.Malformed, "malformed"}, {res.Dates, "out of date"},
	} {
		if n.n > 0 {
			fmt.Fprintf(w, ", %d %s", n.n, n.what)
		}
	}
	fmt.Fprintln(w)
}

// parseTime reads a time for --time. Zero stands for none.
func parseTime(s string) (time.Time, error) {
	switch s {
	case "":
		return time.Time{}, nil
	case "now":
		return time.Now(), nil
	}
	for _, layout := range []string{time.RFC3339, time.DateOnly} {
		if t, err := time.Parse(layout, s); err == nil {
			return t, nil
		}
	}
	return time.Time{}, fmt.Errorf("%q isn't now, a date such as 2026-01-31, or a time such as 2026-01-31T12:00:00Z", s)
}

func (x *chainCert) checkDates(at time.Time) {
	const layout = "2006-01-02 15:04:05 MST"
	switch {
	case at.Before(x.cert.NotBefore):
		x.Status, x.Reason = chainTooEarly, "from "+x.cert.NotBefore.UTC().Format(layout)
	case at.After(x.cert.NotAfter):
		x.Status, x.Reason = chainExpired, "on "+x.cert.NotAfter.UTC().Format(layout)
	}
}

// readCerts reads the certificates of files and folders, each once.
func (e *env) readCerts(ctx context.Context, paths []string) (certs []*chainCert, duplicates int, err error) {
	var files []string
	for _, path := range paths {
		more, err := chainFiles(path)
		if err != nil {
			return nil, 0, err
		}
		if files = append(files, more...); len(files) > maxChainFiles {
			return nil, 0, fmt.Errorf("more than %d files", maxChainFiles)
		}
	}
	seen := map[[32]byte]bool{}
	total := 0
	for _, file := range files {
		data, err := e.readInput(ctx, file, maxObject)
		if err != nil {
			return nil, 0, err
		}
		if total += len(data); total > maxChainBytes {
			return nil, 0, fmt.Errorf("more than %d bytes of certificates", maxChainBytes)
		}
		for n := 1; ; {
			var block *pem.Block
			if block, data = pem.Decode(data); block == nil {
				break
			}
			if block.Type != "CERTIFICATE" && block.Type != "X509 CERTIFICATE" {
				clear(block.Bytes)
				continue
			}
			x := &chainCert{file: file, n: n, Place: inputName(file)}
			if n++; n > 2 {
				x.Place += fmt.Sprintf(" (%d)", x.n)
			}
			sum := sha256.Sum256(block.Bytes)
			if seen[sum] {
				duplicates++
				continue
			}
			seen[sum] = true
			if x.cert, err = smx509.ParseCertificate(block.Bytes); err != nil {
				x.cert, x.Status, x.Reason = nil, chainMalformed, err.Error()
			} else {
				x.Subject, x.Issuer = x.cert.Subject.String(), x.cert.Issuer.String()
			}
			certs = append(certs, x)
		}
	}
	return certs, duplicates, nil
}

// chainFiles returns a file, or the PEM files below a folder.
func chainFiles(path string) (files []string, err error) {
	if path == "-" {
		return []string{path}, nil
	}
	fi, err := os.Stat(path)
	if err != nil {
		return nil, inputError(path, err)
	}
	if !fi.IsDir() {
		return []string{path}, nil
	}
	err = filepath.WalkDir(path, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return inputError(name, err)
		}
		if ext := strings.ToLower(filepath.Ext(name)); !d.IsDir() && slices.Contains([]string{".pem", ".crt", ".cer"}, ext) {
			files = append(files, name)
		}
		return nil
	})
	return files, err
}

// A chainTry is a signature that is to be tried by one key and one ID.
type chainTry struct {
	x  *chainCert
	id string
}

// checkCerts gives every certificate its status, by one batch of all signatures,
// and returns the number of issuers' keys.
func checkCerts(certs []*chainCert, uids []sm2.UID, ids []string) int {
	bySubject := map[string][]*smx509.Certificate{}
	byKeyID := map[string][]*smx509.Certificate{}
	for _, x := range certs {
		if x.cert != nil {
			name, id := string(x.cert.RawSubject), string(x.cert.SubjectKeyId)
			bySubject[name] = append(bySubject[name], x.cert)
			if id != "" {
				byKeyID[id] = append(byKeyID[id], x.cert)
			}
		}
	}
	batch := sm2.NewBatch(nil)
	var tries []chainTry
	keys := map[string]bool{}
	for _, x := range certs {
		switch {
		case x.cert == nil:
			continue
		case x.cert.SignatureAlgorithm != smx509.SM2WithSM3:
			x.Status, x.Reason = chainOther, "signed by "+x.cert.SignatureAlgorithm.String()
			continue
		}
		issuers := issuersOf(x.cert, bySubject, byKeyID)
		if len(issuers) == 0 {
			x.Status = chainNoIssuer
			continue
		}
		x.Status = chainInvalid
		for _, issuer := range issuers {
			keys[string(issuer.RawSubjectPublicKeyInfo)] = true
			for i := range uids {
				batch.AddCertificate(x.cert, issuer, &uids[i])
				tries = append(tries, chainTry{x, ids[i]})
			}
		}
	}
	reasons := map[int]sm2.Reason{}
	var bad *sm2.BatchError
	if errors.As(batch.Verify(), &bad) {
		for k, i := range bad.Bad {
			reasons[i] = bad.Reasons[k]
		}
	}
	for i, t := range tries {
		switch reason, isBad := reasons[i]; {
		case !isBad && t.x.Status != chainValid: // the first ID that fits
			t.x.Status, t.x.ID, t.x.Reason = chainValid, t.id, ""
		case isBad && t.x.Status != chainValid:
			t.x.Reason = reason.String()
		}
	}
	return len(keys)
}

// issuersOf returns certificates whose key may have signed cert, one for each key: by
// the issuer's name, and of these the ones with the right key identifier if
// there are any; or by that alone, for names that are spelt otherwise.
func issuersOf(cert *smx509.Certificate, bySubject, byKeyID map[string][]*smx509.Certificate) (out []*smx509.Certificate) {
	candidates := bySubject[string(cert.RawIssuer)]
	if aki := cert.AuthorityKeyId; len(aki) > 0 {
		var exact []*smx509.Certificate
		for _, c := range candidates {
			if bytes.Equal(c.SubjectKeyId, aki) {
				exact = append(exact, c)
			}
		}
		if len(exact) > 0 {
			candidates = exact
		} else if len(candidates) == 0 {
			candidates = byKeyID[string(aki)]
		}
	}
	seen := map[string]bool{}
	for _, c := range candidates {
		pub, ok := c.PublicKey.(*ecdsa.PublicKey)
		if ok && gmsm.IsSM2PublicKey(pub) && !seen[string(c.RawSubjectPublicKeyInfo)] {
			seen[string(c.RawSubjectPublicKeyInfo)] = true
			out = append(out, c)
		}
	}
	return out
}
