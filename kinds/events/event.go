package events

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/miniapi/miniapi/kinds/core"
	"github.com/miniapi/miniapi/kinds/feature"
	"github.com/miniapi/miniapi/kinds/kind"
	"github.com/miniapi/miniapi/registry"
)

// events returns the events of the core group, stored once and served with other names.
func events(features *feature.Set) *registry.Resource {
	d := core.Events()
	d.ValidateCreate = validateNew
	d.ValidateUpdate = validateUpdate
	r := d.Build(features)
	r.Group = eventsv1.GroupName
	r.HubKind = &schema.GroupKind{Kind: r.Kind}
	r.Versions = []registry.Version{kind.Version[*corev1.Event, *eventsv1.Event]{
		Name:       eventsv1.SchemeGroupVersion.Version,
		Object:     &eventsv1.Event{},
		List:       &eventsv1.EventList{},
		ToHub:      toCore,
		FromHub:    func(hub *corev1.Event) (*eventsv1.Event, error) { return fromCore(hub), nil },
		FieldLabel: fieldLabel,
	}.Build()}
	return r
}

func fieldLabel(label, value string) (hubLabel, hubValue string, err error) {
	switch label {
	case "reason", "type", "metadata.name", "metadata.namespace":
		return label, value, nil
	case "reportingController":
		return "reportingComponent", value, nil
	case "regarding.kind", "regarding.namespace", "regarding.name", "regarding.uid",
		"regarding.apiVersion", "regarding.resourceVersion", "regarding.fieldPath":
		return "involvedObject" + label[len("regarding"):], value, nil
	default:
		return "", "", fmt.Errorf("field label not supported: %s", label)
	}
}

func toCore(e *eventsv1.Event) *corev1.Event {
	hub := &corev1.Event{
		ObjectMeta:          e.ObjectMeta,
		InvolvedObject:      e.Regarding,
		Reason:              e.Reason,
		Message:             e.Note,
		Source:              e.DeprecatedSource,
		FirstTimestamp:      e.DeprecatedFirstTimestamp,
		LastTimestamp:       e.DeprecatedLastTimestamp,
		Count:               e.DeprecatedCount,
		Type:                e.Type,
		EventTime:           e.EventTime,
		Action:              e.Action,
		Related:             e.Related,
		ReportingController: e.ReportingController,
		ReportingInstance:   e.ReportingInstance,
	}
	if e.Series != nil {
		hub.Series = &corev1.EventSeries{Count: e.Series.Count, LastObservedTime: e.Series.LastObservedTime}
	}
	return hub
}

func fromCore(hub *corev1.Event) *eventsv1.Event {
	e := &eventsv1.Event{
		ObjectMeta:               hub.ObjectMeta,
		EventTime:                hub.EventTime,
		ReportingController:      hub.ReportingController,
		ReportingInstance:        hub.ReportingInstance,
		Action:                   hub.Action,
		Reason:                   hub.Reason,
		Regarding:                hub.InvolvedObject,
		Related:                  hub.Related,
		Note:                     hub.Message,
		Type:                     hub.Type,
		DeprecatedSource:         hub.Source,
		DeprecatedFirstTimestamp: hub.FirstTimestamp,
		DeprecatedLastTimestamp:  hub.LastTimestamp,
		DeprecatedCount:          hub.Count,
	}
	if hub.Series != nil {
		e.Series = &eventsv1.EventSeries{Count: hub.Series.Count, LastObservedTime: hub.Series.LastObservedTime}
	}
	return e
}
