package testsuite

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"blueprintd/blueprint"
	"blueprintd/project"
)

// stub reads a stub: an answer, or a list of answers.
func (r *reader) stub(key string, value any, at []any) *Stub {
	s := &Stub{Key: key}
	list, several := value.([]any)
	if !several {
		s.Answers = []Answer{r.answer(value, at)}
		return s
	}
	if len(list) == 0 {
		r.wrong(at, "must hold at least one answer")
	}
	for i, element := range list {
		a := r.answer(element, below(at, i))
		if a.Times == 0 && i < len(list)-1 {
			a.Times = 1
		}
		s.Answers = append(s.Answers, a)
	}
	return s
}

func (r *reader) answer(value any, at []any) (a Answer) {
	if r.stubs++; r.stubs > MaxStubs {
		r.wrong(at, "the file has more than %d stubs", MaxStubs)
		return a
	}
	object := r.object(value, at, "output", "handle", "status", "headers", "body", "error", "times", "delayMs")
	if object == nil {
		return a
	}
	a.Output, a.HasOutput = object["output"]
	a.Handle = r.text(object, "handle", at, false)
	a.Error = r.text(object, "error", at, false)
	a.Status = r.whole(object, "status", at, 100, 999)
	a.Times = r.whole(object, "times", at, 1, 1_000_000)
	a.DelayMs = r.whole(object, "delayMs", at, 0, project.MaxDelayMs)
	a.Body = object["body"]
	if given, there := object["headers"]; there {
		headers := r.object(given, below(at, "headers"))
		a.Headers = map[string]string{}
		for _, name := range slices.Sorted(maps.Keys(headers)) {
			switch text := headers[name].(type) {
			case string:
				if !headerName.MatchString(name) || strings.ContainsAny(text, "\r\n\x00") {
					r.wrong(below(at, "headers", name), "is not a valid header")
				}
				a.Headers[strings.ToLower(name)] = text
			case nil, map[string]any, []any:
				r.wrong(below(at, "headers", name), "must be a string")
			default:
				a.Headers[strings.ToLower(name)] = fmt.Sprint(text)
			}
		}
	}
	_, hasError := object["error"]
	_, hasStatus := object["status"]
	kinds := 0
	for _, given := range []bool{a.ofNode(), hasStatus, hasError} {
		if given {
			kinds++
		}
	}
	_, hasBody := object["body"]
	switch {
	case kinds != 1:
		r.wrong(at, "must have either output (or handle), or status, or error")
	case !hasStatus && (hasBody || a.Headers != nil):
		r.wrong(at, "body and headers require status")
	case hasError && a.Error == "":
		a.Error = "the service cannot be reached"
	}
	return a
}

var headerName = regexp.MustCompile("^[!#$%&'*+.^_`|~0-9A-Za-z-]+$")

// Check returns the issues of stubs and expectations with unknown nodes, and of stubs
// whose answers do not fit their key. nodes are those of NodesOf.
func (t *Test) Check(nodes []string) []blueprint.Issue {
	r := &reader{}
	for _, s := range t.Stubs {
		at := t.path("stubs", s.Key)
		node := slices.Contains(nodes, everyItem(s.Key))
		if !node && !isHost(s.Key) {
			r.misnamed(at, "is neither a node nor a host: %q%s", s.Key, known(nodes))
			continue
		}
		for i := range s.Answers {
			if !node && s.Answers[i].ofNode() {
				r.wrong(at, "output and handle are for nodes, and %q is a host; write status and body", s.Key)
				break
			}
		}
	}
	for _, part := range []string{"steps", "branches"} {
		list, _ := t.Expect[part].(map[string]any)
		for _, address := range slices.Sorted(maps.Keys(list)) {
			switch {
			case strings.Contains(address, "[*]"):
				r.misnamed(t.path("expect", part, address), "[*] is only allowed in stubs; name one item, as in %s", strings.ReplaceAll(address, "[*]", "[0]"))
			case !slices.Contains(nodes, everyItem(address)):
				r.misnamed(t.path("expect", part, address), "there is no node %q%s", address, known(nodes))
			}
		}
	}
	return r.issues
}

func known(nodes []string) string {
	if len(nodes) == 0 || len(nodes) > 12 {
		return ""
	}
	return "; the nodes are " + strings.Join(nodes, ", ")
}

var itemNumber = regexp.MustCompile(`\[[0-9]+\]/`)

// everyItem replaces the item numbers of an address by [*].
func everyItem(address string) string { return itemNumber.ReplaceAllLiteralString(address, "[*]/") }

var hostForm = regexp.MustCompile(`^(\*\.)?([0-9A-Za-z_-]+(\.[0-9A-Za-z_-]+)+|localhost|\[[0-9a-fA-F:.]+\])(:[0-9]{1,5})?$|^[0-9A-Za-z_-]+:[0-9]{1,5}$`)

func isHost(key string) bool { return hostForm.MatchString(key) }
