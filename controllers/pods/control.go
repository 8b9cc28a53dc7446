package pods

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/miniapi/miniapi/controllers/reconcile"
)

// Control reads and writes the pods of workloads.
type Control struct {
	reconcile.Objects[*corev1.Pod]
	recorder reconcile.Recorder
}

// NewControl returns the Control of a controller, which is the source of its Events.
func NewControl(config reconcile.Config, controller string) Control {
	return Control{
		Objects:  reconcile.Objects[*corev1.Pod]{Catalog: config.Catalog, Resource: corev1.Resource("pods")},
		recorder: reconcile.Recorder{Catalog: config.Catalog, Component: controller, Logger: config.Logger},
	}
}

// CreateFor creates a pod of an owner, and writes an Event about the owner.
func (c Control) CreateFor(ctx context.Context, owner reconcile.Owner, pod *corev1.Pod) (*corev1.Pod, error) {
	if len(pod.Labels) == 0 {
		return nil, errors.New("unable to create pods, no labels")
	}
	created, err := c.Create(ctx, pod)
	switch {
	case err == nil:
		c.recorder.Normal(ctx, owner.ObjectReference(), "SuccessfulCreate", "Created pod: "+created.Name)
	case !apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause):
		c.recorder.Warn(ctx, owner.ObjectReference(), "FailedCreate", fmt.Sprintf("Error creating: %v", err))
	}
	return created, err
}

// DeleteFor deletes a pod of an owner, and writes an Event about the owner. It is no error if the
// pod is gone.
func (c Control) DeleteFor(ctx context.Context, owner reconcile.Owner, pod *corev1.Pod) error {
	if err := c.Delete(ctx, pod); err != nil {
		c.recorder.Warn(ctx, owner.ObjectReference(), "FailedDelete", fmt.Sprintf("Error deleting: %v", err))
		return fmt.Errorf("unable to delete pods: %w", err)
	}
	c.recorder.Normal(ctx, owner.ObjectReference(), "SuccessfulDelete", "Deleted pod: "+pod.Name)
	return nil
}
