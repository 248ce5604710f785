package outbound

import (
	"bytes"
	"testing"

	"blueprintd/blueprint"
)

// A body of a textual type that names a charset is text, whatever that is and
// whatever the body holds. Other types name one for bytes, too.
func TestTextInUnknownCharsets(t *testing.T) {
	for _, test := range []struct {
		kind, body, want string
		ok               bool
	}{
		{"text/plain; charset=nonsense", "plain", "plain", true},
		{"text/plain; charset=nonsense", "ä", "ä", true},
		{"text/plain; charset=nonsense", "a\xe4b", "a\ufffdb", true},
		{"application/json; charset=nonsense", "\"\xe4\"", "\"\ufffd\"", true},
		{"text/html; charset=nonsense", "<p>\xe4", "<p>\ufffd", true},
		{"image/png; charset=binary", "a\xe4", "a\xe4", false},
		{"application/zip; charset=binary", "a\xe4", "a\xe4", false},
		{"text/plain; charset=iso-2022-kr", "a\xe4", "a\ufffd", true},
		{"text/xml", "<?xml version='1.0' encoding='nonsense'?><a>\xe4</a>", "<?xml version='1.0' encoding='nonsense'?><a>\ufffd</a>", true},
		{"text/plain; charset=utf-8", "a\xe4", "a\ufffd", true},
		{"text/plain; charset=\"\"", "a\xe4", "a\xe4", false},
		{"application/octet-stream", "a\xe4", "a\xe4", false},
		{"text/plain", "a\xe4", "a\xe4", false},
	} {
		t.Run(test.kind+" "+test.body, func(t *testing.T) {
			if text, ok := Text(test.kind, []byte(test.body)); string(text) != test.want || ok != test.ok {
				t.Errorf("%s %q: %q %v, want %q %v", test.kind, test.body, text, ok, test.want, test.ok)
			}
		})
	}
}

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
		t.Run(test.kind+" "+test.body, func(t *testing.T) {
			value := BodyValue(test.kind, []byte(test.body))
			if got, err := blueprint.Encode(value); err != nil || string(got) != test.want {
				t.Errorf("%s %q: %s, want %s", test.kind, test.body, got, test.want)
			}
			if again := BodyBytes(test.kind, value); !blueprint.IsJSONType(test.kind) && !bytes.Equal(again, []byte(test.body)) {
				t.Errorf("%s %q: %q again", test.kind, test.body, again)
			}
		})
	}
	if got := BodyBytes("application/json; charset=windows-1252", map[string]any{"a": "日😀"}); string(got) != `{"a":"\u65e5\ud83d\ude00"}` {
		t.Errorf("what a charset does not have: %s, want %v", got, `{"a":"\u65e5\ud83d\ude00"}`)
	}
}
