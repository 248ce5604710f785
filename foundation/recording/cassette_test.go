package recording

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/smtp"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"blueprintd/blueprint"
	"blueprintd/blueprint/jsonschema"
	"blueprintd/foundation/outbound"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const tape = `{"format": "blueprintd-cassette/1", "connections": {"c": {"name": "n", "type": "http", "config": {}}}, "exchanges": [
 {"nodeId": "a", "request": {"method": "POST", "url": "https://x.example/1?key=***", "headers": {"x-a": "b"}, "body": {"n": 1, "token": "Bearer ***"}}, "response": {"status": 200, "body": {"first": true}}},
 {"nodeId": "a", "request": {"method": "POST", "url": "https://x.example/2"}, "error": "gone"},
 {"nodeId": "m", "request": {"method": "MAIL", "url": "smtp://mx.example:587", "headers": {"subject": "Hi"}, "body": "text"}, "response": {"status": 250}},
 {"nodeId": "z", "request": {"method": "GET", "url": "https://x.example/3"}, "response": {"status": 204}}]}`

func read(t *testing.T) *Cassette {
	t.Helper()
	c, err := ReadCassette([]byte(tape))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func ask(p *Player, node, method, url, body string) (string, error) {
	client := outbound.New(outbound.Options{Network: p})
	request, err := http.NewRequestWithContext(outbound.WithCaller(context.Background(), outbound.Caller{Address: node}), method, url, strings.NewReader(body))
	if err != nil {
		return "", err
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("X-A", "b")
	response, err := client.Do(request)
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	data, err := io.ReadAll(response.Body)
	return string(data), err
}

func TestAPlayerAnswers(t *testing.T) {
	p := NewPlayer(read(t))
	if _, err := ask(p, "a", "POST", "https://x.example/2", ""); err == nil || err.Error() != "gone" {
		t.Errorf("what had no answer: %v, want an error and gone", err)
	}
	if got, err := ask(p, "a", "POST", "https://x.example/1?key=5", `{"n": 1.0, "token": "Bearer 7"}`); err != nil || got != `{"first":true}` {
		t.Errorf("%s, %v; want {\"first\":true}", got, err)
	}
	if _, err := ask(p, "b", "GET", "https://x.example/3", ""); err != nil { // another node, the same request
		t.Error(err)
	}
	conn, err := p.DialContext(outbound.WithCaller(context.Background(), outbound.Caller{Address: "m"}), "tcp", "mx.example:587")
	if err != nil {
		t.Fatal(err)
	}
	client, err := smtp.NewClient(conn, "mx.example")
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	for _, step := range []func() error{
		func() error { return client.Mail("a@x.example") }, func() error { return client.Rcpt("b@x.example") },
		func() error {
			w, err := client.Data()
			if err != nil {
				return err
			}
			io.WriteString(w, "Subject: Ho\r\n\r\ntext")
			return w.Close()
		}, client.Quit,
	} {
		if err := step(); err != nil {
			t.Fatal(err)
		}
	}
	want := `node "m": call MAIL smtp://mx.example:587 header subject: recorded "Hi", got "Ho"`
	if found := p.Differences(); len(found) != 1 || found[0].String() != want {
		t.Errorf("%v, want length 1 and %v", found, want)
	}
	if _, err := ask(p, "a", "GET", "https://x.example/9", ""); err == nil || !strings.Contains(err.Error(), "no answer for GET https://x.example/9") {
		t.Errorf("%v, want an error and \"no answer for GET https://x.example/9\" in it", err)
	}
}

func TestDifferences(t *testing.T) {
	p := NewPlayer(read(t))
	if _, err := ask(p, "a", "POST", "https://x.example/1?key=5", `{"n": 2, "token": "Bearer 7", "more": null}`); err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, d := range p.Differences() {
		lines = append(lines, d.String())
	}
	want := `node "a": call POST https://x.example/1?key=*** body.more: is not in the recording
node "a": call POST https://x.example/1?key=*** body.n: recorded 1, got 2
node "a": call POST https://x.example/2: was recorded, and did not happen
node "m": call MAIL smtp://mx.example:587: was recorded, and did not happen
node "z": call GET https://x.example/3: was recorded, and did not happen`
	if got := strings.Join(lines, "\n"); got != want {
		t.Errorf("got\n%s", got)
	}
}

func TestWhatCountsAsTheSame(t *testing.T) {
	from := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	known := "11111111-0000-4000-8000-000000000001"
	r := Rules{Volatile: NewVolatile(from, from.Add(time.Hour), nil, known)}
	for _, test := range []struct {
		recorded, got string
		same          bool
	}{
		{"a", "a", true}, {"a", "b", false}, {"***", "anything", true}, {"a***c", "abc", true}, {"a***c", "ab", false}, {"***b***", "abc", true}, {"***x***", "abc", false},
		{"a***a", "a", false},
		{"exec_1_01hf7yat000000000000000000 x", "exec_2_01hf7yat000000000000000009 x", true},
		{"2030-01-01T00:30:00.000Z", "2031-01-01T00:00:00.000Z", true}, {"2030-01-02T00:00:00Z", "2031-01-01T00:00:00Z", false},
		{"Sent at 2030-01-01T00:30:00.000Z.", "Sent at 2031-01-01T00:00:00Z.", true}, {"Sent at 2030-01-01T00:30:00.000Z.", "Sent.", false},
		{"Tue, 01 Jan 2030 00:30:00 GMT", "Wed, 01 Jan 2031 00:30:00 GMT", true}, {"order-1893457800000", "order-1893457800009", true}, {"order-1093457800000", "order-1893457800009", false},
		{"of 11111111-0000-4000-8000-000000000002", "of 11111111-0000-4000-8000-000000000003", true}, {"of " + known, "of 11111111-0000-4000-8000-000000000003", false},
		{"https://x/?k=%2A%2A%2A&b=1", "https://x/?k=5&b=1", true},
	} {
		t.Run(test.recorded+" "+test.got, func(t *testing.T) {
			if got := r.text(test.recorded, test.got); got != test.same {
				t.Errorf("%s and %s: %t, want %v", test.recorded, test.got, got, test.same)
			}
		})
	}
	for recorded, same := range map[json.Number]bool{"1893457800000": true, "1893457800": true, "1093457800": false, "5": false} {
		t.Run(fmt.Sprint(recorded), func(t *testing.T) {
			if got := r.Compare("a", "output", recorded, json.Number("1893457800123")); (len(got) == 0) != same {
				t.Errorf("differences %v, want the same: %v", got, same)
			}
		})
	}
}

func TestBadCassettes(t *testing.T) {
	for text, want := range map[string]string{
		`x`: "not JSON", `[]`: "must be an object", `{"format": "x"}`: "format: must be", `{"format": "blueprintd-cassette/1"}`: "exchanges: must be an array",
		`{"format": "blueprintd-cassette/1", "exchanges": [{}]}`:                                                                              "exchanges[0].request.method: required",
		`{"format": "blueprintd-cassette/1", "exchanges": [{"request": 5}]}`:                                                                  "exchanges[0]: has another shape",
		`{"format": "blueprintd-cassette/1", "exchanges": [{"request": {"method": "GET", "url": "x"}, "response": {"status": 5}}]}`:           "response.status: must be from 100",
		`{"format": "blueprintd-cassette/1", "exchanges": [{"request": {"method": "GET", "url": "x"}}], "connections": {"a": {"config": 1}}}`: "connections: has another shape",
	} {
		t.Run(text, func(t *testing.T) {
			if _, err := ReadCassette([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%v, want an error and %q in it", err, want)
			}
		})
	}
	data, err := read(t).Bytes()
	if err != nil {
		t.Fatal(err)
	}
	if again, err := ReadCassette(data); err != nil || len(again.Exchanges) != 4 || again.Connections["c"].Type != blueprint.ConnectionHTTP {
		t.Errorf("%v, %v; want length 4 and Type %v", again, err, blueprint.ConnectionHTTP)
	}
}

func TestTheSchemaFits(t *testing.T) {
	plain, err := blueprint.Encode(CassetteSchema())
	if err != nil {
		t.Fatal(err)
	}
	value, _ := blueprint.Decode(plain)
	compiled, err := jsonschema.Compile(value)
	if err != nil {
		t.Fatal(err)
	}
	good, _ := blueprint.Decode([]byte(tape))
	if wrong := compiled.Validate(good); wrong != nil {
		t.Errorf("%v, want nil", wrong)
	}
}

func FuzzReadCassette(f *testing.F) {
	f.Add([]byte(tape))
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := ReadCassette(data)
		if err != nil {
			return
		}
		again, err := c.Bytes()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := ReadCassette(again); err != nil {
			t.Fatalf("%s: %v", again, err)
		}
	})
}
