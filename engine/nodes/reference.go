package nodes

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"blueprintd/blueprint"
	expressions "blueprintd/blueprint/expression"
)

// references returns what the expressions of a config refer to.
func (s *shape) references(object map[string]any, path []any) (refs []blueprint.Reference) {
	for i := range s.fields {
		f := &s.fields[i]
		value, at := object[f.key], append(slices.Clone(path), f.key)
		switch f.kind {
		case expressionField, itemsField:
			text, _ := value.(string)
			source, before := bareExpression(text)
			compiled, err := expressions.CompileExpression(source)
			if err != nil {
				continue
			}
			for _, ref := range compiled.References() {
				if ref.Path = at; ref.Spot.Line == 1 {
					ref.Spot.Column += before
				}
				refs = append(refs, ref)
			}
		case sourceField:
			source, _ := value.(string)
			refs = append(refs, variablesIn(source, at)...)
		case listField:
			list, _ := value.([]any)
			for i, element := range list {
				if object, ok := element.(map[string]any); ok {
					refs = append(refs, f.elements.references(object, append(slices.Clone(at), i))...)
				}
			}
		}
	}
	return refs
}

// variablesPattern matches uses of variables in a program, with the name if it is literal.
var variablesPattern = regexp.MustCompile("\\bvariables\\b(?:\\s*\\??\\.\\s*([A-Za-z0-9_]+)|\\s*(?:\\?\\.)?\\[\\s*[\"'`]([A-Za-z0-9_]+)[\"'`]\\s*\\])?")

// variablesIn returns the variables that a program uses. A missing one is undefined.
func variablesIn(source string, at []any) (refs []blueprint.Reference) {
	for _, match := range variablesPattern.FindAllStringSubmatch(source, -1) {
		refs = append(refs, blueprint.Reference{Path: at, Name: cmp.Or(match[1], match[2], blueprint.AnyVariable), Optional: true})
	}
	return refs
}

// bareExpression removes the braces around an expression; before is how many characters
// precede the rest on its first line.
func bareExpression(text string) (source string, before int) {
	begin := len(text) - len(strings.TrimLeft(text, " \t\r\n"))
	inner, ok := strings.CutPrefix(text[begin:], "{{")
	if !ok {
		return text, 0
	}
	inner, ok = strings.CutSuffix(strings.TrimRight(inner, " \t\r\n"), "}}")
	if !ok {
		return text, 0
	}
	begin += len("{{")
	source, ok = strings.CutPrefix(inner, "=")
	if ok {
		begin++
	}
	if strings.Contains(text[:begin], "\n") {
		return source, begin - 1 - strings.LastIndex(text[:begin], "\n")
	}
	return source, begin
}
