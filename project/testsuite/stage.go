package testsuite

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"blueprintd/blueprint"
	"blueprintd/foundation/recording"
)

// Stage is the world around the run of one test: it answers for nodes and for
// the network. It is safe for concurrent use.
type Stage struct {
	blueprintID string
	player      *recording.Player // nil without a cassette

	mu    sync.Mutex
	stubs map[string]*playing
	own   string // the first failure that was the test's own
}

// playing is a stub at work.
type playing struct {
	*Stub
	at   int // the answer whose turn it is
	used int // how often it has answered
	ever bool
}

// NewStage makes the world of a test of the blueprint with an id. With recorded
// the cassette alone answers, and no stub does.
func NewStage(t *Test, blueprintID string, player *recording.Player, recorded bool) *Stage {
	s := &Stage{blueprintID: blueprintID, player: player, stubs: map[string]*playing{}}
	for _, stub := range t.Stubs {
		s.stubs[strings.ToLower(stub.Key)] = &playing{Stub: stub}
		s.stubs[stub.Key] = s.stubs[strings.ToLower(stub.Key)]
		if recorded && !stub.ofNode() {
			delete(s.stubs, strings.ToLower(stub.Key))
			delete(s.stubs, stub.Key)
		}
	}
	return s
}

func (s *Stub) ofNode() bool {
	for i := range s.Answers {
		if s.Answers[i].ofNode() {
			return true
		}
	}
	return false
}

// errSpent tells that a stub has answered as often as it may.
var errSpent = errors.New("the stub has answered as often as it may")

// take returns the answer whose turn it is, nil when there is no stub of these
// keys. accept tells which answers are meant.
func (s *Stage) take(keys []string, accept func(*Answer) bool) (*Answer, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, key := range keys {
		p := s.stubs[key]
		if p == nil {
			continue
		}
		for p.at < len(p.Answers) && p.Answers[p.at].Times > 0 && p.used >= p.Answers[p.at].Times {
			p.at, p.used = p.at+1, 0
		}
		if p.at == len(p.Answers) {
			return nil, errSpent
		}
		a := &p.Answers[p.at]
		if !accept(a) {
			continue
		}
		p.used++
		p.ever = true
		return a, nil
	}
	return nil, nil
}

// Instead returns a type whose nodes do what their stubs say, and their own work
// where there is none.
func (s *Stage) Instead(kind *blueprint.NodeType) *blueprint.NodeType {
	stubbed := *kind
	stubbed.Run = func(ctx context.Context, task *blueprint.Task) (blueprint.Result, error) {
		if task.BlueprintID != s.blueprintID {
			return kind.Run(ctx, task)
		}
		a, err := s.take([]string{task.Address, everyItem(task.Address)}, func(a *Answer) bool { return a.ofNode() || a.Error != "" })
		switch {
		case errors.Is(err, errSpent):
			return blueprint.Result{}, s.noted(&blueprint.Failure{Code: codeStub, Permanent: true, Message: err.Error() + `; give it a higher "times", or one more answer`})
		case a == nil:
			return kind.Run(ctx, task)
		}
		if s.player != nil {
			s.player.SkipNode(task.Address)
		}
		if err := pause(ctx, a.DelayMs); err != nil {
			return blueprint.Result{}, err
		}
		switch {
		case a.Error != "":
			return blueprint.Result{}, &blueprint.Failure{Code: "stubbed", Message: a.Error, NotSent: true}
		case kind.Answer != nil && a.HasOutput:
			result, err := kind.Answer(task, a.Output)
			var refused *blueprint.Error
			if errors.As(err, &refused) && refused.Code == blueprint.CodeBadRequest {
				err = s.noted(&blueprint.Failure{Code: codeStub, Permanent: true, Message: "the stub's output is no answer that the node takes: " + refused.Message})
			}
			return result, err
		}
		result := blueprint.Result{Output: a.Output, PassInput: !a.HasOutput, Handle: a.Handle}
		if kind.Type == "set" {
			result.Variables, _ = a.Output.(map[string]any)
		}
		return result, nil
	}
	return &stubbed
}

// codeStub is the code of a failure that is the test's own.
const codeStub = "not_stubbed"

// codeRecorded is the code of a request that the cassette does not answer.
const codeRecorded = "not_recorded"

// noted keeps the first failure that is the test's own.
func (s *Stage) noted(err error) error {
	var failure *blueprint.Failure
	if errors.As(err, &failure) && (failure.Code == codeStub || failure.Code == codeRecorded) {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.own == "" {
			s.own = failure.Message
		}
	}
	return err
}

// unready tells what failed because of the test itself and not because of the
// blueprint: a request that nothing answered, or a stub that is used up. "" says
// that nothing did.
func (s *Stage) unready() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.own
}

// Unused returns the keys of the stubs that never answered, sorted.
func (s *Stage) Unused() (keys []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range s.stubs {
		if !p.ever && !slices.Contains(keys, p.Key) {
			keys = append(keys, p.Key)
		}
	}
	slices.Sort(keys)
	return keys
}

// pause waits in real time.
func pause(ctx context.Context, milliseconds int) error {
	if milliseconds == 0 {
		return nil
	}
	timer := time.NewTimer(time.Duration(milliseconds) * time.Millisecond)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
