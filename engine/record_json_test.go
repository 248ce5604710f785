package engine

import (
	"encoding/json"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"blueprintd/blueprint"
)

// fill sets every exported member of a value that JSON shows, to one that is not zero.
func fill(t *testing.T, at reflect.Value) {
	t.Helper()
	switch {
	case at.Type() == reflect.TypeFor[blueprint.Time]():
		at.SetInt(1_700_000_000_123)
		return
	case at.Type() == reflect.TypeFor[any]():
		at.Set(reflect.ValueOf(map[string]any{"x": []any{"<y>", json.Number("1.5"), nil}}))
		return
	}
	switch at.Kind() {
	case reflect.String:
		at.SetString("text\n\"é")
	case reflect.Bool:
		at.SetBool(true)
	case reflect.Int, reflect.Int64, reflect.Int32:
		at.SetInt(7)
	case reflect.Slice:
		at.Set(reflect.MakeSlice(at.Type(), 2, 2))
		if at.Type().Elem().Kind() == reflect.Uint8 {
			at.SetBytes([]byte("{}"))
			return
		}
		for i := range at.Len() {
			fill(t, at.Index(i))
		}
	case reflect.Map:
		element := reflect.New(at.Type().Elem()).Elem()
		fill(t, element)
		at.Set(reflect.MakeMap(at.Type()))
		at.SetMapIndex(reflect.ValueOf("key").Convert(at.Type().Key()), element)
	case reflect.Pointer:
		at.Set(reflect.New(at.Type().Elem()))
		fill(t, at.Elem())
	case reflect.Struct:
		for i := range at.NumField() {
			field := at.Type().Field(i)
			if field.IsExported() && field.Tag.Get("json") != "-" {
				fill(t, at.Field(i))
			}
		}
	default:
		t.Fatalf("a record has a %s", at.Type())
	}
}

var sameRecord = cmp.Options{
	cmpopts.EquateEmpty(), cmpopts.IgnoreUnexported(runRecord{}),
	cmp.Exporter(func(reflect.Type) bool { return true }),
}

// reread returns a record as it is read after it was stored.
func reread(t *testing.T, s *runRecord, row *blueprint.ExecutionRow) *runRecord {
	t.Helper()
	data, err := s.encode(row)
	if err != nil {
		t.Fatal(err)
	}
	out, err := parseRecord(data, row)
	if err != nil {
		t.Fatalf("%v in %s", err, data)
	}
	return out
}

func TestRecordKeepsEveryMember(t *testing.T) {
	want := &runRecord{}
	fill(t, reflect.ValueOf(want).Elem())
	want.Version = recordVersion
	want.Begin.Reuse, want.Begin.Hidden, want.Begin.Taped = nil, nil, nil // of journals alone
	want.Begin.CanManage, want.Begin.DataOf = false, "owner"              // who may see the data is one user, not the flags that led to it
	row := &blueprint.ExecutionRow{Status: blueprint.StatusCompleted, UserID: "user", TriggerID: "trigger", StartTime: 5}
	if diff := cmp.Diff(want, reread(t, want, row), sameRecord); diff != "" {
		t.Errorf("long steps (-want +got):\n%s", diff)
	}
	for i := range want.Steps {
		want.Steps[i].Status = blueprint.StepCompleted
	}
	if diff := cmp.Diff(want, reread(t, want, row), sameRecord); diff != "" {
		t.Errorf("short steps (-want +got):\n%s", diff)
	}
}

