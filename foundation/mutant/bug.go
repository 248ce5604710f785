// Package mutant enables one deliberate bug at a time, to test that the test harnesses
// find such bugs.
//
// Without the build tag "mutant", Is is constantly false, and the compiler removes
// the code that depends on it. With the tag, the environment variable
// BLUEPRINTD_MUTANT names the bug of the process, and the program warns on standard
// error when it starts.
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

// The bugs of a server of several processes.
const (
	FenceForgotten    Bug = "fence-forgotten"
	TakeOverEager     Bug = "take-over-eager"
	TakeOverForgets   Bug = "take-over-forgets"
	TakeOverUnstarted Bug = "take-over-unstarted"
	LeaseUnchecked    Bug = "lease-unchecked"
	RunHandedTwice    Bug = "run-handed-twice"
	CommandTwice      Bug = "command-twice"
	DutiesEverywhere  Bug = "duties-everywhere"
	UnknownIsFailed   Bug = "unknown-is-failed"
	UnknownIsDone     Bug = "unknown-is-done"
)

// Variable is the environment variable that chooses a bug.
const Variable = "BLUEPRINTD_MUTANT"

// Description describes a bug in one line.
type Description struct {
	Bug  Bug
	Does string
}

// All returns all bugs of one process.
func All() []Description {
	return []Description{
		{AckBeforeCommit, "a run is acknowledged before it is on the disk"},
		{SynchronousOff, "commits are not synced, so that a power cut loses them"},
		{NoRecovery, "a start does not take up what the last process left"},
		{JournalAfterAct, "a node acts before the journal says that it will"},
		{NoFiringKey, "one delivery may start any number of runs"},
		{StatusRewritten, "a start calls completed runs failed"},
		{EventForgotten, "an event leaves the outbox before it is delivered"},
		{LimitForgotten, "a start lets all runs of a limited trigger begin at once"},
	}
}

// OfCluster returns the bugs that show only in a server of several processes.
func OfCluster() []Description {
	return []Description{
		{FenceForgotten, "a process that was declared dead works on"},
		{TakeOverEager, "a process is declared dead after a second and a half"},
		{TakeOverForgets, "a run that is taken over begins again, whatever its journal says"},
		{TakeOverUnstarted, "runs that are taken over rest until a restart"},
		{LeaseUnchecked, "a process without a lease sends requests"},
		{RunHandedTwice, "a run that is handed to another process begins in both"},
		{CommandTwice, "a command of another process is performed again and again"},
		{DutiesEverywhere, "every process takes the duties"},
		{UnknownIsFailed, "a commit with an unknown outcome is taken for failed"},
		{UnknownIsDone, "a commit with an unknown outcome is taken for done"},
	}
}
