package project

import "fmt"

// InputError says that the files of a user cannot be used as they are: what is
// wrong, and what to do. Nothing was changed. A command ends with the exit code of a
// wrong call.
type InputError struct{ Message, Hint string }

// Error returns the message.
func (e *InputError) Error() string { return e.Message }

// Unusable returns an InputError.
func Unusable(hint, format string, args ...any) error {
	return &InputError{Message: fmt.Sprintf(format, args...), Hint: hint}
}
