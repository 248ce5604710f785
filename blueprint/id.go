package blueprint

import "regexp"

var (
	uuidForm      = regexp.MustCompile(`^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$`)
	executionForm = regexp.MustCompile(`^exec_[0-9]{1,15}_[0-9a-z]{26}$`)
)

// IsUUID tells whether text is eight-four-four-four-twelve hexadecimal digits,
// of any version and letter case.
func IsUUID(text string) bool { return uuidForm.MatchString(text) }

// IsExecutionID tells whether text has the form exec_{milliseconds}_{ULID in
// lower case}.
func IsExecutionID(text string) bool { return executionForm.MatchString(text) }
