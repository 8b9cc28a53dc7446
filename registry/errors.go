package registry

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/miniapi/miniapi/storage"
	"github.com/miniapi/miniapi/versioner"
)

// Texts of kube-apiserver.
const (
	optimisticLockText = "the object has been modified; please apply your changes to the latest version and try again"
	listExpiredText    = "The resourceVersion for the provided list is too old."
	watchExpiredText   = "The resourceVersion for the provided watch is too old."
	continueText       = "The provided continue parameter is too old to display a consistent list result. " +
		"You can start a new list without the continue parameter, or use the continue token in this response " +
		"to retrieve the remainder of the results. Continuing with the provided token results in an inconsistent list - " +
		"objects that were created, modified, or deleted between the time the first chunk was returned and now may show up in the list."
	versionOnCreateText = "resourceVersion should not be set on objects to be created"
)

// call is the request of a storage error, for the text of the error.
type call struct {
	resource schema.GroupResource
	verb     string
	name     string // "" for a collection
	key      string
	// list is the request of a list, with its continue token.
	list *ListRequest
	// exactObject is set for a list of one object at one exact revision.
	exactObject bool
}

// errorTable maps errors of the storage to the errors of the API. The first row that matches
// applies. An error without a row, or that is a Status already, is unchanged; without a Status it
// becomes a 500 with its own text.
var errorTable = [...]struct {
	sentinel error
	status   func(c call, err error) error
}{
	{storage.ErrNotFound, func(c call, _ error) error { return apierrors.NewNotFound(c.resource, c.name) }},
	{storage.ErrExists, func(c call, _ error) error { return apierrors.NewAlreadyExists(c.resource, c.name) }},
	{storage.ErrPrecondition, preconditionError},
	{storage.ErrCompacted, expiredError},
	{storage.ErrFutureRevision, futureRevisionError},
	{storage.ErrInvalidContinue, invalidContinueError},
	{storage.ErrContinueWithVersion, invalidVersionError},
	{versioner.ErrInvalidVersion, invalidVersionError},
	{storage.ErrUnknownOutcome, unknownOutcomeError},
	{storage.ErrNoSpace, noSpaceError},
	{context.DeadlineExceeded, deadlineError},
	{storage.ErrUnavailable, func(c call, _ error) error { return apierrors.NewServerTimeout(c.resource, c.verb, 2) }},
	{storage.ErrTooLarge, func(_ call, err error) error { return apierrors.NewRequestEntityTooLargeError(withoutKey(err).Error()) }},
	{storage.ErrCorrupt, corruptError},
}

// interpret returns the error that the client receives.
func (c call) interpret(err error) error {
	if err == nil {
		return nil
	}
	var status apierrors.APIStatus
	if errors.As(err, &status) {
		return err
	}
	for _, row := range errorTable {
		if errors.Is(err, row.sentinel) {
			return row.status(c, err)
		}
	}
	return err
}

// call returns the description of a request for error texts.
func (b *base) call(verb, name, key string) call {
	return call{resource: b.resource.GroupResource(), verb: verb, name: name, key: key}
}

// EventError returns the error that clients receive for the Err of a watch event.
func (r *Resource) EventError(err error) error {
	return call{resource: r.GroupResource(), verb: "watch"}.interpret(err)
}

// preconditionError returns the error of kube-apiserver, whose text includes the storage key.
func preconditionError(c call, err error) error {
	return apierrors.NewConflict(c.resource, c.name, fmt.Errorf(
		"StorageError: invalid object, Code: 4, Key: /registry%s, ResourceVersion: 0, AdditionalErrorMsg: %w", c.key, withoutKey(err)))
}

