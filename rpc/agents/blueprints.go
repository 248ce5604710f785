package agents

import (
	"fmt"
	"slices"
	"strings"

	"blueprintd/blueprint"
)

func searchBlueprints(t *task, in map[string]any) (any, error) {
	filter := pick(in, "search", "page", "scope")
	filter["limit"] = in["limit"]
	if in["limit"] == nil {
		filter["limit"] = number(20)
	}
	if in["drafts"] == true {
		filter["tag"] = blueprint.TagDraft
	}
	page, err := t.call("blueprint.listSummaries", filter)
	if err != nil {
		return nil, err
	}
	found := []any{}
	for _, element := range arr(page, "data") {
		row, _ := element.(map[string]any)
		one := pick(row, "id", "title", "status", "version", "visibility", "can_manage", "node_count")
		if about := str(row, "description"); about != "" {
			one["description"] = blueprint.Shorten(about, 200)
		}
		if triggers := obj(row, "triggers"); triggers != nil {
			one["activeTriggers"] = triggers["active"]
		}
		if run := obj(row, "last_run"); run != nil {
			one["lastRun"] = pick(run, "executionId", "status", "startTime")
		}
		if draft := draftIn(row); draft != nil {
			one["draft"] = draft
		}
		found = append(found, one)
	}
	return map[string]any{"blueprints": found, "total": obj(page, "pagination")["total"]}, nil
}

// draftIn describes a blueprint that is a draft, nil for any other.
func draftIn(row map[string]any) map[string]any {
	d, ok := blueprint.ParseDraft(textsOf(arr(row, "tags")))
	if !ok {
		return nil
	}
	out := map[string]any{"proposed": d.Proposed}
	if d.Of != "" {
		out["of"], out["fromVersion"] = d.Of, d.From
	}
	return out
}

func textsOf(list []any) (texts []string) {
	for _, element := range list {
		if text, ok := element.(string); ok {
			texts = append(texts, text)
		}
	}
	return texts
}

func listOf(texts []string) []any {
	out := make([]any, len(texts))
	for i, text := range texts {
		out[i] = text
	}
	return out
}

// planOf returns the content of a blueprint or a version of one, without the values of secrets.
func planOf(row map[string]any) *plan {
	p := &plan{title: str(row, "title"), description: str(row, "description"), m: obj(row, "blueprint_map"), variables: blueprint.RedactVariables(arr(row, "environment_variables"))}
	if p.m == nil {
		p.m = map[string]any{"nodes": []any{}}
	}
	if p.variables == nil {
		p.variables = []any{}
	}
	return p
}

func getBlueprint(t *task, in map[string]any) (any, error) {
	row, err := t.call("blueprint.get", pick(in, "id"))
	if err != nil {
		return nil, err
	}
	out := pick(row, "id", "title", "description", "status", "version", "visibility", "can_manage")
	content := planOf(row)
	if wanted := str(in, "version"); wanted != "" && wanted != str(row, "version") {
		if content, err = t.version(str(in, "id"), wanted); err != nil {
			return nil, err
		}
		out["version"] = wanted
	}
	if draft := draftIn(row); draft != nil {
		out["draft"] = draft
	}
	if row["can_manage"] == true {
		triggers, err := t.triggers(str(in, "id"))
		if err != nil {
			return nil, err
		}
		out["triggers"] = triggers
	}
	if len(content.variables) > 0 {
		out["environment_variables"] = content.variables
	}
	wanted := textsOf(arr(in, "nodes"))
	if len(wanted) == 0 && size(content.m) <= maxMap {
		out["blueprint_map"] = content.m
		return out, nil
	}
	nodes, edges, room := []any{}, arr(content.m, "edges"), maxSteps
	for _, element := range arr(content.m, "nodes") {
		node, _ := element.(map[string]any)
		switch {
		case len(wanted) == 0:
			nodes = append(nodes, pick(node, "id", "type", "title"))
		case slices.Contains(wanted, str(node, "id")):
			if room -= size(node); room < 0 {
				out["note"] = "the nodes are large: name fewer of them to read the others"
				continue
			}
			nodes = append(nodes, node)
		}
	}
	if len(wanted) == 0 {
		out["note"] = "the map is large: the nodes are listed without their configs; name the ones to read with nodes"
	}
	out["blueprint_map"] = map[string]any{"nodes": nodes, "edges": edges}
	return out, nil
}

