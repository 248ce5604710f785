// Package describe generates descriptions of the interface from the code: an OpenAPI
// document of the procedures and routes, a TypeScript type and a list of the procedures,
// and pages of the documentation. The results are committed, so that reviews show every
// change of the interface; make goldens writes them, and tests compare them. The server
// serves the OpenAPI document from clients/openapi.json.
package describe
