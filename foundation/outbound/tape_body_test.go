package outbound

import (
	"bytes"
	"compress/gzip"
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"blueprintd/blueprint"
)

// canned is a network with one answer.
type canned struct {
	header http.Header
	body   []byte
}

func (c canned) RoundTrip(*http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: 200, Header: c.header, Body: io.NopCloser(bytes.NewReader(c.body))}, nil
}

func (canned) DialContext(context.Context, string, string) (net.Conn, error) { return nil, io.EOF }

func packed(t *testing.T, text string) []byte {
	t.Helper()
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	io.WriteString(w, text)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// TestAnswersOnATape reads answers in part, not at all, and such as are packed.
func TestAnswersOnATape(t *testing.T) {
	of := func(pairs ...string) http.Header {
		h := http.Header{}
		for i := 0; i < len(pairs); i += 2 {
			h.Set(pairs[i], pairs[i+1])
		}
		return h
	}
	for _, test := range []struct {
		name  string
		from  canned
		read  int // bytes; -1 = to the end
		close bool
		want  string // the body, as JSON
		cut   bool
	}{
		{"whole", canned{of(), []byte("hello")}, -1, true, `"hello"`, false},
		{"in part", canned{of(), []byte("hello")}, 3, true, `"hel"`, true},
		{"still in progress", canned{of(), []byte("hello")}, 3, false, `"hel"`, true},
		{"not at all", canned{of(), []byte("hello")}, 0, true, `null`, true},
		{"JSON", canned{of("Content-Type", "application/json"), []byte(`{"password": "x", "n": 1.0}`)}, -1, true, `{"n":1.0,"password":"***"}`, false},
		{"JSON in part", canned{of("Content-Type", "application/json"), []byte(`{"password": "secret", "n": 1.0}`)}, 18, true, `"{\"password\": \"***"`, true},
		{"events", canned{of("Content-Type", "text/event-stream"), []byte("data: {\"access_token\": \"abc\"}\n\n")}, -1, true, `"data: {\"access_token\": \"***\"}\n\n"`, false},
		{"packed", canned{of("Content-Encoding", "gzip"), packed(t, "https://a.example/?token=abc")}, -1, true, `"https://a.example/?token=***"`, false},
		{"packed otherwise", canned{of("Content-Encoding", "br"), []byte("abc")}, -1, true, `null`, true},
		{"no text", canned{of(), []byte{0xff, 0xfe}}, -1, true, `{"$base64":"//4="}`, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			client := New(Options{Network: test.from})
			ctx, tape := WithTape(context.Background(), time.Now)
			request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://a.example/", nil)
			if err != nil {
				t.Fatal(err)
			}
			response, err := client.Do(request)
			if err != nil {
				t.Fatal(err)
			}
			if test.read < 0 {
				io.Copy(io.Discard, response.Body)
			} else {
				io.ReadFull(response.Body, make([]byte, test.read))
			}
			if test.close {
				response.Body.Close()
			}
			list, full := tape.List()
			if len(list) != 1 || full || list[0].Response == nil {
				t.Fatalf("%+v", list)
			}
			got, _ := blueprint.Encode(list[0].Response.Body)
			if string(got) != test.want || list[0].Response.Cut != test.cut {
				t.Errorf("%s, cut %v; want %v and %v", got, list[0].Response.Cut, test.want, test.cut)
			}
		})
	}
}

func TestSomeRequestsAreNotTaped(t *testing.T) {
	client := New(Options{Network: canned{http.Header{}, nil}})
	ctx, tape := WithTape(context.Background(), time.Now)
	request, _ := http.NewRequestWithContext(Unrecorded(ctx), http.MethodPost, "http://a.example/token", strings.NewReader("client_secret=x"))
	response, err := client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	NoteExchange(Unrecorded(ctx), blueprint.Exchange{})
	if list, _ := tape.List(); len(list) != 0 {
		t.Errorf("%+v, want none", list)
	}
}
