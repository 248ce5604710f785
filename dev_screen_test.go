package main

import (
	"bytes"
	"fmt"
	"testing"
)

func TestDevScreen(t *testing.T) {
	play := func(s *devScreen) {
		s.say("", "plain")
		s.status("watching %d", 1)
		s.say(red, "bad")
		fmt.Fprint(s.beside(s.out), "whole\nhalf")
		ended := s.runs("a")
		ended()
		s.end()
	}
	for _, c := range []struct {
		name               string
		terminal, coloured bool
		want               string
	}{
		{"a pipe", false, false, "plain\nbad\nwhole\n"},
		{"a terminal", true, true, "\r\x1b[Kplain\n\r\x1b[Kwatching 1\r\x1b[K\x1b[31mbad\x1b[0m\nwatching 1\r\x1b[Kwhole\nwatching 1\r\x1b[Krunning a; watching 1\r\x1b[Kwatching 1\r\x1b[K"},
		{"one without colours", true, false, "\r\x1b[Kplain\n\r\x1b[Kwatching 1\r\x1b[Kbad\nwatching 1\r\x1b[Kwhole\nwatching 1\r\x1b[Krunning a; watching 1\r\x1b[Kwatching 1\r\x1b[K"},
	} {
		var out bytes.Buffer
		play(&devScreen{out: &out, terminal: c.terminal, coloured: c.coloured})
		if out.String() != c.want {
			t.Errorf("%s: %q, want %q", c.name, out.String(), c.want)
		}
	}
}
