package document

import (
	"regexp"
	"strings"
	"unicode/utf8"
)

// mistake is a slip of YAML that people often make, and what to say about it.
type mistake struct {
	said string // how the parser's words about it begin
	// line, of which mark is the wrong part; it has the place that the parser
	// names, or stands right before it.
	line *regexp.Regexp
	tell func(key, mark string) string
}

var mistakes = []mistake{
	{"could not find flow map content", regexp.MustCompile(`(?P<mark>\{\{.*)`), func(key, mark string) string {
		return "a template needs quotes: " + key + quoted(mark)
	}},
	{"mapping value is not allowed", regexp.MustCompile(`(?P<mark>[^\s"'\[{|>&*!#-]\S*.*:(\s.*)?)$`), func(key, _ string) string {
		return `a text with ": " in it needs quotes: ` + key + "'...'"
	}},
	{"found character '\t'", regexp.MustCompile(`^ *(?P<mark>\t+)`), func(string, string) string {
		return "YAML is indented with spaces: here stands a tab"
	}},
	{"'", regexp.MustCompile("(?P<mark>[@`].*)$"), func(key, mark string) string {
		return "a text that begins with " + mark[:1] + " needs quotes: " + key + "'...'"
	}},
	{"value is not allowed in this context. map key-value is pre-defined", regexp.MustCompile(`: +(?P<mark>\*.*)$`), func(key, _ string) string {
		return "a text that begins with * needs quotes: " + key + "'...'"
	}},
}

// keyBefore is the key whose value stands behind it.
var keyBefore = regexp.MustCompile(`(?:^|[\s{,])([A-Za-z0-9_-]{1,40}): *$`)

// plainly gives words of ours to an error of the parser about a common slip,
// which points at the slip itself.
func (s *source) plainly(err *SyntaxError) *SyntaxError {
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
		if !strings.HasPrefix(err.Message, m.said) {
			continue
		}
		from := max(0, min(column, len(line))-1)
		if m.line.String()[0] == '^' || m.said[0] == 'v' {
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
		return &SyntaxError{Position: Position{err.Line, utf8.RuneCount(line[:at]) + 1}, Message: m.tell(key, mark)}
	}
	return err
}

// unclosed matches what the parser says of braces and brackets that do not end.
var unclosed = regexp.MustCompile(`^(could not find flow mapping end token|sequence end token .* not found|',' or .* must be specified)`)

// commentedEnd is a line with a comment that looks like a part of a value, and that
// holds the end of the braces or brackets around it.
var commentedEnd = regexp.MustCompile(`^(?:"[^"]*"|'[^']*'|[^"'#])*[ \t](#[^\s#!-].*([}\]]).*)$`)

// cutEnd returns an error of ours for braces or brackets whose end a comment cut
// off; nil when it is something else. The parser names the line where they begin, or
// the one behind.
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

// quoted returns a template in the quotes that it needs; what follows it is left out.
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
