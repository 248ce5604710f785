package blueprint

import (
	"strings"
	"testing"
)

func TestIsCustomEvent(t *testing.T) {
	for name, want := range map[string]bool{
		"custom.a": true, "custom.azAZ09": true, "custom.Order_Paid-2.0": true, "custom..": true, "custom." + strings.Repeat("x", MaxEventName-7): true,
		"": false, "custom": false, "custom.": false, "Custom.a": false, "execution.completed": false, "custom.a b": false, "custom.é": false,
		"custom.a\n": false, "custom.a/b": false, "custom.{{x}}": false, "custom." + strings.Repeat("x", MaxEventName-6): false,
	} {
		t.Run(name, func(t *testing.T) {
			if got := IsCustomEvent(name); got != want {
				t.Errorf("%t, want %v", got, want)
			}
		})
	}
}
