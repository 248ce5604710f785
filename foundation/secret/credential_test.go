package secret_test

import (
	"encoding/base64"
	"testing"

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
		given := decode(t, test.given)
		before, _ := blueprint.Encode(given)
		value, changed := c.Value(given)
		got, err := blueprint.Encode(value)
		if err != nil || string(got) != test.want || changed != (string(before) != test.want) {
			t.Errorf("%s: %s, changed %v, want %s (%v)", test.name, got, changed, test.want, err)
		}
		if after, _ := blueprint.Encode(given); string(after) != string(before) {
			t.Errorf("%s: what was given has changed", test.name)
		}
	}
	if value, changed := secret.NewCredentials([]string{"orders", ""}).Value("orders"); value != "orders" || changed {
		t.Errorf("short ones alone: %v", value)
	}
}
