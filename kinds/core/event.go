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
	"github.com/miniapi/miniapi/storage"
)

// eventTTL is the lifetime of an event after its last write.
const eventTTL = time.Hour

// eventCodec returns the one codec of both resources of events, which share cached objects.
var eventCodec = sync.OnceValue(func() storage.Codec {
	return &kind.Codec{Kind: corev1.SchemeGroupVersion.WithKind("Event"), New: func() runtime.Object { return &corev1.Event{} }}
})

// Events returns the definition of events in the core group, which are also the hub of those in
// events.k8s.io.
func Events() kind.Definition[*corev1.Event] {
	return kind.Definition[*corev1.Event]{
		GroupVersion:             corev1.SchemeGroupVersion,
		Object:                   &corev1.Event{},
		List:                     &corev1.EventList{},
		Resource:                 "events",
		UnqualifiedFinalizers:    true,
		ShortNames:               []string{"ev"},
		Namespaced:               true,
		Codec:                    eventCodec(),
		ValidateName:             path.ValidatePathSegmentName,
		MetadataLast:             true,
		Validate:                 validateEvent,
		TTL:                      eventTTL,
		AllowCreateOnUpdate:      true,
		AllowUnconditionalUpdate: true,
		NoDependents:             true,
		FieldLabel: kind.FieldLabels(
			"metadata.name", "metadata.namespace",
			"involvedObject.kind", "involvedObject.namespace", "involvedObject.name", "involvedObject.uid",
			"involvedObject.apiVersion", "involvedObject.resourceVersion", "involvedObject.fieldPath",
			"reason", "reportingComponent", "source", "type"),
		Fields:  eventFields,
		Columns: eventColumns(),
	}
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

func eventColumns() []kind.Column[*corev1.Event] {
	event, object := corev1.Event{}.SwaggerDoc(), corev1.ObjectReference{}.SwaggerDoc()
	name := kind.NameColumn[*corev1.Event]()
	name.Priority = kind.Wide
	return []kind.Column[*corev1.Event]{
		kind.TextColumn("Last Seen", event["lastTimestamp"], func(e *corev1.Event) any { return lastSeen(e) }),
		kind.TextColumn("Type", event["type"], func(e *corev1.Event) any { return e.Type }),
		kind.TextColumn("Reason", event["reason"], func(e *corev1.Event) any { return e.Reason }),
		kind.TextColumn("Object", event["involvedObject"],
			func(e *corev1.Event) any { return eventTarget(&e.InvolvedObject) }),
		kind.WideColumn("Subobject", object["fieldPath"], func(e *corev1.Event) any { return e.InvolvedObject.FieldPath }),
		kind.WideColumn("Source", event["source"], func(e *corev1.Event) any { return eventSource(e) }),
		kind.TextColumn("Message", event["message"], func(e *corev1.Event) any { return strings.TrimSpace(e.Message) }),
		kind.WideColumn("First Seen", event["firstTimestamp"], func(e *corev1.Event) any { return firstSeen(e) }),
		kind.WideColumn("Count", event["count"], func(e *corev1.Event) any { return eventCount(e) }),
		name,
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

func firstSeen(e *corev1.Event) any {
	if e.FirstTimestamp.IsZero() {
		return kind.Age(metav1.NewTime(e.EventTime.Time))
	}
	return kind.Age(e.FirstTimestamp)
}

func lastSeen(e *corev1.Event) any {
	switch {
	case e.Series != nil:
		return kind.Age(metav1.NewTime(e.Series.LastObservedTime.Time))
	case e.LastTimestamp.IsZero():
		return firstSeen(e)
	default:
		return kind.Age(e.LastTimestamp)
	}
}

// eventCount is 1 for an event without a count.
func eventCount(e *corev1.Event) int64 {
	if e.Series != nil {
		return int64(e.Series.Count)
	}
	return int64(cmp.Or(e.Count, 1))
}

func eventTarget(ref *corev1.ObjectReference) string {
	target := strings.ToLower(ref.Kind)
	if ref.Name != "" {
		target += "/" + ref.Name
	}
	return target
}
