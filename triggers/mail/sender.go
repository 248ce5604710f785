package mail

import (
	"bytes"
	"context"
	"errors"
	"net"
	"net/netip"
	"strings"
	"sync/atomic"
	"time"

	"blitiri.com.ar/go/spf"
	"github.com/emersion/go-msgauth/authres"
	"github.com/emersion/go-msgauth/dkim"
	"github.com/emersion/go-msgauth/dmarc"

	"blueprintd/blueprint"
)

// maxSignatures is the maximum number of DKIM signatures verified per message.
const maxSignatures = 5

// Results of SPF, DKIM and DMARC (RFC 8601, section 2.7).
const (
	pass      = "pass"
	fail      = "fail"
	none      = "none"
	temperror = "temperror"
	permerror = "permerror"
)

// checker authenticates the sender of a message.
type checker struct {
	resolver Resolver
	identity string // authserv-id of the reported results (RFC 8601)
}

// authenticated is the result of SPF or of one DKIM signature for a domain.
type authenticated struct {
	domain string
	result string
}

// check evaluates SPF, DKIM and DMARC. Author is the only address of the From
// field, "" if there is no such address.
func (c *checker) check(ctx context.Context, remote netip.Addr, envelope *blueprint.Envelope, raw []byte, author string) blueprint.SenderCheck {
	bySPF := c.spf(ctx, remote, envelope)
	byDKIM := c.dkim(ctx, raw)
	_, domain, _ := strings.Cut(author, "@")
	domain = canonical(domain)
	result, aligned, undecided := c.dmarc(ctx, domain, bySPF, byDKIM)
	repeated := repeatedField(raw)
	if repeated != "" { // the signature may cover another value than the one that is read
		result, aligned, undecided = permerror, false, false
	}
	check := blueprint.SenderCheck{
		SPF: bySPF.result, DKIM: best(byDKIM), DMARC: result,
		Passed:    result == pass || result == none && aligned,
		Undecided: undecided, Repeated: repeated,
		Results: c.results(envelope, bySPF, byDKIM, result, domain),
	}
	if check.Passed {
		check.Domain = domain
	}
	return check
}

// spf checks whether the remote address may send for the envelope's domain, or
// for the EHLO name if the envelope sender is empty.
func (c *checker) spf(ctx context.Context, remote netip.Addr, envelope *blueprint.Envelope) authenticated {
	sender, domain := envelope.From, envelope.From[strings.LastIndexByte(envelope.From, '@')+1:]
	if sender == "" {
		domain = envelope.Hello
		sender = "postmaster@" + domain
	}
	domain = canonical(domain)
	if domain == "" || !remote.IsValid() {
		return authenticated{domain, none}
	}
	result, _ := spf.CheckHostWithSender(remote.AsSlice(), envelope.Hello, sender, spf.WithContext(ctx), spf.WithResolver(c.resolver))
	return authenticated{domain, string(result)}
}

func (c *checker) dkim(ctx context.Context, raw []byte) (results []authenticated) {
	options := &dkim.VerifyOptions{MaxVerifications: maxSignatures, LookupTXT: func(name string) ([]string, error) { return c.resolver.LookupTXT(ctx, name) }}
	verified, err := dkim.VerifyWithOptions(bytes.NewReader(raw), options)
	for _, v := range verified {
		if v == nil {
			continue
		}
		result := fail
		switch {
		case v.Err == nil:
			result = pass
		case dkim.IsTempFail(v.Err):
			result = temperror
		case dkim.IsPermFail(v.Err):
			result = permerror
		}
		results = append(results, authenticated{canonical(v.Domain), result})
	}
	if len(results) == 0 && err != nil {
		return []authenticated{{"", permerror}} // the header is malformed
	}
	return results
}

// best returns the result that summarizes those of several signatures.
func best(signatures []authenticated) string {
	for _, result := range []string{pass, temperror, fail, permerror} {
		for _, one := range signatures {
			if one.result == result {
				return result
			}
		}
	}
	return none
}

