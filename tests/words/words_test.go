package main

import "testing"

func TestFindings(t *testing.T) {
	for text, want := range map[string]int{
		"Ended tells whether a run has ended.":       1,
		"whoever knocks at the door is told nothing": 4,
		"returns the row, or an error":               0,
		"config.cron: is no cron expression":         1,
		"there is no such file":                      0,
		`a user named "nobody"`:                      0,
	} {
		t.Run(text, func(t *testing.T) {
			if got := findings(text); len(got) != want {
				t.Errorf("findings(%q) = %q, want %d", text, got, want)
			}
		})
	}
}

func TestDocComments(t *testing.T) {
	for _, c := range []struct {
		name, doc string
		good      bool
	}{
		{"Open", "Open returns the store.", true},
		{"Store", "A Store holds everything.", true},
		{"Open", "", true},
		{"Open", "Returns the store.", false},
		{"Open", "Open gives the store.", false},
	} {
		t.Run(c.name+" "+c.doc, func(t *testing.T) {
			if got := checkDoc(c.name, c.doc); (got == "") != c.good {
				t.Errorf("checkDoc(%q, %q) = %q, want good %t", c.name, c.doc, got, c.good)
			}
		})
	}
}
