package api

import (
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"testing"

	"blueprintd/blueprint"
	"blueprintd/rpc/trpc"
	"blueprintd/server"
	"blueprintd/tests/servertest"
)

// No error reveals whether the account exists.
func TestNobodyLearnsWhoHasAnAccount(t *testing.T) {
	t.Parallel()
	s := servertest.New(t, servertest.AtNoon)
	setUpAda(t, s)
	s.NewUser(t, "bo") // without a password
	b := &browser{Server: s}
	var texts, headers []string
	try := func(email, password string) {
		answer := b.Call(t, "session.create", object{"email": email, "password": password})
		answer.Header.Del("Date")
		texts = append(texts, answer.Text)
		headers = append(headers, strings.Join(slices.Sorted(maps.Keys(answer.Header)), " "))
	}
	emails := []string{"ada@example.org", "bo@example.org", "nobody@example.org", "no address"}
	for _, email := range emails {
		try(email, "a wrong password")
	}
	for range 9 {
		for _, email := range emails {
			try(strings.ToUpper(email), "")
		}
	}
	for i, text := range texts {
		if !strings.Contains(text, "the email or the password is wrong") || text != texts[0] || headers[i] != headers[0] {
			t.Errorf("attempt %d: %s, headers %s; want \"the email or the password is wrong\" in it, %v and %v", i, text, headers[i], texts[0], headers[0])
		}
	}
	// Now all of them wait, even with the right password, until five minutes have passed.
	for _, email := range emails {
		answer := b.Call(t, "session.create", object{"email": email, "password": adasPassword})
		if answer.Status != http.StatusTooManyRequests || answer.Header.Get("Retry-After") != "300" || answer.Message() != "too many failed attempts; try again in 300 s" {
			t.Errorf("%s: %d %s, Retry-After %s; want %v, 300 and Message too many failed attempts; try again in 300 s", email, answer.Status, answer.Text, answer.Header.Get("Retry-After"), http.StatusTooManyRequests)
		}
	}
	s.Advance(t, "299s")
	b.Refused(t, blueprint.CodeTooManyRequests, "in 1 s", "session.create", object{"email": "ada@example.org", "password": adasPassword})
	s.Advance(t, "1s")
	b.OK(t, "session.create", object{"email": "ada@example.org", "password": adasPassword})
	for range 10 {
		b.Refused(t, blueprint.CodeBadRequest, "current", "session.changePassword", object{"current": "a wrong password", "password": "another password"})
	}
	b.Refused(t, blueprint.CodeTooManyRequests, "", "session.changePassword", object{"current": adasPassword, "password": "another password"})
	b.OK(t, "session.get", nil)
	(&browser{Server: s}).OK(t, "session.create", object{"email": "ada@example.org", "password": adasPassword}) // the wrong passwords were not theirs
	mine := at(b.OK(t, "auditLog.list", nil), "entries").([]any)
	if !slices.ContainsFunc(mine, func(line any) bool {
		return at(line, "action") == "session.changePassword" && at(line, "detail.outcome") == "failed" && at(line, "actorId") == s.Root.ID
	}) {
		t.Errorf("the audit log does not mention wrong passwords: %v", mine)
	}
	for _, input := range []any{nil, object{}, object{"email": "ada@example.org"}, object{"email": "", "password": "x"}, object{"email": nil, "password": nil}, object{"email": []any{"x"}, "password": object{}}, object{"email": "x", "password": strings.Repeat("x", 1001)}} {
		b.Refused(t, blueprint.CodeBadRequest, "", "session.create", input)
	}
}

