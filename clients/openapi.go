// Package clients holds the description of the interface from which clients in any
// language are made.
package clients

import _ "embed"

// OpenAPI is openapi.json, which the server answers at GET /openapi.json. The tests
// of tests/api compare it with the procedures and routes; make goldens writes it.
//
//go:embed openapi.json
var OpenAPI []byte
