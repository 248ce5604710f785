package clock

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"
)

func TestTargetRefusals(t *testing.T) {
	for _, test := range []struct {
		value any
		want  string
	}{
		{map[string]any{"by": json.Number("3600")}, `by: must be a text such as "3600s"`},
		{map[string]any{"by": true}, `by: must be a text such as "3600s"`},
		{map[string]any{"by": "99999d"}, `by: "99999d" is too far; at most 36500d at once`},
		{map[string]any{"by": "soon"}, `by: "soon" is not a positive duration`},
		{map[string]any{"by": "1h", "form": 1}, "write {"},
	} {
		t.Run(fmt.Sprint(test.value), func(t *testing.T) {
			if _, err := Target(test.value, time.Unix(0, 0)); err == nil || !strings.HasPrefix(err.Error(), test.want) {
				t.Errorf("%v, want an error and %q at the start", err, test.want)
			}
		})
	}
}
