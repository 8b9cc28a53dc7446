package registry_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// failureStatus returns a Status of kube-apiserver for an error.
func failureStatus(code int32, reason metav1.StatusReason, message string, details *metav1.StatusDetails) metav1.Status {
	return metav1.Status{Status: metav1.StatusFailure, Code: code, Reason: reason, Message: message, Details: details}
}

// wantStatus fails the test unless err is exactly the wanted status.
func wantStatus(t *testing.T, err error, want metav1.Status) {
	t.Helper()
	var got *apierrors.StatusError
	if !errors.As(err, &got) {
		t.Fatalf("got %v, want a status: %v", err, want.Message)
	}
	if diff := cmp.Diff(want, got.ErrStatus); diff != "" {
		t.Fatalf("status (-want +got):\n%s", diff)
	}
}

// wantMessage fails the test unless err is a status with that code and message.
func wantMessage(t *testing.T, err error, code int32, message string) {
	t.Helper()
	var got *apierrors.StatusError
	if !errors.As(err, &got) {
		t.Fatalf("got %v, want a status: %s", err, message)
	}
	if got.ErrStatus.Code != code || got.ErrStatus.Message != message {
		t.Fatalf("got %d %s\nwant %d %s", got.ErrStatus.Code, got.ErrStatus.Message, code, message)
	}
}

func detailsOf(group, kind, name string) *metav1.StatusDetails {
	return &metav1.StatusDetails{Group: group, Kind: kind, Name: name}
}

// wantField fails the test unless err is a status whose only cause is the field.
func wantField(t *testing.T, err error, code int32, field string) {
	t.Helper()
	var got *apierrors.StatusError
	if !errors.As(err, &got) {
		t.Fatalf("got %v, want a status about %s", err, field)
	}
	causes := got.ErrStatus.Details.Causes
	if got.ErrStatus.Code != code || len(causes) != 1 || causes[0].Field != field {
		t.Fatalf("got %d %s, want %d about %s", got.ErrStatus.Code, got.ErrStatus.Message, code, field)
	}
}

func statusOf(t *testing.T, err error) metav1.Status {
	t.Helper()
	var got *apierrors.StatusError
	if !errors.As(err, &got) {
		t.Fatalf("got %v, want a status", err)
	}
	return got.ErrStatus
}
