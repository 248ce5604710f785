package command

import (
	"fmt"
	"io"
	"os"
	"runtime/pprof"

	"blueprintd/blueprint"
	"blueprintd/foundation/fileio"
)

// cpuProfile names the environment variable of a developer's tool: the file
// that gets a CPU profile of the whole process, for `go tool pprof`. It is read
// once, before anything else, and there is no flag and no address for it: who
// can set it can start the program, and nobody who talks to it can. The profile
// is complete when the process ends by itself or at the first SIGTERM.
const cpuProfile = "BLUEPRINTD_CPU_PROFILE"

// profiled does the program's work, under a CPU profile when path names a file,
// and gives its exit code. A file that exists is left alone: a variable that
// stayed in the environment must not empty what it names.
func profiled(path string, stderr io.Writer, work func() int) int {
	if path == "" {
		return work()
	}
	file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return report(stderr, usage("name a file that does not exist yet, or unset it", "%s %s: %v", cpuProfile, path, fileio.Cause(err)))
	}
	if err := pprof.StartCPUProfile(file); err != nil {
		file.Close()
		return report(stderr, blueprint.Hinted("unset "+cpuProfile, "cannot profile: %v", err))
	}
	code := work()
	pprof.StopCPUProfile()
	if err := file.Close(); err != nil {
		fmt.Fprintf(stderr, "%s: the profile %s is incomplete: %v\n", cpuProfile, path, fileio.Cause(err))
		code = max(code, 1)
	}
	return code
}
