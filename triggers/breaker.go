package triggers

import "blueprintd/blueprint"

// offReason tells why a trigger that is not active starts nothing: somebody
// switched it off, or the server did because its runs kept failing.
func offReason(binding *blueprint.Binding) string {
	if binding.PausedReason == "" {
		return inactiveReason
	}
	return "the server switched the trigger off: " + binding.PausedReason
}

// off is offReason for who fired it and can switch it on again.
func off(binding *blueprint.Binding) *blueprint.Error {
	refused := blueprint.Errorf(blueprint.CodeBadRequest, "%s", offReason(binding))
	if binding.PausedReason != "" {
		refused.Hint = "mend the cause, then switch it on again with isActive: true"
	}
	return refused
}
