package outbound

import (
	"bytes"
	"testing"

	"blueprintd/blueprint"
)

// What an exchange keeps of a body encodes to the same bytes again, and where it can
// be read it is text.
func TestBodiesInOtherCharsets(t *testing.T) {
	for _, test := range []struct{ kind, body, want string }{
		{"text/plain", "plain", `"plain"`},
		{"text/plain; charset=utf-8", "ä", `"ä"`},
		{"text/plain; charset=windows-1252", "\x80", `"€"`},
		{"text/html; charset=shift_jis", "\x93\xfa", `"日"`},
		{"text/plain; charset=utf-16le", "a\x00", `"a"`},
		{"text/plain; charset=iso-8859-1", "ä", `"Ã¤"`},
		{"application/json; charset=windows-1252", "\"\x80\"", `"€"`},
		{"application/json; charset=windows-1252", "[\"\x80\"]", `["€"]`},
		{"text/plain; charset=shift_jis", "\xff", `{"$base64":"/w=="}`},
		{"text/plain; charset=klingon", "\xff", `{"$base64":"/w=="}`},
		{"image/png", "\xff", `{"$base64":"/w=="}`},
		{"text/plain; charset=windows-1252", "", `null`},
	} {
		value := BodyValue(test.kind, []byte(test.body))
		if got, err := blueprint.Encode(value); err != nil || string(got) != test.want {
			t.Errorf("%s %q: %s, want %s", test.kind, test.body, got, test.want)
		}
		if again := BodyBytes(test.kind, value); !blueprint.IsJSONType(test.kind) && !bytes.Equal(again, []byte(test.body)) {
			t.Errorf("%s %q: %q again", test.kind, test.body, again)
		}
	}
	if got := BodyBytes("application/json; charset=windows-1252", map[string]any{"a": "日😀"}); string(got) != `{"a":"\u65e5\ud83d\ude00"}` {
		t.Errorf("what a charset does not have: %s", got)
	}
}
