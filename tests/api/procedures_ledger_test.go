package api

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"blueprintd/blueprint"
	"blueprintd/tests/process"
	"blueprintd/tests/servertest"
)

// ledgerWorld is a signed webhook with a ledger row of each kind, one a minute from noon: a
// completed run, a failed one, a duplicate, and two refused deliveries.
func ledgerWorld(t *testing.T) (s *servertest.Server, ada servertest.Caller, trigger string, rows []object) {
	s = servertest.New(t, servertest.AtNoon)
	ada = s.NewUser(t, "ada")
	id := ada.Blueprint(t, "t", node("a", "transform", object{"expression": "inputData.n + 1"}))
	trigger = ada.IDOf(t, "blueprintTriggers.create", object{"blueprintId": id, "triggerType": "webhook", "config": object{"secret": "the secret"}})
	for _, d := range []struct {
		body, secret, key string
		status            int
	}{
		{`{"n":1}`, "the secret", "one", 202}, {`{"n":"x"}`, "the secret", "two", 202}, {`{"n":1}`, "the secret", "one", 200}, {`{"n":5}`, "another secret", "three", 401}, {`{`, "the secret", "four", 400},
	} {
		answer := servertest.Caller{Server: s}.Send(t, http.MethodPost, "/webhooks/blueprint/"+trigger, d.body, "X-Webhook-Signature", process.HexHMAC(d.secret, d.body), "Idempotency-Key", d.key, "X-Seen", "seen")
		if answer.Status != d.status {
			t.Fatalf("%d %s, want %v", answer.Status, answer.Text, d.status)
		}
		s.Advance(t, "1m")
	}
	for _, row := range at(ada.OK(t, "blueprintTriggers.history", object{"triggerId": trigger}), "firings").([]any) {
		rows = append([]object{row.(object)}, rows...)
	}
	return s, ada, trigger, rows
}

func TestHistoryFilters(t *testing.T) {
	t.Parallel()
	_, ada, trigger, rows := ledgerWorld(t)
	for _, test := range []struct{ input, want string }{
		{`{}`, "43210"},
		{`{"decision": "refused"}`, "43"},
		{`{"decision": ["refused", "duplicate"]}`, "432"},
		{`{"decision": ["started"]}`, "10"},
		{`{"source": "webhook"}`, "43210"},
		{`{"source": ["manual", "api"]}`, ""},
		{`{"from": "2030-05-01T12:01:00Z", "to": "2030-05-01T12:03:00Z"}`, "21"},
		{`{"from": "2030-05-01T14:01:00.0001+02:00"}`, "432"},
		{`{"to": "2030-05-01T12:01:00Z"}`, "0"},
		{`{"executionStatus": "failed"}`, "1"},
		{`{"executionStatus": "completed"}`, "0"},
		{`{"executionStatus": "paused"}`, ""},
		{`{"key": "one"}`, "20"},
		{`{"key": "one", "decision": "duplicate"}`, "2"},
		{`{"key": "on"}`, ""},
	} {
		t.Run(test.input, func(t *testing.T) {
			input := servertest.Decoded(t, test.input).(object)
			input["triggerId"] = trigger
			answer := ada.OK(t, "blueprintTriggers.history", input)
			got := ""
			for _, firing := range at(answer, "firings").([]any) {
				for i, row := range rows {
					if at(firing, "id") == row["id"] {
						got += fmt.Sprint(i)
					}
				}
			}
			if got != test.want || at(answer, "total") != json.Number(fmt.Sprint(len(test.want))) {
				t.Errorf("%q of %v, want %q", got, at(answer, "total"), test.want)
			}
			input["limit"], input["offset"] = 1, 1
			page := ada.OK(t, "blueprintTriggers.history", input)
			if n := len(at(page, "firings").([]any)); n != min(1, max(0, len(test.want)-1)) || at(page, "total") != at(answer, "total") {
				t.Errorf("the second page has %d of %v, want %v", n, at(page, "total"), test.want)
			}
		})
	}
	for input, field := range map[string]string{
		`{"decision": "no"}`: "decision", `{"decision": ["refused", 5]}`: "decision[1]", `{"decision": []}`: "decision", `{"source": "cron"}`: "source",
		`{"from": "yesterday"}`: "from", `{"to": 5}`: "to", `{"from": "2030-05-01T12:00:00Z", "to": "2030-05-01T12:00:00Z"}`: "to",
		`{"executionStatus": "done"}`: "executionStatus", `{"key": 5}`: "key", `{"key": ""}`: "key", `{"limit": 101}`: "limit",
	} {
		t.Run(input, func(t *testing.T) {
			given := servertest.Decoded(t, input).(object)
			given["triggerId"] = trigger
			if message := ada.Refused(t, blueprint.CodeBadRequest, "blueprintTriggers.history", given); !strings.HasPrefix(message, field+": ") {
				t.Errorf("%q, want %q at the start", message, field+": ")
			}
		})
	}
}

