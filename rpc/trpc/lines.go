package trpc

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"blueprintd/foundation/clock"
)

// writePatience is how long, in real time, one piece of a stream may take to
// leave before its client counts as gone.
const writePatience = 30 * time.Second

// pieces writes an answer piece by piece, each sent at once.
type pieces struct {
	writer  http.ResponseWriter
	control *http.ResponseController
}

func newPieces(w http.ResponseWriter) *pieces {
	return &pieces{writer: w, control: http.NewResponseController(w)}
}

// send writes one piece and sends it off. The deadline is on real time, as
// all of a connection is; a writer that has none does without.
func (p *pieces) send(piece []byte) error {
	_ = p.control.SetWriteDeadline(clock.Real{}.Now().Add(writePatience))
	if _, err := p.writer.Write(piece); err != nil {
		return err
	}
	return p.control.Flush()
}

// serveLines answers a batch as JSON lines. The first names the chunk in which
// each call's outcome will come, the others hold the outcomes as the calls
// end, whole, each in its own chunk. superjson wraps a line and nothing in it.
func (h *Handler) serveLines(w http.ResponseWriter, r *request) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusOK)
	out := newPieces(w)
	gone := out.send(linesHead(len(r.calls))) != nil
	h.runAll(r, func(c *call) {
		if !gone {
			gone = out.send(c.line()) != nil
		}
	})
}

func linesHead(calls int) []byte {
	var head strings.Builder
	head.WriteString(`{"json":{`)
	for i := range calls {
		if i > 0 {
			head.WriteByte(',')
		}
		fmt.Fprintf(&head, `"%d":[[0],[null,0,%d]]`, i, i)
	}
	head.WriteString("}}\n")
	return []byte(head.String())
}

// line is the outcome of a call as one chunk.
func (c *call) line() []byte {
	before := `{"json":[` + strconv.Itoa(c.index) + `,0,[[`
	if c.failure != nil {
		return wrap(before+`{"error":`, encodeError(c.failure, &c.path), "}]]]}\n")
	}
	return wrap(before+`{"result":{"data":`, c.payload, "}}]]]}\n")
}
