package core

import (
	"cmp"
	"fmt"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/validation/path"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/miniapi/miniapi/kinds/kind"
	"github.com/miniapi/miniapi/registry"
	"github.com/miniapi/miniapi/storage"
)

// Events are kept for an hour after their last write.
const eventTTL = int64(time.Hour / time.Second)

// eventCodec is one for both resources of events, which share what is cached.
var eventCodec = sync.OnceValue(func() storage.Codec {
	return &kind.Codec{Kind: corev1.SchemeGroupVersion.WithKind("Event"), New: func() runtime.Object { return &corev1.Event{} }}
})

// Events returns the resource of events in the core group, the hub also of
// those in events.k8s.io.
func Events() *registry.Resource {
	return kind.Definition{
		GroupVersion: corev1.SchemeGroupVersion,
		Object:       &corev1.Event{},
		List:         &corev1.EventList{},
		Resource:     "events",
		ShortNames:   []string{"ev"},
		Namespaced:   true,
		Codec:        eventCodec(),
		Strategy: registry.Strategy{
			Create: registry.CreateStrategy{ValidateName: path.ValidatePathSegmentName, Validate: kind.CheckCreate(ValidateEvent)},
			Update: registry.UpdateStrategy{AllowCreate: true, AllowUnconditional: true, Validate: kind.CheckAgain(ValidateEvent)},
			Delete: registry.DeleteStrategy{NoDependents: true},
			TTL:    func(runtime.Object, bool) int64 { return eventTTL },
		},
		FieldLabel: kind.FieldLabels(
			"metadata.name", "metadata.namespace",
			"involvedObject.kind", "involvedObject.namespace", "involvedObject.name", "involvedObject.uid",
			"involvedObject.apiVersion", "involvedObject.resourceVersion", "involvedObject.fieldPath",
			"reason", "reportingComponent", "source", "type"),
		Fields:  kind.Fields(eventFields),
		Columns: registry.Columns{Definitions: eventColumns(), Row: kind.Row(eventRow)},
	}.Build()
}

func eventFields(e *corev1.Event) fields.Set {
	return fields.Set{
		"involvedObject.kind":            e.InvolvedObject.Kind,
		"involvedObject.namespace":       e.InvolvedObject.Namespace,
		"involvedObject.name":            e.InvolvedObject.Name,
		"involvedObject.uid":             string(e.InvolvedObject.UID),
		"involvedObject.apiVersion":      e.InvolvedObject.APIVersion,
		"involvedObject.resourceVersion": e.InvolvedObject.ResourceVersion,
		"involvedObject.fieldPath":       e.InvolvedObject.FieldPath,
		"reason":                         e.Reason,
		"reportingComponent":             e.ReportingController,
		"source":                         cmp.Or(e.Source.Component, e.ReportingController),
		"type":                           e.Type,
	}
}

func eventColumns() []metav1.TableColumnDefinition {
	event, object := corev1.Event{}.SwaggerDoc(), corev1.ObjectReference{}.SwaggerDoc()
	name := kind.NameColumn()
	name.Priority = 1
	return []metav1.TableColumnDefinition{
		kind.Column("Last Seen", "string", event["lastTimestamp"]),
		kind.Column("Type", "string", event["type"]),
		kind.Column("Reason", "string", event["reason"]),
		kind.Column("Object", "string", event["involvedObject"]),
		kind.WideColumn("Subobject", "string", object["fieldPath"]),
		kind.WideColumn("Source", "string", event["source"]),
		kind.Column("Message", "string", event["message"]),
		kind.WideColumn("First Seen", "string", event["firstTimestamp"]),
		kind.WideColumn("Count", "string", event["count"]),
		name,
	}
}

func eventRow(e *corev1.Event) []any {
	first := kind.Age(e.FirstTimestamp)
	if e.FirstTimestamp.IsZero() {
		first = kind.Age(metav1.NewTime(e.EventTime.Time))
	}
	last, count := kind.Age(e.LastTimestamp), e.Count
	if e.LastTimestamp.IsZero() {
		last = first
	}
	switch {
	case e.Series != nil:
		last, count = kind.Age(metav1.NewTime(e.Series.LastObservedTime.Time)), e.Series.Count
	case count == 0:
		// An event that says no count happened once.
		count = 1
	}
	target := strings.ToLower(e.InvolvedObject.Kind)
	if e.InvolvedObject.Name != "" {
		target += "/" + e.InvolvedObject.Name
	}
	return []any{
		last, e.Type, e.Reason, target, e.InvolvedObject.FieldPath, eventSource(e),
		strings.TrimSpace(e.Message), first, int64(count), e.Name,
	}
}

func eventSource(e *corev1.Event) string {
	component := cmp.Or(e.Source.Component, e.ReportingController)
	host := cmp.Or(e.Source.Host, e.ReportingInstance)
	if host == "" {
		return component
	}
	return fmt.Sprintf("%s, %s", component, host)
}
