// Package blueprintdtest gives the tests of a program a blueprintd server of
// their own: a process on a free port of this machine that keeps everything in
// memory, has a known API key, and whose clock stands still until the test moves
// it. It starts in milliseconds, so each test can have one:
//
//	func TestGreeting(t *testing.T) {
//		server := blueprintdtest.Start(t)
//		id := server.CreateFile("testdata/greeting.blueprint.yaml")
//		run := server.Execute(id, map[string]any{"name": "Ada"})
//		if run.Status != "completed" {
//			t.Errorf("the run is %s: %+v", run.Status, run.Error)
//		}
//	}
//
// The server ends with the test. It also ends when the test's process does,
// however that goes: it lives only as long as a pipe that the process holds.
//
// The program is found in this order: option Binary, the environment variable
// BLUEPRINTD_BINARY, blueprintd on the PATH. Where there is none it is built, once
// for each process, from the module blueprintd that go.mod of the test names.
//
// The module has no address from which go get could fetch it: name its folder in
// go.mod, and run go mod tidy.
//
//	require blueprintd v0.0.0
//	replace blueprintd => ../blueprintd
//
// Methods of Server that return no error end the test when something goes wrong,
// as t.Fatal does, and so are for the test's own goroutine. Query and Mutate are
// for every goroutine. The package needs the standard library alone.
package blueprintdtest
