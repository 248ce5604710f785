package blueprintdtest

import (
	"strconv"
	"time"
)

// Key is the API key of the owner of every server.
const Key = "blueprintdtest-key"

// Option configures a server.
type Option func(*settings)

type settings struct {
	binary string
	real   bool
	at     time.Time
	args   []string
	seed   string
}

// arguments returns the arguments of the program. Arguments from the test come last and
// therefore take precedence.
func (s *settings) arguments() []string {
	args := []string{"serve", "--ephemeral", "--addr", "127.0.0.1:0", "--api-key", Key, "--until-eof", "--ready-file", "-"}
	switch {
	case s.real:
	case s.at.IsZero():
		args = append(args, "--clock", "virtual")
	default:
		args = append(args, "--clock", "virtual="+s.at.Format(time.RFC3339))
	}
	if s.seed != "" {
		args = append(args, "--seed", s.seed)
	}
	return append(args, s.args...)
}

// Binary sets the path of the program; no other place is searched.
func Binary(path string) Option { return func(s *settings) { s.binary = path } }

// RealClock runs the server on real time. Its rate limit is then on: 50 calls a second,
// unless WithArgs sets another one.
func RealClock() Option { return func(s *settings) { s.real = true } }

// ClockAt sets the time at which the clock starts, in whole seconds. The default is
// 2000-01-01T00:00:00Z.
func ClockAt(at time.Time) Option { return func(s *settings) { s.at = at } }

// WithSandbox replaces other services by built-in fakes; see Calls, Rules and Reset.
func WithSandbox() Option { return WithArgs("--sandbox") }

// WithSeedIDs makes ids, keys and random numbers the same in every run of a test.
func WithSeedIDs(n int64) Option { return WithArgs("--seed-ids", strconv.FormatInt(n, 10)) }

// WithSeedFile sets a YAML or JSON file with the users, blueprints and triggers that the
// server starts with.
func WithSeedFile(path string) Option { return func(s *settings) { s.seed = path } }

// WithArgs adds flags of `blueprintd serve`.
func WithArgs(args ...string) Option {
	return func(s *settings) { s.args = append(s.args, args...) }
}
