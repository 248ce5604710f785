package script

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"
)

// What parent and child say to each other. The child speaks first, a greeting;
// then for each script it is sent two frames, a request and the values, and
// sends one back, an answer.

// greeting is the first frame of a child: it is closed in, or why it is not.
type greeting struct {
	Problem string `json:"problem,omitempty"`
}

// request is the first frame of a script.
type request struct {
	// ID is that of the answer, too: an answer to another request is a sign
	// that the child is not ours any more.
	ID      string        `json:"id"`
	Source  string        `json:"source"`
	Timeout time.Duration `json:"timeout"`
	Memory  int64         `json:"memory"`
	Now     int64         `json:"now"` // in milliseconds since 1970
	Still   bool          `json:"still"`
	Seed    uint64        `json:"seed,omitempty"`
	Compile bool          `json:"compile,omitempty"` // and no more: nothing of it runs
}

// answer is what became of a script.
type answer struct {
	ID     string          `json:"id"`
	Fault  fault           `json:"fault,omitempty"`
	Syntax *thrown         `json:"syntax,omitempty"` // for faultSyntax
	Report json.RawMessage `json:"report,omitempty"` // what the prelude tells: a report
	// Last says that the child ends, and no other script must be sent.
	Last bool `json:"last,omitempty"`
}

// fault is how a script ended that did not end by itself.
type fault string

const (
	faultTimeout fault = "timeout"
	faultMemory  fault = "memory"
	faultSyntax  fault = "syntax"
	faultCrash   fault = "crash" // the interpreter broke
)

// report is what the prelude tells of a script.
type report struct {
	Ended    bool            `json:"ended"`
	Output   json.RawMessage `json:"output"`
	TooLarge bool            `json:"tooLarge"`
	// Result says that the script ended well, but what it gave back is no JSON.
	Result bool        `json:"result"`
	Thrown *thrown     `json:"thrown"`
	Log    [][2]string `json:"log"` // level and message
}

// thrown is an error of JavaScript.
type thrown struct {
	Name    string `json:"name"`
	Message string `json:"message"`
	Stack   string `json:"stack"`
	Line    int    `json:"line"` // of a syntax error, as the interpreter counts
	Column  int    `json:"column"`
}

const (
	// maxLogLines and maxLogSize bound the log of a script: lines, and UTF-16
	// units in all. The prelude keeps to them, and the parent does not rely on it.
	maxLogLines = 500
	maxLogSize  = 64 << 10
	// maxThrown bounds each text of an error, in UTF-16 units.
	maxThrown = 4 << 10
	// maxAnswer bounds an answer: one UTF-16 unit is at most six bytes in JSON.
	maxAnswer = MaxOutput + 6*(maxLogSize+16*maxLogLines+4*maxThrown) + 4<<10
	// maxRequest bounds a request: a byte of source is at most six in JSON.
	maxRequest = 6*MaxSource + 4<<10
)

// maxValues bounds the values of a script in a child of a size: what is larger
// as text does not fit as values, either.
func maxValues(size int64) int { return int(size * DefaultMemory / 2) }

// layout of the text around a source: a line before it and one behind.
const (
	// wrapperCheck is compiled, not run. Only a colon may follow the body in it,
	// and none may in wrapperRun: so a source that closes the function by itself
	// fits into one of them at most.
	wrapperCheck, wrapperCheckEnd = "0 ? async (input, inputData, variables, nodes) => {\n", "\n} : 0"
	wrapperRun, wrapperRunEnd     = "(async (input, inputData, variables, nodes) => {\n", "\n})"
	wrapperLines                  = 1 // before the source
)

// A frame is a length of four bytes, the highest first, and that many bytes.
// Both sides say how much they take before they read: a length is a claim of
// somebody who may lie.

// errFrame is a frame that breaks its bound; whoever sent it is not to be
// listened to any more.
var errFrame = errors.New("a frame is too large")

// readFrame reads one frame of at most a number of bytes. It uses the room of
// buffer where that is enough. At the end of the stream it gives io.EOF, in the
// middle of a frame io.ErrUnexpectedEOF.
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

// writeFrame writes one frame.
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
