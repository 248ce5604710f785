package servertest

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"

	"blueprintd/blueprint"
)

// Forms returns encodings of a text, by name.
func Forms(text string) map[string]string {
	quoted, _ := json.Marshal(text)
	plain, _ := blueprint.Encode(text)
	all := map[string]string{
		"plain": text, "JSON": string(plain[1 : len(plain)-1]), "JSON for pages": string(quoted[1 : len(quoted)-1]),
		"hex": hex.EncodeToString([]byte(text)), "HEX": strings.ToUpper(hex.EncodeToString([]byte(text))),
		"query": url.QueryEscape(text), "path": url.PathEscape(text), "component": strings.ReplaceAll(url.QueryEscape(text), "+", "%20"),
		"lower query": lowerEscapes(url.QueryEscape(text)), "lower path": lowerEscapes(url.PathEscape(text)),
	}
	// Of base64 inside a longer text, the middle part, which does not depend on the
	// surrounding bytes.
	for lead := range 3 {
		form := base64.StdEncoding.EncodeToString([]byte(strings.Repeat("x", lead) + text))
		middle := form[min(4, len(form)):max(4, len(form)-5)]
		all[fmt.Sprint("base64 ", lead)] = middle
		all[fmt.Sprint("base64url ", lead)] = strings.NewReplacer("+", "-", "/", "_").Replace(middle)
	}
	return all
}

func lowerEscapes(text string) string {
	out := []byte(text)
	for i := 0; i+2 < len(out); i++ {
		if out[i] == '%' {
			copy(out[i+1:], strings.ToLower(string(out[i+1:i+3])))
		}
	}
	return string(out)
}

// Found returns the encodings in which text contains secret.
func Found(text, secret string) (in []string) {
	for name, form := range Forms(secret) {
		if strings.Contains(text, form) {
			in = append(in, name)
		}
	}
	return in
}