// triggers returns the triggers of a blueprint, without their configs.
func (t *task) triggers(id string) ([]any, error) {
	found, err := t.callList("blueprintTriggers.list", map[string]any{"blueprintId": id})
	if err != nil {
		return nil, err
	}
	list := []any{}
	for _, element := range found {
		trigger, _ := element.(map[string]any)
		list = append(list, pick(trigger, "id", "triggerType", "isActive"))
	}
	return list, nil
}

// version returns the content of a version of a blueprint.
func (t *task) version(id, version string) (*plan, error) {
	versions, err := t.callList("blueprint.versions", map[string]any{"id": id})
	if err != nil {
		return nil, err
	}
	for _, element := range versions {
		if v, _ := element.(map[string]any); str(v, "version") == version {
			return planOf(v), nil
		}
	}
	return nil, notFound("read the current version with build_get_blueprint", "the blueprint has no version %s", version)
}

func createDraft(t *task, in map[string]any) (any, error) {
	draft, given := blueprint.Draft{}, map[string]any{}
	if from := str(in, "from"); from != "" {
		for _, key := range []string{"blueprint_map", "environment_variables"} {
			if in[key] != nil {
				return nil, refuse("make the draft first, then change it with build_edit_draft", "%s cannot be given together with from", key)
			}
		}
		row, err := t.call("blueprint.get", map[string]any{"id": from})
		if err != nil {
			return nil, err
		}
		if row["can_manage"] != true {
			return nil, blueprint.WithHint(blueprint.Errorf(blueprint.CodeForbidden, "only a user who can manage a blueprint can propose changes to it"), "create a new draft without from")
		}
		if _, is := blueprint.ParseDraft(textsOf(arr(row, "tags"))); is {
			return nil, conflict("change it with build_edit_draft", "this blueprint is a draft already")
		}
		content := planOf(row)
		draft.Of, draft.From = from, str(row, "version")
		given = map[string]any{
			"title": blueprint.DraftTitle(content.title), "blueprint_map": content.m, "environment_variables": content.variables,
			"organization_id": row["organization_id"], "tags": listOf(draft.Tags(textsOf(arr(row, "tags")))),
		}
		if budget := row["budget"]; budget != nil {
			given["budget"] = budget
		}
	} else {
		given["tags"] = listOf(draft.Tags(nil))
	}
	for _, key := range []string{"title", "description", "blueprint_map", "environment_variables", "organization_id"} {
		if in[key] != nil {
			given[key] = in[key]
		}
	}
	for i, element := range arr(in, "environment_variables") {
		if variable, _ := element.(map[string]any); hasSecret(variable) {
			return nil, blueprint.InvalidInput([]blueprint.Issue{{Path: []any{"environment_variables", i, "default"}, Message: secretMessage}})
		}
	}
	titleAll(obj(given, "blueprint_map"))
	if given["title"] == nil {
		return nil, blueprint.InvalidInput([]blueprint.Issue{{Path: []any{"title"}, Message: "required for a new blueprint"}})
	}
	made, err := t.call("blueprint.create", given)
	if draft.Of != "" && in["organization_id"] == nil && blueprint.CodeOf(err) == blueprint.CodeForbidden {
		// A collaborator is not a member of the blueprint's organization.
		delete(given, "organization_id")
		made, err = t.call("blueprint.create", given)
	}
	if err != nil {
		return nil, err
	}
	out := pick(made, "id", "title", "version")
	out["draft"] = draftIn(made)
	return t.checked(out, planOf(made))
}

// checked adds the issues of a content to a result.
func (t *task) checked(out map[string]any, content *plan) (map[string]any, error) {
	found, err := t.call("blueprint.validate", map[string]any{"blueprint_map": content.m, "environment_variables": content.variables})
	if err != nil {
		return nil, err
	}
	issues := arr(found, "issues")
	placed := make([]any, 0, min(len(issues), maxIssues))
	for _, element := range issues[:min(len(issues), maxIssues)] {
		issue, _ := element.(map[string]any)
		placed = append(placed, located(issue, content.m))
	}
	if out["valid"], out["issues"] = found["valid"], placed; len(issues) > maxIssues {
		out["moreIssues"] = number(len(issues) - maxIssues)
	}
	return out, nil
}

