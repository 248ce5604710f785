package api

import (
	"fmt"
	"strings"
	"testing"

	"blueprintd/blueprint"
	"blueprintd/tests/servertest"
)

// hostile are expressions that would use excessive time or memory. Each must be refused by
// the compiler, fail by the budget, or end within it.
var hostile = []string{
	strings.Repeat("(", 2000) + "1" + strings.Repeat(")", 2000), strings.Repeat("[", 2000) + strings.Repeat("]", 2000), strings.Repeat("-", 4000) + "1", strings.Repeat("not ", 1000) + "true",
	strings.Repeat("1 + ", 1000) + "1", "1" + strings.Repeat(" ?? 1", 600), "1" + strings.Repeat(" < 1", 900), strings.Repeat("true ? 1 : ", 300) + "2", "input" + strings.Repeat(".a", 2000), strings.Repeat("x", 5000),
	`2 ** 1000000`, `10 ** 308 * 10`, `9223372036854775807 + 1`, `1 / 0`, `1 % 0`, `1e308 * 1e308`, `-9223372036854775808 / -1`,
	`repeat("x", 1000000000)`, `repeat(repeat("x", 100000), 100000)`, `len(1..1000000000)`, `map(1..1000000, map(1..1000000, #))`, `any(1..100000, any(1..100000, # < 0))`,
	`repeat("a", 100000) matches "(a+)+$"`, `repeat("a", 100000) matches "(a|a)*b"`, `repeat("a", 100000) matches "(.*)(.*)(.*)(.*)(.*)(.*)(.*)(.*)(.*)b"`, `"a" matches "(a{1000}){1000}"`, `"a" matches "["`,
	`let a = repeat("x", 1000000); let b = [a,a,a,a,a,a,a,a]; let c = [b,b,b,b,b,b,b,b]; let d = [c,c,c,c,c,c,c,c]; toJSON([d,d,d,d])`,
	`fromJSON(repeat("[", 100000))`, `split(repeat("x", 1000000), "")`, `replace(repeat("x", 1000000), "", repeat("y", 1000))`, `join(map(1..100000, "x"), repeat("y", 10000))`,
	`reduce(1..10, #acc + #)`, `map([1], map([1], map([1], #)))`, `$env`, `len`, `now()`, `input.a.b()`, "\x00", "\"\\ud800\"", `"\u0000"`, `{`, `}}`, `"`, "`", `#`, `#index`, `let x = x; x`, ``,
}

// TestHostileExpressions runs each as an expression and as a template. Memory is bounded,
// the run reports why it failed, and the server keeps working.
func TestHostileExpressions(t *testing.T) {
	s := servertest.New(t)
	most := map[string]float64{}
	for i, source := range hostile {
		for name, config := range map[string]object{"expression": {"expression": source}, "template": {"expression": "1", "x": "{{= " + source + " }}"}} {
			t.Run(name, func(t *testing.T) {
				m := object{"nodes": []any{node("a", "transform", config)}}
				validity := s.Root.OK(t, "blueprint.validate", object{"blueprint_map": m})
				id := s.Root.IDOf(t, "blueprint.create", object{"title": "hostile", "blueprint_map": m})
				var result any
				used := allocated(func() { result = at(s.Root.OK(t, "blueprint.execute", object{"id": id}), "result") })
				most[name] = max(most[name], used)
				if used > 512<<20 {
					t.Errorf("%d %.60s: %.1f MiB, want at most %v", i, source, used/(1<<20), 512<<20)
				}
				switch at(result, "status") {
				case string(blueprint.StatusCompleted):
				case string(blueprint.StatusFailed):
					message, code := fmt.Sprint(at(result, "error.message")), fmt.Sprint(at(result, "error.code"))
					if len(message) < 8 || len(message) > 5000 {
						t.Errorf("%d %.60s: a message of %d bytes, want 8 to 5000: %.80s", i, source, len(message), message)
					}
					if at(result, "error.nodeId") != "a" || code == "" || code == "internal" {
						t.Errorf("%d %.60s: failed with %s, want a code of the user's at node a", i, source, servertest.Encoded(t, at(result, "error")))
					}
				default:
					t.Errorf("%d %.60s: %s", i, source, servertest.Encoded(t, result))
				}
				if at(validity, "valid") == false && at(result, "status") == string(blueprint.StatusCompleted) {
					t.Errorf("%d %.60s: runs and is reported as bad: %s", i, source, servertest.Encoded(t, validity))
				}
			})
		}
	}
	t.Logf("at most %.1f MiB for an expression, %.1f MiB for a template", most["expression"]/(1<<20), most["template"]/(1<<20))
}

// TestHostileCrons previews and stores malformed and extreme schedules.
func TestHostileCrons(t *testing.T) {
	t.Parallel()
	v := newVictim(t)
	v.unharmed(t, func() {
		for _, cron := range []string{
			"", " ", "* * * *", "* * * * * *", "@reboot", "@", "60 * * * *", "* 24 * * *", "* * 0 * *", "* * 32 * *", "* * * 13 *", "* * * * 8", "-1 * * * *", "*/0 * * * *", "5-1 * * * *", "70/5 * * * *",
			"0 0 30 2 *", "0 0 31 4,6,9,11 *", "L * * * *", "* * * * 5#3", "a b c d e", "\x00 * * * *", "* * * *\u00a0*", "１ * * * *", "99999999999999999999 * * * *", "1,,2 * * * *", ", * * * *",
			strings.Repeat("1,", 100_000) + "61 * * * *", strings.Repeat("* ", 4_000), strings.Repeat("1-", 4_000) + " * * * *", "0 0 * * *;", "0 0 * * * # x", "*/9223372036854775808 * * * *",
		} {
			inputs := map[string]object{
				"blueprintTriggers.create": {"blueprintId": v.blueprint, "triggerType": "scheduled", "config": object{"cron": cron}},
				"blueprintTriggers.update": {"triggerId": v.scheduled, "config": object{"cron": cron}},
			}
			if len(cron) < 10_000 {
				inputs["blueprintTriggers.preview"] = object{"cron": cron, "count": 100}
			}
			for name, input := range inputs {
				t.Run(name, func(t *testing.T) {
					message := v.Root.Refused(t, blueprint.CodeBadRequest, name, input)
					if !strings.Contains(message, "cron") || len(message) > 500 {
						t.Errorf("%s %.40q: %.600s, want \"cron\" in it and length at most 500", name, cron, message)
					}
				})
			}
		}
		for _, zone := range []string{"Mars/Phobos", "../../etc/passwd", "/etc/localtime", "Europe/Zurich\x00", "UTC+1", strings.Repeat("A/", 4_000), "Local"} {
			message := v.Root.Refused(t, blueprint.CodeBadRequest, "blueprintTriggers.preview", object{"cron": "0 0 * * *", "timezone": zone})
			if !strings.Contains(message, "timezone") || len(message) > 500 {
				t.Errorf("%.40q: %.600s, want \"timezone\" in it and length at most 500", zone, message)
			}
		}
	})
}
