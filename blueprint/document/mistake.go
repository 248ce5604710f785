package document

import (
	"regexp"
	"strings"
	"unicode/utf8"
)

// mistake is a common YAML mistake and its message.
type mistake struct {
	prefix string // of the parser's message
	// line matches the line; its group mark is the wrong part, at or right before the
	// position of the parser.
	line    *regexp.Regexp
	message func(key, mark string) string
}

var mistakes = []mistake{
	{"could not find flow map content", regexp.MustCompile(`(?P<mark>\{\{.*)`), func(key, mark string) string {
		return "a template needs quotes: " + key + quoted(mark)
	}},
	{"mapping value is not allowed", regexp.MustCompile(`(?P<mark>[^\s"'\[{|>&*!#-]\S*.*:(\s.*)?)$`), func(key, _ string) string {
		return `a text with ": " in it needs quotes: ` + key + "'...'"
	}},
	{"found character '\t'", regexp.MustCompile(`^ *(?P<mark>\t+)`), func(string, string) string {
		return "YAML is indented with spaces, not tabs"
	}},
	{"'", regexp.MustCompile("(?P<mark>[@`].*)$"), func(key, mark string) string {
		return "a text that begins with " + mark[:1] + " needs quotes: " + key + "'...'"
	}},
	{"value is not allowed in this context. map key-value is pre-defined", regexp.MustCompile(`: +(?P<mark>\*.*)$`), func(key, _ string) string {
		return "a text that begins with * needs quotes: " + key + "'...'"
	}},
}

// keyBefore matches the key before a value.
var keyBefore = regexp.MustCompile(`(?:^|[\s{,])([A-Za-z0-9_-]{1,40}): *$`)

// explain replaces an error of the parser by one about a common mistake at the right
// position, if it recognizes one.
func (s *source) explain(err *SyntaxError) *SyntaxError {
	if cut := s.cutEnd(err); cut != nil {
		return cut
	}
	line := s.line(err.Line)
	offset, ok := s.offset(err.Position)
	if len(line) > 10_000 || !ok {
		return err
	}
	column := offset - int(s.starts[err.Line-1])
	for i := range mistakes {
		m := &mistakes[i]
		if !strings.HasPrefix(err.Message, m.prefix) {
			continue
		}
		from := max(0, min(column, len(line))-1)
		if m.line.String()[0] == '^' || m.prefix[0] == 'v' {
			from = 0
		}
		found := m.line.FindSubmatchIndex(line[from:])
		if found == nil || from+found[2] > column {
			continue
		}
		at, mark := from+found[2], string(line[from+found[2]:from+found[3]])
		key := ""
		if named := keyBefore.FindSubmatch(line[:at]); named != nil {
			key = string(named[1]) + ": "
		}
		return &SyntaxError{Position: Position{err.Line, utf8.RuneCount(line[:at]) + 1}, Message: m.message(key, mark)}
	}
	return err
}

// unclosed matches the parser's messages about missing closing brackets.
var unclosed = regexp.MustCompile(`^(could not find flow mapping end token|sequence end token .* not found|',' or .* must be specified)`)

// commentedEnd matches a line whose comment contains the closing bracket of a value.
var commentedEnd = regexp.MustCompile(`^(?:"[^"]*"|'[^']*'|[^"'#])*[ \t](#[^\s#!-].*([}\]]).*)$`)

// cutEnd returns an error for a closing bracket inside a comment, nil for other mistakes.
// The parser reports the line of the opening bracket, or the next one.
func (s *source) cutEnd(err *SyntaxError) *SyntaxError {
	if !unclosed.MatchString(err.Message) {
		return nil
	}
	for number := err.Line; number >= max(1, err.Line-1); number-- {
		line := s.line(number)
		if found := commentedEnd.FindSubmatchIndex(line[:min(len(line), 10_000)]); found != nil {
			return &SyntaxError{Position: Position{number, utf8.RuneCount(line[:found[2]]) + 1}, Message: `the text from " #" on is a comment, the closing "` + string(line[found[4]:found[5]]) + `" too; put the value in quotes if it is part of it`}
		}
	}
	return nil
}

// quoted returns a template in quotes, without the text after it.
func quoted(text string) string {
	end := strings.Index(text, "}}")
	if end < 0 || end > 60 {
		return "'{{...}}'"
	}
	more := ""
	if rest := strings.TrimLeft(text[end+2:], " },]"); rest != "" && rest[0] != '#' {
		more = " ..."
	}
	return "'" + strings.ReplaceAll(text[:end+2], "'", "''") + more + "'"
}
