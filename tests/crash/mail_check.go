package main

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/url"

	"blueprintd/tests/process"
)

// judgeLetters compares the runs that letters started with the letters: each names its
// letter, and its attachments read back as sent.
func (c *client) judgeLetters(ctx context.Context, s *source, ledger rows) {
	read := map[string]bool{} // Message-ID
	for _, r := range c.book.all() {
		if r.shape != s.shape || r.retryOf != "" {
			continue
		}
		output, _ := r.output("before")
		id, _ := process.At(output, "letter").(string)
		d := c.book.deliveries[s.trigger+" "+id]
		switch {
		case d == nil:
			c.book.violated("I7", r.id, "it was started by the letter %q, which was never sent", id)
			continue
		case read[id] && !ledger.runs[r.id]:
			c.book.violated("I7", r.id, "the letter %s started it and another", id)
		}
		read[id] = read[id] || !ledger.runs[r.id]
		files, _ := process.At(output, "files").([]any)
		if len(files) != len(d.files) {
			c.book.violated("I15", r.id, "the letter %s had %d attachments, and it got %v", id, len(d.files), files)
			continue
		}
		for i, file := range files {
			c.judgeFile(ctx, r, file, d.files[i])
		}
	}
	for _, d := range c.book.deliveries {
		if d.source == s && d.taken > 0 && !read[d.id] {
			c.book.violated("I7", "", "the letter %s was taken, and started no run", d.id)
		}
	}
}

// judgeFile checks an attachment.
func (c *client) judgeFile(ctx context.Context, r *run, file any, want []byte) {
	name, _ := process.At(file, "id").(string)
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, c.api.Address()+"/files/"+url.PathEscape(name), nil)
	if err != nil {
		return
	}
	request.Header.Set("Authorization", "Bearer "+apiKey)
	response, err := c.api.HTTP.Do(request)
	if err != nil {
		c.book.violated("I15", r.id, "its file %s cannot be read: %v", name, err)
		return
	}
	defer response.Body.Close()
	got, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK || !bytes.Equal(got, want) || process.At(file, "size") != float64(len(want)) {
		c.book.violated("I15", r.id, "its file %v, of %d bytes, was answered %d with %d bytes that differ from it (%v)", file, len(want), response.StatusCode, len(got), err)
	}
	c.book.count(func(n *counts) { n.Files++ })
}
