package store

import (
	"testing"
)

func TestReserve(t *testing.T) {
	const mib, tib = 1 << 20, 1 << 40
	for _, test := range []struct {
		place         place
		minFree, want int64
	}{
		{place{known: true, total: tib}, 0, 64 * mib},
		{place{known: true, total: 100 * mib}, 0, 5 * mib},
		{place{known: true, total: 100 * mib}, 50 * mib, 50 * mib},
		{place{known: true, total: tib}, -1, 0},
		{place{}, 50 * mib, 0},
	} {
		if got := test.place.reserve(test.minFree); got != test.want {
			t.Errorf("%+v, %d: %d, want %d", test.place, test.minFree, got, test.want)
		}
	}
}
