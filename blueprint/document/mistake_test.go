package document_test

import (
	"testing"

	"blueprintd/blueprint/document"
)

func TestCommonMistakesInYAML(t *testing.T) {
	for text, want := range map[string]string{
		"a:\n  text: {{name}}\n":                   "x.yaml:2:9: a template needs quotes: text: '{{name}}'",
		"a: {text: {{= f('x') }} }\n":              "x.yaml:1:11: a template needs quotes: text: '{{= f(''x'') }}'",
		"text: {{name}}, {{other}}\n":              "x.yaml:1:7: a template needs quotes: text: '{{name}} ...'",
		"text: {{name}} # whom\n":                  "x.yaml:1:7: a template needs quotes: text: '{{name}}'",
		"list:\n  - {{name}}\n":                    "x.yaml:2:5: a template needs quotes: '{{name}}'",
		"title: x: y\n":                            "x.yaml:1:8: a text with \": \" in it needs quotes: title: '...'",
		"a:\n  - id: b\n    title: Ü é: the 1st\n": "x.yaml:3:12: a text with \": \" in it needs quotes: title: '...'",
		"a:\n\tb: 1\n":                             "x.yaml:2:1: YAML is indented with spaces, not tabs",
		"a:\n  - b: 1\n  \t  c: 1\n":               "x.yaml:3:3: YAML is indented with spaces, not tabs",
		"title: @home\n":                           "x.yaml:1:8: a text that begins with @ needs quotes: title: '...'",
		"title: `x`\n":                             "x.yaml:1:8: a text that begins with ` needs quotes: title: '...'",
		"title: *bold* x\n":                        "x.yaml:1:8: a text that begins with * needs quotes: title: '...'",
		"a: {url: http://x/ #frag}\n":              "x.yaml:1:20: the text from \" #\" on is a comment, the closing \"}\" too; put the value in quotes if it is part of it",
		"a: {url: http://x/ #frag, b: 1}\nb: 1\n":  "x.yaml:1:20: the text from \" #\" on is a comment, the closing \"}\" too; put the value in quotes if it is part of it",
		"a: [\"x #y\", z #1]\n":                    "x.yaml:1:15: the text from \" #\" on is a comment, the closing \"]\" too; put the value in quotes if it is part of it",
		"a: [x #1]\nb: 1\n":                        "x.yaml:1:7: the text from \" #\" on is a comment, the closing \"]\" too; put the value in quotes if it is part of it",
	} {
		t.Run(text, func(t *testing.T) {
			_, err := document.Parse("x.yaml", []byte(text))
			if err == nil || err.Error() != want {
				t.Errorf("got\n%v, want\n%s", err, want)
			}
		})
	}
}

// Other mistakes keep the parser's message.
func TestOtherMistakesInYAML(t *testing.T) {
	for text, want := range map[string]string{
		"a: {b: '#c}'\n":    "x.yaml:1:4: could not find flow mapping end token '}'",
		"a: {b: 1 # c}\n":   "x.yaml:1:4: could not find flow mapping end token '}'",
		"a: {\n":            "x.yaml:1:4: could not find flow mapping end token '}'",
		"a: {{x: 1}: 2, }}": "x.yaml:1:11: found an invalid key for this map",
		"a: b\n  c: d\n":    "x.yaml:1:4: mapping value is not allowed in this context",
	} {
		t.Run(text, func(t *testing.T) {
			if _, err := document.Parse("x.yaml", []byte(text)); err == nil || err.Error() != want {
				t.Errorf("got %v, want %s", err, want)
			}
		})
	}
}
