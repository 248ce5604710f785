package document

import (
	"fmt"

	"github.com/goccy/go-yaml/token"

	"blueprintd/blueprint"
)

// The YAML parser takes quadratic time and memory in the nesting of values, in the
// members of a block mapping, in the length of the names above a value, and in the number of
// documents. These checks reject an expensive text in linear time.
const (
	maxEffort = 256 << 20 // approximate bytes that the parser may copy
	maxTags   = 8         // in a row
	maxMarks  = 8         // dashes, question marks and colons of one entry within brackets
	maxEnds   = 100       // lines that end a document or begin one
)

// crowded returns the offset of the first of too many indicators of YAML values, or -1.
func crowded(data []byte) int {
	count := 0
	for i, c := range data {
		switch c {
		case ',', '[', ']', '{', '}', '\n', '&', '*', '!', '"', '\'':
			count++
		case '-', '?', ':':
			if i+1 < len(data) && (data[i+1] == ' ' || data[i+1] == '\t') {
				count++
			}
		}
		if count > MaxValues {
			return i
		}
	}
	return -1
}

// frame is an object or array around the current token.
type frame struct {
	flow    bool
	column  int // of its members or dashes, in block style
	members int
	path    int // length of the names above
	name    int // length of the last name in it
	marks   int // of the current entry, if flow: each may nest a value
}

func tooDeep(at Position) *SyntaxError {
	return &SyntaxError{Position: at, Message: fmt.Sprintf("nested deeper than %d levels", blueprint.MaxDepth)}
}

// bounded rejects tokens that would cost the parser too much. It may count one level
// too many; the walk over the parsed values is exact.
func bounded(tokens token.Tokens) *SyntaxError {
	stack := []frame{{}}
	effort, tags, ends := 0, 0, 0
	var before *token.Token
	for _, t := range tokens {
		if t.Type == token.CommentType {
			continue
		}
		at := Position{t.Position.Line, t.Position.Column}
		begins := before == nil || before.Position.Line != at.Line || before.Type == token.SequenceEntryType || before.Type == token.MappingKeyType
		if begins && !stack[len(stack)-1].flow {
			for len(stack) > 1 && stack[len(stack)-1].column > at.Column {
				stack = stack[:len(stack)-1]
			}
			if top := stack[len(stack)-1]; top.column < at.Column {
				stack = append(stack, frame{column: at.Column, path: top.path + top.name})
			}
		}
		top := &stack[len(stack)-1]
		tags++
		switch t.Type {
		case token.SequenceStartType, token.MappingStartType:
			stack = append(stack, frame{flow: true, path: top.path + top.name})
		case token.SequenceEndType, token.MappingEndType:
			if top.flow {
				stack = stack[:len(stack)-1]
			}
		case token.CollectEntryType:
			top.marks = 0
		case token.SequenceEntryType, token.MappingKeyType:
			top.marks++
		case token.MappingValueType:
			top.marks++
			if before != nil {
				top.name = len(before.Value)
			}
			if top.members++; !top.flow {
				effort += 8 * top.members
			}
		case token.DocumentHeaderType, token.DocumentEndType:
			stack = []frame{{}}
			ends++
		}
		if t.Type != token.TagType {
			tags = 0
		}
		effort += stack[len(stack)-1].path + stack[len(stack)-1].name
		switch {
		case len(stack)-1 > blueprint.MaxDepth+1:
			return tooDeep(at)
		case top.flow && top.marks > maxMarks:
			return &SyntaxError{Position: at, Message: "too many values in one entry within brackets"}
		case ends > maxEnds:
			return &SyntaxError{Position: at, Message: "too many documents in one file"}
		case tags > maxTags:
			return &SyntaxError{Position: at, Message: "too many tags in a row"}
		case effort > maxEffort:
			return &SyntaxError{Position: at, Message: "too large to read: too many members in one mapping, or too long names"}
		}
		before = t
	}
	return nil
}
