package mail

import (
	"strings"

	"github.com/emersion/go-message"

	"blueprintd/blueprint"
)

// What a message may have.
const (
	maxHeader = 64 << 10 // bytes of a header
	maxFields = 200      // of a header
	maxParts  = 100
	maxDepth  = 10
	maxText   = 1 << 20 // bytes of text, and of HTML, that are handed over as such
)

// Parse reads a message. Whatever is wrong with it, what can be read is there;
// only what is beyond the limits of this package is refused: CodeBadRequest.
// Attachments are numbered as Open counts the parts.
func Parse(raw []byte) (*blueprint.Mail, error) {
	leaves, root, err := read(raw)
	if err != nil {
		return nil, err
	}
	m := &blueprint.Mail{Headers: texts(root)}
	readFields(m, root)
	for i, leaf := range leaves {
		into := leaf.body(m)
		if into == nil || !leaf.addTo(into) {
			m.Attachments = append(m.Attachments, leaf.file(i))
		}
	}
	return m, nil
}

// Open gives the bytes of a part of a message, decoded: CodeNotFound when there
// is none of that number, CodeBadRequest as with Parse.
func Open(raw []byte, part int) ([]byte, error) {
	leaves, _, err := read(raw)
	if err != nil {
		return nil, err
	}
	if part < 0 || part >= len(leaves) {
		return nil, blueprint.Errorf(blueprint.CodeNotFound, "the mail has no part %d", part)
	}
	return leaves[part].bytes(), nil
}

// read takes a message apart: the parts that have none of their own, from the
// top down, and the header of the whole.
func read(raw []byte) ([]*leaf, message.Header, error) {
	root, body, err := splitHeader(raw)
	if err != nil {
		return nil, root, err
	}
	w := &walker{}
	err = w.walk(root, body, "text/plain", 0)
	return w.leaves, root, err
}

// walker gathers the leaves of a message.
type walker struct {
	leaves []*leaf
	seen   int // parts, those that have parts among them
}

func (w *walker) walk(header message.Header, body []byte, otherwise string, depth int) error {
	if w.seen++; w.seen > maxParts {
		return blueprint.Errorf(blueprint.CodeBadRequest, "the mail has more than %d parts", maxParts)
	}
	if depth > maxDepth {
		return blueprint.Errorf(blueprint.CodeBadRequest, "the mail has parts within parts more than %d levels deep", maxDepth)
	}
	kind, parameters := contentType(header, otherwise)
	var parts [][]byte
	if strings.HasPrefix(kind, "multipart/") {
		parts = split(body, parameters["boundary"])
		otherwise = "text/plain"
		if kind == "multipart/digest" {
			otherwise = "message/rfc822"
		}
	}
	if len(parts) == 0 { // without parts it is what it looks like
		if strings.HasPrefix(kind, "multipart/") {
			kind = "text/plain"
		}
		w.leaves = append(w.leaves, &leaf{header: header, kind: kind, parameters: parameters, raw: body})
		return nil
	}
	for _, part := range parts {
		header, body, err := splitHeader(part)
		if err == nil {
			err = w.walk(header, body, otherwise, depth+1)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
