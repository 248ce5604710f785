// Package mutant puts bugs into the program on purpose, one at a time, so that
// the harnesses that look for such bugs can themselves be tested: a harness
// that finds nothing proves something only if it would have found these.
//
// Without the build tag "mutant" there are no bugs: Is is the constant false,
// and the compiler removes each question together with what depends on it. With
// the tag the environment variable BLUEPRINTD_MUTANT names the bug of this
// process, none when it is empty; the program then says so on its standard
// error as soon as it starts.
//
//	go build -tags mutant -o bad . && BLUEPRINTD_MUTANT=no-recovery ./bad serve
package mutant

// Bug names a bug.
type Bug string

// The bugs.
const (
	AckBeforeCommit Bug = "ack-before-commit"
	SynchronousOff  Bug = "synchronous-off"
	NoRecovery      Bug = "no-recovery"
	JournalAfterAct Bug = "journal-after-act"
	NoFiringKey     Bug = "no-firing-key"
	StatusRewritten Bug = "status-rewritten"
	EventForgotten  Bug = "event-forgotten"
	LimitForgotten  Bug = "limit-forgotten"
)

// Variable is the environment variable that chooses a bug.
const Variable = "BLUEPRINTD_MUTANT"

// Description is a bug and, in one line, what the program does wrong with it.
type Description struct {
	Bug  Bug
	Does string
}

// All returns every bug there is.
func All() []Description {
	return []Description{
		{AckBeforeCommit, "a run is acknowledged before it is on the disk"},
		{SynchronousOff, "commits are not synced, so that a power cut loses them"},
		{NoRecovery, "a start does not take up what the last process left"},
		{JournalAfterAct, "a node acts before the journal says that it will"},
		{NoFiringKey, "one delivery may start any number of runs"},
		{StatusRewritten, "a start calls completed runs failed"},
		{EventForgotten, "an event leaves the outbox before anybody is told of it"},
		{LimitForgotten, "a start lets all runs of a limited trigger begin at once"},
	}
}
