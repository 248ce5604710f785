// Package recording reads, writes and plays back files that contain one run: *.run.json,
// and *.cassette.json with only its traffic.
//
// A run file has the blueprint as it ran, the record of the run and, if the run was
// recorded, its exchanges with other services, so that the run can be inspected and
// repeated elsewhere without these services. TestFiles turns it into a blueprint
// file, a test file and a cassette.
//
// A file contains no secrets: the server masks those that it knows, and this package
// redacts values that look like credentials; see secret.Redact. The same run produces the
// same bytes.
//
// A cassette holds the exchanges of a run with other services. A Player replaces
// the network by a cassette.
//
// A cassette is JSON:
//
//	{"format": "blueprintd-cassette/1",
//	 "exchanges": [ ...blueprint.Exchange ],
//	 "connections": {id: {"name", "type", "config"}}}
//
// The connections hold no secrets. "***", alone or inside a text, replaces a secret
// and matches anything.
//
// # Matching requests
//
// A request of a node is answered from the exchanges of the node's address, in order: by
// the first unused one with the same method and URL, otherwise by the first unused one. A
// node without any is answered by any unused exchange of the same method and URL. Each
// exchange is used once. Any further request fails with code not_recorded.
package recording
