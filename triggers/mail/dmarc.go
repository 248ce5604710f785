package mail

import (
	"context"
	"strings"

	"github.com/emersion/go-msgauth/dmarc"
)

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

// maxWalk is how many names are looked up for one domain.
const maxWalk = 8

type dmarcRecord struct {
	*dmarc.Record
	publicSuffix bool // psd=y: others register domains under this one
}

// dmarcTree finds DMARC records by walking from a domain to its parents, and
// caches them.
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
