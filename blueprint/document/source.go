package document

import (
	"bytes"
	"sort"
	"sync"
	"unicode/utf8"
)

// source converts between positions and offsets of a text. Its index is built on first
// use, because a file may be one line of many megabytes. It is safe for concurrent
// use.
type source struct {
	data   []byte
	once   sync.Once
	starts []int32 // offsets of the lines
	counts []int32 // of the characters that begin before each block
}

const blockSize = 1024

func (s *source) gather() {
	s.once.Do(func() {
		s.starts = make([]int32, 1, 1+bytes.Count(s.data, []byte("\n")))
		s.counts = make([]int32, 0, len(s.data)/blockSize+1)
		count := int32(0)
		for i, c := range s.data {
			if i%blockSize == 0 {
				s.counts = append(s.counts, count)
			}
			if utf8.RuneStart(c) {
				count++
			}
			if c == '\n' {
				s.starts = append(s.starts, int32(i+1)) // MaxSize bounds it
			}
		}
		if len(s.data)%blockSize == 0 {
			s.counts = append(s.counts, count)
		}
	})
}

// line returns a line without its end, nil beyond the last.
func (s *source) line(number int) []byte {
	s.gather()
	if number < 1 || number > len(s.starts) {
		return nil
	}
	line := s.data[s.starts[number-1]:s.end(number)]
	return bytes.TrimSuffix(line, []byte("\r"))
}

func (s *source) end(number int) int {
	if number < len(s.starts) {
		return int(s.starts[number]) - 1
	}
	return len(s.data)
}

// before counts the characters that begin before an offset.
func (s *source) before(offset int) int {
	block := offset / blockSize
	count := int(s.counts[block])
	for _, c := range s.data[block*blockSize : offset] {
		if utf8.RuneStart(c) {
			count++
		}
	}
	return count
}

// offset returns the offset of a position; ok is false if the line has no such column.
// The column after its last character is valid.
func (s *source) offset(at Position) (offset int, ok bool) {
	s.gather()
	if at.Line < 1 || at.Line > len(s.starts) || at.Column < 1 || at.Column > len(s.data)+1 {
		return 0, false
	}
	want := s.before(int(s.starts[at.Line-1])) + at.Column - 1
	block := max(0, sort.Search(len(s.counts), func(i int) bool { return int(s.counts[i]) > want })-1)
	count := int(s.counts[block])
	for offset = block * blockSize; offset < len(s.data); offset++ {
		if utf8.RuneStart(s.data[offset]) {
			if count == want {
				break
			}
			count++
		}
	}
	return offset, count == want && offset <= s.end(at.Line)
}

func (s *source) position(offset int) Position {
	s.gather()
	offset = min(offset, len(s.data))
	line := sort.Search(len(s.starts), func(i int) bool { return int(s.starts[i]) > offset })
	return Position{line, s.before(offset) - s.before(int(s.starts[line-1])) + 1}
}

// clamp returns the nearest position in the text. The parser's position of an empty
// value may be after the end of the line.
func (s *source) clamp(at Position) Position {
	if _, ok := s.offset(at); ok {
		return at
	}
	s.gather()
	at.Line = min(max(at.Line, 1), len(s.starts))
	return s.position(s.end(at.Line))
}
