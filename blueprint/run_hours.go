package blueprint

// RunHour is what ended in one hour.
type RunHour struct {
	Hour int64 // hours since 1970
	RunSums
}

// RunSums are how many runs ended and how long they took, in milliseconds.
type RunSums struct {
	Completed, Failed int64
	Duration          int64 // of all together
	Slowest           int64
}

// Add adds others to these.
func (s *RunSums) Add(other RunSums) {
	s.Completed += other.Completed
	s.Failed += other.Failed
	s.Duration += other.Duration
	s.Slowest = max(s.Slowest, other.Slowest)
}

// HoursFilter chooses runs for statistics: those of a blueprint, of an
// organization, or when both are "" of all organizations of the user.
type HoursFilter struct {
	BlueprintID    string
	OrganizationID string
	From, To       int64 // hours since 1970; To is not included
}

// RunHours is what RunHour counts, and what has not ended.
type RunHours struct {
	Hours           []RunHour // in their order; those in which nothing ended are left out
	Running, Paused int       // now
}
