package nodes

import (
	"strings"
	"testing"

	"blueprintd/blueprint"
)

// FuzzConfig checks that no config panics, and that a config without issues and templates
// is not bad_config in a run.
func FuzzConfig(f *testing.F) {
	kinds := All(Dependencies{})
	for _, kind := range kinds {
		f.Add(asJSON(f, kind.Example))
	}
	for _, config := range []string{
		`{"cases":[{"equals":null,"handle":"x"},{"when":"{{x}}","handle":"{{y}}"}],"value":1e400}`,
		`{"until":"2026-01-31T12:00:00Z","durationMs":1.0,"schema":{"$ref":"#"}}`,
		`{"url":"http://a/%zz","headers":{"A":[null]},"expectStatus":[[]],"multipart":[{"name":"","value":null}]}`,
		`{"text":null,"prompt":{},"values":{"now":1},"expiresMs":"{{x}}","failed":"{{x}}","message":[]}`,
	} {
		f.Add(config)
	}
	f.Fuzz(func(t *testing.T, source string) {
		value, err := blueprint.Decode([]byte(source))
		config, ok := value.(map[string]any)
		if err != nil || !ok {
			return
		}
		for _, kind := range kinds {
			wrong := ""
			for _, issue := range kind.Check(config) {
				if issue.Severity == blueprint.SeverityError {
					wrong = issueText([]blueprint.Issue{issue})
				}
			}
			if kind.Type == "http-request" || strings.Contains(source, "{{") {
				continue
			}
			task := &blueprint.Task{
				Config: config, Now: now, Log: func(string, string, any) {},
				Evaluate: func(string) (any, error) { return true, nil },
			}
			_, code := run(t, kind, task)
			if wrong == "" && code == codeBadConfig {
				t.Errorf("%s: a check finds nothing", kind.Type)
			}
			if kind.Answer != nil {
				kind.Answer(task, config)
				kind.Expired(task)
			}
		}
	})
}

func FuzzURL(f *testing.F) {
	for _, seed := range []string{"https://example.com/a?b=c#d", "http://[::1%25lo]:80/", "http://u:p@h/", "http://h/?q= \"\x7f", "//h", "http://h:99999/", "HTTP://É.example/ü"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, source string) {
		target, problem := parseURL(source)
		if problem != "" {
			return
		}
		if target.Hostname() == "" || target.User != nil || target.Fragment != "" || target.Scheme != "http" && target.Scheme != "https" {
			t.Fatalf("%q became %+v", source, target)
		}
		line := target.RequestURI()
		for i := range len(line) {
			if c := line[i]; c <= ' ' || c >= 0x7f {
				t.Fatalf("%q asks for %q, want more than %v and less than %v", source, line, ' ', 0x7f)
			}
		}
	})
}
