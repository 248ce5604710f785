package limits

import (
	"bytes"
	"compress/gzip"
	"io"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"sync"
)

// minGzip is the size of the smallest answer that is compressed, in bytes.
const minGzip = 1 << 10

// Gzip compresses answers of next over 1 KiB for clients that accept it. An answer written
// in one piece with its length is compressed as a whole; others are compressed as they are
// written. Event streams, media and answers with a Content-Encoding stay as they are.
func Gzip(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodHead {
			next.ServeHTTP(w, r)
			return
		}
		g := &gzipWriter{ResponseWriter: w, request: r}
		next.ServeHTTP(g, r)
		g.end() // not after a panic, which cuts the answer off
	})
}

// gzipWriters holds idle gzip writers of hundreds of kilobytes.
var gzipWriters = sync.Pool{New: func() any {
	compressor, _ := gzip.NewWriterLevel(io.Discard, gzip.BestSpeed) // the level is valid
	return compressor
}}

// gzipWriter delays the status of an answer until its first bytes decide how it is sent.
type gzipWriter struct {
	http.ResponseWriter
	request *http.Request
	status  int          // delayed; 0 = none
	begun   bool         // the headers are sent
	stream  *gzip.Writer // nil = not compressed as it is written
}

func (g *gzipWriter) WriteHeader(status int) {
	switch {
	case status < http.StatusOK || g.begun:
		g.ResponseWriter.WriteHeader(status)
	case g.status == 0:
		g.status = status
	}
}

// begin sends the delayed status.
func (g *gzipWriter) begin() {
	if g.begun {
		return
	}
	g.begun = true
	if g.status != 0 {
		g.ResponseWriter.WriteHeader(g.status)
	}
}

func (g *gzipWriter) Write(data []byte) (int, error) {
	return gzipWrite(g, data, g.ResponseWriter.Write)
}

func (g *gzipWriter) WriteString(data string) (int, error) {
	return gzipWrite(g, data, func(data string) (int, error) { return io.WriteString(g.ResponseWriter, data) })
}

func gzipWrite[T []byte | string](g *gzipWriter, data T, plain func(T) (int, error)) (int, error) {
	if !g.begun && len(data) > minGzip && g.takes() {
		return startGzip(g, data)
	}
	g.begin()
	if g.stream != nil {
		return writeParts(g.stream, data)
	}
	return plain(data)
}

// startGzip writes the first part of a compressed answer.
func startGzip[T []byte | string](g *gzipWriter, data T) (int, error) {
	header := g.Header()
	header.Set("Content-Encoding", "gzip")
	if tag := header.Get("ETag"); tag != "" && !strings.HasPrefix(tag, "W/") {
		header.Set("ETag", "W/"+tag)
	}
	whole := header.Get("Content-Length") == strconv.Itoa(len(data))
	header.Del("Content-Length")
	compressor := gzipWriters.Get().(*gzip.Writer)
	if !whole {
		g.begin()
		compressor.Reset(g.ResponseWriter)
		g.stream = compressor
		return writeParts(compressor, data)
	}
	var packed bytes.Buffer
	compressor.Reset(&packed)
	_, _ = writeParts(compressor, data) // to memory
	_ = compressor.Close()
	gzipWriters.Put(compressor)
	header.Set("Content-Length", strconv.Itoa(packed.Len()))
	g.begin()
	var err error
	if w, ok := g.ResponseWriter.(*writer); ok {
		_, err = w.writeFor(packed.Bytes(), len(data))
	} else {
		_, err = g.ResponseWriter.Write(packed.Bytes())
	}
	if err != nil {
		return 0, err
	}
	return len(data), nil
}

// writeParts writes data without a copy of all of it.
func writeParts[T []byte | string](w io.Writer, data T) (written int, err error) {
	for len(data) > 0 && err == nil {
		part := data[:min(len(data), piece)]
		data = data[len(part):]
		var n int
		n, err = w.Write([]byte(part))
		written += n
	}
	return written, err
}

// takes reports whether the answer can be compressed and its client accepts that.
func (g *gzipWriter) takes() bool {
	header := g.Header()
	switch g.status {
	case http.StatusNoContent, http.StatusPartialContent, http.StatusNotModified:
		return false
	}
	if header.Get("Content-Encoding") != "" || header.Get("Content-Range") != "" || !isText(header.Get("Content-Type")) {
		return false
	}
	if !strings.Contains(strings.ToLower(strings.Join(header.Values("Vary"), ",")), "accept-encoding") {
		header.Add("Vary", "Accept-Encoding")
	}
	return acceptsGzip(g.request.Header.Values("Accept-Encoding"))
}

// isText reports whether a media type compresses well.
func isText(contentType string) bool {
	kind, _, err := mime.ParseMediaType(contentType)
	switch {
	case err != nil || kind == "text/event-stream":
		return false
	case strings.HasPrefix(kind, "text/"), strings.HasSuffix(kind, "json"), strings.HasSuffix(kind, "xml"), strings.HasSuffix(kind, "javascript"):
		return true
	}
	return false
}

// acceptsGzip reports whether Accept-Encoding allows gzip with a weight above 0.
func acceptsGzip(values []string) bool {
	named, accepted := false, false
	for coding := range strings.SplitSeq(strings.Join(values, ","), ",") {
		name, parameters, _ := strings.Cut(coding, ";")
		name = strings.ToLower(strings.TrimSpace(name))
		if name != "gzip" && name != "x-gzip" && (name != "*" || named) {
			continue
		}
		weight := 1.0
		if key, value, found := strings.Cut(parameters, "="); found && strings.EqualFold(strings.TrimSpace(key), "q") {
			var err error
			if weight, err = strconv.ParseFloat(strings.TrimSpace(value), 64); err != nil {
				weight = 0
			}
		}
		named, accepted = named || name != "*", weight > 0
	}
	return accepted
}

func (g *gzipWriter) Flush() { _ = g.FlushError() }

func (g *gzipWriter) FlushError() error {
	g.begin()
	if g.stream != nil {
		if err := g.stream.Flush(); err != nil {
			return err
		}
	}
	return http.NewResponseController(g.ResponseWriter).Flush()
}

// end sends the rest of the answer.
func (g *gzipWriter) end() {
	g.begin()
	if g.stream != nil {
		_ = g.stream.Close() // the client may have disconnected
		gzipWriters.Put(g.stream)
		g.stream = nil
	}
}

// Unwrap returns the underlying writer for http.ResponseController.
func (g *gzipWriter) Unwrap() http.ResponseWriter { return g.ResponseWriter }
