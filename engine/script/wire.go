package script

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"
)

// Protocol between parent and child: the child sends a greeting; then for each script
// it receives two frames, a request and the values, and sends one back, an answer.

// greeting reports that the child is confined, or why it is not.
type greeting struct {
	Problem string `json:"problem,omitempty"`
}

type request struct {
	// ID is repeated in the answer; an answer to another request is a sign that the
	// child was taken over.
	ID      string        `json:"id"`
	Source  string        `json:"source"`
	Timeout time.Duration `json:"timeout"`
	Memory  int64         `json:"memory"`
	Now     int64         `json:"now"` // in milliseconds since 1970
	Still   bool          `json:"still"`
	Seed    uint64        `json:"seed,omitempty"`
	Compile bool          `json:"compile,omitempty"` // run nothing
}

type answer struct {
	ID     string          `json:"id"`
	Fault  fault           `json:"fault,omitempty"`
	Syntax *thrown         `json:"syntax,omitempty"` // of faultSyntax
	Report json.RawMessage `json:"report,omitempty"` // a report
	// Last says that the child exits.
	Last bool `json:"last,omitempty"`
}

// fault is why a script did not end by itself.
type fault string

const (
	faultTimeout fault = "timeout"
	faultMemory  fault = "memory"
	faultSyntax  fault = "syntax"
	faultCrash   fault = "crash" // the interpreter panicked
)

// report is the prelude's report about a script.
type report struct {
	Ended    bool            `json:"ended"`
	Output   json.RawMessage `json:"output"`
	TooLarge bool            `json:"tooLarge"`
	// Result says that the script ended well, but its result is not JSON.
	Result bool        `json:"result"`
	Thrown *thrown     `json:"thrown"`
	Log    [][2]string `json:"log"` // level and message
}

// thrown is a JavaScript error.
type thrown struct {
	Name    string `json:"name"`
	Message string `json:"message"`
	Stack   string `json:"stack"`
	Line    int    `json:"line"` // of a syntax error
	Column  int    `json:"column"`
}

const (
	// maxLogLines and maxLogSize bound the log of a script: lines, and UTF-16 units in
	// all. The prelude enforces them; the parent does not rely on it.
	maxLogLines = 500
	maxLogSize  = 64 << 10
	// maxThrown bounds each text of an error, in UTF-16 units.
	maxThrown = 4 << 10
	// maxAnswer bounds an answer: a UTF-16 unit is at most six bytes in JSON.
	maxAnswer = MaxOutput + 6*(maxLogSize+16*maxLogLines+4*maxThrown) + 4<<10
	// maxRequest bounds a request: a byte of source is at most six in JSON.
	maxRequest = 6*MaxSource + 4<<10
)

// maxValues bounds the values of a script in a child of a size: what is larger as text
// does not fit as values either.
func maxValues(size int64) int { return int(size * DefaultMemory / 2) }

// Wrappers of a source: a line before it and one after.
const (
	// wrapperCheck is only compiled. In it a colon must follow the body, in wrapperRun
	// none may: a source that closes the function early compiles in at most one.
	wrapperCheck, wrapperCheckEnd = "0 ? async (input, inputData, variables, nodes) => {\n", "\n} : 0"
	wrapperRun, wrapperRunEnd     = "(async (input, inputData, variables, nodes) => {\n", "\n})"
	wrapperLines                  = 1 // before the source
)

// A frame is a big-endian length of four bytes and that many bytes. The length is not
// trusted: both sides bound it before they read.

var errFrame = errors.New("a frame is too large")

// readFrame reads one frame of at most most bytes, into buffer if it fits. At the end
// of the stream it returns io.EOF, within a frame io.ErrUnexpectedEOF.
func readFrame(r io.Reader, buffer []byte, most int) ([]byte, error) {
	var head [4]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return nil, err
	}
	length := binary.BigEndian.Uint32(head[:])
	if uint64(length) > uint64(most) {
		return nil, fmt.Errorf("%w: %d bytes of at most %d", errFrame, length, most)
	}
	if int(length) > cap(buffer) {
		buffer = make([]byte, length)
	}
	buffer = buffer[:length]
	if _, err := io.ReadFull(r, buffer); err != nil {
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return nil, err
	}
	return buffer, nil
}

func writeFrame(w io.Writer, data []byte) error {
	if uint64(len(data)) > 1<<32-1 {
		return errFrame
	}
	var head [4]byte
	binary.BigEndian.PutUint32(head[:], uint32(len(data)))
	if _, err := w.Write(head[:]); err != nil {
		return err
	}
	_, err := w.Write(data)
	return err
}
