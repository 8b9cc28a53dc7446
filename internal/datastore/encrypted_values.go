package datastore

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/miniapi/miniapi/storage/transform"
)

// withoutKeys is the transformer of a read-only etcd without an encryption configuration. The error
// of an encrypted value says that the configuration is missing, while kube-apiserver calls such a
// value corrupt.
type withoutKeys struct{ transform.Identity }

// FromStorage implements transform.Transformer.
func (t withoutKeys) FromStorage(ctx context.Context, data []byte, key string) ([]byte, bool, error) {
	prefix := transform.EncryptionPrefix(data)
	if prefix == "" {
		return t.Identity.FromStorage(ctx, data, key)
	}
	provider := "unknown"
	if parts := strings.Split(prefix, ":"); len(parts) > 3 { // k8s:enc:PROVIDER:
		provider = parts[2]
	}
	return nil, false, &apierrors.StatusError{ErrStatus: metav1.Status{
		Status: metav1.StatusFailure, Code: http.StatusInternalServerError, Reason: metav1.StatusReasonInternalError,
		Message: fmt.Sprintf("%s is encrypted by the provider %s (%s): set --encryption-provider-config to the configuration of the cluster", key, provider, prefix),
	}}
}
