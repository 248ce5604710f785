// Package agents implements the tools of /mcp with which a language model builds
// blueprints: it reads the node types, writes drafts by patches, runs them in a sandbox,
// tests them, reads runs, and proposes a draft for publishing.
//
// A tool is a sequence of procedures that are called as the caller, with the scopes of
// their key, so that a tool can do only what the key can do through the API. Tools change
// only drafts: blueprints with the tag blueprint.TagDraft that nothing starts. A person
// confirms in the dashboard what a draft changes.
//
// The results are bounded in size, because a model reads all of them.
package agents
