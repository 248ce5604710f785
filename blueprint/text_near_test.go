package blueprint

import "testing"

func TestDidYouMean(t *testing.T) {
	known := []string{"secret", "id", "timeoutMs", "onError", "a"}
	for name, want := range map[string]string{
		"secrt": "secret", "SECRET": "secret", "timeoutms": "timeoutMs", "onEror": "onError", "timeOut": "timeoutMs", "xd": "id", "else": "", "": "", "secrets_": "secret", "z": "", "A": "a",
	} {
		t.Run(name, func(t *testing.T) {
			if got := Nearest(name, known); got != want {
				t.Errorf("%q, want %q", got, want)
			}
		})
	}
}
