package nodes

import (
	"context"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"blueprintd/blueprint"
	"blueprintd/engine/script"
)

func TestMain(m *testing.M) {
	script.Child() // when this program was started as one
	goleak.VerifyTestMain(m)
}

const scope = `{"n":3,"name":"Ann","flag":true,"nothing":null,"list":[1,2],"thing":{"a":1.50},"ms":1500,"text500":"500","at":"2026-01-31T12:00:01.000Z","input":{"total":120,"kind":"b"},"inputData":{}}`

// Each row is one run through the public Run. want is the output as JSON, or
// "input" when the input is passed on, or the code of the failure with a "!".
func TestRun(t *testing.T) {
	tests := []struct{ kind, config, want, handle string }{
		{"set", `{"values":{"a":"{{n}}","b":"x{{n}}","c":{"d":["{{thing}}"]}}}`, `{"a":3,"b":"x3","c":{"d":[{"a":1.50}]}}`, ""},
		{"set", `{"values":"{{thing}}"}`, `{"a":1.50}`, ""},
		{"set", `{"values":{}}`, `{}`, ""},
		{"set", `{}`, `!bad_config`, ""},
		{"set", `{"values":"{{list}}"}`, `!bad_config`, ""},
		{"set", `{"values":{"input":1}}`, `!bad_config`, ""},
		{"set", `{"values":{"nodes":1}}`, `!bad_config`, ""},

		{"template", `{"text":"Hi {{name}}, {{n}}"}`, `{"text":"Hi Ann, 3"}`, ""},
		{"template", `{"text":"{{name}}"}`, `{"text":"Ann"}`, ""},
		{"template", `{"text":"{{n}}"}`, `{"text":"3"}`, ""},
		{"template", `{"text":"{{flag}}"}`, `{"text":"true"}`, ""},
		{"template", `{"text":"{{nothing}}"}`, `{"text":"null"}`, ""},
		{"template", `{"text":"{{thing}}"}`, `{"text":"{\"a\":1.50}"}`, ""},
		{"template", `{"text":"{{list}}"}`, `{"text":"[1,2]"}`, ""},
		{"template", `{"text":""}`, `{"text":""}`, ""},
		{"template", `{}`, `!bad_config`, ""},

		{"transform", `{"expression":"n + 1"}`, `4`, ""},
		{"transform", `{"expression":"thing.a"}`, `1.50`, ""},
		{"transform", `{"expression":"nothing"}`, `null`, ""},
		{"transform", `{"expression":"{{ n + 1 }}"}`, `4`, ""},
		{"transform", `{"expression":"{{= {\"a\": {\"b\": n}} }}"}`, `{"a":{"b":3}}`, ""},
		{"transform", `{"expression":"\"{{\" + name"}`, `"{{Ann"`, ""},
		{"transform", `{"expression":"missing"}`, `!unknown_name`, ""},
		{"transform", `{"expression":"1 +"}`, `!bad_expression`, ""},
		{"transform", `{"expression":"{{n}} + {{n}}"}`, `!bad_expression`, ""},
		{"transform", `{"expression":""}`, `!bad_expression`, ""},
		{"transform", `{"expression":5}`, `!bad_config`, ""},
		{"transform", `{}`, `!bad_config`, ""},

		{"conditional", `{"condition":"n > 2"}`, "input", "true"},
		{"conditional", `{"condition":"n > 3"}`, "input", "false"},
		{"conditional", `{"condition":"{{ flag }}"}`, "input", "true"},
		{"conditional", `{"condition":"n"}`, "!not_boolean", ""},
		{"conditional", `{"condition":"nothing"}`, "!not_boolean", ""},
		{"conditional", `{"condition":"\"true\""}`, "!not_boolean", ""},
		{"conditional", `{"condition":"nobody"}`, "!unknown_name", ""},
		{"conditional", `{"condition":null}`, "!bad_config", ""},

		{"switch", `{"value":"{{input.kind}}","cases":[{"equals":"a","handle":"A"},{"equals":"b","handle":"B"},{"equals":"b","handle":"C"}]}`, "input", "B"},
		{"switch", `{"value":"{{n}}","cases":[{"equals":"3","handle":"text"},{"equals":3.0,"handle":"number"}]}`, "input", "number"},
		{"switch", `{"value":"{{n}}","cases":[{"equals":30e-1,"handle":"number"}]}`, "input", "number"},
		{"switch", `{"value":"{{nothing}}","cases":[{"equals":false,"handle":"false"},{"equals":null,"handle":"null"}]}`, "input", "null"},
		{"switch", `{"value":"{{thing}}","cases":[{"equals":{"a":1.5},"handle":"same"}]}`, "input", "same"},
		{"switch", `{"value":"{{list}}","cases":[{"equals":[2,1],"handle":"x"},{"equals":"{{list}}","handle":"same"}]}`, "input", "same"},
		{"switch", `{"cases":[{"when":"n > 5","handle":"big"},{"when":"{{ n > 2 }}","handle":"some"}]}`, "input", "some"},
		{"switch", `{"value":1,"cases":[]}`, "input", "default"},
		{"switch", `{"value":1,"cases":[{"equals":2,"handle":"two"}]}`, "input", "default"},
		{"switch", `{"cases":[{"when":"n","handle":"x"}]}`, "!not_boolean", ""},
		{"switch", `{"cases":[{"equals":1,"handle":"x"}]}`, "!bad_config", ""},
		{"switch", `{"value":1,"cases":[{"equals":1,"when":"true","handle":"x"}]}`, "!bad_config", ""},
		{"switch", `{"value":1,"cases":[{"handle":"x"}]}`, "!bad_config", ""},
		{"switch", `{"value":1,"cases":[{"equals":1}]}`, "!bad_config", ""},
		{"switch", `{"value":1,"cases":[5]}`, "!bad_config", ""},
		{"switch", `{"value":1}`, "!bad_config", ""},

		{"merge", `{}`, `{"a":1,"b":2}`, ""},
		{"merge", `{"mode":"object"}`, `{"a":1,"b":2}`, ""},
		{"merge", `{"mode":"array"}`, `[2,1]`, ""},
		{"merge", `{"mode":"first"}`, `2`, ""},
		{"merge", `{"mode":"last"}`, `!bad_config`, ""},
		{"merge", `{"mode":"{{n}}"}`, `!bad_config`, ""},

		{"log", `{"message":"x","level":"loud"}`, `!bad_config`, ""},
		{"log", `{}`, `!bad_config`, ""},
		{"stop", `{"failed":"yes"}`, `!bad_config`, ""},
		{"wait", `{}`, `!bad_config`, ""},
		{"wait", `{"durationMs":1,"until":"{{at}}"}`, `!bad_config`, ""},
		{"wait", `{"durationMs":-1}`, `!bad_config`, ""},
		{"wait", `{"durationMs":1.5}`, `!bad_config`, ""},
		{"wait", `{"durationMs":"{{text500}}"}`, `!bad_config`, ""},
		{"wait", `{"durationMs":1e99}`, `!bad_config`, ""},
		{"wait", `{"until":"tomorrow"}`, `!bad_config`, ""},
		{"wait", `{"until":"{{n}}"}`, `!bad_config`, ""},
		{"human", `{}`, `!bad_config`, ""},
		{"human", `{"prompt":"?","schema":{"type":"text"}}`, `!bad_config`, ""},
		{"human", `{"prompt":"?","schema":"{{thing}}"}`, `!bad_config`, ""},
		{"human", `{"prompt":"?","expiresMs":0}`, `!bad_config`, ""},
		{"human", `{"prompt":"?","onExpire":"approve"}`, `!bad_config`, ""},
		{"approval-gate", `{"prompt":"?","onExpire":"continue"}`, `!bad_config`, ""},
	}
	for _, test := range tests {
		t.Run(test.kind+" "+test.config, func(t *testing.T) {
			kind := typeOf(t, test.kind)
			task := newTask(t, kind, test.config, scope)
			task.Inputs = []blueprint.NodeOutput{{NodeID: "b", Output: task.Evaluate}, {NodeID: "a"}}
			task.Inputs[0].Output, _ = blueprint.Plain(2)
			task.Inputs[1].Output, _ = blueprint.Plain(1)
			result, code := run(t, kind, task)
			got := "!" + code
			switch {
			case code != "":
			case result.PassInput:
				got = "input"
			default:
				got = asJSON(t, result.Output)
			}
			if got != test.want || result.Handle != test.handle {
				t.Errorf("got %s and handle %q, want %s and %q", got, result.Handle, test.want, test.handle)
			}
		})
	}
}

