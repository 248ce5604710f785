// Package testsuite runs the tests of blueprints: it reads test files, replaces external
// services while a blueprint runs, compares the run with the expectations, and reports the
// results.
//
// A test file is named *.test.yaml or *.test.json:
//
//	blueprint: order.blueprint.yaml        # relative to the test file
//	blueprints: {UUID: path}               # blueprints that nodes run, by id
//	tests:
//	  - name: a large order is approved
//	    variables: {limit: 100}
//	    inputData: {total: 500}
//	    clock: 2030-01-31T09:00:00Z        # start of the virtual clock, by default 2000-01-01T00:00:00Z
//	    cassette: order.cassette.json      # a recording that answers requests without a stub
//	    connections: {crm: {type: http, config: {}}}   # by name, as in references, or by id
//	    stubs:
//	      approve: {output: {approved: true}}
//	      api.example.com: {status: 200, body: {ok: true}}
//	    expect:
//	      status: completed
//
// A required secret variable that a test does not set has a fixed placeholder (1 for a
// number, true for a boolean), so that test files contain no secrets.
//
// # Stubs
//
// The key of a stub is the address of a node (its id; loop[3]/inner, or
// loop[*]/inner for every item), or a host ("api.example.com", "*.example.com",
// optionally with a port). A stub of a node takes precedence over one of its host, an
// item number over [*], and an exact host over a pattern. A stub is one of
//
//	{"output": value, "handle"?: name}   replaces the work of the node. For human and
//	                                     approval-gate nodes the output is the answer,
//	                                     and is validated like one. Without output, the
//	                                     node passes its input on
//	{"status", "headers"?, "body"?}      answers HTTP requests; for mail, 250 accepts it
//	{"error": text}                      fails the node, or makes the host unreachable
//
// each with "times" (the number of answers, unlimited by default) and "delayMs" (real time,
// at most a minute), or a list of these, which are used in turn: each once unless it has
// times, the last one without limit. No real service is reached: a request without a stub
// or a recorded answer fails its node, with a message that shows the stub to write.
//
// Nodes of blueprints that are run by nodes can only be stubbed by host.
//
// # Expectations
//
// expect has a status ("completed", "failed" or "paused") and optionally an output, an
// error (the message of the run's error, or a matcher), steps (by address: status,
// output, error), branches (by address: the taken handle) and calls: all outgoing
// requests, each with any of nodeId, method, url, host, headers and body. Calls are in
// the order in which their nodes ended; at the same time of the clock, calls of started
// runs come last. If the order does not matter, calls is an object of
//
//	{"unordered": [...]}    all calls in any order; or
//	{"some": [...]}         some of the calls, each a different one
//	{"none": [...]}         calls that must not happen; alone or with the others
//
// A test without expect, or with an empty one, can only run with "test --update", which
// writes the actual results to the file. Matching expectations and everything else in
// the file stay unchanged. It does not write incomplete tests, such as those without a
// needed stub, or expectations that are shared by an anchor or a merge.
//
// Values are compared exactly, numbers by their value. Objects whose only member
// begins with $ are matchers:
//
//	{"$any": true}          any value that is present
//	{"$exact": {...}}       this value, in which no object is a matcher
//	{"$type": "string"}     any string; also number, boolean, object, array, null
//	{"$match": "regexp"}    a string that matches the expression (RE2)
//	{"$partial": {...}}     an object with at least these members, or an array that
//	                        begins with these elements
//
// The bodies and headers of calls are compared as in $partial.
package testsuite
