// Package describe writes down the interface as the code has it: the procedures and
// routes as an OpenAPI document, the procedures as a TypeScript type and as a list.
// The results are files of the repository, so that every change of the interface shows
// in review; make goldens writes them, and tests compare them. The server serves the
// OpenAPI document from clients/openapi.json.
package describe
