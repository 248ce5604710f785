package sandbox

import (
	"bytes"
	"io"
	"net/http"
	"strconv"

	"blueprintd/blueprint"
	"blueprintd/foundation/outbound"
)

// reply is an HTTP answer. The body is a plain JSON value; text goes as it is.
type reply struct {
	status int
	header http.Header
	body   any
}

func ok(body any) *reply { return &reply{status: http.StatusOK, body: body} }

// data gives the header and the bytes.
func (r *reply) data() (http.Header, []byte) {
	header := r.header.Clone()
	if header == nil {
		header = http.Header{}
	}
	if header.Get("Content-Type") == "" && r.body != nil {
		header.Set("Content-Type", "application/json")
		if _, isText := r.body.(string); isText {
			header.Set("Content-Type", "text/plain; charset=utf-8")
		}
	}
	return header, outbound.BodyBytes(header.Get("Content-Type"), r.body)
}

// response makes the answer to a request. One that is cut has half of its body,
// and without a status none comes at all.
func (r *reply) response(request *http.Request, cut bool) (*http.Response, error) {
	if cut && r.status == 0 {
		return nil, io.ErrUnexpectedEOF
	}
	header, data := r.data()
	length := len(data)
	header.Set("Content-Length", strconv.Itoa(length))
	var body io.Reader = bytes.NewReader(data)
	if cut {
		body = io.MultiReader(bytes.NewReader(data[:length/2]), broken{})
	}
	if request.Method == http.MethodHead || r.status == http.StatusNoContent || r.status == http.StatusNotModified {
		body = http.NoBody
	}
	return &http.Response{
		Status: strconv.Itoa(r.status) + " " + http.StatusText(r.status), StatusCode: r.status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: header, Body: io.NopCloser(body), ContentLength: int64(length), Request: request,
	}, nil
}

// broken is the end of a connection in the middle.
type broken struct{}

// Read fails.
func (broken) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

// shown gives the answer as the list of calls has it.
func (r *reply) shown(cut bool) (*blueprint.ExchangeResponse, int) {
	header, data := r.data()
	kept := data[:min(len(data), outbound.MaxTaped)]
	answer := outbound.ResponseOf(r.status, header, kept)
	answer.Cut = cut || len(kept) < len(data)
	return &answer, len(kept)
}
