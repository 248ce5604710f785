package blueprint

// Recording is a run with all that others need to have it before them, without
// its secrets.
type Recording struct {
	*Execution
	// Recorded tells whether Exchanges were kept; see StartRequest.
	Recorded  bool
	Exchanges []Exchange
	// Trigger is what the run knows of its trigger, nil without one.
	Trigger *TriggerContext
	// Map is what ran when that is not the stored map of its version.
	Map any
	// Connections are those that its nodes opened, in the order of the steps.
	Connections []UsedConnection
	// Handles are the handles at which nodes went on, by address, of those that
	// chose one.
	Handles map[string]string
}

// UsedConnection is a connection that a run opened.
type UsedConnection struct {
	ID   string
	Type ConnectionType
}

// ImportedRun is a run that another server had, with its blueprint. Row has all
// but the log id, the organization and the user, which are those of who imports.
type ImportedRun struct {
	Blueprint NewBlueprint
	Row       ExecutionRow
}
