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

// maxSignatures is how many DKIM signatures of a message are looked at.
const maxSignatures = 5

// The results that decide something.
const (
	pass      = "pass"
	fail      = "fail"
	none      = "none"
	temperror = "temperror"
	permerror = "permerror"
)

// checker finds out who sent a message.
type checker struct {
	resolver Resolver
	identity string // under which results are reported
}

// claimed is a domain that somebody proved to speak for.
type claimed struct {
	domain string
	result string
}

// check asks SPF, DKIM and DMARC. Author is the address that the message is
// from, "" when that is in doubt.
func (c *checker) check(ctx context.Context, remote netip.Addr, envelope *blueprint.Envelope, raw []byte, author string) blueprint.SenderCheck {
	bySPF := c.spf(ctx, remote, envelope)
	byDKIM := c.dkim(ctx, raw)
	_, domain, _ := strings.Cut(author, "@")
	domain = canonical(domain)
	result, aligned, undecided := c.dmarc(ctx, domain, bySPF, byDKIM)
	repeated := repeatedField(raw)
	if repeated != "" { // it was signed with another value than the one that is read, as likely as not
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

// spf asks whether the sender's address may speak for the envelope's domain,
// or, where nobody hears of failures, for the name that it introduced itself by.
func (c *checker) spf(ctx context.Context, remote netip.Addr, envelope *blueprint.Envelope) claimed {
	sender, domain := envelope.From, envelope.From[strings.LastIndexByte(envelope.From, '@')+1:]
	if sender == "" {
		domain = envelope.Hello
		sender = "postmaster@" + domain
	}
	domain = canonical(domain)
	if domain == "" || !remote.IsValid() {
		return claimed{domain, none}
	}
	result, _ := spf.CheckHostWithSender(remote.AsSlice(), envelope.Hello, sender, spf.WithContext(ctx), spf.WithResolver(c.resolver))
	return claimed{domain, string(result)}
}

// dkim verifies the signatures.
func (c *checker) dkim(ctx context.Context, raw []byte) []claimed {
	options := &dkim.VerifyOptions{MaxVerifications: maxSignatures, LookupTXT: func(name string) ([]string, error) { return c.resolver.LookupTXT(ctx, name) }}
	verified, err := dkim.VerifyWithOptions(bytes.NewReader(raw), options)
	var found []claimed
	for _, v := range verified {
		if v == nil {
			continue
		}
		one := claimed{canonical(v.Domain), pass}
		switch {
		case v.Err == nil:
		case dkim.IsTempFail(v.Err):
			one.result = temperror
		case dkim.IsPermFail(v.Err):
			one.result = permerror
		default:
			one.result = fail
		}
		found = append(found, one)
	}
	if len(found) == 0 && err != nil {
		found = append(found, claimed{"", permerror}) // the header cannot be read so
	}
	return found
}

// best is the one result that stands for those of several signatures.
func best(signatures []claimed) string {
	for _, result := range []string{pass, temperror, fail, permerror} {
		for _, one := range signatures {
			if one.result == result {
				return result
			}
		}
	}
	return none
}

// dmarc reports whether what was proved is the author's domain. Aligned says so
// even where the domain has no record; undecided, that it may be true although
// the DNS did not say so.
func (c *checker) dmarc(ctx context.Context, author string, bySPF claimed, byDKIM []claimed) (result string, aligned, undecided bool) {
	if author == "" {
		return permerror, false, false
	}
	tree := &tree{ctx: ctx, resolver: c.resolver, records: map[string]*record{}}
	record, err := tree.policy(author)
	strictSPF, strictDKIM := false, false
	switch {
	case err != nil:
		return temperror, false, true
	case record != nil:
		strictSPF, strictDKIM = record.SPFAlignment == dmarc.AlignmentStrict, record.DKIMAlignment == dmarc.AlignmentStrict
	}
	look := func(one claimed, strict bool) {
		switch {
		case one.result != pass && one.result != temperror:
			return
		case one.result == pass && one.domain == author:
			aligned = true
			return
		case one.domain != author && strict:
			return
		}
		same, err := tree.same(author, one.domain)
		switch {
		case err != nil:
			undecided = true
		case same && one.result == pass:
			aligned = true
		case same:
			undecided = true
		}
	}
	look(bySPF, strictSPF)
	for _, one := range byDKIM {
		look(one, strictDKIM)
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

// results is all of it as RFC 8601 writes it.
func (c *checker) results(envelope *blueprint.Envelope, bySPF claimed, byDKIM []claimed, byDMARC, author string) string {
	all := []authres.Result{&authres.SPFResult{Value: authres.ResultValue(bySPF.result), From: printable(envelope.From), Helo: printable(envelope.Hello)}}
	for _, one := range byDKIM {
		all = append(all, &authres.DKIMResult{Value: authres.ResultValue(one.result), Domain: printable(one.domain)})
	}
	if len(byDKIM) == 0 {
		all = append(all, &authres.DKIMResult{Value: none})
	}
	all = append(all, &authres.DMARCResult{Value: authres.ResultValue(byDMARC), From: printable(author)})
	return strings.TrimSpace(strings.ReplaceAll(authres.Format(c.identity, all), " ;", ";"))
}

// printable leaves of a text what can stand in a header field unharmed.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if r <= ' ' || r > '~' || strings.ContainsRune(`"\;()<>,`, r) {
			return -1
		}
		return r
	}, text)
}

