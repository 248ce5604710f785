package project

import (
	"slices"

	"blueprintd/blueprint"
)

// settings are what a file may say of its blueprint besides what it is. Export
// writes those that are not as for a new one. Import makes a private draft all the
// same, so that nothing is published unseen; sync heeds all, and leaves what is not
// said as it is there.
type settings struct {
	Status     string            // "" = not said
	Visibility string            // "" = not said
	Budget     *blueprint.Budget // nil = not said; without limits = none
}

func (r *Reader) readSettings(object map[string]any) {
	r.Blueprint.Status = r.choice(object, "status", blueprint.StatusDraft, blueprint.StatusPublished)
	r.Blueprint.Visibility = r.choice(object, "visibility", blueprint.VisibilityPrivate, blueprint.VisibilityPublic)
	value, given := object["budget"]
	if !given {
		return
	}
	budget, issues := blueprint.ParseBudget(value)
	for _, issue := range issues {
		r.wrong(blueprint.SeverityError, issue.Message, append([]any{"budget"}, issue.Path...)...)
	}
	if r.Blueprint.Budget = budget; budget == nil {
		r.Blueprint.Budget = &blueprint.Budget{}
	}
}

// choice reads a member that is one of two texts.
func (r *Reader) choice(object map[string]any, name, one, other string) string {
	value, given := object[name]
	text, _ := value.(string)
	if given && !slices.Contains([]string{one, other}, text) {
		r.wrong(blueprint.SeverityError, `must be "`+one+`" or "`+other+`"`, name)
	}
	return text
}
