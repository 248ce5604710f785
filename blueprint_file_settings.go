package main

import (
	"slices"

	"blueprintd/blueprint"
)

// settings are what a file may say of its blueprint besides what it is. Export
// writes those that are not as for a new one. Import makes a private draft all the
// same, so that nothing is published unseen; sync heeds all, and leaves what is not
// said as it is there.
type settings struct {
	status     string            // "" = not said
	visibility string            // "" = not said
	budget     *blueprint.Budget // nil = not said; without limits = none
}

func (r *fileReader) readSettings(object map[string]any) {
	r.b.status = r.choice(object, "status", blueprint.StatusDraft, blueprint.StatusPublished)
	r.b.visibility = r.choice(object, "visibility", blueprint.VisibilityPrivate, blueprint.VisibilityPublic)
	value, given := object["budget"]
	if !given {
		return
	}
	budget, issues := blueprint.ParseBudget(value)
	for _, issue := range issues {
		r.wrong(blueprint.SeverityError, issue.Message, append([]any{"budget"}, issue.Path...)...)
	}
	if r.b.budget = budget; budget == nil {
		r.b.budget = &blueprint.Budget{}
	}
}

// choice reads a member that is one of two texts.
func (r *fileReader) choice(object map[string]any, name, one, other string) string {
	value, given := object[name]
	text, _ := value.(string)
	if given && !slices.Contains([]string{one, other}, text) {
		r.wrong(blueprint.SeverityError, `must be "`+one+`" or "`+other+`"`, name)
	}
	return text
}
