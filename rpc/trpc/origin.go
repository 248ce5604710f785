package trpc

import (
	"net/http"
	"slices"
)

// allowOrigin lets the browsers of the allowed origins in. It answers the
// question that a browser asks before a call, and tells whether it did.
func (h *Handler) allowOrigin(w http.ResponseWriter, r *http.Request) (answered bool) {
	if len(h.options.Origins) == 0 {
		return false
	}
	header := w.Header()
	header.Add("Vary", "Origin")
	origin := r.Header.Get("Origin")
	all := slices.Contains(h.options.Origins, "*")
	if origin == "" || !all && !slices.Contains(h.options.Origins, origin) {
		return false
	}
	if all {
		origin = "*"
	}
	header.Set("Access-Control-Allow-Origin", origin)
	header.Set("Access-Control-Expose-Headers", "Retry-After")
	if r.Method != http.MethodOptions || r.Header.Get("Access-Control-Request-Method") == "" {
		return false
	}
	header.Set("Access-Control-Allow-Methods", "GET, POST")
	// Any header may come: what counts is the key, which a page must know.
	if wanted := r.Header.Get("Access-Control-Request-Headers"); wanted != "" {
		header.Set("Access-Control-Allow-Headers", wanted)
	}
	header.Set("Access-Control-Max-Age", "86400")
	w.WriteHeader(http.StatusNoContent)
	return true
}
