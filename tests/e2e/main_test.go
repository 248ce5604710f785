package e2e

import (
	"flag"
	"fmt"
	"os"
	"testing"
)

// thorough asks for as many repetitions as make check runs: seeded calls over a month and
// on more processors, and many kills.
var thorough = flag.Bool("thorough", false, "repeat seeded calls and kills as often as make check does")

// TestMain runs more tests in parallel than there are processors, unless -parallel is
// set: the tests mostly wait for other processes.
func TestMain(m *testing.M) {
	flag.Parse()
	const parallel = "test.parallel"
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == parallel })
	if !given {
		if err := flag.Set(parallel, "6"); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	os.Exit(m.Run())
}