// located adds to an issue where it is: the path as text, the address of its node, and the
// key in that node.
func located(issue map[string]any, m map[string]any) map[string]any {
	out := pick(issue, "severity", "message")
	path := make([]any, 0, len(arr(issue, "path")))
	for _, part := range arr(issue, "path") {
		if n, ok := blueprint.WholeNumber(part); ok {
			part = int(n)
		}
		path = append(path, part)
	}
	out["path"] = blueprint.PathText(path)
	if len(path) == 0 || path[0] != "blueprint_map" {
		return out
	}
	in, address, rest := m, "", path[1:]
	for len(rest) >= 2 && rest[0] == "nodes" {
		index, ok := rest[1].(int)
		nodes := arr(in, "nodes")
		if !ok || index < 0 || index >= len(nodes) {
			break
		}
		node, _ := nodes[index].(map[string]any)
		if address != "" {
			address += "/"
		}
		address, rest = address+str(node, "id"), rest[2:]
		if in = obj(node, "config"); len(rest) < 2 || rest[0] != "config" || rest[1] != "nodes" {
			break
		}
		rest = rest[1:]
	}
	if address != "" {
		out["nodeId"], out["key"] = address, blueprint.PathText(rest)
	}
	return out
}

func validate(t *task, in map[string]any) (any, error) {
	content := planOf(in)
	if id := str(in, "id"); id != "" {
		if in["blueprint_map"] != nil {
			return nil, refuse("pass one of them", "id and blueprint_map exclude each other")
		}
		row, err := t.call("blueprint.get", map[string]any{"id": id})
		if err != nil {
			return nil, err
		}
		content = planOf(row)
	} else if in["blueprint_map"] == nil {
		return nil, refuse("pass id, or blueprint_map", "there is nothing to validate")
	}
	return t.checked(map[string]any{}, content)
}

const draftHint = "make a draft of it: build_create_draft with from"

// draft returns a blueprint that a tool may change: a draft that nothing starts.
func (t *task) draft(id string) (map[string]any, error) {
	row, err := t.call("blueprint.get", map[string]any{"id": id})
	if err != nil {
		return nil, err
	}
	if _, is := blueprint.ParseDraft(textsOf(arr(row, "tags"))); !is {
		return nil, conflict(draftHint, "this blueprint is not a draft: a change would be live at once, so tools do not change it")
	}
	if row["can_manage"] != true {
		return nil, blueprint.Errorf(blueprint.CodeForbidden, "only a user who can manage a draft can change it")
	}
	triggers, err := t.triggers(id)
	if err != nil {
		return nil, err
	}
	if len(triggers) > 0 || str(row, "status") == blueprint.StatusPublished || str(row, "visibility") == blueprint.VisibilityPublic {
		return nil, conflict(draftHint, "this draft is live: it is published, public or has triggers, so tools do not change it")
	}
	return row, nil
}

func editDraft(t *task, in map[string]any) (any, error) {
	row, err := t.draft(str(in, "id"))
	if err != nil {
		return nil, err
	}
	before, now := planOf(deepCopy(row).(map[string]any)), planOf(row)
	if err := t.fresh(in, row); err != nil {
		return nil, err
	}
	if err := now.apply(arr(in, "changes")); err != nil {
		return nil, err
	}
	d, _ := blueprint.ParseDraft(textsOf(arr(row, "tags")))
	d.Proposed = false // what was proposed is not this
	updated, err := t.update(in, row, map[string]any{
		"title": now.title, "description": now.description, "blueprint_map": now.m, "environment_variables": now.variables, "tags": listOf(d.Tags(textsOf(arr(row, "tags")))),
	})
	if err != nil {
		return nil, err
	}
	out := pick(updated, "id", "version")
	changed := difference(before, now)
	if changed == nil {
		changed = []any{}
	}
	out["changed"] = bounded(changed, maxMap)
	return t.checked(out, now)
}

