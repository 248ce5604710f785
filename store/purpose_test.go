package store

import (
	"context"
	"testing"
	"time"
)

// A database is a sandbox's, or one of a virtual clock, from its first server on.
func TestADatabaseStaysWhatItIs(t *testing.T) {
	const earnest, play, virtual = "is in earnest", "is a sandbox's", "of a virtual clock"
	type kind struct{ sandbox, virtual bool }
	for _, test := range []struct {
		first, then kind
		want        string // "" = it is opened
	}{
		{kind{}, kind{}, ""},
		{kind{sandbox: true}, kind{sandbox: true}, ""},
		{kind{virtual: true}, kind{virtual: true}, ""},
		{kind{true, true}, kind{true, true}, ""},
		{kind{}, kind{sandbox: true}, earnest},
		{kind{}, kind{virtual: true}, ""},
		{kind{sandbox: true}, kind{}, play},
		{kind{virtual: true}, kind{}, virtual},
		{kind{sandbox: true}, kind{virtual: true}, play},
		{kind{sandbox: true}, kind{true, true}, ""},
		{kind{true, true}, kind{sandbox: true}, virtual},
	} {
		options := testOptions(t)
		must(Open(context.Background(), options.as(false, false, false)))(t).Close() // by a tool, which decides nothing
		options = options.as(true, test.first.sandbox, test.first.virtual)
		must(Open(context.Background(), options))(t).Close()
		if test.want != "" {
			wantRefusal(t, options.as(true, test.then.sandbox, test.then.virtual), test.want)
		} else {
			must(Open(context.Background(), options.as(true, test.then.sandbox, test.then.virtual)))(t).Close()
		}
		// What was refused changed nothing, and a tool may look at any.
		must(Open(context.Background(), options))(t).Close()
		tool := must(Open(context.Background(), options.as(false, false, false)))(t)
		if tool.IsSandbox() != test.first.sandbox {
			t.Errorf("%+v: a tool takes it for a sandbox's: %v", test, tool.IsSandbox())
		}
		tool.Close()
	}
	aged := testOptions(t)
	aged.KeepExecutions, aged.KeepFirings, aged.KeepAudit = Keep{Age: time.Hour, Rows: 5}, Keep{Age: time.Hour}, Keep{Age: time.Hour}
	must(Open(context.Background(), aged.as(true, false, false)))(t).Close()
	s := must(Open(context.Background(), aged.as(true, false, true)))(t)
	if o := s.options; o.KeepExecutions != (Keep{Rows: 5}) || !o.KeepFirings.all() || !o.KeepAudit.all() {
		t.Errorf("a virtual clock over real history prunes for age: %+v, %+v, %+v", o.KeepExecutions, o.KeepFirings, o.KeepAudit)
	}
	s.Close()
	memory := testOptions(t).as(true, true, true)
	memory.Ephemeral = true
	if s := must(Open(context.Background(), memory))(t); !s.IsSandbox() {
		t.Error("in memory it is no sandbox")
	} else {
		s.Close()
	}
}

func (o Options) as(server, sandbox, virtual bool) Options {
	o.Server, o.Sandbox, o.VirtualClock = server, sandbox, virtual
	return o
}
