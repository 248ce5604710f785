package front

import (
	"io"
	"net/http"
	"strconv"
	"sync/atomic"

	"blueprintd/blueprint"
)

// Requests answers with next at most limit requests at the same time, and
// refuses one more with 503; 0 is any number. One connection has many under way
// when HTTP/2 is spoken, so that a bound on connections bounds them no longer.
func Requests(limit int, next http.Handler) http.Handler {
	if limit == 0 {
		return next
	}
	var under atomic.Int64
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer under.Add(-1)
		if under.Add(1) > int64(limit) {
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("Retry-After", strconv.Itoa(int(retryAfter.Seconds())))
			w.WriteHeader(blueprint.CodeUnavailable.HTTPStatus())
			_, _ = io.WriteString(w, errorBody(blueprint.CodeUnavailable, "too many requests are under way"))
			return
		}
		next.ServeHTTP(w, r)
	})
}
