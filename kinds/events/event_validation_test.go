package events

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/miniapi/miniapi/registry/registrytest"
)

func newEvent() *corev1.Event {
	return &corev1.Event{
		ObjectMeta: metav1.ObjectMeta{Namespace: "x", Name: "e"}, Type: corev1.EventTypeNormal,
		EventTime: metav1.NewMicroTime(time.Unix(1700000000, 0)), ReportingController: "example.com/c", ReportingInstance: "i",
		Action: "a", Reason: "R", InvolvedObject: corev1.ObjectReference{Namespace: "x", Name: "p"},
	}
}

func TestNewEvents(t *testing.T) {
	for _, tc := range []struct {
		rule   string
		change func(*corev1.Event)
		want   []string
	}{
		{"an event has a time and a type", func(e *corev1.Event) { e.EventTime, e.Type = metav1.MicroTime{}, "" }, []string{
			`eventTime: Required value`, `type: Invalid value: "": has invalid value: `,
		}},
		{"reporting fields are required", func(e *corev1.Event) { e.ReportingInstance, e.Action = "", "" }, []string{
			`reportingInstance: Required value`, `action: Required value`,
		}},
		{"the metadata follows the fields of both groups", func(e *corev1.Event) { e.Name, e.Action, e.Type = "E", "", "" }, []string{
			`action: Required value`,
			`metadata.name: Invalid value: "E": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, ` +
				`'-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is ` +
				`'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')`,
			`type: Invalid value: "": has invalid value: `,
		}},
		{"the reporter has the name of this group", func(e *corev1.Event) { e.ReportingController = "a/" }, []string{
			`reportingController: Invalid value: "a/": name part must be non-empty`,
			`reportingController: Invalid value: "a/": name part must consist of alphanumeric characters, '-', '_' or '.', and must ` +
				`start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is ` +
				`'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')`,
		}},
		{"the namespace is that of the object", func(e *corev1.Event) { e.InvolvedObject.Namespace = "" }, []string{
			`involvedObject.namespace: Invalid value: "": does not match event.namespace`,
		}},
		{"the count of a series is at least 2", func(e *corev1.Event) { e.Series = &corev1.EventSeries{Count: 1} }, []string{
			`series.count: Invalid value: "": should be at least 2`, `series.lastObservedTime: Required value`,
		}},
		{"fields of the core group are rejected", func(e *corev1.Event) { e.Count = 1 }, []string{
			`count: Invalid value: "": needs to be unset`,
		}},
	} {
		t.Run(tc.rule, func(t *testing.T) {
			e := newEvent()
			tc.change(e)
			if diff := cmp.Diff(tc.want, registrytest.Texts(validateNew(e))); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestEventUpdates(t *testing.T) {
	old, e := newEvent(), newEvent()
	e.Series = &corev1.EventSeries{Count: 2, LastObservedTime: e.EventTime}
	if errs := validateUpdate(e, old); len(errs) > 0 {
		t.Errorf("a series may begin: %v", errs)
	}
	e.Message = "other"
	want := []string{`message: Invalid value: "other": field is immutable`}
	if diff := cmp.Diff(want, registrytest.Texts(validateUpdate(e, old))); diff != "" {
		t.Errorf("nothing else may change (-want +got):\n%s", diff)
	}
}
