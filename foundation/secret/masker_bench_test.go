package secret_test

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"testing"

	"blueprintd/foundation/secret"
)

// tokens returns secrets that have nothing in common.
func tokens(count int) (list []any) {
	for i := range count {
		sum := sha256.Sum256([]byte{byte(i), byte(i >> 8)})
		list = append(list, hex.EncodeToString(sum[:]))
	}
	return list
}

// TestManySecrets cuts each of many secrets at each place.
func TestManySecrets(t *testing.T) {
	list := tokens(300)
	m := secret.NewMasker(list)
	for _, one := range list {
		token := one.(string)
		for size := 8; size < len(token); size++ {
			text := "at " + token[:size]
			if got := []string{m.Text(text), m.Text(text + "... and"), m.Text(text + "%2")}; !slices.Equal(got, []string{"at ***", "at ***... and", "at ***"}) {
				t.Fatalf("%q becomes %q", text, got)
			}
		}
	}
}

// BenchmarkMasker masks a text with few and many secrets: the time must not depend on their
// number, since a run may hide one for each of thousands of links.
func BenchmarkMasker(b *testing.B) {
	text := strings.Repeat("an ordinary line with a value, cut off...\n", 10)
	for _, count := range []int{10, 100, 1000, 3000} {
		m := secret.NewMasker(tokens(count))
		b.Run(fmt.Sprint(count), func(b *testing.B) {
			for b.Loop() {
				m.Text(text)
			}
		})
	}
}
