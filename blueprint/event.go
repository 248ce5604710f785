package blueprint

// Event is something that happened, for the triggers that listen to its name
// within the organization.
type Event struct {
	Name           string // such as "custom.order-paid"
	OrganizationID string
	BlueprintID    string // of the run that raised it
	ExecutionID    string
	// Key is the same for every attempt to raise this event, so that a trigger
	// starts at most one run for it.
	Key   string
	Data  any // a plain JSON value
	Depth int // how many events led to the run that raised it
	At    Time
}
