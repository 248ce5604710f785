package store

import (
	"context"
	"os"
	"testing"
	"time"
)

// A log that was begun when the power failed may hold its header and nothing
// else, beside an index that is empty. That is no reason to wait.
func TestOpenWithALogThatWasJustBegun(t *testing.T) {
	options := testOptions(t)
	s := must(Open(context.Background(), options))(t)
	user(t, s, "ann")
	header := must(os.ReadFile(options.Path + "-wal"))(t)[:logHeader]
	check(t, s.Close())
	check(t, os.WriteFile(options.Path+"-wal", header, 0o600))
	check(t, os.WriteFile(options.Path+"-shm", nil, 0o600))
	begin := time.Now()
	s = must(Open(context.Background(), options))(t)
	defer func() { check(t, s.Close()) }()
	if took := time.Since(begin); took > 5*time.Second {
		t.Errorf("opening took %v", took)
	}
	if got := must(s.FirstUser(context.Background()))(t).Name; got != "ann" {
		t.Errorf("the first user is %q", got)
	}
}
