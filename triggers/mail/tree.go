package mail

import (
	"context"
	"strings"

	"github.com/emersion/go-msgauth/dmarc"
)

// maxWalk is how many names are asked for one domain.
const maxWalk = 8

// record is a DMARC record.
type record struct {
	*dmarc.Record
	public bool // the domain is one under which others register theirs
}

// tree finds DMARC records by walking from a domain to its parents, and tells
// by them which domains belong together. It keeps what it found.
type tree struct {
	ctx      context.Context
	resolver Resolver
	records  map[string]*record
}

// policy gives the record that holds for a domain: its own, or that of the
// nearest parent that has one; nil when there is none.
func (t *tree) policy(domain string) (*record, error) {
	for _, name := range walk(domain) {
		if found, err := t.at(name); found != nil || err != nil {
			return found, err
		}
	}
	return nil, nil
}

// same tells whether two domains are of one organization.
func (t *tree) same(one, other string) (bool, error) {
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

// organization gives the highest parent of a domain that has a record, or the
// domain itself when there is none. Below a domain whose record says that
// others register theirs under it, the child on the way is meant.
func (t *tree) organization(domain string) (string, error) {
	highest, child := domain, domain
	for _, name := range walk(domain) {
		found, err := t.at(name)
		switch {
		case err != nil:
			return "", err
		case found != nil && found.public:
			return child, nil
		case found != nil:
			highest = name
		}
		child = name
	}
	return highest, nil
}

// at gives the record of one name, nil when it has none that can be used.
func (t *tree) at(name string) (*record, error) {
	if found, known := t.records[name]; known {
		return found, nil
	}
	texts, err := t.resolver.LookupTXT(t.ctx, "_dmarc."+name)
	if err != nil && !notFound(err) {
		return nil, err
	}
	var found *record
	for _, text := range texts {
		parsed, err := dmarc.Parse(text)
		if err != nil {
			continue
		}
		if found != nil { // several are none
			found = nil
			break
		}
		found = &record{parsed, saysPublic(text)}
	}
	t.records[name] = found
	return found, nil
}

func saysPublic(text string) bool {
	for tag := range strings.SplitSeq(text, ";") {
		name, value, _ := strings.Cut(tag, "=")
		if strings.TrimSpace(name) == "psd" && strings.EqualFold(strings.TrimSpace(value), "y") {
			return true
		}
	}
	return false
}

// walk lists the names to ask for a domain, the longest first: itself, and its
// parents down to two labels. Of very long ones the middle is left out.
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
