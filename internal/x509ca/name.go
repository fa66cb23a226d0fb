// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package x509ca

import (
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"net/mail"
	"net/url"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/crypto/cryptobyte"
	cbasn1 "golang.org/x/crypto/cryptobyte/asn1"
)

// attribute is a part of a distinguished name; max is its upper bound in
// characters, after RFC 5280, appendix A.1.
type attribute struct {
	key string
	oid asn1.ObjectIdentifier
	max int
}

var attributes = []attribute{
	{"CN", asn1.ObjectIdentifier{2, 5, 4, 3}, 64},
	{"SERIALNUMBER", asn1.ObjectIdentifier{2, 5, 4, 5}, 64},
	{"C", asn1.ObjectIdentifier{2, 5, 4, 6}, 2},
	{"L", asn1.ObjectIdentifier{2, 5, 4, 7}, 128},
	{"ST", asn1.ObjectIdentifier{2, 5, 4, 8}, 128},
	{"STREET", asn1.ObjectIdentifier{2, 5, 4, 9}, 128},
	{"O", asn1.ObjectIdentifier{2, 5, 4, 10}, 64},
	{"OU", asn1.ObjectIdentifier{2, 5, 4, 11}, 64},
}

// ParseName reads a distinguished name as RFC 4514 writes it, such as
// "CN=Root,O=Example\, Inc.,C=CH", and returns its DER. Attributes are CN,
// SERIALNUMBER, C, L, ST, STREET, O and OU. Parts of several values (+) and
// values in hex (#) aren't supported.
func ParseName(s string) ([]byte, error) {
	var rdns pkix.RDNSequence
	for rest := s; rest != ""; {
		key, after, ok := strings.Cut(rest, "=")
		if !ok {
			return nil, fmt.Errorf("x509ca: %q isn't of the form KEY=VALUE", rest)
		}
		key = strings.ToUpper(strings.TrimSpace(key))
		i := slices.IndexFunc(attributes, func(a attribute) bool { return a.key == key })
		if i < 0 {
			return nil, fmt.Errorf("x509ca: unknown attribute %q in the name", key)
		}
		value, more, err := cutValue(after)
		if err != nil {
			return nil, fmt.Errorf("x509ca: %s: %w", key, err)
		}
		if err := attributes[i].check(value); err != nil {
			return nil, fmt.Errorf("x509ca: %s: %w", key, err)
		}
		rdns = append(rdns, pkix.RelativeDistinguishedNameSET{{Type: attributes[i].oid, Value: value}})
		if more == "," {
			return nil, errors.New("x509ca: the name ends with a comma")
		}
		rest = strings.TrimPrefix(more, ",")
	}
	if len(rdns) == 0 {
		return nil, errors.New("x509ca: the name is empty")
	}
	slices.Reverse(rdns) // the text starts with the last part
	return asn1.Marshal(rdns)
}