// canonical returns a domain in the one form in which domains are compared.
func canonical(domain string) string {
	return strings.ToLower(strings.TrimSuffix(strings.TrimSpace(domain), "."))
}

// Resolver asks the DNS; *net.Resolver is one. Names that do not exist are a
// *net.DNSError whose IsNotFound is true.
type Resolver interface {
	LookupTXT(ctx context.Context, name string) ([]string, error)
	LookupMX(ctx context.Context, name string) ([]*net.MX, error)
	LookupIPAddr(ctx context.Context, host string) ([]net.IPAddr, error)
	LookupAddr(ctx context.Context, address string) ([]string, error)
}

const (
	maxLookups    = 40 // for one message
	lookupTimeout = 2 * time.Second
)

var errLookups = errors.New("too many questions to the DNS for one message")

// limited is a resolver for one message: it asks only so many questions, and
// waits only so long for each answer. It is safe for concurrent use.
type limited struct {
	Resolver
	asked atomic.Int32
}

func bounded(r Resolver) *limited { return &limited{Resolver: r} }

func ask[T any](ctx context.Context, l *limited, name string, lookup func(context.Context, string) (T, error)) (answer T, err error) {
	if l.asked.Add(1) > maxLookups {
		return answer, &net.DNSError{Err: errLookups.Error(), Name: name, IsTemporary: true}
	}
	ctx, cancel := context.WithTimeout(ctx, lookupTimeout)
	defer cancel()
	answer, err = lookup(ctx, name)
	var known *net.DNSError
	if err != nil && !errors.As(err, &known) {
		err = &net.DNSError{Err: err.Error(), Name: name, IsTemporary: true}
	}
	return answer, err
}

// LookupTXT returns the texts of a name.
func (l *limited) LookupTXT(ctx context.Context, name string) ([]string, error) {
	return ask(ctx, l, name, l.Resolver.LookupTXT)
}

// LookupMX returns the mail servers of a name.
func (l *limited) LookupMX(ctx context.Context, name string) ([]*net.MX, error) {
	return ask(ctx, l, name, l.Resolver.LookupMX)
}

// LookupIPAddr returns the addresses of a host.
func (l *limited) LookupIPAddr(ctx context.Context, host string) ([]net.IPAddr, error) {
	return ask(ctx, l, host, l.Resolver.LookupIPAddr)
}

// LookupAddr returns the names of an address.
func (l *limited) LookupAddr(ctx context.Context, address string) ([]string, error) {
	return ask(ctx, l, address, l.Resolver.LookupAddr)
}

// notFound reports whether a name does not exist, or has nothing of that kind.
func notFound(err error) bool {
	var known *net.DNSError
	return errors.As(err, &known) && known.IsNotFound
}
