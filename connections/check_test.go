package connections_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"blueprintd/blueprint"
	"blueprintd/connections"
	"blueprintd/foundation/outbound"
)

// testConnection tests a connection.
func (w *env) testConnection(userID, id string) (bool, string) {
	w.t.Helper()
	ok, message, err := w.service.Test(w.t.Context(), userID, id)
	if err != nil {
		w.t.Fatal(err)
	}
	if message == "" || strings.Contains(message, "s3cret") {
		w.t.Errorf("the message is %q", message)
	}
	return ok, message
}

func TestConnectionTest(t *testing.T) {
	const key = "s3cret-key"
	closed := "127.0.0.1:8"
	for _, test := range []struct {
		name   string
		kind   blueprint.ConnectionType
		config string // HOST is replaced by the server
		answer http.HandlerFunc
		ok     bool
		want   string
	}{
		{"openai", "ai-provider", `{"provider": "openai", "apiKey": "` + key + `", "baseUrl": "http://HOST/v1/"}`,
			onlyFor("GET /v1/models Bearer "+key, `{"data": [{"id": "m1"}, {"id": "m2"}]}`), true, "has 2 models"},
		{"anthropic", "ai-provider", `{"provider": "anthropic", "apiKey": "` + key + `", "baseUrl": "http://HOST"}`,
			onlyFor("GET /v1/models "+key+" 2023-06-01", `{"data": []}`), true, "accepts the key"},
		{"a wrong key", "ai-provider", `{"provider": "openai", "apiKey": "` + key + `", "baseUrl": "http://HOST"}`, onlyFor("nothing", ""), false, "does not accept the credentials"},
		{"a wrong address", "ai-provider", `{"provider": "openai", "apiKey": "` + key + `", "baseUrl": "http://HOST"}`, http.NotFound, false, "check the address"},
		{"a list of no models", "ai-provider", `{"provider": "openai", "apiKey": "` + key + `", "baseUrl": "http://HOST"}`, text(`{"object": "list"}`), false, "did not return a list"},
		{"a list of more than 1 MiB", "ai-provider", `{"provider": "openai", "apiKey": "` + key + `", "baseUrl": "http://HOST"}`, text(`{"data": ["` + strings.Repeat("m", 1<<20) + `"]}`), true, "accepts the key"},
		{"not a provider", "ai-provider", `{"provider": "openai", "apiKey": "` + key + `", "baseUrl": "http://HOST"}`, text(key), false, "did not return a list"},
		{"nothing listens", "ai-provider", `{"provider": "openai", "apiKey": "` + key + `", "baseUrl": "http://` + closed + `"}`, nil, false, "cannot reach 127.0.0.1:8"},
		{"a private address", "ai-provider", `{"provider": "openai", "apiKey": "` + key + `", "baseUrl": "http://10.0.0.1"}`, nil, false, "a private address"},
		{"slack", "slack", `{"botToken": "` + key + `", "baseUrl": "http://HOST/api"}`, onlyFor("POST /api/auth.test Bearer "+key, `{"ok": true, "team": "T\n", "user": "bot"}`), true, "the bot is bot in T"},
		{"slack refuses", "slack", `{"botToken": "` + key + `", "baseUrl": "http://HOST/api"}`, text(`{"ok": false, "error": "invalid_auth"}`), false, "invalid_auth"},
		{"slack repeats", "slack", `{"botToken": "` + key + `", "baseUrl": "http://HOST/api"}`, text(`{"ok": false, "error": "` + key + `"}`), false, "does not accept the token"},
		{"not slack", "slack", `{"botToken": "` + key + `", "baseUrl": "http://HOST/api"}`, text("<html>"), false, "did not return Slack's JSON"},
		{"slack is broken", "slack", `{"botToken": "` + key + `", "baseUrl": "http://HOST/api"}`, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(502) }, false, "answered 502"},
		{"http", "http", `{"auth": {"type": "bearer", "token": "` + key + `"}, "hosts": ["*.my.example", "HOST"]}`, onlyFor("HEAD / Bearer "+key, ""), true, "answered 200"},
		{"http without a root", "http", `{"auth": {"type": "bearer", "token": "` + key + `"}, "hosts": ["HOST"]}`, http.NotFound, true, "answered 404"},
		{"http with GET alone", "http", `{"auth": {"type": "query", "name": "k", "value": "` + key + `"}, "hosts": ["HOST"]}`, onlyFor("GET /?k="+key, "x"), true, "answered 200"},
		{"http with neither", "http", `{"auth": {"type": "none"}, "hosts": ["HOST"]}`, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(405) }, true, "answered"},
		{"http without HEAD", "http", `{"auth": {"type": "none"}, "hosts": ["HOST"]}`, byMethod(501, 204), true, "answered 204"},
		{"http forbids", "http", `{"auth": {"type": "none"}, "hosts": ["HOST"]}`, byMethod(403, 200), false, "does not accept"},
		{"http that fails", "http", `{"auth": {"type": "none"}, "hosts": ["HOST"]}`, byMethod(500, 200), false, "answered 500"},
		{"http that refuses something else", "http", `{"auth": {"type": "none"}, "hosts": ["HOST"]}`, byMethod(499, 200), true, "answered 499"},
		{"an IPv6 address", "http", `{"auth": {"type": "none"}, "hosts": ["[2001:db8::1]"]}`, nil, false, "2001:db8::1"},
		{"an IPv6 address with a port", "http", `{"auth": {"type": "none"}, "hosts": ["[2001:db8::1]:8443"]}`, nil, false, "2001:db8::1"},
		{"http refuses", "http", `{"auth": {"type": "none"}, "hosts": ["HOST"]}`, onlyFor("nothing", ""), false, "does not accept"},
		{"only wildcards", "http", `{"auth": {"type": "none"}, "hosts": ["*.my.example"]}`, nil, false, "no host without a wildcard"},
		{"mcp", "mcp-server", `{"url": "http://HOST/mcp"}`, nil, true, "the MCP server is tools at"},
		{"mcp that fails", "mcp-server", `{"url": "http://127.0.0.1:1/mcp"}`, nil, false, "cannot reach"},
		{"mcp with a failure of its own", "mcp-server", `{"url": "http://127.0.0.1:2/mcp"}`, nil, false, "does not speak MCP"},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := newEnv(t, func(o *connections.Options) {
				o.Probe = func(_ context.Context, open *blueprint.OpenConnection) (string, error) {
					switch open.Hosts[0] {
					case "127.0.0.1:1":
						return "", errors.New("it said " + key)
					case "127.0.0.1:2":
						return "", &blueprint.Failure{Message: "it does not speak MCP"}
					}
					return "tools at " + open.Hosts[0], nil
				}
			})
			if test.answer == nil {
				test.answer = http.NotFound
			}
			server := httptest.NewServer(test.answer)
			defer server.Close()
			config := strings.ReplaceAll(test.config, "HOST", strings.TrimPrefix(server.URL, "http://"))
			if ok, message := w.testConnection(ann, w.add(ann, test.kind, config)); ok != test.ok || !strings.Contains(message, test.want) {
				t.Errorf("%v %s, want %v and %q in it", ok, message, test.ok, test.want)
			}
		})
	}
	w := newEnv(t)
	if ok, message := w.testConnection(ann, w.add(ann, "mcp-server", `{"url": "http://127.0.0.1:1"}`)); ok || !strings.Contains(message, "cannot test MCP servers") {
		t.Errorf("%v %s", ok, message)
	}
	if _, _, err := w.service.Test(t.Context(), bob, w.add(ann, "slack", `{"botToken": "x"}`)); blueprint.CodeOf(err) != blueprint.CodeNotFound {
		t.Errorf("another user's: %v, want %v", err, blueprint.CodeNotFound)
	}
}

