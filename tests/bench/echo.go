package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"regexp"
)

// echoArgument makes this program the echo server until its standard input ends.
const echoArgument = "echo"

var echoLine = regexp.MustCompile(`(?m)^echo on (http://\S+)$`)

// serveEcho decodes a JSON body and encodes it again: the minimum cost of any Go server
// with JSON. A GET gets a constant.
func serveEcho(in io.Reader, out io.Writer) error {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			w.Header().Set("Content-Type", "application/json")
			io.WriteString(w, `{"i":0}`)
			return
		}
		var value any
		if err := json.NewDecoder(r.Body).Decode(&value); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		data, err := json.Marshal(value)
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		w.Write(data)
	})}
	go func() {
		io.Copy(io.Discard, in)
		server.Close()
	}()
	fmt.Fprintf(out, "echo on http://%s\n", listener.Addr())
	if err := server.Serve(listener); err != http.ErrServerClosed {
		return err
	}
	return nil
}
