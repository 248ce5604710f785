package main

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/url"

	"blueprintd/tests/process"
)

// checkEmailRuns compares the runs that emails started with the emails: each names its
// email, and its attachments read back as sent.
func (c *client) checkEmailRuns(ctx context.Context, s *source, ledger rows) {
	read := map[string]bool{} // Message-ID
	for _, r := range c.history.all() {
		if r.shape != s.shape || r.retryOf != "" {
			continue
		}
		output, _ := r.output("before")
		id, _ := process.At(output, "email").(string)
		d := c.history.deliveries[s.trigger+" "+id]
		switch {
		case d == nil:
			c.history.violated("I7", r.id, "it was started by the email %q, which was never sent", id)
			continue
		case read[id] && !ledger.runs[r.id]:
			c.history.violated("I7", r.id, "the email %s started it and another run", id)
		}
		read[id] = read[id] || !ledger.runs[r.id]
		files, _ := process.At(output, "files").([]any)
		if len(files) != len(d.files) {
			c.history.violated("I15", r.id, "the email %s had %d attachments, and it got %v", id, len(d.files), files)
			continue
		}
		for i, file := range files {
			c.checkAttachment(ctx, r, file, d.files[i])
		}
	}
	for _, d := range c.history.deliveries {
		if d.source == s && d.accepted > 0 && !read[d.id] {
			c.history.violated("I7", "", "the email %s was accepted, and started no run", d.id)
		}
	}
}

// checkAttachment checks an attachment.
func (c *client) checkAttachment(ctx context.Context, r *run, file any, want []byte) {
	name, _ := process.At(file, "id").(string)
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, c.api.Address()+"/files/"+url.PathEscape(name), nil)
	if err != nil {
		return
	}
	request.Header.Set("Authorization", "Bearer "+apiKey)
	response, err := c.api.HTTP.Do(request)
	if err != nil {
		c.history.violated("I15", r.id, "its file %s cannot be read: %v", name, err)
		return
	}
	defer response.Body.Close()
	got, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK || !bytes.Equal(got, want) || process.At(file, "size") != float64(len(want)) {
		c.history.violated("I15", r.id, "its file %v, of %d bytes, was answered %d with %d bytes that differ from it (%v)", file, len(want), response.StatusCode, len(got), err)
	}
	c.history.count(func(n *counts) { n.Attachments++ })
}
