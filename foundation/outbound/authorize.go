package outbound

import (
	"context"
	"errors"
	"net/http"

	"blueprintd/blueprint"
)

type authorizerKey struct{}

// Authorizer adds credentials to a request that is about to be sent. Its error says
// that they may not go to the host.
type Authorizer func(ctx context.Context, request *http.Request) error

// Authorize returns a context under which authorize adds credentials to every
// request of a Client. They are added to a copy just before it is sent, so that no
// redirect carries them on: authorize is called for every hop. If it fails for the
// first, nothing is sent; if for a later one, that is sent without credentials, or
// not at all if it has a body, which is not meant for another service. Requests by
// authorize itself, for a token, are neither authorized nor recorded.
func Authorize(ctx context.Context, authorize Authorizer) context.Context {
	if authorize == nil {
		return ctx
	}
	return context.WithValue(ctx, authorizerKey{}, authorize)
}

// authorized returns a copy of the request with credentials, or the request itself
// if the context has none.
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

// sent clears NotSent in a failure: the request that was redirected has been sent.
func sent(err error) error {
	var failure *blueprint.Failure
	if !errors.As(err, &failure) || !failure.NotSent {
		return err
	}
	corrected := *failure
	corrected.NotSent = false
	return &corrected
}

// withoutMarks returns the context for requests that fetch credentials, which are
// neither authorized nor recorded.
func withoutMarks(ctx context.Context) context.Context {
	return context.WithValue(context.WithValue(ctx, authorizerKey{}, nil), hopsKey{}, nil)
}
