package api

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"blueprintd/blueprint"
	"blueprintd/rpc/trpc"
	"blueprintd/server"
	"blueprintd/tests/servertest"
)

const adasPassword = "correct horse battery"

// browser is a client that sends the dashboard's headers and cookies.
type browser struct {
	*servertest.Server
	cookie string // name=value; "" = none
	device string // the cookie of a known device
}

// call calls a procedure under the dashboard's root, and stores the cookie of the response.
func (b *browser) Call(t testing.TB, name string, input any, headers ...string) servertest.Reply {
	t.Helper()
	text := ""
	if input != nil {
		text = servertest.Encoded(t, object{"json": input})
	}
	if kept := strings.Trim(b.cookie+"; "+b.device, "; "); kept != "" {
		headers = append(headers, "Cookie", kept)
	}
	method, path := http.MethodPost, server.DashboardRoot+"/"+name
	if i := slices.IndexFunc(b.Dashboard.Procedures(), func(p trpc.Procedure) bool { return p.Name == name }); i < 0 {
		t.Fatalf("there is no procedure %s, want at least 0", name)
	} else if b.Dashboard.Procedures()[i].Kind != trpc.KindMutation {
		method = http.MethodGet
		if text != "" {
			path, text = path+"?input="+url.QueryEscape(text), ""
		}
	}
	answer := servertest.Caller{Server: b.Server}.Send(t, method, path, text, headers...)
	for _, cookie := range (&http.Response{Header: answer.Header}).Cookies() {
		if strings.HasSuffix(cookie.Name, "_device") {
			b.device = cookie.Name + "=" + cookie.Value
			continue
		}
		if b.cookie = cookie.Name + "=" + cookie.Value; cookie.MaxAge < 0 {
			b.cookie = ""
		}
	}
	return answer
}

func (b *browser) OK(t testing.TB, name string, input any) any {
	t.Helper()
	answer := b.Call(t, name, input)
	if answer.Status != http.StatusOK {
		t.Fatalf("%s: %d %s, want %v", name, answer.Status, answer.Text, http.StatusOK)
	}
	return answer.Payload()
}

func (b *browser) Refused(t testing.TB, code blueprint.Code, message, name string, input any) {
	t.Helper()
	if answer := b.Call(t, name, input); answer.Code() != string(code) || answer.Status != code.HTTPStatus() || !strings.Contains(answer.Message(), message) {
		t.Errorf("%s %v: %d %s, want %s %s", name, input, answer.Status, answer.Text, code, message)
	}
}

// ada sets the owner's password with the link that the server printed.
func setUpAda(t testing.TB, s *servertest.Server) *browser {
	t.Helper()
	b := &browser{Server: s}
	_, token, _ := strings.Cut(s.Bootstrap.Setup, "token=")
	b.OK(t, "session.setup", object{"token": token, "email": "ada@example.org", "name": "Ada", "password": adasPassword})
	return b
}

func TestSetupLinkOfAFreshServer(t *testing.T) {
	t.Parallel()
	s := servertest.New(t, servertest.AtNoon)
	b := &browser{Server: s}
	_, token, _ := strings.Cut(s.Bootstrap.Setup, "/setup?token=")
	if got := servertest.Encoded(t, b.OK(t, "session.getSetup", object{"token": token})); got != `{"email":"admin@localhost","fresh":true,"name":"Admin"}` {
		t.Errorf("the link is %s, want {\"email\":\"admin@localhost\",\"fresh\":true,\"name\":\"Admin\"}", got)
	}
	with := func(change ...any) object {
		in := object{"token": token, "email": "ada@example.org", "name": "Ada", "password": adasPassword}
		for i := 0; i+1 < len(change); i += 2 {
			if in[change[i].(string)] = change[i+1]; change[i+1] == "absent" {
				delete(in, change[i].(string))
			}
		}
		return in
	}
	for _, test := range []struct {
		code    blueprint.Code
		message string
		input   object
	}{
		{blueprint.CodeBadRequest, "token: required", with("token", "absent")},
		{blueprint.CodeBadRequest, "token: ", with("token", nil)},
		{blueprint.CodeBadRequest, "token: ", with("token", []any{token})},
		{blueprint.CodeBadRequest, "token: ", with("token", strings.Repeat("x", 201))},
		{blueprint.CodeNotFound, "no longer valid", with("token", "")},
		{blueprint.CodeNotFound, "no longer valid", with("token", token+"x")},
		{blueprint.CodeNotFound, "no longer valid", with("token", strings.ToLower(token))},
		{blueprint.CodeBadRequest, "email: must be an email address", with("email", "ada")},
		{blueprint.CodeBadRequest, "name: ", with("name", " ")},
		{blueprint.CodeBadRequest, "password: must have at least 10 characters", with("password", "123456789")},
		{blueprint.CodeBadRequest, "password: must have at most 1000 bytes", with("password", strings.Repeat("é", 600))},
		{blueprint.CodeBadRequest, "password: must not be the email", with("password", "ADA@example.org")},
	} {
		b.Refused(t, test.code, test.message, "session.setup", test.input)
	}
	other := s.NewUser(t, "bo")
	b.Refused(t, blueprint.CodeConflict, "there is another user", "session.setup", with("email", "BO@example.org"))
	if b.cookie != "" {
		t.Fatalf("a refusal left the cookie %s, want nothing", b.cookie)
	}
	b.OK(t, "session.setup", with())
	if got := at(b.OK(t, "session.get", nil), "user"); at(got, "email") != "ada@example.org" || at(got, "name") != "Ada" || at(got, "id") != s.Root.ID {
		t.Errorf("signed in as %v, want email ada@example.org, name Ada and id %v", got, s.Root.ID)
	}
	b.Refused(t, blueprint.CodeNotFound, "no longer valid", "session.setup", with())

	// Another user's link: the name may change, the email may not. Then a forgotten
	// password, whose replacement ends the earlier sessions.
	for _, password := range []string{"a first password", "a second password"} {
		path, err := s.Accounts.NewLink(t.Context(), other.ID)
		if err != nil {
			t.Fatal(err)
		}
		_, token, _ := strings.Cut(path, "token=")
		bo := &browser{Server: s}
		bo.Refused(t, blueprint.CodeBadRequest, "email: cannot be changed here; it is bo@example.org", "session.setup", with("token", token))
		bo.OK(t, "session.setup", object{"token": token, "email": "Bo@Example.org", "name": "Bo", "password": password})
		if got := at(bo.OK(t, "session.get", nil), "user.email"); got != "bo@example.org" {
			t.Errorf("signed in as %v, want bo@example.org", got)
		}
		if list := bo.OK(t, "session.list", nil).([]any); len(list) != 1 {
			t.Errorf("sessions %v, want length 1", list)
		}
	}
	// A sign-in link expires after a day.
	path, err := s.Accounts.NewLink(t.Context(), other.ID)
	if err != nil {
		t.Fatal(err)
	}
	_, late, _ := strings.Cut(path, "token=")
	s.Advance(t, "24h")
	b.Refused(t, blueprint.CodeNotFound, "no longer valid", "session.getSetup", object{"token": late})
}