func (a *attribute) check(value string) error {
	switch {
	case value == "":
		return errors.New("no value")
	case utf8.RuneCountInString(value) > a.max:
		return fmt.Errorf("longer than %d characters", a.max)
	case !utf8.ValidString(value) || strings.ContainsFunc(value, unicode.IsControl):
		return errors.New("has characters that can't be printed")
	case a.key == "C" && (len(value) != 2 || strings.Trim(value, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") != ""):
		return errors.New("not the two capital letters of a country")
	}
	return nil
}

// cutValue reads one value, up to a comma that isn't escaped, and returns what follows.
func cutValue(s string) (value, rest string, err error) {
	s = strings.TrimLeft(s, " ")
	if strings.HasPrefix(s, "#") {
		return "", "", errors.New("values in hex aren't supported")
	}
	var b strings.Builder
	end := 0 // of the value, without trailing spaces
	for i := 0; i < len(s); i++ {
		switch c := s[i]; c {
		case ',':
			return b.String()[:end], s[i:], nil
		case '+', ';', '"', '<', '>':
			return "", "", fmt.Errorf("%q must be escaped with a backslash", c)
		case '\\':
			i++
			if i == len(s) {
				return "", "", errors.New("a backslash that escapes nothing")
			}
			c := s[i]
			if !strings.ContainsRune(` ,+;"<>#=\`, rune(c)) {
				pair, err := hex.DecodeString(s[i:min(i+2, len(s))])
				if err != nil || len(pair) != 1 {
					return "", "", errors.New("a backslash that escapes nothing")
				}
				c, i = pair[0], i+1
			}
			b.WriteByte(c)
			end = b.Len()
		default:
			b.WriteByte(c)
			if c != ' ' {
				end = b.Len()
			}
		}
	}
	return b.String()[:end], "", nil
}

// NameString writes a distinguished name as ParseName reads it. A name made
// elsewhere can hold more than that: what can't be printed is escaped, so that
// the result is one line and says what is there.
func NameString(der []byte) string {
	var rdns pkix.RDNSequence
	if rest, err := asn1.Unmarshal(der, &rdns); err != nil || len(rest) > 0 {
		return "(malformed)"
	}
	return escape(rdns.String())
}

// escape writes the octets of what can't be printed as \XX (RFC 4514, section 2.4).
func escape(s string) string {
	var b strings.Builder
	for i, n := 0, 0; i < len(s); i += n {
		var r rune
		if r, n = utf8.DecodeRuneInString(s[i:]); unicode.IsPrint(r) && (r != utf8.RuneError || n > 1) {
			b.WriteString(s[i : i+n])
			continue
		}
		for _, c := range []byte(s[i : i+n]) {
			fmt.Fprintf(&b, `\%02X`, c)
		}
	}
	return b.String()
}

var emptyName = []byte{0x30, 0}

func isEmptyName(der []byte) bool { return len(der) == 0 || string(der) == string(emptyName) }

func orEmptyName(der []byte) []byte {
	if len(der) == 0 {
		return emptyName
	}
	return der
}

// Names are subject alternative names.
type Names struct {
	DNS   []string
	IP    []net.IP
	Email []string
	URI   []*url.URL
}

func (n *Names) empty() bool { return n.count() == 0 }

func (n *Names) count() int { return len(n.DNS) + len(n.IP) + len(n.Email) + len(n.URI) }

// Strings returns the names as Add reads them; what can't be printed is escaped.
func (n *Names) Strings() []string {
	out := []string{}
	for _, s := range n.DNS {
		out = append(out, "DNS:"+escape(s))
	}
	for _, ip := range n.IP {
		out = append(out, "IP:"+ip.String())
	}
	for _, s := range n.Email {
		out = append(out, "email:"+escape(s))
	}
	for _, u := range n.URI {
		out = append(out, "URI:"+escape(u.String()))
	}
	return out
}

// Add adds a name such as DNS:example.org, IP:192.0.2.1, email:ann@example.org
// or URI:https://example.org/.
func (n *Names) Add(s string) error {
	kind, value, _ := strings.Cut(s, ":")
	var one Names
	switch strings.ToLower(kind) {
	case "dns":
		one.DNS = []string{value}
	case "ip":
		ip := net.ParseIP(value)
		if ip == nil {
			return fmt.Errorf("x509ca: %q isn't an IP address", value)
		}
		if v4 := ip.To4(); v4 != nil {
			ip = v4
		}
		one.IP = []net.IP{ip}
	case "email":
		one.Email = []string{value}
	case "uri":
		u, err := url.Parse(value)
		if err != nil {
			return fmt.Errorf("x509ca: %q isn't a URI", value)
		}
		one.URI = []*url.URL{u}
	default:
		return fmt.Errorf("x509ca: %q starts with none of DNS:, IP:, email: and URI: (as in DNS:example.org)", s)
	}
	if err := one.check(); err != nil {
		return err
	}
	n.Merge(one)
	return nil
}

// Merge adds the names of m that aren't there yet.
func (n *Names) Merge(m Names) {
	have := n.Strings()
	add := func(s string) bool { return !slices.Contains(have, s) }
	for _, s := range m.DNS {
		if add("DNS:" + s) {
			n.DNS = append(n.DNS, s)
		}
	}
	for _, ip := range m.IP {
		if add("IP:" + ip.String()) {
			n.IP = append(n.IP, ip)
		}
	}
	for _, s := range m.Email {
		if add("email:" + s) {
			n.Email = append(n.Email, s)
		}
	}
	for _, u := range m.URI {
		if add("URI:" + u.String()) {
			n.URI = append(n.URI, u)
		}
	}
}

func (n *Names) check() error {
	for _, s := range n.DNS {
		if !isHost(strings.TrimPrefix(s, "*.")) {
			return fmt.Errorf("x509ca: %q isn't a DNS name", s)
		}
	}
	for _, ip := range n.IP {
		if len(ip) != net.IPv4len && len(ip) != net.IPv6len {
			return errors.New("x509ca: malformed IP address")
		}
	}
	for _, s := range n.Email {
		addr, err := mail.ParseAddress(s)
		if err != nil || addr.Name != "" || addr.Address != s || !isASCII(s) {
			return fmt.Errorf("x509ca: %q isn't an e-mail address", s)
		}
	}
	for _, u := range n.URI {
		// RFC 5280, section 4.2.1.6: absolute, with a scheme and what follows it.
		if s := u.String(); u.Scheme == "" || u.Host == "" && u.Opaque == "" && u.Path == "" || !isASCII(s) {
			return fmt.Errorf("x509ca: %q isn't an absolute URI", s)
		}
	}
	return nil
}

func isASCII(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r <= 0x20 || r >= 0x7f })
}

// isHost reports whether s is a host name in the preferred syntax of RFC 1034,
// section 3.5. Names in other scripts must be given in their ASCII form.
func isHost(s string) bool {
	if s == "" || len(s) > 253 {
		return false
	}
	for label := range strings.SplitSeq(s, ".") {
		if label == "" || len(label) > 63 || label[0] == '-' || label[len(label)-1] == '-' {
			return false
		}
		for _, c := range []byte(label) {
			if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '-' {
				return false
			}
		}
	}
	return true
}

// RequestNames returns the alternative names that a request asks for. It fails
// if there are some of a kind that Names doesn't have, so that none is lost.
func RequestNames(csr *x509.CertificateRequest) (Names, error) {
	n := Names{DNS: csr.DNSNames, IP: csr.IPAddresses, Email: csr.EmailAddresses, URI: csr.URIs}
	all, err := countNames(csr.Extensions)
	if err != nil {
		return Names{}, err
	}
	if all != n.count() {
		return Names{}, errors.New("x509ca: the request has names that are neither DNS, IP, email nor URI")
	}
	return n, n.check()
}

// Names returns the alternative names of u, and how many there are beside them
// of kinds that Names doesn't have.
func (u *Unsigned) Names() (n Names, others int) {
	var exts []pkix.Extension
	if c := u.cert; c != nil {
		n, exts = Names{DNS: c.DNSNames, IP: c.IPAddresses, Email: c.EmailAddresses, URI: c.URIs}, c.Extensions
	} else {
		c := u.csr
		n, exts = Names{DNS: c.DNSNames, IP: c.IPAddresses, Email: c.EmailAddresses, URI: c.URIs}, c.Extensions
	}
	all, err := countNames(exts)
	if err != nil { // which crypto/x509 doesn't let through
		all = n.count() + 1
	}
	return n, all - n.count()
}

// countNames counts the alternative names of any kind.
func countNames(exts []pkix.Extension) (all int, err error) {
	for _, ext := range exts {
		if !ext.Id.Equal(asn1.ObjectIdentifier{2, 5, 29, 17}) {
			continue
		}
		in := cryptobyte.String(ext.Value)
		var seq cryptobyte.String
		if !in.ReadASN1(&seq, cbasn1.SEQUENCE) || !in.Empty() {
			return 0, errors.New("x509ca: malformed names in the request")
		}
		for ; !seq.Empty(); all++ {
			var el cryptobyte.String
			var tag cbasn1.Tag
			if !seq.ReadAnyASN1(&el, &tag) {
				return 0, errors.New("x509ca: malformed names in the request")
			}
		}
	}
	return all, nil
}
