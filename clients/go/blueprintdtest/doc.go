// Package blueprintdtest starts a separate blueprintd server for each test: a process on a
// free loopback port that keeps everything in memory, has a known API key, and whose clock
// advances only when the test moves it. It starts in milliseconds, so each test can have
// its own:
//
//	func TestGreeting(t *testing.T) {
//		server := blueprintdtest.Start(t)
//		id := server.CreateFile("testdata/greeting.blueprint.yaml")
//		run := server.ExecuteWith(id, blueprintdtest.Input{InputData: map[string]any{"name": "Ada"}})
//		if run.Status != "completed" {
//			t.Errorf("the run is %s: %+v", run.Status, run.Error)
//		}
//	}
//
// The server ends with the test. It also ends when the test's process ends for any reason,
// because it runs only while a pipe from that process is open.
//
// The program is searched for in this order: option Binary, the environment variable
// BLUEPRINTD_BINARY, blueprintd on the PATH.
//
// Methods of Server that return no error end the test on failure, like t.Fatal, and must be
// called from the test's goroutine. Query and Mutate may be called from any goroutine. The
// package needs only the standard library.
package blueprintdtest
