package api

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"blueprintd/tests/servertest"
)

func TestClockAdvance(t *testing.T) {
	t.Parallel()
	s := servertest.New(t, servertest.AtNoon)
	move := func(body string) servertest.Reply { return s.Root.Send(t, http.MethodPost, "/clock/advance", body) }
	for _, test := range []struct{ body, now string }{ // no instant: 400
		{`{"by": "0s"}`, "2030-05-01T12:00:00.000Z"},
		{`{"by": "1h30m"}`, "2030-05-01T13:30:00.000Z"},
		{`{"by": "2d"}`, "2030-05-03T13:30:00.000Z"},
		{`{"by": "1ms", "unknown": 1}`, ""},
		{`{"to": "2030-05-03T15:30:00.001+02:00"}`, "2030-05-03T13:30:00.001Z"},
		{`{"to": "2030-05-04T00:00:00Z"}`, "2030-05-04T00:00:00.000Z"},
		{`{"to": "2030-05-03T23:59:59Z"}`, ""},
		{`{"by": "-1s"}`, ""},
		{`{"by": "1h", "to": "2031-01-01T00:00:00Z"}`, ""},
		{`{"by": 5}`, ""},
		{`{"by": ""}`, ""},
		{`{"by": "soon"}`, ""},
		{`{"by": "1.5d"}`, ""},
		{`{"to": "tomorrow"}`, ""},
		{`{"to": null}`, ""},
		{`{}`, ""},
		{`[]`, ""},
		{`{`, ""},
		{``, ""},
	} {
		t.Run(test.body, func(t *testing.T) {
			answer := move(test.body)
			if test.now == "" {
				if answer.Status != 400 {
					t.Errorf("%d %s, want 400", answer.Status, answer.Text)
				}
				servertest.Shape(t, test.body, answer.Value, `{"error": {"code": "BAD_REQUEST", "message": "<text>"}}`)
				return
			}
			servertest.Shape(t, test.body, answer.Value, fmt.Sprintf(`{"now": %q, "fired": 0}`, test.now))
		})
	}
	if answer := s.Root.Send(t, http.MethodGet, "/clock/advance", ""); answer.Status != 405 || answer.Header.Get("Allow") != "POST" {
		t.Errorf("by GET: %d %s, want 405 and Allow POST", answer.Status, answer.Text)
	}
	real := servertest.New(t)
	if answer := real.Root.Send(t, http.MethodPost, "/clock/advance", `{"by": "1h"}`); answer.Status != 404 {
		t.Errorf("on real time: %d %s, want 404", answer.Status, answer.Text)
	}
}

