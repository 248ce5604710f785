package script

import (
	"encoding/json"
	"strings"
	"testing"
	"time"
)

// Answers of a child are not trusted.
func TestAnswers(t *testing.T) {
	s, err := script("a\nb").withDefaults()
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		a    answer
		want string
		log  int
	}{
		{answer{Report: json.RawMessage(`{"ended":true,"output":[1]}`)}, "[1]", 0},
		{answer{}, "timeout: the script waits *", 0},
		{answer{Report: json.RawMessage(`[]`)}, "sandbox_failed: *", 0},
		{answer{Report: json.RawMessage(`{"ended":true}`)}, "script_error: the result cannot be used: *", 0},
		{answer{Report: json.RawMessage(`{"ended":true,"output":` + strings.Repeat("[", 200) + strings.Repeat("]", 200) + `}`)}, "script_error: the result cannot be used: *", 0},
		{answer{Report: json.RawMessage(`{"ended":true,"output":"` + strings.Repeat("x", MaxOutput) + `"}`)}, "output_too_large: *", 0},
		{answer{Report: json.RawMessage(`{"ended":true,"tooLarge":true}`)}, "output_too_large: *", 0},
		{answer{Report: json.RawMessage(`{"ended":true,"output":1,"log":[["loud","x"],["warn","y"]]}`)}, "1", 2},
		{answer{Report: json.RawMessage(`{"ended":true,"output":1,"log":[["info","x"]` + strings.Repeat(`,["info","x"]`, 2*maxLogLines) + `]}`)}, "1", maxLogLines + 1},
		{answer{Report: json.RawMessage(`{"ended":true,"output":1,"log":[["info","` + strings.Repeat("x", 5*maxLogSize) + `"]]}`)}, "1", 0},
		{answer{Report: json.RawMessage(`{"ended":true,"thrown":{"name":"E","message":"` + strings.Repeat("x", 1<<20) + `"}}`)}, "script_error: E: xxx*", 0},
		{answer{Report: json.RawMessage(`{"ended":true,"thrown":{"message":"m","stack":"at <eval>:3:7"}}`)}, "script_error: m (line 2, column 7)", 0},
		{answer{Report: json.RawMessage(`{"ended":true,"thrown":{"message":"m","stack":"at <eval>:4:7"}}`)}, "script_error: m", 0},
		{answer{Report: json.RawMessage(`{"ended":true,"thrown":{"message":"m","stack":"at (sandbox) (<eval>:2:7)\nat <eval>:2:1"}}`)}, "script_error: m", 0},
		{answer{Fault: faultMemory}, "memory_exceeded: the script used more than its 64 MiB of memory", 0},
		{answer{Fault: faultCrash}, "sandbox_failed: *", 0},
		{answer{Fault: "other"}, "sandbox_failed: *", 0},
		{answer{Fault: faultTimeout}, "timeout: the script took longer than 10000 ms", 0},
		{answer{Fault: faultSyntax}, "sandbox_failed: *", 0},
		{answer{Fault: faultSyntax, Syntax: &thrown{Message: "m", Line: 2, Column: 3}}, "syntax_error: m (line 1, column 3)", 0},
		{answer{Fault: faultSyntax, Syntax: &thrown{Message: "m", Line: 4, Column: 3}}, "syntax_error: m (at the end)", 0},
		{answer{Fault: faultSyntax, Syntax: &thrown{Message: "m", Line: -4, Column: 3}}, "syntax_error: m", 0},
	} {
		t.Run(test.want, func(t *testing.T) {
			out, err := s.outcome(&test.a)
			got := told(out, err)
			prefix, open := strings.CutSuffix(test.want, "*")
			if got != test.want && !(open && strings.HasPrefix(got, prefix)) || len(got) > 5<<10 {
				t.Errorf("%.200s %.200s\n got %.300s\nwant %s", test.a.Fault, test.a.Report, got, test.want)
			}
			if len(out.Log) != test.log {
				t.Errorf("%.200s: %d lines of log, want %d", test.a.Report, len(out.Log), test.log)
			}
		})
	}
}

func TestBounds(t *testing.T) {
	p := running(t)
	large := values(`{}`)
	large.Input = strings.Repeat("x", 40<<20)
	for _, test := range []struct {
		s    Script
		want string
	}{
		{Script{Timeout: MaxTimeout + 1}, "bad_config: the time-out must be from 1 ms to 5m0s"},
		{Script{Timeout: time.Microsecond}, "bad_config: the time-out must be from 1 ms to 5m0s"},
		{Script{Memory: MaxMemory + 1}, "bad_config: the memory must be from 1 to 512 MiB"},
		{Script{Source: strings.Repeat(" ", MaxSource+1)}, "bad_config: the source is longer than 256 KiB"},
		{Script{Source: "return 1\x00"}, "bad_config: the source holds a NUL character"},
		{Script{Source: "return 1", Values: large}, "memory_exceeded: the values for the script take 40960 KiB as JSON, and only 32768 KiB fit into its memory; pass less data or raise memoryMb"},
		{Script{Source: strings.Repeat(" ", MaxSource-8) + "return 1"}, "1"},
		{Script{Source: "return 1", Memory: 1 << 20}, "1"},
	} {
		t.Run(test.want, func(t *testing.T) {
			if got := do(p, test.s); got != test.want {
				t.Errorf("got %.300s\nwant %s", got, test.want)
			}
		})
	}
}

func TestInexactNumbers(t *testing.T) {
	for _, test := range []struct{ input, want string }{
		{`{}`, ""}, {`9007199254740992`, ""}, {`9007199254740993`, "input"}, {`-9007199254740993`, "input"},
		{`{"a":[1,{"id":12345678901234567890}]}`, "input.a[1].id"}, {`{"b":9007199254740993,"a":9007199254740993}`, "input.a"},
		{`0.1000000000000000000001`, ""}, {`1e400`, ""}, {`100000000000000000000`, ""}, {`"9007199254740993"`, ""},
	} {
		t.Run(test.input, func(t *testing.T) {
			if got := inexact(values(test.input)); got != test.want {
				t.Errorf("%q, want %q", got, test.want)
			}
		})
	}
}
