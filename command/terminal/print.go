package terminal

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"unicode/utf16"

	"blueprintd/blueprint"
)

// JSON prints a value for programs, with the characters escaped that would do
// something to a terminal.
func JSON(out io.Writer, value any) error {
	data, err := blueprint.EncodeIndented(value)
	if err != nil {
		return err
	}
	_, err = io.WriteString(out, escaped(string(data)))
	return err
}

// escaped returns the same JSON without the characters in its texts that would do
// something to a terminal.
func escaped(text string) string {
	if !strings.ContainsFunc(text, disturbsJSON) {
		return text
	}
	var out strings.Builder
	for _, r := range text {
		if !disturbsJSON(r) {
			out.WriteRune(r)
			continue
		}
		for _, unit := range utf16.AppendRune(nil, r) {
			fmt.Fprintf(&out, `\u%04x`, unit)
		}
	}
	return out.String()
}

// disturbsJSON leaves out the line breaks between the values.
func disturbsJSON(r rune) bool { return r != '\n' && blueprint.IsUnprintable(r) }

// Table prints rows, the first of which is the head, in aligned columns.
func Table(out io.Writer, rows [][]string) error {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, row := range rows {
		for i := range row {
			row[i] = blueprint.OneLine(row[i]) // users chose their names
		}
		if _, err := fmt.Fprintln(table, strings.Join(row, "\t")); err != nil {
			return err
		}
	}
	return table.Flush()
}
