package secret

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"blueprintd/blueprint"
)

func TestTextsLoseTheirCredentials(t *testing.T) {
	jwt := "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJl"
	for _, test := range []struct{ text, want string }{
		{"https://a.example/x?api_key=abc123&page=2", "https://a.example/x?api_key=***&page=2"},
		{"https://a.example/x?page=2&Access-Token=abc", "https://a.example/x?page=2&Access-Token=***"},
		{"https://a.example/x?key=1&sig=2&signature=3&password=4&secret=5&token=6", "https://a.example/x?key=***&sig=***&signature=***&password=***&secret=***&token=***"},
		{"https://a.example/x?X-Amz-Signature=abc#access_token=def", "https://a.example/x?X-Amz-Signature=***#access_token=***"},
		{"https://a.example/x?api%5Fkey=abc", "https://a.example/x?api%5Fkey=***"},
		{"https://ada:pass@a.example/", "https://***@a.example/"},
		{"https://a.example/x?page_token=abc&keyword=blue", "https://a.example/x?page_token=abc&keyword=blue"},
		{"https://a.example/x?key={{k}}&token={{t}}", "https://a.example/x?key={{k}}&token={{t}}"},
		{"grant_type=client_credentials&client_secret=abc&scope=a", "grant_type=client_credentials&client_secret=***&scope=a"},
		{`data: {"access_token": "abc\"def", "n": 1}`, `data: {"access_token": "***", "n": 1}`},
		{`{\"password\": \"abc\", \"n\": 1}`, `{\"password\": \"***\", \"n\": 1}`},
		{`{"password": "{{p}}"}`, `{"password": "{{p}}"}`},
		{`{"password": "cut of`, `{"password": "***`},
		{"--x\r\nContent-Disposition: form-data; name=\"password\"\r\n\r\nhunter22\r\n--x", "--x\r\nContent-Disposition: form-data; name=\"password\"\r\n\r\n***\r\n--x"},
		{"sig=ab", "sig=***"},
		{"code=abc", "code=abc"},
		{"pin: 1234 otp: 5678 passcode: 9012 pin: 345", "pin: *** otp: *** passcode: *** pin: 345"},
		{"you sent Authorization: Bearer abcdefgh", "you sent Authorization: ***"},
		{"got Bearer abcdefghijklmnop!", "got Bearer ***!"},
		{"use a bearer token with care", "use a bearer token with care"},
		{"session=1; token=abc; theme=dark", "session=1; token=***; theme=dark"},
		{"keep " + jwt + " to yourself", "keep *** to yourself"},
		{"AKIAIOSFODNN7EXAMPLE", "***"},
		{"https://a.example/cb?code=abc&session=def&state=1", "https://a.example/cb?code=***&session=***&state=1"},
		{"code=abc&grant_type=authorization_code", "code=***&grant_type=authorization_code"},
		{"it ended with code=1, session=2", "it ended with code=1, session=2"},
		{"https://api.telegram.org/bot123456:AAE-xyz_abc/sendMessage", "https://api.telegram.org/bot123456:***/sendMessage"},
		{"https://hooks.slack.com/services/T0/B0/abcdef", "https://hooks.slack.com/services/***"},
		{"https://discord.com/api/webhooks/1/abc", "https://discord.com/api/webhooks/***"},
		{"https://hooks.slack.com/", "https://hooks.slack.com/"},
		{"<a><password>hunter22</password><apiKey x=\"y\">abc</apiKey><name>ada</name></a>", "<a><password>***</password><apiKey x=\"y\">***</apiKey><name>ada</name></a>"},
		{"<s:Password><![CDATA[abc]]></s:Password><password/><password></password>", "<s:Password><![CDATA[***]]></s:Password><password/><password></password>"},
		{"<label for=\"password\">Password</label>", "<label for=\"password\">Password</label>"},
		{"const apiKey = 'abcdef'; let dbPassword=\"x y\"", "const apiKey = '***'; let dbPassword=\"***\""},
		{"headers['X-Api-Key'] = 'abc'; f({password: `abc`})", "headers['X-Api-Key'] = '***'; f({password: `***`})"},
		{"if (typeof token === 'string') { token = 'Bearer ' + word }", "if (typeof token === 'string') { token = 'Bearer ' + word }"},
		{"const s = {password: 'string', token: input.token2, pin: pins.a}", "const s = {password: 'string', token: input.token2, pin: pins.a}"},
		{"const token = `${given}`, password = '{{p}}', secret = ''", "const token = `${given}`, password = '{{p}}', secret = ''"},
		{"the password: hunter22.\nPIN: 1234", "the password: ***.\nPIN: ***"},
		{"api key: abc-def", "api key: ***"},
		{"Password: must have 8 characters. Token: expired", "Password: must have 8 characters. Token: expired"},
		{"the tokens: 123456, max-token: 123456", "the tokens: 123456, max-token: 123456"},
		{`[{"name": "password", "value": "abc"}, {"name": "city", "value": "abc"}]`, `[{"name": "password", "value": "***"}, {"name": "city", "value": "abc"}]`},
		{"x-sk-live", "x-sk-live"},
		{"sk-" + strings.Repeat("a", 30), "***"},
		{"ghp_" + strings.Repeat("a", 36), "***"},
		{"-----BEGIN RSA PRIVATE KEY-----\nMIIB\n-----END RSA PRIVATE KEY-----\nafter", "***\nafter"},
		{"a = b, total=7 and 3 * 4 = 12", "a = b, total=7 and 3 * 4 = 12"},
		{"", ""},
	} {
		t.Run(test.text, func(t *testing.T) {
			if got := RedactText(test.text); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

func TestValuesLoseTheirCredentials(t *testing.T) {
	given, err := blueprint.Decode([]byte(`{"headers": {"Authorization": "abc", "X-API-Key": "abc", "accept": "a", "X-My-Key": "abc", "set-cookie": ["abc", "def"], "idempotency-key": "i"}, "list": [1, {"accessToken": "abc", "refresh_token": null}],
		"password": "{{p}}", "token": 12345678, "secret": {"name": "n", "password": "abc"}, "empty": {"password": ""}, "key": "ISSUE-1", "dbPassword": "abc"}`))
	if err != nil {
		t.Fatal(err)
	}
	got, err := blueprint.Encode(Redact(given))
	if err != nil {
		t.Fatal(err)
	}
	want := `{"dbPassword":"***","empty":{"password":""},"headers":{"Authorization":"***","X-API-Key":"***","X-My-Key":"***","accept":"a","idempotency-key":"i","set-cookie":["***","***"]},"key":"ISSUE-1","list":[1,{"accessToken":"***","refresh_token":null}],` +
		`"password":"{{p}}","secret":{"name":"n","password":"***"},"token":"***"}`
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Error(diff)
	}
	again, _ := blueprint.Encode(given)
	if !strings.Contains(string(again), `"dbPassword":"abc"`) {
		t.Error("the value itself was changed")
	}
}

func TestSensitiveMembers(t *testing.T) {
	for _, test := range []struct{ given, want string }{
		{`{"pass": "a", "passcode": "a", "pin": 1234, "otp": "1", "session": "a", "sid": "a"}`, `{"otp":"***","pass":"***","passcode":"***","pin":"***","session":"***","sid":"***"}`},
		{`{"passwords": ["a", "b"], "secrets": {"db": "a"}, "tokens": "a"}`, `{"passwords":["***","***"],"secrets":{"db":"***"},"tokens":"***"}`},
		{`{"tokens": 5, "pass": 12, "session": {"id": "a"}, "pin": null, "usage": {"tokens": {"in": 4}}}`, `{"pass":12,"pin":null,"session":{"id":"a"},"tokens":5,"usage":{"tokens":{"in":4}}}`},
		{`{"key": "4f9a8c2e1b7d6035aa"}`, `{"key":"***"}`},
		{`{"key": "4f9a8c2e1b7d6035"}`, `{"key":"***"}`},
		{`{"key": "4f9a8c2e1b7d603"}`, `{"key":"4f9a8c2e1b7d603"}`},
		{`{"urls": ["https://a.example/?token=abc", "https://a.example/"]}`, `{"urls":["https://a.example/?token=***","https://a.example/"]}`},
		{`{"token=abc": 1, "b": 2}`, `{"b":2,"token=***":1}`},
		{`{"key": "ISSUE-1", "value": "a"}`, `{"key":"ISSUE-1","value":"a"}`},
		{`{"key": "customers/2026/january.csv"}`, `{"key":"customers/2026/january.csv"}`},
		{`[{"name": "password", "value": "a"}, {"key": "apiKey", "value": 12}, {"name": "city", "value": "a"}]`, `[{"name":"password","value":"***"},{"key":"apiKey","value":"***"},{"name":"city","value":"a"}]`},
		{`{"headers": {"X-Session-Token": "a", "x-sessionid": "a", "x-shopify-access-token": "a", "x-page": "a"}}`, `{"headers":{"X-Session-Token":"***","x-page":"a","x-sessionid":"***","x-shopify-access-token":"***"}}`},
		{`{"spin": "a", "sessions": ["a"], "passed": "a", "compass": "a", "keyboard": "a", "side": "a"}`, `{"compass":"a","keyboard":"a","passed":"a","sessions":["a"],"side":"a","spin":"a"}`},
	} {
		t.Run(test.given, func(t *testing.T) {
			given, err := blueprint.Decode([]byte(test.given))
			if err != nil {
				t.Fatal(err)
			}
			if got, err := blueprint.Encode(Redact(given)); err != nil || string(got) != test.want {
				t.Errorf("got %s (%v), want %s", got, err, test.want)
			}
		})
	}
}

// What was taken out of one text is masked in others.
func TestWhatARedactorRemembers(t *testing.T) {
	r := NewRedactor()
	r.Header("Authorization", "Bearer abcdefgh")
	r.Header("X-Token", "yes")
	r.Header("Proxy-Authorization", "Basic YWRhOmh1bnRlcjIy")
	r.Header("Cookie", "a=b; theme=sunflower")
	r.Text("https://a.example/?api_key=a%20b%2Fcdef")
	r.Value(map[string]any{"password": "correct horse"})
	const input = "abcdefgh hunter22 sunflower a b/cdef correct+horse yes"
	if got := r.Masker().Text(input); got != "*** *** *** *** *** yes" {
		t.Errorf("%v, want *** *** *** *** *** yes", got)
	}
	if new(Redactor).Masker() != nil {
		t.Error("nothing was taken out")
	}
}

// A Redactor records a thousand texts, so that a run with more cannot fill the memory.
func TestRedactorBound(t *testing.T) {
	r := NewRedactor()
	for i := range maxFound + 1 {
		r.Header("X-Token", fmt.Sprintf("token-%04d", i))
	}
	if len(r.found) != 1000 {
		t.Errorf("recorded %d texts, want 1000", len(r.found))
	}
	if got, want := r.Masker().Text("token-0999 token-1000"), "*** token-1000"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestSensitiveHeaders(t *testing.T) {
	for name, want := range map[string]bool{
		"Authorization": true, "X-Api-Key": true, "X-Auth-Token": true, "X-My-Secret": true, "X-Password": true, "Set-Cookie": true, "X-Hub-Signature-256": true,
		"Content-Type": false, "Idempotency-Key": false, "X-RateLimit-Remaining-Tokens": false, "Date": false, "Location": false,
	} {
		t.Run(name, func(t *testing.T) {
			if got := SensitiveHeader(name); got != want {
				t.Errorf("got %v, want %v", got, want)
			}
		})
	}
}

func FuzzRedact(f *testing.F) {
	for _, seed := range []string{"a=b", "https://a:b@c/?token=d", `{"password":"x"}`, "Bearer abcdefgh"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		once := RedactText(text)
		if twice := RedactText(once); twice != once {
			t.Errorf("%q became %q, and then %q", text, once, twice)
		}
	})
}