// onlyFor accepts one request: method, URL and credentials.
func onlyFor(want, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		got := strings.Join(strings.Fields(strings.Join([]string{r.Method, r.URL.String(), r.Header.Get("Authorization"), r.Header.Get("X-Api-Key"), r.Header.Get("Anthropic-Version")}, " ")), " ")
		switch {
		case got == want:
			io.WriteString(w, body)
		case r.Method == http.MethodHead && strings.HasPrefix(want, "GET"):
			w.WriteHeader(http.StatusMethodNotAllowed)
		default:
			w.WriteHeader(http.StatusUnauthorized)
		}
	}
}

// byMethod responds to HEAD and to other methods.
func byMethod(head, others int) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodHead {
			w.WriteHeader(head)
		} else {
			w.WriteHeader(others)
		}
	}
}

func text(body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, body) }
}

func TestConnectionTestOAuth(t *testing.T) {
	w, p := newEnv(t), newProvider(t)
	own := w.add(ann, blueprint.ConnectionOAuth2, `{"flow": "client_credentials", "tokenUrl": "`+p.URL+`/token", "clientId": "the-client", "clientSecret": "the-client-secret"}`)
	for range 2 {
		if ok, message := w.testConnection(ann, own); !ok || !strings.Contains(message, "issued a token") {
			t.Errorf("%v %s, want \"issued a token\" in it", ok, message)
		}
		w.pass(time.Minute)
	}
	if p.requests() != 2 {
		t.Errorf("%d requests, want one for each test", p.requests())
	}
	for age, requests := range map[time.Duration]int{time.Second - time.Millisecond: 0, time.Second: 1} {
		t.Run(fmt.Sprint(age), func(t *testing.T) {
			w.testConnection(ann, own)
			before := p.requests()
			w.pass(age)
			if ok, message := w.testConnection(ann, own); !ok || p.requests()-before != requests {
				t.Errorf("with a token of %s: %v %s after %d requests, want %d", age, ok, message, p.requests()-before, requests)
			}
			w.pass(time.Minute)
		})
	}
	id := w.login(p, "")
	ok, message := w.testConnection(ann, id)
	_, address, _ := strings.Cut(message, "Visit ")
	if ok || !strings.HasPrefix(address, w.web.URL+"/oauth/start?") {
		t.Fatalf("%v %s", ok, message)
	}
	if status, text, _ := newPerson("node").visit(t, address); status != 200 || len(w.resumed) > 0 {
		t.Errorf("%d %s, resumed %q; want 200 and none", status, text, w.resumed)
	}
	if ok, message := w.testConnection(ann, id); !ok || !strings.Contains(message, "you are signed in at 127.0.0.1") {
		t.Errorf("%v %s, want \"you are signed in at 127.0.0.1\" in it", ok, message)
	}
	w.pass(time.Minute)
	p.revoke()
	if ok, message := w.testConnection(ann, id); ok || !strings.Contains(message, "Visit ") || len(w.store.tokens) > 0 {
		t.Errorf("%v %s", ok, message)
	}
	p.fixed = true
	until := blueprint.TimeOf(w.clock.Now().Add(time.Hour)).String()
	if ok, message := w.testConnection(ann, w.signedIn(p, "")); !ok || !strings.HasSuffix(message, " until "+until) {
		t.Errorf("got %v %s, want until %s", ok, message, until)
	}
	p.expire = 0
	if ok, message := w.testConnection(ann, w.signedIn(p, "")); !ok || strings.Contains(message, "until") {
		t.Errorf("got %v %s, want no end", ok, message)
	}
}

