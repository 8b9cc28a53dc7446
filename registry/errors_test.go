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
	at := call{resource: schema.GroupResource{Group: "apps", Resource: "deployments"}, verb: "update", name: "d", key: "/deployments/x/d"}
	stored := func(sentinel error) error {
		return &storage.KeyError{Op: "update", Key: at.key, Err: fmt.Errorf("%w: %w", sentinel, errors.New("cause"))}
	}
	for _, c := range []struct {
		rule       string
		err        error
		code       int32
		reason     metav1.StatusReason
		message    string
		retryAfter int32
	}{
		{rule: "not found", err: stored(storage.ErrNotFound), code: 404, reason: metav1.StatusReasonNotFound, message: `deployments.apps "d" not found`},
		{rule: "exists", err: stored(storage.ErrExists), code: 409, reason: metav1.StatusReasonAlreadyExists, message: `deployments.apps "d" already exists`},
		{
			rule: "a precondition", err: stored(storage.ErrPrecondition), code: 409, reason: metav1.StatusReasonConflict,
			message: `Operation cannot be fulfilled on deployments.apps "d": StorageError: invalid object, Code: 4, Key: /registry/deployments/x/d, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: cause`,
		},
		{
			rule: "an unknown outcome must not be retried", err: stored(storage.ErrUnknownOutcome), code: 504, reason: metav1.StatusReasonTimeout,
			message: "Timeout: the outcome of the write is unknown: cause",
		},
		{
			rule: "an unknown outcome counts before the deadline that caused it", err: fmt.Errorf("%w: %w", stored(storage.ErrUnknownOutcome), context.DeadlineExceeded),
			code: 504, reason: metav1.StatusReasonTimeout, message: "Timeout: the outcome of the write is unknown: cause",
		},
		{
			rule: "so does a deadline before the store that did not answer until then", err: fmt.Errorf("%w: %w", stored(storage.ErrUnavailable), context.DeadlineExceeded),
			code: 504, reason: metav1.StatusReasonTimeout, message: "Timeout: the update did not finish in time",
		},
		{
			rule: "nothing written may be retried", err: stored(storage.ErrUnavailable), code: 500, reason: metav1.StatusReasonServerTimeout, retryAfter: 2,
			message: "The update operation against deployments.apps could not be completed at this time, please try again.",
		},
		{rule: "no space, as kube-apiserver reports it", err: stored(storage.ErrNoSpace), code: 500, message: "nothing was written: cause"},
		{rule: "too large", err: stored(storage.ErrTooLarge), code: 413, reason: metav1.StatusReasonRequestEntityTooLarge, message: "Request entity too large: the object is too large for the store: cause"},
		{rule: "a deadline", err: context.DeadlineExceeded, code: 504, reason: metav1.StatusReasonTimeout, message: "Timeout: the update did not finish in time"},
	} {
		t.Run(c.rule, func(t *testing.T) {
			var got *apierrors.StatusError
			if !errors.As(at.interpret(c.err), &got) {
				t.Fatalf("%v is no status", at.interpret(c.err))
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
	t.Run("a status stays as it is", func(t *testing.T) {
		err := fmt.Errorf("%w of %w", apierrors.NewBadRequest("no"), storage.ErrNotFound)
		if got := at.interpret(err); got != err {
			t.Errorf("got %v", got)
		}
	})
	t.Run("what nobody knows stays as it is", func(t *testing.T) {
		err := errors.New("new")
		if got := at.interpret(err); got != err {
			t.Errorf("got %v", got)
		}
	})
}
