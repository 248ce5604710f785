package recording

import (
	"encoding/json"

	"blueprintd/blueprint"
)

// StandIn gives what takes the place of a secret variable of a type where the
// secret is not at hand.
func StandIn(kind blueprint.VariableType) any {
	switch kind {
	case blueprint.VariableNumber:
		return json.Number("1")
	case blueprint.VariableBoolean:
		return true
	case blueprint.VariableJSON:
		return map[string]any{"secret": "stand-in-for-a-secret"}
	}
	return "stand-in-for-a-secret"
}

// StandIns gives what takes the place of the secret variables that the run had: of
// those that it was given, that are required, or that had a default. The file has
// none of them.
func (f *File) StandIns() map[string]any {
	out := map[string]any{}
	for _, element := range f.Blueprint.Variables {
		declared, _ := element.(map[string]any)
		name, named := declared["name"].(string)
		if !named || declared["secret"] != true {
			continue
		}
		_, given := f.Run.InputVariables[name]
		_, preset := declared["default"]
		if given || preset || declared["required"] == true {
			kind, _ := declared["type"].(string)
			out[name] = StandIn(blueprint.VariableType(kind))
		}
	}
	return out
}
