package encryption

import (
	"context"
	"fmt"

	utilerrors "k8s.io/apimachinery/pkg/util/errors"
)

// HasHealthCheck reports whether Check is a health check of the server, named kms-providers. As in
// kube-apiserver it is one if a KMS plugin is configured or can be by a reload.
func (e *Encryption) HasHealthCheck() bool {
	return e.config.AutomaticReload || len(e.current.Load().kms) > 0
}

// Check returns the errors of the KMS plugins, nil if all are healthy.
func (e *Encryption) Check(ctx context.Context) error {
	var errs []error
	for i, provider := range e.current.Load().kms {
		if err := provider.check(ctx); err != nil {
			errs = append(errs, fmt.Errorf("kms-provider-%d: %w", i, err))
		}
	}
	return utilerrors.Reduce(utilerrors.NewAggregate(errs))
}
