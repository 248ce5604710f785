package blueprint_test

import (
	"strings"
	"testing"

	"blueprintd/blueprint"
)

func TestToolName(t *testing.T) {
	const owner = "12345678-9abc-4def-8123-456789abcdef"
	long := strings.Repeat("long ", 50)
	for _, c := range []struct{ label, title, owner, want string }{
		{"Say  HELLO!", "T", "", "say-hello"},
		{"", "Say_hello", "", "say-hello"},
		{"日本", "Über uns", "", "ber-uns"},
		{"日本", "日本", "", "blueprint"},
		{"Say hello", "T", owner, "say-hello_by_12345678"},
		{"", "", owner, "blueprint_by_12345678"},
		{"deploy by 12345678", "", "", "deploy-by-12345678"}, // differs from that of another user's tool
		{long, "", "", strings.TrimRight(strings.Repeat("long-", 13)[:64], "-")},
		{long, "", owner, strings.TrimRight(strings.Repeat("long-", 13)[:52], "-") + "_by_12345678"},
	} {
		t.Run(c.want, func(t *testing.T) {
			if got := blueprint.ToolName(c.label, c.title, c.owner); got != c.want || len(got) > blueprint.MaxToolName {
				t.Errorf("%q, %q, %q: %q, want %q", c.label, c.title, c.owner, got, c.want)
			}
		})
	}
}
