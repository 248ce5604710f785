// Package testsuite is the tests that people keep beside their blueprints: it reads
// test files, answers for the outside world while a blueprint runs, judges what
// came of the run, and reports.
//
// A test file is named *.test.yaml or *.test.json:
//
//	blueprint: order.blueprint.yaml        # beside the test file
//	blueprints: {UUID: path}               # those that nodes run, by the id that they name
//	tests:
//	  - name: a large order is approved
//	    variables: {limit: 100}
//	    inputData: {total: 500}
//	    clock: 2030-01-31T09:00:00Z        # where the virtual clock begins; 2000-01-01T00:00:00Z without it
//	    cassette: order.cassette.json      # a recording that answers what no stub does
//	    connections: {crm: {type: http, config: {}}}   # by name, as blueprints refer to them, or by id
//	    stubs:
//	      approve: {output: {approved: true}}
//	      api.example.com: {status: 200, body: {ok: true}}
//	    expect:
//	      status: completed
//
// A secret variable that is required, and that a test does not give, is the text
// "stand-in-for-a-secret" (1 when it is a number, true when it is a boolean): test files are for
// all to read, so secrets stay out of them.
//
// # Stubs
//
// The key of a stub is the address of a node (its id; loop[3]/inner, or
// loop[*]/inner for every item), or a host ("api.example.com", "*.example.com",
// with a port if only that one is meant). A stub of a node is tried before one of
// its host, one with a number before one with [*], and an exact host before a
// pattern. It is one of
//
//	{"output": value, "handle"?: name}   stands for the node's work. For human and
//	                                     approval-gate nodes the output is the answer,
//	                                     and it is judged as one. Without output the
//	                                     node's input is passed on
//	{"status", "headers"?, "body"?}      answers HTTP requests; for mail, 250 takes it
//	{"error": text}                      the node fails, or its host cannot be reached
//
// each with "times" (how often it answers; default for ever) and "delayMs" (real
// time, at most a minute), or a list of these, which answer in turn: each once
// unless it says times, the last for ever. Nothing real is ever reached: what
// neither a stub nor the cassette answers fails its node, and the message shows
// the stub to write.
//
// Nodes of blueprints that nodes run are reached by their hosts alone.
//
// # Expectations
//
// expect holds status ("completed", "failed" or "paused"), and if wanted output,
// error (the text of the run's error, or a matcher), steps (by address: status,
// output, error), branches (by address: the handle that was taken) and calls:
// all the requests that went out, each with what is to be compared of nodeId,
// method, url, host, headers and body. They come in the order in which their
// nodes ended; of one instant of the clock, those of runs that a node started
// come last. Where the order does not matter, calls is an object instead, of
//
//	{"unordered": [...]}    these and no others, in any order; or
//	{"some": [...]}         these, each another call, and perhaps others
//	{"none": [...]}         not one call is like any of these; alone, or beside them
//
// A test that expects nothing yet, without expect or with an empty one, is for
// "test --update" alone. That writes what came of the run: what fits stays as it
// is, and so does everything else in the file. What the test itself lacks, such as
// a stub, is never written, and neither is what is shared by an anchor or a merge.
//
// Values are compared exactly, numbers by their value. Objects whose only member
// begins with $ are matchers instead, wherever they stand:
//
//	{"$any": true}          anything, but it must be there
//	{"$exact": {...}}       this value, in which no object is a matcher
//	{"$type": "string"}     any string; also number, boolean, object, array, null
//	{"$match": "regexp"}    a string in which the expression (RE2) is found
//	{"$partial": {...}}     an object with these members, and perhaps others; an
//	                        array that begins with these elements
//
// The bodies and headers of calls, and the members of a call, are compared as in
// $partial by themselves.
package testsuite
