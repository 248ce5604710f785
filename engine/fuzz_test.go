package engine_test

import (
	"bytes"
	"log/slog"
	"testing"

	"blueprintd/blueprint"
	"blueprintd/engine"
	"blueprintd/foundation/clock"
	"blueprintd/foundation/ids"
	"blueprintd/foundation/secret"
)

// reader returns an engine that only reads.
func reader(t testing.TB, disk *journal, key []byte) *engine.Engine {
	t.Helper()
	sealer, err := secret.NewSealer(key)
	if err != nil {
		t.Fatal(err)
	}
	return engine.New(engine.Options{
		Catalogue: newLab().catalogue(), Journal: disk, Clock: clock.NewVirtual(epoch), IDs: ids.New(nil), Sealer: sealer, Logger: slog.New(slog.DiscardHandler),
	})
}

// Any stored journal or record yields a view or an error.
func FuzzStoredRun(f *testing.F) {
	f.Add([]byte(`{"t":"start","n":"a","a":1}
{"t":"end","n":"a","o":{"v":1},"v":true}
{"t":"start","n":"b","a":1}
{"t":"await","n":"b","await":{"nodeId":"b","kind":"human","prompt":"?","requestedAt":null}}
{"t":"end","n":"b","pass":true,"h":"x"}
{"t":"log","log":{"level":"info","message":"m"}}
{"t":"cancel","reason":"r"}`), false)
	f.Add([]byte(`{"t":"start","n":"a","a":1}
{"t":"retry","n":"a","err":{"message":"m"},"due":"2000-01-01T00:00:00.000Z"}
{"t":"again","n":"a","a":2}
{"t":"start","n":"a","a":2}
{"t":"wait","n":"a","due":"2000-01-01T00:00:00.000Z"}
{"t":"end","n":"a","stop":true,"err":{"message":"m"}}`), false)
	f.Add([]byte(`{"t":"begin","begin":{}}`), false)
	f.Add([]byte(`{"t":"start","n":"a","a":1}
{"t":"end","n":"a","o":1}
{"t":"start","n":"b","a":1}
{"t":"end","n":"b","pass":true}
{"t":"start","n":"c","a":1}
{"t":"end","n":"c","pass":true}
{"t":"start","n":"l","a":1}
{"t":"loop","n":"l","o":[1,[2]],"most":2}
{"t":"start","n":"l[0]/m","a":1}
{"t":"start","n":"l[1]/m","a":1}
{"t":"loop","n":"l[1]/m","o":[3]}
{"t":"start","n":"l[1]/m[0]/d","a":1}
{"t":"end","n":"l[1]/m[0]/d","stop":true,"item":true,"pass":true}
{"t":"loop","n":"l[0]/m","o":[]}
{"t":"start","n":"r","a":1}
{"t":"call","n":"r","child":"y","call":{"blueprintId":"b","inputData":null}}
{"t":"retry","n":"r","err":{"message":"m"},"due":"2000-01-01T00:00:00.000Z"}`), false)
	f.Add([]byte(`{"t":"start","n":"l","a":1}
{"t":"loop","n":"l","o":[1,2],"most":2}
{"t":"start","n":"l[0]/m","a":1}
{"t":"end","n":"l[0]/m","err":{"message":"m"}}
{"t":"start","n":"l","a":2}`), false)
	f.Add([]byte(`{"steps":[{"n":"l","s":"completed","start":"2000-01-01T00:00:00.000Z","each":true,"items":[1,[2]]},{"n":"l[0]/m","in":"l[0]","last":true,"s":"completed","each":true,"items":[]},{"n":"l[1]/m","in":"l[1]","last":true,"s":"completed","pass":true,"from":["l[1]/m"]},{"n":"l[9]/d","in":"l[9]","s":"completed","from":["l"]}],"ends":["l"],"begin":{"input":1,"parent":"p","node":"r","depth":3}}`), true)
	f.Add([]byte(`{"steps":[{"n":"a","s":"completed","start":"2000-01-01T00:00:00.000Z","o":1},{"n":"b","s":"completed","pass":true,"from":["c"]},{"n":"c","s":"completed","pass":true,"from":["b","a"]}],"ends":["b","c"],"begin":{"input":1}}`), true)
	f.Add([]byte(`{"failed":"x","steps":null,"logs":[{}],"cancelled":"c"}`), true)
	key := secret.NewKey()
	disk := newJournal()
	loop := each("l", abc, "", each("m", abc, "", "d pass")) + ` | {"retry": {"maxAttempts": 2}}`
	m, issues := blueprint.ParseMap(decodeText(f, mapText("a pass\nb pass\nc pass\n"+loop+"\nr call {} | {\"retry\": {\"maxAttempts\": 2}}\na -> b\na -> c\nb -x> c")))
	if issues != nil {
		f.Fatal(issues)
	}
	disk.add(&blueprint.Definition{BlueprintID: "b", Version: "1", Map: m})
	e := reader(f, disk, key)
	f.Fuzz(func(t *testing.T, data []byte, ended bool) {
		stored := &blueprint.StoredExecution{Row: blueprint.ExecutionRow{ID: "x", BlueprintID: "b", BlueprintVersion: "1", Status: blueprint.StatusRunning}}
		if ended {
			stored.Row.Status, stored.Record = blueprint.StatusFailed, data
		} else {
			stored.Entries = append([][]byte{beginning}, bytes.Split(data, []byte("\n"))...)
		}
		disk.mu.Lock()
		disk.runs["x"] = stored
		disk.mu.Unlock()
		x, err := e.View(t.Context(), stored)
		if (x == nil) == (err == nil) {
			t.Fatalf("got %v and %v", x, err)
		}
		if x != nil && encode(x) == "" {
			t.Fatal("the record cannot be written")
		}
	})
}

func decodeText(t testing.TB, text string) any {
	t.Helper()
	value, err := blueprint.Decode([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return value
}
