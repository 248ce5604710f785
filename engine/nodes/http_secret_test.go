package nodes

import (
	"context"
	"encoding/base64"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"

	"blueprintd/blueprint"
	"blueprintd/foundation/outbound"
	"blueprintd/foundation/secret"
)

// repeating is a network that answers with the address and the body that it was sent.
type repeating struct{}

func (repeating) RoundTrip(r *http.Request) (*http.Response, error) {
	var body []byte
	if r.Body != nil {
		body, _ = io.ReadAll(r.Body)
	}
	return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {"text/plain"}}, Body: io.NopCloser(strings.NewReader(r.URL.String() + "\n" + string(body)))}, nil
}

func (repeating) DialContext(context.Context, string, string) (net.Conn, error) {
	return nil, net.ErrClosed
}

// ways are those in which a request may carry a value.
var ways = map[string]string{
	"path":      `{"url": "https://a.example/a/{{pw}}"}`,
	"deep path": `{"url": "https://a.example/é \"x\"/{{pw}}/b"}`,
	"address":   `{"url": "https://a.example/?x={{pw}}"}`,
	"query":     `{"url": "https://a.example/?a=1", "query": {"x": "{{pw}}", "y": "<{{pw}}>"}}`,
	"form":      `{"url": "https://a.example/", "method": "POST", "headers": {"Content-Type": "application/x-www-form-urlencoded"}, "body": {"x": "{{pw}}"}}`,
	"JSON":      `{"url": "https://a.example/", "method": "POST", "body": {"x": "{{pw}}", "y": ["say {{pw}}"], "{{pw}}": 1}}`,
	"text":      `{"url": "https://a.example/", "method": "POST", "body": "\"{{pw}}\" & more"}`,
	"object":    `{"url": "https://a.example/", "query": {"x": {"y": "{{pw}}"}}}`,
	"header":    `{"url": "https://a.example/", "headers": {"X-Said": "a {{pw}} b", "X-Alone": "{{pw}}"}}`,
	"basic":     `{"url": "https://a.example/", "headers": {"X-Said": "Basic {{basic}}"}}`,
	"multipart": `{"url": "https://a.example/", "method": "POST", "multipart": [{"name": "x", "value": "{{pw}}"}, {"name": "{{pw}}", "value": {"y": "{{pw}}"}}, {"name": "f", "filename": "{{pw}}", "value": "z"}]}`,
}

// leaks tells where a secret is still to be seen in the exchanges of a request, as
// it is or escaped.
func leaks(t interface{ Fatal(...any) }, config, word string) string {
	kind := All(Dependencies{HTTP: outbound.New(outbound.Options{Network: repeating{}})})
	var run *blueprint.NodeType
	for _, each := range kind {
		if each.Type == "http-request" {
			run = each
		}
	}
	fill := map[string]string{"{{pw}}": word, "{{basic}}": base64.StdEncoding.EncodeToString([]byte("ada:" + word))}
	ctx, tape := outbound.WithTape(context.Background(), func() time.Time { return now })
	decoded, err := blueprint.Decode([]byte(config))
	if err != nil {
		t.Fatal(err)
	}
	task := &blueprint.Task{Config: filled(decoded, fill).(map[string]any), Attempt: 1, Now: now, Log: func(string, string, any) {}}
	_, _ = run.Run(ctx, task) // what cannot be sent is not
	list, _ := tape.List()
	masker := secret.NewMasker([]any{word})
	for _, x := range list {
		data, err := blueprint.Encode(masker.Exchange(x))
		if err != nil {
			t.Fatal(err)
		}
		seen, _ := blueprint.Decode(data)
		if found := within(seen, strings.Trim(word, " ")); found != "" {
			return found
		}
	}
	return ""
}

// filled puts values in the places of their names.
func filled(value any, fill map[string]string) any {
	switch v := value.(type) {
	case string:
		for name, text := range fill {
			v = strings.ReplaceAll(v, name, text)
		}
		return v
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = filled(v[i], fill)
		}
		return out
	case map[string]any:
		out := map[string]any{}
		for name, element := range v {
			out[filled(name, fill).(string)] = filled(element, fill)
		}
		return out
	}
	return value
}

// within returns a text of a value that holds a word, as it is or escaped.
func within(value any, word string) string {
	switch v := value.(type) {
	case string:
		path, _ := url.PathUnescape(v)
		query, _ := url.QueryUnescape(v)
		for _, text := range []string{v, path, query} {
			if strings.Contains(text, word) {
				return v
			}
		}
	case []any:
		for _, element := range v {
			if found := within(element, word); found != "" {
				return found
			}
		}
	case map[string]any:
		for name, element := range v {
			for _, each := range []any{name, element} {
				if found := within(each, word); found != "" {
					return found
				}
			}
		}
	}
	return ""
}

func TestNoRequestShowsASecret(t *testing.T) {
	for _, word := range []string{
		"correct horse/battery", "a b;c?d,e", "pässword/1", `ab"cd/efg`, "abc|def;ghi", "100%41bcd", "it's (a) 50% [x]!", `back\slash\nx`, "a+b&c=d e", "hunter#22 is it", " padded word ",
		"<b>&amp;</b>", "päß\u2028wörd", "semi;colon", "new\nline", "trailing \"quote\\", "{{mustache", "a%20b%2Fc",
	} {
		for way, config := range ways {
			t.Run(way, func(t *testing.T) {
				if seen := leaks(t, config, word); seen != "" {
					t.Errorf("%q in the %s: %q, want nothing", word, way, seen)
				}
			})
		}
	}
}

func TestNoRequestShowsAnySecret(t *testing.T) {
	letters := []rune(`aZ09 /?#&=+%;:,.!'"()[]{}<>|\^~*@$` + "`éß漢\u2028\t")
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.StringOfN(rapid.RuneFrom(letters), 6, 30, -1).Draw(t, "secret")
		if utf8.RuneCountInString(strings.TrimSpace(word)) < 6 || utf8.RuneCountInString(strings.Trim(word, "+% ")) < 3 {
			return // too short to be searched for
		}
		for way, config := range ways {
			if seen := leaks(t, config, word); seen != "" {
				t.Fatalf("%q in the %s: %q, want nothing", word, way, seen)
			}
		}
	})
}
