package terminal

import (
	"bytes"
	"fmt"
	"testing"
)

func TestScreen(t *testing.T) {
	play := func(s *Screen) {
		s.Say("", "plain")
		s.Status("watching %d", 1)
		s.Status("watching %d", 1)
		s.Say(Red, "bad\x1b]0;x\a\nagain")
		fmt.Fprint(s.Lines(), "whole\nhalf")
		ended := s.Running("a\x1b[2J")
		ended()
		s.Status("%s", bytes.Repeat([]byte("long "), 100))
		s.Status("")
	}
	long := string(bytes.Repeat([]byte("long "), 100))[:38] + "…"
	for _, c := range []struct {
		name               string
		terminal, coloured bool
		want               string
	}{
		{"a pipe", false, false, "plain\nbad�]0;x�\nagain\nwhole\n"},
		{"a terminal", true, true, "plain\nwatching 1\r\x1b[K\x1b[31mbad�]0;x�\nagain\x1b[0m\nwatching 1\r\x1b[Kwhole\nwatching 1\r\x1b[Krunning a�[2J; watching 1\r\x1b[Kwatching 1\r\x1b[K" + long + "\r\x1b[K"},
		{"one without colours", true, false, "plain\nwatching 1\r\x1b[Kbad�]0;x�\nagain\nwatching 1\r\x1b[Kwhole\nwatching 1\r\x1b[Krunning a�[2J; watching 1\r\x1b[Kwatching 1\r\x1b[K" + long + "\r\x1b[K"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Setenv("COLUMNS", "40")
			var out bytes.Buffer
			play(&Screen{out: &out, terminal: c.terminal, coloured: c.coloured})
			if out.String() != c.want {
				t.Errorf("got %q\nwant %q", out.String(), c.want)
			}
		})
	}
}
