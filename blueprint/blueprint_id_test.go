package blueprint_test

import (
	"strings"
	"testing"

	"blueprintd/blueprint"
)

// FuzzID compares IsUUID with a check of each character.
func FuzzID(f *testing.F) {
	for _, seed := range []string{
		"6b1f0c5e-8a6d-4c1e-9f33-2d5b7a90c412", "6B1F0C5E-8A6D-4C1E-9F33-2D5B7A90C412", "6b1f0c5e8a6d4c1e9f332d5b7a90c412", "{6b1f0c5e-8a6d-4c1e-9f33-2d5b7a90c412}",
		"6b1f0c5e-8a6d-4c1e-9f33-2d5b7a90c412\n", "exec_1700000000000_01hf0000000000000000000000", "\x00", "",
	} {
		f.Add(seed)
	}
	all := func(text, letters string) bool { return strings.Trim(text, letters) == "" }
	f.Fuzz(func(t *testing.T, text string) {
		parts := strings.Split(text, "-")
		uuid := len(parts) == 5
		for i, length := range []int{8, 4, 4, 4, 12} {
			uuid = uuid && len(parts[i]) == length && all(parts[i], "0123456789abcdefABCDEF")
		}
		if blueprint.IsUUID(text) != uuid {
			t.Errorf("%q is a UUID: %v, want %v", text, !uuid, uuid)
		}
		if uuid && (!blueprint.IsUUID(strings.ToLower(text)) || len(text) != 36) {
			t.Errorf("%q is not a UUID in lower case", text)
		}
	})
}
