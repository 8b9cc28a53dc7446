package api

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/miniapi/miniapi/registry"
)

// statusHeader is the type header of every Status, whatever the group.
var statusHeader = metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}

// statusOf is the one place where an error becomes a Status. One that nobody
// has translated is a 500 with its own text.
func statusOf(err error) *metav1.Status {
	err = registry.CorruptError(err)
	var status metav1.Status
	var carrier apierrors.APIStatus
	switch {
	case errors.As(err, &carrier):
		status = carrier.Status()
	case errors.Is(err, context.DeadlineExceeded):
		// Without Retry-After: clients replay what carries it, and a write
		// that did happen would run twice.
		status = apierrors.NewTimeoutError(err.Error(), 0).Status()
	case errors.Is(err, context.Canceled):
		// The client went away, or the server ended the request.
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
	status.TypeMeta = statusHeader
	return &status
}

// encodeStatusAside encodes a Status for a client that accepts no encoding it
// could be sent in.
func encodeStatusAside(status *metav1.Status) []byte {
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

func (e *mediaTypeError) Error() string { return e.text }

// Status implements apierrors.APIStatus.
func (e *mediaTypeError) Status() metav1.Status {
	return metav1.Status{Status: metav1.StatusFailure, Code: e.code, Reason: e.reason, Message: e.text}
}

func notAcceptable(accepted []string) error {
	return notAcceptableText("only the following media types are accepted: " + strings.Join(accepted, ", "))
}

func notAcceptableText(text string) error {
	return &mediaTypeError{http.StatusNotAcceptable, metav1.StatusReasonNotAcceptable, text}
}

func unsupportedMediaType(accepted []string) error {
	text := "the body of the request was in an unknown format - accepted media types include: " + strings.Join(accepted, ", ")
	return &mediaTypeError{http.StatusUnsupportedMediaType, metav1.StatusReasonUnsupportedMediaType, text}
}

// genericError is the Status of a request that never reached a resource.
func genericError(code int, text string) error {
	return apierrors.NewGenericServerResponse(code, "", schema.GroupResource{}, "", text, 0, false)
}