func TestSetWritesVariables(t *testing.T) {
	kind := typeOf(t, "set")
	result, _ := run(t, kind, newTask(t, kind, `{"values":{"a":"{{n}}"}}`, scope))
	if got := asJSON(t, result.Variables); got != `{"a":3}` {
		t.Errorf("got %s, want {\"a\":3}", got)
	}
}

func TestMergeWithoutPredecessors(t *testing.T) {
	kind := typeOf(t, "merge")
	for mode, want := range map[string]string{"object": "{}", "array": "[]", "first": "null"} {
		t.Run(mode, func(t *testing.T) {
			result, code := run(t, kind, newTask(t, kind, `{"mode":"`+mode+`"}`, scope))
			if got := asJSON(t, result.Output); code != "" || got != want {
				t.Errorf("got %s, %s; want nothing and %v", got, code, want)
			}
		})
	}
}

func TestConditionInSequence(t *testing.T) {
	kind := typeOf(t, "conditional")
	for condition, stops := range map[string]bool{"true": false, "false": true} {
		t.Run(condition, func(t *testing.T) {
			task := newTask(t, kind, `{"condition":"`+condition+`"}`, scope)
			task.Sequential = true
			result, code := run(t, kind, task)
			if code != "" || !result.PassInput || (result.Stop != nil) != stops || stops && result.Stop.Failed {
				t.Errorf("got %+v, %s", result, code)
			}
		})
	}
}

