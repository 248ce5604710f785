package smtp

import (
	"bytes"
	"encoding/base64"
	"net/mail"
	"strings"
	"unicode/utf8"
)

const (
	// maxHeaderLine is how long a line may be that holds encoded words.
	maxHeaderLine = 76
	// maxPlainWord is how long a word may be that is written as it is; so a
	// header's name fits beside it.
	maxPlainWord = 60
	// maxEncoded is how many bytes of text one encoded word stands for: 52
	// characters of base64 and 12 around them.
	maxEncoded = 39
)

// writeHeader writes a header with a space between its words, or a new line
// where the next one would not fit.
func writeHeader(out *bytes.Buffer, name string, words []string) {
	out.WriteString(name)
	out.WriteByte(':')
	column := len(name) + 1
	for i, word := range words {
		if i > 0 && column+1+len(word) > maxHeaderLine {
			out.WriteString("\r\n")
			column = 0
		}
		if word != "" || i > 0 {
			out.WriteByte(' ')
			out.WriteString(word)
			column += 1 + len(word)
		}
	}
	out.WriteString("\r\n")
}

// textWords gives a text as the words of a header, encoded (RFC 2047) unless
// everybody reads it as it stands.
func textWords(source string) []string {
	words := strings.Split(source, " ")
	if source == "" {
		return words
	}
	for _, word := range words {
		// Of several spaces, or one at an end, somebody on the way may lose one.
		if word == "" || len(word) > maxPlainWord || strings.Contains(word, "=?") || !isPrintable(word) {
			return encodedWords(source)
		}
	}
	return words
}

// encodedWords gives any text as encoded words, of whole characters each.
func encodedWords(source string) (words []string) {
	source = strings.ToValidUTF8(source, "\uFFFD")
	for source != "" {
		end := min(maxEncoded, len(source))
		for end < len(source) && !utf8.RuneStart(source[end]) {
			end--
		}
		words = append(words, "=?utf-8?b?"+base64.StdEncoding.EncodeToString([]byte(source[:end]))+"?=")
		source = source[end:]
	}
	return words
}

// addressWords gives addresses as the words of a header.
func addressWords(list []mail.Address) (words []string) {
	for i, one := range list {
		address := one.Address
		if one.Name != "" {
			words = append(words, nameWords(one.Name)...)
			address = "<" + address + ">"
		}
		if i < len(list)-1 {
			address += ","
		}
		words = append(words, address)
	}
	return words
}

// nameWords gives the name before an address.
func nameWords(name string) []string {
	if len(name) > maxPlainWord || strings.Contains(name, "=?") || !isPrintable(strings.ReplaceAll(name, " ", "")) {
		return encodedWords(name)
	}
	return []string{`"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(name) + `"`}
}

// isPrintable tells whether a text is of visible ASCII characters.
func isPrintable(source string) bool {
	return !strings.ContainsFunc(source, func(c rune) bool { return c <= ' ' || c >= 0x7f })
}