// A sign-in ends the previous session of the browser.
func TestSigningInAgain(t *testing.T) {
	t.Parallel()
	s := servertest.New(t, servertest.AtNoon)
	b := setUpAda(t, s)
	before := b.cookie
	b.Refused(t, blueprint.CodeUnauthorized, "is wrong", "session.create", object{"email": "ada@example.org", "password": "a wrong password"})
	b.OK(t, "session.get", nil)
	b.OK(t, "session.create", object{"email": "ada@example.org", "password": adasPassword})
	(&browser{Server: s, cookie: before}).Refused(t, blueprint.CodeUnauthorized, "sign in again", "session.get", nil)
	if list := b.OK(t, "session.list", nil).([]any); len(list) != 1 {
		t.Errorf("sessions %v, want length 1", list)
	}
}

// Many failures from an address slow down only browsers that never signed in there.
func TestKnownBrowser(t *testing.T) {
	t.Parallel()
	s := servertest.New(t, servertest.AtNoon)
	b := setUpAda(t, s)
	right := object{"email": "ada@example.org", "password": adasPassword}
	b.OK(t, "session.delete", nil)
	for i := range 50 {
		(&browser{Server: s}).Refused(t, blueprint.CodeUnauthorized, "is wrong", "session.create", object{"email": strconv.Itoa(i) + "@example.org", "password": "x"})
	}
	(&browser{Server: s}).Refused(t, blueprint.CodeTooManyRequests, "", "session.create", right)
	(&browser{Server: s, device: b.device + "x"}).Refused(t, blueprint.CodeTooManyRequests, "", "session.create", right)
	b.Refused(t, blueprint.CodeTooManyRequests, "", "session.create", object{"email": "bo@example.org", "password": adasPassword})
	b.OK(t, "session.create", right)
}

// TestKnownDevice guesses the owner's password more often than an account and an address
// allow, and then signs in on a known device. The clock is real, so that the limit of calls
// from an address applies too; all come from one address.
func TestKnownDevice(t *testing.T) {
	t.Parallel()
	s := servertest.New(t)
	laptop := setUpAda(t, s)
	right := object{"email": "ada@example.org", "password": adasPassword}
	wrong := object{"email": "ADA@example.org", "password": "a wrong password"}
	phone := &browser{Server: s}
	phone.OK(t, "session.create", right)
	laptop.OK(t, "session.delete", nil)
	bo, err := s.Store.CreateUser(t.Context(), "bo@example.org", "Bo")
	if err != nil {
		t.Fatal(err)
	}
	link, err := s.Accounts.NewLink(t.Context(), bo.ID)
	if err != nil {
		t.Fatal(err)
	}
	_, token, _ := strings.Cut(link, "token=")
	bos := &browser{Server: s}
	bos.OK(t, "session.setup", object{"token": token, "email": "bo@example.org", "name": "Bo", "password": adasPassword})
	strangers := func() {
		t.Helper()
		for range 70 {
			if answer := (&browser{Server: s}).Call(t, "session.create", wrong); answer.Status != http.StatusUnauthorized && answer.Status != http.StatusTooManyRequests {
				t.Fatalf("a wrong password: %d %s", answer.Status, answer.Text)
			}
		}
		(&browser{Server: s}).Refused(t, blueprint.CodeTooManyRequests, "", "session.create", right)
	}
	strangers()
	laptop.OK(t, "session.create", right)

	// Wrong passwords on a known device delay only that device.
	for range 10 {
		laptop.Refused(t, blueprint.CodeUnauthorized, "is wrong", "session.create", wrong)
	}
	laptop.Refused(t, blueprint.CodeTooManyRequests, "too many failed attempts", "session.create", right)
	strangers()
	phone.OK(t, "session.create", right)

	// A device known to another user counts as unknown.
	bos.OK(t, "session.delete", nil)
	bos.Refused(t, blueprint.CodeTooManyRequests, "too many failed attempts", "session.create", right)
	bos.OK(t, "session.create", object{"email": "bo@example.org", "password": adasPassword})
}

