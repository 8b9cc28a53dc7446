package servertest

import (
	"errors"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// WantStatus checks the Status of a failed request.
func WantStatus(t testing.TB, err error, code int32, reason metav1.StatusReason, message string) {
	t.Helper()
	var status *apierrors.StatusError
	if !errors.As(err, &status) {
		t.Fatalf("got %v, want a status %d", err, code)
	}
	got := status.ErrStatus
	if got.Code != code || got.Reason != reason || got.Message != message {
		t.Errorf("got %d %s\n%s\nwant %d %s\n%s", got.Code, got.Reason, got.Message, code, reason, message)
	}
}
