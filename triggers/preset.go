package triggers

import (
	"maps"
	"slices"

	"blueprintd/blueprint"
)

// preset is what config.preset stands for: how a service signs what it sends,
// and where it says which delivery it is. Other signatures are not looked at.
type preset struct {
	scheme *scheme
	idIn   string // the header that has the id; "" = a member of the body
	id     string // that member
	// greets tells that a first delivery asks for a proof that somebody is here.
	greets bool
}

var presets = map[string]*preset{
	"github":   {scheme: githubScheme, idIn: "X-GitHub-Delivery"},
	"stripe":   {scheme: stripeScheme, id: "id"},
	"slack":    {scheme: slackScheme, id: "event_id", greets: true},
	"standard": {scheme: standardScheme, idIn: standardID},
}

// presetNames are the values of config.preset.
func presetNames() []string { return slices.Sorted(maps.Keys(presets)) }

// presetOf gives the preset of a trigger: nil when it has none, and false when
// it has one that is unknown, which lets nobody in.
func presetOf(trigger *blueprint.Trigger) (*preset, bool) {
	value := trigger.Config["preset"]
	if value == nil {
		return nil, true
	}
	name, _ := value.(string)
	p := presets[name]
	return p, p != nil
}

// idHeaders names the headers that may have the id of a delivery; the first
// that is there counts.
func idHeaders(trigger *blueprint.Trigger) []string {
	switch p, _ := presetOf(trigger); {
	case trigger.Type == blueprint.TriggerSlack, p != nil && p.idIn == "":
		return nil
	case p != nil:
		return []string{p.idIn}
	}
	return deliveryHeaders
}

// bodyID gives the id of a delivery that its body has, "" without one.
func bodyID(body any, member string) (string, *blueprint.Error) {
	object, _ := body.(map[string]any)
	id, _ := object[member].(string)
	if len(id) > maxKey {
		return "", blueprint.Errorf(blueprint.CodeBadRequest, "%s of the body is longer than %d bytes", member, maxKey)
	}
	return id, nil
}