// A name that resolves to this machine (DNS rebinding) does not get the dashboard.
func TestNamesOfTheDashboard(t *testing.T) {
	t.Parallel()
	local := servertest.New(t, servertest.AtNoon)
	public := servertest.New(t, servertest.AtNoon, func(o *server.Options) { o.PublicURL = "http://flows.example" })
	public.Host = "http://" + public.LocalAddress()
	open := servertest.New(t, servertest.AtNoon, func(o *server.Options) { o.Addr = "0.0.0.0:0" })
	for _, s := range []*servertest.Server{local, public, open} {
		b := setUpAda(t, s)
		for host, own := range map[string]bool{"localhost": true, "LOCALHOST:8787": true, "127.0.0.1:1": true, "127.9.9.9": true, "[::1]:8787": true,
			"evil.example": false, "evil.example:8787": false, "127.0.0.1.evil.example": false, "localhost.evil.example": false, "10.0.0.1": false, "0.0.0.0": false} {
			t.Run(host, func(t *testing.T) {
				for path, headers := range map[string][]string{
					server.DashboardRoot + "/session.get": {"Cookie", b.cookie},
					"/":                                   {"Accept", "text/html"},
					"/files/" + strings.Repeat("0", 26):   {"Cookie", b.cookie},
					"/blueprints":                         {"Accept", "text/html"},
					"/api/trpc/blueprint.list":            {"Authorization", "Bearer " + testKey},
					"/webhooks/blueprint/" + s.IDs.UUID(): nil,
				} {
					t.Run(caseName(path), func(t *testing.T) {
						request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.Host+path, nil)
						if err != nil {
							t.Fatal(err)
						}
						request.Host = host
						for i := 0; i+1 < len(headers); i += 2 {
							request.Header.Set(headers[i], headers[i+1])
						}
						answer, err := s.Client.Do(request)
						if err != nil {
							t.Fatal(err)
						}
						answer.Body.Close()
						free := own || s != local || strings.HasPrefix(path, "/api") || strings.HasPrefix(path, "/webhooks")
						if free == (answer.StatusCode == http.StatusForbidden) {
							t.Errorf("%s of %s as %s: %s", path, s.APIHost(), host, answer.Status)
						}
					})
				}
			})
		}
	}
}

// A program that opens a link to the dashboard, such as curl, is answered that it needs a browser.
func TestPagesForPrograms(t *testing.T) {
	t.Parallel()
	s := servertest.New(t)
	for path, want := range map[string]string{
		"/setup?token=abc": "/setup is a page of the dashboard: open it in a browser",
		"/runs/exec_1":     "/runs/exec_1 is a page of the dashboard: open it in a browser; the procedures are under " + s.APIHost() + "/api/trpc",
		"/nowhere":         "no such path /nowhere",
	} {
		t.Run(caseName(path), func(t *testing.T) {
			if got := s.Root.Send(t, http.MethodGet, path, "", "Accept", "*/*"); got.Status != http.StatusNotFound || !strings.Contains(got.Text, want) {
				t.Errorf("%d %s, want %d and %q", got.Status, got.Text, http.StatusNotFound, want)
			}
		})
	}
}

// The flags say which proxies may name the origin of a request.
func TestTrustedProxies(t *testing.T) {
	t.Parallel()
	for public, want := range map[string]string{"": "[10.0.0.0/8]", "https://flows.example": "[127.0.0.0/8 ::1/128 10.0.0.0/8]"} {
		t.Run(public, func(t *testing.T) {
			o := server.Options{Network: server.Network{PublicURL: public, TrustedProxies: trpc.Proxies{netip.MustParsePrefix("10.0.0.0/8")}}}
			if got := fmt.Sprint(o.Proxies()); got != want {
				t.Errorf("with %q: %s, want %s", public, got, want)
			}
		})
	}
	s := servertest.New(t, func(o *server.Options) { o.PublicURL = "http://flows.example" })
	s.Host = "http://" + s.LocalAddress()
	b := &browser{Server: s}
	limited := func(headers ...string) bool {
		for range server.OpenBurst + 20 {
			if b.Call(t, "session.getSetup", object{"token": "x"}, headers...).Status == http.StatusTooManyRequests {
				return true
			}
		}
		return false
	}
	if !limited() || b.Call(t, "session.getSetup", object{"token": "x"}, "X-Forwarded-For", "198.51.100.1:4711").Status != http.StatusNotFound {
		t.Error("those behind the proxy count as one")
	}
	if told := strings.Count(s.Logs.String(), "proxy sends no X-Forwarded-For"); told != 1 {
		t.Errorf("the log mentions the proxy %d times, want 1", told)
	}
}

