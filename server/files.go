package server

import (
	"context"
	"mime"
	"net/http"
	"strconv"
	"strings"

	"blueprintd/blueprint"
	"blueprintd/rpc/trpc"
	"blueprintd/triggers/mail"
)

// safeTypes are the content types that a browser may receive: none can run code.
var safeTypes = map[string]bool{
	"application/pdf": true, "application/zip": true, "image/gif": true, "image/jpeg": true, "image/png": true, "image/webp": true,
	"text/calendar": true, "text/csv": true, "text/plain": true,
}

// file answers GET /files/{id} with an attachment of a mail, if the caller may see the run
// that it started. It is a download, never a page: its content is the sender's.
func (s *Server) file(w http.ResponseWriter, r *http.Request, caller *trpc.Caller) error {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		return blueprint.Errorf(blueprint.CodeMethodNotSupported, "files accept only GET")
	}
	found, content, err := s.open(r.Context(), r.Method == http.MethodGet, func(ctx context.Context) (blueprint.File, []byte, error) {
		return s.Store.File(ctx, caller.Principal, r.PathValue("id"))
	})
	if err != nil {
		return err
	}
	kind := "application/octet-stream"
	if safeTypes[found.ContentType] {
		kind = found.ContentType
	}
	h := w.Header()
	h.Set("Content-Type", kind)
	h.Set("Content-Length", strconv.FormatInt(found.Size, 10))
	h.Set("Content-Disposition", disposition(found.Name))
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Content-Security-Policy", "sandbox; default-src 'none'")
	h.Set("Cache-Control", "private, no-store")
	if r.Method == http.MethodGet {
		_, _ = w.Write(content)
	}
	return nil
}

// fileOfRun returns a file of the delivery that started a run.
func (s *Server) fileOfRun(ctx context.Context, authority blueprint.Authority, executionID, id string) (blueprint.File, []byte, error) {
	return s.open(ctx, true, func(ctx context.Context) (blueprint.File, []byte, error) {
		return s.Store.FileOfRun(ctx, authority, executionID, id)
	})
}

// maxDecoding is the maximum number of files decoded concurrently: each takes the memory of
// its whole mail.
const maxDecoding = 4

// open reads a file, and its content if wanted.
func (s *Server) open(ctx context.Context, wanted bool, read func(context.Context) (blueprint.File, []byte, error)) (found blueprint.File, content []byte, err error) {
	select {
	case s.decoding <- struct{}{}:
		defer func() { <-s.decoding }()
	case <-ctx.Done():
		return found, nil, ctx.Err()
	}
	found, body, err := read(ctx)
	if err == nil && wanted {
		content, err = mail.Open(body, found.Part)
		found.Size = int64(len(content))
	}
	return found, content, err
}

// disposition returns the Content-Disposition of a download (RFC 6266).
func disposition(name string) string {
	name = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || strings.ContainsRune(`/\:*?"<>|`, r) {
			return '_'
		}
		return r
	}, name)
	if value := mime.FormatMediaType("attachment", map[string]string{"filename": name}); value != "" {
		return value
	}
	return "attachment"
}