// mailServer implements SMTP up to the login.
type mailServer struct {
	auth   string // offered methods of AUTH
	secure *tls.Config
	first  bool   // TLS from the first byte
	silent func() // not nil: says nothing, and calls it when a client connects
	got    chan string
}

func (m *mailServer) serve(t *testing.T) (port string) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	m.got = make(chan string, 10)
	done := make(chan bool)
	t.Cleanup(func() { listener.Close(); <-done })
	go func() {
		defer close(done)
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			m.session(conn)
		}
	}()
	_, port, _ = net.SplitHostPort(listener.Addr().String())
	return port
}

func (m *mailServer) session(conn net.Conn) {
	defer func() { conn.Close() }()
	if m.first {
		conn = tls.Server(conn, m.secure)
	}
	if m.silent != nil {
		m.silent()
		io.Copy(io.Discard, conn)
		return
	}
	lines := bufio.NewScanner(conn)
	fmt.Fprint(conn, "220 hello\r\n")
	decode := func() string {
		lines.Scan()
		plain, _ := base64.StdEncoding.DecodeString(lines.Text())
		return string(plain)
	}
	verify := func(proof string) {
		if proof == "\x00me\x00s3cret" {
			fmt.Fprint(conn, "235 welcome\r\n")
		} else {
			fmt.Fprintf(conn, "535 not %q\r\n", proof)
		}
	}
	encrypted := m.first
	for lines.Scan() {
		command, rest, _ := strings.Cut(lines.Text(), " ")
		switch command {
		case "EHLO":
			fmt.Fprint(conn, "250-me\r\n")
			if m.secure != nil && !encrypted {
				fmt.Fprint(conn, "250-STARTTLS\r\n")
			}
			if m.auth != "" {
				fmt.Fprintf(conn, "250-AUTH %s\r\n", m.auth)
			}
			fmt.Fprint(conn, "250 SIZE\r\n")
		case "STARTTLS":
			fmt.Fprint(conn, "220 go\r\n")
			conn, encrypted = tls.Server(conn, m.secure), true
			lines = bufio.NewScanner(conn)
		case "AUTH":
			if method, proof, _ := strings.Cut(rest, " "); method == "PLAIN" {
				plain, _ := base64.StdEncoding.DecodeString(proof)
				verify(string(plain))
				continue
			}
			fmt.Fprint(conn, "334 VXNlcm5hbWU6\r\n")
			user := decode()
			fmt.Fprint(conn, "334 UGFzc3dvcmQ6\r\n")
			verify("\x00" + user + "\x00" + decode())
		default:
			fmt.Fprint(conn, "221 bye\r\n")
			return
		}
	}
}