func TestWait(t *testing.T) {
	kind := typeOf(t, "wait")
	for config, want := range map[string]time.Duration{
		`{"durationMs":1500}`:                       1500 * time.Millisecond,
		`{"durationMs":"{{ms}}"}`:                   1500 * time.Millisecond,
		`{"durationMs":1.5e3}`:                      1500 * time.Millisecond,
		`{"durationMs":0}`:                          0,
		`{"until":"{{at}}"}`:                        time.Second,
		`{"until":"2026-01-31T14:00:00.250+01:00"}`: time.Hour + 250*time.Millisecond,
		`{"until":"2026-01-31T12:00:00Z"}`:          0,
		`{"until":"1999-01-01T00:00:00Z"}`:          0,
		`{"until":null,"durationMs":2000}`:          2 * time.Second,
		`{"durationMs":3153600000000,"until":null}`: 36500 * 24 * time.Hour,
	} {
		t.Run(config, func(t *testing.T) {
			result, code := run(t, kind, newTask(t, kind, config, scope))
			var got time.Duration
			if result.Wait != nil {
				got = result.Wait.Until.Sub(now)
			}
			if code != "" || !result.PassInput || got != want {
				t.Errorf("got %v, %+v, %s; want nothing, PassInput and %v", got, result, code, want)
			}
		})
	}
}

func TestLog(t *testing.T) {
	kind := typeOf(t, "log")
	for config, want := range map[string]string{
		`{"message":"hi {{name}}"}`:                          `info "hi Ann" null`,
		`{"message":"{{thing}}","level":"{{=\"warn\"}}"}`:    `warn "{\"a\":1.50}" null`,
		`{"message":"x","level":"debug","data":"{{thing}}"}`: `debug "x" {"a":1.50}`,
		`{"message":"x","level":null,"data":false}`:          `info "x" false`,
	} {
		t.Run(config, func(t *testing.T) {
			task := newTask(t, kind, config, scope)
			got := ""
			task.Log = func(level, message string, data any) { got += level + " " + asJSON(t, message) + " " + asJSON(t, data) }
			result, code := run(t, kind, task)
			if got != want || !result.PassInput || code != "" {
				t.Errorf("got %s, %+v, %s; want %v, PassInput and nothing", got, result, code, want)
			}
		})
	}
}

