package secret

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"testing"
)

// TestFinder looks for one of many secrets in each form that a Masker masks.
func TestFinder(t *testing.T) {
	var f Finder
	var others []string
	for i := range 500 {
		others = append(others, fmt.Sprintf("%04d-token-of-another-item", i))
	}
	f.Add(others)
	for _, wanted := range []string{"s3cr3t-token-of-mine", `pass & "word" / 100%`, "two\nlines and more", "geheimnis-üöä-ß"} {
		f.Add([]string{wanted})
		f.Add([]string{wanted})
		quoted, _ := json.Marshal(wanted)
		for name, value := range map[string]any{
			"verbatim": "see " + wanted + "!", "a key": map[string]any{wanted: 1}, "in a list": []any{1, map[string]any{"a": []any{wanted}}},
			"as a query": "https://a.example/?q=" + url.QueryEscape(wanted), "as a path": "https://a.example/" + url.PathEscape(wanted), "in JSON": string(quoted),
			"hexadecimal": hex.EncodeToString([]byte("a" + wanted)), "base64": base64.StdEncoding.EncodeToString([]byte(wanted)),
			"base64, 1 later": base64.StdEncoding.EncodeToString([]byte("a" + wanted + "b")), "base64, 2 later": base64.RawURLEncoding.EncodeToString([]byte("ab" + wanted + "b")),
			"cut": "see " + wanted[:len(wanted)-2] + "...", "in lines": base64.StdEncoding.EncodeToString([]byte(wanted))[:10] + "\n" + base64.StdEncoding.EncodeToString([]byte(wanted))[10:],
			"every character": "https://a.example/" + percentEncoded(wanted),
		} {
			t.Run(wanted+" "+name, func(t *testing.T) {
				if masked := fmt.Sprint(NewMasker([]any{wanted}).Value(value)); masked == fmt.Sprint(value) {
					t.Fatalf("the masker does not find it in %v", value)
				}
				if found := f.In(value); !slices.Equal(found, []string{wanted}) {
					t.Errorf("%q is found in %v, want %q", found, value, wanted)
				}
			})
		}
	}
	if found := f.In("nothing of it", map[string]any{"a": json.Number("12345678")}); len(found) != 0 {
		t.Errorf("%q is found where there is none", found)
	}
	f.Add([]string{"short"})
	if found := f.In("nothing of it"); !slices.Equal(found, []string{"short"}) {
		t.Errorf("%q is found, want the one that cannot be looked up", found)
	}
}

func percentEncoded(text string) (out string) {
	for _, b := range []byte(text) {
		out += fmt.Sprintf("%%%02X", b)
	}
	return out
}