// TestClockDrivesEverything advances one clock through schedules, waits, expiries and
// retries, in steps and at once: the events and their times are the same.
func TestClockDrivesEverything(t *testing.T) {
	t.Parallel()
	var stories []string
	for _, steps := range [][]string{{"36h"}, {"1m", "59s", "1s", "22h", "10h", "3h58m"}, {"12h", "12h", "12h"}} {
		s := servertest.New(t, servertest.AtNoon)
		ada := s.NewUser(t, "ada")
		when := node("when", "template", object{"text": "{{now}}"})
		blueprintOf := func(title string, nodes ...any) (string, []any) { return ada.Blueprint(t, title, nodes...), nodes }
		ticks, _ := blueprintOf("ticks", when)
		slow, _ := blueprintOf("slow", node("wait", "wait", object{"durationMs": 90 * 60_000}), when)
		for cron, id := range map[string]string{"0 */6 * * *": ticks, "30 13 * * *": slow} {
			ada.OK(t, "blueprintTriggers.create", object{"blueprintId": id, "triggerType": "scheduled", "config": object{"cron": cron}})
		}
		none := ada.OK(t, "blueprintTriggers.create", object{"blueprintId": ticks, "triggerType": "scheduled", "config": object{"cron": "* * * * *"}})
		ada.OK(t, "blueprintTriggers.update", object{"triggerId": at(none, "id"), "isActive": false})
		asks, questions := blueprintOf("asks", node("ask", "human", object{"prompt": "?", "expiresMs": 3_600_000, "onExpire": "continue"}), when)
		expires := ada.Launch(t, asks, nil, questions...)
		gives, gates := blueprintOf("gives up", node("gate", "approval-gate", object{"prompt": "?", "expiresMs": 1000}))
		fails := ada.Launch(t, gives, nil, gates...)
		until, waits := blueprintOf("until", node("wait", "wait", object{"until": "2030-05-02T03:04:05.678Z"}), when)
		waited := ada.Launch(t, until, nil, waits...)
		tries, retries := blueprintOf("tries", node("a", "template", object{"text": "{{now}}"}), node("b", "transform", object{"expression": `int("x")`}, "retry", object{"maxAttempts": 3, "delayMs": 60_000}))
		tried := ada.Launch(t, tries, nil, retries...)

		total := 0
		for _, step := range steps {
			total += s.Advance(t, step)
		}
		var story []string
		tell := func(name string, record any) {
			steps := at(record, "executionData.steps").([]any)
			last := steps[len(steps)-1]
			story = append(story, fmt.Sprint(name, " ", at(record, "status"), " from ", at(record, "startTime"), " to ", at(record, "endTime"), ": ", at(last, "output.text"), " ", at(last, "attempt")))
		}
		for _, id := range []string{ticks, slow} {
			for _, record := range at(ada.OK(t, "execution.getExecutionLogs", object{"blueprintId": id, "limit": 100}), "logs").([]any) {
				tell("schedule", record)
			}
		}
		tell("expired", ada.Log(t, expires))
		tell("refused", ada.Log(t, fails))
		tell("waited", ada.Log(t, waited))
		// The delay between attempts has a random part: only its bounds are known.
		if record := ada.Log(t, tried); at(record, "status") != "failed" || at(at(record, "executionData.steps").([]any)[1], "attempt") != json.Number("3") ||
			at(record, "endTime").(string) < "2030-05-01T12:02:24" || at(record, "endTime").(string) > "2030-05-01T12:03:37" {
			t.Errorf("retried: %s", servertest.Encoded(t, record))
		}
		stories = append(stories, fmt.Sprintf("%d fired\n%s", total, strings.Join(story, "\n")))
	}
	const want = `8 fired
schedule completed from 2030-05-03T00:00:00.000Z to 2030-05-03T00:00:00.000Z: 2030-05-03T00:00:00.000Z 1
schedule completed from 2030-05-02T18:00:00.000Z to 2030-05-02T18:00:00.000Z: 2030-05-02T18:00:00.000Z 1
schedule completed from 2030-05-02T12:00:00.000Z to 2030-05-02T12:00:00.000Z: 2030-05-02T12:00:00.000Z 1
schedule completed from 2030-05-02T06:00:00.000Z to 2030-05-02T06:00:00.000Z: 2030-05-02T06:00:00.000Z 1
schedule completed from 2030-05-02T00:00:00.000Z to 2030-05-02T00:00:00.000Z: 2030-05-02T00:00:00.000Z 1
schedule completed from 2030-05-01T18:00:00.000Z to 2030-05-01T18:00:00.000Z: 2030-05-01T18:00:00.000Z 1
schedule completed from 2030-05-02T13:30:00.000Z to 2030-05-02T15:00:00.000Z: 2030-05-02T15:00:00.000Z 1
schedule completed from 2030-05-01T13:30:00.000Z to 2030-05-01T15:00:00.000Z: 2030-05-01T15:00:00.000Z 1
expired completed from 2030-05-01T12:00:00.000Z to 2030-05-01T13:00:00.000Z: 2030-05-01T13:00:00.000Z 1
refused failed from 2030-05-01T12:00:00.000Z to 2030-05-01T12:00:01.000Z: <nil> 1
waited completed from 2030-05-01T12:00:00.000Z to 2030-05-02T03:04:05.678Z: 2030-05-02T03:04:05.678Z 1`
	for _, story := range stories {
		if story != want {
			t.Errorf("got\n%s\nwant\n%s", story, want)
		}
	}
}

