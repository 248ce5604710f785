package testsuite

import (
	"maps"

	"blueprintd/blueprint"
	"blueprintd/foundation/recording"
	"blueprintd/foundation/secret"
)

// StandIns gives the variables of a local run, for which no file has the secrets:
// a secret variable that is required and not given, and one of another type than
// text that is given as "***", gets a value that fits its type.
func StandIns(declared []blueprint.Variable, given map[string]any) map[string]any {
	out := map[string]any{}
	maps.Copy(out, given)
	for i := range declared {
		v := &declared[i]
		value, is := given[v.Name]
		missing := !is && v.Required && !v.HasDefault
		hidden := value == secret.Mask && (v.Type == blueprint.VariableNumber || v.Type == blueprint.VariableBoolean)
		if v.Secret && (missing || hidden) {
			out[v.Name] = recording.StandIn(v.Type)
		}
	}
	return out
}
