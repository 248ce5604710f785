package outbound

import (
	"context"
	"errors"
	"net/http"

	"blueprintd/blueprint"
)

type authorizerKey struct{}

// Authorizer adds credentials to a request that is about to be sent, or gives
// an error when they may not go to its host.
type Authorizer func(ctx context.Context, request *http.Request) error

// Authorize returns a context under which each request that a Client sends gets
// its credentials from authorize. They are added to a copy at the very end, so
// that no redirect carries them on by itself: authorize is asked again for
// every hop. When it refuses the first, nothing is sent; when it refuses a later
// one, that is sent without credentials if it has no body, and else not at all:
// what a blueprint says to one service is not for another. Requests that authorize makes itself,
// for a token, are neither authorized nor recorded.
func Authorize(ctx context.Context, authorize Authorizer) context.Context {
	if authorize == nil {
		return ctx
	}
	return context.WithValue(ctx, authorizerKey{}, authorize)
}

// authorized returns the request to send: a copy with credentials, or the request
// itself where there are none.
func authorized(request *http.Request) (*http.Request, error) {
	authorize, ok := request.Context().Value(authorizerKey{}).(Authorizer)
	if !ok {
		return request, nil
	}
	bare := withoutMarks(request.Context())
	copied := request.Clone(bare)
	err := authorize(bare, copied)
	switch redirected := request.Response != nil; {
	case err == nil:
		return copied, nil
	case redirected && request.Context().Err() == nil && (request.Body == nil || request.Body == http.NoBody):
		return request, nil
	case redirected:
		return nil, sent(err)
	default:
		return nil, err
	}
}

// sent takes the claim out of a failure that nothing has left this machine: the
// request that was redirected has.
func sent(err error) error {
	var failure *blueprint.Failure
	if !errors.As(err, &failure) || !failure.NotSent {
		return err
	}
	told := *failure
	told.NotSent = false
	return &told
}

// withoutMarks returns the context of whoever looks for credentials: it ends with
// the request's, but what is sent under it is not the request.
func withoutMarks(ctx context.Context) context.Context {
	return context.WithValue(context.WithValue(ctx, authorizerKey{}, nil), hopsKey{}, nil)
}
