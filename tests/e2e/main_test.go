package e2e

import (
	"flag"
	"fmt"
	"os"
	"testing"

	"blueprintd/tests/process"
)

// thorough asks for as many repetitions as make check runs: seeded calls over a month and
// on more processors, and many kills.
var thorough = flag.Bool("thorough", false, "repeat seeded calls and kills as often as make check does")

func TestMain(m *testing.M) {
	if err := process.MoreParallel(6); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}