func TestRedeliverProcedure(t *testing.T) {
	t.Parallel()
	s, ada, trigger, rows := ledgerWorld(t)
	const redeliver = "blueprintTriggers.redeliver"
	id := func(i int) string { return rows[i]["id"].(string) }
	again := func(i int) any { return ada.OK(t, redeliver, object{"firingId": id(i)}) }

	answer := again(0)
	servertest.Shape(t, "again", answer, `{"success": true, "executionId": "<execution>", "firingId": "<ulid>"}`)
	s.Advance(t, "0s")
	servertest.Shape(t, "its run", at(ada.Log(t, at(answer, "executionId").(string)), "outputSummary.output"), "2")
	newest := at(ada.OK(t, "blueprintTriggers.history", object{"triggerId": trigger, "limit": 1}), "firings").([]any)[0]
	servertest.Shape(t, "its row", newest, fmt.Sprintf(`{"id": %q, "triggerId": %q, "source": "redelivery", "key": %q, "dueAt": null, "receivedAt": "2030-05-01T12:05:00.000Z", "decision": "started",
		"reason": "firing %s again: the signature is valid", "executionId": %q}`, at(answer, "firingId"), trigger, at(answer, "firingId"), id(0), at(answer, "executionId")))

	for _, unknown := range []string{"", "x"} {
		if message := ada.Refused(t, blueprint.CodeNotFound, redeliver, object{"firingId": unknown}); message != fmt.Sprintf("firing %s not found", cmp.Or(unknown, `""`)) {
			t.Errorf("%q, want the id %q in it", message, unknown)
		}
	}
	if message := ada.Refused(t, blueprint.CodeBadRequest, redeliver, object{"firingId": id(3)}); !strings.Contains(message, "does not match") {
		t.Errorf("refused with %q, want \"does not match\" in it", message)
	}
	ada.OK(t, "blueprintTriggers.update", object{"triggerId": trigger, "config": object{"secret": "another secret"}})
	if at(again(3), "success") != true {
		t.Error("it is not run with the secret of now")
	}
	ada.OK(t, "blueprintTriggers.update", object{"triggerId": trigger, "config": object{"secret": "the secret"}})

	failed := object{"triggerId": trigger, "executionStatus": "failed", "from": "2030-05-01T00:00:00Z", "dryRun": true}
	servertest.Shape(t, "a dry run", ada.OK(t, redeliver, failed), fmt.Sprintf(`{"success": true, "matched": 1, "redelivered": 0, "refused": [], "firings": [{"firingId": null, "of": %q, "executionId": null}], "next": null}`, id(1)))
	failed["dryRun"] = false
	servertest.Shape(t, "failed ones", ada.OK(t, redeliver, failed), fmt.Sprintf(`{"success": true, "matched": 1, "redelivered": 1, "refused": [], "firings": [{"firingId": "<ulid>", "of": %q, "executionId": "<execution>"}], "next": null}`, id(1)))
	refused := object{"triggerId": trigger, "decision": "refused", "from": "2030-05-01T00:00:00Z", "to": "2030-05-01T13:00:00Z"}
	servertest.Shape(t, "refused ones", ada.OK(t, redeliver, refused), fmt.Sprintf(`{"success": true, "matched": 1, "redelivered": 0, "refused": [{"firingId": %q, "reason": "<text>"}], "firings": [], "next": null}`, id(4)))
	refused["again"], refused["limit"] = true, 1
	servertest.Shape(t, "one of them", ada.OK(t, redeliver, refused), `{"success": true, "matched": 2, "redelivered": 0, "refused": ["<any>"], "firings": [], "next": "<ulid>"}`)
	refused["after"] = at(ada.OK(t, redeliver, refused), "next")
	servertest.Shape(t, "the other", ada.OK(t, redeliver, refused), `{"success": true, "matched": 1, "redelivered": 0, "refused": ["<any>"], "firings": [], "next": null}`)

	for input, field := range map[string]string{
		`{}`: "firingId", `{"firingId": "x", "triggerId": "T"}`: "firingId", `{"firingId": null}`: "firingId",
		`{"triggerId": "T", "from": "2030-05-01T00:00:00Z"}`: "decision", `{"triggerId": "T", "decision": "refused"}`: "from",
		`{"triggerId": "T", "decision": "refused", "executionStatus": "failed", "from": "2030-05-01T00:00:00Z"}`:  "executionStatus",
		`{"triggerId": "T", "decision": "refused", "from": "2030-05-01T00:00:00Z", "limit": 1001}`:                "limit",
		`{"triggerId": "T", "decision": "refused", "from": "2030-05-01T00:00:00Z", "to": "2020-05-01T00:00:00Z"}`: "to",
		`{"triggerId": "T", "decision": "refused", "from": "2030-05-01T00:00:00Z", "after": "nowhere"}`:           "after",
		`{"triggerId": "T", "executionStatus": "completed", "from": "2030-05-01T00:00:00Z"}`:                      "executionStatus",
		`{"triggerId": "no uuid", "executionStatus": "failed", "from": "2030-05-01T00:00:00Z"}`:                   "triggerId",
		`{"triggerId": "T", "executionStatus": "failed", "from": "2030-05-01T00:00:00Z", "dryRun": "yes"}`:        "dryRun",
	} {
		t.Run(input, func(t *testing.T) {
			given := servertest.Decoded(t, strings.ReplaceAll(input, `"T"`, `"`+trigger+`"`))
			if message := ada.Refused(t, blueprint.CodeBadRequest, redeliver, given); !strings.HasPrefix(message, field+": ") {
				t.Errorf("%q, want %q at the start", message, field+": ")
			}
		})
	}
}