func TestSessionProcedures(t *testing.T) {
	t.Parallel()
	s := servertest.New(t, servertest.AtNoon)
	first := setUpAda(t, s)
	for name, input := range map[string]any{"session.get": nil, "session.list": nil, "session.delete": object{}, "blueprint.list": nil} {
		(&browser{Server: s}).Refused(t, blueprint.CodeUnauthorized, "sign in", name, input)
		(&browser{Server: s, cookie: s.CookieName() + "=x"}).Refused(t, blueprint.CodeUnauthorized, "sign in", name, input)
	}
	second, third := &browser{Server: s}, &browser{Server: s}
	for _, b := range []*browser{second, third} {
		s.Advance(t, "1s")
		if answer := b.Call(t, "session.create", object{"email": " ADA@example.org ", "password": adasPassword}, "User-Agent", "a browser"); answer.Status != http.StatusOK {
			t.Fatalf("%d %s, want %v", answer.Status, answer.Text, http.StatusOK)
		}
	}
	list := second.OK(t, "session.list", nil).([]any)
	if len(list) != 3 {
		t.Fatalf("sessions %v, want length 3", list)
	}
	ids := map[any]any{}
	for _, one := range list {
		ids[at(one, "current")] = at(one, "id")
	}
	if i := slices.IndexFunc(list, func(one any) bool { return at(one, "current") == true }); at(list[i], "agent") != "a browser" || at(list[i], "createdAt") != "2030-05-01T12:00:01.000Z" {
		t.Errorf("the own session is %v, want agent a browser and createdAt 2030-05-01T12:00:01.000Z", list[i])
	}
	bo := s.NewUser(t, "bo")
	path, err := s.Accounts.NewLink(t.Context(), bo.ID)
	if err != nil {
		t.Fatal(err)
	}
	_, token, _ := strings.Cut(path, "token=")
	bos := &browser{Server: s}
	bos.OK(t, "session.setup", object{"token": token, "email": "bo@example.org", "name": "Bo", "password": "another password"})
	bos.Refused(t, blueprint.CodeNotFound, "", "session.revoke", object{"id": ids[true]})

	// An ended session fails at the next call.
	first.OK(t, "session.get", nil)
	for _, one := range list {
		if at(one, "createdAt") == "2030-05-01T12:00:00.000Z" {
			second.OK(t, "session.revoke", object{"id": at(one, "id")})
		}
	}
	first.Refused(t, blueprint.CodeUnauthorized, "sign in again", "session.get", nil)
	second.Refused(t, blueprint.CodeBadRequest, "current: is not your password", "session.changePassword", object{"current": "x", "password": "a new password"})
	second.Refused(t, blueprint.CodeBadRequest, "password: must have", "session.changePassword", object{"current": adasPassword, "password": "short"})
	third.OK(t, "session.get", nil)
	second.OK(t, "session.changePassword", object{"current": adasPassword, "password": "a new password"})
	third.Refused(t, blueprint.CodeUnauthorized, "sign in again", "blueprint.list", nil)
	second.OK(t, "blueprint.list", nil)
	first.Refused(t, blueprint.CodeUnauthorized, "is wrong", "session.create", object{"email": "ada@example.org", "password": adasPassword})
	first.OK(t, "session.create", object{"email": "ada@example.org", "password": "a new password"})
	before := second.cookie
	second.OK(t, "session.delete", nil)
	if second.cookie != "" {
		t.Errorf("the browser still keeps %s, want nothing", second.cookie)
	}
	(&browser{Server: s, cookie: before}).Refused(t, blueprint.CodeUnauthorized, "sign in again", "session.get", nil)
	third.OK(t, "session.create", object{"email": "ada@example.org", "password": "a new password"})
	third.OK(t, "session.delete", object{"everywhere": true})
	first.Refused(t, blueprint.CodeUnauthorized, "sign in again", "session.get", nil)
	bos.OK(t, "session.get", nil)
	if answer := bos.Call(t, "session.create", object{"email": "ada@example.org", "password": "a new password"}, "Trpc-Accept", "application/jsonl"); answer.Status != http.StatusBadRequest {
		t.Errorf("a stream that cannot set a cookie: %d %s, want %v", answer.Status, answer.Text, http.StatusBadRequest)
	}
	s.Advance(t, "721h")
	bos.Refused(t, blueprint.CodeUnauthorized, "sign in again", "session.get", nil)
	if text := s.Logs.String(); strings.Contains(text, "password") || strings.Contains(text, token) || strings.Contains(text, strings.SplitN(before, "=", 2)[1]) {
		t.Errorf("the log reveals a secret:\n%s", text)
	}
}

