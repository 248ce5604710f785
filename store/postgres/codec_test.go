package postgres

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// TestEscape stores any bytes as text that PostgreSQL takes, and reads them back.
func TestEscape(t *testing.T) {
	for text, want := range map[string]string{
		"":               "",
		"plain é":        "plain é",
		"a\x00b":         "a\x01\x01b",
		"a\x01b":         "a\x01\x02b",
		"\xff":           "\x01\x03ff",
		"é"[:1] + "\x00": "\x01\x03c3\x01\x01",
		"\ufffd":         "\ufffd",
	} {
		t.Run(want, func(t *testing.T) {
			if got := escape(text); got != want {
				t.Errorf("escaped %q, want %q", got, want)
			}
		})
	}
	rapid.Check(t, func(t *rapid.T) {
		texts := []string{anyText(t), anyText(t)}
		for _, text := range texts {
			stored := escape(text)
			if strings.Contains(stored, "\x00") || !utf8.ValidString(stored) {
				t.Fatalf("%q is escaped as %q", text, stored)
			}
			if got, err := unescape(stored); got != text || err != nil {
				t.Fatalf("%q came back as %q, %v", text, got, err)
			}
		}
		whole := texts[0] + texts[1]
		if utf8.ValidString(texts[0]) && utf8.ValidString(texts[1]) && !strings.Contains(escape(whole), escape(texts[1])) {
			t.Fatalf("%q is not found in %q", escape(texts[1]), escape(whole))
		}
		if utf8.ValidString(whole) && strings.Compare(texts[0], texts[1]) != strings.Compare(escape(texts[0]), escape(texts[1])) {
			t.Fatalf("%q and %q changed their order", texts[0], texts[1])
		}
	})
	for _, damaged := range []string{"\x01", "a\x01x", "\x01\x03f", "\x01\x03gg"} {
		if text, err := unescape(damaged); err == nil {
			t.Errorf("%q was read as %q, want an error", damaged, text)
		}
	}
}

// anyText draws text that often has what must be escaped.
func anyText(t *rapid.T) string {
	return strings.Join(rapid.SliceOf(rapid.SampledFrom([]string{"\x00", "\x01", "\x02", "\x03", "a", "ff", "é", "\xff", "\xc3", "\U0001f600"})).Draw(t, "text"), "")
}

// TestArguments copies arguments only when it changes one.
func TestArguments(t *testing.T) {
	given := []any{"a", int64(1), []byte("\x00"), nil}
	if got := Arguments(given); &got[0] != &given[0] {
		t.Error("plain arguments were copied")
	}
	given[0] = "a\x00"
	got := Arguments(given)
	if got[0] != "a\x01\x01" || given[0] != "a\x00" || !slices.Equal(got[2].([]byte), []byte("\x00")) {
		t.Errorf("got %q from %q", got, given)
	}
}

// TestRestore reverses escape in all kinds of texts, but not in bytes.
func TestRestore(t *testing.T) {
	type name string
	const stored, plain = "a\x01\x01", "a\x00"
	text, named, number, data := stored, name(stored), 7, []byte(stored)
	pointed := stored
	pointer, missing := &pointed, (*string)(nil)
	if err := Restore([]any{&text, &named, &number, &data, &pointer, &missing}); err != nil {
		t.Fatal(err)
	}
	if text != plain || named != plain || *pointer != plain || string(data) != stored {
		t.Errorf("restored %q, %q, %q and %q, want %q three times and %q", text, named, *pointer, data, plain, stored)
	}
}
