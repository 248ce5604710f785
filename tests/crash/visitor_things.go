package main

import (
	"context"
	"fmt"
	"net/http"

	"blueprintd/tests/process"
)

// things are what the visitor made, by kind. Of what was sent to be deleted
// nothing more is asked.
type things struct {
	n    int
	made map[string][]string
}

// change makes, changes or deletes something, or starts a run.
func (v *visitor) change(ctx context.Context, from *browser) {
	t := &v.things
	if t.made == nil {
		t.made = map[string][]string{}
	}
	t.n++
	name := fmt.Sprintf("thing %d", t.n)
	graph := object{"nodes": []any{node("before", "set", object{"values": object{"kept": t.n}}), lastNode}}
	blueprint, trigger, connection, key := t.any(v, "blueprint"), t.any(v, "trigger"), t.any(v, "connection"), t.any(v, "key")
	const few = 4
	switch dice := v.random.IntN(20); {
	case blueprint == "" || dice == 0 && len(t.made["blueprint"]) < few:
		v.make(ctx, from, "blueprint", "blueprint.create", object{"title": name, "blueprint_map": graph})
	case dice < 5:
		v.ordinary(ctx, from, "blueprint.update", object{"id": blueprint, "title": name, "blueprint_map": graph})
	case dice < 8:
		v.ordinary(ctx, from, "blueprint.execute", object{"id": blueprint, "inputData": object{}})
	case dice < 9 && len(t.made["blueprint"]) == few:
		t.forget("trigger") // they go with it
		v.drop(ctx, from, "blueprint", "blueprint.delete", "id", blueprint)
	case trigger == "" || dice == 9 && len(t.made["trigger"]) < few:
		v.make(ctx, from, "trigger", "blueprintTriggers.create", object{"blueprintId": blueprint, "triggerType": "webhook", "config": object{}})
	case dice < 12:
		v.ordinary(ctx, from, "blueprintTriggers.update", object{"triggerId": trigger, "isActive": t.n%2 == 0})
	case dice < 13:
		v.drop(ctx, from, "trigger", "blueprintTriggers.delete", "triggerId", trigger)
	case connection == "" || dice == 13 && len(t.made["connection"]) < few:
		v.make(ctx, from, "connection", "connection.create", object{"name": name, "type": "slack", "config": object{"botToken": secretOf("thing")}})
	case dice < 16:
		v.ordinary(ctx, from, "connection.update", object{"id": connection, "name": name})
	case dice < 17:
		v.drop(ctx, from, "connection", "connection.delete", "id", connection)
	case key == "" || dice < 19 && len(t.made["key"]) < few:
		v.make(ctx, from, "key", "apiKey.create", object{"name": name})
	default:
		v.drop(ctx, from, "key", "apiKey.revoke", "id", key)
	}
}

func (t *things) any(v *visitor, kind string) string {
	if all := t.made[kind]; len(all) > 0 {
		return all[v.random.IntN(len(all))]
	}
	return ""
}

func (t *things) forget(kind string) { t.made[kind] = nil }

// ordinary changes something from a browser that is signed in, where nothing is
// in the way.
func (v *visitor) ordinary(ctx context.Context, from *browser, procedure string, input object) answer {
	a, _ := v.does(ctx, from, procedure, input)
	switch {
	case a.Err == process.ErrDown, a.Err != nil, a.OK(), a.Status >= 500, a.Status == http.StatusTooManyRequests:
	case a.Status == http.StatusUnauthorized:
		v.refused(from, a)
	default:
		v.book.violated("I10", "", "%s of the visitor was refused: %s", procedure, a)
	}
	return a
}

func (v *visitor) make(ctx context.Context, from *browser, kind, procedure string, input object) {
	if a := v.ordinary(ctx, from, procedure, input); a.OK() {
		v.things.made[kind] = append(v.things.made[kind], a.Text("id"))
	}
}

func (v *visitor) drop(ctx context.Context, from *browser, kind, procedure, field, id string) {
	if a := v.ordinary(ctx, from, procedure, object{field: id}); a.Err == process.ErrDown {
		return
	}
	kept := []string{}
	for _, one := range v.things.made[kind] {
		if one != id {
			kept = append(kept, one)
		}
	}
	v.things.made[kind] = kept
}
