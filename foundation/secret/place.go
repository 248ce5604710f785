package secret

// What runs leave behind is sealed by the engine, for these places, and sealed
// anew by the store when the master key is changed.

// JournalPlace is the place of each entry of an execution's journal.
func JournalPlace(executionID string) string { return "journal/" + executionID }

// RecordPlace is the place of the record of a finished execution.
func RecordPlace(executionID string) string { return "executions/" + executionID + "/record" }

// StatePlace is the place of what a retry of a finished execution needs.
func StatePlace(executionID string) string { return "executions/" + executionID + "/state" }
