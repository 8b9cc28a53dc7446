package registry

import (
	"context"
	"errors"
	"fmt"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/miniapi/miniapi/storage"
)

func TestInterpret(t *testing.T) {
	request := call{resource: schema.GroupResource{Group: "apps", Resource: "deployments"}, verb: "update", name: "d", key: "/deployments/x/d"}
	keyError := func(sentinel error) error {
		return &storage.KeyError{Op: "update", Key: request.key, Err: fmt.Errorf("%w: %w", sentinel, errors.New("cause"))}
	}
	for _, c := range []struct {
		rule       string
		err        error
		code       int32
		reason     metav1.StatusReason
		message    string
		retryAfter int32
	}{
		{rule: "not found", err: keyError(storage.ErrNotFound), code: 404, reason: metav1.StatusReasonNotFound, message: `deployments.apps "d" not found`},
		{rule: "already exists", err: keyError(storage.ErrExists), code: 409, reason: metav1.StatusReasonAlreadyExists, message: `deployments.apps "d" already exists`},
		{
			rule: "a failed precondition", err: keyError(storage.ErrPrecondition), code: 409, reason: metav1.StatusReasonConflict,
			message: `Operation cannot be fulfilled on deployments.apps "d": StorageError: invalid object, Code: 4, Key: /registry/deployments/x/d, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: cause`,
		},
		{
			rule: "an unknown outcome has no retryAfter", err: keyError(storage.ErrUnknownOutcome), code: 504, reason: metav1.StatusReasonTimeout,
			message: "Timeout: the outcome of the write is unknown: cause",
		},
		{
			rule: "an unknown outcome takes precedence over the deadline that caused it", err: fmt.Errorf("%w: %w", keyError(storage.ErrUnknownOutcome), context.DeadlineExceeded),
			code: 504, reason: metav1.StatusReasonTimeout, message: "Timeout: the outcome of the write is unknown: cause",
		},
		{
			rule: "a deadline takes precedence over the unavailable storage that caused it", err: fmt.Errorf("%w: %w", keyError(storage.ErrUnavailable), context.DeadlineExceeded),
			code: 504, reason: metav1.StatusReasonTimeout, message: "Timeout: the update did not finish in time",
		},
		{
			rule: "an unavailable storage has a retryAfter", err: keyError(storage.ErrUnavailable), code: 500, reason: metav1.StatusReasonServerTimeout, retryAfter: 2,
			message: "The update operation against deployments.apps could not be completed at this time, please try again.",
		},
		{rule: "no space", err: keyError(storage.ErrNoSpace), code: 500, message: "nothing was written: cause"},
		{rule: "too large", err: keyError(storage.ErrTooLarge), code: 413, reason: metav1.StatusReasonRequestEntityTooLarge, message: "Request entity too large: the object is too large for the store: cause"},
		{rule: "a deadline", err: context.DeadlineExceeded, code: 504, reason: metav1.StatusReasonTimeout, message: "Timeout: the update did not finish in time"},
	} {
		t.Run(c.rule, func(t *testing.T) {
			var got *apierrors.StatusError
			if !errors.As(request.interpret(c.err), &got) {
				t.Fatalf("%v is not a status", request.interpret(c.err))
			}
			s := got.ErrStatus
			if s.Code != c.code || s.Reason != c.reason || s.Message != c.message {
				t.Errorf("got %d %s %s", s.Code, s.Reason, s.Message)
			}
			if s.Details != nil && s.Details.RetryAfterSeconds != c.retryAfter {
				t.Errorf("retry after %d", s.Details.RetryAfterSeconds)
			}
		})
	}
	t.Run("a status is returned unchanged", func(t *testing.T) {
		err := fmt.Errorf("%w of %w", apierrors.NewBadRequest("no"), storage.ErrNotFound)
		if got := request.interpret(err); got != err {
			t.Errorf("got %v", got)
		}
	})
	t.Run("an unknown error is returned unchanged", func(t *testing.T) {
		err := errors.New("new")
		if got := request.interpret(err); got != err {
			t.Errorf("got %v", got)
		}
	})
}
