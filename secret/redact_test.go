package secret

import (
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
		{"you sent Authorization: Bearer abcdefgh", "you sent Authorization: ***"},
		{"got Bearer abcdefghijklmnop!", "got Bearer ***!"},
		{"use a bearer token with care", "use a bearer token with care"},
		{"session=1; token=abc; theme=dark", "session=1; token=***; theme=dark"},
		{"keep " + jwt + " to yourself", "keep *** to yourself"},
		{"AKIAIOSFODNN7EXAMPLE", "***"},
		{"x-sk-live", "x-sk-live"},
		{"sk-" + strings.Repeat("a", 30), "***"},
		{"ghp_" + strings.Repeat("a", 36), "***"},
		{"-----BEGIN RSA PRIVATE KEY-----\nMIIB\n-----END RSA PRIVATE KEY-----\nafter", "***\nafter"},
		{"a = b, total=7 and 3 * 4 = 12", "a = b, total=7 and 3 * 4 = 12"},
		{"", ""},
	} {
		if got := RedactText(test.text); got != test.want {
			t.Errorf("%q\n got %q\nwant %q", test.text, got, test.want)
		}
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

func TestTellingHeaders(t *testing.T) {
	for name, want := range map[string]bool{
		"Authorization": true, "X-Api-Key": true, "X-Auth-Token": true, "X-My-Secret": true, "X-Password": true, "Set-Cookie": true, "X-Hub-Signature-256": true,
		"Content-Type": false, "Idempotency-Key": false, "X-RateLimit-Remaining-Tokens": false, "Date": false, "Location": false,
	} {
		if TellingHeader(name) != want {
			t.Errorf("%s: %v", name, !want)
		}
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
