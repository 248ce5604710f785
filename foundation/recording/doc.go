// Package recording knows the file that holds one run: *.run.json. It has the
// blueprint as it ran, the record of the run and, if the run was recorded, what
// it exchanged with other services, so that somebody else can look at it, or
// repeat it without any of these services.
//
// A file holds no secret: those that the server knows of are masked before, and
// what only looks like a credential, by its name or its shape, is taken out here;
// see secret.Redact. The same run gives the same bytes.
//
// From a file a test can be made: a blueprint file, a test file and a cassette.
package recording