// expiring is a context whose deadline passes when done is closed.
type expiring struct {
	context.Context
	done chan struct{}
}

func (e expiring) Done() <-chan struct{} { return e.done }

func (e expiring) Err() error {
	select {
	case <-e.done:
		return context.DeadlineExceeded
	default:
		return nil
	}
}

func TestConnectionTestSMTP(t *testing.T) {
	secure := httptest.NewTLSServer(nil)
	defer secure.Close()
	roots := x509.NewCertPool()
	roots.AddCert(secure.Certificate())
	trusted := &tls.Config{Certificates: secure.TLS.Certificates}
	for _, test := range []struct {
		name   string
		server mailServer
		config string
		trusts bool
		ok     bool
		want   string
	}{
		{"without a login", mailServer{}, `"tls": "none"`, false, true, "is a mail server"},
		{"on this machine", mailServer{auth: "LOGIN PLAIN"}, `"tls": "none", "username": "me", "password": "s3cret"`, false, true, "accepts the user"},
		{"AUTH LOGIN", mailServer{auth: "LOGIN"}, `"tls": "none", "username": "me", "password": "s3cret"`, false, true, "accepts the user"},
		{"a wrong password", mailServer{auth: "PLAIN"}, `"tls": "none", "username": "me", "password": "s3crets"`, false, false, "does not accept the user and the password (status 535)"},
		{"no supported method", mailServer{auth: "GSSAPI"}, `"tls": "none", "username": "me", "password": "s3cret"`, false, false, "supports neither"},
		{"STARTTLS", mailServer{auth: "PLAIN", secure: trusted}, `"tls": "starttls", "username": "me", "password": "s3cret"`, true, true, "accepts the user"},
		{"STARTTLS with an untrusted certificate", mailServer{auth: "PLAIN", secure: trusted}, `"tls": "starttls", "username": "me", "password": "s3cret"`, false, false, "a trusted certificate"},
		{"no STARTTLS", mailServer{auth: "PLAIN"}, `"tls": "starttls", "username": "me", "password": "s3cret"`, true, false, "does not offer STARTTLS"},
		{"TLS", mailServer{auth: "PLAIN", secure: trusted, first: true}, `"tls": "tls", "username": "me", "password": "s3cret"`, true, true, "accepts the user"},
		{"TLS with an untrusted certificate", mailServer{auth: "PLAIN", secure: trusted, first: true}, `"tls": "tls", "username": "me", "password": "s3cret"`, false, false, "a trusted certificate"},
	} {
		t.Run(test.name, func(t *testing.T) {
			options := outbound.Options{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}}
			if test.trusts {
				options.RootCAs = roots
			}
			w := newEnv(t, func(o *connections.Options) { o.HTTP = outbound.New(options) })
			config := `{"host": "127.0.0.1", "port": ` + test.server.serve(t) + `, "from": "me@mail.example", ` + test.config + `}`
			if ok, message := w.testConnection(ann, w.add(ann, "smtp", config)); ok != test.ok || !strings.Contains(message, test.want) {
				t.Errorf("%v %s, want %v and %q in it", ok, message, test.ok, test.want)
			}
		})
	}
	w := newEnv(t)
	connected := make(chan struct{})
	silent := mailServer{silent: sync.OnceFunc(func() { close(connected) })}
	id := w.add(ann, "smtp", `{"host": "127.0.0.1", "port": `+silent.serve(t)+`, "from": "me@mail.example", "tls": "none"}`)
	if ok, message, err := w.service.Test(expiring{t.Context(), connected}, ann, id); ok || err != nil || !strings.Contains(message, "did not answer in time") {
		t.Errorf("%v %s %v", ok, message, err)
	}
	if ok, message := w.testConnection(ann, w.add(ann, "smtp", `{"host": "10.0.0.1", "port": 25, "from": "me@mail.example", "tls": "none"}`)); ok || !strings.Contains(message, "private address") {
		t.Errorf("%v %s", ok, message)
	}
}
