package postgres

import (
	"embed"
	"regexp"
	"strconv"
	"sync"
)

// Step upgrades the tables to a form from the one before. The file steps/NNNN_what_it_does.sql
// upgrades to the form NNNN; its line
//
//	-- readable from: NNNN
//
// names the oldest form whose programs can use the tables afterwards. A step that only adds
// tables, or columns with a default, repeats the number of the step before, so that processes
// can be upgraded one after the other.
type Step struct {
	Form         int
	Name         string // what it does, in words separated by underscores
	SQL          string
	ReadableFrom int
}

//go:embed steps/*.sql
var stepFiles embed.FS

var (
	stepName     = regexp.MustCompile(`^([0-9]{4})_([a-z0-9_]+)\.sql$`)
	readableFrom = regexp.MustCompile(`(?m)^-- readable from: ([0-9]+)$`)
)

// Steps returns all steps, ordered by form.
func Steps() []Step { return steps() }

var steps = sync.OnceValue(func() (list []Step) {
	entries, _ := stepFiles.ReadDir("steps") // sorted
	for _, entry := range entries {
		parts := stepName.FindStringSubmatch(entry.Name())
		if parts == nil {
			continue
		}
		text, _ := stepFiles.ReadFile("steps/" + entry.Name())
		form, _ := strconv.Atoi(parts[1])
		list = append(list, NewStep(form, parts[2], string(text)))
	}
	return list
})

// NewStep returns the step to a form whose file has this name and text.
func NewStep(form int, name, text string) Step {
	s := Step{Form: form, Name: name, SQL: text, ReadableFrom: form}
	if line := readableFrom.FindStringSubmatch(text); line != nil {
		s.ReadableFrom, _ = strconv.Atoi(line[1])
	}
	return s
}

// Form returns the form of the tables that Schema creates: that of the last step.
func Form() int { return Steps()[len(Steps())-1].Form }

// ReadableFrom returns the oldest form whose programs can use the tables after these steps.
func ReadableFrom(steps []Step) (form int) {
	for _, step := range steps {
		form = max(form, step.ReadableFrom)
	}
	return form
}
