package miniapitest

import (
	"context"
	"errors"
	"net/http"
	"time"
)

// Settle is SettleFor with a quiet time of 20 ms.
func (s *Server) Settle(ctx context.Context) error { return s.SettleFor(ctx, 0) }

// SettleFor returns nil when the following has been true for the quiet time without interruption:
//
//   - No request is open, apart from watches.
//   - Every watch has written all events up to the present resourceVersion to its connection.
//   - The built-in controllers have no work. An object that waits for a time, such as an expiry,
//     does not count.
//   - No write came.
//
// A test of a controller then needs no polling: the controller has received all events and has
// answered them with all its requests. A controller that receives an event and then computes has no
// request open meanwhile. The quiet time covers this gap, so it must be longer than the longest
// computation between an event and the next request of the controller. The same is true for the
// delays of its queue.
//
// The error names the open requests, the watches that are behind, the work of the controllers and
// the last write. SettleFor gives up when ctx ends, or after 30 seconds if ctx has no deadline.
func (s *Server) SettleFor(ctx context.Context, quiet time.Duration) error {
	options := settleOptions{Timeout: timeout(ctx)}
	if quiet > 0 {
		options.Quiet = quiet.String()
	}
	return s.wait(ctx, "/settle", options, nil)
}

// answerTime is the time that the host has for its answer after a deadline, on a busy machine too.
const answerTime = time.Minute

// wait sends a request with the timeout of ctx. It does not end at the deadline of ctx, because the
// answer of the host says what is missing, but it ends if ctx is canceled.
func (s *Server) wait(ctx context.Context, path string, body, into any) error {
	request, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	defer context.AfterFunc(ctx, func() {
		if errors.Is(ctx.Err(), context.Canceled) {
			cancel()
		}
	})()
	if deadline, ok := ctx.Deadline(); ok {
		request, cancel = context.WithDeadline(request, deadline.Add(answerTime))
		defer cancel()
	}
	return s.call(request, http.MethodPost, path, body, into)
}

// WaitFor returns nil as soon as an object exists and a CEL expression about it is true. The server
// watches the object: a state that is replaced at once is checked too.
//
// The object is TYPE/NAME or TYPE/NAMESPACE/NAME, such as deploy/web, where TYPE is a plural or
// singular name, a short name or a kind, also with the group: deployments.apps/web. The default
// namespace is "default". The expression has the variable object, in the preferred version of the
// resource, and the CEL libraries of kube-apiserver:
//
//	err := server.WaitFor(ctx, "deploy/web", "object.status.readyReplicas == 3")
//
// The error has the parts of the expression that are false, with their values, the last write of
// the object, and its last state. WaitFor gives up when ctx ends, or after 30 seconds if ctx has no
// deadline.
func (s *Server) WaitFor(ctx context.Context, object, expression string) error {
	return s.wait(ctx, "/wait", waitOptions{Object: object, Condition: expression, Timeout: timeout(ctx)}, nil)
}

// WaitForDeletion returns nil as soon as an object does not exist. See WaitFor.
func (s *Server) WaitForDeletion(ctx context.Context, object string) error {
	return s.wait(ctx, "/wait", waitOptions{Object: object, Deleted: true, Timeout: timeout(ctx)}, nil)
}

type waitOptions struct {
	Object    string `json:"object"`
	Condition string `json:"condition,omitempty"`
	Deleted   bool   `json:"deleted,omitempty"`
	Timeout   string `json:"timeout,omitempty"`
}

type settleOptions struct {
	Quiet   string `json:"quiet,omitempty"`
	Timeout string `json:"timeout,omitempty"`
}

// timeout returns the time until the deadline of a context, "" if there is none.
func timeout(ctx context.Context) string {
	deadline, ok := ctx.Deadline()
	if !ok {
		return ""
	}
	return max(time.Until(deadline), time.Millisecond).String()
}
