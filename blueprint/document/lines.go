package document

// lines finds the line and column of an offset. Asked for one offset after the
// other it reads the text once.
type lines struct {
	data   []byte
	offset int      // up to here it has read,
	here   Position // and this is the place
}

func newLines(data []byte) *lines { return &lines{data: data, here: Position{1, 1}} }

// at gives the position of an offset; its column counts characters.
func (l *lines) at(offset int) Position {
	if offset < l.offset {
		*l = *newLines(l.data)
	}
	for offset = min(offset, len(l.data)); l.offset < offset; l.offset++ {
		switch c := l.data[l.offset]; {
		case c == '\n':
			l.here = Position{l.here.Line + 1, 1}
		case c&0xc0 != 0x80: // not the second or a later byte of a character
			l.here.Column++
		}
	}
	return l.here
}