// TestEveryProcedureForTheDashboard calls each procedure with a session and with a key,
// under both roots.
func TestEveryProcedureForTheDashboard(t *testing.T) {
	t.Parallel()
	s := servertest.New(t, servertest.AtNoon)
	b := setUpAda(t, s)
	session := []string{"Cookie", b.cookie}
	key := []string{"Authorization", "Bearer " + testKey}
	_, token, _ := strings.Cut(b.cookie, "=")
	bearer := []string{"Authorization", "Bearer " + token}
	byName := map[string]bool{}
	for _, p := range s.RPC.Procedures() {
		byName[p.Name] = true
	}
	for _, p := range s.Dashboard.Procedures() {
		method, body := http.MethodGet, ""
		if p.Kind == trpc.KindMutation {
			method, body = http.MethodPost, "{" // no procedure accepts it
		}
		call := func(root, query string, headers []string) servertest.Reply {
			return servertest.Caller{Server: s}.Send(t, method, root+"/"+p.Name+query, body, headers...)
		}
		wrongInput := "?input=%7B"
		if answer := call(server.DashboardRoot, wrongInput, session); !strings.Contains(answer.Text, `"BAD_REQUEST"`) && answer.Status != http.StatusOK {
			t.Errorf("%s with a session: %d %s", p.Name, answer.Status, answer.Text)
		}
		want, apiWant := "UNAUTHORIZED", "UNAUTHORIZED"
		if p.Public {
			want = "BAD_REQUEST"
		}
		if !byName[p.Name] {
			apiWant = "NOT_FOUND"
		}
		queries := []string{wrongInput}
		if p.Kind == trpc.KindSubscription {
			queries = append(queries, `?connectionParams={"authorization":"Bearer%20`+testKey+`"}`, `?connectionParams={"authorization":"Bearer%20`+token+`"}`)
		}
		for _, query := range queries {
			for _, headers := range [][]string{key, bearer, nil} {
				if answer := call(server.DashboardRoot, query, headers); !strings.Contains(answer.Text, `"`+want+`"`) {
					t.Errorf("%s%s with %q: %d %s, want %q in it", p.Name, query, headers, answer.Status, answer.Text, `"`+want+`"`)
				}
			}
		}
		for _, headers := range [][]string{session, bearer, nil} {
			if answer := call("/api/trpc", wrongInput, headers); !strings.Contains(answer.Text, `"`+apiWant+`"`) {
				t.Errorf("%s of the API with %q: %d %s, want %q in it", p.Name, headers, answer.Status, answer.Text, `"`+apiWant+`"`)
			}
		}
	}
	for _, path := range []string{"/v1/triggers/" + s.IDs.UUID() + "/fire", "/mcp", "/clock/advance"} {
		if answer := (servertest.Caller{Server: s}).Send(t, http.MethodPost, path, "{}", session...); answer.Status != http.StatusUnauthorized {
			t.Errorf("%s with a session: %d %s, want %v", path, answer.Status, answer.Text, http.StatusUnauthorized)
		}
	}
}