// fresh refuses a change that was made from a version with another content than the
// current one.
func (t *task) fresh(in, row map[string]any) error {
	made, current := str(in, "version"), str(row, "version")
	if made == current {
		return nil
	}
	from, err := t.version(str(in, "id"), made)
	if err != nil {
		return err
	}
	refused := conflict("read it again with build_get_blueprint, then repeat the change with its version", "the draft is at version %s now; this change was made from version %s", current, made)
	from.title = str(row, "title") // versions are compared by their content
	changes := difference(from, planOf(row))
	if len(changes) == 0 {
		return nil
	}
	refused.Issues = sentences(changes)
	refused.Message += "; since then changed: " + changedNames(refused.Issues)
	return refused
}

func changedNames(issues []blueprint.Issue) string {
	var names []string
	for _, issue := range issues {
		if names = append(names, strings.Trim(fmt.Sprint(issue.Path), "[]")+" ("+issue.Message+")"); len(names) == maxNamed {
			break
		}
	}
	return strings.Join(names, ", ")
}

// update stores fields of a blueprint as the version after the one that the caller read.
// Another change in between has that version, so that this one is refused.
func (t *task) update(in, row, fields map[string]any) (map[string]any, error) {
	next, err := blueprint.FollowingVersion(str(row, "version"))
	if err != nil {
		return nil, err
	}
	fields["id"], fields["version"] = in["id"], next
	updated, err := t.call("blueprint.update", fields)
	if blueprint.CodeOf(err) != blueprint.CodeBadRequest {
		return updated, err
	}
	current, getErr := t.call("blueprint.get", map[string]any{"id": in["id"]})
	if getErr != nil || str(current, "version") == str(row, "version") {
		return nil, err
	}
	if err := t.fresh(in, current); err != nil {
		return nil, err
	}
	return nil, conflict("repeat the call", "the draft was changed at the same time")
}

func deleteDraft(t *task, in map[string]any) (any, error) {
	if _, err := t.draft(str(in, "id")); err != nil {
		return nil, err
	}
	return t.call("blueprint.delete", map[string]any{"id": in["id"], "onlyDraft": true})
}

// withoutLayout returns the plan without what only the editor uses.
func (p *plan) withoutLayout() *plan {
	out := *p
	out.m, _ = blueprint.WithoutLayout(p.m).(map[string]any)
	return &out
}

// current returns the content that a draft was made from. It refuses a draft of a blueprint whose
// content has changed since.
func (t *task) current(d blueprint.Draft, now *plan, version string) (*plan, error) {
	if version == d.From {
		return now, nil
	}
	made, err := t.version(d.Of, d.From)
	if err != nil {
		return nil, err
	}
	made.title = now.title
	if len(difference(made.withoutLayout(), now.withoutLayout())) == 0 {
		return made, nil
	}
	return nil, conflict("make a new draft with build_create_draft and repeat the change there", "the blueprint is at version %s now; the draft was made from version %s", version, d.From)
}

func propose(t *task, in map[string]any) (any, error) {
	row, err := t.draft(str(in, "id"))
	if err != nil {
		return nil, err
	}
	if err := t.fresh(in, row); err != nil {
		return nil, err
	}
	content := planOf(row)
	found, err := t.checked(map[string]any{}, content)
	if err != nil {
		return nil, err
	}
	if found["valid"] != true {
		return nil, refuse("read the issues with build_validate and repair them", "a draft with errors cannot be proposed")
	}
	tags := textsOf(arr(row, "tags"))
	d, _ := blueprint.ParseDraft(tags)
	before := &plan{m: map[string]any{}, title: content.title}
	if d.Of != "" {
		base, err := t.call("blueprint.get", map[string]any{"id": d.Of})
		if err != nil {
			return nil, err
		}
		before = planOf(base)
		made, err := t.current(d, before, str(base, "version"))
		if err != nil {
			return nil, err
		}
		content.m, _ = blueprint.MergeLayout(made.m, content.m, before.m).(map[string]any)
		before.title = blueprint.DraftTitle(before.title)
	}
	changes := difference(before, content)
	if len(changes) == 0 {
		return nil, refuse("change the draft with build_edit_draft", "the draft changes nothing")
	}
	d.Proposed = true
	updated, err := t.update(in, row, map[string]any{"description": str(in, "note"), "tags": listOf(d.Tags(tags))})
	if err != nil {
		return nil, err
	}
	out := pick(updated, "id", "version")
	out["changes"], out["next"] = bounded(changes, maxMap), "a person reviews the changes in the dashboard and applies them; nothing is live before"
	return out, nil
}
