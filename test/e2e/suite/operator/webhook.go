package operator

import (
	"context"
	"fmt"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

// mostText is how long the texts of all copies may be together.
const mostText = 100

// MirrorWebhook fills in and checks Mirrors by rules that a schema has no words
// for. The manager serves conversions too, since Mirrors have versions.
type MirrorWebhook struct{}

// SetupWithManager adds the webhooks to the server of a manager.
func (w MirrorWebhook) SetupWithManager(mgr ctrl.Manager) error {
	return ctrl.NewWebhookManagedBy(mgr, &Mirror{}).WithDefaulter(w).WithValidator(w).Complete()
}

// Default lets a Mirror that has nothing to say tell its name.
func (MirrorWebhook) Default(_ context.Context, m *Mirror) error {
	if m.Spec.Text == "" {
		m.Spec.Text = m.Name
	}
	return nil
}

// ValidateCreate checks a new Mirror.
func (MirrorWebhook) ValidateCreate(_ context.Context, m *Mirror) (admission.Warnings, error) {
	if length := len(m.Spec.Text) * *m.Spec.Copies; length > mostText {
		return nil, fmt.Errorf("the copies have %d bytes, and may have %d", length, mostText)
	}
	return nil, nil
}

// ValidateUpdate checks a Mirror that has changed.
func (w MirrorWebhook) ValidateUpdate(ctx context.Context, _, m *Mirror) (admission.Warnings, error) {
	return w.ValidateCreate(ctx, m)
}

// ValidateDelete lets every Mirror go.
func (MirrorWebhook) ValidateDelete(context.Context, *Mirror) (admission.Warnings, error) {
	return nil, nil
}
