package reconcile

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/miniapi/miniapi/registry"
)

// Recorder writes Events.
type Recorder struct {
	Catalog *registry.Catalog
	// Component is the source of the Events.
	Component string
	Logger    *slog.Logger
}

// Warn writes an Event of type Warning about an object. An error is logged: an Event is no reason
// to repeat a reconciliation.
func (r Recorder) Warn(ctx context.Context, about corev1.ObjectReference, reason, message string) {
	events, err := registry.Require(r.Catalog, corev1.Resource("events"))
	if err == nil {
		event := r.event(about, reason, message)
		_, err = events.Create(ctx, registry.CreateRequest{
			Namespace: event.Namespace, Object: event,
			Options: registry.WriteOptions{FieldManager: FieldManager, Sent: &metav1.CreateOptions{}},
		})
	}
	if err != nil {
		r.Logger.InfoContext(ctx, "an Event was not written", "reason", reason, "message", message, "error", err)
	}
}

func (r Recorder) event(about corev1.ObjectReference, reason, message string) *corev1.Event {
	now := metav1.Now()
	return &corev1.Event{
		ObjectMeta: metav1.ObjectMeta{
			Name:      fmt.Sprintf("%s.%x", about.Name, now.UnixNano()),
			Namespace: cmp.Or(about.Namespace, metav1.NamespaceDefault),
		},
		InvolvedObject: about, Reason: reason, Message: message, Type: corev1.EventTypeWarning,
		FirstTimestamp: now, LastTimestamp: now, Count: 1,
		Source: corev1.EventSource{Component: r.Component}, ReportingController: r.Component,
	}
}
