// Command words checks the language of the sources: comments, log messages, error
// texts and pages of documentation. It prints one line for each finding, as
// file:line: phrase (use: a better one), and exits with 1 when there is any:
//
//	go run ./tests/words             # everything
//	go run ./tests/words store docs  # these folders
//
// Its test keeps every log message and every error text in testdata/logs.golden and
// testdata/errors.golden, so that a change of one is seen in review.
package main
