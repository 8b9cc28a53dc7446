package reconcile

import (
	"cmp"
	"context"
	"fmt"
	"hash/fnv"
	"log/slog"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/miniapi/miniapi/registry"
)

// maxEventPrefix is the maximum length of the part of the name of an Event before the hash.
const maxEventPrefix = 253 - len(".0123456789abcdef")

// Recorder writes Events. An equal Event of an object increases the count of the first one. An
// error is logged: an Event is no reason to repeat a reconciliation.
type Recorder struct {
	Catalog *registry.Catalog
	// Component is the source of the Events.
	Component string
	Logger    *slog.Logger
}

// Normal writes an Event of type Normal about an object.
func (r Recorder) Normal(ctx context.Context, about corev1.ObjectReference, reason, message string) {
	r.record(ctx, r.event(about, corev1.EventTypeNormal, reason, message))
}

// Warn writes an Event of type Warning about an object.
func (r Recorder) Warn(ctx context.Context, about corev1.ObjectReference, reason, message string) {
	r.record(ctx, r.event(about, corev1.EventTypeWarning, reason, message))
}

func (r Recorder) record(ctx context.Context, event *corev1.Event) {
	events, err := registry.Require(r.Catalog, corev1.Resource("events"))
	if err == nil {
		_, err = events.Update(ctx, registry.UpdateRequest{
			Namespace: event.Namespace, Name: event.Name, CreateIfAbsent: true,
			Propose: func(_ context.Context, current runtime.Object) (runtime.Object, error) {
				return repeated(current, event), nil
			},
			Options: registry.WriteOptions{FieldManager: FieldManager, Sent: &metav1.UpdateOptions{}},
		})
	}
	if err != nil {
		r.Logger.InfoContext(ctx, "an Event was not written", "reason", event.Reason, "message", event.Message, "error", err)
	}
}

// repeated returns an Event, or the stored one with a greater count.
func repeated(current runtime.Object, event *corev1.Event) *corev1.Event {
	if current == nil {
		return event
	}
	stored := current.(*corev1.Event).DeepCopy()
	stored.Count++
	stored.LastTimestamp = event.LastTimestamp
	return stored
}

func (r Recorder) event(about corev1.ObjectReference, kind, reason, message string) *corev1.Event {
	now := metav1.NewTime(r.Catalog.Now())
	return &corev1.Event{
		ObjectMeta: metav1.ObjectMeta{
			Name:      r.eventName(about, kind, reason, message),
			Namespace: cmp.Or(about.Namespace, metav1.NamespaceDefault),
		},
		InvolvedObject: about, Reason: reason, Message: message, Type: kind,
		FirstTimestamp: now, LastTimestamp: now, Count: 1,
		Source: corev1.EventSource{Component: r.Component}, ReportingController: r.Component,
	}
}

// eventName returns a name in the format of client-go, the same for equal Events.
func (r Recorder) eventName(about corev1.ObjectReference, kind, reason, message string) string {
	hash := fnv.New64a()
	for _, part := range []string{r.Component, about.APIVersion, about.Kind, string(about.UID), kind, reason, message} {
		fmt.Fprintf(hash, "%q", part)
	}
	return fmt.Sprintf("%s.%016x", about.Name[:min(len(about.Name), maxEventPrefix)], hash.Sum64())
}
