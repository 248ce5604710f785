package dbfile

import (
	"fmt"
	"testing"
)

func TestReserve(t *testing.T) {
	const mib, tib = 1 << 20, 1 << 40
	for _, test := range []struct {
		place         FileSystem
		minFree, want int64
	}{
		{FileSystem{Known: true, Total: tib}, 0, 64 * mib},
		{FileSystem{Known: true, Total: 100 * mib}, 0, 5 * mib},
		{FileSystem{Known: true, Total: 100 * mib}, 50 * mib, 50 * mib},
		{FileSystem{Known: true, Total: tib}, -1, 0},
		{FileSystem{}, 50 * mib, 0},
	} {
		t.Run(fmt.Sprintf("%+v, %d", test.place, test.minFree), func(t *testing.T) {
			if got := test.place.Reserve(test.minFree); got != test.want {
				t.Errorf("%+v, %d: %d, want %d", test.place, test.minFree, got, test.want)
			}
		})
	}
}
