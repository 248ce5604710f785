package triggers

import (
	"runtime/debug"
	"testing"

	"go.uber.org/goleak"

	"blueprintd/tests/process"
)

func TestMain(m *testing.M) {
	debug.SetGCPercent(400) // the tests hold little
	if err := process.MoreParallel(4); err != nil {
		panic(err)
	}
	goleak.VerifyTestMain(m)
}