func TestOtherPages(t *testing.T) {
	t.Parallel()
	s := servertest.New(t, func(o *server.Options) { o.Origins, o.PublicURL = []string{"*"}, "http://flows.example" })
	s.Host = "http://" + s.LocalAddress()
	b := setUpAda(t, s)
	const list, rename = "/blueprint.list", "/blueprint.create"
	for _, test := range []struct {
		method, path string
		headers      []string
		allowed      bool
	}{
		{"GET", list, nil, true},
		{"GET", list, []string{"Sec-Fetch-Site", "same-origin"}, true},
		{"GET", list, []string{"Sec-Fetch-Site", "none"}, true},
		{"GET", list, []string{"Sec-Fetch-Site", "same-site"}, false},
		{"GET", list, []string{"Sec-Fetch-Site", "cross-site"}, false},
		{"GET", list, []string{"Sec-Fetch-Site", "cross-site", "Origin", "http://flows.example"}, false},
		{"GET", list, []string{"Sec-Fetch-Site", "something new"}, false},
		{"POST", rename, nil, true},
		{"POST", rename, []string{"Origin", s.Host}, true},
		{"POST", rename, []string{"Origin", "http://flows.example"}, true}, // behind a proxy that changes the host
		{"POST", rename, []string{"Origin", "http://evil.example"}, false},
		{"POST", rename, []string{"Origin", "http://flows.example.evil"}, false},
		{"POST", rename, []string{"Origin", "null"}, false},
		{"POST", rename, []string{"Origin", "http://evil.example", "Sec-Fetch-Site", "same-origin"}, true}, // browsers set the latter, pages cannot
		{"POST", rename, []string{"Sec-Fetch-Site", "cross-site"}, false},
		{"POST", rename, []string{"Sec-Fetch-Site", "same-site"}, false},
		{"POST", rename, []string{"Sec-Fetch-Site", "cross-site", "Content-Type", "text/plain"}, false},
		{"POST", "/session.create", []string{"Origin", "http://evil.example"}, false},
		{"POST", "/session.setup", []string{"Origin", "http://evil.example"}, false},
		{"OPTIONS", rename, []string{"Origin", "http://evil.example", "Access-Control-Request-Method", "POST"}, true}, // which gets no response
		{"DELETE", rename, []string{"Origin", "http://evil.example"}, false},
	} {
		t.Run(strings.ReplaceAll(fmt.Sprint(test.method, " ", test.path, " ", test.headers), s.Host, "HOST"), func(t *testing.T) {
			answer := servertest.Caller{Server: s}.Send(t, test.method, server.DashboardRoot+test.path, "", append(test.headers, "Cookie", b.cookie)...)
			refused := answer.Status == http.StatusForbidden && answer.Code() == "FORBIDDEN" && strings.Contains(answer.Message(), "only the dashboard itself")
			if refused == test.allowed {
				t.Errorf("%s %s with %q: %d %s, want it allowed: %v", test.method, test.path, test.headers, answer.Status, answer.Text, test.allowed)
			}
			for name := range answer.Header {
				if strings.HasPrefix(name, "Access-Control-") {
					t.Errorf("%s %s with %q: the answer has %s", test.method, test.path, test.headers, name)
				}
			}
		})
	}
}

