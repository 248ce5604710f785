package mail

import (
	"bytes"
	"strings"
)

// onlyOnce are the fields of which a message has one at most. Of several, a
// signature covers the lowest, and a reader takes the first (RFC 6376, 8.15):
// whoever got hold of a signed message can put one of his own in front.
var onlyOnce = map[string]bool{
	"from": true, "sender": true, "reply-to": true, "to": true, "cc": true, "date": true, "subject": true, "message-id": true,
	"mime-version": true, "content-type": true, "content-transfer-encoding": true,
}

// repeatedField gives the name of a field that a message may have once and has
// several times, "" when there is none. It takes for a field whatever the check
// of signatures does, which is more than is read otherwise.
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
		if seen[name] && onlyOnce[name] {
			return name
		}
		seen[name] = true
	}
	return ""
}