// results formats all results as an Authentication-Results field (RFC 8601).
func (c *checker) results(envelope *blueprint.Envelope, bySPF authenticated, byDKIM []authenticated, byDMARC, author string) string {
	all := []authres.Result{&authres.SPFResult{Value: authres.ResultValue(bySPF.result), From: fieldSafe(envelope.From), Helo: fieldSafe(envelope.Hello)}}
	for _, one := range byDKIM {
		all = append(all, &authres.DKIMResult{Value: authres.ResultValue(one.result), Domain: fieldSafe(one.domain)})
	}
	if len(byDKIM) == 0 {
		all = append(all, &authres.DKIMResult{Value: none})
	}
	all = append(all, &authres.DMARCResult{Value: authres.ResultValue(byDMARC), From: fieldSafe(author)})
	return strings.TrimSpace(strings.ReplaceAll(authres.Format(c.identity, all), " ;", ";"))
}

// fieldSafe removes characters that would change the structure of a header field.
func fieldSafe(text string) string {
	return strings.Map(func(r rune) rune {
		if r <= ' ' || r > '~' || strings.ContainsRune(`"\;()<>,`, r) {
			return -1
		}
		return r
	}, text)
}

// canonical returns a domain in the form in which domains are compared.
func canonical(domain string) string {
	return strings.ToLower(strings.TrimSuffix(strings.TrimSpace(domain), "."))
}

// singleFields are the header fields that a message may have only once. A DKIM
// signature covers the last of several, readers take the first (RFC 6376, section
// 8.15), so a repeated one would replace a signed value.
var singleFields = map[string]bool{
	"from": true, "sender": true, "reply-to": true, "to": true, "cc": true, "date": true, "subject": true, "message-id": true,
	"mime-version": true, "content-type": true, "content-transfer-encoding": true,
}

// repeatedField returns the name of a repeated single field, "" if there is none.
// Like the DKIM library, it recognizes malformed fields that splitHeader ignores.
func repeatedField(raw []byte) string {
	seen := map[string]bool{}
	for first, rest := true, raw; len(rest) > 0; first = false {
		var line []byte
		if line, rest = cutLine(rest); len(line) == 0 {
			break
		}
		if !first && (line[0] == ' ' || line[0] == '\t') {
			continue
		}
		before, _, _ := bytes.Cut(line, []byte(":"))
		name := strings.ToLower(strings.TrimSpace(string(before)))
		if seen[name] && singleFields[name] {
			return name
		}
		seen[name] = true
	}
	return ""
}

// Resolver looks up DNS records; *net.Resolver implements it. A name that does not
// exist is a *net.DNSError whose IsNotFound is true.
type Resolver interface {
	LookupTXT(ctx context.Context, name string) ([]string, error)
	LookupMX(ctx context.Context, name string) ([]*net.MX, error)
	LookupIPAddr(ctx context.Context, host string) ([]net.IPAddr, error)
	LookupAddr(ctx context.Context, address string) ([]string, error)
}

const (
	maxLookups    = 40 // per message
	lookupTimeout = 2 * time.Second
)

// limitedResolver limits the number and the duration of the lookups for one
// message. It is safe for concurrent use.
type limitedResolver struct {
	Resolver
	lookups atomic.Int32
}

func limitedLookup[T any](ctx context.Context, r *limitedResolver, name string, lookup func(context.Context, string) (T, error)) (records T, err error) {
	if r.lookups.Add(1) > maxLookups {
		return records, &net.DNSError{Err: "too many lookups for one message", Name: name, IsTemporary: true}
	}
	ctx, cancel := context.WithTimeout(ctx, lookupTimeout)
	defer cancel()
	records, err = lookup(ctx, name)
	var known *net.DNSError
	if err != nil && !errors.As(err, &known) {
		err = &net.DNSError{Err: err.Error(), Name: name, IsTemporary: true}
	}
	return records, err
}

func (r *limitedResolver) LookupTXT(ctx context.Context, name string) ([]string, error) {
	return limitedLookup(ctx, r, name, r.Resolver.LookupTXT)
}

func (r *limitedResolver) LookupMX(ctx context.Context, name string) ([]*net.MX, error) {
	return limitedLookup(ctx, r, name, r.Resolver.LookupMX)
}

func (r *limitedResolver) LookupIPAddr(ctx context.Context, host string) ([]net.IPAddr, error) {
	return limitedLookup(ctx, r, host, r.Resolver.LookupIPAddr)
}

func (r *limitedResolver) LookupAddr(ctx context.Context, address string) ([]string, error) {
	return limitedLookup(ctx, r, address, r.Resolver.LookupAddr)
}

func isNotFound(err error) bool {
	var known *net.DNSError
	return errors.As(err, &known) && known.IsNotFound
}