// A browser that opens the dashboard at another address than --public-url either gets an answer that
// names the right one, or the log does.
func TestOpenedElsewhere(t *testing.T) {
	t.Parallel()
	const warning = "dashboard opened at another address"
	for _, test := range []struct {
		name, public, host, origin, site string
		refusal                          string // "" = allowed
		logged                           bool
	}{
		{"as it should be", "https://flows.example", "flows.example", "https://flows.example", "same-origin", "", false},
		{"with the default port", "https://flows.example:443", "127.0.0.1:8787", "https://flows.example", "", "", false},
		{"another port", "https://flows.example", "flows.example", "https://flows.example:8443", "same-origin", "", true},
		{"http instead of https", "http://flows.example", "flows.example", "https://flows.example", "same-origin", "", true},
		{"on this machine", "https://flows.example", "localhost:8787", "http://localhost:8787", "same-origin", "", false},
		{"a name of this machine", "https://flows.example", "flows.localhost", "http://flows.localhost", "same-origin", "", true},
		{"without TLS", "https://flows.example", "flows.example", "http://flows.example", "", "the dashboard is at https://flows.example/: over http, browsers do not keep its sign-in", false},
		{"without TLS and host", "https://flows.example", "127.0.0.1:8787", "http://flows.example", "", "the dashboard is at https://flows.example/: over http, browsers do not keep its sign-in", false},
		{"another host that the proxy does not forward", "https://flows.example", "127.0.0.1:8787", "https://other.example", "", "only the dashboard itself may call here, at https://flows.example/ (for another address, such as that of a proxy, change --public-url); programs call https://flows.example/api/trpc with an API key", false},
		{"no public URL", "", "localhost:8787", "http://flows.example", "", "for another address, such as that of a proxy, start the server with --public-url", false},
		{"no public URL, and the host is not forwarded", "", "127.0.0.1:8787", "https://flows.example", "same-origin", "", true},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s := servertest.New(t, servertest.AtNoon, func(o *server.Options) { o.PublicURL = test.public })
			for range 2 {
				request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+s.LocalAddress()+server.DashboardRoot+"/session.create", strings.NewReader(`{"json":{}}`))
				if err != nil {
					t.Fatal(err)
				}
				request.Host = test.host
				request.Header.Set("Content-Type", "application/json")
				request.Header.Set("Origin", test.origin)
				if test.site != "" {
					request.Header.Set("Sec-Fetch-Site", test.site)
				}
				answer, err := s.Client.Do(request)
				if err != nil {
					t.Fatal(err)
				}
				text, err := io.ReadAll(answer.Body)
				answer.Body.Close()
				if err != nil || (answer.StatusCode == http.StatusForbidden) != (test.refusal != "") || !strings.Contains(string(text), test.refusal) {
					t.Errorf("%d %s %v, want %q", answer.StatusCode, text, err, test.refusal)
				}
			}
			if got := strings.Count(s.Logs.String(), warning); got != map[bool]int{true: 1}[test.logged] {
				t.Errorf("logged %d times, want %v: %s", got, test.logged, s.Logs)
			}
		})
	}
}

// A file is available with a key or a session.
func TestFilesForTheDashboard(t *testing.T) {
	t.Parallel()
	s := servertest.New(t, servertest.AtNoon)
	b := setUpAda(t, s)
	for _, test := range []struct {
		headers []string
		want    int
	}{
		{nil, http.StatusUnauthorized},
		{[]string{"Cookie", s.CookieName() + "=x"}, http.StatusUnauthorized},
		{[]string{"Authorization", "Bearer x", "Cookie", b.cookie}, http.StatusUnauthorized},
		{[]string{"Authorization", "Bearer " + testKey}, http.StatusNotFound},
		{[]string{"Cookie", b.cookie}, http.StatusNotFound},
		{[]string{"Cookie", b.cookie, "Sec-Fetch-Site", "same-site"}, http.StatusForbidden},
	} {
		t.Run(fmt.Sprint(test.want), func(t *testing.T) {
			if answer := (servertest.Caller{Server: s}).Send(t, http.MethodGet, "/files/"+strings.Repeat("0", 26), "", test.headers...); answer.Status != test.want {
				t.Errorf("with %q: %d %s, want %v", test.headers, answer.Status, answer.Text, test.want)
			}
		})
	}
}

// Calls without a session have a rate limit.
func TestOpenProceduresAreLimited(t *testing.T) {
	t.Parallel()
	s := servertest.New(t)
	b := &browser{Server: s}
	for range server.OpenBurst {
		b.Refused(t, blueprint.CodeNotFound, "", "session.getSetup", object{"token": "x"})
	}
	limited := false
	for range 20 {
		answer := b.Call(t, "session.getSetup", object{"token": "x"})
		limited = limited || answer.Status == http.StatusTooManyRequests && answer.Header.Get("Retry-After") != ""
	}
	if !limited {
		t.Error("never limited")
	}
}
