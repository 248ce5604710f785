package postgres

import "testing"

func TestSteps(t *testing.T) {
	entries, err := stepFiles.ReadDir("steps")
	if err != nil || len(entries) != len(Steps()) {
		t.Fatalf("%d files, %d steps, %v: a file is not named NNNN_what_it_does.sql", len(entries), len(Steps()), err)
	}
	for i, step := range Steps() {
		if i > 0 && step.Form != Steps()[i-1].Form+1 {
			t.Errorf("step %d follows step %d", step.Form, Steps()[i-1].Form)
		}
		if readableFrom.FindString(step.SQL) == "" {
			t.Errorf("step %d: want a line %q", step.Form, "-- readable from: NNNN")
		}
		if step.ReadableFrom > step.Form {
			t.Errorf("step %d is readable from form %d only", step.Form, step.ReadableFrom)
		}
	}
	if got, want := NewStep(12, "try", "SELECT 1;").ReadableFrom, 12; got != want {
		t.Errorf("a step that names no form is readable from %d, want %d", got, want)
	}
	if got, want := ReadableFrom([]Step{{ReadableFrom: 12}, {ReadableFrom: 11}}), 12; got != want {
		t.Errorf("two steps are readable from %d, want %d", got, want)
	}
}
