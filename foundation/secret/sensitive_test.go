package secret_test

import (
	"encoding/base64"
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"blueprintd/blueprint"
	"blueprintd/foundation/secret"
)

// A credential that is long enough is replaced in values, as it is sent and no
// other way; keys and short credentials stay.
func TestCredentials(t *testing.T) {
	const long = "tok-1234567890ab" // 16 characters
	c := secret.NewCredentials([]string{"orders", "fifteen-letters", long, base64.StdEncoding.EncodeToString([]byte("ada:orders-and-more")), "1234567890123456"})
	for _, test := range []struct{ name, given, want string }{
		{"alone", `"` + long + `"`, `"***"`},
		{"behind its scheme", `{"a": ["Bearer ` + long + `"]}`, `{"a":["Bearer ***"]}`},
		{"as basic", `"Basic YWRhOm9yZGVycy1hbmQtbW9yZQ=="`, `"Basic ***"`},
		{"a number", `1234567890123456`, `"***"`},
		{"a key", `{"` + long + `": "` + long + `"}`, `{"` + long + `":"***"}`},
		{"a short one", `{"orders": ["orders", "fifteen-letters"]}`, `{"orders":["orders","fifteen-letters"]}`},
		{"in base64", `"` + base64.StdEncoding.EncodeToString([]byte(long)) + `"`, `"` + base64.StdEncoding.EncodeToString([]byte(long)) + `"`},
		{"none", `[1.50, null, true]`, `[1.50,null,true]`},
	} {
		t.Run(test.name, func(t *testing.T) {
			given := decode(t, test.given)
			before, _ := blueprint.Encode(given)
			value, changed := c.Value(given)
			got, err := blueprint.Encode(value)
			if err != nil || string(got) != test.want {
				t.Errorf("got %s (%v), want %s", got, err, test.want)
			}
			if want := string(before) != test.want; changed != want {
				t.Errorf("changed is %v, want %v", changed, want)
			}
			if after, _ := blueprint.Encode(given); string(after) != string(before) {
				t.Errorf("the argument became %s, want %v", after, string(before))
			}
		})
	}
	if value, changed := secret.NewCredentials([]string{"orders", ""}).Value("orders"); value != "orders" || changed {
		t.Errorf("short ones alone: %v", value)
	}
}

// A subrun gets the secrets of its caller as strings, and masks the same with them.
func TestStrings(t *testing.T) {
	values := []any{"", "hunter22", true, nil, json.Number("7"), json.Number("1234567"), []any{"leaf-of-a-list", "abc"}, map[string]any{"user": ""}}
	want := []string{"hunter22", "1234567", `["leaf-of-a-list","abc"]`, "leaf-of-a-list", "abc", `{"user":""}`}
	if diff := cmp.Diff(want, secret.Strings(values)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}
