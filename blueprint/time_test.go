package blueprint

import (
	"math/rand/v2"
	"testing"
	"time"
)

// Times are formatted as package time formats them.
func TestTimeFormat(t *testing.T) {
	instants := []Time{1, -1, 999, -62135596800000, TimeOf(lastTime), -62167219200001}
	random := rand.New(rand.NewPCG(1, 2))
	for range 10_000 {
		instants = append(instants, Time(random.Int64N(2*int64(TimeOf(lastTime)))-int64(TimeOf(lastTime))))
	}
	for _, instant := range instants {
		want := time.UnixMilli(int64(instant)).UTC().Format(TimeFormat)
		if got := instant.String(); got != want {
			t.Fatalf("%d is formatted %s, want %s", int64(instant), got, want)
		}
		if got, err := instant.MarshalJSON(); err != nil || string(got) != `"`+want+`"` {
			t.Fatalf("%d in JSON: %s, %v; want %v", int64(instant), got, err, `"`+want+`"`)
		}
	}
	if got, _ := Time(0).MarshalJSON(); string(got) != "null" || Time(0).String() != "" {
		t.Errorf("the zero time: %s and %q, want null and nothing", got, Time(0).String())
	}
}
