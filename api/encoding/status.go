package encoding

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/miniapi/miniapi/internal/memory"
	"github.com/miniapi/miniapi/registry"
)

// StatusHeader is the type header of every Status.
var StatusHeader = metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}

// StatusOf returns the Status of an error: the error's own, or a 429 for an exhausted memory
// budget, or a 504 for the end of a context, or a 500 with the text of the error.
func StatusOf(err error) *metav1.Status {
	err = registry.CorruptError(err)
	var status metav1.Status
	var carrier apierrors.APIStatus
	switch {
	case errors.As(err, &carrier):
		status = carrier.Status()
	case errors.Is(err, memory.ErrExhausted):
		status = apierrors.NewTooManyRequests(memory.ErrExhausted.Error(), 1).Status()
	case errors.Is(err, context.DeadlineExceeded):
		// Without Retry-After, which makes clients send the request again: a write that did
		// happen would be repeated.
		status = apierrors.NewTimeoutError(err.Error(), 0).Status()
	case errors.Is(err, context.Canceled):
		// The client closed the connection, or the server ended the request.
		status = apierrors.NewTimeoutError("the request was cancelled", 0).Status()
	default:
		status = metav1.Status{Message: err.Error(), Code: http.StatusInternalServerError}
	}
	if status.Status == "" {
		status.Status = metav1.StatusFailure
	}
	if status.Code == 0 {
		status.Code = http.StatusInternalServerError
	}
	status.TypeMeta = StatusHeader
	return &status
}

// fallbackStatus encodes a Status in JSON for a client that accepts no supported media type.
func fallbackStatus(status *metav1.Status) []byte {
	document, err := json.MarshalIndent(status, "", "  ")
	if err != nil {
		return []byte(status.Message)
	}
	return document
}

// mediaTypeError is a 406 or 415.
type mediaTypeError struct {
	code   int32
	reason metav1.StatusReason
	text   string
}

// Error implements error.
func (e *mediaTypeError) Error() string { return e.text }

// Status implements apierrors.APIStatus.
func (e *mediaTypeError) Status() metav1.Status {
	return metav1.Status{Status: metav1.StatusFailure, Code: e.code, Reason: e.reason, Message: e.text}
}

func notAcceptable(accepted []string) error {
	return NotAcceptable("only the following media types are accepted: " + strings.Join(accepted, ", "))
}

// NotAcceptable returns a 406 with a text.
func NotAcceptable(text string) error {
	return &mediaTypeError{http.StatusNotAcceptable, metav1.StatusReasonNotAcceptable, text}
}

// UnsupportedMediaType returns a 415 that lists the accepted media types.
func UnsupportedMediaType(accepted []string) error {
	text := "the body of the request was in an unknown format - accepted media types include: " + strings.Join(accepted, ", ")
	return &mediaTypeError{http.StatusUnsupportedMediaType, metav1.StatusReasonUnsupportedMediaType, text}
}

// GenericError returns the error of a request without a resource. An empty text is replaced by the
// text that clients expect for the code.
func GenericError(code int, text string) error {
	return apierrors.NewGenericServerResponse(code, "", schema.GroupResource{}, "", text, 0, false)
}
