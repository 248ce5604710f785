package sandbox

import (
	"slices"
	"strings"

	"blueprintd/blueprint"
)

// Known are the names that rules and expectations can be about. A list that is
// empty says that any name may be right.
type Known struct {
	NodeTypes, Procedures []string
	Subscriptions         []string // those of Procedures that answer a stream
}

// names looks at the names in a match, and writes a node type as it is known.
func (r *reader) names(m *match, path []any) {
	m.nodeType = strings.ReplaceAll(m.nodeType, "_", "-")
	one := func(member, what, name string, known []string) {
		if name != "" && len(known) > 0 && !strings.Contains(name, "*") && !slices.Contains(known, name) {
			r.wrong("there is no "+what+" of this name"+blueprint.DidYouMean(name, known), append(slices.Clone(path), member)...)
		}
	}
	one("nodeType", "node type", m.nodeType, r.known.NodeTypes)
	one("procedure", "procedure", m.procedure, r.known.Procedures)
	if strings.Contains(m.host, "/") {
		r.wrong("must be a host alone, as api.example.org or localhost:8080; the rest goes to path", append(slices.Clone(path), "host")...)
	}
}

// mail tells whether a match is about mails alone.
func (m *match) mail() bool {
	return m.nodeType == "send-email" || strings.EqualFold(m.method, methodMail)
}