// TestTickOfASchedule checks the effects of a tick: the run's input and the ledger row.
func TestTickOfASchedule(t *testing.T) {
	t.Parallel()
	s := servertest.New(t, servertest.AtNoon)
	ada := s.NewUser(t, "ada")
	id := ada.Blueprint(t, "t", node("a", "transform", object{"expression": "inputData"}))
	trigger := ada.IDOf(t, "blueprintTriggers.create", object{"blueprintId": id, "triggerType": "scheduled", "config": object{"cron": "30 14 * * *", "timezone": "Europe/Zurich"}})
	if fired := s.Advance(t, "29m59.999s"); fired != 0 {
		t.Errorf("it fired %d times too early, want 0", fired)
	}
	if fired := s.Advance(t, "1ms"); fired != 1 {
		t.Fatalf("it fired %d times at its instant, want 1", fired)
	}
	const tick = "2030-05-01T12:30:00.000Z"
	record := at(ada.OK(t, "execution.getExecutionLogs", object{"blueprintId": id}), "logs").([]any)[0]
	servertest.Shape(t, "input", at(record, "outputSummary.output"), fmt.Sprintf(`{"scheduledAt": %q, "firedAt": %[1]q, "missedCount": 0}`, tick))
	history := ada.OK(t, "blueprintTriggers.history", object{"triggerId": trigger})
	servertest.Shape(t, "ledger", history, fmt.Sprintf(`{"firings": [{"id": %q, "triggerId": %q, "source": "schedule", "key": "<text>", "dueAt": %q, "receivedAt": %[3]q, "decision": "started", "reason": "<text>", "executionId": %q}], "total": 1}`,
		at(record, "executionMetadata.firingId"), trigger, tick, at(record, "executionData.executionId")))
}

// The time of the clock and of the next timer can be read.
func TestClockState(t *testing.T) {
	t.Parallel()
	s := servertest.New(t, servertest.AtNoon)
	ada := s.NewUser(t, "ada")
	id := ada.Blueprint(t, "ticks", node("a", "template", object{"text": "{{now}}"}))
	// The hourly maintenance of the server is not a timer of the clock.
	servertest.Shape(t, "the clock", ada.Send(t, http.MethodGet, "/clock", "").Value, `{"now": "2030-05-01T12:00:00.000Z"}`)
	ada.OK(t, "blueprintTriggers.create", object{"blueprintId": id, "triggerType": "scheduled", "config": object{"cron": "*/5 * * * *"}})
	answer := ada.Send(t, http.MethodGet, "/clock", "")
	servertest.Shape(t, "the clock", answer.Value, `{"now": "2030-05-01T12:00:00.000Z", "next": "2030-05-01T12:05:00.000Z"}`)
	if date := answer.Header.Get("Date"); date != "Wed, 01 May 2030 12:00:00 GMT" {
		t.Errorf("answered on %s, want Wed, 01 May 2030 12:00:00 GMT", date)
	}
	s.Advance(t, "5m") // the instant at the end is included
	servertest.Shape(t, "the clock", ada.Send(t, http.MethodGet, "/clock", "").Value, `{"now": "2030-05-01T12:05:00.000Z", "next": "2030-05-01T12:10:00.000Z"}`)
	if answer := ada.Send(t, http.MethodPost, "/clock", "{}"); answer.Status != 405 || answer.Header.Get("Allow") != "GET, HEAD" {
		t.Errorf("by POST: %d %s, want 405 and Allow GET, HEAD", answer.Status, answer.Text)
	}
	if answer := servertest.New(t).Root.Send(t, http.MethodGet, "/clock", ""); answer.Status != 404 {
		t.Errorf("on real time: %d %s, want 404", answer.Status, answer.Text)
	}
}
