package accounts

import (
	"errors"
	"strings"
	"testing"

	"blueprintd/blueprint"
)

func TestPasswordRules(t *testing.T) {
	for _, test := range []struct{ password, want string }{
		{"0123456789", ""},
		{"éééééééééé", ""},
		{strings.Repeat("x", 1000), ""},
		{"012345678", "must have at least 10 characters"},
		{"ééééééééé", "must have at least 10 characters"},
		{strings.Repeat("é", 501), "must have at most 1000 bytes"},
		{"ada@example.org", "must not be the email"},
		{" ADA@Example.ORG ", "must not be the email"},
		{"0123456789\xff", "is not valid UTF-8"},
		{"", "must have at least 10 characters"},
	} {
		checkField(t, blueprint.CheckPassword(test.password, "Ada@example.org"), "password", test.want)
	}
}

func TestEmailRules(t *testing.T) {
	for email, want := range map[string]string{
		"ada@example.org": "", "admin@localhost": "", "é@é": "", "ada": "no", "@x": "no", "ada@": "no", "a b@x": "no", "<a@x>": "no", "a@x\n": "no", "a\u0085b@x": "no", "a\u009b2Jb@x": "no", "a\u202eb@x": "no", "a\u2066b@x": "no", "a\u200bb@x": "no", "a\u00a0b@x": "no", "a\u2028b@x": "no", "a\xffb@x": "no", "日本@例え.jp": "", strings.Repeat("x", 320) + "@x": "no",
	} {
		if want != "" {
			want = "must be an email address such as ada@example.org"
		}
		checkField(t, blueprint.CheckEmail(email), "email", want)
	}
}

func checkField(t *testing.T, err error, field, want string) {
	t.Helper()
	var refused *blueprint.Error
	switch {
	case want == "" && err == nil:
	case !errors.As(err, &refused) || refused.Code != blueprint.CodeBadRequest || refused.Message != field+": "+want || len(refused.Issues) != 1 || refused.Issues[0].Path[0] != field:
		t.Errorf("got %v, want %q", err, want)
	}
}
