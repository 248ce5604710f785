package blueprint_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"blueprintd/blueprint"
)

// problemOf returns the message of the one issue of an error about a field, "" for nil.
func problemOf(t *testing.T, err error, field string) string {
	t.Helper()
	if err == nil {
		return ""
	}
	var known *blueprint.Error
	if !errors.As(err, &known) {
		t.Fatalf("got the error %v, want a *blueprint.Error", err)
	}
	if known.Code != blueprint.CodeBadRequest || len(known.Issues) != 1 || blueprint.PathText(known.Issues[0].Path) != field {
		t.Fatalf("got %s about %v, want %s about %s", known.Code, known.Issues, blueprint.CodeBadRequest, field)
	}
	return known.Issues[0].Message
}

func TestCheckPassword(t *testing.T) {
	const email = "Ada.Lovelace@example.org"
	for name, test := range map[string]struct{ password, want string }{
		"shortest":                {strings.Repeat("é", 10), ""},
		"too short":               {strings.Repeat("é", 9), "must have at least 10 characters"},
		"empty":                   {"", "must have at least 10 characters"},
		"longest":                 {strings.Repeat("a", 1000), ""},
		"too long":                {strings.Repeat("a", 1001), "must have at most 1000 bytes"},
		"too long in bytes":       {strings.Repeat("é", 501), "must have at most 1000 bytes"},
		"no UTF-8":                {"long enough \xff", "is not valid UTF-8"},
		"email":                   {email, "must not be the email"},
		"email in another case":   {" ada.lovelace@EXAMPLE.org\n", "must not be the email"},
		"email and more":          {email + "!", ""},
		"spaces and line endings": {"a b\tc\nd e f", ""},
	} {
		t.Run(name, func(t *testing.T) {
			if got := problemOf(t, blueprint.CheckPassword(test.password, email), "password"); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

func TestCheckEmail(t *testing.T) {
	const domain = "@example.org"
	for email, valid := range map[string]bool{
		"ada@example.org": true, "a@b": true, "ada+tag@xn--bcher-kva.example": true, "ädä@bücher.example": true, "a@b@c": true,
		strings.Repeat("a", 320-len(domain)) + domain: true,
		strings.Repeat("a", 321-len(domain)) + domain: false,
		"":                         false,
		"ada":                      false,
		domain:                     false,
		"ada@":                     false,
		"ada lovelace@example.org": false,
		"ada\u00a0@example.org":    false,
		"ada\n@example.org":        false,
		"ada@example.org\x00":      false,
		"ada\u202e@example.org":    false,
		"ada\u200b@example.org":    false,
		"<ada@example.org":         false,
		"ada@example.org>":         false,
		"ada\xff@example.org":      false,
	} {
		t.Run(email, func(t *testing.T) {
			if got := problemOf(t, blueprint.CheckEmail(email), "email"); (got == "") != valid {
				t.Errorf("valid: want %v, got the problem %q", valid, got)
			}
		})
	}
}

// Folded emails are compared to find an account, so that letter case makes no other one.
func TestFoldEmail(t *testing.T) {
	for _, same := range [][]string{
		{"ada@example.org", "Ada@Example.ORG", "ADA@EXAMPLE.ORG"},
		{"kelvin@x", "\u212aelvin@x"}, // the Kelvin sign is a capital k
		{"ſtraße@x", "Straße@x", "STRAẞE@x"},
		{"σίσυφος@x", "ΣΊΣΥΦΟΣ@x"},
	} {
		for _, email := range same[1:] {
			if one, other := blueprint.FoldEmail(same[0]), blueprint.FoldEmail(email); one != other {
				t.Errorf("%q and %q fold to %q and %q, want the same", same[0], email, one, other)
			}
		}
	}
	for _, email := range []string{"adb@example.org", "äda@example.org", "ada@example.com", ""} {
		if blueprint.FoldEmail(email) == blueprint.FoldEmail("ada@example.org") {
			t.Errorf("%q folds like ada@example.org, which is another address; want other than %v", email, blueprint.FoldEmail("ada@example.org"))
		}
	}
}

func TestSessionEnd(t *testing.T) {
	const day = 24 * time.Hour
	made := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for name, test := range map[string]struct{ used, want time.Duration }{
		"never used":         {0, 30 * day},
		"used":               {10 * day, 40 * day},
		"used until the end": {60 * day, 90 * day},
		"at most 90 days":    {89 * day, 90 * day},
	} {
		t.Run(name, func(t *testing.T) {
			got := blueprint.SessionEnd(blueprint.TimeOf(made), blueprint.TimeOf(made.Add(test.used))).Time()
			if diff := cmp.Diff(made.Add(test.want), got); diff != "" {
				t.Errorf("end (-want +got):\n%s", diff)
			}
		})
	}
}
