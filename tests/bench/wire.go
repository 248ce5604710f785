package main

import (
	"bytes"
	"fmt"
	"strconv"
)

// postRequest and getRequest return the bytes of a request as sent, so that the load
// generator does not build them.
func postRequest(host, path, body string, headers ...string) []byte {
	return request("POST", host, path, body, append([]string{"Content-Type: application/json", "Content-Length: " + strconv.Itoa(len(body))}, headers...))
}

func getRequest(host, path string, headers ...string) []byte {
	return request("GET", host, path, "", headers)
}

func request(method, host, path, body string, headers []string) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s %s HTTP/1.1\r\nHost: %s\r\n", method, path, host)
	for _, header := range headers {
		b.WriteString(header + "\r\n")
	}
	b.WriteString("\r\n" + body)
	return b.Bytes()
}

// headEnd is the empty line after the headers.
var headEnd = []byte("\r\n\r\n")

// parseResponse parses one HTTP/1.1 response at the start of the received bytes. It reads
// only the status and what determines the end: the length or the chunks. Length 0 means
// that the response is incomplete.
func parseResponse(data []byte) (status, length int, err error) {
	end := bytes.Index(data, headEnd)
	if end < 0 {
		if len(data) > 64<<10 {
			return 0, 0, fmt.Errorf("no end of the headers in %d bytes", len(data))
		}
		return 0, 0, nil
	}
	head, body := data[:end], end+len(headEnd)
	line, headers, _ := bytes.Cut(head, []byte("\r\n"))
	if !bytes.HasPrefix(line, []byte("HTTP/1.1 ")) || len(line) < 12 {
		return 0, 0, fmt.Errorf("the answer begins with %.40q", line)
	}
	if status, err = strconv.Atoi(string(line[9:12])); err != nil || status < 100 {
		return 0, 0, fmt.Errorf("the answer begins with %.40q", line)
	}
	for len(headers) > 0 {
		line, headers, _ = bytes.Cut(headers, []byte("\r\n"))
		name, value, _ := bytes.Cut(line, []byte(":"))
		switch {
		case bytes.EqualFold(name, []byte("Content-Length")):
			size, err := strconv.Atoi(string(bytes.TrimSpace(value)))
			if err != nil || size < 0 || size > 1<<30 {
				return 0, 0, fmt.Errorf("the answer has the length %.40q", value)
			}
			if body+size > len(data) {
				return status, 0, nil
			}
			return status, body + size, nil
		case bytes.EqualFold(name, []byte("Transfer-Encoding")):
			return chunked(data, status, body)
		}
	}
	if status == 204 || status == 304 {
		return status, body, nil
	}
	return 0, 0, fmt.Errorf("an answer with status %d has no length", status)
}

// chunked finds the end of a chunked body.
func chunked(data []byte, status, at int) (int, int, error) {
	for {
		line := bytes.Index(data[at:], []byte("\r\n"))
		if line < 0 {
			return status, 0, nil
		}
		digits, _, _ := bytes.Cut(data[at:at+line], []byte(";"))
		size, err := strconv.ParseUint(string(bytes.TrimSpace(digits)), 16, 30)
		if err != nil {
			return 0, 0, fmt.Errorf("a chunk of the answer has the length %.40q", digits)
		}
		if at += line + 2 + int(size) + 2; at > len(data) {
			return status, 0, nil
		}
		if size == 0 {
			return status, at, nil
		}
	}
}
