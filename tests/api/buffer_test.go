package api

import "blueprintd/tests/process"

func containsAll(text string, parts ...string) bool { return process.ContainsAll(text, parts...) }
