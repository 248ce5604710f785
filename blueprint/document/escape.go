package document

import (
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

var escapes = map[byte]rune{
	'0': 0, 'a': '\a', 'b': '\b', 't': '\t', '\t': '\t', 'n': '\n', 'v': '\v', 'f': '\f', 'r': '\r', 'e': 0x1b, ' ': ' ', '"': '"', '/': '/', '\\': '\\',
	'N': 0x85, '_': 0xa0, 'L': 0x2028, 'P': 0x2029, '\n': ' ', '\r': ' ',
}

// escaped reads an escape of a text in double quotes, JSON's or YAML's; size 0
// means that it is none.
func escaped(text []byte) (r rune, size int) {
	if len(text) < 2 {
		return 0, 0
	}
	digits := map[byte]int{'x': 2, 'u': 4, 'U': 8}[text[1]]
	if digits == 0 {
		if r, ok := escapes[text[1]]; ok {
			return r, 2
		}
		r, size = utf8.DecodeRune(text[1:])
		return r, 1 + size
	}
	if r, size = hex(text, digits); size > 0 && utf16.IsSurrogate(r) && len(text) > size+1 && text[size] == '\\' && text[size+1] == 'u' {
		if low, more := hex(text[size:], 4); more > 0 {
			return utf16.DecodeRune(r, low), size + more
		}
	}
	return r, size
}

// hex reads the digits of \x, \u and \U.
func hex(text []byte, digits int) (r rune, size int) {
	if len(text) < 2+digits {
		return 0, 0
	}
	code, err := strconv.ParseUint(string(text[2:2+digits]), 16, 32)
	if err != nil || code > utf8.MaxRune {
		return 0, 0
	}
	return rune(code), 2 + digits
}
