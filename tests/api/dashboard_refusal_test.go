package api

import (
	"fmt"
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
)

// Whatever is wrong, whether the account exists does not show.
func TestNobodyLearnsWhoHasAnAccount(t *testing.T) {
	t.Parallel()
	s := newService(t, atNoon)
	s.ada(t)
	s.user(t, "bo") // without a password
	b := &browser{service: s}
	var texts, headers []string
	try := func(email, password string) {
		answer := b.call(t, "session.create", object{"email": email, "password": password})
		answer.header.Del("Date")
		texts = append(texts, answer.text)
		headers = append(headers, strings.Join(slices.Sorted(maps.Keys(answer.header)), " "))
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
			t.Errorf("attempt %d: %s, headers %s", i, text, headers[i])
		}
	}
	// Now all of them wait, with the right password too, until five minutes have
	// passed since.
	for _, email := range emails {
		answer := b.call(t, "session.create", object{"email": email, "password": adasPassword})
		if answer.status != http.StatusTooManyRequests || answer.header.Get("Retry-After") != "300" || answer.message() != "too many failed attempts; try again in 300 s" {
			t.Errorf("%s: %d %s, Retry-After %s", email, answer.status, answer.text, answer.header.Get("Retry-After"))
		}
	}
	s.advance(t, "299s")
	b.refused(t, blueprint.CodeTooManyRequests, "in 1 s", "session.create", object{"email": "ada@example.org", "password": adasPassword})
	s.advance(t, "1s")
	b.ok(t, "session.create", object{"email": "ada@example.org", "password": adasPassword})
	for range 10 {
		b.refused(t, blueprint.CodeBadRequest, "current", "session.changePassword", object{"current": "a wrong password", "password": "another password"})
	}
	b.refused(t, blueprint.CodeTooManyRequests, "", "session.changePassword", object{"current": adasPassword, "password": "another password"})
	b.ok(t, "session.get", nil)
	(&browser{service: s}).ok(t, "session.create", object{"email": "ada@example.org", "password": adasPassword}) // it was not them who guessed
	mine := at(b.ok(t, "auditLog.list", nil), "entries").([]any)
	if !slices.ContainsFunc(mine, func(line any) bool {
		return at(line, "action") == "session.changePassword" && at(line, "detail.outcome") == "failed" && at(line, "actorId") == s.root.ID
	}) {
		t.Errorf("the audit log does not tell of wrong passwords: %v", mine)
	}
	for _, input := range []any{nil, object{}, object{"email": "ada@example.org"}, object{"email": "", "password": "x"}, object{"email": nil, "password": nil}, object{"email": []any{"x"}, "password": object{}}, object{"email": "x", "password": strings.Repeat("x", 1001)}} {
		b.refused(t, blueprint.CodeBadRequest, "", "session.create", input)
	}
}

// Who signs in once more ends the session that the browser had.
func TestSigningInAgain(t *testing.T) {
	t.Parallel()
	s := newService(t, atNoon)
	b := s.ada(t)
	before := b.cookie
	b.refused(t, blueprint.CodeUnauthorized, "is wrong", "session.create", object{"email": "ada@example.org", "password": "a wrong password"})
	b.ok(t, "session.get", nil)
	b.ok(t, "session.create", object{"email": "ada@example.org", "password": adasPassword})
	(&browser{service: s, cookie: before}).refused(t, blueprint.CodeUnauthorized, "sign in again", "session.get", nil)
	if list := b.ok(t, "session.list", nil).([]any); len(list) != 1 {
		t.Errorf("sessions %v", list)
	}
}

// Many failures at an address make those wait who were never signed in there.
func TestKnownBrowser(t *testing.T) {
	t.Parallel()
	s := newService(t, atNoon)
	b := s.ada(t)
	right := object{"email": "ada@example.org", "password": adasPassword}
	b.ok(t, "session.delete", nil)
	for i := range 50 {
		(&browser{service: s}).refused(t, blueprint.CodeUnauthorized, "is wrong", "session.create", object{"email": strconv.Itoa(i) + "@example.org", "password": "x"})
	}
	(&browser{service: s}).refused(t, blueprint.CodeTooManyRequests, "", "session.create", right)
	(&browser{service: s, device: b.device + "x"}).refused(t, blueprint.CodeTooManyRequests, "", "session.create", right)
	b.refused(t, blueprint.CodeTooManyRequests, "", "session.create", object{"email": "bo@example.org", "password": adasPassword})
	b.ok(t, "session.create", right)
}

