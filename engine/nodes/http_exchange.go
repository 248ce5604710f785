package nodes

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"blueprintd/blueprint"
	"blueprintd/foundation/outbound"
)

// conversation is one attempt of a node: a request, or one for each page.
type conversation struct {
	d    Dependencies
	task *blueprint.Task
	c    *httpConfig
	ctx  context.Context
	hops *outbound.Hops            // what was sent
	conn *blueprint.OpenConnection // nil without one
	left int64                     // of maxResponse
}

// exchange sends what a config asks for and reads the answer.
func exchange(ctx context.Context, d Dependencies, task *blueprint.Task, c *httpConfig) (result blueprint.Result, err error) {
	if _, limited := ctx.Deadline(); !limited {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, httpTimeout)
		defer cancel()
	}
	x := &conversation{d: d, task: task, c: c, ctx: ctx, left: maxResponse}
	first, err := x.request(&page{number: 1}) // before anybody is asked to sign in for a config that is bad
	if err != nil {
		return result, err
	}
	if x.ctx, x.conn, err = httpConnection(ctx, task, c.ConnectionID); err != nil {
		return result, err
	}
	x.ctx, x.hops = outbound.Record(x.ctx)
	output, err := x.allPages(first)
	if err == nil {
		result.Output = output
	}
	for _, hop := range x.hops.List() {
		if hop.Sent { // else nothing left this machine, so nobody was asked
			result.Calls = append(result.Calls, blueprint.Call{Host: hop.Host, Status: hop.Status})
		}
	}
	return result, err
}

// fetch sends one request and gives the answer and the output that it makes.
// The body of the answer is closed.
func (x *conversation) fetch(request *http.Request) (*http.Response, map[string]any, error) {
	response, err := x.d.HTTP.Do(request.WithContext(x.ctx))
	if err != nil {
		return nil, nil, requestFailure(x.ctx, err, x.hops)
	}
	defer response.Body.Close()
	if !x.c.expects(response.StatusCode) {
		outbound.Drain(response.Body)
		return nil, nil, statusFailure(response, x.c, x.d.Clock.Now())
	}
	data, err := outbound.ReadAll(response.Body, x.left)
	if errors.Is(err, outbound.ErrTooLarge) && x.c.pages != nil {
		return nil, nil, &blueprint.Failure{
			Code:    codeTooLarge,
			Message: fmt.Sprintf("the pages of %s are larger than %d MiB together; ask for fewer by maxPages", request.URL.Host, maxResponse>>20),
		}
	}
	if err != nil {
		return nil, nil, requestFailure(x.ctx, err, x.hops)
	}
	x.left -= int64(len(data))
	return response, responseOutput(response, data), nil
}
