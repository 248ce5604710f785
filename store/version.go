package store

import (
	"fmt"
	"strconv"
	"strings"

	"blueprintd/blueprint"
)

// version is a blueprint's version number: major, minor, patch.
type version [3]uint64

// parseVersion reads "1.2.3": three numbers without leading zeros, of at most
// nine digits each, and nothing else.
func parseVersion(text string) (v version, ok bool) {
	parts := strings.Split(text, ".")
	if len(parts) != len(v) {
		return v, false
	}
	for i, part := range parts {
		n, err := strconv.ParseUint(part, 10, 64)
		if err != nil || len(part) > 9 || strconv.FormatUint(n, 10) != part {
			return v, false
		}
		v[i] = n
	}
	return v, true
}

func (v version) String() string { return fmt.Sprintf("%d.%d.%d", v[0], v[1], v[2]) }

func (v version) above(other version) bool {
	for i := range v {
		if v[i] != other[i] {
			return v[i] > other[i]
		}
	}
	return false
}

// nextVersion gives the version after a change: the one that was asked for,
// when it is higher than the present; else a higher minor number when the map
// or the variables changed, and a higher patch number when only the rest did.
func nextVersion(present string, asked *string, content bool) (string, error) {
	now, ok := parseVersion(present)
	if !ok {
		return "", fmt.Errorf("the stored version %q is malformed", present)
	}
	switch {
	case asked != nil:
		next, ok := parseVersion(*asked)
		if !ok {
			return "", versionIssue(`must be three numbers such as "1.2.0"`)
		}
		if !next.above(now) {
			return "", versionIssue("must be higher than the present " + present)
		}
		return next.String(), nil
	case content:
		return version{now[0], now[1] + 1, 0}.String(), nil
	default:
		return version{now[0], now[1], now[2] + 1}.String(), nil
	}
}

func versionIssue(message string) error {
	return &blueprint.Error{
		Code: blueprint.CodeBadRequest, Message: "version: " + message,
		Issues: []blueprint.Issue{{Path: []any{"version"}, Message: message}},
	}
}
