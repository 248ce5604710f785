// Package clients holds the description of the interface from which clients in any
// language are made.
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

// OpenAPI returns openapi.json, which the server answers at GET /openapi.json. The tests
// of tests/api compare it with the procedures and routes; make goldens writes it, and
// openapi.json.gz, which is what the executable carries.
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