func TestCookie(t *testing.T) {
	t.Parallel()
	for public, want := range map[string]string{
		"":                      "NAME=TOKEN; Path=/; Max-Age=7776000; HttpOnly; SameSite=Strict",
		"https://flows.example": "__Host-NAME=TOKEN; Path=/; Max-Age=7776000; HttpOnly; Secure; SameSite=Strict",
		"http://flows.example":  "NAME=TOKEN; Path=/; Max-Age=7776000; HttpOnly; SameSite=Strict",
	} {
		t.Run(public, func(t *testing.T) {
			s := servertest.New(t, func(o *server.Options) { o.PublicURL = public })
			s.Host = "http://" + s.LocalAddress()
			b := setUpAda(t, s)
			answer := b.Call(t, "session.create", object{"email": "ada@example.org", "password": adasPassword})
			_, token, _ := strings.Cut(b.cookie, "=")
			want = strings.NewReplacer("NAME", s.CookieName(), "TOKEN", token).Replace(want)
			known := b.device + "; Path=/app/trpc; Max-Age=31536000; HttpOnly; " + strings.Repeat("Secure; ", strings.Count(want, "Secure")) + "SameSite=Strict"
			if diff := cmp.Diff([]string{want, known}, answer.Header.Values("Set-Cookie")); diff != "" {
				t.Errorf("cookies for %q (-want +got):\n%s", public, diff)
			}
			if prefix := s.CookieName() + "_device="; len(token) != 43 || !strings.HasPrefix(known, prefix) {
				t.Errorf("for %q a token of %d characters and the device %s, want 43 and %s", public, len(token), known, prefix)
			}
			if answer.Header.Get("Cache-Control") != "private, no-store" || strings.Contains(answer.Text, token) {
				t.Errorf("got %v %s, want Cache-Control private, no-store and no %q", answer.Header, answer.Text, token)
			}
			name := "blueprintd" // for all processes behind a public URL
			if _, port, _ := strings.Cut(s.LocalAddress(), ":"); public == "" {
				name += "_" + port
			}
			if s.CookieName() != name {
				t.Errorf("the cookie is called %s, want %v", s.CookieName(), name)
			}
			b.OK(t, "session.get", nil)
		})
	}
}

// The operator's password applies, and ends the sessions of the old one.
func TestOperatorSetsPassword(t *testing.T) {
	t.Parallel()
	s := servertest.New(t, servertest.AtNoon)
	b := setUpAda(t, s)
	for password, want := range map[string]blueprint.Code{"short": blueprint.CodeBadRequest, "ada@example.org": blueprint.CodeBadRequest, "a password from a seed": ""} {
		t.Run(password, func(t *testing.T) {
			if err := s.Accounts.SetPassword(t.Context(), s.Root.ID, password); blueprint.CodeOf(err) != want {
				t.Errorf("%v, want %v", err, want)
			}
		})
	}
	if err := s.Accounts.SetPassword(t.Context(), s.IDs.UUID(), "a password from a seed"); blueprint.CodeOf(err) != blueprint.CodeNotFound {
		t.Errorf("of nobody: %v, want %v", err, blueprint.CodeNotFound)
	}
	b.Refused(t, blueprint.CodeUnauthorized, "sign in again", "session.get", nil)
	b.OK(t, "session.create", object{"email": "ada@example.org", "password": "a password from a seed"})
}