func expiredError(c call, _ error) error {
	switch {
	case c.verb == "watch":
		return apierrors.NewResourceExpired(watchExpiredText)
	case c.list == nil || c.list.Continue == "":
		return apierrors.NewResourceExpired(listExpiredText)
	}
	expired := apierrors.NewResourceExpired(continueText)
	fromKey, _, err := storage.DecodeContinue(c.list.Continue, c.key)
	if err != nil {
		return invalidContinueError(c, err)
	}
	// A negative revision stands for the latest.
	token, err := storage.EncodeContinue(strings.TrimSuffix(fromKey, "\x00"), c.key, -1)
	if err != nil {
		return invalidContinueError(c, err)
	}
	expired.ErrStatus.ListMeta.Continue = token
	return expired
}

func futureRevisionError(c call, err error) error {
	text := "Too large resource version"
	var numbers *storage.FutureRevisionError
	if errors.As(err, &numbers) {
		text = numbers.Error()
	}
	retryAfter := 1
	if c.exactObject { // kube-apiserver reads it from etcd and does not wait
		retryAfter = 0
	}
	timeout := apierrors.NewTimeoutError(text, retryAfter)
	timeout.ErrStatus.Details.Causes = []metav1.StatusCause{{
		Type:    metav1.CauseTypeResourceVersionTooLarge,
		Message: "Too large resource version",
	}}
	return timeout
}

func invalidContinueError(_ call, err error) error {
	return apierrors.NewBadRequest("invalid continue token: " + withoutKey(err).Error())
}

func invalidVersionError(_ call, err error) error {
	return apierrors.NewBadRequest(withoutKey(err).Error())
}

// unresolvedError is the Status of an unknown outcome. It wraps the error that can resolve the
// outcome.
type unresolvedError struct {
	*apierrors.StatusError
	cause error
}

// Unwrap returns both errors.
func (e *unresolvedError) Unwrap() []error { return []error{e.StatusError, e.cause} }

// unknownOutcomeError returns a Status without retryAfterSeconds: clients repeat a request that
// has it, and the write may have happened.
func unknownOutcomeError(_ call, err error) error {
	return &unresolvedError{StatusError: apierrors.NewTimeoutError(withoutKey(err).Error(), 0), cause: err}
}

// noSpaceError returns the code and reason of kube-apiserver, whose text is a part of the
// message.
func noSpaceError(_ call, err error) error {
	return &apierrors.StatusError{ErrStatus: metav1.Status{
		Status:  metav1.StatusFailure,
		Code:    http.StatusInternalServerError,
		Message: withoutKey(err).Error(),
	}}
}

func deadlineError(c call, _ error) error {
	return apierrors.NewTimeoutError(fmt.Sprintf("the %s did not finish in time", c.verb), 0)
}

// withoutKey removes the operation and the key, which clients do not need.
func withoutKey(err error) error {
	var keyed *storage.KeyError
	if errors.As(err, &keyed) {
		return keyed.Err
	}
	return err
}

// conflict returns the error of a write with a stale resourceVersion.
func (c call) conflict() error {
	return apierrors.NewConflict(c.resource, c.name, errors.New(optimisticLockText))
}

// unsupported returns the error for a verb that the resource does not have.
func (b *base) unsupported(verb string) error {
	return apierrors.NewMethodNotSupported(b.resource.GroupResource(), verb)
}

// versionOnCreate returns an error without a reason, as kube-apiserver does.
func versionOnCreate() error {
	return &apierrors.StatusError{ErrStatus: metav1.Status{
		Status:  metav1.StatusFailure,
		Code:    http.StatusInternalServerError,
		Message: versionOnCreateText,
	}}
}

// maxFieldErrors is the maximum number of invalid fields in a Status. Each of them takes space in
// the message and in the causes, and building the message takes quadratic time.
const maxFieldErrors = 1000

// invalid returns the 422 of an object with invalid fields.
func invalid(kind schema.GroupKind, name string, errs field.ErrorList) error {
	if found := len(errs); found > maxFieldErrors {
		errs = append(slices.Clone(errs[:maxFieldErrors]), field.TooMany(field.NewPath("errors"), found, maxFieldErrors))
	}
	return apierrors.NewInvalid(kind, name, errs)
}