// TestKnownDevice lets strangers guess the owner's password, more often than an
// account and an address may, and then signs in on a device that has done so
// before. The clock is real, so that the limit of calls from an address holds
// too; all come from one address.
func TestKnownDevice(t *testing.T) {
	t.Parallel()
	s := newService(t)
	laptop := s.ada(t)
	right := object{"email": "ada@example.org", "password": adasPassword}
	wrong := object{"email": "ADA@example.org", "password": "a wrong password"}
	phone := &browser{service: s}
	phone.ok(t, "session.create", right)
	laptop.ok(t, "session.delete", nil)
	bo, err := s.Store.CreateUser(t.Context(), "bo@example.org", "Bo")
	if err != nil {
		t.Fatal(err)
	}
	link, err := s.Accounts.NewLink(t.Context(), bo.ID)
	if err != nil {
		t.Fatal(err)
	}
	_, token, _ := strings.Cut(link, "token=")
	bos := &browser{service: s}
	bos.ok(t, "session.setup", object{"token": token, "email": "bo@example.org", "name": "Bo", "password": adasPassword})
	strangers := func() {
		t.Helper()
		for range 70 {
			if answer := (&browser{service: s}).call(t, "session.create", wrong); answer.status != http.StatusUnauthorized && answer.status != http.StatusTooManyRequests {
				t.Fatalf("a wrong password: %d %s", answer.status, answer.text)
			}
		}
		(&browser{service: s}).refused(t, blueprint.CodeTooManyRequests, "", "session.create", right)
	}
	strangers()
	laptop.ok(t, "session.create", right)

	// Its own wrong passwords make the device wait, and no other one.
	for range 10 {
		laptop.refused(t, blueprint.CodeUnauthorized, "is wrong", "session.create", wrong)
	}
	laptop.refused(t, blueprint.CodeTooManyRequests, "too many failed attempts", "session.create", right)
	strangers()
	phone.ok(t, "session.create", right)

	// Another user's device counts as a stranger's.
	bos.ok(t, "session.delete", nil)
	bos.refused(t, blueprint.CodeTooManyRequests, "too many failed attempts", "session.create", right)
	bos.ok(t, "session.create", object{"email": "bo@example.org", "password": adasPassword})
}

// A name that was made to lead to this machine shows no dashboard.
func TestNamesOfTheDashboard(t *testing.T) {
	t.Parallel()
	local := newService(t, atNoon)
	public := newService(t, atNoon, func(o *server.Options) { o.PublicURL = "http://flows.example" })
	public.host = "http://" + public.LocalAddress()
	open := newService(t, atNoon, func(o *server.Options) { o.Addr = "0.0.0.0:0" })
	for _, s := range []*service{local, public, open} {
		b := s.ada(t)
		for host, own := range map[string]bool{"localhost": true, "LOCALHOST:8787": true, "127.0.0.1:1": true, "127.9.9.9": true, "[::1]:8787": true,
			"evil.example": false, "evil.example:8787": false, "127.0.0.1.evil.example": false, "localhost.evil.example": false, "10.0.0.1": false, "0.0.0.0": false} {
			for path, headers := range map[string][]string{
				server.DashboardRoot + "/session.get": {"Cookie", b.cookie},
				"/":                                   {"Accept", "text/html"},
				"/files/" + strings.Repeat("0", 26):   {"Cookie", b.cookie},
				"/blueprints":                         {"Accept", "text/html"},
				"/api/trpc/blueprint.list":            {"Authorization", "Bearer " + testKey},
				"/webhooks/blueprint/" + s.IDs.UUID(): nil,
			} {
				request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.host+path, nil)
				if err != nil {
					t.Fatal(err)
				}
				request.Host = host
				for i := 0; i+1 < len(headers); i += 2 {
					request.Header.Set(headers[i], headers[i+1])
				}
				answer, err := s.client.Do(request)
				if err != nil {
					t.Fatal(err)
				}
				answer.Body.Close()
				free := own || s != local || strings.HasPrefix(path, "/api") || strings.HasPrefix(path, "/webhooks")
				if free == (answer.StatusCode == http.StatusForbidden) {
					t.Errorf("%s of %s as %s: %s", path, s.APIHost(), host, answer.Status)
				}
			}
		}
	}
}

