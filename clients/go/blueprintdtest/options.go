package blueprintdtest

import (
	"strconv"
	"time"
)

// Key is the API key of the owner of every server.
const Key = "blueprintdtest-key"

// Option says how a server differs from others.
type Option func(*settings)

type settings struct {
	binary string
	real   bool
	at     time.Time
	args   []string
}

// arguments are what the program is called with. What the test gave comes last:
// it goes before what stands here.
func (s *settings) arguments() []string {
	args := []string{"serve", "--ephemeral", "--addr", "127.0.0.1:0", "--api-key", Key, "--until-eof", "--ready-file", "-"}
	switch {
	case s.real:
	case s.at.IsZero():
		args = append(args, "--clock", "virtual")
	default:
		args = append(args, "--clock", "virtual="+s.at.Format(time.RFC3339))
	}
	return append(args, s.args...)
}

// Binary names the program, before whatever else would be found.
func Binary(path string) Option { return func(s *settings) { s.binary = path } }

// RealClock lets the server run on the time of the machine. Its rate limit is on
// then: 50 calls a second, unless WithArgs says otherwise.
func RealClock() Option { return func(s *settings) { s.real = true } }

// ClockAt is where the clock stands at the start, whole seconds; without it, at
// 2000-01-01T00:00:00Z.
func ClockAt(at time.Time) Option { return func(s *settings) { s.at = at } }

// WithSandbox lets the nodes of blueprints reach built-in fakes of other services
// instead of the services; see Calls, Rules and Reset.
func WithSandbox() Option { return WithArgs("--sandbox") }

// WithSeedIDs makes ids, keys and random numbers the same in every run of a test.
func WithSeedIDs(n int64) Option { return WithArgs("--seed-ids", strconv.FormatInt(n, 10)) }

// WithSeedFile names a file, YAML or JSON, of users, blueprints and triggers that
// the server begins with.
func WithSeedFile(path string) Option { return WithArgs("--seed", path) }

// WithArgs adds flags of `blueprintd serve`.
func WithArgs(args ...string) Option {
	return func(s *settings) { s.args = append(s.args, args...) }
}