func TestRecordLeavesOutWhatFollows(t *testing.T) {
	const start = 1_700_000_000_000
	row := &blueprint.ExecutionRow{Status: blueprint.StatusCompleted, UserID: "ada", TriggerID: "hook", StartTime: start}
	s := &runRecord{
		Version: recordVersion, Status: blueprint.StatusCompleted, Ends: []string{"b"},
		Begin: begin{UserID: "ada", CanManage: true, InputData: map[string]any{"n": json.Number("1")}, Trigger: &blueprint.TriggerContext{ID: "hook", Type: blueprint.TriggerWebhook}},
		Steps: []step{
			{Node: "a", Type: "set", Title: "a", Status: blueprint.StepCompleted, Start: start, End: start, Attempt: 1, Variables: true, Output: map[string]any{"who": "Ada"}},
			{Node: "b", Type: "transform", Title: "Greet", Status: blueprint.StepCompleted, Start: start + 2, End: start + 5, Attempt: 1, From: []string{"a"}, Output: "ADA"},
		},
	}
	const want = `{"v":2,"b":{"i":{"n":1},"t":{"k":"webhook"}},"s":[{"n":"a","k":"set","o":{"who":"Ada"},"v":true},{"n":"b","k":"transform","title":"Greet","t":2,"d":3,"o":"ADA"}]}`
	data, err := s.encode(row)
	if err != nil || string(data) != want {
		t.Errorf("got %s, %v, want %s", data, err, want)
	}
	if diff := cmp.Diff(s, reread(t, s, row), sameRecord); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// The user whose data a run holds is part of what is sealed, whatever the row says.
func TestRecordKeepsWhoMaySeeIt(t *testing.T) {
	row := &blueprint.ExecutionRow{Status: blueprint.StatusCompleted, UserID: "ada", StartTime: 5}
	for name, b := range map[string]begin{
		"of a user who could only start it": {UserID: "ada"},
		"with the data of another user":     {UserID: "ada", CanManage: true, DataOf: "bob"},
	} {
		t.Run(name, func(t *testing.T) {
			s := &runRecord{Version: recordVersion, Status: blueprint.StatusCompleted, Begin: b}
			data, err := s.encode(row)
			if err != nil {
				t.Fatal(err)
			}
			got, err := parseRecord(data, &blueprint.ExecutionRow{Status: blueprint.StatusCompleted, UserID: "mallory", StartTime: 5})
			if err != nil {
				t.Fatal(err)
			}
			if got.Begin.privateTo() != b.privateTo() || got.Begin.UserID != b.UserID {
				t.Errorf("of %q, private to %q, want %q and %q", got.Begin.UserID, got.Begin.privateTo(), b.UserID, b.privateTo())
			}
		})
	}
}

func TestRecordsAreReadAsTheyWere(t *testing.T) {
	for seed := range uint64(2000) {
		random := rand.New(rand.NewPCG(seed, 1))
		pick := func(list ...string) string { return list[random.IntN(len(list))] }
		when := func() blueprint.Time { return blueprint.Time(random.IntN(4)) * 1000 }
		row := &blueprint.ExecutionRow{Status: blueprint.StatusFailed, UserID: pick("ada", "bob"), TriggerID: pick("", "hook"), StartTime: when()}
		s := &runRecord{Version: recordVersion, Status: blueprint.Status(pick("completed", "failed")), Begin: begin{UserID: pick("ada", "bob"), CanManage: random.IntN(2) == 0}}
		if random.IntN(2) == 0 {
			s.Begin.Trigger = &blueprint.TriggerContext{ID: pick("hook", "other"), Type: blueprint.TriggerEvent}
			row.TriggerID = "hook"
		}
		for range random.IntN(4) {
			one := step{
				Node: pick("a", "b", ""), Title: pick("a", "b", ""), Status: blueprint.StepStatus(pick("completed", "completed", "failed", "skipped", "pending")),
				Start: when(), End: when(), Attempt: random.IntN(3),
			}
			for range random.IntN(3) {
				one.From = append(one.From, pick("a", "b"))
			}
			s.Steps = append(s.Steps, one)
		}
		for range random.IntN(3) {
			s.Ends = append(s.Ends, pick("a", "b"))
		}
		if diff := cmp.Diff(s, reread(t, s, row), sameRecord); diff != "" {
			t.Fatalf("seed %d (-want +got):\n%s", seed, diff)
		}
	}
}

// TestFirstVersionOfRecords reads a record as programs before version 2 stored it.
func TestFirstVersionOfRecords(t *testing.T) {
	want := &runRecord{}
	fill(t, reflect.ValueOf(want).Elem())
	want.Version = 1
	want.Steps[1].Title, want.Steps[1].Attempt, want.Steps[1].From, want.Ends = "", 0, nil, nil
	data, err := blueprint.Encode(want)
	if err != nil {
		t.Fatal(err)
	}
	got, err := parseRecord(data, &blueprint.ExecutionRow{Status: blueprint.StatusCompleted, UserID: "u", TriggerID: "t", StartTime: 5})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got, sameRecord); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for _, unknown := range []string{`{"v":3,"s":[]}`, `{"version":2,"begin":{},"steps":[]}`, `{}`} {
		t.Run(unknown, func(t *testing.T) {
			if got, err := parseRecord([]byte(unknown), &blueprint.ExecutionRow{}); err == nil {
				t.Errorf("it was read as %v", got)
			}
		})
	}
}