// Who is believed about where requests come from is said on the command line.
func TestTrustedProxies(t *testing.T) {
	t.Parallel()
	for public, want := range map[string]string{"": "[10.0.0.0/8]", "https://flows.example": "[127.0.0.0/8 ::1/128 10.0.0.0/8]"} {
		o := server.Options{Network: server.Network{PublicURL: public, TrustedProxies: trpc.Proxies{netip.MustParsePrefix("10.0.0.0/8")}}}
		if got := fmt.Sprint(o.Proxies()); got != want {
			t.Errorf("with %q: %s, want %s", public, got, want)
		}
	}
	s := newService(t, func(o *server.Options) { o.PublicURL = "http://flows.example" })
	s.host = "http://" + s.LocalAddress()
	b := &browser{service: s}
	limited := func(headers ...string) bool {
		for range server.OpenBurst + 20 {
			if b.call(t, "session.getSetup", object{"token": "x"}, headers...).status == http.StatusTooManyRequests {
				return true
			}
		}
		return false
	}
	if !limited() || b.call(t, "session.getSetup", object{"token": "x"}, "X-Forwarded-For", "198.51.100.1:4711").status != http.StatusNotFound {
		t.Error("those behind the proxy count as one")
	}
	if told := strings.Count(s.logs.String(), "proxy sends no X-Forwarded-For"); told != 1 {
		t.Errorf("the log tells of the proxy %d times", told)
	}
}

// TestEveryProcedureForTheDashboard calls each with a session and with a key,
// under both roots.
func TestEveryProcedureForTheDashboard(t *testing.T) {
	t.Parallel()
	s := newService(t, atNoon)
	b := s.ada(t)
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
			method, body = http.MethodPost, "{" // which no procedure takes
		}
		call := func(root, query string, headers []string) reply {
			return person{service: s}.send(t, method, root+"/"+p.Name+query, body, headers...)
		}
		wrongInput := "?input=%7B"
		if answer := call(server.DashboardRoot, wrongInput, session); !strings.Contains(answer.text, `"BAD_REQUEST"`) && answer.status != http.StatusOK {
			t.Errorf("%s with a session: %d %s", p.Name, answer.status, answer.text)
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
				if answer := call(server.DashboardRoot, query, headers); !strings.Contains(answer.text, `"`+want+`"`) {
					t.Errorf("%s%s with %q: %d %s", p.Name, query, headers, answer.status, answer.text)
				}
			}
		}
		for _, headers := range [][]string{session, bearer, nil} {
			if answer := call("/api/trpc", wrongInput, headers); !strings.Contains(answer.text, `"`+apiWant+`"`) {
				t.Errorf("%s of the API with %q: %d %s", p.Name, headers, answer.status, answer.text)
			}
		}
	}
	for _, path := range []string{"/v1/triggers/" + s.IDs.UUID() + "/fire", "/mcp", "/clock/advance"} {
		if answer := (person{service: s}).send(t, http.MethodPost, path, "{}", session...); answer.status != http.StatusUnauthorized {
			t.Errorf("%s with a session: %d %s", path, answer.status, answer.text)
		}
	}
}

func TestOtherPages(t *testing.T) {
	t.Parallel()
	s := newService(t, func(o *server.Options) { o.Origins, o.PublicURL = []string{"*"}, "http://flows.example" })
	s.host = "http://" + s.LocalAddress()
	b := s.ada(t)
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
		{"POST", rename, []string{"Origin", s.host}, true},
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
		{"OPTIONS", rename, []string{"Origin", "http://evil.example", "Access-Control-Request-Method", "POST"}, true}, // which answers nothing
		{"DELETE", rename, []string{"Origin", "http://evil.example"}, false},
	} {
		answer := person{service: s}.send(t, test.method, server.DashboardRoot+test.path, "", append(test.headers, "Cookie", b.cookie)...)
		refused := answer.status == http.StatusForbidden && answer.code() == "FORBIDDEN" && strings.Contains(answer.message(), "only the dashboard itself")
		if refused == test.allowed {
			t.Errorf("%s %s with %q: %d %s", test.method, test.path, test.headers, answer.status, answer.text)
		}
		for name := range answer.header {
			if strings.HasPrefix(name, "Access-Control-") {
				t.Errorf("%s %s with %q: the answer has %s", test.method, test.path, test.headers, name)
			}
		}
	}
}

// A file is for who has a key and for who is signed in.
func TestFilesForTheDashboard(t *testing.T) {
	t.Parallel()
	s := newService(t, atNoon)
	b := s.ada(t)
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
		if answer := (person{service: s}).send(t, http.MethodGet, "/files/"+strings.Repeat("0", 26), "", test.headers...); answer.status != test.want {
			t.Errorf("with %q: %d %s", test.headers, answer.status, answer.text)
		}
	}
}

// Who has no session cannot call as often as they like.
func TestOpenProceduresAreLimited(t *testing.T) {
	t.Parallel()
	s := newService(t)
	b := &browser{service: s}
	for range server.OpenBurst {
		b.refused(t, blueprint.CodeNotFound, "", "session.getSetup", object{"token": "x"})
	}
	limited := false
	for range 20 {
		answer := b.call(t, "session.getSetup", object{"token": "x"})
		limited = limited || answer.status == http.StatusTooManyRequests && answer.header.Get("Retry-After") != ""
	}
	if !limited {
		t.Error("never limited")
	}
}
