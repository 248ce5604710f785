// Package clients contains the Go client and the npm package, which the executable writes
// into other projects, and the OpenAPI description for clients in other languages.
package clients

import (
	"bytes"
	"compress/gzip"
	_ "embed"
	"io"
	"sync"
)

//go:embed openapi.json.gz
var packed []byte

// OpenAPI returns openapi.json, which the server serves at GET /openapi.json. Tests in
// tests/api compare it with the procedures and routes; make goldens writes it and
// openapi.json.gz, which the executable embeds.
var OpenAPI = sync.OnceValue(func() []byte {
	reader, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		panic(err) // the file is part of the program
	}
	document, err := io.ReadAll(reader)
	if err != nil {
		panic(err)
	}
	return document
})
