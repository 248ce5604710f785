// Package recording reads, writes and plays back the files that hold one run:
// *.run.json, and *.cassette.json with its traffic alone.
//
// A run file has the blueprint as it ran, the record of the run and, if the run was recorded, what
// it exchanged with other services, so that somebody else can look at it, or
// repeat it without any of these services.
//
// A file holds no secret: those that the server knows of are masked before, and
// what only looks like a credential, by its name or its shape, is taken out here;
// see secret.Redact. The same run gives the same bytes.
//
// From a file a test can be made: a blueprint file, a test file and a cassette.
//
// A cassette keeps what a run exchanged with other services, and a Player gives it
// back in place of the network, so that the run can be repeated without one.
//
// A cassette is JSON:
//
//	{"format": "blueprintd-cassette/1",
//	 "exchanges": [ ...blueprint.Exchange ],
//	 "connections": {id: {"name", "type", "config"}}}
//
// The connections hold no secrets. What stands as "***", alone or inside a text,
// was a secret when it was recorded, and matches anything.
//
// # Which exchange of a cassette answers
//
// A node is answered from the exchanges of its own address, in their order: with
// the first unused one of the same method and URL, else with the first unused
// one. A node that has none is answered by any unused exchange of the same
// method and URL. Each answers once. What a node asks beyond that fails it with
// the code not_recorded.
package recording