// A missed or failed tick can be run again as that tick.
func TestRedeliverTick(t *testing.T) {
	t.Parallel()
	s := servertest.New(t, servertest.AtNoon)
	ada := s.NewUser(t, "ada")
	id := ada.Blueprint(t, "t", node("a", "transform", object{"expression": "inputData"}))
	trigger := ada.IDOf(t, "blueprintTriggers.create", object{"blueprintId": id, "triggerType": "scheduled", "config": object{"cron": "0 * * * *"}})
	s.Advance(t, "1h30m")
	tick := at(ada.OK(t, "blueprintTriggers.history", object{"triggerId": trigger}), "firings").([]any)[0]
	answer := ada.OK(t, "blueprintTriggers.redeliver", object{"firingId": at(tick, "id")})
	s.Advance(t, "0s")
	servertest.Shape(t, "its run", at(ada.Log(t, at(answer, "executionId").(string)), "outputSummary.output"),
		`{"scheduledAt": "2030-05-01T13:00:00.000Z", "firedAt": "2030-05-01T13:30:00.000Z", "missedCount": 0}`)
}

func TestExplainProcedure(t *testing.T) {
	t.Parallel()
	_, ada, trigger, rows := ledgerWorld(t)
	explain := func(i int) any { return ada.OK(t, "blueprintTriggers.explain", object{"firingId": rows[i]["id"]}) }
	again := ada.OK(t, "blueprintTriggers.redeliver", object{"firingId": rows[0]["id"]})
	first := explain(0).(object)
	delivery := first["delivery"].(object)
	servertest.Shape(t, "the header", at(delivery, "headers").(object)["x-seen"], `"seen"`)
	delete(delivery, "headers")
	servertest.Shape(t, "what was started", first, fmt.Sprintf(`{
		"firing": {"id": %q, "triggerId": %q, "source": "webhook", "key": "one", "dueAt": null, "receivedAt": %q, "decision": "started", "reason": "the signature is valid", "executionId": "<execution>"},
		"summary": "A delivery with the id one started %s, which completed.", "details": "<any>", "facts": {},
		"delivery": {"from": "<text>", "size": 7, "kept": true, "body": "{\"n\":1}", "bodyTruncated": false},
		"run": {"executionId": "<execution>", "status": "completed"},
		"redeliveries": [{"firingId": %q, "executionId": %q, "receivedAt": "<time>", "decision": "started", "reason": "<text>"}], "next": ""}`,
		rows[0]["id"], trigger, noonText, rows[0]["executionId"], at(again, "firingId"), at(again, "executionId")))
	failed := explain(1)
	if at(failed, "run.status") != "failed" || !strings.Contains(at(failed, "run.error").(string), "inputData.n + 1") || !strings.Contains(at(failed, "next").(string), "execution.retry") {
		t.Errorf("%s, want run.status failed, \"inputData.n + 1\" in it and \"execution.retry\" in it", servertest.Encoded(t, failed))
	}
	if duplicate := explain(2); at(duplicate, "run.executionId") != rows[0]["executionId"] {
		t.Errorf("%s, want run.executionId %v", servertest.Encoded(t, duplicate), rows[0]["executionId"])
	}
	refused := explain(3)
	servertest.Shape(t, "its facts", at(refused, "facts"), `{"bodyBytes": 7, "expectedForm": "<text>", "secretTried": "secret", "signatureForm": "64 hexadecimal digits", "signatureHeader": "X-Webhook-Signature"}`)
	if text := servertest.Encoded(t, refused); !strings.Contains(text, "likely cause") || strings.Contains(text, process.HexHMAC("another secret", `{"n":5}`)) || strings.Contains(text, process.HexHMAC("the secret", `{"n":5}`)) {
		t.Error(text)
	}
}