// dmarc evaluates whether an authenticated domain is aligned with the author's.
// Aligned is true even if the author's domain publishes no record. Undecided
// reports that a DNS failure may have hidden an alignment.
func (c *checker) dmarc(ctx context.Context, author string, bySPF authenticated, byDKIM []authenticated) (result string, aligned, undecided bool) {
	if author == "" {
		return permerror, false, false
	}
	tree := &dmarcTree{ctx: ctx, resolver: c.resolver, records: map[string]*dmarcRecord{}}
	record, err := tree.policy(author)
	if err != nil {
		return temperror, false, true
	}
	align := func(one authenticated, strict bool) {
		switch {
		case one.result != pass && one.result != temperror:
			return
		case one.result == pass && one.domain == author:
			aligned = true
			return
		case one.domain != author && strict:
			return
		}
		same, err := tree.sameOrganization(author, one.domain)
		aligned = aligned || err == nil && same && one.result == pass
		undecided = undecided || err != nil || same && one.result == temperror
	}
	align(bySPF, record != nil && record.SPFAlignment == dmarc.AlignmentStrict)
	for _, one := range byDKIM {
		align(one, record != nil && record.DKIMAlignment == dmarc.AlignmentStrict)
	}
	switch {
	case aligned && record != nil:
		return pass, true, false
	case aligned:
		return none, true, false
	case undecided:
		return temperror, false, true
	case record == nil:
		return none, false, false
	}
	return fail, false, false
}

// maxWalk is the maximum number of names looked up for one domain.
const maxWalk = 8

type dmarcRecord struct {
	*dmarc.Record
	publicSuffix bool // psd=y: others register domains under this one
}

// dmarcTree finds DMARC records by walking from a domain to its parents, and caches them.
type dmarcTree struct {
	ctx      context.Context
	resolver Resolver
	records  map[string]*dmarcRecord
}

// policy returns the record that applies to a domain: its own or that of the
// nearest parent, nil if there is none.
func (t *dmarcTree) policy(domain string) (*dmarcRecord, error) {
	for _, name := range walk(domain) {
		if found, err := t.at(name); found != nil || err != nil {
			return found, err
		}
	}
	return nil, nil
}

func (t *dmarcTree) sameOrganization(one, other string) (bool, error) {
	if one == other {
		return true, nil
	}
	first, err := t.organization(one)
	if err != nil {
		return false, err
	}
	second, err := t.organization(other)
	return err == nil && first == second, err
}

// organization returns the organizational domain: the highest parent that has a
// record, the domain itself if there is none, or the domain directly below a
// public suffix.
func (t *dmarcTree) organization(domain string) (string, error) {
	highest, child := domain, domain
	for _, name := range walk(domain) {
		found, err := t.at(name)
		switch {
		case err != nil:
			return "", err
		case found != nil && found.publicSuffix:
			return child, nil
		case found != nil:
			highest = name
		}
		child = name
	}
	return highest, nil
}

// at returns the record of one name, nil if it has none or several.
func (t *dmarcTree) at(name string) (*dmarcRecord, error) {
	if found, known := t.records[name]; known {
		return found, nil
	}
	texts, err := t.resolver.LookupTXT(t.ctx, "_dmarc."+name)
	if err != nil && !isNotFound(err) {
		return nil, err
	}
	var found *dmarcRecord
	for _, text := range texts {
		parsed, err := dmarc.Parse(text)
		if err != nil {
			continue
		}
		if found != nil {
			found = nil
			break
		}
		found = &dmarcRecord{parsed, isPublicSuffix(text)}
	}
	t.records[name] = found
	return found, nil
}

// isPublicSuffix parses the psd tag, which the library does not support.
func isPublicSuffix(text string) bool {
	for tag := range strings.SplitSeq(text, ";") {
		name, value, _ := strings.Cut(tag, "=")
		if strings.TrimSpace(name) == "psd" && strings.EqualFold(strings.TrimSpace(value), "y") {
			return true
		}
	}
	return false
}

// walk returns the names to look up for a domain: the domain and its parents with
// at least two labels, longest first. In the middle of very long ones it skips
// names.
func walk(domain string) []string {
	labels := strings.Split(domain, ".")
	names := []string{domain}
	if len(labels) > maxWalk {
		labels = labels[len(labels)-maxWalk+1:]
		names = append(names, strings.Join(labels, "."))
	}
	for len(labels) > 2 {
		labels = labels[1:]
		names = append(names, strings.Join(labels, "."))
	}
	return names
}
