package process

import (
	"flag"
	"strconv"
)

// MoreParallel lets a package run n tests in parallel, unless -parallel is set. It is for
// the TestMain of a package whose tests mostly wait for disks or other processes.
func MoreParallel(n int) error {
	flag.Parse()
	const parallel = "test.parallel"
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == parallel })
	if given {
		return nil
	}
	return flag.Set(parallel, strconv.Itoa(n))
}