func TestStop(t *testing.T) {
	kind := typeOf(t, "stop")
	for config, want := range map[string]blueprint.Stop{
		`{}`:                                   {},
		`{"message":"because of {{n}}"}`:       {Message: "because of 3"},
		`{"message":null,"failed":"{{flag}}"}`: {Failed: true},
		`{"message":"{{n}}","failed":false}`:   {Message: "3"},
	} {
		t.Run(config, func(t *testing.T) {
			result, code := run(t, kind, newTask(t, kind, config, scope))
			if code != "" || !result.PassInput || result.Stop == nil || *result.Stop != want {
				t.Errorf("got %+v, %s; want nothing, PassInput, not nil and %v", result.Stop, code, want)
			}
		})
	}
}

func TestRespond(t *testing.T) {
	kind := typeOf(t, "respond")
	for config, want := range map[string]string{
		`{}`:                         `{"status":200,"body":""}`,
		`{"body":null}`:              `{"status":200,"body":null}`,
		`{"body":"{{thing}}"}`:       `{"status":200,"body":{"a":1.50}}`,
		`{"status":204}`:             `{"status":204,"body":""}`,
		`{"status":"{{= n + 400}}"}`: `{"status":403,"body":""}`,
		`{"headers":{"Content-Type":"text/html","X-N":"{{n}}","X-None":null},"body":"<p>{{name}}"}`: `{"status":200,"headers":{"Content-Type":"text/html","X-N":"3"},"body":"<p>Ann"}`,
	} {
		t.Run(config, func(t *testing.T) {
			result, code := run(t, kind, newTask(t, kind, config, scope))
			if got := asJSON(t, result.Respond); code != "" || !result.PassInput || got != want {
				t.Errorf("got %s, %s; want nothing, PassInput and %v", got, code, want)
			}
		})
	}
	for _, config := range []string{
		`{"status":199}`, `{"status":100}`, `{"status":600}`, `{"status":"200"}`, `{"headers":[]}`,
		`{"headers":{"Set-Cookie":"session=1"}}`, `{"headers":{"set-cookie":"x"}}`, `{"headers":{"Content-Length":"1"}}`, `{"headers":{"Transfer-Encoding":"chunked"}}`,
		`{"headers":{"Connection":"close"}}`, `{"headers":{"X-Content-Type-Options":"none"}}`, `{"headers":{"Content-Security-Policy":"x"}}`,
		`{"headers":{"content-security-policy-report-only":"x"}}`, `{"headers":{"Access-Control-Allow-Origin":"*"}}`, `{"headers":{"Clear-Site-Data":"*"}}`,
		`{"headers":{"WWW-Authenticate":"Basic"}}`, `{"headers":{"Content-Encoding":"gzip"}}`, `{"headers":{"Proxy-Anything":"x"}}`,
		`{"headers":{"":"x"}}`, `{"headers":{"a b":"x"}}`, `{"headers":{"a:b":"x"}}`, `{"headers":{"a\r\nb":"x"}}`, `{"headers":{"é":"x"}}`,
		`{"headers":{"X":"a\r\nSet-Cookie: b"}}`, `{"headers":{"X":"a\nb"}}`, `{"headers":{"X":"a\u0000b"}}`, `{"headers":{"X":"a\u007f"}}`, `{"headers":{"X":["a"]}}`, `{"headers":{"X":{}}}`,
		`{"headers":{"X":"a","x":"b"}}`,
	} {
		if result, code := run(t, kind, newTask(t, kind, config, scope)); code != codeBadConfig {
			t.Errorf("%s: got %+v, %q; want %v", config, result.Respond, code, codeBadConfig)
		}
	}
}

func TestFailuresArePermanentOrNot(t *testing.T) {
	kind := typeOf(t, "wait")
	_, err := kind.Run(context.Background(), newTask(t, kind, `{"until":"never"}`, scope))
	failure, ok := err.(*blueprint.Failure)
	if !ok || !failure.Permanent || failure.Message != "config: until: must be an instant such as 2026-01-31T12:00:00.000Z" {
		t.Errorf("got %v", err)
	}
	kind = typeOf(t, "conditional")
	_, err = kind.Run(context.Background(), newTask(t, kind, `{"condition":"n"}`, scope))
	if failure, ok = err.(*blueprint.Failure); !ok || failure.Permanent || !strings.Contains(failure.Message, "condition: must be true or false, and is a number") {
		t.Errorf("got %v, want not Permanent and \"condition: must be true or false, and is a number\" in it", err)
	}
}
